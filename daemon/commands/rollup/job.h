/* Copies, or counts, the cells of a time range from all ranges of a table: several threads, each with a connection and
 * a page of its own, so memory is bounded by the threads and not by the table.
 *
 * HBase itself leaves out the cells of other times (and whole files that hold none), so a day of a table that is keyed
 * by sensor costs a walk over the keys, not over the network. A page that meets a lost connection is read again behind
 * the last row, and a call that failed is sent again: the cells keep their times, so writing one twice changes nothing.
 */
#pragma once

#include "commands/rollup/marks.h"
#include "config/config.h"

G_BEGIN_DECLS

typedef struct TideRollupJob TideRollupJob;

typedef struct TideRollupOptions {
  const TideConfig *config; /* borrowed */
  const char *cluster;      /* borrowed: as of tide_gateway_session_cluster() */
  TideRollupMarks *marks;   /* borrowed: the job's until its finish; see tide_rollup_job_marks_text() */
  gboolean count_only;      /* counts what the target holds of the ranges, instead of copying the source's */
  guint32 threads;          /* at least 1 */
  guint64 rate_rows_per_s;  /* of all threads; 0: not limited */
  gint64 ttl_ms;           /* rows are written with this time to live, which HBase counts from a cell's time; 0: none */
  gint64 stall_timeout_us; /* one range without any progress for this long ends the job */
} TideRollupOptions;

/* Starts the threads, "tide-rollup-N". */
TideRollupJob *tide_rollup_job_start(const TideRollupOptions *options);

typedef struct TideRollupState {
  guint64 rows; /* of all ranges, with those of the marks at the start */
  guint64 cells;
  guint32 ranges_done;
  gboolean ended; /* all threads have: because of the end, a stop or an error */
} TideRollupState;

/* Waits for the job's end until @deadline_us (monotonic). */
TideRollupState tide_rollup_job_wait(TideRollupJob *job, gint64 deadline_us);

/* The marks as they are now, for the file. (transfer full) */
char *tide_rollup_job_marks_text(TideRollupJob *job);

/* The threads end after the page in hand. */
void tide_rollup_job_stop(TideRollupJob *job);

/**
 * tide_rollup_job_finish: join the threads and free the job.
 * Errors: of the range that failed first; CANCELLED after a stop that left work.
 */
gboolean tide_rollup_job_finish(TideRollupJob *job, GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
