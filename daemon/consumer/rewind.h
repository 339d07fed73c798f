/* Rewinding reads an assigned partition again from its committed offset. It is the only repair for rows that must be
 * sent again; docs/internals.md, equal times, has the rules.
 *
 * A rewind cancels nothing: rows in flight are correct and block their keys; only their acknowledgements become stale.
 * Until the rewind, messages that must be written again are held: the committed offset does not pass the first of them,
 * while later ones are read, written and acknowledged as usual.
 *
 * Threads: the owning consumer's only. */
#pragma once

#include "consumer/pauses.h"
#include "model/input.h"
#include "rows/accumulator.h"
#include "rows/rows_in_doubt.h"

G_BEGIN_DECLS

/* ---- a partition ---- */

/* The message of @ref, unfinished and owned, must be written again at @until_us or later.
 * @may_end: tide_rewind_end_hold() may follow, once for each such call */
void tide_rewind_hold(TidePartition *partition, TideSourceRef ref, gint64 until_us, gboolean may_end);
void tide_rewind_end_hold(TidePartition *partition, TideSourceRef ref);
/* No message of @partition from @sequence on, which may not have begun, may be committed before @until_us: an
 * unremembered call may overwrite it. */
void tide_rewind_hold_all(TidePartition *partition, guint32 sequence, gint64 until_us);
/* Rewinds @partition at once because its rows are cancelled or refused (@reason: CANCELLED, REFUSED). */
void tide_rewind_ask(TidePartition *partition, TideRewindReason reason, gint64 now_us);

/* Input of tide_accumulator_judge(): writes of earlier owners that are uncertain, by row of @batch; NULL: none.
 * (transfer full) */
TideDoubt *tide_rewind_inherited_by_row(const TideAssignments *assignments, const TideBatch *batch);
/* Applies the consequences of a completed @batch to its messages. */
void tide_rewind_take_judgement(const TideAssignments *assignments, const TideBatch *batch,
                                const TideJudgement *judgement, gint64 now_us);

/* Prepares a rewind that is due: nothing of @partition is taken any longer, and pending dead letters are cancelled.
 * Returns TRUE if none is in flight and the rewind can start. */
gboolean tide_rewind_prepare(TidePartition *partition, gint64 now_us);

/* Whether a row is in flight whose acknowledgement no longer counts, since it was read before a rewind, made or due.
 * Expensive: not for each message. */
gboolean tide_rewind_find_stale_rows(TidePartition *partition, const TideAccumulator *accumulator);

/* ---- all partitions of a consumer ---- */

typedef struct TideRewindsContext {
  TideInput *input;   /* borrowed */
  TidePauses *pauses; /* borrowed: of its partitions */
  gint64 settle_us;
  gboolean until_end; /* a run to the end does not wait for a schema forever */
} TideRewindsContext;

typedef struct TideRewinds {
  TideRewindsContext context;
  TideCounter *rewinds[TIDE_REWIND_N_REASONS];
  TideCounter *in_vain;
} TideRewinds;

void tide_rewinds_init(TideRewinds *rewinds, const TideRewindsContext *context);

/* Rewinds partitions that are due, and continues those whose schema has arrived. About once a second. */
void tide_rewinds_run(TideRewinds *rewinds, gint64 now_us);

G_END_DECLS
