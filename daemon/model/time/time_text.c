#include "model/time/time_text.h"

#include "util/calendar.h"

#define NS_PER_S G_GINT64_CONSTANT(1000000000)
#define NS_DECIMALS 9
#define COUNT_TEXT_MAX_BYTES 40 /* 19 digits of a gint64, and room for a fraction and an exponent */
#define SAFE_DIGITS 18          /* always fits into 64 bits */
#define EXCEL_STEP_NS G_GINT64_CONSTANT(1000000)

/* The unit of a count, factor / 10^decimals seconds, and its origin. */
typedef struct Count {
  gint64 factor;
  int decimals;
  gint64 origin_s;             /* since 1970 */
  const char *before, *behind; /* texts around the number */
} Count;

static const Count counts[TIDE_TIME_N_FORMATS] = {
    [TIDE_TIME_EPOCH_S] = {1, 0, 0, "", ""},
    [TIDE_TIME_EPOCH_MS] = {1, 3, 0, "", ""},
    [TIDE_TIME_EPOCH_US] = {1, 6, 0, "", ""},
    [TIDE_TIME_EPOCH_NS] = {1, 9, 0, "", ""},
    [TIDE_TIME_DOTNET] = {1, 3, 0, "/Date(", ")/"},
    [TIDE_TIME_TICKS] = {1, 7, G_GINT64_CONSTANT(-62135596800), "", ""},    /* 0001-01-01 */
    [TIDE_TIME_FILETIME] = {1, 7, G_GINT64_CONSTANT(-11644473600), "", ""}, /* 1601-01-01 */
    [TIDE_TIME_EXCEL] = {86400, 0, -25569 * TIDE_SECONDS_PER_DAY, "", ""},  /* 1899-12-30 */
};

const char *
tide_time_format_word(TideTimeFormat format)
{
#define WORD(name, word) word,
  static const char *const words[TIDE_TIME_N_FORMATS] = {TIDE_TIME_FORMATS(WORD)};
#undef WORD
  return words[format];
}

gboolean
tide_time_format_is_count(TideTimeFormat format)
{
  return counts[format].factor > 0;
}

gint64
tide_time_format_step_ns(TideTimeFormat format)
{
  gint64 step_ns = counts[format].factor * NS_PER_S;
  for (int i = 0; i < counts[format].decimals; i++)
    step_ns /= 10;
  return step_ns;
}

static gboolean
is_digit(guint8 byte)
{
  return byte >= '0' && byte <= '9';
}

/* Multiplies by ten and adds; FALSE on overflow. */
static gboolean
push_digit(gint64 *number, int digit)
{
  return !__builtin_mul_overflow(*number, 10, number) && !__builtin_add_overflow(*number, digit, number);
}

/* A decimal number: digits x 10^exponent. */
typedef struct Decimal {
  gboolean is_negative;
  gint64 digits;
  int exponent;
  gboolean is_too_big; /* more digits before the point than fit into 64 bits */
  gboolean was_cut;    /* more digits after the point, of which the last were dropped */
} Decimal;

/* Zeros count only if another digit follows, so that 1426535612.0450000000 is not too big. */
static gsize
read_fraction(TideBytes text, gsize at, Decimal *decimal)
{
  int zeros = 0;
  for (; at < text.len && is_digit(text.data[at]); at++) {
    zeros++;
    if (text.data[at] == '0')
      continue;
    gint64 digits = decimal->digits;
    for (int i = 1; i < zeros && !decimal->was_cut; i++)
      decimal->was_cut = !push_digit(&digits, 0);
    decimal->was_cut = decimal->was_cut || !push_digit(&digits, text.data[at] - '0');
    if (decimal->was_cut)
      continue;
    decimal->digits = digits;
    decimal->exponent -= zeros;
    zeros = 0;
  }
  return at;
}

static gboolean
read_exponent(TideBytes text, gsize at, Decimal *decimal)
{
  gboolean is_negative = at < text.len && text.data[at] == '-';
  if (at < text.len && (text.data[at] == '-' || text.data[at] == '+'))
    at++;
  gsize n_digits = text.len - at;
  if (n_digits < 1 || n_digits > 3)
    return FALSE;
  int exponent = 0;
  for (; at < text.len; at++) {
    if (!is_digit(text.data[at]))
      return FALSE;
    exponent = exponent * 10 + (text.data[at] - '0');
  }
  decimal->exponent += is_negative ? -exponent : exponent;
  return TRUE;
}

/* JSON's grammar for numbers, plus leading zeros, because a time in quotes may be padded. */
static gboolean
read_decimal(TideBytes text, Decimal *ret_decimal)
{
  *ret_decimal = (Decimal){0};
  if (text.len > COUNT_TEXT_MAX_BYTES)
    return FALSE;
  ret_decimal->is_negative = text.len > 0 && text.data[0] == '-';
  gsize first = ret_decimal->is_negative ? 1 : 0;
  gsize at = first;
  gint64 digits = 0;
  for (gsize end = MIN(text.len, first + SAFE_DIGITS); at < end && is_digit(text.data[at]); at++)
    digits = digits * 10 + (text.data[at] - '0');
  ret_decimal->digits = digits;
  for (; at < text.len && is_digit(text.data[at]); at++)
    ret_decimal->is_too_big |= !push_digit(&ret_decimal->digits, text.data[at] - '0');
  if (at == first)
    return FALSE;
  if (at < text.len && text.data[at] == '.') {
    gsize first_of_fraction = at + 1;
    at = read_fraction(text, first_of_fraction, ret_decimal);
    if (at == first_of_fraction)
      return FALSE;
  }
  if (at < text.len && (text.data[at] == 'e' || text.data[at] == 'E'))
    return read_exponent(text, at + 1, ret_decimal);
  return at == text.len;
}

/* FALSE: nanoseconds cannot count it. */
static gboolean
count_ns(const Decimal *decimal, const Count *count, gint64 *ret_ns, gboolean *ret_was_cut)
{
  static const gint64 powers[NS_DECIMALS + 1] = {1,      10,      100,      1000,      10000,
                                                 100000, 1000000, 10000000, 100000000, 1000000000};
  int exponent = decimal->exponent + NS_DECIMALS - count->decimals;
  *ret_was_cut = decimal->was_cut;
  if (G_LIKELY(exponent >= 0 && exponent <= NS_DECIMALS && count->origin_s == 0)) {
    if (__builtin_mul_overflow(decimal->digits, powers[exponent], ret_ns))
      return FALSE;
    *ret_ns = decimal->is_negative ? -*ret_ns : *ret_ns;
    return TRUE;
  }
  __int128 ns = (__int128)decimal->digits * count->factor;
  for (; exponent > 0 && ns != 0; exponent--)
    if (__builtin_mul_overflow(ns, 10, &ns))
      return FALSE;
  for (; exponent < 0 && ns != 0; exponent++) {
    *ret_was_cut |= ns % 10 != 0;
    ns /= 10;
  }
  ns = (decimal->is_negative ? -ns : ns) + (__int128)count->origin_s * NS_PER_S;
  *ret_ns = (gint64)ns;
  return ns >= G_MININT64 && ns <= G_MAXINT64;
}

/* Reads the number in "/Date(1795871383000+0200)/", which counts in UTC; the offset only describes the sender's clock.
 * FALSE: the text has another form. */
static gboolean
unwrap(const Count *count, TideBytes *text)
{
  if (count->before[0] == '\0')
    return TRUE;
  TideBytes before = tide_bytes_of_string(count->before), behind = tide_bytes_of_string(count->behind);
  if (text->len < before.len + behind.len || memcmp(text->data, before.data, before.len) != 0 ||
      memcmp(text->data + text->len - behind.len, behind.data, behind.len) != 0)
    return FALSE;
  *text = tide_bytes(text->data + before.len, text->len - before.len - behind.len);
  gsize sign = 1;
  while (sign < text->len && text->data[sign] != '+' && text->data[sign] != '-')
    sign++;
  if (sign >= text->len)
    return TRUE;
  TideTimeCursor cursor = {.text = *text, .at = sign};
  TideTimeElements offset = {0};
  text->len = sign;
  return tide_time_take_offset(&cursor, &offset) && cursor.at == cursor.text.len;
}

TideTimeFault
tide_time_text_read_count(TideBytes text, TideTimeFormat format, gint64 *ret_ns, gboolean *ret_was_cut,
                          const char **ret_detail)
{
  const Count *count = &counts[format];
  Decimal decimal;
  if (!unwrap(count, &text)) {
    *ret_detail = "not of the form /Date(1795871383000)/";
    return TIDE_TIME_FAULT_SYNTAX;
  }
  if (!read_decimal(text, &decimal)) {
    *ret_detail = "not a number";
    return TIDE_TIME_FAULT_SYNTAX;
  }
  if (decimal.is_too_big || !count_ns(&decimal, count, ret_ns, ret_was_cut) ||
      (format == TIDE_TIME_EXCEL && *ret_ns > G_MAXINT64 - EXCEL_STEP_NS)) {
    *ret_detail = TIDE_TIME_OUT_OF_RANGE ": is the unit right?";
    return TIDE_TIME_FAULT_RANGE;
  }
  if (format == TIDE_TIME_EXCEL) {
    /* Excel stores days as a double, whose last digits are noise, and shows milliseconds. */
    *ret_ns = (*ret_ns + EXCEL_STEP_NS / 2) / EXCEL_STEP_NS * EXCEL_STEP_NS;
    *ret_was_cut = FALSE;
  }
  return TIDE_TIME_FAULT_NONE;
}

gboolean
tide_time_text_read_rfc3339(TideBytes text, TideTimeElements *ret_time, const char **ret_detail)
{
  TideTimeCursor cursor = {.text = text};
  int *values = ret_time->values;
  *ret_time = (TideTimeElements){.named = TIDE_NAMES_DATE | TIDE_NAMES_CLOCK};
  gboolean is_read =
      tide_time_take_number(&cursor, 4, &values[TIDE_LEVEL_YEAR]) && tide_time_take_byte(&cursor, '-') &&
      tide_time_take_number(&cursor, 2, &values[TIDE_LEVEL_MONTH]) && tide_time_take_byte(&cursor, '-') &&
      tide_time_take_number(&cursor, 2, &values[TIDE_LEVEL_DAY]) &&
      (tide_time_take_byte(&cursor, 'T') || tide_time_take_byte(&cursor, 't') || tide_time_take_byte(&cursor, ' ')) &&
      tide_time_take_number(&cursor, 2, &values[TIDE_LEVEL_HOUR]) && tide_time_take_byte(&cursor, ':') &&
      tide_time_take_number(&cursor, 2, &values[TIDE_LEVEL_MINUTE]) && tide_time_take_byte(&cursor, ':') &&
      tide_time_take_number(&cursor, 2, &values[TIDE_LEVEL_SECOND]);
  if (is_read && (tide_time_take_byte(&cursor, '.') || tide_time_take_byte(&cursor, ',')))
    is_read = tide_time_take_fraction(&cursor, 0, ret_time);
  if (is_read && cursor.at < text.len) {
    ret_time->named |= TIDE_NAMES_OFFSET;
    is_read = tide_time_take_offset(&cursor, ret_time) && cursor.at == text.len;
  }
  if (!is_read) {
    *ret_detail = "not RFC 3339, such as 2026-11-21T04:45:00.123Z";
    return FALSE;
  }
  return tide_time_elements_check(ret_time, ret_detail);
}

void
tide_time_text_print_count(TideTimeFormat format, gint64 ns, gboolean is_whole, TideBuffer *out)
{
  const Count *count = &counts[format];
  __int128 since_ns = (__int128)ns - (__int128)count->origin_s * NS_PER_S;
  gint64 unit_ns = tide_time_format_step_ns(format);
  char text[COUNT_TEXT_MAX_BYTES * 2];
  gint64 units = (gint64)(since_ns / unit_ns);
  int len = g_snprintf(text, sizeof text, "%s%" G_GINT64_FORMAT, count->before, units);
  __int128 rest = since_ns % unit_ns;
  gboolean has_fraction = !is_whole && rest > 0 && (format == TIDE_TIME_EPOCH_S || format == TIDE_TIME_EXCEL);
  if (has_fraction)
    text[len++] = '.';
  for (int i = 0; has_fraction && rest > 0 && i < NS_DECIMALS + 1; i++) {
    rest *= 10;
    text[len++] = (char)('0' + (int)(rest / unit_ns));
    rest %= unit_ns;
  }
  tide_buffer_append(out, text, (gsize)len);
  tide_buffer_append(out, count->behind, strlen(count->behind));
}
