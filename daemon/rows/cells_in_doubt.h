/* Uncertain cells: those of calls that ended without an answer. The gateway may still execute such a call later, and
 * its cells then replace a newer write of the same cell and time, as measurements show.
 *
 * This matters only for another value at the same row, column and time. Such a value is written at once, and its
 * message is read again after the uncertainty ends: rows_in_doubt.h. The same value, or another time, needs no such
 * care. Deletes are not remembered: a late one hides cells up to its own time, which it hid before or should have.
 *
 * There is one set per table and consumer, so splits and merges of regions do not matter.
 *
 * A cell takes 14 to 16 bytes in sets of ten thousand or more: a slot of 12 bytes in a table filled to between 7/9 and
 * 7/8. The identity is complete: a collision would hold an offset until its message is read again, and with half a
 * billion lookups against a million cells, 44 bits would collide.
 *
 * Threads: the owning consumer's only. Memory: charged to a share of the budget, never beyond its limit. */
#pragma once

#include "util/budget.h"

G_BEGIN_DECLS

typedef struct TideCellsInDoubt TideCellsInDoubt;

/* @share: borrowed: for uncertain and contested cells of all consumers
 * @step_us: times are rounded up by at most this, so that few different ones are stored */
TideCellsInDoubt *tide_cells_in_doubt_new(TideBudget *share, gint64 step_us);
void tide_cells_in_doubt_free(TideCellsInDoubt *in_doubt);

gboolean tide_cells_in_doubt_is_empty(const TideCellsInDoubt *in_doubt);

/* A content that conflicts with every value. */
#define TIDE_CONTENT_ANY 0

/**
 * tide_cells_in_doubt_add: records that a value may land until @until_us.
 * @identity, @content: hashes, batch_cells.h
 * Returns: FALSE if the share is used up and the cell is not remembered.
 */
gboolean tide_cells_in_doubt_add(TideCellsInDoubt *in_doubt, guint64 identity, guint64 content,
                                 gint64 until_us) G_GNUC_WARN_UNUSED_RESULT;

/* Until when another value may land over @content, which was sent at @sealed_us or later; 0: none. */
gint64 tide_cells_in_doubt_conflict_us(const TideCellsInDoubt *in_doubt, guint64 identity, guint64 content,
                                       gint64 sealed_us);

/* Forgets cells up to @to_us; cheap if there are none. Batches sealed earlier must be completed. */
void tide_cells_in_doubt_expire(TideCellsInDoubt *in_doubt, gint64 to_us);

G_END_DECLS
