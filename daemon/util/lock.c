#define _GNU_SOURCE
#include "util/lock.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <time.h>

struct TideThread {
  /* set before start, then read-only */
  pthread_t handle;
  char name[16]; /* TASK_COMM_LEN of Linux */
  void (*run)(gpointer data);
  gpointer data;
  /* For a join with a deadline. pthread_clockjoin_np() is not used: ThreadSanitizer (LLVM 14) does not know it, and
   * reports all writes of the thread as races. */
  TideMutex lock;
  TideCond finished;
  gboolean is_finished; /* under lock */
};

/* A failing pthread call on a valid object is a programming error: name it and abort. */
static void
require(int result, const char *call)
{
  if (G_UNLIKELY(result != 0))
    g_error("%s: %s", call, g_strerror(result));
}

void
tide_mutex_init(TideMutex *mutex)
{
  require(pthread_mutex_init(&mutex->mutex, NULL), "pthread_mutex_init");
}

void
tide_mutex_clear(TideMutex *mutex)
{
  require(pthread_mutex_destroy(&mutex->mutex), "pthread_mutex_destroy");
}

void
tide_mutex_lock(TideMutex *mutex)
{
  require(pthread_mutex_lock(&mutex->mutex), "pthread_mutex_lock");
}

void
tide_mutex_unlock(TideMutex *mutex)
{
  require(pthread_mutex_unlock(&mutex->mutex), "pthread_mutex_unlock");
}

void
tide_cond_init(TideCond *cond)
{
  pthread_condattr_t attributes;
  require(pthread_condattr_init(&attributes), "pthread_condattr_init");
  require(pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC), "pthread_condattr_setclock");
  require(pthread_cond_init(&cond->cond, &attributes), "pthread_cond_init");
  require(pthread_condattr_destroy(&attributes), "pthread_condattr_destroy");
}

void
tide_cond_clear(TideCond *cond)
{
  require(pthread_cond_destroy(&cond->cond), "pthread_cond_destroy");
}

void
tide_cond_signal(TideCond *cond)
{
  require(pthread_cond_signal(&cond->cond), "pthread_cond_signal");
}

void
tide_cond_broadcast(TideCond *cond)
{
  require(pthread_cond_broadcast(&cond->cond), "pthread_cond_broadcast");
}

void
tide_cond_wait(TideCond *cond, TideMutex *mutex)
{
  require(pthread_cond_wait(&cond->cond, &mutex->mutex), "pthread_cond_wait");
}

gboolean
tide_cond_wait_until(TideCond *cond, TideMutex *mutex, gint64 deadline_us)
{
  gint64 at_us = MAX(deadline_us, 0);
  struct timespec deadline = {.tv_sec = at_us / G_USEC_PER_SEC, .tv_nsec = at_us % G_USEC_PER_SEC * 1000};
  int result = pthread_cond_timedwait(&cond->cond, &mutex->mutex, &deadline);
  if (result == ETIMEDOUT)
    return FALSE;
  require(result, "pthread_cond_timedwait");
  return TRUE;
}

static void *
thread_main(void *data)
{
  TideThread *thread = data;
  pthread_setname_np(pthread_self(), thread->name);
  thread->run(thread->data);
  tide_mutex_lock(&thread->lock);
  thread->is_finished = TRUE;
  tide_cond_signal(&thread->finished);
  tide_mutex_unlock(&thread->lock);
  return NULL;
}

TideThread *
tide_thread_start(const char *name, void (*run)(gpointer data), gpointer data)
{
  TideThread *thread = g_new0(TideThread, 1);
  g_strlcpy(thread->name, name, sizeof thread->name);
  thread->run = run;
  thread->data = data;
  tide_mutex_init(&thread->lock);
  tide_cond_init(&thread->finished);

  sigset_t all, before;
  sigfillset(&all);
  require(pthread_sigmask(SIG_SETMASK, &all, &before), "pthread_sigmask");
  require(pthread_create(&thread->handle, NULL, thread_main, thread), "pthread_create");
  require(pthread_sigmask(SIG_SETMASK, &before, NULL), "pthread_sigmask");
  return thread;
}

void
tide_thread_join(TideThread *thread)
{
  if (thread == NULL)
    return;
  require(pthread_join(thread->handle, NULL), "pthread_join");
  tide_cond_clear(&thread->finished);
  tide_mutex_clear(&thread->lock);
  g_free(thread);
}

gboolean
tide_thread_join_until(TideThread *thread, gint64 deadline_us)
{
  tide_mutex_lock(&thread->lock);
  while (!thread->is_finished && tide_cond_wait_until(&thread->finished, &thread->lock, deadline_us))
    continue; /* a spurious wake-up */
  gboolean is_finished = thread->is_finished;
  tide_mutex_unlock(&thread->lock);

  if (is_finished)
    tide_thread_join(thread); /* it only has to return */
  return is_finished;
}
