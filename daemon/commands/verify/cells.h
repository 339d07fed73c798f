/* The cells that a verification expects and finds, in bounded memory: hashes in one open-addressed array that is made
 * once.
 *
 * What does not fit is left to a later pass: a pass is over a range of row hashes, and when the array is full the upper
 * half of the range is dropped from it and left for later. So a row is wholly in one pass, nothing is estimated in
 * advance, and every pass makes progress. Rows are known by 128 bits of hash, columns in a row by 64 more, values by
 * 64: two rows of one hash are met once in 10^20 tables of a billion rows; two values of one cell with one hash would
 * only hide a difference, never make one up.
 *
 * Of a column only the newest times are kept that its family shows to a reader (one, for latest tables): older ones
 * need not be there. Of one time there is one value for each partition that wrote it, that of its highest offset; and,
 * if there was one, the last value before it that was another reading's (mapping/mapping.c).
 *
 * Threads: one. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Versions of a column that are looked at, at the most, whatever the family keeps. */
#define TIDE_VERIFY_MAX_VERSIONS 64u

/* Which message: a place in the list of partitions, and an offset. */
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
  TIDE_VERIFY_EXPECTED, /* must be there */
  TIDE_VERIFY_POSSIBLE, /* may be there: of a message that was dead-lettered */
  TIDE_VERIFY_FOUND,    /* was found, and equals none of the above */
  TIDE_VERIFY_DELETED,  /* no cell, but that its row is deleted up to time_ms */
  TIDE_VERIFY_LOST,     /* must not be there: of another reading, over which a later one of its partition was written */
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
  guint64 value;           /* with DELETED: a time too, up to which the row may be deleted or not yet */
  TideVerifySource source; /* with EXPECTED, POSSIBLE, LOST */
  guint32 identity;        /* of its reading; 0: not known. With FOUND: of the one that explains it */
  guint16 family;          /* whoever uses the set knows them */
  guint8 kind;             /* TideVerifyKind */
  guint8 is_matched : 1;   /* EXPECTED, POSSIBLE: it was found */
  guint8 is_contested : 1; /* EXPECTED: its message wrote several values to it, of which this is the last */
  guint8 is_corrected : 1; /* EXPECTED: an earlier message gave the same reading another value */
  guint8 is_shared : 1;    /* EXPECTED: another reading, before, gave it the same value */
  guint8 is_explained : 1; /* FOUND: by a message outside of the window */
  guint8 is_outside : 1;   /* FOUND: at a time for which the window says nothing */
} TideVerifyEntry;

typedef struct TideVerifyCells TideVerifyCells;

/* Takes @memory_bytes, and not a byte more. NULL when there is not so much. */
TideVerifyCells *tide_verify_cells_new(gsize memory_bytes);
void tide_verify_cells_free(TideVerifyCells *cells); /* NULL ok */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideVerifyCells, tide_verify_cells_free)

/* Empties the set for the rows with first <= high <= last. */
void tide_verify_cells_begin(TideVerifyCells *cells, guint64 first, guint64 last);
/* Where the range ends by now. */
guint64 tide_verify_cells_last(const TideVerifyCells *cells);
/* TRUE once a single row has more cells than there is room: it could not be verified. */
gboolean tide_verify_cells_is_overrun(const TideVerifyCells *cells);

/* FALSE for rows of other passes, of which nothing need be told. */
gboolean tide_verify_cells_takes(const TideVerifyCells *cells, TideVerifyRow row);

/* A cell is given as an entry: row, column, time_ms, value, family and, but for find and explain, source. */

/* TRUE for cells of different readings with different values. */
static inline gboolean
tide_verify_entries_clash(const TideVerifyEntry *a, const TideVerifyEntry *b)
{
  return a->identity != 0 && b->identity != 0 && a->identity != b->identity && a->value != b->value;
}

/* @versions: how many times of the column a reader sees. A partition's messages must come in their order. */
void tide_verify_cells_expect(TideVerifyCells *cells, const TideVerifyEntry *cell, guint versions);
void tide_verify_cells_allow(TideVerifyCells *cells, const TideVerifyEntry *cell);
/* A cell in the table. @cell->is_outside: the window says nothing about its time; it is kept only where it tells what
 * became of an expected one, or its row is deleted up to that time. */
void tide_verify_cells_find(TideVerifyCells *cells, const TideVerifyEntry *cell);
/* A message outside of the window makes this cell. */
void tide_verify_cells_explain(TideVerifyCells *cells, const TideVerifyEntry *cell);
/* The row is deleted up to @time_ms; @surely: it must be by now. */
void tide_verify_cells_delete(TideVerifyCells *cells, TideVerifyRow row, gint64 time_ms, gboolean surely);

/* All entries: start at 0. NULL at the end. */
const TideVerifyEntry *tide_verify_cells_next(const TideVerifyCells *cells, gsize *position);

/* The entries of one column, itself too. */
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
  TIDE_VERDICT_NONE, /* not counted: judged with another entry, or about nothing */
  TIDE_VERDICT_RIGHT,
  TIDE_VERDICT_CONFLICT, /* right, too */
  TIDE_VERDICT_MISSING,
  TIDE_VERDICT_WRONG,
  TIDE_VERDICT_STALE,
  TIDE_VERDICT_UNEXPECTED,
  TIDE_VERDICT_OVERWRITTEN, /* the value of another reading is there, or was before */
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
  gboolean is_difference; /* a verification ends with TIDE_EXIT_FINDINGS for it */
  gboolean is_expected;   /* of a cell that had to be in the table */
  gboolean is_sampled;    /* some are shown */
} TideVerdictKind;

extern const TideVerdictKind tide_verdicts[TIDE_VERDICT_COUNT];

/* What is to be known of an entry's table and family. */
typedef struct TideVerifyRule {
  gboolean is_latest;
  gboolean has_deletes; /* rows of the table may delete */
  guint versions;       /* of a column, that a reader sees */
  gint64 ttl_ms;        /* 0: kept for ever */
  gint64 now_ms;        /* wall clock, when the table had been read */
  gboolean is_whole;    /* every cell of the window must come from a message that could be read */
} TideVerifyRule;

TideVerdict tide_verify_judge(const TideVerifyCells *cells, const TideVerifyEntry *entry, const TideVerifyRule *rule);

/* What the expected @entry was written over, or was overwritten by in another partition: its value and its message;
 * NULL: nothing of another reading. */
const TideVerifyEntry *tide_verify_lost_to(const TideVerifyCells *cells, const TideVerifyEntry *entry);

/* Whether a message outside of the window may change what @entry comes to. */
gboolean tide_verify_is_open(const TideVerifyCells *cells, const TideVerifyEntry *entry, const TideVerifyRule *rule);

G_END_DECLS
