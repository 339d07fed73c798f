/* Rewinding: a partition that stays ours is read again from its committed offset on. It is the one repair for what was
 * sent and must be sent again; the rules are in docs/internals.md: equal times.
 *
 * A rewind cancels nothing: rows that are on their way are right, go on, and block their keys. Only their
 * acknowledgements are stale. Until it comes, messages that must be written once more are held: the committed offset
 * does not pass the first of them, and later ones are read, written and acknowledged as always.
 *
 * Threads: the owning consumer's only. */
#pragma once

#include "consumer/pauses.h"
#include "model/input.h"
#include "rows/accumulator.h"
#include "rows/rows_in_doubt.h"

G_BEGIN_DECLS

/* ---- a partition ---- */

/* The message of @ref, unfinished and in our hands, must be written once more, at @until_us or later.
 * @may_end: tide_rewind_end_hold() may come before: as often as this */
void tide_rewind_hold(TidePartition *partition, TideSourceRef ref, gint64 until_us, gboolean may_end);
void tide_rewind_end_hold(TidePartition *partition, TideSourceRef ref);
/* Nothing of @partition from @sequence on, which need not have begun, may be committed before @until_us: something may
 * land over it that is not remembered. */
void tide_rewind_hold_all(TidePartition *partition, guint32 sequence, gint64 until_us);
/* Of @partition rows are not sent any more, or are refused (@reason: CANCELLED, REFUSED): it is rewound at once. */
void tide_rewind_ask(TidePartition *partition, TideRewindReason reason, gint64 now_us);

/* For tide_accumulator_judge(): what owners before us left in doubt of the partitions of each row of @batch; NULL:
 * nothing that counts for it. (transfer full) */
TideDoubt *tide_rewind_inherited_by_row(const TideAssignments *assignments, const TideBatch *batch);
/* Takes note of what the completion of @batch means for its messages. */
void tide_rewind_take_judgement(const TideAssignments *assignments, const TideBatch *batch,
                                const TideJudgement *judgement, gint64 now_us);

/* Once the moment of @partition has come nothing of it is taken any more, and dead letters that are not kept yet are
 * given up. TRUE: none is on its way, and it is to be rewound now. */
gboolean tide_rewind_prepare(TidePartition *partition, gint64 now_us);

/* Whether a row of @partition is on its way whose acknowledgement does not count any more: it was read before a rewind,
 * or before one that is due. Looks for one where there may be any; not to be asked for each message. */
gboolean tide_rewind_find_stale_rows(TidePartition *partition, const TideAccumulator *accumulator);

/* ---- all partitions of a consumer ---- */

typedef struct TideRewindsContext {
  TideInput *input;   /* borrowed */
  TidePauses *pauses; /* borrowed: of its partitions */
  gint64 settle_us;
  gboolean until_end; /* a run that is to end does not wait for a schema for ever */
} TideRewindsContext;

typedef struct TideRewinds {
  TideRewindsContext context;
  TideCounter *rewinds[TIDE_REWIND_N_REASONS];
  TideCounter *in_vain;
} TideRewinds;

void tide_rewinds_init(TideRewinds *rewinds, const TideRewindsContext *context);

/* Rewinds the partitions whose moment has come, and goes on with those whose schema has. Once a second or so. */
void tide_rewinds_run(TideRewinds *rewinds, gint64 now_us);

G_END_DECLS
