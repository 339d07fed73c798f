#include "thrift/wire/request_encoder.h"

#include "thrift/wire/wire_writer.h"

/* The buffer for fields and the id of the last one: the compact protocol stores the difference. */
typedef struct StructWriter {
  TideWireProtocol protocol;
  TideBuffer *out;
  guint8 last_id;
} StructWriter;

static guint8
delta_to(StructWriter *to, guint8 id)
{
  guint8 delta = (guint8)(id - to->last_id);
  to->last_id = id;
  return delta;
}

static void
advance(StructWriter *to, const guint8 *at)
{
  to->out->len = (gsize)(at - to->out->data);
}

static void
write_string(StructWriter *to, guint8 id, TideBytes bytes)
{
  guint8 *at = tide_buffer_reserve(to->out, TIDE_WIRE_FIELD_HEAD_MAX + TIDE_WIRE_STRING_HEAD_MAX + bytes.len);
  advance(to, tide_write_string_field(to->protocol, at, id, delta_to(to, id), bytes));
}

static void
write_i32(StructWriter *to, guint8 id, gint32 number)
{
  guint8 *at = tide_buffer_reserve(to->out, TIDE_WIRE_FIELD_HEAD_MAX + TIDE_WIRE_I64_MAX);
  advance(to, tide_write_i32_field(to->protocol, at, id, delta_to(to, id), number));
}

static void
write_i64(StructWriter *to, guint8 id, gint64 number)
{
  guint8 *at = tide_buffer_reserve(to->out, TIDE_WIRE_FIELD_HEAD_MAX + TIDE_WIRE_I64_MAX);
  advance(to, tide_write_i64_field(to->protocol, at, id, delta_to(to, id), number));
}

static void
write_true(StructWriter *to, guint8 id)
{
  guint8 *at = tide_buffer_reserve(to->out, TIDE_WIRE_FIELD_HEAD_MAX + 1);
  guint8 delta = delta_to(to, id);
  if (to->protocol == TIDE_WIRE_BINARY) {
    at = tide_write_field_binary(at, TIDE_WIRE_BOOL, id);
    *at++ = 1;
  } else {
    at = tide_write_field_compact(at, TIDE_COMPACT_TRUE, delta); /* the value is part of the type */
  }
  advance(to, at);
}

/* Starts a struct as field @id; end_struct() ends it. */
static StructWriter
begin_struct(StructWriter *to, guint8 id)
{
  guint8 *at = tide_buffer_reserve(to->out, TIDE_WIRE_FIELD_HEAD_MAX);
  advance(to, tide_write_struct_field(to->protocol, at, id, delta_to(to, id)));
  return (StructWriter){.protocol = to->protocol, .out = to->out};
}

/* Starts a list of @count structs as field @id: each is begin_element() to end_struct(). */
static void
begin_struct_list(StructWriter *to, guint8 id, gsize count)
{
  guint8 *at = tide_buffer_reserve(to->out, TIDE_WIRE_FIELD_HEAD_MAX + TIDE_WIRE_LIST_HEAD_MAX);
  advance(to, tide_write_struct_list_field(to->protocol, at, id, delta_to(to, id), (guint32)count));
}

static StructWriter
begin_element(const StructWriter *list)
{
  return (StructWriter){.protocol = list->protocol, .out = list->out};
}

static void
end_struct(StructWriter *to)
{
  tide_buffer_append_byte(to->out, TIDE_WIRE_STOP);
}

static StructWriter
begin_call(TideWireProtocol protocol, TideBuffer *out, const char *method, gint32 sequence_id)
{
  StructWriter to = {.protocol = protocol, .out = out};
  TideBytes name = tide_bytes_of_string(method);
  guint8 *at = tide_buffer_reserve(out, TIDE_WIRE_CALL_HEAD_MAX + name.len);
  advance(&to, tide_write_call_head(protocol, at, name, sequence_id));
  return to;
}

void
tide_get_request_append(TideWireProtocol protocol, TideBuffer *out, gint32 sequence_id, TideBytes table, TideBytes row)
{
  StructWriter call = begin_call(protocol, out, "get", sequence_id);
  write_string(&call, 1, table);
  StructWriter get = begin_struct(&call, 2);
  write_string(&get, 1, row);
  end_struct(&get);
  end_struct(&call);
}

/* list<TColumn> */
static void
write_columns(StructWriter *to, guint8 id, const TideColumnName *columns, gsize n_columns)
{
  if (n_columns == 0)
    return;
  begin_struct_list(to, id, n_columns);
  for (gsize i = 0; i < n_columns; i++) {
    StructWriter column = begin_element(to);
    write_string(&column, 1, columns[i].family);
    if (!columns[i].whole_family)
      write_string(&column, 2, columns[i].qualifier);
    end_struct(&column);
  }
}

static void
write_time_range(StructWriter *to, guint8 id, gint64 min_time_ms, gint64 max_time_ms)
{
  if (min_time_ms == 0 && max_time_ms == 0)
    return;
  StructWriter range = begin_struct(to, id);
  write_i64(&range, 1, min_time_ms);
  write_i64(&range, 2, max_time_ms);
  end_struct(&range);
}

void
tide_get_multiple_request_append(TideWireProtocol protocol, TideBuffer *out, gint32 sequence_id, TideBytes table,
                                 const TideGetRequest *request)
{
  StructWriter call = begin_call(protocol, out, "getMultiple", sequence_id);
  write_string(&call, 1, table);
  begin_struct_list(&call, 2, request->n_rows);
  for (gsize i = 0; i < request->n_rows; i++) {
    StructWriter get = begin_element(&call);
    write_string(&get, 1, request->rows[i]);
    write_columns(&get, 2, request->columns, request->n_columns);
    write_time_range(&get, 4, request->min_time_ms, request->max_time_ms);
    write_i32(&get, 5, request->max_versions);
    end_struct(&get);
  }
  end_struct(&call);
}

void
tide_open_scanner_request_append(TideWireProtocol protocol, TideBuffer *out, gint32 sequence_id, TideBytes table,
                                 const TideScanRequest *request)
{
  StructWriter call = begin_call(protocol, out, "openScanner", sequence_id);
  write_string(&call, 1, table);
  StructWriter scan = begin_struct(&call, 2);
  if (request->start_row.len > 0)
    write_string(&scan, 1, request->start_row);
  if (request->stop_row.len > 0)
    write_string(&scan, 2, request->stop_row);
  write_columns(&scan, 3, request->columns, request->n_columns);
  write_i32(&scan, 4, (gint32)request->caching_rows);
  write_i32(&scan, 5, request->max_versions);
  write_time_range(&scan, 6, request->min_time_ms, request->max_time_ms);
  if (request->filter.len > 0)
    write_string(&scan, 7, request->filter);
  if (request->reversed)
    write_true(&scan, 11);
  if (request->limit_rows > 0 && request->limit_rows <= G_MAXINT32)
    write_i32(&scan, 15, (gint32)request->limit_rows);
  end_struct(&scan);
  end_struct(&call);
}

void
tide_scanner_rows_request_append(TideWireProtocol protocol, TideBuffer *out, gint32 sequence_id, gint32 scanner_id,
                                 gint32 n_rows)
{
  StructWriter call = begin_call(protocol, out, "getScannerRows", sequence_id);
  write_i32(&call, 1, scanner_id);
  write_i32(&call, 2, n_rows);
  end_struct(&call);
}

void
tide_close_scanner_request_append(TideWireProtocol protocol, TideBuffer *out, gint32 sequence_id, gint32 scanner_id)
{
  StructWriter call = begin_call(protocol, out, "closeScanner", sequence_id);
  write_i32(&call, 1, scanner_id);
  end_struct(&call);
}

void
tide_regions_request_append(TideWireProtocol protocol, TideBuffer *out, gint32 sequence_id, TideBytes table)
{
  StructWriter call = begin_call(protocol, out, "getAllRegionLocations", sequence_id);
  write_string(&call, 1, table);
  end_struct(&call);
}
