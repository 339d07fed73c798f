/* Reads the readings of a message of comma-separated values (RFC 4180), or of values with another delimiter: a reading
 * per line. One pass; nothing is allocated but a copy of the message.
 *
 * The columns are declared, or the first line of each message names them. A value becomes the field of its column:
 *
 *     "..."                      STRING   in quotes; "" is one quote, delimiters and line breaks belong to the text
 *     one of the null values     NULL
 *     a number, as in JSON       NUMBER   as written, up to 64 bytes; 007 and +1 are not numbers
 *     true, false                BOOL     as declared
 *     all else                   STRING   spaces are kept
 *
 * With options->csv.trim, spaces and tabs around unquoted values and names are ignored. With
 * options->csv.decimal_comma, 1,5 is the number 1.5, and 1.5 is a text. A column called TIDE_NO_NAME, or without a name
 * in a header, is ignored.
 *
 * A line ends with a line feed, or with a carriage return before it; empty lines and comments are skipped. Each line
 * has as many values as there are columns. A message with only the names of columns is rejected as PARSE. A quote
 * within an unquoted value and a lone carriage return are faults; without options->csv.quotes a quote is an ordinary
 * byte.
 *
 * With TIDE_BAD_READING_ALONE a fault of a line is its own: PARSE, NUMBER, UTF8. A quoted text that does not end and
 * any fault of the names are the message's, because they affect all lines. */
#include "decode/formats.h"

#include "decode/json_text.h"
#include "decode/lines.h"

typedef struct Column {
  TideBytes name; /* without data: the column is ignored */
  gsize position; /* of its name in the message; of the value if the columns are declared */
} Column;

/* The options and the columns. */
typedef struct Csv {
  const TideDecodeOptions *options; /* borrowed */
  guint8 delimiter;
  gboolean has_header;
  gboolean trims;
  guint8 ends_text[256]; /* bytes that end an unquoted value or are not allowed in it */
  TideBytes comment;     /* prefix of comment lines; empty: there are none */
  GArray *null_values;   /* owned (element-type TideBytes) */
  GArray *columns;       /* owned (element-type Column): declared, or from the message */
} Csv;

gboolean
tide_csv_is_delimiter(char byte)
{
  return byte != 0 && (guint8)byte < 0x80 && !g_ascii_isalnum(byte) && strchr("\"\r\n.+-", byte) == NULL;
}

static gpointer
open_csv(TideShaper *shaper)
{
  static char nothing[] = "";
  static char *const unless_set[] = {nothing, NULL};
  const TideCsvOptions *options = &shaper->options->csv;
  Csv *csv = g_new0(Csv, 1);
  csv->options = shaper->options;
  csv->has_header = options->header || options->columns == NULL;
  csv->trims = options->trim;
  csv->comment = tide_bytes_of_string(options->comment);
  csv->delimiter = options->delimiter != NULL ? (guint8)options->delimiter[0] : ',';
  csv->ends_text[csv->delimiter] = csv->ends_text['\n'] = csv->ends_text['\r'] = TRUE;
  csv->ends_text['"'] = options->quotes ? TRUE : FALSE;
  csv->null_values = g_array_new(FALSE, FALSE, sizeof(TideBytes));
  for (char *const *value = options->null_values != NULL ? options->null_values : unless_set; *value != NULL; value++) {
    TideBytes text = tide_bytes_of_string(*value);
    g_array_append_val(csv->null_values, text);
  }
  csv->columns = g_array_new(FALSE, FALSE, sizeof(Column));
  for (char *const *name = options->columns; name != NULL && *name != NULL; name++) {
    Column column = {.name = tide_bytes_of_string(strcmp(*name, TIDE_NO_NAME) != 0 ? *name : NULL)};
    g_array_append_val(csv->columns, column);
  }
  return csv;
}

static void
close_csv(gpointer kept)
{
  Csv *csv = kept;
  g_array_unref(csv->null_values);
  g_array_unref(csv->columns);
  g_free(csv);
}

static inline gboolean
is_blank(guint8 byte)
{
  return byte == ' ' || byte == '\t';
}

static gsize
find_line_end(const TideLines *lines, gsize start)
{
  const Csv *csv = lines->parser;
  TideBytes message = lines->message;
  gboolean in_quotes = FALSE, may_open = TRUE; /* quotes are special only at the start of a value, or doubled */
  gsize at = start;
  for (; at < message.len && (in_quotes || message.data[at] != '\n'); at++) {
    guint8 byte = message.data[at];
    gboolean is_special = byte == '"' && csv->options->csv.quotes && (in_quotes || may_open);
    in_quotes = in_quotes != is_special;
    may_open = is_special || byte == csv->delimiter || (may_open && csv->trims && is_blank(byte));
  }
  return in_quotes ? message.len + 1 : at;
}

/* ---- values ---- */

static G_GNUC_NO_INLINE void
trim(TideBytes *text)
{
  while (text->len > 0 && is_blank(text->data[0]))
    *text = tide_bytes_from(*text, 1);
  while (text->len > 0 && is_blank(text->data[text->len - 1]))
    text->len--;
}

/* Skips blanks around a quoted value, if the options ignore them. */
static G_GNUC_NO_INLINE void
skip_blanks(TideLines *lines, const Csv *csv)
{
  while (is_blank(*lines->at) && *lines->at != csv->delimiter)
    lines->at++;
}

/* Reads the quoted text that begins here. */
static gboolean
take_quoted(TideLines *lines, TideBytes name, TideBytes *ret_text)
{
  guint8 *opened = lines->at, *from = opened + 1, *out = from;
  for (;;) {
    guint8 *quote = memchr(from, '"', (gsize)(lines->end - from));
    if (G_UNLIKELY(quote == NULL))
      return tide_lines_fault(lines, TIDE_REJECT_PARSE, opened, name, "a quoted text that does not end");
    if (out != from)
      memmove(out, from, (gsize)(quote - from));
    out += quote - from;
    lines->at = quote + 1;
    if (*lines->at != '"')
      break;
    *out++ = '"';
    from = lines->at + 1;
  }
  *ret_text = tide_bytes(opened + 1, (gsize)(out - opened - 1));
  if (((const Csv *)lines->parser)->trims)
    skip_blanks(lines, lines->parser);
  return *lines->at == ((const Csv *)lines->parser)->delimiter || tide_lines_is_line_end(lines->at) ||
         tide_lines_fault(lines, TIDE_REJECT_PARSE, lines->at, name, "bytes after the closing quote");
}

/* Reads an unquoted value. @name: of its column, for faults */
static inline gboolean
take_text(TideLines *lines, TideBytes name, TideBytes *ret_text, gboolean *ret_is_quoted)
{
  const Csv *csv = lines->parser;
  if (G_UNLIKELY(csv->trims))
    skip_blanks(lines, csv);
  *ret_is_quoted = *lines->at == '"' && csv->options->csv.quotes;
  if (*ret_is_quoted)
    return take_quoted(lines, name, ret_text);
  guint8 *at = lines->at;
  while (!csv->ends_text[*at])
    at++;
  *ret_text = tide_bytes(lines->at, (gsize)(at - lines->at));
  lines->at = at;
  if (G_UNLIKELY(csv->trims))
    trim(ret_text);
  return G_LIKELY(*at == csv->delimiter || tide_lines_is_line_end(at)) ||
         tide_lines_fault(lines, TIDE_REJECT_PARSE, at, name,
                          *at == '"' ? "a quote in a value that is not in quotes"
                                     : "a carriage return without a line feed after it");
}

/* Whether @text, in the message's copy, is a number. Changes its decimal comma to a point. With decimal commas, a text
 * with a point is not a number, because the point may group thousands. */
static gboolean
is_number(const Csv *csv, TideBytes text)
{
  gboolean has_comma = csv->options->csv.decimal_comma;
  guint8 *comma = has_comma ? memchr(text.data, ',', text.len) : NULL;
  if (has_comma && memchr(text.data, '.', text.len) != NULL)
    return FALSE;
  if (comma != NULL)
    *comma = '.';
  gboolean is_whole = tide_json_number_end(text.data) == text.data + text.len;
  if (comma != NULL && !is_whole)
    *comma = ',';
  return is_whole;
}

/* The kind of the unquoted @text, whose delimiter follows; for a boolean, also its text. */
static TideValueKind
kind_of(const Csv *csv, TideBytes *text)
{
  for (guint i = 0; i < csv->null_values->len; i++)
    if (tide_bytes_equal(g_array_index(csv->null_values, TideBytes, i), *text)) {
      *text = TIDE_BYTES_EMPTY;
      return TIDE_VALUE_NULL;
    }
  if (text->len > 0 && (g_ascii_isdigit(text->data[0]) || text->data[0] == '-'))
    return is_number(csv, *text) ? TIDE_VALUE_NUMBER : TIDE_VALUE_STRING;
  gboolean is_true = tide_bytes_equal(*text, TIDE_BYTES_LITERAL("true"));
  if (!is_true && !tide_bytes_equal(*text, TIDE_BYTES_LITERAL("false")))
    return TIDE_VALUE_STRING;
  *text = tide_boolean_text(csv->options->booleans, is_true);
  return TIDE_VALUE_BOOL;
}

/* ---- lines ---- */

static gboolean
take_values(TideLines *lines)
{
  const Csv *csv = lines->parser;
  for (guint i = 0; i < csv->columns->len; i++) {
    const Column *column = &g_array_index(csv->columns, Column, i);
    guint8 *start = lines->at;
    TideBytes text;
    gboolean is_quoted;
    if (!take_text(lines, column->name, &text, &is_quoted))
      return FALSE;
    TideValueKind kind = is_quoted ? TIDE_VALUE_STRING : kind_of(csv, &text);
    if (G_UNLIKELY(kind == TIDE_VALUE_NUMBER && text.len > TIDE_NUMBER_MAX_BYTES))
      return tide_lines_fault(lines, TIDE_REJECT_NUMBER, start, column->name, TIDE_NUMBER_TOO_LONG);
    if (column->name.data != NULL &&
        !tide_lines_add(lines, csv->has_header ? lines->begin + column->position : start, column->name, kind, text))
      return FALSE;
    gboolean is_last = i + 1 == csv->columns->len;
    if (G_LIKELY((*lines->at == csv->delimiter) != is_last))
      lines->at += is_last ? 0 : 1;
    else
      return tide_lines_fault(lines, TIDE_REJECT_PARSE, lines->at, TIDE_BYTES_EMPTY,
                              is_last ? "more values than there are columns" : "fewer values than there are columns");
  }
  return TRUE;
}

/* Reads the names in the first line. Duplicate and long names are found when readings are built. */
static gboolean
take_header(TideLines *lines, Csv *csv)
{
  g_array_set_size(csv->columns, 0);
  if (!tide_lines_check_utf8(lines, lines->at))
    return FALSE;
  for (;; lines->at++) {
    Column column = {.position = (gsize)(lines->at - lines->begin)};
    gboolean is_quoted;
    if (csv->columns->len == csv->options->max_fields)
      return tide_lines_fault(lines, TIDE_REJECT_TOO_MANY_FIELDS, lines->at, TIDE_BYTES_EMPTY, NULL);
    if (!take_text(lines, TIDE_BYTES_EMPTY, &column.name, &is_quoted))
      return FALSE;
    if (column.name.len == 0)
      column.name = TIDE_BYTES_EMPTY;
    g_array_append_val(csv->columns, column);
    if (*lines->at != csv->delimiter)
      return TRUE;
  }
}

/* Skips the next line and its end. */
static void
skip_line(TideLines *lines)
{
  const guint8 *end = memchr(lines->at, '\n', (gsize)(lines->end - lines->at) + 1);
  lines->at = MIN(lines->at + (end + 1 - lines->at), lines->end);
}

/* Skips empty lines and comments. */
static void
skip_empty_lines(TideLines *lines)
{
  TideBytes comment = ((const Csv *)lines->parser)->comment;
  while (lines->at < lines->end) {
    if (tide_lines_is_line_end(lines->at))
      lines->at++;
    else if (G_UNLIKELY(comment.len > 0) &&
             tide_bytes_begin_with(tide_bytes(lines->at, (gsize)(lines->end - lines->at)), comment))
      skip_line(lines);
    else
      return;
  }
}

static void
skip_lines(TideLines *lines, guint32 n)
{
  skip_empty_lines(lines);
  for (; n > 0 && lines->at < lines->end; n--) {
    skip_line(lines);
    skip_empty_lines(lines);
  }
}

static const TideLineCalls calls = {
    .skip = skip_empty_lines,
    .take = take_values,
    .find_end = find_line_end,
    .names_are_shared = TRUE,
};

static gboolean
read_message(TideShaper *shaper, gpointer kept, TideBytes message, TideReject *ret_reject)
{
  Csv *csv = kept;
  TideLines lines;
  tide_lines_init(&lines, &calls, shaper, csv, message, ret_reject);
  skip_lines(&lines, csv->options->csv.skip_lines);
  if (lines.at >= lines.end)
    return tide_reject_set(ret_reject, TIDE_REJECT_EMPTY, 0, "only empty and skipped lines");
  if (csv->has_header) {
    if (!take_header(&lines, csv))
      return FALSE;
    skip_lines(&lines, csv->options->csv.skip_after_header);
    /* Without this fault, values read as names would be lost without a report. */
    if (lines.at >= lines.end)
      return tide_reject_set(ret_reject, TIDE_REJECT_PARSE, 0,
                             "its only line was read as the names of the columns: if messages have no such line, "
                             "name them with 'csv.columns'");
  }
  return tide_lines_run(&lines);
}

const TideFormatReader tide_csv_reader = {.open = open_csv, .close = close_csv, .read = read_message};
