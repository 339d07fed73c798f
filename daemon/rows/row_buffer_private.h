/* Internals of row buffers, shared by row_buffer.c (filling) and row_seal.c (sealing) only. */
#pragma once

#include "rows/row_buffer.h"
#include "thrift/wire/put_encoder.h"
#include "write/batch_cells.h"

G_BEGIN_DECLS

#define NO_CELL G_MAXUINT32
#define NO_SOURCE G_MAXUINT32

typedef enum Disposition { TO_BATCH, TO_NEXT_SEALING } Disposition;

typedef struct OpenRow {
  guint64 key_hash;
  gint64 ttl_ms;
  gint64 delete_to_ms; /* 0: no delete */
  gsize key_offset;
  guint32 key_len;
  guint32 first_cell;
  guint32 last_cell;
  guint32 n_cells;
  guint32 cells_bytes;
  gboolean follows_same_key; /* an earlier row of the buffer has this key and was full */
  /* While sealing. */
  Disposition disposition;
  guint32 target_row;
  TideBatch *target; /* borrowed; with TO_BATCH */
} OpenRow;

/* A cell, or a run: cells that arrived together, with one time and distinct columns. A run remains whole until a part
 * of it must be merged; it is encoded without the time but counted with it. */
typedef struct OpenCell {
  guint64 column_hash; /* for a run, its row's columns_id */
  gint64 timestamp_ms;
  gsize offset; /* may exceed 4 GiB during an outage */
  guint32 len;
  guint32 room; /* bytes at offset that may be written without touching another cell */
  guint32 next;
  guint32 n_cells;  /* 1; more for a run */
  guint32 identity; /* of the row that it arrived with */
  guint32 source;   /* index in sources; NO_SOURCE: unknown */
} OpenCell;

static inline OpenRow *
rows_of(const TideRowBuffer *buffer)
{
  return (OpenRow *)(void *)buffer->rows.data;
}

static inline OpenCell *
cells_of(const TideRowBuffer *buffer)
{
  return (OpenCell *)(void *)buffer->cells.data;
}

/* Size of a cell or run in a put in which each cell has its own time. */
static inline guint32
timed_len(const TideRowBuffer *buffer, const OpenCell *cell)
{
  return cell->n_cells == 1
             ? cell->len
             : cell->len + cell->n_cells * (guint32)tide_cell_time_size(buffer->protocol, cell->timestamp_ms);
}

/* Reads the cells of a run, or a single cell. */
TideBatchCells tide_row_buffer_run_cells(const TideRowBuffer *buffer, const OpenCell *run);

/* Charges the budget for the buffer's current memory. */
void tide_row_buffer_charge(TideRowBuffer *buffer);

/* Upper bound of what a delete adds to the size of a row's put. */
gsize tide_row_buffer_delete_size_max(const TideRowBuffer *buffer, TideBytes key);

/* Copies row @from_row of @buffer, with its encoded cells, to the end of @to. Returns its index there. */
guint32 tide_row_buffer_copy_row(const TideRowBuffer *buffer, guint32 from_row, TideRowBuffer *to, gint64 oldest_us);

G_END_DECLS
