/* The consequences of a completed batch for its messages: which of its rows may still be overwritten, which no longer
 * need watching, and which cells are uncertain from now on. docs/internals.md, equal times, has the rule.
 *
 * A contested cell was written over an uncertain one (cells_in_doubt.h). It is watched, together with the other
 * contested cells of its row in that batch, until the first of these stops being uncertain, or until a later value
 * replaces it: of the same cell, or in a latest table of a newer time.
 *
 * Threads: the owning consumer's only. Memory: charged to a share of the budget, never beyond its limit. */
#pragma once

#include "rows/doubt.h"
#include "rows/table_accumulator.h"

G_BEGIN_DECLS

typedef enum TideFindingKind {
  TIDE_FOUND_CONTESTED, /* another value may overwrite cells of a row of the message, the first until until_us */
  TIDE_FOUND_REPLACED,  /* ... but later values have replaced these: once for each watched CONTESTED */
  TIDE_FOUND_FORGOTTEN, /* the message's row may land again until until_us, and there is no room to remember it */
} TideFindingKind;

typedef struct TideFinding {
  TideFindingKind kind;
  gboolean is_watched; /* of CONTESTED: otherwise there was no room, and no REPLACED follows */
  TideSourceRef source;
  gint64 until_us;
} TideFinding;

/* The judgement of one batch. */
typedef struct TideJudgement {
  TideDoubt doubt; /* applies to all its sources: their cells may be overwritten; until_us 0: they may not */
  const TideFinding *findings; /* borrowed until the next judgement */
  guint n_findings;
} TideJudgement;

/* Like tide_accumulator_judge(). @findings: (element-type TideFinding): the findings are appended */
TideDoubt tide_rows_in_doubt_judge(TideTableAccumulator *table, const TideBatch *batch, const TideDoubt *inherited,
                                   gint64 now_us, GArray *findings);

/* Remembers @row, which is written next. An earlier owner may have sent it, so it may land again until @until_us.
 * Returns FALSE if there is no room. */
gboolean tide_rows_in_doubt_remember(TideTableAccumulator *table, const TideRow *row,
                                     gint64 until_us) G_GNUC_WARN_UNUSED_RESULT;

/* Forgets contested cells that nothing can overwrite any longer. */
void tide_rows_in_doubt_expire(TideTableAccumulator *table, gint64 now_us);
void tide_rows_in_doubt_clear(TideTableAccumulator *table); /* forgets all */

G_END_DECLS
