/* Reads the readings out of a message of comma-separated values (RFC 4180), or of values with another byte between
 * them: a reading for each line. One pass; nothing is allocated but a copy of the message.
 *
 * The columns are declared, or the first line of each message names them. A value becomes the field of its column:
 *
 *     "..."                      STRING   in quotes; "" is one quote, delimiters and line breaks are bytes of the text
 *     one of the null values     NULL
 *     a number, as JSON has it   NUMBER   as it was written, up to 64 bytes; 007 and +1 are none
 *     true, false                BOOL     as declared
 *     all else                   STRING   spaces are bytes like others
 *
 * With options->csv.trim, spaces and tabs around values and names without quotes are none of them; and with
 * options->csv.decimal_comma, 1,5 is the number 1.5, and 1.5 a text. A column called TIDE_NO_NAME, or in a header
 * without any name, is left out.
 *
 * A line ends with a line feed, or with a carriage return before one; empty lines are none, nor are comments. Each has
 * as many values as there are columns. A message of nothing but the names of columns is rejected as PARSE. A quote
 * within a value that has none around it, and a carriage return that stands alone, are faults; without
 * options->csv.quotes a quote is a byte like others.
 *
 * With TIDE_BAD_READING_ALONE a fault of a line is its own: PARSE, NUMBER, UTF8. A text in quotes that does not end,
 * and whatever is wrong with the names, is the message's: all lines share these. */
#include "decode/formats.h"

#include "decode/json_text.h"
#include "decode/lines.h"

typedef struct Column {
  TideBytes name; /* without data: its values are left out */
  gsize position; /* of its name in the message; that of the value where it is declared */
} Column;

/* What the options say, and the columns. */
typedef struct Csv {
  const TideDecodeOptions *options; /* borrowed */
  guint8 delimiter;
  gboolean has_header;
  gboolean trims;
  guint8 ends_text[256]; /* what ends a value without quotes, or may not stand in one */
  TideBytes comment;     /* what one begins with; empty: there are none */
  GArray *null_values;   /* owned (element-type TideBytes) */
  GArray *columns;       /* owned (element-type Column): as declared, or of the message */
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
  gboolean in_quotes = FALSE, may_open = TRUE; /* quotes are special only at the start of a value, and doubled */
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

/* Passes over what stands around a value in quotes, if it may. */
static G_GNUC_NO_INLINE void
skip_blanks(TideLines *lines, const Csv *csv)
{
  while (is_blank(*lines->at) && *lines->at != csv->delimiter)
    lines->at++;
}

/* The text whose opening quote is next. */
static gboolean
take_quoted(TideLines *lines, TideBytes name, TideBytes *ret_text)
{
  guint8 *opened = lines->at, *from = opened + 1, *out = from;
  for (;;) {
    guint8 *quote = memchr(from, '"', (gsize)(lines->end - from));
    if (G_UNLIKELY(quote == NULL))
      return tide_lines_fault(lines, TIDE_REJECT_PARSE, opened, name, "a text in quotes that does not end");
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
         tide_lines_fault(lines, TIDE_REJECT_PARSE, lines->at, name, "bytes behind the closing quote");
}

/* What stands between delimiters. @name: of its column, for faults */
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
                                     : "a carriage return without the line feed behind it");
}

/* Whether the @text, of the message's copy, is a number. A decimal comma in it becomes a point; a point beside decimal
 * commas makes it a text, because it may group thousands. */
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

/* The kind of @text, which stood without quotes, and behind which its delimiter stands; of a boolean the text, too. */
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

/* The names in the first line. Whether each stands there once, and is not too long, the readings find out. */
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

/* Passes over the line that comes next, and what ends it. */
static void
skip_line(TideLines *lines)
{
  const guint8 *end = memchr(lines->at, '\n', (gsize)(lines->end - lines->at) + 1);
  lines->at = MIN(lines->at + (end + 1 - lines->at), lines->end);
}

/* Passes over empty lines, and comments. */
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
    return tide_reject_set(ret_reject, TIDE_REJECT_EMPTY, 0, "no line but empty ones, and those that are passed over");
  if (csv->has_header) {
    if (!take_header(&lines, csv))
      return FALSE;
    skip_lines(&lines, csv->options->csv.skip_after_header);
    /* Values that were taken for names would be gone without a word. */
    if (lines.at >= lines.end)
      return tide_reject_set(ret_reject, TIDE_REJECT_PARSE, 0,
                             "its only line was taken for the names of the columns: where messages have no such line, "
                             "name them with 'csv.columns'");
  }
  return tide_lines_run(&lines);
}

const TideFormatReader tide_csv_reader = {.open = open_csv, .close = close_csv, .read = read_message};
