#include "decode/influx_lines.h"

#include "decode/json_text.h"
#include "decode/line_text.h"

static const char beyond_64_bits[] = "an integer of more than 64 bits";

/* What ends a name, and so what a backslash takes its meaning from. */
typedef enum ByteClass {
  ENDS_MEASUREMENT = 1 << 0,
  ENDS_NAME = 1 << 1, /* of a tag or field, and a tag's value */
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

typedef struct Walk {
  const TideDecodeOptions *options;
  TideReadingBuilder *builder;
  TideReject *reject; /* the caller's */
  TideScratch *scratch;
  TideLineText text;
  guint8 *at; /* in text */
  gboolean wants_tags;
  Tag *tags; /* in scratch: the line's; with wants_tags */
  gsize n_tags;
  gsize tags_capacity;
} Walk;

/* ---- faults ---- */

static gboolean
fault(Walk *walk, TideRejectReason reason, const guint8 *place, const char *detail)
{
  return tide_reject_set(walk->reject, reason, place - walk->text.begin,
                         place == walk->text.end ? "the text ends in the middle of a line" : detail);
}

static gboolean
fault_in_field(Walk *walk, TideBytes field, TideRejectReason reason, const guint8 *place, const char *detail)
{
  walk->reject->field = field;
  return fault(walk, reason, place, detail);
}

static gsize
skip_quoted(TideBytes message, gsize at)
{
  while (at < message.len && message.data[at] != '"')
    at += message.data[at] == '\\' ? 2 : 1;
  return at + 1;
}

/* Where the line from @start on ends, whatever is wrong with it: at the first line break that stands in no text in
 * quotes. Beyond the message, where such a text does not end: then nobody knows. */
static gsize
find_line_end(TideBytes message, gsize start)
{
  gboolean in_fields = FALSE; /* a quote says something behind the first space alone, at the begin of a value */
  gsize at = start;
  while (at < message.len && message.data[at] != '\n') {
    guint8 byte = message.data[at];
    if (byte == '\\' && at + 1 < message.len && (classes[message.data[at + 1]] & ENDS_NAME) != 0)
      at++;
    in_fields = in_fields || byte == ' ';
    at++;
    if (in_fields && byte == '=' && at < message.len && message.data[at] == '"')
      at = skip_quoted(message, at + 1);
  }
  return at;
}

/* After a fault in the line that begins at @line: leaves it out and goes on behind it. FALSE: the message is rejected.
 */
static gboolean
spoil_line(Walk *walk, const guint8 *line)
{
  if (walk->options->on_bad_reading != TIDE_BAD_READING_ALONE)
    return FALSE;
  gsize end = find_line_end(walk->text.message, (gsize)(line - walk->text.begin));
  if (end > walk->text.message.len)
    return FALSE;
  tide_reading_builder_spoil(walk->builder, walk->reject);
  walk->at = walk->text.begin + end;
  return TRUE;
}

/* ---- names and texts ---- */

/* Goes on with a name at its first backslash. One before what would end the name keeps it from ending, and goes; any
 * other stays. */
static TideBytes
unescape_name(Walk *walk, guint8 *start, guint ends)
{
  guint8 *out = walk->at;
  while ((classes[*walk->at] & (ends | ENDS_LINE)) == 0) {
    if (*walk->at == '\\' && (classes[walk->at[1]] & ends) != 0)
      walk->at++;
    *out++ = *walk->at++;
  }
  return tide_bytes(start, (gsize)(out - start));
}

/* A name, or a tag's value, up to what ends it; a line's end ends all. */
static inline TideBytes
take_name(Walk *walk, guint ends)
{
  guint8 *start = walk->at;
  while ((classes[*walk->at] & (ends | IS_BACKSLASH | ENDS_LINE)) == 0)
    walk->at++;
  if (G_UNLIKELY(*walk->at == '\\'))
    return unescape_name(walk, start, ends);
  return tide_bytes(start, (gsize)(walk->at - start));
}

/* The text whose opening quote is next. A line break in it is one of its bytes. */
static gboolean
take_quoted(Walk *walk, TideBytes name, TideBytes *ret_text)
{
  guint8 *opened = walk->at++;
  guint8 *start = walk->at, *out = walk->at;
  while (walk->at < walk->text.end && *walk->at != '"') {
    gboolean is_escape = *walk->at == '\\' && (walk->at[1] == '"' || walk->at[1] == '\\');
    walk->at += is_escape ? 1 : 0;
    *out++ = *walk->at++;
  }
  if (walk->at >= walk->text.end)
    return fault_in_field(walk, name, TIDE_REJECT_PARSE, opened, "a text in quotes that does not end");
  walk->at++;
  *ret_text = tide_bytes(start, (gsize)(out - start));
  return TRUE;
}

static inline gboolean
add(Walk *walk, const guint8 *place, TideBytes name, TideValueKind kind, TideBytes text)
{
  if (G_LIKELY(tide_reading_builder_add(walk->builder, name, kind, text, walk->reject)))
    return TRUE;
  walk->reject->byte_position = place - walk->text.begin;
  return FALSE;
}

/* ---- values ---- */

static inline const guint8 *
skip_digits(const guint8 *at)
{
  while (g_ascii_isdigit(*at))
    at++;
  return at;
}

/* A number as it was written. Forms that JSON does not have get their missing digit, or lose their leading zeros, so
 * that whoever reads one later reads it alike: .5 is 0.5, 1.e3 is 1e3, 007 is 7. */
static TideBytes
plain_number(Walk *walk, TideBytes number)
{
  const guint8 *at = number.data, *end = number.data + number.len;
  guint8 *start = tide_scratch_take(walk->scratch, number.len + 1), *out = start;
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

/* The end of the number at walk->at: an optional sign, digits with at most one point, an exponent; NULL: none. */
static const guint8 *
find_number_end(const Walk *walk, gboolean *ret_is_plain, gboolean *ret_is_integer)
{
  const guint8 *start = *walk->at == '-' ? walk->at + 1 : walk->at;
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

/* What follows a value: the next one, the time, or the line's end. */
static inline gboolean
ends_value(const guint8 *at)
{
  return *at == ',' || *at == ' ' || *at == '\n' || (*at == '\r' && at[1] == '\n');
}

/* Whether the digits up to @end are a number of at most @greatest. */
static gboolean
is_at_most(const guint8 *digits, const guint8 *end, guint64 greatest)
{
  guint64 value = 0;
  for (; digits < end; digits++) {
    guint64 digit = *digits - (guint64)'0';
    if (value > (greatest - digit) / 10)
      return FALSE;
    value = value * 10 + digit;
  }
  return TRUE;
}

/* The integer from @start to @end, of the type that the letter behind it says: i has 64 bits with its sign, as the time
 * has, and u without. */
static gboolean
fits_its_type(const guint8 *start, const guint8 *end)
{
  guint64 greatest = *end == 'u' ? G_MAXUINT64 : *start == '-' ? (guint64)1 << 63 : G_MAXINT64;
  return is_at_most(*start == '-' ? start + 1 : start, end, greatest);
}

static gboolean
take_number(Walk *walk, TideBytes name)
{
  guint8 *start = walk->at;
  gboolean is_plain, is_integer;
  const guint8 *end = find_number_end(walk, &is_plain, &is_integer);
  if (G_UNLIKELY(end == NULL))
    return fault_in_field(walk, name, TIDE_REJECT_PARSE, start, "not a number");
  gboolean is_typed = is_integer && (*end == 'i' || (*end == 'u' && *start != '-'));
  if (G_UNLIKELY(!ends_value(end + (is_typed ? 1 : 0))))
    return fault_in_field(walk, name, TIDE_REJECT_PARSE, start, "not a number");
  if (G_UNLIKELY(end - start > TIDE_LINE_NUMBER_MAX_BYTES))
    return fault_in_field(walk, name, TIDE_REJECT_NUMBER, start,
                          "a number longer than " G_STRINGIFY(TIDE_LINE_NUMBER_MAX_BYTES) " bytes");
  if (G_UNLIKELY(is_typed && !fits_its_type(start, end)))
    return fault_in_field(walk, name, TIDE_REJECT_NUMBER, start, beyond_64_bits);
  TideBytes text = tide_bytes(start, (gsize)(end - start));
  walk->at = start + text.len + (is_typed ? 1 : 0);
  return add(walk, start, name, TIDE_VALUE_NUMBER, G_LIKELY(is_plain) ? text : plain_number(walk, text));
}

static gboolean
take_boolean(Walk *walk, TideBytes name)
{
  static const TideBytes texts[] = {TIDE_BYTES_LITERAL("false"), TIDE_BYTES_LITERAL("true")};
  static const TideBytes numbers[] = {TIDE_BYTES_LITERAL("0"), TIDE_BYTES_LITERAL("1")};
  static const TideBytes words[] = {
      TIDE_BYTES_LITERAL("true"), TIDE_BYTES_LITERAL("false"), TIDE_BYTES_LITERAL("t"),    TIDE_BYTES_LITERAL("f"),
      TIDE_BYTES_LITERAL("T"),    TIDE_BYTES_LITERAL("F"),     TIDE_BYTES_LITERAL("True"), TIDE_BYTES_LITERAL("False"),
      TIDE_BYTES_LITERAL("TRUE"), TIDE_BYTES_LITERAL("FALSE"),
  };
  guint8 *start = walk->at;
  for (gsize i = 0; i < G_N_ELEMENTS(words); i++) {
    if (memcmp(start, words[i].data, words[i].len) != 0 || !ends_value(start + words[i].len))
      continue;
    gboolean value = i % 2 == 0;
    walk->at += words[i].len;
    return add(walk, start, name, TIDE_VALUE_BOOL,
               walk->options->booleans == TIDE_BOOLEAN_NUMBER ? numbers[value] : texts[value]);
  }
  return fault_in_field(walk, name, TIDE_REJECT_PARSE, start,
                        "not a value: a number, true or false, or a text in quotes was expected");
}

static gboolean
take_text(Walk *walk, TideBytes name)
{
  guint8 *start = walk->at;
  TideBytes text;
  if (!take_quoted(walk, name, &text))
    return FALSE;
  if (G_UNLIKELY(!ends_value(walk->at)))
    return fault_in_field(walk, name, TIDE_REJECT_PARSE, walk->at, "bytes behind the closing quote");
  return add(walk, start, name, TIDE_VALUE_STRING, text);
}

static inline gboolean
take_value(Walk *walk, TideBytes name)
{
  switch (*walk->at) {
  case '"':
    return take_text(walk, name);
  case '-':
  case '.':
  case '0' ... '9':
    return take_number(walk, name);
  default:
    return take_boolean(walk, name);
  }
}

/* ---- lines ---- */

/* A tag's or field's name, and the "=" behind it. */
static inline gboolean
take_name_of_value(Walk *walk, TideBytes *ret_name)
{
  guint8 *start = walk->at;
  *ret_name = take_name(walk, ENDS_NAME);
  if (G_UNLIKELY(ret_name->len == 0))
    return fault(walk, TIDE_REJECT_PARSE, start, "the name of a tag or field was expected");
  if (G_UNLIKELY(*walk->at != '='))
    return fault_in_field(walk, *ret_name, TIDE_REJECT_PARSE, walk->at, "a name without a value");
  if (G_UNLIKELY(tide_bytes_equal(*ret_name, TIDE_BYTES_LITERAL(TIDE_INFLUX_TIME))))
    return fault_in_field(walk, *ret_name, TIDE_REJECT_DUPLICATE_FIELD, start,
                          "a tag or field may not have the name of the line's own time");
  walk->at++;
  return TRUE;
}

static void
keep_tag(Walk *walk, TideBytes name, TideBytes value)
{
  if (walk->n_tags == walk->tags_capacity) {
    walk->tags_capacity = walk->tags_capacity > 0 ? walk->tags_capacity * 2 : 16;
    Tag *more = tide_scratch_take(walk->scratch, walk->tags_capacity * sizeof *more);
    if (walk->n_tags > 0)
      memcpy(more, walk->tags, walk->n_tags * sizeof *more);
    walk->tags = more;
  }
  walk->tags[walk->n_tags++] = (Tag){name, value};
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

/* All tags in one text, another one for each set of tags, whatever order they came in. */
static gboolean
add_tags(Walk *walk, const guint8 *place)
{
  gsize size = 0;
  if (walk->n_tags > 1)
    qsort(walk->tags, walk->n_tags, sizeof *walk->tags, compare_tags);
  for (gsize i = 0; i < walk->n_tags; i++)
    size += 2 * (walk->tags[i].name.len + walk->tags[i].value.len) + 2;
  guint8 *start = tide_scratch_take(walk->scratch, size + 1), *out = start;
  for (gsize i = 0; i < walk->n_tags; i++) {
    if (i > 0)
      *out++ = ',';
    out = write_escaped(out, walk->tags[i].name);
    *out++ = '=';
    out = write_escaped(out, walk->tags[i].value);
  }
  return add(walk, place, TIDE_BYTES_LITERAL(TIDE_FIELD_TAGS), TIDE_VALUE_STRING,
             tide_bytes(start, (gsize)(out - start)));
}

static gboolean
take_tag(Walk *walk)
{
  TideBytes name, value;
  if (!take_name_of_value(walk, &name))
    return FALSE;
  guint8 *start = walk->at;
  value = take_name(walk, ENDS_NAME);
  if (G_UNLIKELY(value.len == 0))
    return fault_in_field(walk, name, TIDE_REJECT_PARSE, start, "a tag without a value");
  if (G_UNLIKELY(*walk->at == '='))
    return fault_in_field(walk, name, TIDE_REJECT_PARSE, walk->at, "an = in a tag's value has no \\ before it");
  if (walk->wants_tags)
    keep_tag(walk, name, value);
  return add(walk, start, name, TIDE_VALUE_STRING, value);
}

static gboolean
take_tags(Walk *walk)
{
  const guint8 *start = walk->at;
  walk->n_tags = 0;
  while (*walk->at == ',') {
    walk->at++;
    if (!take_tag(walk))
      return FALSE;
  }
  if (G_UNLIKELY(*walk->at != ' '))
    return fault(walk, TIDE_REJECT_PARSE, walk->at, "a line without fields");
  tide_reading_builder_end_names(walk->builder);
  return !walk->wants_tags || add_tags(walk, start);
}

static inline void
skip_spaces(Walk *walk)
{
  while (*walk->at == ' ')
    walk->at++;
}

static gboolean
take_fields(Walk *walk)
{
  for (;;) {
    TideBytes name;
    if (!take_name_of_value(walk, &name) || !take_value(walk, name))
      return FALSE;
    if (*walk->at != ',')
      return TRUE;
    walk->at++;
  }
}

/* The line's own time, if it has one: an integer, whose unit is the configuration's to say. */
static gboolean
take_time(Walk *walk)
{
  guint8 *start = walk->at;
  const guint8 *digits = *start == '-' ? start + 1 : start;
  const guint8 *end = skip_digits(digits);
  if (digits == start && end == start)
    return TRUE;
  if (G_UNLIKELY(end == digits || !ends_value(end) || *end == ','))
    return fault_in_field(walk, TIDE_BYTES_LITERAL(TIDE_INFLUX_TIME), TIDE_REJECT_PARSE, start,
                          "a time is an integer at the end of the line");
  if (G_UNLIKELY(!fits_its_type(start, end)))
    return fault_in_field(walk, TIDE_BYTES_LITERAL(TIDE_INFLUX_TIME), TIDE_REJECT_NUMBER, start, beyond_64_bits);
  walk->at += end - start;
  TideBytes text = tide_bytes(start, (gsize)(end - start));
  if (G_UNLIKELY(*digits == '0' && text.len > 1))
    text = plain_number(walk, text);
  return add(walk, start, TIDE_BYTES_LITERAL(TIDE_INFLUX_TIME), TIDE_VALUE_NUMBER, text);
}

static gboolean
take_line_end(Walk *walk)
{
  skip_spaces(walk);
  if (*walk->at == '\r' && walk->at[1] == '\n')
    walk->at++;
  return *walk->at == '\n' || fault(walk, TIDE_REJECT_PARSE, walk->at, "text behind the fields that is no time");
}

static gboolean
take_point(Walk *walk)
{
  guint8 *start = walk->at;
  TideBytes measurement = take_name(walk, ENDS_MEASUREMENT);
  if (G_UNLIKELY(measurement.len == 0))
    return fault(walk, TIDE_REJECT_PARSE, start, "the name of a measurement was expected");
  if (!add(walk, start, TIDE_BYTES_LITERAL(TIDE_INFLUX_MEASUREMENT), TIDE_VALUE_STRING, measurement) ||
      !take_tags(walk))
    return FALSE;
  skip_spaces(walk);
  if (!take_fields(walk))
    return FALSE;
  skip_spaces(walk);
  return take_time(walk) && take_line_end(walk);
}

/* Where not all of the message is UTF-8: whether the line that begins at @line is. */
static gboolean
check_utf8(Walk *walk, const guint8 *line)
{
  gsize start = (gsize)(line - walk->text.begin);
  gsize end = MIN(find_line_end(walk->text.message, start), walk->text.message.len);
  gssize place = tide_json_utf8_fault(tide_bytes(walk->text.message.data + start, end - start));
  return place < 0 || fault(walk, TIDE_REJECT_UTF8, line + place, NULL);
}

static gboolean
take_reading(Walk *walk)
{
  const guint8 *line = walk->at;
  if (!tide_reading_builder_begin_reading(walk->builder, walk->reject)) {
    walk->reject->byte_position = line - walk->text.begin;
    return FALSE;
  }
  gboolean good = (walk->text.is_utf8 || check_utf8(walk, line)) && take_point(walk);
  if (good && tide_reading_builder_end_reading(walk->builder, walk->reject))
    return TRUE;
  if (good)
    walk->reject->byte_position = line - walk->text.begin;
  return spoil_line(walk, line) && tide_reading_builder_end_reading(walk->builder, walk->reject);
}

/* Spaces, empty lines, and comments. */
static void
skip_to_line(Walk *walk)
{
  while (walk->at < walk->text.end) {
    if (*walk->at == '#')
      walk->at = memchr(walk->at, '\n', (gsize)(walk->text.end - walk->at) + 1);
    else if (*walk->at != ' ' && *walk->at != '\n' && !(*walk->at == '\r' && walk->at[1] == '\n'))
      return;
    else
      walk->at++;
  }
}

static gboolean
run(Walk *walk)
{
  skip_to_line(walk);
  if (walk->at >= walk->text.end)
    return fault(walk, TIDE_REJECT_EMPTY, walk->text.begin, "no line but empty ones and comments");
  while (walk->at < walk->text.end) {
    if (!take_reading(walk))
      return FALSE;
    skip_to_line(walk);
  }
  return TRUE;
}

gboolean
tide_influx_lines_run(const TideDecodeOptions *options, TideBytes message, TideScratch *scratch,
                      TideReadingBuilder *builder, TideReject *ret_reject)
{
  TideLineText text = tide_line_text_copy(message, scratch);
  Walk walk = {.options = options,
               .builder = builder,
               .reject = ret_reject,
               .scratch = scratch,
               .text = text,
               .at = text.first,
               .wants_tags = tide_reading_builder_wants_tags(builder)};
  return run(&walk);
}
