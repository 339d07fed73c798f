/* The size above which HBase refuses cells of a table, as far as it has said so in refusing some:
 * hbase.server.keyvalue.maxsize, which a table may set anew. What it is likely to refuse is kept apart: no other
 * message's cells are merged with it, so that they need not be read again to find out who is to blame, and it is sent
 * alone, so that no call of many rows is refused for it. All that follows from a wrong guess is more calls: so a row
 * that is taken all the same ends it for rows of its size, and an hour without a refusal for all.
 *
 * Of a table for all consumers, of a dated one for all its instances. Threads: any; no lock. */
#pragma once

#include "model/row.h"
#include "write/batch.h"

G_BEGIN_DECLS

/* Zero-initialised: nothing is known. */
typedef struct TideCellLimit {
  _Atomic guint64 known; /* the size, and until when it is believed, in one; 0: nothing */
} TideCellLimit;

/* @batch, of that table, has completed. */
void tide_cell_limit_learn(TideCellLimit *limit, const TideBatch *batch, gint64 now_us);

gboolean tide_cell_limit_is_below(TideCellLimit *limit, const TideRow *row, gint64 now_us);

/* Whether a cell of @row is larger than what is taken. For each row: as a rule nothing is known. */
static inline gboolean
tide_cell_limit_is_exceeded(TideCellLimit *limit, const TideRow *row, gint64 now_us)
{
  return G_UNLIKELY(atomic_load_explicit(&limit->known, memory_order_relaxed) != 0) &&
         tide_cell_limit_is_below(limit, row, now_us);
}

G_END_DECLS
