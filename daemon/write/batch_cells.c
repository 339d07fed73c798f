#include "write/batch_cells.h"

#include "thrift/wire/mutation_reader.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

gboolean
tide_batch_cells_enter(TideBatchCells *cells, TideWireProtocol protocol, const TideBatch *batch, guint32 row)
{
  TideWireReader *reader = &cells->reader;
  cells->n_left = 0;
  tide_wire_reader_init(reader, protocol, tide_batch_row_wire(batch, row));
  if (batch->is_mutations && !tide_mutations_enter_put(reader))
    return FALSE;
  TideWireField field = {0};
  while (tide_wire_read_field(reader, &field)) {
    if (field.id == 2 && tide_wire_field_is(reader, &field, TIDE_WIRE_LIST))
      return tide_wire_read_list_of(reader, TIDE_WIRE_STRUCT, &cells->n_left);
    tide_wire_skip(reader, field.type);
  }
  return FALSE;
}

gboolean
tide_batch_cells_next(TideBatchCells *cells, TideBatchCell *ret_cell)
{
  if (cells->n_left == 0)
    return FALSE;
  cells->n_left--;
  TideWireReader *reader = &cells->reader;
  gsize start = reader->offset;
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
