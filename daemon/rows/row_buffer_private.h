/* Inside of row buffers: what row_buffer.c, which takes rows in, and row_seal.c, which hands them out, share. Nobody
 * else includes this. */
#pragma once

#include "rows/row_buffer.h"
#include "thrift/wire/put_encoder.h"
#include "write/batch_cells.h"

G_BEGIN_DECLS

#define NO_CELL G_MAXUINT32
#define NO_SOURCE G_MAXUINT32

typedef enum GoesTo { GOES_TO_BATCH, GOES_TO_AGAIN } GoesTo;

typedef struct OpenRow {
  guint64 key_hash;
  gint64 ttl_ms;
  gint64 delete_to_ms; /* 0: the row deletes nothing */
  gsize key_offset;
  guint32 key_len;
  guint32 first_cell;
  guint32 last_cell;
  guint32 n_cells;
  guint32 cells_bytes;
  gboolean follows_same_key; /* an earlier row of the buffer has this key and was full */
  /* while sealing */
  GoesTo goes_to;
  guint32 target_row;
  TideBatch *target; /* borrowed; with GOES_TO_BATCH */
} OpenRow;

/* A cell, or a run: cells that came together, of one time, in columns of which no two are alike. A run stays whole
 * until something meets a part of it; it is encoded without the time, and counted with it. */
typedef struct OpenCell {
  guint64 column_hash; /* of a run its row's columns_id */
  gint64 timestamp_ms;
  gsize offset; /* a set of an outage may have more than 4 GiB */
  guint32 len;
  guint32 room; /* bytes that can be written at offset without touching another cell */
  guint32 next;
  guint32 n_cells;  /* 1, or of a run more */
  guint32 identity; /* of the row that it came with */
  guint32 source;   /* place in sources; NO_SOURCE: not known any more */
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

/* What a cell or run takes in a put in which each cell has its own time. */
static inline guint32
timed_len(const TideRowBuffer *buffer, const OpenCell *cell)
{
  return cell->n_cells == 1
             ? cell->len
             : cell->len + cell->n_cells * (guint32)tide_cell_time_size(buffer->protocol, cell->timestamp_ms);
}

/* The cells of a run, or a cell. */
TideBatchCells tide_row_buffer_run_cells(const TideRowBuffer *buffer, const OpenCell *run);

/* Tells the budget what the buffer holds now. */
void tide_row_buffer_charge(TideRowBuffer *buffer);

/* What a row that deletes takes more than the put alone, at the most. */
gsize tide_row_buffer_delete_size_max(const TideRowBuffer *buffer, TideBytes key);

/* Copies row @from_row of @buffer, its cells as they are encoded, behind the rows of @to; its place there. */
guint32 tide_row_buffer_copy_row(const TideRowBuffer *buffer, guint32 from_row, TideRowBuffer *to, gint64 oldest_us);

G_END_DECLS
