/* Reads the cells of a sealed row from its wire bytes, which this program has encoded.
 *
 * Threads: the batch's owner. */
#pragma once

#include "thrift/wire/wire_reader.h"
#include "write/batch.h"

G_BEGIN_DECLS

typedef struct TideBatchCell {
  TideBytes prefix;    /* family and qualifier of its column, as encoded */
  guint64 column_hash; /* as in TideColumn */
  gint64 timestamp_ms;
  TideBytes value;
} TideBatchCell;

typedef struct TideBatchCells {
  TideWireReader reader;
  guint32 n_remaining;
  gint64 time_ms; /* for cells without a time of their own */
} TideBatchCells;

/* Starts before the first cell of @row. Returns FALSE if the row puts no cells. */
gboolean tide_batch_cells_enter(TideBatchCells *cells, TideWireProtocol protocol, const TideBatch *batch, guint32 row);

/* Returns FALSE after the last cell. @ret_cell: borrowed from the batch */
gboolean tide_batch_cells_next(TideBatchCells *cells, TideBatchCell *ret_cell);

/* Identifies a cell by row, column and time; never 0. */
guint64 tide_cell_identity(guint64 key_hash, guint64 column_hash, gint64 timestamp_ms);

/* Hash of a cell's value; never 0. */
guint64 tide_cell_content(TideBytes value);

G_END_DECLS
