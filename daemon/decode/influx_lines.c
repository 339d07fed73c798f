/* Reads the readings of a message of InfluxDB's line protocol: a reading per line. One pass; nothing is allocated but a
 * copy of the message.
 *
 * A line is "measurement,tag=value field=1i,other=\"text\" time". Empty lines and lines that begin with "#" are
 * skipped. A reading has these fields, in this order:
 *
 *     measurement         STRING   the line's first word
 *     each tag            STRING   by the tag's name
 *     each field          NUMBER   1.5, 1i, 1u as written, without the letter, up to 64 bytes; with it, and the time,
 *                                  up to 64 bits; a form that is not JSON's is completed: .5 is 0.5, 1. is 1, 007 is 7
 *                         BOOL     t, T, true, True, TRUE and so on: as declared
 *                         STRING   in quotes; \" and \\ are one byte, and line breaks belong to the text
 *     $tags               STRING   if the configuration uses it: all tags as name=value, sorted by the bytes of their
 *                                  names, joined by commas; a backslash precedes each comma, =, space and backslash
 *     time                NUMBER   the line's own time; absent if the line has none
 *
 * In the names of tags and fields and in the values of tags, "\," "\=" "\ " mean the byte after the backslash; in the
 * measurement only the first and the last do. Any other backslash is an ordinary byte. A tag or field called "time" or
 * "measurement" rejects its line, unless options->influx adds a prefix; so does a name that occurs twice.
 *
 * With TIDE_BAD_READING_ALONE any fault of a line is its own, except a quoted text that does not end. A line ends at
 * the first line break outside quotes, even if it has other faults. */
#include "decode/formats.h"

#include "decode/json_text.h"
#include "decode/lines.h"

static const char beyond_64_bits[] = "an integer of more than 64 bits";

/* Bytes that end a name, and so those that a backslash can escape. */
typedef enum ByteClass {
  ENDS_MEASUREMENT = 1 << 0,
  ENDS_NAME = 1 << 1, /* of a tag or field, and ends a tag's value */
  IS_BACKSLASH = 1 << 2,
  ENDS_LINE = 1 << 3,
} ByteClass;

static const guint8 classes[256] = {
    [','] = ENDS_MEASUREMENT | ENDS_NAME,
    [' '] = ENDS_MEASUREMENT | ENDS_NAME,
    ['='] = ENDS_NAME,
    ['\\'] = IS_BACKSLASH,
    ['\n'] = ENDS_LINE,
};

typedef struct Tag {
  TideBytes name;
  TideBytes value;
} Tag;

/* All tags of a line, if the configuration uses them. */
typedef struct Tags {
  TideBytes prefix, field_prefix; /* borrowed; empty: none */
  gboolean are_wanted;
  Tag *all; /* in scratch */
  gsize n;
  gsize capacity;
} Tags;

/* ---- faults ---- */

static gboolean
fault(TideLines *lines, TideRejectReason reason, const guint8 *place, TideBytes field, const char *detail)
{
  return tide_lines_fault(lines, reason, place, field, place == lines->end ? "the text ends within a line" : detail);
}

static gsize
find_line_end(const TideLines *lines, gsize start)
{
  TideBytes message = lines->message;
  gboolean in_fields = FALSE; /* quotes are special only after the first space, at the start of a value */
  gsize at = start;
  while (at < message.len && message.data[at] != '\n') {
    guint8 byte = message.data[at];
    if (byte == '\\' && at + 1 < message.len && (classes[message.data[at + 1]] & ENDS_NAME) != 0)
      at++;
    in_fields = in_fields || byte == ' ';
    at++;
    if (in_fields && byte == '=' && at < message.len && message.data[at] == '"') {
      for (at++; at < message.len && message.data[at] != '"';)
        at += message.data[at] == '\\' ? 2 : 1;
      at++;
    }
  }
  return at;
}

/* ---- names and texts ---- */

/* Continues a name at its first backslash. A backslash before a byte that would end the name is removed and keeps the
 * name open; any other remains. */
static TideBytes
unescape_name(TideLines *lines, guint8 *start, guint ends)
{
  guint8 *out = lines->at;
  while ((classes[*lines->at] & (ends | ENDS_LINE)) == 0) {
    if (*lines->at == '\\' && (classes[lines->at[1]] & ends) != 0)
      lines->at++;
    *out++ = *lines->at++;
  }
  return tide_bytes(start, (gsize)(out - start));
}

/* Reads a name or a tag's value, up to the byte that ends it or the end of the line. */
static inline TideBytes
take_name(TideLines *lines, guint ends)
{
  guint8 *start = lines->at;
  while ((classes[*lines->at] & (ends | IS_BACKSLASH | ENDS_LINE)) == 0)
    lines->at++;
  if (G_UNLIKELY(*lines->at == '\\'))
    return unescape_name(lines, start, ends);
  return tide_bytes(start, (gsize)(lines->at - start));
}

/* ---- values ---- */

static inline const guint8 *
skip_digits(const guint8 *at)
{
  while (g_ascii_isdigit(*at))
    at++;
  return at;
}

/* The text of a number. Forms that JSON does not have get their missing digit or lose their leading zeros, so that all
 * later parsers read the same number: .5 is 0.5, 1.e3 is 1e3, 007 is 7. */
static TideBytes
plain_number(TideLines *lines, TideBytes number)
{
  const guint8 *at = number.data, *end = number.data + number.len;
  guint8 *start = tide_scratch_take(lines->scratch, number.len + 1), *out = start;
  if (*at == '-')
    *out++ = *at++;
  while (*at == '0' && g_ascii_isdigit(at[1]))
    at++;
  if (*at == '.')
    *out++ = '0';
  while (at < end) {
    gboolean is_idle_point = *at == '.' && !(at + 1 < end && g_ascii_isdigit(at[1]));
    if (!is_idle_point)
      *out++ = *at;
    at++;
  }
  return tide_bytes(start, (gsize)(out - start));
}

/* The end of the number at lines->at: an optional sign, digits with at most one point, an exponent; NULL: none. */
static const guint8 *
find_number_end(const TideLines *lines, gboolean *ret_is_plain, gboolean *ret_is_integer)
{
  const guint8 *start = *lines->at == '-' ? lines->at + 1 : lines->at;
  const guint8 *whole_end = skip_digits(start), *end = whole_end;
  gsize n_digits = (gsize)(whole_end - start);
  gsize n_decimals = 1;
  if (*end == '.') {
    end = skip_digits(end + 1);
    n_decimals = (gsize)(end - whole_end - 1);
    n_digits += n_decimals;
  }
  if (n_digits == 0)
    return NULL;
  *ret_is_plain = whole_end > start && n_decimals > 0 && (*start != '0' || whole_end == start + 1);
  if (*end == 'e' || *end == 'E') {
    const guint8 *digits = end[1] == '+' || end[1] == '-' ? end + 2 : end + 1;
    end = skip_digits(digits);
    if (end == digits)
      return NULL;
  }
  *ret_is_integer = end == whole_end;
  return end;
}

/* Checks the byte after a value: the next value, the time, or the line's end follows. */
static inline gboolean
ends_value(const guint8 *at)
{
  return *at == ',' || *at == ' ' || tide_lines_is_line_end(at);
}

/* Checks the integer from @start to @end by the letter after it: i means signed 64 bits, as for the time, and u
 * unsigned. */
static gboolean
fits_its_type(const guint8 *start, const guint8 *end)
{
  guint64 greatest = *end == 'u' ? G_MAXUINT64 : *start == '-' ? (guint64)1 << 63 : G_MAXINT64;
  guint64 value = 0;
  for (const guint8 *at = *start == '-' ? start + 1 : start; at < end; at++) {
    guint64 digit = *at - (guint64)'0';
    if (value > (greatest - digit) / 10)
      return FALSE;
    value = value * 10 + digit;
  }
  return TRUE;
}

static gboolean
take_number(TideLines *lines, TideBytes name)
{
  guint8 *start = lines->at;
  gboolean is_plain, is_integer;
  const guint8 *end = find_number_end(lines, &is_plain, &is_integer);
  if (G_UNLIKELY(end == NULL))
    return fault(lines, TIDE_REJECT_PARSE, start, name, "not a number");
  gboolean is_typed = is_integer && (*end == 'i' || (*end == 'u' && *start != '-'));
  if (G_UNLIKELY(!ends_value(end + (is_typed ? 1 : 0))))
    return fault(lines, TIDE_REJECT_PARSE, start, name, "not a number");
  if (G_UNLIKELY(end - start > TIDE_NUMBER_MAX_BYTES))
    return fault(lines, TIDE_REJECT_NUMBER, start, name, TIDE_NUMBER_TOO_LONG);
  if (G_UNLIKELY(is_typed && !fits_its_type(start, end)))
    return fault(lines, TIDE_REJECT_NUMBER, start, name, beyond_64_bits);
  TideBytes text = tide_bytes(start, (gsize)(end - start));
  lines->at = start + text.len + (is_typed ? 1 : 0);
  return tide_lines_add(lines, start, name, TIDE_VALUE_NUMBER, G_LIKELY(is_plain) ? text : plain_number(lines, text));
}

static gboolean
take_boolean(TideLines *lines, TideBytes name)
{
  static const TideBytes words[] = {
      TIDE_BYTES_LITERAL("true"), TIDE_BYTES_LITERAL("false"), TIDE_BYTES_LITERAL("t"),    TIDE_BYTES_LITERAL("f"),
      TIDE_BYTES_LITERAL("T"),    TIDE_BYTES_LITERAL("F"),     TIDE_BYTES_LITERAL("True"), TIDE_BYTES_LITERAL("False"),
      TIDE_BYTES_LITERAL("TRUE"), TIDE_BYTES_LITERAL("FALSE"),
  };
  guint8 *start = lines->at;
  for (gsize i = 0; i < G_N_ELEMENTS(words); i++) {
    if (memcmp(start, words[i].data, words[i].len) != 0 || !ends_value(start + words[i].len))
      continue;
    lines->at += words[i].len;
    return tide_lines_add(lines, start, name, TIDE_VALUE_BOOL, tide_boolean_text(lines->options->booleans, i % 2 == 0));
  }
  return fault(lines, TIDE_REJECT_PARSE, start, name,
               "not a value: a number, true or false, or a text in quotes was expected");
}

/* Reads the quoted text that begins here. Line breaks in it are part of it. */
static gboolean
take_text(TideLines *lines, TideBytes name)
{
  guint8 *opened = lines->at++;
  guint8 *start = lines->at, *out = lines->at;
  while (lines->at < lines->end && *lines->at != '"') {
    gboolean is_escape = *lines->at == '\\' && (lines->at[1] == '"' || lines->at[1] == '\\');
    lines->at += is_escape ? 1 : 0;
    *out++ = *lines->at++;
  }
  if (lines->at >= lines->end)
    return fault(lines, TIDE_REJECT_PARSE, opened, name, "a quoted text that does not end");
  lines->at++;
  if (G_UNLIKELY(!ends_value(lines->at)))
    return fault(lines, TIDE_REJECT_PARSE, lines->at, name, "bytes after the closing quote");
  return tide_lines_add(lines, opened, name, TIDE_VALUE_STRING, tide_bytes(start, (gsize)(out - start)));
}

/* Reads NaN or the like as null, if the options allow it. */
static gboolean
take_not_finite(TideLines *lines)
{
  const guint8 *end = tide_not_finite_end(lines->at);
  if (end == NULL || !ends_value(end))
    return FALSE;
  lines->at += end - lines->at;
  return TRUE;
}

static inline gboolean
take_value(TideLines *lines, TideBytes name)
{
  const guint8 *start = lines->at;
  if (G_UNLIKELY(lines->options->fields.nan_is_null) && take_not_finite(lines))
    return tide_lines_add(lines, start, name, TIDE_VALUE_NULL, TIDE_BYTES_EMPTY);
  switch (*lines->at) {
  case '"':
    return take_text(lines, name);
  case '-':
  case '.':
  case '0' ... '9':
    return take_number(lines, name);
  default:
    return take_boolean(lines, name);
  }
}

/* ---- lines ---- */

static G_GNUC_NO_INLINE TideBytes
prefixed(TideLines *lines, TideBytes prefix, TideBytes name)
{
  guint8 *text = tide_scratch_take(lines->scratch, prefix.len + name.len);
  memcpy(text, prefix.data, prefix.len);
  tide_memory_copy(text + prefix.len, name.data, name.len);
  return tide_bytes(text, prefix.len + name.len);
}

/* Reads the name of a tag or field, and the "=" after it, and adds @prefix. */
static inline gboolean
take_name_of_value(TideLines *lines, TideBytes prefix, TideBytes *ret_name)
{
  guint8 *start = lines->at;
  *ret_name = take_name(lines, ENDS_NAME);
  if (G_UNLIKELY(ret_name->len == 0))
    return fault(lines, TIDE_REJECT_PARSE, start, TIDE_BYTES_EMPTY, "the name of a tag or field was expected");
  if (G_UNLIKELY(*lines->at != '='))
    return fault(lines, TIDE_REJECT_PARSE, lines->at, *ret_name, "a name without a value");
  if (G_UNLIKELY(prefix.len > 0))
    *ret_name = prefixed(lines, prefix, *ret_name);
  if (G_UNLIKELY(tide_bytes_equal(*ret_name, TIDE_BYTES_LITERAL(TIDE_INFLUX_TIME))))
    return fault(
        lines, TIDE_REJECT_DUPLICATE_FIELD, start, *ret_name,
        "a tag or field may not have the name of the line's own time, unless 'readings.influx' gives it a prefix");
  lines->at++;
  return TRUE;
}

static int
compare_tags(const void *a, const void *b)
{
  return tide_bytes_compare(((const Tag *)a)->name, ((const Tag *)b)->name);
}

static guint8 *
write_escaped(guint8 *out, TideBytes text)
{
  for (gsize i = 0; i < text.len; i++) {
    if ((classes[text.data[i]] & (ENDS_NAME | IS_BACKSLASH)) != 0)
      *out++ = '\\';
    *out++ = text.data[i];
  }
  return out;
}

/* Builds one text of all tags, the same for the same tags in any order; null if there are none, so that a key can have
 * a default. */
static gboolean
add_tags(TideLines *lines, const guint8 *place)
{
  const Tags *tags = lines->parser;
  gsize size = 0;
  if (tags->n > 1)
    qsort(tags->all, tags->n, sizeof *tags->all, compare_tags);
  for (gsize i = 0; i < tags->n; i++)
    size += 2 * (tags->all[i].name.len + tags->all[i].value.len) + 2;
  guint8 *start = tide_scratch_take(lines->scratch, size + 1), *out = start;
  for (gsize i = 0; i < tags->n; i++) {
    if (i > 0)
      *out++ = ',';
    out = write_escaped(out, tags->all[i].name);
    *out++ = '=';
    out = write_escaped(out, tags->all[i].value);
  }
  return tide_lines_add(lines, place, TIDE_BYTES_LITERAL(TIDE_FIELD_TAGS),
                        tags->n > 0 ? TIDE_VALUE_STRING : TIDE_VALUE_NULL, tide_bytes(start, (gsize)(out - start)));
}

static gboolean
take_tag(TideLines *lines)
{
  Tags *tags = lines->parser;
  TideBytes name, value;
  if (!take_name_of_value(lines, tags->prefix, &name))
    return FALSE;
  guint8 *start = lines->at;
  value = take_name(lines, ENDS_NAME);
  if (G_UNLIKELY(value.len == 0))
    return fault(lines, TIDE_REJECT_PARSE, start, name, "a tag without a value");
  if (G_UNLIKELY(*lines->at == '='))
    return fault(lines, TIDE_REJECT_PARSE, lines->at, name, "an = in a tag's value is not escaped with \\");
  if (tags->are_wanted && tags->n == tags->capacity) {
    tags->capacity = tags->capacity > 0 ? tags->capacity * 2 : 16;
    Tag *more = tide_scratch_take(lines->scratch, tags->capacity * sizeof *more);
    if (tags->n > 0)
      memcpy(more, tags->all, tags->n * sizeof *more);
    tags->all = more;
  }
  if (tags->are_wanted)
    tags->all[tags->n++] = (Tag){tide_bytes_from(name, tags->prefix.len), value};
  return tide_lines_add(lines, start, name, TIDE_VALUE_STRING, value);
}

static gboolean
take_tags(TideLines *lines)
{
  Tags *tags = lines->parser;
  const guint8 *start = lines->at;
  tags->n = 0;
  while (*lines->at == ',') {
    lines->at++;
    if (!take_tag(lines))
      return FALSE;
  }
  if (G_UNLIKELY(*lines->at != ' '))
    return fault(lines, TIDE_REJECT_PARSE, lines->at, TIDE_BYTES_EMPTY, "a line without fields");
  tide_reading_builder_end_names(lines->builder);
  return !tags->are_wanted || add_tags(lines, start);
}

static inline void
skip_spaces(TideLines *lines)
{
  while (*lines->at == ' ')
    lines->at++;
}

/* Reads the line's own time, if it has one: an integer, whose unit is configured. */
static gboolean
take_time(TideLines *lines)
{
  guint8 *start = lines->at;
  const guint8 *digits = *start == '-' ? start + 1 : start;
  const guint8 *end = skip_digits(digits);
  if (digits == start && end == start)
    return TRUE;
  if (G_UNLIKELY(end == digits || !ends_value(end) || *end == ','))
    return fault(lines, TIDE_REJECT_PARSE, start, TIDE_BYTES_LITERAL(TIDE_INFLUX_TIME),
                 "a time is an integer at the end of the line");
  if (G_UNLIKELY(!fits_its_type(start, end)))
    return fault(lines, TIDE_REJECT_NUMBER, start, TIDE_BYTES_LITERAL(TIDE_INFLUX_TIME), beyond_64_bits);
  lines->at += end - start;
  TideBytes text = tide_bytes(start, (gsize)(end - start));
  if (G_UNLIKELY(*digits == '0' && text.len > 1))
    text = plain_number(lines, text);
  return tide_lines_add(lines, start, TIDE_BYTES_LITERAL(TIDE_INFLUX_TIME), TIDE_VALUE_NUMBER, text);
}

static gboolean
take_point(TideLines *lines)
{
  guint8 *start = lines->at;
  TideBytes prefix = ((const Tags *)lines->parser)->field_prefix;
  TideBytes measurement = take_name(lines, ENDS_MEASUREMENT);
  if (G_UNLIKELY(measurement.len == 0))
    return fault(lines, TIDE_REJECT_PARSE, start, TIDE_BYTES_EMPTY, "the name of a measurement was expected");
  if (!tide_lines_add(lines, start, TIDE_BYTES_LITERAL(TIDE_INFLUX_MEASUREMENT), TIDE_VALUE_STRING, measurement) ||
      !take_tags(lines))
    return FALSE;
  skip_spaces(lines);
  for (;; lines->at++) {
    TideBytes name;
    if (!take_name_of_value(lines, prefix, &name) || !take_value(lines, name))
      return FALSE;
    if (*lines->at != ',')
      break;
  }
  skip_spaces(lines);
  if (!take_time(lines))
    return FALSE;
  skip_spaces(lines);
  return tide_lines_is_line_end(lines->at) ||
         fault(lines, TIDE_REJECT_PARSE, lines->at, TIDE_BYTES_EMPTY, "text after the fields that is not a time");
}

/* Skips spaces, empty lines, and comments. */
static void
skip_to_line(TideLines *lines)
{
  while (lines->at < lines->end) {
    if (*lines->at == '#')
      lines->at = memchr(lines->at, '\n', (gsize)(lines->end - lines->at) + 1);
    else if (*lines->at != ' ' && !tide_lines_is_line_end(lines->at))
      return;
    else
      lines->at++;
  }
}

static const TideLineCalls calls = {.skip = skip_to_line, .take = take_point, .find_end = find_line_end};

static gboolean
read_message(TideShaper *shaper, gpointer kept, TideBytes message, TideReject *ret_reject)
{
  const TideInfluxOptions *options = &shaper->options->influx;
  Tags tags = {.prefix = tide_bytes_of_string(options->tag_prefix),
               .field_prefix = tide_bytes_of_string(options->field_prefix),
               .are_wanted = tide_reading_builder_wants_tags(shaper->builder)};
  TideLines lines;
  tide_lines_init(&lines, &calls, shaper, &tags, message, ret_reject);
  skip_to_line(&lines);
  if (lines.at >= lines.end)
    return tide_reject_set(ret_reject, TIDE_REJECT_EMPTY, 0, "only empty lines and comments");
  return tide_lines_run(&lines);
}

const TideFormatReader tide_influx_reader = {.read = read_message};
