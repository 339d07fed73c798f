#include "thrift/wire/reply_reader.h"

#include "util/error.h"

/* Maximum number of cells in a row; at 56 bytes of bookkeeping per cell, this limits what a hostile reply of tiny cells
 * can make us allocate. HBase advises against rows a tenth of this size. */
#define CELLS_PER_ROW_MAX (1u << 20)

/* The message for a missing family describes the whole table, and a call with several failures has one message each. */
#define MESSAGE_MAX_BYTES 2000

/* Prefix of stack trace lines, which some messages contain. Other lines are kept. */
#define STACK_TRACE_LINE TIDE_BYTES_LITERAL("\tat ")
#define STACK_TRACE_REST TIDE_BYTES_LITERAL("\t... ")

/* TApplicationException.UNKNOWN_METHOD */
#define UNKNOWN_METHOD 1

/* Copies @message without stack trace lines, as far as there is room. */
static gsize
copy_words(TideBytes message, guint8 words[MESSAGE_MAX_BYTES])
{
  gsize n_words = 0;
  for (gsize start = 0; start < message.len && n_words < MESSAGE_MAX_BYTES;) {
    const guint8 *end = memchr(message.data + start, '\n', message.len - start);
    gsize line_len = end != NULL ? (gsize)(end - (message.data + start)) + 1 : message.len - start;
    TideBytes line = tide_bytes(message.data + start, line_len);
    start += line_len;
    if (tide_bytes_begin_with(line, STACK_TRACE_LINE) || tide_bytes_begin_with(line, STACK_TRACE_REST))
      continue;
    gsize taken = MIN(line_len, MESSAGE_MAX_BYTES - n_words);
    memcpy(words + n_words, line.data, taken);
    n_words += taken;
  }
  return n_words;
}

/* The gateway's text, as one line for a log. Ownership: (transfer full). */
static char *
one_line(TideBytes message)
{
  guint8 words[MESSAGE_MAX_BYTES];
  gsize n_words = copy_words(message, words);
  char *text = g_utf8_make_valid((const char *)words, (gssize)n_words);
  for (char *at = text; *at != '\0'; at = g_utf8_next_char(at)) {
    if (g_unichar_iscntrl(g_utf8_get_char(at))) /* C1 control characters, which terminals interpret too, have two
                                                 * bytes */
      memset(at, ' ', (gsize)(g_utf8_next_char(at) - at));
  }
  return g_strstrip(text);
}

void
tide_reply_read_fields(TideWireReader *reader, const TideReplyField *fields, gsize n_fields, gpointer out)
{
  TideWireField field = {0};
  while (tide_wire_read_field(reader, &field)) {
    gsize i = 0;
    while (i < n_fields && (fields[i].id != field.id || fields[i].type != field.type))
      i++;
    if (i == n_fields)
      tide_wire_skip(reader, field.type);
    else if (field.type == TIDE_WIRE_STRING)
      G_STRUCT_MEMBER(TideBytes, out, fields[i].offset) = tide_wire_read_string(reader);
    else if (field.type == TIDE_WIRE_I32)
      G_STRUCT_MEMBER(gint32, out, fields[i].offset) = tide_wire_read_i32(reader);
    else
      G_STRUCT_MEMBER(gboolean, out, fields[i].offset) = tide_wire_read_bool(reader);
  }
}

typedef struct ApplicationException {
  TideBytes message;
  gint32 type;
} ApplicationException;

/* Reads a TApplicationException. Always fails. */
static gboolean
read_application_exception(const TideReply *reply, TideWireReader *reader, GError **error)
{
  static const TideReplyField fields[] = {{1, TIDE_WIRE_STRING, G_STRUCT_OFFSET(ApplicationException, message)},
                                          {2, TIDE_WIRE_I32, G_STRUCT_OFFSET(ApplicationException, type)}};
  ApplicationException exception = {0};
  tide_reply_read_fields(reader, fields, G_N_ELEMENTS(fields), &exception);
  g_autofree char *what = g_strdup_printf("the exception that answers '%s'", reply->method);
  if (!tide_wire_reader_check(reader, what, error))
    return FALSE;
  g_autofree char *text = one_line(exception.message);
  if (exception.type == UNKNOWN_METHOD)
    return tide_fail(error, TIDE_ERROR_WRONG_SERVICE, "the gateway does not know the call '%s': %s", reply->method,
                     text);
  return tide_fail(error, TIDE_ERROR_APPLICATION, "the gateway failed in '%s': %s (exception type %d)", reply->method,
                   text, exception.type);
}

/* FALSE if the reply could not be read so far; only then the text is built. */
static gboolean
check_reader(const TideReply *reply, const TideWireReader *reader, GError **error)
{
  if (G_LIKELY(reader->status == TIDE_WIRE_OK))
    return TRUE;
  g_autofree char *what = g_strdup_printf("the reply to '%s'", reply->method);
  return tide_wire_reader_check(reader, what, error);
}

/* Checks that the message answers this call; leaves @reader at the result struct. */
static gboolean
open_reply(const TideReply *reply, TideWireReader *reader, GError **error)
{
  TideWireMessage head;
  tide_wire_reader_init(reader, reply->protocol, reply->message);
  if (!tide_wire_read_message(reader, &head))
    return check_reader(reply, reader, error);
  if (!tide_bytes_equal(head.name, tide_bytes_of_string(reply->method))) {
    TideBytes shown = tide_bytes(head.name.data, MIN(head.name.len, 64));
    g_autofree char *name = tide_bytes_printable(shown);
    return tide_fail(error, TIDE_ERROR_PROTOCOL, "'%s' was answered by a reply to '%s'", reply->method, name);
  }
  if (head.sequence_id != reply->sequence_id)
    return tide_fail(error, TIDE_ERROR_PROTOCOL, "call %d of '%s' was answered by the reply to call %d",
                     reply->sequence_id, reply->method, head.sequence_id);
  if (head.type == TIDE_MESSAGE_EXCEPTION)
    return read_application_exception(reply, reader, error);
  if (head.type != TIDE_MESSAGE_REPLY)
    return tide_fail(error, TIDE_ERROR_PROTOCOL, "'%s' was answered by a message of type %d", reply->method,
                     (int)head.type);
  return TRUE;
}

/* TIOError or TIllegalArgument: field 1 is the text of both. */
typedef struct DeclaredException {
  TideBytes message;
  gboolean can_retry; /* FALSE: the gateway advises against a retry. It advises a retry for everything else, even a
                       * missing table or family */
} DeclaredException;

gboolean
tide_reply_read_result(const TideReply *reply, TideReadSuccess read_success, gpointer data, GError **error)
{
  TideWireReader reader;
  if (!open_reply(reply, &reader, error))
    return FALSE;

  gboolean succeeded = read_success == NULL;
  static const TideReplyField exception_fields[] = {{1, TIDE_WIRE_STRING, G_STRUCT_OFFSET(DeclaredException, message)},
                                                    {2, TIDE_WIRE_BOOL, G_STRUCT_OFFSET(DeclaredException, can_retry)}};
  gboolean refused = FALSE;
  DeclaredException exception = {.can_retry = TRUE};
  TideWireField field = {0};
  while (tide_wire_read_field(&reader, &field)) {
    if (field.id == 0 && read_success != NULL) {
      succeeded = read_success(&reader, &field, data);
    } else if ((field.id == 1 || field.id == 2) && field.type == TIDE_WIRE_STRUCT) {
      exception = (DeclaredException){.can_retry = TRUE};
      tide_reply_read_fields(&reader, exception_fields, G_N_ELEMENTS(exception_fields), &exception);
      refused = TRUE;
    } else {
      /* Every other field is an exception, even an unknown one: it must never pass as an acknowledgement. */
      tide_wire_reader_fail(&reader, "an unknown result field");
    }
  }
  if (reader.status == TIDE_WIRE_OK && reader.offset != reader.len)
    tide_wire_reader_fail(&reader, "bytes after the end");
  if (reader.status == TIDE_WIRE_OK && !refused && !succeeded)
    tide_wire_reader_fail(&reader, "no result");

  if (!check_reader(reply, &reader, error))
    return FALSE;
  if (!refused)
    return TRUE;
  g_autofree char *text = one_line(exception.message);
  return tide_fail(error, TIDE_ERROR_GATEWAY, "the gateway refused '%s'%s: %s", reply->method,
                   exception.can_retry ? "" : " permanently", text[0] != '\0' ? text : "it gave no reason");
}

gboolean
tide_reply_read_void(const TideReply *reply, GError **error)
{
  return tide_reply_read_result(reply, NULL, NULL, error);
}

static gboolean
read_bool_success(TideWireReader *reader, const TideWireField *field, gpointer data)
{
  gboolean *value = data;
  if (!tide_wire_field_is(reader, field, TIDE_WIRE_BOOL))
    return FALSE;
  *value = tide_wire_read_bool(reader);
  return TRUE;
}

gboolean
tide_reply_read_bool(const TideReply *reply, gboolean *ret_value, GError **error)
{
  return tide_reply_read_result(reply, read_bool_success, ret_value, error);
}

static gboolean
read_i32_success(TideWireReader *reader, const TideWireField *field, gpointer data)
{
  gint32 *value = data;
  if (!tide_wire_field_is(reader, field, TIDE_WIRE_I32))
    return FALSE;
  *value = tide_wire_read_i32(reader);
  return TRUE;
}

gboolean
tide_reply_read_i32(const TideReply *reply, gint32 *ret_value, GError **error)
{
  return tide_reply_read_result(reply, read_i32_success, ret_value, error);
}

static gboolean
read_text_success(TideWireReader *reader, const TideWireField *field, gpointer data)
{
  char **text = data;
  if (!tide_wire_field_is(reader, field, TIDE_WIRE_STRING))
    return FALSE;
  TideBytes value = tide_wire_read_string(reader);
  g_free(*text); /* if a field is repeated, the last one counts */
  *text = reader->status == TIDE_WIRE_OK ? tide_bytes_printable(value) : NULL;
  return TRUE;
}

gboolean
tide_reply_read_text(const TideReply *reply, char **ret_text, GError **error)
{
  g_autofree char *text = NULL;
  if (!tide_reply_read_result(reply, read_text_success, &text, error))
    return FALSE;
  *ret_text = g_steal_pointer(&text);
  return TRUE;
}

typedef struct NameSearch {
  TideBytes wanted;
  gboolean found;
} NameSearch;

static gboolean
read_names_success(TideWireReader *reader, const TideWireField *field, gpointer data)
{
  NameSearch *search = data;
  guint32 count;
  if (!tide_wire_field_is(reader, field, TIDE_WIRE_LIST))
    return FALSE;
  if (!tide_wire_read_list_of(reader, TIDE_WIRE_STRING, &count))
    return FALSE;
  for (guint32 i = 0; i < count && reader->status == TIDE_WIRE_OK; i++) {
    TideBytes name = tide_wire_read_string(reader);
    search->found = search->found || tide_bytes_equal(name, search->wanted);
  }
  return TRUE;
}

gboolean
tide_reply_read_names(const TideReply *reply, const char *wanted, gboolean *ret_contains, GError **error)
{
  NameSearch search = {.wanted = tide_bytes_of_string(wanted)};
  if (!tide_reply_read_result(reply, read_names_success, &search, error))
    return FALSE;
  *ret_contains = search.found;
  return TRUE;
}

/* TColumnValue */
static void
read_cell(TideWireReader *reader, TideResultCell *cell)
{
  guint got = 0;
  TideWireField field = {0};
  while (tide_wire_read_field(reader, &field)) {
    TideBytes *part = field.id == 1   ? &cell->family
                      : field.id == 2 ? &cell->qualifier
                      : field.id == 3 ? &cell->value
                                      : NULL;
    if (part != NULL && field.type == TIDE_WIRE_STRING) {
      *part = tide_wire_read_string(reader);
      got++;
    } else if (field.id == 4 && field.type == TIDE_WIRE_I64) {
      cell->timestamp_ms = tide_wire_read_i64(reader);
      got++;
    } else {
      tide_wire_skip(reader, field.type);
    }
  }
  if (got != 4) /* the reader rejects repeated fields */
    tide_wire_reader_fail(reader, "a cell without family, qualifier, value or time");
}

static void
read_cells(TideWireReader *reader, GArray *cells)
{
  guint32 count;
  if (!tide_wire_read_list_of(reader, TIDE_WIRE_STRUCT, &count))
    return;
  if (count > CELLS_PER_ROW_MAX) {
    tide_wire_reader_fail(reader, "a row of more than 1048576 cells");
    return;
  }
  for (guint32 i = 0; i < count && reader->status == TIDE_WIRE_OK; i++) {
    TideResultCell cell = {0};
    read_cell(reader, &cell);
    g_array_append_val(cells, cell);
  }
}

/* FALSE when the reader or the sink rejects a result. @row: NULL: none. */
static gboolean
is_acceptable(TideWireReader *reader, const TideRowSink *sink, const TideBytes *row)
{
  if (reader->status != TIDE_WIRE_OK || sink->stopped)
    return FALSE;
  const char *problem = sink->problem_of != NULL ? sink->problem_of(row, sink->problem_data) : NULL;
  if (problem != NULL)
    tide_wire_reader_fail(reader, problem);
  return problem == NULL;
}

/* TResult */
static void
read_result_row(TideWireReader *reader, TideRowSink *sink)
{
  TideResultRow row = {0};
  gboolean has_row = FALSE;
  g_array_set_size(sink->cells, 0);
  TideWireField field = {0};
  while (tide_wire_read_field(reader, &field)) {
    if (field.id == 1 && field.type == TIDE_WIRE_STRING) {
      row.row = tide_wire_read_string(reader);
      has_row = TRUE;
    } else if (field.id == 2 && field.type == TIDE_WIRE_LIST) {
      read_cells(reader, sink->cells);
    } else {
      tide_wire_skip(reader, field.type);
    }
  }
  if (!is_acceptable(reader, sink, has_row ? &row.row : NULL) || !has_row)
    return;
  row.cells = (const TideResultCell *)(gpointer)sink->cells->data;
  row.n_cells = sink->cells->len;
  sink->rows++;
  gboolean wants_more = sink->func == NULL || sink->func(&row, sink->data);
  sink->stopped = !wants_more || sink->rows == sink->limit_rows;
}

typedef struct RowsRead {
  TideRowSink *sink;
  guint32 results;
} RowsRead;

static gboolean
read_rows_success(TideWireReader *reader, const TideWireField *field, gpointer data)
{
  RowsRead *rows = data;
  if (!tide_wire_field_is(reader, field, TIDE_WIRE_LIST))
    return FALSE;
  if (!tide_wire_read_list_of(reader, TIDE_WIRE_STRUCT, &rows->results))
    return FALSE;
  for (guint32 i = 0; i < rows->results && reader->status == TIDE_WIRE_OK; i++)
    read_result_row(reader, rows->sink);
  return TRUE;
}

gboolean
tide_reply_read_rows(const TideReply *reply, TideRowSink *sink, guint32 *ret_results, GError **error)
{
  RowsRead rows = {.sink = sink};
  if (!tide_reply_read_result(reply, read_rows_success, &rows, error))
    return FALSE;
  *ret_results = rows.results;
  return TRUE;
}

static gboolean
read_row_success(TideWireReader *reader, const TideWireField *field, gpointer data)
{
  if (!tide_wire_field_is(reader, field, TIDE_WIRE_STRUCT))
    return FALSE;
  read_result_row(reader, data);
  return TRUE;
}

gboolean
tide_reply_read_row(const TideReply *reply, TideRowSink *sink, GError **error)
{
  return tide_reply_read_result(reply, read_row_success, sink, error);
}
