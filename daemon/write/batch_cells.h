/* Reads the cells of a sealed row back out of its wire bytes. For our own bytes.
 *
 * Threads: the batch's owner. */
#pragma once

#include "thrift/wire/wire_reader.h"
#include "write/batch.h"

G_BEGIN_DECLS

typedef struct TideBatchCell {
  TideBytes prefix;    /* of its column: family and qualifier as they stand */
  guint64 column_hash; /* as TideColumn has it */
  gint64 timestamp_ms;
  TideBytes value;
} TideBatchCell;

typedef struct TideBatchCells {
  TideWireReader reader;
  guint32 n_left;
  gint64 time_ms; /* of the cells that have none of their own */
} TideBatchCells;

/* Before the first cell of @row; FALSE: the row puts none. */
gboolean tide_batch_cells_enter(TideBatchCells *cells, TideWireProtocol protocol, const TideBatch *batch, guint32 row);

/* FALSE: there are no more. @ret_cell is borrowed from the batch. */
gboolean tide_batch_cells_next(TideBatchCells *cells, TideBatchCell *ret_cell);

/* What a cell is remembered by: its row, column and time; never 0. */
guint64 tide_cell_identity(guint64 key_hash, guint64 column_hash, gint64 timestamp_ms);

/* Of a cell's value; never 0. */
guint64 tide_cell_content(TideBytes value);

G_END_DECLS
