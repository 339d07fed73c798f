/* What a completed batch of a table means for the messages that made it: which of its rows another value may still
 * overwrite, which rows no longer need to be watched, and which cells are in doubt from now on. The rule is in
 * docs/internals.md: equal times.
 *
 * A contested cell is one that was written over a cell in doubt (cells_in_doubt.h). It is watched, together with the
 * other contested cells of its row in that batch, until the first doubt of these is over, or until a later value stands
 * for it: of the same cell, or in a latest table of a newer time.
 *
 * Threads: the owning consumer's only. Memory: charged to a share of the budget, and never beyond its limit. */
#pragma once

#include "rows/doubt.h"
#include "rows/table_accumulator.h"

G_BEGIN_DECLS

typedef enum TideFindingKind {
  TIDE_FOUND_CONTESTED, /* another value may overwrite cells of a row of the message, the first until until_us */
  TIDE_FOUND_REPLACED,  /* ... but later values now stand for these: once for each CONTESTED that is watched */
  TIDE_FOUND_FORGOTTEN, /* the message's row may land once more until until_us, and there is no room to remember it */
} TideFindingKind;

typedef struct TideFinding {
  TideFindingKind kind;
  gboolean is_watched; /* of CONTESTED: else there was no room, and no REPLACED follows */
  TideSourceRef source;
  gint64 until_us;
} TideFinding;

/* Of one batch. */
typedef struct TideJudgement {
  TideDoubt doubt;             /* of all its sources: its cells may be overwritten; until_us 0: they may not */
  const TideFinding *findings; /* borrowed until the next batch is judged */
  guint n_findings;
} TideJudgement;

/* As tide_accumulator_judge().
 * @findings: (element-type TideFinding): the judgement's are appended to it */
TideDoubt tide_rows_in_doubt_judge(TideTableAccumulator *table, const TideBatch *batch, const TideDoubt *inherited,
                                   gint64 now_us, GArray *findings);

/* @row is about to be written, and an owner before us may have sent it: it may land once more until @until_us. FALSE:
 * there is no room to remember that. */
gboolean tide_rows_in_doubt_remember(TideTableAccumulator *table, const TideRow *row,
                                     gint64 until_us) G_GNUC_WARN_UNUSED_RESULT;

/* Forgets contested cells whose doubt is over: nothing can overwrite them any longer. */
void tide_rows_in_doubt_expire(TideTableAccumulator *table, gint64 now_us);
void tide_rows_in_doubt_clear(TideTableAccumulator *table); /* all of them */

G_END_DECLS
