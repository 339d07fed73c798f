#include "thrift/wire/mutation_encoder.h"

#include "thrift/wire/put_encoder.h"
#include "thrift/wire/wire_writer.h"

#define METHOD TIDE_BYTES_LITERAL("mutateRow")
#define DELETE_FAMILY 2 /* TDeleteType: all columns of the family, up to the timestamp */

/* Fields family and timestamp of a TColumn, and its stop. */
#define COLUMN_OVERHEAD_MAX                                                                                            \
  (TIDE_WIRE_FIELD_HEAD_MAX + TIDE_WIRE_STRING_HEAD_MAX + TIDE_WIRE_FIELD_HEAD_MAX + TIDE_WIRE_I64_MAX + 1)
/* The mutation's field, row, header of the columns, delete type, and two stops. */
#define DELETE_OVERHEAD_MAX                                                                                            \
  (4 * TIDE_WIRE_FIELD_HEAD_MAX + TIDE_WIRE_STRING_HEAD_MAX + TIDE_WIRE_LIST_HEAD_MAX + TIDE_WIRE_I64_MAX + 2)
#define CALL_OVERHEAD_MAX                                                                                              \
  (TIDE_WIRE_CALL_HEAD_MAX + 4 * TIDE_WIRE_FIELD_HEAD_MAX + 2 * TIDE_WIRE_STRING_HEAD_MAX + TIDE_WIRE_LIST_HEAD_MAX)

/* The two members of the union TMutation. */
enum { MUTATION_PUT = 1, MUTATION_DELETE = 2 };

static void
advance(TideBuffer *out, const guint8 *at)
{
  out->len = (gsize)(at - out->data);
}

void
tide_mutation_put_head_append(TideWireProtocol protocol, TideBuffer *out, TideBytes row, guint32 n_cells)
{
  guint8 *at = tide_buffer_reserve(out, TIDE_WIRE_FIELD_HEAD_MAX);
  advance(out, tide_write_struct_field(protocol, at, MUTATION_PUT, MUTATION_PUT));
  tide_put_head_append(protocol, out, row, n_cells);
}

void
tide_mutation_put_tail_append(TideWireProtocol protocol, TideBuffer *out, gint64 ttl_ms)
{
  tide_put_tail_append(protocol, out, TIDE_PUT_NO_TIME, ttl_ms);
  tide_buffer_append_byte(out, TIDE_WIRE_STOP);
}

gsize
tide_mutation_put_overhead_max(TideBytes row)
{
  return TIDE_WIRE_FIELD_HEAD_MAX + tide_put_overhead_max(row) + 1;
}

void
tide_mutation_delete_head_append(TideWireProtocol protocol, TideBuffer *out, TideBytes row, guint32 n_families)
{
  guint8 *at = tide_buffer_reserve(out, DELETE_OVERHEAD_MAX + row.len);
  at = tide_write_struct_field(protocol, at, MUTATION_DELETE, MUTATION_DELETE);
  at = tide_write_string_field(protocol, at, 1, 1, row);
  advance(out, tide_write_struct_list_field(protocol, at, 2, 1, n_families));
}

/* A TColumn: a family up to @to_ms. */
void
tide_mutation_delete_family_append(TideWireProtocol protocol, TideBuffer *out, TideBytes family, gint64 to_ms)
{
  guint8 *at = tide_buffer_reserve(out, COLUMN_OVERHEAD_MAX + family.len);
  at = tide_write_string_field(protocol, at, 1, 1, family);
  at = tide_write_i64_field(protocol, at, 3, 2, to_ms);
  *at++ = TIDE_WIRE_STOP;
  advance(out, at);
}

void
tide_mutation_delete_tail_append(TideWireProtocol protocol, TideBuffer *out)
{
  guint8 *at = tide_buffer_reserve(out, DELETE_OVERHEAD_MAX);
  at = tide_write_i32_field(protocol, at, 4, 2, DELETE_FAMILY);
  *at++ = TIDE_WIRE_STOP; /* of the delete */
  *at++ = TIDE_WIRE_STOP; /* of the mutation */
  advance(out, at);
}

void
tide_mutation_delete_append(TideWireProtocol protocol, TideBuffer *out, TideBytes row, const TideBytes *families,
                            gsize n_families, gint64 to_ms)
{
  tide_mutation_delete_head_append(protocol, out, row, (guint32)n_families);
  for (gsize i = 0; i < n_families; i++)
    tide_mutation_delete_family_append(protocol, out, families[i], to_ms);
  tide_mutation_delete_tail_append(protocol, out);
}

gsize
tide_mutation_delete_key_offset(TideWireProtocol protocol, gsize key_len)
{
  gsize field_head_len = protocol == TIDE_WIRE_BINARY ? 3 : 1;
  return field_head_len + tide_put_key_offset(protocol, key_len); /* a row begins a delete just as it begins a put */
}

gsize
tide_mutation_delete_size_max(TideBytes row, const TideBytes *families, gsize n_families)
{
  gsize size = DELETE_OVERHEAD_MAX + row.len;
  for (gsize i = 0; i < n_families; i++)
    size += COLUMN_OVERHEAD_MAX + families[i].len;
  return size;
}

void
tide_mutate_row_head_append(TideWireProtocol protocol, TideBuffer *out, gint32 sequence_id, TideBytes table,
                            TideBytes row, guint32 n_mutations)
{
  guint8 *at = tide_buffer_reserve(out, CALL_OVERHEAD_MAX + METHOD.len + table.len + row.len);
  at = tide_write_call_head(protocol, at, METHOD, sequence_id);
  at = tide_write_string_field(protocol, at, 1, 1, table);
  at = tide_write_struct_field(protocol, at, 2, 1);
  at = tide_write_string_field(protocol, at, 1, 1, row);
  advance(out, tide_write_struct_list_field(protocol, at, 2, 1, n_mutations));
}

void
tide_mutate_row_tail_append(TideWireProtocol protocol, TideBuffer *out)
{
  static const guint8 stops[] = {TIDE_WIRE_STOP, TIDE_WIRE_STOP}; /* of TRowMutations and of the arguments */
  tide_buffer_append_bytes(out, tide_bytes(stops, sizeof stops)); /* the same in both protocols */
}

gboolean
tide_mutations_enter_put(TideWireReader *reader)
{
  while (reader->offset < reader->len) {
    TideWireField field = {0};
    while (tide_wire_read_field(reader, &field)) {
      if (field.id == MUTATION_PUT)
        return TRUE;
      tide_wire_skip(reader, field.type);
    }
  }
  return FALSE;
}
