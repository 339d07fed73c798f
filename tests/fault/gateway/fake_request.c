/* Reading the calls of THBaseService. A field of a known id and an unexpected type is skipped, as Java's reader does.
 */
#include "fault/gateway/fake_request_private.h"

#define DELETE_FAMILY 2 /* TDeleteType */
#define MISSING(field) "Required field '" field "' was not present!"

void
fake_request_init(TideFakeRequest *request)
{
  *request = (TideFakeRequest){
      .rows = g_array_new(FALSE, FALSE, sizeof(TideFakeRow)),
      .row_keys = g_array_new(FALSE, FALSE, sizeof(TideBytes)),
      .splits = g_array_new(FALSE, FALSE, sizeof(TideBytes)),
      .cells = g_array_new(FALSE, FALSE, sizeof(TideFakeCell)),
      .columns = g_array_new(FALSE, FALSE, sizeof(TideFakeColumn)),
      .deletes = g_array_new(FALSE, FALSE, sizeof(TideFakeDelete)),
  };
}

void
fake_request_clear(TideFakeRequest *request)
{
  g_array_unref(request->rows);
  g_array_unref(request->row_keys);
  g_array_unref(request->splits);
  g_array_unref(request->cells);
  g_array_unref(request->columns);
  g_array_unref(request->deletes);
  fake_table_spec_free(request->spec);
}

void
fake_request_begin(TideFakeRequest *request, const TideFakeMessage *message)
{
  request->call = tide_gateway_call_by_name(message->name);
  request->name = message->name;
  request->sequence_id = message->sequence_id;
  request->incomplete = NULL;
  request->table = NULL;
  request->name_space = NULL;
  request->query = (TideFakeQuery){0};
  request->scanner_id = 0;
  request->n_rows = 1; /* the IDL's default */
  g_clear_pointer(&request->spec, fake_table_spec_free);
  g_array_set_size(request->rows, 0);
  g_array_set_size(request->row_keys, 0);
  g_array_set_size(request->splits, 0);
  g_array_set_size(request->cells, 0);
  g_array_set_size(request->columns, 0);
  g_array_set_size(request->deletes, 0);
}

/* TColumnValue */
static void
read_cell(TideFakeRequest *request, TideFakeReader *reader)
{
  TideFakeCell cell = {.timestamp_ms = TIDE_FAKE_NO_TIMESTAMP};
  TideFakeField field;
  fake_reader_struct_begin(reader);
  while (fake_reader_field(reader, &field)) {
    if (fake_field_is(&field, 1, TIDE_FAKE_BINARY))
      cell.family = fake_reader_binary(reader);
    else if (fake_field_is(&field, 2, TIDE_FAKE_BINARY))
      cell.qualifier = fake_reader_binary(reader);
    else if (fake_field_is(&field, 3, TIDE_FAKE_BINARY))
      cell.value = fake_reader_binary(reader);
    else if (fake_field_is(&field, 4, TIDE_FAKE_I64))
      cell.timestamp_ms = fake_reader_i64(reader);
    else
      fake_reader_skip(reader, field.type);
  }
  fake_reader_struct_end(reader);
  if (cell.family.data == NULL || cell.qualifier.data == NULL || cell.value.data == NULL)
    request->incomplete = MISSING("qualifier");
  g_array_append_val(request->cells, cell);
}

static gint64
ttl_of_attribute(TideBytes value)
{
  guint64 ttl_ms = 0;
  for (gsize i = 0; value.len == 8 && i < value.len; i++)
    ttl_ms = ttl_ms << 8 | value.data[i];
  return (gint64)ttl_ms;
}

/* A put's attributes: only the time to live means something here. */
static gint64
read_put_attributes(TideFakeReader *reader)
{
  gint64 ttl_ms = 0;
  TideFakeType key_type, value_type;
  guint32 n = fake_reader_map(reader, &key_type, &value_type);
  if (n > 0 && (key_type != TIDE_FAKE_BINARY || value_type != TIDE_FAKE_BINARY))
    fake_reader_fail(reader, "attributes are not a map of binary to binary");
  for (guint32 i = 0; i < n && !reader->failed; i++) {
    TideBytes name = fake_reader_binary(reader);
    TideBytes value = fake_reader_binary(reader);
    if (tide_bytes_equal(name, TIDE_BYTES_LITERAL("_ttl")))
      ttl_ms = ttl_of_attribute(value);
  }
  return ttl_ms;
}

guint32
fake_request_read_struct_list(TideFakeReader *reader)
{
  TideFakeType element;
  guint32 n = fake_reader_list(reader, &element);
  if (n > 0 && element != TIDE_FAKE_STRUCT)
    fake_reader_fail(reader, "a list that should be of structs");
  return reader->failed ? 0 : n;
}

/* TPut. The cells' place is set when all are read: their array moves while it grows. */
static TideFakeRow
read_put(TideFakeRequest *request, TideFakeReader *reader)
{
  TideFakeRow row = {0};
  gint64 put_timestamp_ms = TIDE_FAKE_NO_TIMESTAMP;
  guint first_cell = request->cells->len;
  TideFakeField field;
  fake_reader_struct_begin(reader);
  while (fake_reader_field(reader, &field)) {
    if (fake_field_is(&field, 1, TIDE_FAKE_BINARY)) {
      row.row = fake_reader_binary(reader);
    } else if (fake_field_is(&field, 2, TIDE_FAKE_LIST)) {
      guint32 n = fake_request_read_struct_list(reader);
      for (guint32 i = 0; i < n && !reader->failed; i++)
        read_cell(request, reader);
    } else if (fake_field_is(&field, 3, TIDE_FAKE_I64)) {
      put_timestamp_ms = fake_reader_i64(reader);
    } else if (fake_field_is(&field, 5, TIDE_FAKE_MAP)) {
      row.ttl_ms = read_put_attributes(reader);
    } else {
      fake_reader_skip(reader, field.type);
    }
  }
  fake_reader_struct_end(reader);
  if (row.row.data == NULL)
    request->incomplete = MISSING("row");
  row.n_cells = request->cells->len - first_cell;
  for (guint i = first_cell; i < request->cells->len; i++) {
    TideFakeCell *cell = &g_array_index(request->cells, TideFakeCell, i);
    if (cell->timestamp_ms == TIDE_FAKE_NO_TIMESTAMP)
      cell->timestamp_ms = put_timestamp_ms;
  }
  return row;
}

static void
add_row(TideFakeRequest *request, const TideFakeRow *row)
{
  g_array_append_vals(request->rows, row, 1);
  g_array_append_val(request->row_keys, row->row);
}

static void
add_put(TideFakeRequest *request, TideFakeReader *reader)
{
  TideFakeRow row = read_put(request, reader);
  add_row(request, &row);
}

static void
read_puts(TideFakeRequest *request, TideFakeReader *reader)
{
  guint32 n = fake_request_read_struct_list(reader);
  for (guint32 i = 0; i < n && !reader->failed; i++)
    add_put(request, reader);
  if (reader->failed)
    return;
  const TideFakeCell *cells = (const TideFakeCell *)(void *)request->cells->data;
  for (guint i = 0; i < request->rows->len; i++) {
    TideFakeRow *row = &g_array_index(request->rows, TideFakeRow, i);
    row->cells = cells;
    cells += row->n_cells;
  }
}

/* A TColumn of a delete: a family up to a timestamp. */
static void
read_deleted_family(TideFakeRequest *request, TideFakeReader *reader)
{
  TideFakeDelete deletion = {.to_ms = TIDE_FAKE_NO_TIMESTAMP};
  TideFakeField field;
  fake_reader_struct_begin(reader);
  while (fake_reader_field(reader, &field)) {
    if (fake_field_is(&field, 1, TIDE_FAKE_BINARY))
      deletion.family = fake_reader_binary(reader);
    else if (fake_field_is(&field, 3, TIDE_FAKE_I64))
      deletion.to_ms = fake_reader_i64(reader);
    else
      fake_reader_skip(reader, field.type);
  }
  fake_reader_struct_end(reader);
  if (deletion.to_ms == TIDE_FAKE_NO_TIMESTAMP)
    request->incomplete = "the fake HBase deletes up to a timestamp only";
  g_array_append_val(request->deletes, deletion);
}

/* TDelete; its row. */
static TideBytes
read_delete(TideFakeRequest *request, TideFakeReader *reader)
{
  TideBytes row = TIDE_BYTES_EMPTY;
  gint32 type = 1; /* the IDL's default */
  TideFakeField field;
  fake_reader_struct_begin(reader);
  while (fake_reader_field(reader, &field)) {
    if (fake_field_is(&field, 1, TIDE_FAKE_BINARY)) {
      row = fake_reader_binary(reader);
    } else if (fake_field_is(&field, 2, TIDE_FAKE_LIST)) {
      guint32 n = fake_request_read_struct_list(reader);
      for (guint32 i = 0; i < n && !reader->failed; i++)
        read_deleted_family(request, reader);
    } else if (fake_field_is(&field, 4, TIDE_FAKE_I32)) {
      type = fake_reader_i32(reader);
    } else {
      fake_reader_skip(reader, field.type);
    }
  }
  fake_reader_struct_end(reader);
  if (type != DELETE_FAMILY)
    request->incomplete = "the fake HBase deletes whole families only";
  return row;
}

/* TMutation: what it does is added to @row. */
static void
read_mutation(TideFakeRequest *request, TideFakeReader *reader, TideFakeRow *row)
{
  TideBytes row_of_mutation = TIDE_BYTES_EMPTY;
  TideFakeField field;
  fake_reader_struct_begin(reader);
  while (fake_reader_field(reader, &field)) {
    if (fake_field_is(&field, 1, TIDE_FAKE_STRUCT)) {
      TideFakeRow put = read_put(request, reader);
      row_of_mutation = put.row;
      row->ttl_ms = put.ttl_ms;
      row->n_cells += put.n_cells;
      if (put.n_cells == 0)
        row->has_empty_put = TRUE;
    } else if (fake_field_is(&field, 2, TIDE_FAKE_STRUCT)) {
      row_of_mutation = read_delete(request, reader);
    } else {
      fake_reader_skip(reader, field.type);
    }
  }
  fake_reader_struct_end(reader);
  if (!tide_bytes_equal(row_of_mutation, row->row))
    request->incomplete = "a mutation is of another row";
}

/* TRowMutations, taken together as one row: the order of its mutations does not matter to HBase where their times
 * differ. */
static void
read_row_mutations(TideFakeRequest *request, TideFakeReader *reader)
{
  TideFakeRow row = {0};
  TideFakeField field;
  fake_reader_struct_begin(reader);
  while (fake_reader_field(reader, &field)) {
    if (fake_field_is(&field, 1, TIDE_FAKE_BINARY)) {
      row.row = fake_reader_binary(reader);
    } else if (fake_field_is(&field, 2, TIDE_FAKE_LIST)) {
      guint32 n = fake_request_read_struct_list(reader);
      for (guint32 i = 0; i < n && !reader->failed; i++)
        read_mutation(request, reader, &row);
    } else {
      fake_reader_skip(reader, field.type);
    }
  }
  fake_reader_struct_end(reader);
  row.cells = (const TideFakeCell *)(void *)request->cells->data;
  row.deletes = (const TideFakeDelete *)(void *)request->deletes->data;
  row.n_deletes = request->deletes->len;
  add_row(request, &row);
}

/* TTimeRange */
static void
read_time_range(TideFakeQuery *query, TideFakeReader *reader)
{
  TideFakeField field;
  fake_reader_struct_begin(reader);
  while (fake_reader_field(reader, &field)) {
    if (fake_field_is(&field, 1, TIDE_FAKE_I64))
      query->min_time_ms = fake_reader_i64(reader);
    else if (fake_field_is(&field, 2, TIDE_FAKE_I64))
      query->max_time_ms = fake_reader_i64(reader);
    else
      fake_reader_skip(reader, field.type);
  }
  fake_reader_struct_end(reader);
}

/* list<TColumn> */
static void
read_columns(TideFakeRequest *request, TideFakeReader *reader)
{
  guint32 n = fake_request_read_struct_list(reader);
  for (guint32 i = 0; i < n && !reader->failed; i++) {
    TideFakeColumn column = {0};
    TideFakeField field;
    fake_reader_struct_begin(reader);
    while (fake_reader_field(reader, &field)) {
      if (fake_field_is(&field, 1, TIDE_FAKE_BINARY)) {
        column.family = fake_reader_binary(reader);
      } else if (fake_field_is(&field, 2, TIDE_FAKE_BINARY)) {
        column.qualifier = fake_reader_binary(reader);
        column.has_qualifier = TRUE;
      } else {
        fake_reader_skip(reader, field.type);
      }
    }
    fake_reader_struct_end(reader);
    g_array_append_val(request->columns, column);
  }
}

static void
refuse_filter(TideFakeRequest *request, TideFakeReader *reader)
{
  request->incomplete = "the fake HBase has no filters";
  fake_reader_skip(reader, TIDE_FAKE_BINARY);
}

/* TGet */
static void
read_get(TideFakeRequest *request, TideFakeReader *reader)
{
  TideFakeRow row = {0};
  TideFakeQuery *query = &request->query;
  TideFakeField field;
  fake_reader_struct_begin(reader);
  while (fake_reader_field(reader, &field)) {
    if (fake_field_is(&field, 1, TIDE_FAKE_BINARY)) {
      row.row = fake_reader_binary(reader);
    } else if (fake_field_is(&field, 2, TIDE_FAKE_LIST)) {
      read_columns(request, reader);
    } else if (fake_field_is(&field, 3, TIDE_FAKE_I64)) {
      query->min_time_ms = fake_reader_i64(reader);
      query->max_time_ms = query->min_time_ms + 1;
    } else if (fake_field_is(&field, 4, TIDE_FAKE_STRUCT)) {
      read_time_range(query, reader);
    } else if (fake_field_is(&field, 5, TIDE_FAKE_I32)) {
      query->max_versions = fake_reader_i32(reader);
    } else if (fake_field_is(&field, 7, TIDE_FAKE_BINARY)) {
      refuse_filter(request, reader);
    } else {
      fake_reader_skip(reader, field.type);
    }
  }
  fake_reader_struct_end(reader);
  if (row.row.data == NULL)
    request->incomplete = MISSING("row");
  g_array_append_val(request->rows, row);
  g_array_append_val(request->row_keys, row.row);
}

/* list<TGet>: columns, times and versions of the first hold for all, as the project's own client sends them. */
static void
read_gets(TideFakeRequest *request, TideFakeReader *reader)
{
  guint32 n = fake_request_read_struct_list(reader);
  guint n_columns = 0;
  for (guint32 i = 0; i < n && !reader->failed; i++) {
    read_get(request, reader);
    if (i == 0)
      n_columns = request->columns->len;
  }
  g_array_set_size(request->columns, n_columns);
}

/* TScan */
static void
read_scan(TideFakeRequest *request, TideFakeReader *reader)
{
  TideFakeQuery *query = &request->query;
  TideFakeField field;
  fake_reader_struct_begin(reader);
  while (fake_reader_field(reader, &field)) {
    if (fake_field_is(&field, 1, TIDE_FAKE_BINARY))
      query->start_row = fake_reader_binary(reader);
    else if (fake_field_is(&field, 2, TIDE_FAKE_BINARY))
      query->stop_row = fake_reader_binary(reader);
    else if (fake_field_is(&field, 3, TIDE_FAKE_LIST))
      read_columns(request, reader);
    else if (fake_field_is(&field, 5, TIDE_FAKE_I32))
      query->max_versions = fake_reader_i32(reader);
    else if (fake_field_is(&field, 6, TIDE_FAKE_STRUCT))
      read_time_range(query, reader);
    else if (fake_field_is(&field, 7, TIDE_FAKE_BINARY))
      query->filter = fake_reader_binary(reader);
    else if (fake_field_is(&field, 11, TIDE_FAKE_BOOL))
      query->reversed = fake_reader_bool(reader);
    else if (fake_field_is(&field, 15, TIDE_FAKE_I32))
      query->limit_rows = fake_reader_i32(reader);
    else
      fake_reader_skip(reader, field.type);
  }
  fake_reader_struct_end(reader);
}

/* The calls that have a table's name (binary) first, and one struct or list. */
static gboolean
read_table_call_argument(TideFakeRequest *request, TideFakeReader *reader, const TideFakeField *field)
{
  if (fake_field_is(field, 1, TIDE_FAKE_BINARY))
    request->table = fake_reader_string(reader);
  else if ((request->call == TIDE_CALL_GET || request->call == TIDE_CALL_EXISTS) &&
           fake_field_is(field, 2, TIDE_FAKE_STRUCT))
    read_get(request, reader);
  else if (request->call == TIDE_CALL_GET_MULTIPLE && fake_field_is(field, 2, TIDE_FAKE_LIST))
    read_gets(request, reader);
  else if (request->call == TIDE_CALL_PUT_MULTIPLE && fake_field_is(field, 2, TIDE_FAKE_LIST))
    read_puts(request, reader);
  else if (request->call == TIDE_CALL_MUTATE_ROW && fake_field_is(field, 2, TIDE_FAKE_STRUCT))
    read_row_mutations(request, reader);
  else if (request->call == TIDE_CALL_OPEN_SCANNER && fake_field_is(field, 2, TIDE_FAKE_STRUCT))
    read_scan(request, reader);
  else
    return FALSE;
  return TRUE;
}

/* FALSE when the call has no such argument. */
static gboolean
read_argument(TideFakeRequest *request, TideFakeReader *reader, const TideFakeField *field)
{
  switch (request->call) {
  case TIDE_CALL_EXISTS:
  case TIDE_CALL_GET:
  case TIDE_CALL_GET_MULTIPLE:
  case TIDE_CALL_PUT_MULTIPLE:
  case TIDE_CALL_CHECK_AND_PUT:
  case TIDE_CALL_MUTATE_ROW:
  case TIDE_CALL_OPEN_SCANNER:
  case TIDE_CALL_GET_ALL_REGION_LOCATIONS:
    return read_table_call_argument(request, reader, field);
  case TIDE_CALL_GET_SCANNER_ROWS:
  case TIDE_CALL_CLOSE_SCANNER:
    if (fake_field_is(field, 1, TIDE_FAKE_I32))
      request->scanner_id = fake_reader_i32(reader);
    else if (fake_field_is(field, 2, TIDE_FAKE_I32))
      request->n_rows = fake_reader_i32(reader);
    else
      return FALSE;
    return TRUE;
  case TIDE_CALL_TABLE_EXISTS:
  case TIDE_CALL_GET_TABLE_DESCRIPTOR:
  case TIDE_CALL_IS_TABLE_ENABLED:
  case TIDE_CALL_DISABLE_TABLE:
  case TIDE_CALL_ENABLE_TABLE:
  case TIDE_CALL_DELETE_TABLE:
    if (!fake_field_is(field, 1, TIDE_FAKE_STRUCT))
      return FALSE;
    request->table = fake_request_read_table_name(reader);
    return TRUE;
  case TIDE_CALL_CREATE_TABLE:
    if (fake_field_is(field, 1, TIDE_FAKE_STRUCT))
      fake_request_read_table_spec(request, reader);
    else if (fake_field_is(field, 2, TIDE_FAKE_LIST))
      fake_request_read_splits(request, reader);
    else
      return FALSE;
    return TRUE;
  case TIDE_CALL_CREATE_NAMESPACE:
    if (!fake_field_is(field, 1, TIDE_FAKE_STRUCT))
      return FALSE;
    request->name_space = fake_request_read_namespace(reader);
    return TRUE;
  case TIDE_CALL_GET_TABLE_NAMES_BY_PATTERN: /* what it asks for is not looked at: all tables are named */
  case TIDE_CALL_GET_THRIFT_SERVER_TYPE:
  case TIDE_CALL_GET_CLUSTER_ID:
  case TIDE_CALL_LIST_NAMESPACES:
  case TIDE_CALL_UNKNOWN:
  case TIDE_CALL_ANY:
    return FALSE;
  }
  g_assert_not_reached();
}

static void
require_arguments(TideFakeRequest *request)
{
  gboolean reads_row = request->call == TIDE_CALL_GET || request->call == TIDE_CALL_EXISTS;
  gboolean has_no_table = request->call == TIDE_CALL_GET_THRIFT_SERVER_TYPE ||
                          request->call == TIDE_CALL_GET_CLUSTER_ID || request->call == TIDE_CALL_LIST_NAMESPACES ||
                          request->call == TIDE_CALL_GET_TABLE_NAMES_BY_PATTERN || request->call == TIDE_CALL_UNKNOWN ||
                          request->call == TIDE_CALL_GET_SCANNER_ROWS || request->call == TIDE_CALL_CLOSE_SCANNER;
  if (request->call == TIDE_CALL_CREATE_NAMESPACE) {
    if (request->name_space == NULL)
      request->incomplete = MISSING("namespaceDesc");
  } else if (!has_no_table && request->table == NULL) {
    request->incomplete = MISSING("table");
  } else if (reads_row && request->rows->len == 0) {
    request->incomplete = MISSING("tget");
  } else if (request->call == TIDE_CALL_MUTATE_ROW && request->rows->len == 0) {
    request->incomplete = MISSING("trowMutations");
  }
}

gboolean
fake_request_read(TideFakeRequest *request, TideFakeReader *reader)
{
  TideFakeField field;
  fake_reader_struct_begin(reader);
  while (fake_reader_field(reader, &field))
    if (!read_argument(request, reader, &field))
      fake_reader_skip(reader, field.type);
  fake_reader_struct_end(reader);
  request->query.columns = (const TideFakeColumn *)(void *)request->columns->data;
  request->query.n_columns = request->columns->len;
  if (!fake_reader_message_end(reader))
    return FALSE;
  if (reader->framed && request->spec != NULL)
    fake_request_spoil_attributes(request->spec, tide_buffer_bytes(&reader->frame));
  require_arguments(request);
  return TRUE;
}
