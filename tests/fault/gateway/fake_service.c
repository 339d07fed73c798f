/* Carrying calls out and answering them: rows and scanners here, the rest in fake_service_admin.c. */
#include "fault/gateway/fake_hbase_private.h"
#include "fault/gateway/fake_service_private.h"

/* What HBase's handler says to a scanner id that it does not know (or has forgotten). */
#define INVALID_SCANNER "Invalid scanner Id"
#define CELL_TYPE_PUT 4 /* KeyValue.Type.Put */

typedef struct TideFakeScanner {
  TideFakeQuery query; /* its bytes are owned by the scanner */
  TideBuffer position; /* the last row handed out */
  char *table;
  TideBytes start_row;
  TideBytes stop_row;
  TideBytes filter;
  GArray *columns;
  gint64 rows_left; /* -1: no limit */
} TideFakeScanner;

static void
clear_column(gpointer data)
{
  TideFakeColumn *column = data;
  fake_bytes_free(column->family);
  fake_bytes_free(column->qualifier);
}

static TideFakeScanner *
scanner_new(const TideFakeRequest *request)
{
  const TideFakeQuery *query = &request->query;
  TideFakeScanner *scanner = g_new0(TideFakeScanner, 1);
  scanner->table = g_strdup(request->table);
  scanner->start_row = fake_bytes_copy(query->start_row);
  scanner->stop_row = fake_bytes_copy(query->stop_row);
  scanner->rows_left = query->limit_rows > 0 ? query->limit_rows : -1;
  scanner->columns = g_array_new(FALSE, FALSE, sizeof(TideFakeColumn));
  g_array_set_clear_func(scanner->columns, clear_column);
  for (guint i = 0; i < query->n_columns; i++) {
    TideFakeColumn column = query->columns[i];
    column.family = fake_bytes_copy(column.family);
    column.qualifier = fake_bytes_copy(column.qualifier);
    g_array_append_val(scanner->columns, column);
  }
  scanner->query = *query;
  scanner->query.start_row = scanner->start_row;
  scanner->query.stop_row = scanner->stop_row;
  scanner->query.filter = scanner->filter = fake_bytes_copy(query->filter);
  scanner->query.columns = (const TideFakeColumn *)(void *)scanner->columns->data;
  return scanner;
}

static void
scanner_free(gpointer data)
{
  TideFakeScanner *scanner = data;
  if (scanner == NULL)
    return;
  g_free(scanner->table);
  fake_bytes_free(scanner->start_row);
  fake_bytes_free(scanner->stop_row);
  fake_bytes_free(scanner->filter);
  g_array_unref(scanner->columns);
  tide_buffer_clear_memory(&scanner->position);
  g_free(scanner);
}

TideFakeService *
fake_service_new(TideFakeHBase *hbase, gboolean framed)
{
  TideFakeService *service = g_new0(TideFakeService, 1);
  service->hbase = fake_hbase_ref(hbase);
  service->framed = framed;
  tide_mutex_init(&service->mutex);
  service->scanners = g_hash_table_new_full(NULL, NULL, NULL, scanner_free);
  return service;
}

void
fake_service_free(TideFakeService *service)
{
  g_hash_table_unref(service->scanners);
  tide_mutex_clear(&service->mutex);
  fake_hbase_unref(service->hbase);
  g_free(service);
}

void
fake_service_forget_scanners(TideFakeService *service)
{
  FAKE_HOLD(&service->mutex);
  g_hash_table_remove_all(service->scanners);
}

guint
fake_service_open_scanners(TideFakeService *service)
{
  FAKE_HOLD(&service->mutex);
  return g_hash_table_size(service->scanners);
}

/* TResult, without its struct_begin: where it stands decides that. */
static void
write_result_fields(TideFakeWriter *writer, const TideFakeRow *row)
{
  if (row->row.data != NULL)
    fake_writer_binary_field(writer, 1, row->row);
  fake_writer_list_field(writer, 2, TIDE_FAKE_STRUCT, row->n_cells);
  for (guint i = 0; i < row->n_cells; i++) {
    fake_writer_struct_begin(writer);
    fake_writer_binary_field(writer, 1, row->cells[i].family);
    fake_writer_binary_field(writer, 2, row->cells[i].qualifier);
    fake_writer_binary_field(writer, 3, row->cells[i].value);
    fake_writer_i64_field(writer, 4, row->cells[i].timestamp_ms);
    fake_writer_byte_field(writer, 6, CELL_TYPE_PUT);
    fake_writer_struct_end(writer);
  }
  fake_writer_bool_field(writer, 3, FALSE); /* stale */
  fake_writer_bool_field(writer, 4, FALSE); /* partial */
}

static void
write_only_row(const TideFakeRow *row, gpointer data)
{
  TideAnswer *answer = data;
  fake_reply_begin(answer);
  fake_writer_struct_field(answer->writer, 0);
  fake_writer_struct_begin(answer->writer);
  write_result_fields(answer->writer, row);
  fake_writer_struct_end(answer->writer);
  fake_reply_end(answer);
}

static void
ignore_row(const TideFakeRow *row, gpointer data)
{
}

/* What reads exactly @row as @request asks. @ret_after: owned by the caller, and used by the query. */
static TideFakeQuery
row_query(const TideFakeRequest *request, TideBytes row, guint8 **ret_after)
{
  /* The smallest key above the row: the row and a zero byte. */
  *ret_after = g_malloc0(row.len + 1);
  if (row.len > 0)
    memcpy(*ret_after, row.data, row.len);
  TideFakeQuery query = request->query;
  query.start_row = row;
  query.stop_row = tide_bytes(*ret_after, row.len + 1);
  return query;
}

static void
answer_get(TideAnswer *answer)
{
  const TideFakeRequest *request = answer->request;
  g_auto(TideFakeError) error = {0};
  g_autofree guint8 *after = NULL;
  TideFakeQuery query = row_query(request, g_array_index(request->row_keys, TideBytes, 0), &after);
  gboolean wants_row = request->call == TIDE_CALL_GET;
  guint64 found = fake_hbase_scan(answer->service->hbase, request->table, &query,
                                  wants_row ? write_only_row : ignore_row, answer, &error);
  if (error.kind != TIDE_FAKE_ERROR_NONE)
    fake_reply_error(answer, &error);
  else if (!wants_row)
    fake_reply_bool(answer, found > 0);
  else if (found == 0)
    write_only_row(&(TideFakeRow){0}, answer);
}

static gboolean
count_applied(guint index, TideBytes row, gpointer data)
{
  TideAnswer *answer = data;
  gboolean applies = answer->filter == NULL || answer->filter(index, row, answer->filter_data);
  answer->rows_written += applies ? 1 : 0;
  return applies;
}

static void
answer_put(TideAnswer *answer)
{
  const TideFakeRequest *request = answer->request;
  g_auto(TideFakeError) error = {0};
  const TideFakeRow *rows = (const TideFakeRow *)(void *)request->rows->data;
  fake_reply_done(answer,
                  fake_hbase_put(answer->service->hbase, request->table, rows, request->rows->len, answer->origin,
                                 count_applied, answer, &error),
                  &error);
}

/* Of its arguments only the table counts: the project's client asks for what no table holds. */
static void
answer_check_and_put(TideAnswer *answer)
{
  g_auto(TideFakeError) error = {0};
  (void)fake_hbase_scan(answer->service->hbase, answer->request->table, &(TideFakeQuery){.limit_rows = 1}, ignore_row,
                        answer, &error);
  if (error.kind != TIDE_FAKE_ERROR_NONE)
    fake_reply_error(answer, &error);
  else
    fake_reply_bool(answer, FALSE);
}

static void
answer_mutate_row(TideAnswer *answer)
{
  const TideFakeRequest *request = answer->request;
  g_auto(TideFakeError) error = {0};
  fake_reply_done(answer,
                  fake_hbase_mutate_row(answer->service->hbase, request->table,
                                        &g_array_index(request->rows, TideFakeRow, 0), answer->origin, count_applied,
                                        answer, &error),
                  &error);
}

/* A missing table or family shows when the first rows are asked for. */
static void
answer_open_scanner(TideAnswer *answer)
{
  TideFakeService *service = answer->service;
  tide_mutex_lock(&service->mutex);
  gint32 id = service->last_scanner_id++;
  g_hash_table_insert(service->scanners, GINT_TO_POINTER(id), scanner_new(answer->request));
  tide_mutex_unlock(&service->mutex);
  fake_reply_i32(answer, id);
}

/* Takes the scanner out, so that no other call uses it meanwhile; NULL when there is none. */
static TideFakeScanner *
take_scanner(TideFakeService *service, gint32 id)
{
  gpointer scanner = NULL;
  FAKE_HOLD(&service->mutex);
  g_hash_table_steal_extended(service->scanners, GINT_TO_POINTER(id), NULL, &scanner);
  return scanner;
}

static void
put_scanner_back(TideFakeService *service, gint32 id, TideFakeScanner *scanner)
{
  FAKE_HOLD(&service->mutex);
  g_hash_table_insert(service->scanners, GINT_TO_POINTER(id), scanner);
}

/* The rows of a scan step, copied: a list's head has their number. */
typedef struct TideRowCopies {
  GStringChunk *bytes;
  GArray *rows;     /* (element-type TideFakeRow) */
  GPtrArray *cells; /* owned: the rows' cells */
} TideRowCopies;

static TideRowCopies
row_copies_new(void)
{
  return (TideRowCopies){g_string_chunk_new(4096), g_array_new(FALSE, TRUE, sizeof(TideFakeRow)),
                         g_ptr_array_new_with_free_func(g_free)};
}

static void
row_copies_clear(TideRowCopies *copies)
{
  g_string_chunk_free(copies->bytes);
  g_array_unref(copies->rows);
  g_ptr_array_unref(copies->cells);
}

static TideBytes
keep(TideRowCopies *copies, TideBytes bytes)
{
  return tide_bytes(
      g_string_chunk_insert_len(copies->bytes, bytes.len > 0 ? (const char *)bytes.data : "", (gssize)bytes.len),
      bytes.len);
}

static void
copy_row(const TideFakeRow *row, gpointer data)
{
  TideRowCopies *copies = data;
  TideFakeCell *cells = g_new(TideFakeCell, row->n_cells);
  for (guint i = 0; i < row->n_cells; i++) {
    const TideFakeCell *cell = &row->cells[i];
    cells[i] = (TideFakeCell){keep(copies, cell->family), keep(copies, cell->qualifier), keep(copies, cell->value),
                              cell->timestamp_ms};
  }
  g_ptr_array_add(copies->cells, cells);
  TideFakeRow copy = {.row = keep(copies, row->row), .cells = cells, .n_cells = row->n_cells};
  g_array_append_val(copies->rows, copy);
}

static void
reply_rows(TideAnswer *answer, const GArray *rows)
{
  TideFakeWriter *writer = answer->writer;
  fake_reply_begin(answer);
  fake_writer_list_field(writer, 0, TIDE_FAKE_STRUCT, rows->len);
  for (guint i = 0; i < rows->len; i++) {
    fake_writer_struct_begin(writer);
    write_result_fields(writer, &g_array_index(rows, TideFakeRow, i));
    fake_writer_struct_end(writer);
  }
  fake_reply_end(answer);
}

/* A row that does not exist is a result without a row. */
static void
answer_get_multiple(TideAnswer *answer)
{
  const TideFakeRequest *request = answer->request;
  g_auto(TideFakeError) error = {0};
  TideRowCopies copies = row_copies_new();
  for (guint i = 0; i < request->row_keys->len && error.kind == TIDE_FAKE_ERROR_NONE; i++) {
    g_autofree guint8 *after = NULL;
    TideFakeQuery query = row_query(request, g_array_index(request->row_keys, TideBytes, i), &after);
    if (fake_hbase_scan(answer->service->hbase, request->table, &query, copy_row, &copies, &error) == 0)
      g_array_set_size(copies.rows, copies.rows->len + 1); /* zeroed */
  }
  if (error.kind == TIDE_FAKE_ERROR_NONE)
    reply_rows(answer, copies.rows);
  else
    fake_reply_error(answer, &error);
  row_copies_clear(&copies);
}

/* Moves the scanner behind the rows that were handed out. */
static void
advance(TideFakeScanner *scanner, const GArray *rows)
{
  if (scanner->rows_left > 0)
    scanner->rows_left -= rows->len;
  if (rows->len == 0)
    return;
  tide_buffer_reset(&scanner->position);
  tide_buffer_append_bytes(&scanner->position, g_array_index(rows, TideFakeRow, rows->len - 1).row);
  scanner->query.start_row = tide_buffer_bytes(&scanner->position);
  scanner->query.after_start = TRUE;
}

static void
answer_scanner_rows(TideAnswer *answer)
{
  const TideFakeRequest *request = answer->request;
  TideFakeScanner *scanner = take_scanner(answer->service, request->scanner_id);
  if (scanner == NULL) {
    fake_reply_argument_error(answer, INVALID_SCANNER);
    return;
  }
  g_auto(TideFakeError) error = {0};
  TideRowCopies copies = row_copies_new();
  TideFakeQuery query = scanner->query;
  query.limit_rows = MAX(request->n_rows, 0);
  if (scanner->rows_left >= 0)
    query.limit_rows = MIN(query.limit_rows, scanner->rows_left);
  if (query.limit_rows > 0)
    fake_hbase_scan(answer->service->hbase, scanner->table, &query, copy_row, &copies, &error);
  if (error.kind == TIDE_FAKE_ERROR_NONE)
    reply_rows(answer, copies.rows);
  else
    fake_reply_error(answer, &error);
  advance(scanner, copies.rows);
  put_scanner_back(answer->service, request->scanner_id, scanner);
  row_copies_clear(&copies);
}

/* One that is not open is no error. */
static void
answer_close_scanner(TideAnswer *answer)
{
  scanner_free(take_scanner(answer->service, answer->request->scanner_id));
  fake_reply_nothing(answer);
}

/* The calls of rows and scanners; fake_service_admin.c has the others. */
static void (*const answers[TIDE_CALL_COUNT])(TideAnswer *answer) = {
    [TIDE_CALL_EXISTS] = answer_get,
    [TIDE_CALL_GET] = answer_get,
    [TIDE_CALL_GET_MULTIPLE] = answer_get_multiple,
    [TIDE_CALL_PUT_MULTIPLE] = answer_put,
    [TIDE_CALL_CHECK_AND_PUT] = answer_check_and_put,
    [TIDE_CALL_MUTATE_ROW] = answer_mutate_row,
    [TIDE_CALL_OPEN_SCANNER] = answer_open_scanner,
    [TIDE_CALL_GET_SCANNER_ROWS] = answer_scanner_rows,
    [TIDE_CALL_CLOSE_SCANNER] = answer_close_scanner,
};

static gboolean
knows_method(TidePersonality personality, TideGatewayCall call)
{
  switch (personality) {
  case TIDE_PERSONALITY_THRIFT2:
    return call != TIDE_CALL_UNKNOWN;
  case TIDE_PERSONALITY_OLD_THRIFT2:
    return call != TIDE_CALL_UNKNOWN && call != TIDE_CALL_GET_THRIFT_SERVER_TYPE && call != TIDE_CALL_GET_CLUSTER_ID &&
           call != TIDE_CALL_LIST_NAMESPACES;
  case TIDE_PERSONALITY_OLDEST_THRIFT2:
    return call >= TIDE_CALL_EXISTS && call <= TIDE_CALL_GET_ALL_REGION_LOCATIONS;
  case TIDE_PERSONALITY_THRIFT1:
    return call == TIDE_CALL_GET_THRIFT_SERVER_TYPE;
  case TIDE_PERSONALITY_OLD_THRIFT1:
  case TIDE_PERSONALITY_HTTP:
  case TIDE_PERSONALITY_TLS:
    return FALSE;
  }
  g_assert_not_reached();
}

guint64
fake_service_answer(TideFakeService *service, const TideFakeRequest *request, TidePersonality personality,
                    TideFakeOrigin origin, TideFakeRowFilter filter, gpointer filter_data, TideFakeWriter *writer)
{
  TideAnswer answer = {.service = service,
                       .request = request,
                       .writer = writer,
                       .has_can_retry = personality == TIDE_PERSONALITY_THRIFT2,
                       .origin = origin,
                       .filter = filter,
                       .filter_data = filter_data};
  if (!knows_method(personality, request->call)) {
    fake_reply_unknown_method(&answer);
  } else if (request->call == TIDE_CALL_GET_THRIFT_SERVER_TYPE) {
    fake_reply_i32(&answer, personality == TIDE_PERSONALITY_THRIFT1 ? 1 : 2);
  } else if (request->incomplete != NULL) {
    fake_service_write_application_error(writer, request, TIDE_APPLICATION_PROTOCOL_ERROR, request->incomplete);
  } else if (answers[request->call] != NULL) {
    answers[request->call](&answer);
  } else {
    fake_service_answer_admin(&answer);
  }
  return answer.rows_written;
}
