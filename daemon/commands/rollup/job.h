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

typedef struct TideRollupOptions {
  const TideConfig *config; /* borrowed */
  const char *cluster;      /* borrowed: as of tide_gateway_session_cluster() */
  TideRollupMarks *marks;   /* borrowed: say what there is to do, and are brought up to date meanwhile */
  const char *marks_path;   /* where they are kept, every second and at the end; NULL: nowhere */
  gboolean count_only;      /* counts what the target holds of the ranges, instead of copying the source's */
  guint32 threads;          /* at least 1 */
  guint64 rate_rows_per_s;  /* of all threads; 0: not limited */
  gint64 ttl_ms;           /* rows are written with this time to live, which HBase counts from a cell's time; 0: none */
  gint64 stall_timeout_us; /* one range without any progress for this long ends the job */
  const volatile int *stop; /* borrowed: not 0 ends it after the pages in hand */
} TideRollupOptions;

/**
 * tide_rollup_job_run: do it all; blocks. Its threads are "tide-rollup-N".
 * Errors: of the range that failed first, or of the marks; CANCELLED after a stop that left work.
 */
gboolean tide_rollup_job_run(const TideRollupOptions *options, GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
