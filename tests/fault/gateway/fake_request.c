/* Reading the calls of THBaseService. A field of a known id and an unexpected type is skipped, as Java's reader does.
 */
#include "fault/gateway/fake_service.h"

#define DELETE_FAMILY 2 /* TDeleteType */
#define MISSING(field) "Required field '" field "' was not present!"

static inline gboolean
field_is(const TideFakeField *field, gint16 id, TideFakeType type)
{
  return field->id == id && field->type == type;
}

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
  TideFakeField field = {0};
  while (fake_reader_field(reader, &field)) {
    if (field_is(&field, 1, TIDE_FAKE_BINARY))
      cell.family = fake_reader_binary(reader);
    else if (field_is(&field, 2, TIDE_FAKE_BINARY))
      cell.qualifier = fake_reader_binary(reader);
    else if (field_is(&field, 3, TIDE_FAKE_BINARY))
      cell.value = fake_reader_binary(reader);
    else if (field_is(&field, 4, TIDE_FAKE_I64))
      cell.timestamp_ms = fake_reader_i64(reader);
    else
      fake_reader_skip(reader, field.type);
  }
  if (cell.family.data == NULL || cell.qualifier.data == NULL || cell.value.data == NULL)
    request->incomplete = MISSING("qualifier");
  g_array_append_val(request->cells, cell);
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
    for (gsize k = 0; tide_bytes_equal(name, TIDE_BYTES_LITERAL("_ttl")) && value.len == 8 && k < value.len; k++)
      ttl_ms = ttl_ms << 8 | value.data[k];
  }
  return ttl_ms;
}

/* The number of structs in the list that @reader stands at; 0 when it is none. */
static guint32
read_struct_list(TideFakeReader *reader)
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
  TideFakeField field = {0};
  while (fake_reader_field(reader, &field)) {
    if (field_is(&field, 1, TIDE_FAKE_BINARY)) {
      row.row = fake_reader_binary(reader);
    } else if (field_is(&field, 2, TIDE_FAKE_LIST)) {
      guint32 n = read_struct_list(reader);
      for (guint32 i = 0; i < n && !reader->failed; i++)
        read_cell(request, reader);
    } else if (field_is(&field, 3, TIDE_FAKE_I64)) {
      put_timestamp_ms = fake_reader_i64(reader);
    } else if (field_is(&field, 5, TIDE_FAKE_MAP)) {
      row.ttl_ms = read_put_attributes(reader);
    } else {
      fake_reader_skip(reader, field.type);
    }
  }
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
read_puts(TideFakeRequest *request, TideFakeReader *reader)
{
  guint32 n = read_struct_list(reader);
  for (guint32 i = 0; i < n && !reader->failed; i++) {
    TideFakeRow row = read_put(request, reader);
    add_row(request, &row);
  }
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
  TideFakeField field = {0};
  while (fake_reader_field(reader, &field)) {
    if (field_is(&field, 1, TIDE_FAKE_BINARY))
      deletion.family = fake_reader_binary(reader);
    else if (field_is(&field, 3, TIDE_FAKE_I64))
      deletion.to_ms = fake_reader_i64(reader);
    else
      fake_reader_skip(reader, field.type);
  }
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
  TideFakeField field = {0};
  while (fake_reader_field(reader, &field)) {
    if (field_is(&field, 1, TIDE_FAKE_BINARY)) {
      row = fake_reader_binary(reader);
    } else if (field_is(&field, 2, TIDE_FAKE_LIST)) {
      guint32 n = read_struct_list(reader);
      for (guint32 i = 0; i < n && !reader->failed; i++)
        read_deleted_family(request, reader);
    } else if (field_is(&field, 4, TIDE_FAKE_I32)) {
      type = fake_reader_i32(reader);
    } else {
      fake_reader_skip(reader, field.type);
    }
  }
  if (type != DELETE_FAMILY)
    request->incomplete = "the fake HBase deletes whole families only";
  return row;
}

/* TMutation: what it does is added to @row. */
static void
read_mutation(TideFakeRequest *request, TideFakeReader *reader, TideFakeRow *row)
{
  TideBytes row_of_mutation = TIDE_BYTES_EMPTY;
  TideFakeField field = {0};
  while (fake_reader_field(reader, &field)) {
    if (field_is(&field, 1, TIDE_FAKE_STRUCT)) {
      TideFakeRow put = read_put(request, reader);
      row_of_mutation = put.row;
      row->ttl_ms = put.ttl_ms;
      row->n_cells += put.n_cells;
      if (put.n_cells == 0)
        row->has_empty_put = TRUE;
    } else if (field_is(&field, 2, TIDE_FAKE_STRUCT)) {
      row_of_mutation = read_delete(request, reader);
    } else {
      fake_reader_skip(reader, field.type);
    }
  }
  if (!tide_bytes_equal(row_of_mutation, row->row))
    request->incomplete = "a mutation is of another row";
}

/* TRowMutations, taken together as one row: the order of its mutations does not matter to HBase where their times
 * differ. */
static void
read_row_mutations(TideFakeRequest *request, TideFakeReader *reader)
{
  TideFakeRow row = {0};
  TideFakeField field = {0};
  while (fake_reader_field(reader, &field)) {
    if (field_is(&field, 1, TIDE_FAKE_BINARY)) {
      row.row = fake_reader_binary(reader);
    } else if (field_is(&field, 2, TIDE_FAKE_LIST)) {
      guint32 n = read_struct_list(reader);
      for (guint32 i = 0; i < n && !reader->failed; i++)
        read_mutation(request, reader, &row);
    } else {
      fake_reader_skip(reader, field.type);
    }
  }
  row.cells = (const TideFakeCell *)(void *)request->cells->data;
  row.deletes = (const TideFakeDelete *)(void *)request->deletes->data;
  row.n_deletes = request->deletes->len;
  add_row(request, &row);
}

/* TTimeRange */
static void
read_time_range(TideFakeQuery *query, TideFakeReader *reader)
{
  TideFakeField field = {0};
  while (fake_reader_field(reader, &field)) {
    if (field_is(&field, 1, TIDE_FAKE_I64))
      query->min_time_ms = fake_reader_i64(reader);
    else if (field_is(&field, 2, TIDE_FAKE_I64))
      query->max_time_ms = fake_reader_i64(reader);
    else
      fake_reader_skip(reader, field.type);
  }
}

/* list<TColumn> */
static void
read_columns(TideFakeRequest *request, TideFakeReader *reader)
{
  guint32 n = read_struct_list(reader);
  for (guint32 i = 0; i < n && !reader->failed; i++) {
    TideFakeColumn column = {0};
    TideFakeField field = {0};
    while (fake_reader_field(reader, &field)) {
      if (field_is(&field, 1, TIDE_FAKE_BINARY)) {
        column.family = fake_reader_binary(reader);
      } else if (field_is(&field, 2, TIDE_FAKE_BINARY)) {
        column.qualifier = fake_reader_binary(reader);
        column.has_qualifier = TRUE;
      } else {
        fake_reader_skip(reader, field.type);
      }
    }
    g_array_append_val(request->columns, column);
  }
}

/* TGet */
static void
read_get(TideFakeRequest *request, TideFakeReader *reader)
{
  TideFakeRow row = {0};
  TideFakeQuery *query = &request->query;
  TideFakeField field = {0};
  while (fake_reader_field(reader, &field)) {
    if (field_is(&field, 1, TIDE_FAKE_BINARY)) {
      row.row = fake_reader_binary(reader);
    } else if (field_is(&field, 2, TIDE_FAKE_LIST)) {
      read_columns(request, reader);
    } else if (field_is(&field, 3, TIDE_FAKE_I64)) {
      query->min_time_ms = fake_reader_i64(reader);
      query->max_time_ms = query->min_time_ms + 1;
    } else if (field_is(&field, 4, TIDE_FAKE_STRUCT)) {
      read_time_range(query, reader);
    } else if (field_is(&field, 5, TIDE_FAKE_I32)) {
      query->max_versions = fake_reader_i32(reader);
    } else if (field_is(&field, 7, TIDE_FAKE_BINARY)) {
      request->incomplete = "the fake HBase has no filters";
      fake_reader_skip(reader, TIDE_FAKE_BINARY);
    } else {
      fake_reader_skip(reader, field.type);
    }
  }
  if (row.row.data == NULL)
    request->incomplete = MISSING("row");
  add_row(request, &row);
}

/* list<TGet>: columns, times and versions of the first hold for all, as the project's own client sends them. */
static void
read_gets(TideFakeRequest *request, TideFakeReader *reader)
{
  guint32 n = read_struct_list(reader);
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
  TideFakeField field = {0};
  while (fake_reader_field(reader, &field)) {
    if (field_is(&field, 1, TIDE_FAKE_BINARY))
      query->start_row = fake_reader_binary(reader);
    else if (field_is(&field, 2, TIDE_FAKE_BINARY))
      query->stop_row = fake_reader_binary(reader);
    else if (field_is(&field, 3, TIDE_FAKE_LIST))
      read_columns(request, reader);
    else if (field_is(&field, 5, TIDE_FAKE_I32))
      query->max_versions = fake_reader_i32(reader);
    else if (field_is(&field, 6, TIDE_FAKE_STRUCT))
      read_time_range(query, reader);
    else if (field_is(&field, 7, TIDE_FAKE_BINARY))
      query->filter = fake_reader_binary(reader);
    else if (field_is(&field, 11, TIDE_FAKE_BOOL))
      query->reversed = fake_reader_bool(reader);
    else if (field_is(&field, 15, TIDE_FAKE_I32))
      query->limit_rows = fake_reader_i32(reader);
    else
      fake_reader_skip(reader, field.type);
  }
}

/* TTableName */
static const char *
read_table_name(TideFakeReader *reader)
{
  const char *name_space = "", *qualifier = NULL;
  TideFakeField field = {0};
  while (fake_reader_field(reader, &field)) {
    if (field_is(&field, 1, TIDE_FAKE_BINARY))
      name_space = fake_reader_string(reader);
    else if (field_is(&field, 2, TIDE_FAKE_BINARY))
      qualifier = fake_reader_string(reader);
    else
      fake_reader_skip(reader, field.type);
  }
  if (qualifier == NULL || *name_space == '\0')
    return qualifier;
  g_autofree char *name = g_strconcat(name_space, ":", qualifier, NULL);
  return g_string_chunk_insert(reader->strings, name);
}

/* TColumnFamilyDescriptor */
static void
read_family(TideFakeTableSpec *spec, TideFakeReader *reader)
{
  TideFakeFamily *family = fake_table_spec_add_family(spec, "");
  gint32 *const numbers[] = {
      [4] = &family->block_size_bytes,    [5] = &family->bloom_filter,  [6] = &family->compression,
      [8] = &family->data_block_encoding, [10] = &family->max_versions, [11] = &family->min_versions,
      [13] = &family->time_to_live_s};
  TideFakeField field = {0};
  while (fake_reader_field(reader, &field)) {
    gboolean is_number = field.type == TIDE_FAKE_I32 && field.id > 0 && field.id < (gint16)G_N_ELEMENTS(numbers);
    if (field_is(&field, 1, TIDE_FAKE_BINARY)) {
      g_free(family->name);
      family->name = g_strdup(fake_reader_string(reader));
    } else if (is_number && numbers[field.id] != NULL) {
      *numbers[field.id] = fake_reader_i32(reader);
    } else if (field_is(&field, 14, TIDE_FAKE_BOOL)) {
      family->block_cache = fake_reader_bool(reader);
    } else if (field_is(&field, 20, TIDE_FAKE_BOOL)) {
      family->in_memory = fake_reader_bool(reader);
    } else {
      fake_reader_skip(reader, field.type);
    }
  }
}

static void
read_table_attributes(TideFakeTableSpec *spec, TideFakeReader *reader)
{
  TideFakeType key_type, value_type;
  guint32 n = fake_reader_map(reader, &key_type, &value_type);
  for (guint32 i = 0; i < n && !reader->failed; i++) {
    TideBytes name = fake_reader_binary(reader);
    TideBytes value = fake_reader_binary(reader);
    fake_table_spec_add_attribute(spec, name, value);
  }
}

/* TTableDescriptor */
static void
read_table_spec(TideFakeRequest *request, TideFakeReader *reader)
{
  request->spec = fake_table_spec_new("");
  TideFakeField field = {0};
  while (fake_reader_field(reader, &field)) {
    if (field_is(&field, 1, TIDE_FAKE_STRUCT)) {
      request->table = read_table_name(reader);
    } else if (field_is(&field, 2, TIDE_FAKE_LIST)) {
      guint32 n = read_struct_list(reader);
      for (guint32 i = 0; i < n && !reader->failed; i++)
        read_family(request->spec, reader);
    } else if (field_is(&field, 3, TIDE_FAKE_MAP)) {
      read_table_attributes(request->spec, reader);
    } else {
      fake_reader_skip(reader, field.type);
    }
  }
  g_free(request->spec->name);
  request->spec->name = g_strdup(request->table != NULL ? request->table : "");
}

static void
read_splits(TideFakeRequest *request, TideFakeReader *reader)
{
  TideFakeType element;
  guint32 n = fake_reader_list(reader, &element);
  if (n > 0 && element != TIDE_FAKE_BINARY)
    fake_reader_fail(reader, "split keys are not a list of binary");
  for (guint32 i = 0; i < n && !reader->failed; i++) {
    TideBytes split = fake_reader_binary(reader);
    g_array_append_val(request->splits, split);
  }
}

/* ---- arguments ---- */

static void
read_plain_table(TideFakeRequest *request, TideFakeReader *reader)
{
  request->table = fake_reader_string(reader);
}

static void
read_table(TideFakeRequest *request, TideFakeReader *reader)
{
  request->table = read_table_name(reader);
}

/* TNamespaceDescriptor */
static void
read_namespace(TideFakeRequest *request, TideFakeReader *reader)
{
  TideFakeField field = {0};
  while (fake_reader_field(reader, &field)) {
    if (field_is(&field, 1, TIDE_FAKE_BINARY))
      request->name_space = fake_reader_string(reader);
    else
      fake_reader_skip(reader, field.type);
  }
}

static void
read_scanner_id(TideFakeRequest *request, TideFakeReader *reader)
{
  request->scanner_id = fake_reader_i32(reader);
}

static void
read_n_rows(TideFakeRequest *request, TideFakeReader *reader)
{
  request->n_rows = fake_reader_i32(reader);
}

typedef struct Argument {
  void (*read)(TideFakeRequest *request, TideFakeReader *reader); /* NULL: there is none, or it is not looked at */
  TideFakeType type;
} Argument;

/* Fields 1 and 2 of each call, and of which a table's name is one and must be there. */
static const Argument arguments[TIDE_CALL_COUNT][2] = {
    [TIDE_CALL_EXISTS] = {{read_plain_table, TIDE_FAKE_BINARY}, {read_get, TIDE_FAKE_STRUCT}},
    [TIDE_CALL_GET] = {{read_plain_table, TIDE_FAKE_BINARY}, {read_get, TIDE_FAKE_STRUCT}},
    [TIDE_CALL_GET_MULTIPLE] = {{read_plain_table, TIDE_FAKE_BINARY}, {read_gets, TIDE_FAKE_LIST}},
    [TIDE_CALL_PUT_MULTIPLE] = {{read_plain_table, TIDE_FAKE_BINARY}, {read_puts, TIDE_FAKE_LIST}},
    [TIDE_CALL_CHECK_AND_PUT] = {{read_plain_table, TIDE_FAKE_BINARY}},
    [TIDE_CALL_MUTATE_ROW] = {{read_plain_table, TIDE_FAKE_BINARY}, {read_row_mutations, TIDE_FAKE_STRUCT}},
    [TIDE_CALL_OPEN_SCANNER] = {{read_plain_table, TIDE_FAKE_BINARY}, {read_scan, TIDE_FAKE_STRUCT}},
    [TIDE_CALL_GET_ALL_REGION_LOCATIONS] = {{read_plain_table, TIDE_FAKE_BINARY}},
    [TIDE_CALL_GET_SCANNER_ROWS] = {{read_scanner_id, TIDE_FAKE_I32}, {read_n_rows, TIDE_FAKE_I32}},
    [TIDE_CALL_CLOSE_SCANNER] = {{read_scanner_id, TIDE_FAKE_I32}},
    [TIDE_CALL_TABLE_EXISTS] = {{read_table, TIDE_FAKE_STRUCT}},
    [TIDE_CALL_GET_TABLE_DESCRIPTOR] = {{read_table, TIDE_FAKE_STRUCT}},
    [TIDE_CALL_IS_TABLE_ENABLED] = {{read_table, TIDE_FAKE_STRUCT}},
    [TIDE_CALL_CREATE_TABLE] = {{read_table_spec, TIDE_FAKE_STRUCT}, {read_splits, TIDE_FAKE_LIST}},
    [TIDE_CALL_CREATE_NAMESPACE] = {{read_namespace, TIDE_FAKE_STRUCT}},
};

gboolean
fake_request_read(TideFakeRequest *request, TideFakeReader *reader)
{
  TideFakeField field = {0};
  const Argument *wanted = arguments[request->call];
  while (fake_reader_field(reader, &field)) {
    const Argument *argument = field.id == 1 || field.id == 2 ? &wanted[field.id - 1] : NULL;
    if (argument != NULL && argument->read != NULL && argument->type == field.type)
      argument->read(request, reader);
    else
      fake_reader_skip(reader, field.type);
  }
  request->query.columns = (const TideFakeColumn *)(void *)request->columns->data;
  request->query.n_columns = request->columns->len;
  if (!fake_reader_message_end(reader))
    return FALSE;
  if (reader->framed && request->spec != NULL && request->spec->attributes->len > 0) {
    /* Measured: a framed gateway takes the whole frame for each table attribute's name and value. */
    g_array_set_size(request->spec->attributes, 0);
    fake_table_spec_add_attribute(request->spec, tide_buffer_bytes(&reader->frame), tide_buffer_bytes(&reader->frame));
  }
  gboolean needs_table =
      wanted[0].read != NULL && wanted[0].read != read_scanner_id && wanted[0].read != read_namespace;
  if (wanted[0].read == read_namespace && request->name_space == NULL)
    request->incomplete = MISSING("namespaceDesc");
  else if (needs_table && request->table == NULL)
    request->incomplete = MISSING("table");
  else if (wanted[1].read == read_get && request->rows->len == 0)
    request->incomplete = MISSING("tget");
  else if (wanted[1].read == read_row_mutations && request->rows->len == 0)
    request->incomplete = MISSING("trowMutations");
  return TRUE;
}
