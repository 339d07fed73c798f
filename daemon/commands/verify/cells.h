/* The cells that a verification expects and finds, in bounded memory: hashes in one open-addressed array that is
 * allocated once.
 *
 * Cells that do not fit are left to a later pass: a pass covers a range of row hashes, and when the array is full, the
 * upper half of the range is dropped from it. So a row is always in one pass, nothing is estimated in advance, and
 * every pass makes progress. Rows are identified by 128 bits of hash, columns in a row by 64 more, values by 64. Two
 * rows with the same hash occur once in 10^20 tables of a billion rows; two values of one cell with the same hash can
 * only hide a difference, never create one.
 *
 * Of a column, only the newest times that its family shows to a reader are kept (one, for latest tables): older ones
 * may be missing. Of one time, there is one value for each partition that wrote it, from its highest offset; and, if
 * there was one, the last earlier value from another reading (mapping/mapping.c).
 *
 * Threads: one. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Maximum number of versions of a column to compare, whatever the family keeps. */
#define TIDE_VERIFY_MAX_VERSIONS 64u

/* Identifies a message: an index in the list of partitions, and an offset. */
typedef guint64 TideVerifySource;
#define TIDE_VERIFY_OFFSET_BITS 48
#define TIDE_VERIFY_MAX_PARTITIONS 65536u

static inline TideVerifySource
tide_verify_source(guint partition, gint64 offset)
{
  return ((guint64)partition << TIDE_VERIFY_OFFSET_BITS) |
         ((guint64)offset & ((G_GUINT64_CONSTANT(1) << TIDE_VERIFY_OFFSET_BITS) - 1));
}

static inline guint
tide_verify_source_partition(TideVerifySource source)
{
  return (guint)(source >> TIDE_VERIFY_OFFSET_BITS);
}

static inline gint64
tide_verify_source_offset(TideVerifySource source)
{
  return (gint64)(source & ((G_GUINT64_CONSTANT(1) << TIDE_VERIFY_OFFSET_BITS) - 1));
}

typedef enum TideVerifyKind {
  TIDE_VERIFY_FREE,
  TIDE_VERIFY_EXPECTED, /* must exist */
  TIDE_VERIFY_POSSIBLE, /* may exist: from a dead-lettered message */
  TIDE_VERIFY_FOUND,    /* was found, and equals none of the above */
  TIDE_VERIFY_DELETED,  /* not a cell: its row is deleted up to time_ms */
  TIDE_VERIFY_LOST,     /* must not exist: from another reading, overwritten by a later one of its partition */
} TideVerifyKind;

/* A row in a table. */
typedef struct TideVerifyRow {
  guint64 high;
  guint64 low;
} TideVerifyRow;

typedef struct TideVerifyEntry {
  TideVerifyRow row;
  guint64 column; /* of family and qualifier; 0 with DELETED */
  gint64 time_ms;
  guint64 value;           /* with DELETED: also a time, up to which the row may or may not be deleted yet */
  TideVerifySource source; /* with EXPECTED, POSSIBLE, LOST */
  guint32 identity;        /* of its reading; 0: unknown. With FOUND: of the reading that explains it */
  guint16 family;          /* index known to the caller */
  guint8 kind;             /* TideVerifyKind */
  guint8 is_matched : 1;   /* EXPECTED, POSSIBLE: it was found */
  guint8 is_contested : 1; /* EXPECTED: its message wrote several values to it, of which this is the last */
  guint8 is_corrected : 1; /* EXPECTED: an earlier message gave the same reading another value */
  guint8 is_shared : 1;    /* EXPECTED: an earlier reading gave it the same value */
  guint8 is_explained : 1; /* FOUND: by a message outside the window */
  guint8 is_outside : 1;   /* FOUND: at a time that the window does not cover */
} TideVerifyEntry;

typedef struct TideVerifyCells TideVerifyCells;

/* Allocates exactly @memory_bytes. NULL if they are not available. */
TideVerifyCells *tide_verify_cells_new(gsize memory_bytes);
void tide_verify_cells_free(TideVerifyCells *cells); /* NULL ok */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideVerifyCells, tide_verify_cells_free)

/* Empties the set for the rows with first <= high <= last. */
void tide_verify_cells_begin(TideVerifyCells *cells, guint64 first, guint64 last);
/* The current end of the range. */
guint64 tide_verify_cells_last(const TideVerifyCells *cells);
/* TRUE once a single row has more cells than fit into memory: it cannot be verified. */
gboolean tide_verify_cells_is_overrun(const TideVerifyCells *cells);

/* FALSE for rows of other passes, which can be skipped. */
gboolean tide_verify_cells_takes(const TideVerifyCells *cells, TideVerifyRow row);

/* A cell is passed as an entry: row, column, time_ms, value, family and, except for find and explain, source. */

/* TRUE for cells of different readings with different values. */
static inline gboolean
tide_verify_entries_clash(const TideVerifyEntry *a, const TideVerifyEntry *b)
{
  return a->identity != 0 && b->identity != 0 && a->identity != b->identity && a->value != b->value;
}

/* @versions: the number of times of the column that a reader sees. Call in the order of a partition's messages. */
void tide_verify_cells_expect(TideVerifyCells *cells, const TideVerifyEntry *cell, guint versions);
void tide_verify_cells_allow(TideVerifyCells *cells, const TideVerifyEntry *cell);
/* Adds a cell of the table. @cell->is_outside: the window does not cover its time; it is kept only if it shows what
 * happened to an expected one, or if its row is deleted up to that time. */
void tide_verify_cells_find(TideVerifyCells *cells, const TideVerifyEntry *cell);
/* Adds that a message outside the window makes this cell. */
void tide_verify_cells_explain(TideVerifyCells *cells, const TideVerifyEntry *cell);
/* The row is deleted up to @time_ms; @surely: it must be deleted by now. */
void tide_verify_cells_delete(TideVerifyCells *cells, TideVerifyRow row, gint64 time_ms, gboolean surely);

/* Iterates over all entries: start at 0. NULL at the end. */
const TideVerifyEntry *tide_verify_cells_next(const TideVerifyCells *cells, gsize *position);

/* The entries of one column, including itself. */
typedef struct TideVerifyColumn {
  const TideVerifyCells *cells;
  TideVerifyRow row;
  guint64 column;
  gsize slot;
} TideVerifyColumn;

TideVerifyColumn tide_verify_cells_column(const TideVerifyCells *cells, TideVerifyRow row, guint64 column);
TideVerifyEntry *tide_verify_column_next(TideVerifyColumn *column); /* NULL at the end */

/* ---- judge.c ---- */

typedef enum TideVerdict {
  TIDE_VERDICT_NONE, /* not counted: judged with another entry, or not a cell */
  TIDE_VERDICT_RIGHT,
  TIDE_VERDICT_CONFLICT, /* also counts as right */
  TIDE_VERDICT_MISSING,
  TIDE_VERDICT_WRONG,
  TIDE_VERDICT_STALE,
  TIDE_VERDICT_UNEXPECTED,
  TIDE_VERDICT_OVERWRITTEN, /* another reading's value is, or was, in its place */
  TIDE_VERDICT_DELETED,
  TIDE_VERDICT_EXPIRED,
  TIDE_VERDICT_CORRECTED, /* the reading's later value is there */
  TIDE_VERDICT_SUPERSEDED,
  TIDE_VERDICT_BEYOND,
  TIDE_VERDICT_UNEXPLAINED,
  TIDE_VERDICT_COUNT,
} TideVerdict;

/* The properties of a verdict. */
typedef struct TideVerdictKind {
  const char *name;
  gboolean is_difference; /* the verification ends with TIDE_EXIT_FINDINGS */
  gboolean is_expected;   /* for a cell that had to be in the table */
  gboolean is_sampled;    /* samples are shown */
} TideVerdictKind;

extern const TideVerdictKind tide_verdicts[TIDE_VERDICT_COUNT];

/* Facts about an entry's table and family. */
typedef struct TideVerifyRule {
  gboolean is_latest;
  gboolean has_deletes; /* rows of the table may delete */
  guint versions;       /* of a column, visible to a reader */
  gint64 ttl_ms;        /* 0: kept for ever */
  gint64 now_ms;        /* wall clock, after the table was read */
  gboolean is_whole;    /* every cell of the window must come from a message that could be read */
} TideVerifyRule;

TideVerdict tide_verify_judge(const TideVerifyCells *cells, const TideVerifyEntry *entry, const TideVerifyRule *rule);

/* The entry that the expected @entry overwrote, or that overwrote it in another partition, with its value and message;
 * NULL: none of another reading. */
const TideVerifyEntry *tide_verify_lost_to(const TideVerifyCells *cells, const TideVerifyEntry *entry);

/* TRUE if a message outside the window may change the verdict on @entry. */
gboolean tide_verify_is_open(const TideVerifyCells *cells, const TideVerifyEntry *entry, const TideVerifyRule *rule);

G_END_DECLS
