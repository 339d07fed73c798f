/* Rows of messages whose partition was taken away before they were written: they are given up, for whoever has the
 * partition now writes newer values, which these would overwrite if their region took them much later. The rule stands
 * in docs/internals.md: equal times.
 *
 * A row is given up when one of its messages is of such a partition. Other messages that share it are read again.
 *
 * Threads: the owning consumer's only; what writers have is marked for them. */
#pragma once

#include "rows/unmerged_rows.h"

G_BEGIN_DECLS

/* Partitions were taken away: drops their open rows and heals, and marks their rows in batches, wherever these are.
 */
void tide_table_given_up_take(TideTableAccumulator *table, TideUnmergedRows *unmerged, gint64 now_us);

/* @batch is completed: takes out of it all that belongs to rows which were given up. They count as not written, though
 * a call that was under way may have carried them. */
void tide_table_given_up_leave_out(TideTableAccumulator *table, TideBatch *batch, gint64 now_us);

G_END_DECLS
