/* The size above which HBase refuses cells, as far as it has said so in refusing some: hbase.server.keyvalue.maxsize.
 * What it is likely to refuse is kept apart: no other message's cells are merged with it, so that they need not be read
 * again to find out who is to blame, and it is sent alone, so that no call of many rows is refused for it. All that
 * follows from a wrong guess is more calls: so what one table says is taken for all, a row that is taken ends it for
 * rows of its size in its table, and an hour without a refusal for all.
 *
 * Threads: the owning consumer's only. */
#pragma once

#include "model/row.h"
#include "write/batch.h"

G_BEGIN_DECLS

typedef struct TideCellLimit {
  gsize bytes; /* 0: nothing is known */
  gint64 until_us;
} TideCellLimit;

/* @batch has completed. @taken_bytes: (inout): of its table: rows of so many bytes are taken */
void tide_cell_limit_learn(TideCellLimit *limit, const TideBatch *batch, gsize *taken_bytes, gint64 now_us);

/* Whether a cell of @row is larger than what is taken. */
gboolean tide_cell_limit_is_exceeded(const TideCellLimit *limit, const TideRow *row, gsize taken_bytes, gint64 now_us);

G_END_DECLS
