/* Locks, conditions and threads directly on pthreads: ThreadSanitizer knows these, but does not see GLib's (a correct
 * program with GMutex is reported as racy). Data shared by threads is either locked through this header or a C11
 * atomic.
 *
 * Locks never nest, and none is held across a call into Kafka, Thrift or the log. */
#pragma once

#include <glib.h>
#include <pthread.h>

G_BEGIN_DECLS

typedef struct TideMutex {
  pthread_mutex_t mutex;
} TideMutex;

/* Waits on the monotonic clock: a jump of the wall clock neither wakes nor delays it. */
typedef struct TideCond {
  pthread_cond_t cond;
} TideCond;

void tide_mutex_init(TideMutex *mutex);
void tide_mutex_clear(TideMutex *mutex);
void tide_mutex_lock(TideMutex *mutex);
void tide_mutex_unlock(TideMutex *mutex);

void tide_cond_init(TideCond *cond);
void tide_cond_clear(TideCond *cond);
void tide_cond_signal(TideCond *cond);
void tide_cond_broadcast(TideCond *cond);
void tide_cond_wait(TideCond *cond, TideMutex *mutex);
/* FALSE when @deadline_us (monotonic, as tide_now_us()) passed without a signal. */
gboolean tide_cond_wait_until(TideCond *cond, TideMutex *mutex, gint64 deadline_us);

typedef struct TideThread TideThread;

/**
 * tide_thread_start: start a joinable thread named @name (at most 15 bytes, shown by ps -L and gdb). All signals are
 * blocked in it: the main thread handles signals. Aborts when no thread can be started: without threads no recovery is
 * possible.
 */
TideThread *tide_thread_start(const char *name, void (*run)(gpointer data), gpointer data) G_GNUC_WARN_UNUSED_RESULT;
void tide_thread_join(TideThread *thread); /* frees @thread; NULL ok */
/* As join, but only until @deadline_us; returns FALSE then, and @thread stays valid. */
gboolean tide_thread_join_until(TideThread *thread, gint64 deadline_us) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
