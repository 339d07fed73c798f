/* A job on its own thread, for a call that cannot be cancelled: the caller waits for the result until its deadline, and
 * then abandons the job, which is freed after it has ended. */
#pragma once

#include "util/lock.h"

#include <gio/gio.h>

G_BEGIN_DECLS

/* Jobs of one kind. Static, because they may outlive their callers. */
typedef struct TideJobKind {
  /* read-only */
  const char *thread_name;
  void (*run)(gpointer data); /* in the job's thread */
  GDestroyNotify free_data;
  TideMutex lock;
  GPtrArray *abandoned; /* under lock; (element-type TideJob); created on first use, lives as long as the process */
} TideJobKind;

typedef struct TideJob TideJob;

/* @data: (transfer full): belongs to the job's thread until the job has ended. NULL and errno if no descriptor is left;
 * @data is freed then. The caller ends the job by tide_job_take() or tide_job_abandon(). Threads: any. */
TideJob *tide_job_start(TideJobKind *kind, gpointer data) G_GNUC_WARN_UNUSED_RESULT;

/* FALSE when @deadline_us (monotonic) passed or @cancellable, which may be NULL, was cancelled before the job ended. */
gboolean tide_job_wait(const TideJob *job, gint64 deadline_us, GCancellable *cancellable) G_GNUC_WARN_UNUSED_RESULT;

/* Waits for the end of the job without a deadline. Ownership: frees @job; its data: (transfer full). */
gpointer tide_job_take(TideJob *job) G_GNUC_WARN_UNUSED_RESULT;

/* Leaves @job and its data to tide_job_reap(). */
void tide_job_abandon(TideJob *job);

/* Frees abandoned jobs that have ended. Returns: how many still run. Threads: any. */
guint tide_job_reap(TideJobKind *kind);

G_END_DECLS
