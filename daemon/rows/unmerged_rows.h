/* Rows that go by themselves: what a message has in a refused row, its part. None is merged with others, and other rows
 * of its key wait until it is written. How many are under way is bounded by who reads them again
 * (consumer/dead_letter_desk.c).
 *
 * Threads: the owning consumer's only. */
#pragma once

#include "rows/table_accumulator.h"

G_BEGIN_DECLS

/* Of one consumer: rows, open or on their way. */
typedef struct TideUnmergedRows {
  guint32 n_rows;
} TideUnmergedRows;

/* As tide_accumulator_append_unmerged(). */
guint32 tide_unmerged_rows_append_part(TideUnmergedRows *unmerged, TideTableAccumulator *table, const TideRow *rows,
                                       guint32 n_rows, guint32 at, TideSourceRef source, gint64 now_us);

/* A row of @table with that key is open no more, nor on its way: it holds its key no more. */
void tide_unmerged_rows_let_go(TideUnmergedRows *unmerged, TideTableAccumulator *table, guint64 key_hash);

G_END_DECLS
