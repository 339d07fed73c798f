#include "thrift/wire/put_encoder.h"

#define METHOD TIDE_BYTES_LITERAL("putMultiple")
#define TTL_ATTRIBUTE TIDE_BYTES_LITERAL("_ttl") /* Mutation.OP_ATTRIBUTE_TTL of HBase */

#define COLUMN_PREFIX_OVERHEAD_MAX (2 * (TIDE_WIRE_FIELD_HEAD_MAX + TIDE_WIRE_STRING_HEAD_MAX))
#define PUT_HEAD_OVERHEAD_MAX                                                                                          \
  (TIDE_WIRE_FIELD_HEAD_MAX + TIDE_WIRE_STRING_HEAD_MAX + TIDE_WIRE_FIELD_HEAD_MAX + TIDE_WIRE_LIST_HEAD_MAX)
#define PUT_TAIL_MAX 44 /* binary: (3 + 8) + 3 + 6 + (4 + 4) + (4 + 8) + 1 = 41 */

void
tide_column_prefix_append(TideWireProtocol protocol, TideBuffer *out, TideBytes family, TideBytes qualifier)
{
  guint8 *at = tide_buffer_reserve(out, COLUMN_PREFIX_OVERHEAD_MAX + family.len + qualifier.len);
  at = tide_write_string_field(protocol, at, 1, 1, family);
  at = tide_write_string_field(protocol, at, 2, 1, qualifier);
  out->len = (gsize)(at - out->data);
}

void
tide_cell_append(TideWireProtocol protocol, TideBuffer *out, TideBytes column_prefix, TideBytes value,
                 gint64 timestamp_ms)
{
  guint8 *at = tide_buffer_reserve(out, column_prefix.len + value.len + TIDE_CELL_OVERHEAD_MAX);
  at = tide_write_bytes(at, column_prefix.data, column_prefix.len);
  at = tide_write_string_field(protocol, at, 3, 1, value);
  at = tide_write_i64_field(protocol, at, 4, 1, timestamp_ms);
  *at++ = TIDE_WIRE_STOP;
  out->len = (gsize)(at - out->data);
}

gsize
tide_cell_time_size(TideWireProtocol protocol, gint64 timestamp_ms)
{
  guint8 scratch[TIDE_WIRE_I64_MAX];
  return protocol == TIDE_WIRE_BINARY ? 3 + 8 : 1 + (gsize)(tide_write_zigzag(scratch, timestamp_ms) - scratch);
}

void
tide_cell_append_without_time(TideWireProtocol protocol, TideBuffer *out, TideBytes cell, gint64 timestamp_ms)
{
  tide_buffer_append(out, cell.data, cell.len - tide_cell_time_size(protocol, timestamp_ms) - 1);
  tide_buffer_append_byte(out, TIDE_WIRE_STOP);
}

gsize
tide_cell_size_max(TideBytes column_prefix, gsize value_len)
{
  return column_prefix.len + value_len + TIDE_CELL_OVERHEAD_MAX;
}

void
tide_put_head_append(TideWireProtocol protocol, TideBuffer *out, TideBytes row, guint32 n_cells)
{
  guint8 *at = tide_buffer_reserve(out, PUT_HEAD_OVERHEAD_MAX + row.len);
  at = tide_write_string_field(protocol, at, 1, 1, row);
  at = tide_write_struct_list_field(protocol, at, 2, 1, n_cells);
  out->len = (gsize)(at - out->data);
}

gsize
tide_put_key_offset(TideWireProtocol protocol, gsize key_len)
{
  if (protocol == TIDE_WIRE_BINARY)
    return 3 + 4; /* field header, length */
  guint8 length[TIDE_WIRE_STRING_HEAD_MAX];
  return 1 + (gsize)(tide_write_varint(length, key_len) - length);
}

/* Field 5, a map with one entry from the attribute's name to @ttl_ms. @field_before: the last field written. */
static guint8 *
write_ttl(TideWireProtocol protocol, guint8 *at, guint8 field_before, gint64 ttl_ms)
{
  guint8 value[8];
  tide_write_be64(value, (guint64)ttl_ms);
  if (protocol == TIDE_WIRE_BINARY) {
    at = tide_write_field_binary(at, TIDE_WIRE_MAP, 5);
    *at++ = TIDE_WIRE_STRING;
    *at++ = TIDE_WIRE_STRING;
    at = tide_write_be32(at, 1);
    at = tide_write_string_binary(at, TTL_ATTRIBUTE);
    return tide_write_string_binary(at, tide_bytes(value, sizeof value));
  }
  at = tide_write_field_compact(at, TIDE_COMPACT_MAP, (guint8)(5 - field_before));
  at = tide_write_varint(at, 1);
  *at++ = TIDE_COMPACT_STRING << 4 | TIDE_COMPACT_STRING;
  at = tide_write_string_compact(at, TTL_ATTRIBUTE);
  return tide_write_string_compact(at, tide_bytes(value, sizeof value));
}

void
tide_put_tail_append(TideWireProtocol protocol, TideBuffer *out, gint64 time_ms, gint64 ttl_ms)
{
  guint8 *at = tide_buffer_reserve(out, PUT_TAIL_MAX);
  if (time_ms != TIDE_PUT_NO_TIME)
    at = tide_write_i64_field(protocol, at, 3, 3 - 2, time_ms);
  if (ttl_ms != 0)
    at = write_ttl(protocol, at, time_ms != TIDE_PUT_NO_TIME ? 3 : 2, ttl_ms);
  *at++ = TIDE_WIRE_STOP;
  out->len = (gsize)(at - out->data);
}

gsize
tide_put_overhead_max(TideBytes row)
{
  return PUT_HEAD_OVERHEAD_MAX + row.len + PUT_TAIL_MAX;
}

gsize
tide_put_multiple_overhead_max(gsize table_len)
{
  return TIDE_WIRE_CALL_HEAD_MAX + METHOD.len + TIDE_WIRE_FIELD_HEAD_MAX + TIDE_WIRE_STRING_HEAD_MAX + table_len +
         TIDE_WIRE_FIELD_HEAD_MAX + TIDE_WIRE_LIST_HEAD_MAX + 1;
}

void
tide_put_multiple_head_append(TideWireProtocol protocol, TideBuffer *out, gint32 sequence_id, TideBytes table,
                              guint32 n_puts)
{
  guint8 *at = tide_buffer_reserve(out, tide_put_multiple_overhead_max(table.len));
  at = tide_write_call_head(protocol, at, METHOD, sequence_id);
  at = tide_write_string_field(protocol, at, 1, 1, table);
  at = tide_write_struct_list_field(protocol, at, 2, 1, n_puts);
  out->len = (gsize)(at - out->data);
}

void
tide_put_multiple_tail_append(TideWireProtocol protocol, TideBuffer *out)
{
  tide_buffer_append_byte(out, TIDE_WIRE_STOP); /* the same byte in both */
}
