/* Rows that go by themselves: what a message has in a refused row, its part, and rows kept apart, which HBase is likely
 * to refuse (write/cell_limit.h). None is merged with others, and other rows of its key wait until it is written.
 *
 * How many parts are under way is bounded by who reads them again (consumer/dead_letter_desk.c). Rows kept apart come
 * with the stream, so their number is bounded here: beyond it they merge as any other.
 *
 * Threads: the owning consumer's only. */
#pragma once

#include "rows/table_accumulator.h"

G_BEGIN_DECLS

/* Rows of all tables that are likely to be refused, at most: few beside the parts that may be under way, which so never
 * wait for them, and enough for writers to be busy with. */
#define TIDE_MAX_ROWS_APART 1000u

/* Of one consumer: rows, open or on their way. */
typedef struct TideUnmergedRows {
  guint32 n_rows;
  guint32 n_apart; /* of them, likely to be refused */
} TideUnmergedRows;

/* As tide_accumulator_append_unmerged(). */
guint32 tide_unmerged_rows_append_part(TideUnmergedRows *unmerged, TideTableAccumulator *table, const TideRow *rows,
                                       guint32 n_rows, guint32 at, TideSourceRef source, gint64 now_us);

/* Where HBase is likely to refuse @rows[@at], of a message like any other, appends it and what follows it. FALSE:
 * nothing was done: it is a row like any other, or as good as one. */
gboolean tide_unmerged_rows_append_apart(TideUnmergedRows *unmerged, TideTableAccumulator *table, const TideRow *rows,
                                         guint32 n_rows, guint32 at, TideSourceRef source, gint64 now_us);

/* A row of @table with that key is open no more, nor on its way: it holds its key no more. */
void tide_unmerged_rows_let_go(TideUnmergedRows *unmerged, TideTableAccumulator *table, guint64 key_hash,
                               gboolean is_apart);

G_END_DECLS
