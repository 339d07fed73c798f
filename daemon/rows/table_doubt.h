/* What the batches of one table that complete say of cells in doubt: which rows must be written once more, which need
 * not be any more, and which cells are in doubt from now on. The rule stands in docs/internals.md: equal times.
 *
 * Threads: the owning consumer's only. */
#pragma once

#include "rows/table_accumulator.h"

G_BEGIN_DECLS

/* Before the sources of @batch, which was acknowledged, are marked: takes those out of it whose rows were written over
 * cells in doubt, and remembers that its own cells are, when a call that carried it was abandoned. */
void tide_table_doubt_judge(TideTableAccumulator *table, TideBatch *batch, gint64 now_us);

/* @row is about to be written, and an owner before us may have sent it: it may land once more until @until_us. FALSE:
 * there is no room to remember that. */
gboolean tide_table_doubt_remember_row(TideTableAccumulator *table, const TideRow *row,
                                       gint64 until_us) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
