/* The C11 threads that librdkafka uses, over pthreads: for builds with ThreadSanitizer only.
 *
 * ThreadSanitizer follows pthread_create() and pthread_mutex_lock(), and neither thrd_create() nor mtx_lock(): the
 * first callback of librdkafka into instrumented code crashes on a thread that it was never told of (gcc 12, clang 14).
 * What an executable defines comes before the C library's, so librdkafka's calls end here. */
#include <errno.h>
#include <glib.h>
#include <pthread.h>
#include <threads.h>

G_STATIC_ASSERT(sizeof(mtx_t) >= sizeof(pthread_mutex_t));
G_STATIC_ASSERT(sizeof(cnd_t) >= sizeof(pthread_cond_t));
G_STATIC_ASSERT(sizeof(thrd_t) == sizeof(pthread_t));

const char *__tsan_default_suppressions(void);

/* librdkafka counts references by atomics, which are not seen in a library that is not instrumented: what it copies and
 * frees then looks like a race. Its locks, and all that our code does in its callbacks, are still followed. */
const char *
__tsan_default_suppressions(void)
{
  return "called_from_lib:librdkafka.so\n"
         "race:mtx_init\n"; /* a lock that it makes in one thread and takes in another */
}

typedef struct TideThreadStart {
  thrd_start_t run;
  void *data;
} TideThreadStart;

static int
status_of(int error)
{
  switch (error) {
  case 0:
    return thrd_success;
  case EBUSY:
    return thrd_busy;
  case ENOMEM:
    return thrd_nomem;
  case ETIMEDOUT:
    return thrd_timedout;
  default:
    return thrd_error;
  }
}

static void *
run_thread(void *data)
{
  TideThreadStart start = *(TideThreadStart *)data;
  g_free(data);
  return GINT_TO_POINTER(start.run(start.data));
}

int
thrd_create(thrd_t *thread, thrd_start_t run, void *data)
{
  TideThreadStart *start = g_new(TideThreadStart, 1);
  *start = (TideThreadStart){run, data};
  int error = pthread_create(thread, NULL, run_thread, start);
  if (error != 0)
    g_free(start);
  return status_of(error);
}

int
thrd_join(thrd_t thread, int *ret_result)
{
  void *result = NULL;
  int error = pthread_join(thread, &result);
  if (error == 0 && ret_result != NULL)
    *ret_result = GPOINTER_TO_INT(result);
  return status_of(error);
}

int
mtx_init(mtx_t *mutex, int type)
{
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, (type & mtx_recursive) ? PTHREAD_MUTEX_RECURSIVE : PTHREAD_MUTEX_NORMAL);
  int error = pthread_mutex_init((pthread_mutex_t *)mutex, &attributes);
  pthread_mutexattr_destroy(&attributes);
  return status_of(error);
}

int
mtx_lock(mtx_t *mutex)
{
  return status_of(pthread_mutex_lock((pthread_mutex_t *)mutex));
}

int
mtx_unlock(mtx_t *mutex)
{
  return status_of(pthread_mutex_unlock((pthread_mutex_t *)mutex));
}

void
mtx_destroy(mtx_t *mutex)
{
  pthread_mutex_destroy((pthread_mutex_t *)mutex);
}

int
cnd_init(cnd_t *cond)
{
  return status_of(pthread_cond_init((pthread_cond_t *)cond, NULL));
}

int
cnd_signal(cnd_t *cond)
{
  return status_of(pthread_cond_signal((pthread_cond_t *)cond));
}

int
cnd_broadcast(cnd_t *cond)
{
  return status_of(pthread_cond_broadcast((pthread_cond_t *)cond));
}

int
cnd_wait(cnd_t *cond, mtx_t *mutex)
{
  return status_of(pthread_cond_wait((pthread_cond_t *)cond, (pthread_mutex_t *)mutex));
}

int
cnd_timedwait(cnd_t *cond, mtx_t *mutex, const struct timespec *deadline)
{
  return status_of(pthread_cond_timedwait((pthread_cond_t *)cond, (pthread_mutex_t *)mutex, deadline));
}

void
cnd_destroy(cnd_t *cond)
{
  pthread_cond_destroy((pthread_cond_t *)cond);
}
