#include "util/job.h"

#include "util/clock.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* Owned by the waiting caller, or, once abandoned, by the list of abandoned jobs. Its own thread only borrows it, and
 * it is freed only after that thread was joined. */
struct TideJob {
  /* set before start, then read-only */
  TideJobKind *kind;
  gpointer data; /* owned */
  int done_fd;   /* an eventfd: readable when finished */
  TideThread *thread;
  _Atomic gboolean finished;
};

static void
run_job(gpointer data)
{
  TideJob *job = data;
  job->kind->run(job->data);
  int done_fd = job->done_fd;
  atomic_store(&job->finished, TRUE);
  (void)eventfd_write(done_fd, 1); /* cannot fail: the counter is 0 */
}

TideJob *
tide_job_start(TideJobKind *kind, gpointer data)
{
  int done_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (done_fd < 0) {
    int why = errno;
    kind->free_data(data);
    errno = why;
    return NULL;
  }
  TideJob *job = g_new0(TideJob, 1);
  job->kind = kind;
  job->data = data;
  job->done_fd = done_fd;
  job->thread = tide_thread_start(kind->thread_name, run_job, job);
  return job;
}

gboolean
tide_job_wait(const TideJob *job, gint64 deadline_us, GCancellable *cancellable)
{
  GPollFD fds[2] = {{.fd = job->done_fd, .events = G_IO_IN}};
  guint n_fds = cancellable != NULL && g_cancellable_make_pollfd(cancellable, &fds[1]) ? 2 : 1;
  while (!atomic_load(&job->finished) && !g_cancellable_is_cancelled(cancellable)) {
    gint64 left_us = deadline_us - tide_now_us();
    if (left_us <= 0)
      break;
    gint64 left_ms = (left_us + TIDE_US_PER_MS - 1) / TIDE_US_PER_MS;
    (void)g_poll(fds, n_fds, (gint)MIN(left_ms, G_MAXINT)); /* an interruption repeats the loop */
  }
  if (n_fds == 2)
    g_cancellable_release_fd(cancellable);
  return atomic_load(&job->finished);
}

gpointer
tide_job_take(TideJob *job)
{
  gpointer data = job->data;
  tide_thread_join(job->thread);
  close(job->done_fd);
  g_free(job);
  return data;
}

void
tide_job_abandon(TideJob *job)
{
  TideJobKind *kind = job->kind;
  tide_mutex_lock(&kind->lock);
  if (kind->abandoned == NULL)
    kind->abandoned = g_ptr_array_new();
  g_ptr_array_add(kind->abandoned, job);
  tide_mutex_unlock(&kind->lock);
}

/* NULL when none has ended. *@ret_running: how many still run. */
static TideJob *
take_ended(TideJobKind *kind, guint *ret_running)
{
  TideJob *ended = NULL;
  tide_mutex_lock(&kind->lock);
  guint n = kind->abandoned != NULL ? kind->abandoned->len : 0;
  for (guint i = 0; i < n && ended == NULL; i++) {
    TideJob *job = g_ptr_array_index(kind->abandoned, i);
    if (atomic_load(&job->finished))
      ended = g_ptr_array_remove_index_fast(kind->abandoned, i);
  }
  *ret_running = n;
  tide_mutex_unlock(&kind->lock);
  return ended;
}

guint
tide_job_reap(TideJobKind *kind)
{
  guint running;
  for (TideJob *job; (job = take_ended(kind, &running)) != NULL;)
    kind->free_data(tide_job_take(job));
  return running;
}
