#include "dead_letters/dead_letter_row.h"

#include "thrift/wire/wire_reader.h"
#include "util/json_writer.h"

static void
read_cell(TideWireReader *reader, TideBuffer *cells)
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
  tide_json_open(cells, NULL, '{');
  tide_json_hex(cells, "family", family);
  tide_json_hex(cells, "qualifier", qualifier);
  tide_json_number(cells, "timestamp_ms", timestamp_ms);
  tide_json_base64(cells, "value", TRUE, value);
  tide_json_close(cells, "}");
}

static void
read_deleted_family(TideWireReader *reader, TideBuffer *deletes)
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
  tide_json_open(deletes, NULL, '{');
  tide_json_hex(deletes, "family", family);
  tide_json_number(deletes, "timestamp_ms", timestamp_ms);
  tide_json_close(deletes, "}");
}

/* Reads a put or a delete: its row, then a list whose items @read_one reads. */
static void
read_columns(TideWireReader *reader, void (*read_one)(TideWireReader *reader, TideBuffer *out), TideBuffer *out)
{
  TideWireField field = {0};
  while (tide_wire_read_field(reader, &field)) {
    guint32 n = 0;
    if (field.id != 2)
      tide_wire_skip(reader, field.type);
    else if (tide_wire_read_list_of(reader, TIDE_WIRE_STRUCT, &n))
      for (guint32 i = 0; i < n && reader->status == TIDE_WIRE_OK; i++)
        read_one(reader, out);
  }
}

static void
read_mutations(TideWireReader *reader, TideBuffer *cells, TideBuffer *deletes)
{
  while (reader->offset < reader->len && reader->status == TIDE_WIRE_OK) {
    TideWireField field = {0};
    while (tide_wire_read_field(reader, &field)) {
      if (field.id == 1)
        read_columns(reader, read_cell, cells);
      else
        read_columns(reader, read_deleted_family, deletes);
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
tide_dead_letter_row_json(TideWireProtocol protocol, TideBytes row_key, TideBytes wire, TideBuffer *out)
{
  g_auto(TideBuffer) deletes = {0};
  gsize start = out->len;
  tide_buffer_append_byte(out, '{'); /* without a comma after earlier content */
  tide_json_hex(out, "row_key", row_key);
  tide_json_open(out, "cells", '[');
  TideWireReader reader;
  tide_wire_reader_init(&reader, protocol, wire);
  if (is_put(protocol, wire))
    read_columns(&reader, read_cell, out);
  else
    read_mutations(&reader, out, &deletes);
  if (reader.status != TIDE_WIRE_OK || reader.offset != reader.len) {
    out->len = start;
    return FALSE;
  }
  tide_json_close(out, "]");
  if (deletes.len > 0) {
    tide_json_open(out, "deletes", '[');
    tide_buffer_append_bytes(out, tide_buffer_bytes(&deletes));
    tide_json_close(out, "]");
  }
  tide_json_close(out, "}");
  return TRUE;
}
