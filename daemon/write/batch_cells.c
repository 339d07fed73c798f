#include "write/batch_cells.h"

#include "thrift/wire/mutation_encoder.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

/* Reads field 3, the put's time, which follows the cells; 0: each cell has its own time. */
static gint64
time_of_put(TideWireReader *put)
{
  TideWireField field = {0};
  while (tide_wire_read_field(put, &field)) {
    if (field.id == 3)
      return tide_wire_read_i64(put);
    tide_wire_skip(put, field.type);
  }
  return 0;
}

static gboolean
enter_cells(TideWireReader *put, guint32 *ret_n_cells)
{
  TideWireField field = {0};
  *ret_n_cells = 0;
  while (tide_wire_read_field(put, &field)) {
    if (field.id == 2 && tide_wire_field_is(put, &field, TIDE_WIRE_LIST))
      return tide_wire_read_list_of(put, TIDE_WIRE_STRUCT, ret_n_cells);
    tide_wire_skip(put, field.type);
  }
  return FALSE;
}

gboolean
tide_batch_cells_enter(TideBatchCells *cells, TideWireProtocol protocol, const TideBatch *batch, guint32 row)
{
  TideWireReader *reader = &cells->reader;
  tide_wire_reader_init(reader, protocol, tide_batch_row_wire(batch, row));
  if (batch->is_mutations && !tide_mutations_enter_put(reader)) {
    cells->n_remaining = 0;
    return FALSE;
  }
  TideWireReader put = *reader;
  cells->time_ms = time_of_put(&put);
  return enter_cells(reader, &cells->n_remaining);
}

gboolean
tide_batch_cells_next(TideBatchCells *cells, TideBatchCell *ret_cell)
{
  if (cells->n_remaining == 0)
    return FALSE;
  cells->n_remaining--;
  TideWireReader *reader = &cells->reader;
  gsize start = reader->offset;
  ret_cell->timestamp_ms = cells->time_ms;
  TideWireField field = {0};
  while (tide_wire_read_field(reader, &field)) {
    if (field.id == 3)
      ret_cell->value = tide_wire_read_string(reader);
    else if (field.id == 4)
      ret_cell->timestamp_ms = tide_wire_read_i64(reader);
    else
      tide_wire_skip(reader, field.type);
    if (field.id == 2)
      ret_cell->prefix = tide_bytes(reader->data + start, reader->offset - start);
  }
  g_assert(reader->status == TIDE_WIRE_OK);
  ret_cell->column_hash = XXH3_64bits(ret_cell->prefix.data, ret_cell->prefix.len);
  return TRUE;
}

guint64
tide_cell_identity(guint64 key_hash, guint64 column_hash, gint64 timestamp_ms)
{
  const guint64 parts[] = {key_hash, column_hash, (guint64)timestamp_ms};
  guint64 identity = XXH3_64bits(parts, sizeof parts);
  return identity != 0 ? identity : 1;
}

guint64
tide_cell_content(TideBytes value)
{
  guint64 content = XXH3_64bits(value.data, value.len);
  return content != 0 ? content : 1;
}
