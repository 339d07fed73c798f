/* The nightly batch: which day it is of, how far it has come, and the copying itself, for the files of this room. */
#pragma once

#include "config/config.h"

G_BEGIN_DECLS

/* ---- day.c ---- */

typedef struct TideRollupDay {
  char name[9];   /* "20170726" */
  gint64 from_ms; /* [from, to), epoch; 23 to 25 hours in zones whose clocks are set */
  gint64 to_ms;
} TideRollupDay;

/**
 * tide_rollup_day_parse: the day @text, "2017-07-26" or "20170726", by the clocks of @zone (NULL: UTC).
 * @text: NULL is the day before the one that @now_ms is in
 * Errors: TIDE_ERROR_USAGE, to be put behind the option's name.
 */
gboolean tide_rollup_day_parse(const char *text, GTimeZone *zone, gint64 now_ms, TideRollupDay *ret_day,
                               GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* ---- marks.c ---- */

typedef struct TideRollupCounts {
  guint64 rows;
  guint64 cells;
} TideRollupCounts;

/* One region of the source, as it was when the rollup began, or a part of it. */
typedef struct TideRollupRange {
  TideKeyRange keys;
  TideBuffer mark; /* the last row that was copied; empty: none */
  gboolean done;
  TideRollupCounts counts; /* up to the mark */
} TideRollupRange;

typedef struct TideRollupMarks {
  char *source;   /* owned: the tables' names */
  char *target;   /* owned */
  char *cluster;  /* owned: the id of that in which both are; NULL: not told, as by an earlier version */
  gint64 from_ms; /* cell times, [from, to) */
  gint64 to_ms;
  gboolean done;  /* all ranges are copied and counted */
  GArray *ranges; /* owned (element-type TideRollupRange), in the order of keys */
} TideRollupMarks;

/* Ownership: (transfer full). */
TideRollupMarks *tide_rollup_marks_new(const char *source, const char *target, gint64 from_ms, gint64 to_ms);
void tide_rollup_marks_free(TideRollupMarks *marks); /* NULL ok */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideRollupMarks, tide_rollup_marks_free)

/* Adds the range [@start, @stop), with nothing copied yet. */
void tide_rollup_marks_add(TideRollupMarks *marks, TideBytes start, TideBytes stop);

/* The same ranges, of which nothing is copied. (transfer full) */
TideRollupMarks *tide_rollup_marks_anew(const TideRollupMarks *marks);

/* Of all ranges together. */
TideRollupCounts tide_rollup_marks_count(const TideRollupMarks *marks);

/* As text, and back. Errors of read: TIDE_ERROR_DATA, with what is wrong. */
char *tide_rollup_marks_text(const TideRollupMarks *marks); /* (transfer full) */
TideRollupMarks *tide_rollup_marks_read(const char *text, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Writes that text: the file is replaced as a whole, and on the disk when this returns. @path: NULL: nowhere. Errors:
 * IO. */
gboolean tide_rollup_marks_save(const TideRollupMarks *marks, const char *path,
                                GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* NULL without an error where there is no file. Errors: IO, and those of read. */
TideRollupMarks *tide_rollup_marks_load(const char *path, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* ---- job.c ---- */

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
