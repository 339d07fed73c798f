/* Cells in doubt: those of calls that ended without an answer. The gateway may still be at work on the abandoned call
 * and let it land later (measured: it then wins over a newer write of the same cell and time).
 *
 * That only matters for another value at the same row, column and time. Such a value is written at once like any other,
 * and its message is read again when the doubt is over: rows_in_doubt.h. The same value again, and any other time, need
 * no such care. Deletes need no remembering: one that lands late hides cells up to its own time, which it hid before,
 * or should have.
 *
 * One set for each table and consumer, so that it does not matter how regions split and merge.
 *
 * A cell takes 14 to 16 bytes once there are some ten thousand: a slot of 12 in a table that is 7/9 to 7/8 full. The
 * identity is kept whole: a cell taken for another one would hold its offset until its message is read again, and so
 * many are looked up within a doubt (half a billion, against a million) that 44 bits would not tell them apart.
 *
 * Threads: the owning consumer's only. Memory: charged to a share of the budget, and never beyond its limit. */
#pragma once

#include "util/budget.h"

G_BEGIN_DECLS

typedef struct TideCellsInDoubt TideCellsInDoubt;

/* @share: borrowed: for what is in doubt and contested, of all consumers
 * @step_us: a doubt is remembered as this much longer at the most, so that few moments are told apart */
TideCellsInDoubt *tide_cells_in_doubt_new(TideBudget *share, gint64 step_us);
void tide_cells_in_doubt_free(TideCellsInDoubt *in_doubt);

gboolean tide_cells_in_doubt_is_empty(const TideCellsInDoubt *in_doubt);

/* A content that every value contradicts. */
#define TIDE_CONTENT_ANY 0

/**
 * tide_cells_in_doubt_add: a value may land until @until_us.
 * @identity, @content: hashes, batch_cells.h
 * Returns: FALSE: the share is used up, so it is not remembered.
 */
gboolean tide_cells_in_doubt_add(TideCellsInDoubt *in_doubt, guint64 identity, guint64 content,
                                 gint64 until_us) G_GNUC_WARN_UNUSED_RESULT;

/* Until when another value may still land over @content, which was sent at @sealed_us or later; 0: none can. */
gint64 tide_cells_in_doubt_conflict_us(const TideCellsInDoubt *in_doubt, guint64 identity, guint64 content,
                                       gint64 sealed_us);

/* Forgets what has settled up to @to_us; cheap when nothing has. Batches that were sealed before that must be
 * completed. */
void tide_cells_in_doubt_expire(TideCellsInDoubt *in_doubt, gint64 to_us);

G_END_DECLS
