/* The nightly batch: its day, its progress and the copying itself, for the files of this room. */
#pragma once

#include "config/config.h"

G_BEGIN_DECLS

/* ---- day.c ---- */

typedef struct TideRollupDay {
  char name[9];   /* "20170726" */
  gint64 from_ms; /* [from, to), epoch; 23 to 25 hours in zones with clock changes */
  gint64 to_ms;
} TideRollupDay;

/**
 * tide_rollup_day_parse: the day @text, "2017-07-26" or "20170726", by the clocks of @zone (NULL: UTC).
 * @text: NULL is the day before that of @now_ms
 * Errors: TIDE_ERROR_USAGE, to be appended to the option's name.
 */
gboolean tide_rollup_day_parse(const char *text, GTimeZone *zone, gint64 now_ms, TideRollupDay *ret_day,
                               GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* ---- marks.c ---- */

typedef struct TideRollupCounts {
  guint64 rows;
  guint64 cells;
} TideRollupCounts;

/* One region of the source at the start of the rollup, or a part of it. */
typedef struct TideRollupRange {
  TideKeyRange keys;
  TideBuffer mark; /* the last copied row; empty: none */
  gboolean done;
  TideRollupCounts counts; /* up to the mark */
} TideRollupRange;

typedef struct TideRollupMarks {
  char *source;   /* owned: the tables' names */
  char *target;   /* owned */
  char *cluster;  /* owned: the id of their cluster; NULL: unknown */
  gint64 from_ms; /* cell times, [from, to) */
  gint64 to_ms;
  gboolean done;  /* everything is copied, and was counted in the copy */
  GArray *ranges; /* owned (element-type TideRollupRange), in the order of keys */
} TideRollupMarks;

/* Ownership: (transfer full). */
TideRollupMarks *tide_rollup_marks_new(const char *source, const char *target, gint64 from_ms, gint64 to_ms);
void tide_rollup_marks_free(TideRollupMarks *marks); /* NULL ok */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideRollupMarks, tide_rollup_marks_free)

/* Adds the range [@start, @stop). */
void tide_rollup_marks_add(TideRollupMarks *marks, TideBytes start, TideBytes stop);

/* The sum over all ranges. */
TideRollupCounts tide_rollup_marks_count(const TideRollupMarks *marks);

/* Replaces the whole file, which is on disk on return. @path: NULL: nowhere. Errors: IO. */
gboolean tide_rollup_marks_save(const TideRollupMarks *marks, const char *path,
                                GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* NULL without an error if there is no file. Errors: IO; DATA: it holds no marks. (transfer full) */
TideRollupMarks *tide_rollup_marks_load(const char *path, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* ---- job.c ---- */

typedef struct TideRollupOptions {
  const TideConfig *config; /* borrowed */
  const char *cluster;      /* borrowed: see tide_gateway_session_cluster() */
  TideRollupMarks *marks;   /* borrowed: define the work, and are updated during it */
  const char *marks_path;   /* saved here every second and at the end; NULL: nowhere */
  gboolean count_only;      /* counts the target's cells in the ranges instead of copying the source's */
  guint32 threads;          /* at least 1 */
  guint64 rate_rows_per_s;  /* for all threads; 0: unlimited */
  gint64 ttl_ms;           /* rows are written with this time to live, which HBase counts from a cell's time; 0: none */
  gint64 stall_timeout_us; /* a range without progress for this long ends the job */
  const volatile int *stop; /* borrowed: not 0 ends it after the current pages */
} TideRollupOptions;

/**
 * tide_rollup_job_run: do the whole job; blocks. Its threads are "tide-rollup-N".
 * Errors: of the first failed range, or of the marks; CANCELLED after a stop that left work.
 */
gboolean tide_rollup_job_run(const TideRollupOptions *options, GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
