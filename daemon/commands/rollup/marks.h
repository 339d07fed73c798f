/* How far a rollup has come: its ranges of row keys, and in each the last row that HBase has acknowledged. Kept in a
 * file, so that one that was killed goes on where it was; without the file it begins anew, which changes nothing but
 * the time. */
#pragma once

#include "model/key/row_key.h"

G_BEGIN_DECLS

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

G_END_DECLS
