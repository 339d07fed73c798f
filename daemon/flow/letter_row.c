#include "flow/letter_row.h"

#include "thrift/wire_reader.h"

typedef struct Row {
  GString *cells;
  GString *deletes;
} Row;

static void
append_hex(GString *json, const char *name, TideBytes bytes)
{
  g_autofree char *hex = tide_bytes_hex(bytes);
  g_string_append_printf(json, "\"%s\":\"%s\"", name, hex);
}

static void
read_cell(TideWireReader *reader, GString *cells)
{
  TideWireField field = {0};
  TideBytes family = TIDE_BYTES_EMPTY, qualifier = TIDE_BYTES_EMPTY, value = TIDE_BYTES_EMPTY;
  gint64 timestamp_ms = 0;
  while (tide_wire_read_field(reader, &field)) {
    if (field.id == 1)
      family = tide_wire_read_string(reader);
    else if (field.id == 2)
      qualifier = tide_wire_read_string(reader);
    else if (field.id == 3)
      value = tide_wire_read_string(reader);
    else if (field.id == 4)
      timestamp_ms = tide_wire_read_i64(reader);
    else
      tide_wire_skip(reader, field.type);
  }
  g_string_append(cells, cells->len > 0 ? ",{" : "{");
  append_hex(cells, "family", family);
  g_string_append_c(cells, ',');
  append_hex(cells, "qualifier", qualifier);
  g_autofree char *base64 = g_base64_encode(value.data, value.len);
  g_string_append_printf(cells, ",\"timestamp_ms\":%" G_GINT64_FORMAT ",\"value\":\"%s\"}", timestamp_ms, base64);
}

static void
read_put(TideWireReader *reader, const Row *row)
{
  TideWireField field = {0};
  while (tide_wire_read_field(reader, &field)) {
    guint32 n = 0;
    if (field.id != 2)
      tide_wire_skip(reader, field.type);
    else if (tide_wire_read_list_of(reader, TIDE_WIRE_STRUCT, &n))
      for (guint32 i = 0; i < n && reader->status == TIDE_WIRE_OK; i++)
        read_cell(reader, row->cells);
  }
}

static void
read_deleted_family(TideWireReader *reader, GString *deletes)
{
  TideWireField field = {0};
  TideBytes family = TIDE_BYTES_EMPTY;
  gint64 timestamp_ms = 0;
  while (tide_wire_read_field(reader, &field)) {
    if (field.id == 1)
      family = tide_wire_read_string(reader);
    else if (field.id == 3)
      timestamp_ms = tide_wire_read_i64(reader);
    else
      tide_wire_skip(reader, field.type);
  }
  g_string_append(deletes, deletes->len > 0 ? ",{" : "{");
  append_hex(deletes, "family", family);
  g_string_append_printf(deletes, ",\"timestamp_ms\":%" G_GINT64_FORMAT "}", timestamp_ms);
}

static void
read_delete(TideWireReader *reader, const Row *row)
{
  TideWireField field = {0};
  while (tide_wire_read_field(reader, &field)) {
    guint32 n = 0;
    if (field.id != 2)
      tide_wire_skip(reader, field.type);
    else if (tide_wire_read_list_of(reader, TIDE_WIRE_STRUCT, &n))
      for (guint32 i = 0; i < n && reader->status == TIDE_WIRE_OK; i++)
        read_deleted_family(reader, row->deletes);
  }
}

static void
read_mutations(TideWireReader *reader, const Row *row)
{
  while (reader->offset < reader->len && reader->status == TIDE_WIRE_OK) {
    TideWireField field = {0};
    while (tide_wire_read_field(reader, &field)) {
      if (field.id == 1)
        read_put(reader, row);
      else
        read_delete(reader, row);
    }
  }
}

/* A put begins with its row, a mutation with a struct. */
static gboolean
is_put(TideWireProtocol protocol, TideBytes wire)
{
  TideWireReader reader;
  TideWireField field = {0};
  tide_wire_reader_init(&reader, protocol, wire);
  return tide_wire_read_field(&reader, &field) && field.type == TIDE_WIRE_STRING;
}

gboolean
tide_letter_row_json(TideWireProtocol protocol, TideBytes row_key, TideBytes wire, TideBuffer *out)
{
  g_autoptr(GString) cells = g_string_new(NULL);
  g_autoptr(GString) deletes = g_string_new(NULL);
  Row row = {cells, deletes};
  TideWireReader reader;
  tide_wire_reader_init(&reader, protocol, wire);
  if (is_put(protocol, wire))
    read_put(&reader, &row);
  else
    read_mutations(&reader, &row);
  if (reader.status != TIDE_WIRE_OK || reader.offset != reader.len)
    return FALSE;
  g_autoptr(GString) json = g_string_new("{");
  append_hex(json, "row_key", row_key);
  g_string_append_printf(json, ",\"cells\":[%s]", cells->str);
  if (deletes->len > 0)
    g_string_append_printf(json, ",\"deletes\":[%s]", deletes->str);
  g_string_append_c(json, '}');
  tide_buffer_append(out, json->str, json->len);
  return TRUE;
}
