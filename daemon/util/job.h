/* A job on a thread of its own, for a call that nobody can end: whoever needs what comes of it waits until their
 * deadline, and leaves it behind then, to be freed after it has ended. */
#pragma once

#include "util/lock.h"

#include <gio/gio.h>

G_BEGIN_DECLS

/* Jobs of one kind. Static: they may outlive whoever began them. */
typedef struct TideJobKind {
  /* read-only */
  const char *thread_name;
  void (*run)(gpointer data); /* in the job's thread */
  GDestroyNotify free_data;
  TideMutex lock;
  GPtrArray *abandoned; /* under lock; (element-type TideJob); made on first use, lives with the process */
} TideJobKind;

typedef struct TideJob TideJob;

/* @data: (transfer full): the job's thread's until the job has ended. NULL and errno when no descriptor is left; @data
 * is freed then. Whoever began it ends it by tide_job_take() or tide_job_abandon(). Threads: any. */
TideJob *tide_job_start(TideJobKind *kind, gpointer data) G_GNUC_WARN_UNUSED_RESULT;

/* FALSE when @deadline_us (monotonic) passed or @cancellable, which may be NULL, was cancelled before the job ended. */
gboolean tide_job_wait(const TideJob *job, gint64 deadline_us, GCancellable *cancellable) G_GNUC_WARN_UNUSED_RESULT;

/* Waits for the end of the job, whatever its deadline. Ownership: frees @job; its data: (transfer full). */
gpointer tide_job_take(TideJob *job) G_GNUC_WARN_UNUSED_RESULT;

/* Leaves @job and its data to tide_job_reap(). */
void tide_job_abandon(TideJob *job);

/* Frees what was abandoned and has ended. Returns: how many have not. Threads: any. */
guint tide_job_reap(TideJobKind *kind);

G_END_DECLS
