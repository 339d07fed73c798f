#include "decode/csv_lines.h"

#include "decode/json_text.h"
#include "decode/line_text.h"

typedef struct Column {
  TideBytes name;
  gsize position; /* of its name in the message; that of the value where it is declared */
} Column;

struct TideCsvLines {
  const TideDecodeOptions *options; /* borrowed */
  guint8 delimiter;
  gboolean has_header;
  guint8 ends_text[256]; /* what ends a value without quotes, or may not stand in one */
  GArray *null_values;   /* (element-type TideBytes) */
  GArray *columns;       /* (element-type Column): as declared, or of the message */
};

typedef struct Walk {
  const TideCsvLines *lines;
  TideReadingBuilder *builder;
  TideReject *reject; /* the caller's */
  TideLineText text;
  guint8 *at;           /* in text */
  gboolean is_of_names; /* the fault, and so not of one line alone */
} Walk;

gboolean
tide_csv_is_delimiter(char byte)
{
  return byte > 0 && !g_ascii_isalnum(byte) && strchr("\"\r\n.+-", byte) == NULL;
}

static GArray *
bytes_of_texts(char *const *texts)
{
  GArray *bytes = g_array_new(FALSE, FALSE, sizeof(TideBytes));
  for (; texts != NULL && *texts != NULL; texts++) {
    TideBytes text = tide_bytes_of_string(*texts);
    g_array_append_val(bytes, text);
  }
  return bytes;
}

TideCsvLines *
tide_csv_lines_new(const TideDecodeOptions *options)
{
  static char nothing[] = "";
  static char *const unless_set[] = {nothing, NULL};
  const TideCsvOptions *csv = &options->csv;
  TideCsvLines *lines = g_new0(TideCsvLines, 1);
  lines->options = options;
  lines->has_header = csv->header || csv->columns == NULL;
  lines->delimiter = csv->delimiter != NULL ? (guint8)csv->delimiter[0] : ',';
  lines->ends_text[lines->delimiter] = lines->ends_text['\n'] = lines->ends_text['\r'] = TRUE;
  lines->ends_text['"'] = csv->quotes ? TRUE : FALSE;
  lines->null_values = bytes_of_texts(csv->null_values != NULL ? csv->null_values : unless_set);
  lines->columns = g_array_new(FALSE, FALSE, sizeof(Column));
  for (char *const *name = csv->columns; name != NULL && *name != NULL; name++) {
    Column column = {.name = tide_bytes_of_string(*name)};
    g_array_append_val(lines->columns, column);
  }
  return lines;
}

void
tide_csv_lines_free(TideCsvLines *lines)
{
  if (lines == NULL)
    return;
  g_array_unref(lines->null_values);
  g_array_unref(lines->columns);
  g_free(lines);
}

/* ---- faults ---- */

static gboolean
fault(Walk *walk, TideBytes field, TideRejectReason reason, const guint8 *place, const char *detail)
{
  walk->reject->field = field;
  return tide_reject_set(walk->reject, reason, place - walk->text.begin, detail);
}

/* Behind the text in quotes whose opening quote is at @at; beyond the message where it does not end. */
static gsize
skip_quoted(TideBytes message, gsize at)
{
  for (at++; at < message.len; at += 2) {
    const guint8 *quote = memchr(message.data + at, '"', message.len - at);
    if (quote == NULL)
      break;
    at = (gsize)(quote - message.data);
    if (at + 1 == message.len || message.data[at + 1] != '"')
      return at + 1;
  }
  return message.len + 1;
}

/* Where the line from @start on ends, whatever is wrong with it: at the first line break that stands in no text in
 * quotes. Beyond the message, where such a text does not end: then nobody knows. */
static gsize
find_line_end(const Walk *walk, gsize start)
{
  TideBytes message = walk->text.message;
  gboolean begins_value = TRUE; /* elsewhere a quote says nothing */
  gsize at = start;
  while (at < message.len && message.data[at] != '\n') {
    if (begins_value && message.data[at] == '"' && walk->lines->options->csv.quotes) {
      at = skip_quoted(message, at);
      begins_value = FALSE;
      continue;
    }
    begins_value = message.data[at] == walk->lines->delimiter;
    at++;
  }
  return at;
}

/* After a fault in the line that begins at @line: leaves it out and goes on behind it. FALSE: the message is rejected.
 */
static gboolean
spoil_line(Walk *walk, const guint8 *line)
{
  if (walk->is_of_names || walk->lines->options->on_bad_reading != TIDE_BAD_READING_ALONE)
    return FALSE;
  gsize end = find_line_end(walk, (gsize)(line - walk->text.begin));
  if (end > walk->text.message.len)
    return FALSE;
  tide_reading_builder_spoil(walk->builder, walk->reject);
  walk->at = walk->text.begin + end;
  return TRUE;
}

/* ---- values ---- */

static inline gboolean
is_line_end(const guint8 *at)
{
  return *at == '\n' || (*at == '\r' && at[1] == '\n');
}

/* The text whose opening quote is next. */
static gboolean
take_quoted(Walk *walk, TideBytes name, TideBytes *ret_text)
{
  guint8 *opened = walk->at, *from = opened + 1, *out = from;
  for (;;) {
    guint8 *quote = memchr(from, '"', (gsize)(walk->text.end - from));
    if (G_UNLIKELY(quote == NULL))
      return fault(walk, name, TIDE_REJECT_PARSE, opened, "a text in quotes that does not end");
    if (out != from)
      memmove(out, from, (gsize)(quote - from));
    out += quote - from;
    walk->at = quote + 1;
    if (*walk->at != '"')
      break;
    *out++ = '"';
    from = walk->at + 1;
  }
  *ret_text = tide_bytes(opened + 1, (gsize)(out - opened - 1));
  return *walk->at == walk->lines->delimiter || is_line_end(walk->at) ||
         fault(walk, name, TIDE_REJECT_PARSE, walk->at, "bytes behind the closing quote");
}

/* What stands between delimiters. @name: of its column, for faults */
static inline gboolean
take_text(Walk *walk, TideBytes name, TideBytes *ret_text, gboolean *ret_is_quoted)
{
  *ret_is_quoted = *walk->at == '"' && walk->lines->options->csv.quotes;
  if (*ret_is_quoted)
    return take_quoted(walk, name, ret_text);
  guint8 *start = walk->at;
  while (!walk->lines->ends_text[*walk->at])
    walk->at++;
  *ret_text = tide_bytes(start, (gsize)(walk->at - start));
  if (G_LIKELY(*walk->at == walk->lines->delimiter || is_line_end(walk->at)))
    return TRUE;
  return fault(walk, name, TIDE_REJECT_PARSE, walk->at,
               *walk->at == '"' ? "a quote in a value that is not in quotes"
                                : "a carriage return without the line feed behind it");
}

static inline gboolean
is_null(const TideCsvLines *lines, TideBytes text)
{
  for (guint i = 0; i < lines->null_values->len; i++)
    if (tide_bytes_equal(g_array_index(lines->null_values, TideBytes, i), text))
      return TRUE;
  return FALSE;
}

/* The kind of @text, which stood without quotes, and behind which its delimiter stands; of a boolean the text, too. */
static TideValueKind
kind_of(const TideCsvLines *lines, TideBytes *text)
{
  static const TideBytes words[] = {TIDE_BYTES_LITERAL("false"), TIDE_BYTES_LITERAL("true")};
  static const TideBytes numbers[] = {TIDE_BYTES_LITERAL("0"), TIDE_BYTES_LITERAL("1")};
  if (is_null(lines, *text)) {
    *text = TIDE_BYTES_EMPTY;
    return TIDE_VALUE_NULL;
  }
  if (text->len > 0 && (g_ascii_isdigit(text->data[0]) || text->data[0] == '-'))
    return tide_json_number_end(text->data) == text->data + text->len ? TIDE_VALUE_NUMBER : TIDE_VALUE_STRING;
  for (gsize i = 0; i < G_N_ELEMENTS(words); i++) {
    if (!tide_bytes_equal(*text, words[i]))
      continue;
    *text = (lines->options->booleans == TIDE_BOOLEAN_NUMBER ? numbers : words)[i];
    return TIDE_VALUE_BOOL;
  }
  return TIDE_VALUE_STRING;
}

static inline gboolean
take_value(Walk *walk, const Column *column)
{
  guint8 *start = walk->at;
  TideBytes text;
  gboolean is_quoted;
  if (!take_text(walk, column->name, &text, &is_quoted))
    return FALSE;
  TideValueKind kind = is_quoted ? TIDE_VALUE_STRING : kind_of(walk->lines, &text);
  if (G_UNLIKELY(kind == TIDE_VALUE_NUMBER && text.len > TIDE_LINE_NUMBER_MAX_BYTES))
    return fault(walk, column->name, TIDE_REJECT_NUMBER, start,
                 "a number longer than " G_STRINGIFY(TIDE_LINE_NUMBER_MAX_BYTES) " bytes");
  if (G_LIKELY(tide_reading_builder_add(walk->builder, column->name, kind, text, walk->reject)))
    return TRUE;
  walk->is_of_names = TRUE;
  walk->reject->byte_position = walk->lines->has_header ? (gint64)column->position : start - walk->text.begin;
  return FALSE;
}

/* ---- lines ---- */

static gboolean
take_values(Walk *walk)
{
  const GArray *columns = walk->lines->columns;
  for (guint i = 0; i < columns->len; i++) {
    const Column *column = &g_array_index(columns, Column, i);
    if (!take_value(walk, column))
      return FALSE;
    gboolean is_last = i + 1 == columns->len;
    if (G_LIKELY((*walk->at == walk->lines->delimiter) != is_last))
      walk->at += is_last ? 0 : 1;
    else
      return fault(walk, TIDE_BYTES_EMPTY, TIDE_REJECT_PARSE, walk->at,
                   is_last ? "more values than there are columns" : "fewer values than there are columns");
  }
  return TRUE;
}

/* Where not all of the message is UTF-8: whether the line that begins at @line is. */
static gboolean
check_utf8(Walk *walk, const guint8 *line)
{
  if (G_LIKELY(walk->text.is_utf8))
    return TRUE;
  gsize start = (gsize)(line - walk->text.begin);
  gsize end = MIN(find_line_end(walk, start), walk->text.message.len);
  gssize place = tide_json_utf8_fault(tide_bytes(walk->text.message.data + start, end - start));
  return place < 0 || fault(walk, TIDE_BYTES_EMPTY, TIDE_REJECT_UTF8, line + place, NULL);
}

static gboolean
take_reading(Walk *walk)
{
  const guint8 *line = walk->at;
  if (!tide_reading_builder_begin_reading(walk->builder, walk->reject)) {
    walk->reject->byte_position = line - walk->text.begin;
    return FALSE;
  }
  if (!check_utf8(walk, line) || !take_values(walk))
    return spoil_line(walk, line) && tide_reading_builder_end_reading(walk->builder, walk->reject);
  if (G_LIKELY(tide_reading_builder_end_reading(walk->builder, walk->reject)))
    return TRUE;
  walk->reject->byte_position = line - walk->text.begin;
  return FALSE;
}

/* The names in the first line. Whether each stands there once, and is not too long, the readings find out. */
static gboolean
take_header(Walk *walk)
{
  GArray *columns = walk->lines->columns;
  g_array_set_size(columns, 0);
  if (!check_utf8(walk, walk->at))
    return FALSE;
  for (;; walk->at++) {
    Column column = {.position = (gsize)(walk->at - walk->text.begin)};
    gboolean is_quoted;
    if (columns->len == walk->lines->options->max_fields)
      return fault(walk, TIDE_BYTES_EMPTY, TIDE_REJECT_TOO_MANY_FIELDS, walk->at, NULL);
    if (!take_text(walk, TIDE_BYTES_EMPTY, &column.name, &is_quoted))
      return FALSE;
    g_array_append_val(columns, column);
    if (*walk->at != walk->lines->delimiter)
      return TRUE;
  }
}

static void
skip_empty_lines(Walk *walk)
{
  while (walk->at < walk->text.end && is_line_end(walk->at))
    walk->at++;
}

static gboolean
run(Walk *walk)
{
  skip_empty_lines(walk);
  if (walk->at >= walk->text.end)
    return fault(walk, TIDE_BYTES_EMPTY, TIDE_REJECT_EMPTY, walk->text.begin, "no line but empty ones");
  if (walk->lines->has_header) {
    if (!take_header(walk))
      return FALSE;
    skip_empty_lines(walk);
    /* Values that were taken for names would be gone without a word. */
    if (walk->at >= walk->text.end)
      return fault(walk, TIDE_BYTES_EMPTY, TIDE_REJECT_PARSE, walk->text.begin,
                   "its only line was taken for the names of the columns: where messages have no such line, name them "
                   "with 'csv.columns'");
  }
  while (walk->at < walk->text.end) {
    if (!take_reading(walk))
      return FALSE;
    skip_empty_lines(walk);
  }
  return TRUE;
}

gboolean
tide_csv_lines_run(TideCsvLines *lines, TideBytes message, TideScratch *scratch, TideReadingBuilder *builder,
                   TideReject *ret_reject)
{
  TideLineText text = tide_line_text_copy(message, scratch);
  Walk walk = {.lines = lines, .builder = builder, .reject = ret_reject, .text = text, .at = text.first};
  return run(&walk);
}
