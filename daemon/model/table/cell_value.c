#include "model/table/cell_value.h"

#include "model/table/unit_change.h"
#include "util/json_writer.h"
#include "util/number_text.h"

#include <float.h>
#include <math.h>
#include <msgpack.h>

/* No sensor sends longer numbers: a double has at most 17 significant digits, and 309 before the point. */
#define NUMBER_MAX_BYTES 400u

#define INT64_MAX_DIGITS 19u

/* A text with more digits may not be what its double prints. */
#define DOUBLE_MAX_DIGITS 15u

/* %g writes smaller numbers with an exponent: 0.0001, but 1e-05. */
#define DOUBLE_MAX_LEADING_ZEROS 3u

/* ---- one field ---- */

static gboolean
read_digits(TideBytes text, gint64 *ret_value)
{
  gboolean is_negative = text.len > 0 && text.data[0] == '-';
  gint64 value = 0; /* negative while it grows, because there is one more negative number */
  gsize first = is_negative ? 1 : 0;
  if (text.len == first)
    return FALSE;
  for (gsize i = first; i < text.len; i++) {
    if (!g_ascii_isdigit(text.data[i]) || __builtin_mul_overflow(value, 10, &value) ||
        __builtin_sub_overflow(value, text.data[i] - '0', &value))
      return FALSE;
  }
  if (!is_negative && value == G_MININT64)
    return FALSE;
  *ret_value = is_negative ? value : -value;
  return TRUE;
}

static gboolean
read_int64(TideBytes text, gint64 *ret_value)
{
  TideDecimal decimal;
  char digits[INT64_MAX_DIGITS + 1];
  if (read_digits(text, ret_value))
    return TRUE;
  gboolean is_number = text.len > 0 && (text.data[0] == '-' || g_ascii_isdigit(text.data[0]));
  if (!is_number || !tide_decimal_read(text, &decimal))
    return FALSE;
  gint n_digits = decimal.n_digits > 0 ? (gint)decimal.n_digits + decimal.exponent : 1;
  if ((decimal.n_digits > 0 && decimal.exponent < 0) || n_digits > (gint)INT64_MAX_DIGITS)
    return FALSE;
  digits[0] = decimal.is_negative ? '-' : '0';
  for (gint i = 0; i < n_digits; i++)
    digits[1 + i] = (char)('0' + (i < (gint)decimal.n_digits ? decimal.digits[i] : 0));
  return read_digits(tide_bytes(digits, 1 + (gsize)n_digits), ret_value);
}

/* Accepts only characters of decimal numbers, so that strtod() sees neither hexadecimal numbers nor names of
 * infinities. */
static gboolean
read_float64(TideBytes text, double *ret_value)
{
  char terminated[NUMBER_MAX_BYTES + 1];
  char *end;
  gsize first = text.len > 0 && text.data[0] == '-' ? 1 : 0;
  if (text.len == first || text.len > NUMBER_MAX_BYTES || !g_ascii_isdigit(text.data[first]))
    return FALSE;
  for (gsize i = first; i < text.len; i++)
    if (!g_ascii_isdigit(text.data[i]) && memchr(".eE+-", text.data[i], 5) == NULL)
      return FALSE;
  memcpy(terminated, text.data, text.len);
  terminated[text.len] = '\0';
  *ret_value = g_ascii_strtod(terminated, &end);
  return *end == '\0' && isfinite(*ret_value);
}

/* Copies the significant digits of the number @text, without zeros at either end, into @digits, which has room for all
 * of @text. */
static gsize
digits_that_count(const char *text, gsize len, char *digits)
{
  gsize n = 0;
  for (gsize i = 0; i < len && (text[i] | 0x20) != 'e'; i++)
    if (g_ascii_isdigit(text[i]) && (n > 0 || text[i] != '0'))
      digits[n++] = text[i];
  while (n > 0 && digits[n - 1] == '0')
    n--;
  return n;
}

/* Whether @number, the double nearest to @text, preserves it: no other number with as many digits is nearer to that
 * double. Next to a power of two, such a number may name another double; then only @text names this one. */
static gboolean
holds_text(double number, TideBytes text)
{
  char digits[NUMBER_MAX_BYTES], printed[NUMBER_MAX_BYTES + 16], same[sizeof printed], format[16];
  gsize n = digits_that_count((const char *)text.data, text.len, digits);
  if (n == 0 || (n <= DBL_DIG && fabs(number) >= DBL_MIN)) /* no two numbers with so few digits share their bits */
    return TRUE;
  g_snprintf(format, sizeof format, "%%.%de", (gint)n - 1);
  g_ascii_formatd(printed, sizeof printed, format, number);
  return (digits_that_count(printed, strlen(printed), same) == n && memcmp(same, digits, n) == 0) ||
         g_ascii_strtod(printed, NULL) != number;
}

gboolean
tide_cell_value_append(TideEncoding encoding, const TideField *field, TideBuffer *out, const char **ret_detail)
{
  guint64 bits = 0;
  gint64 integer;
  double number;
  switch (encoding) {
  case TIDE_ENCODE_TEXT:
    tide_buffer_append_bytes(out, field->text);
    return TRUE;
  case TIDE_ENCODE_JSON:
    if (field->kind == TIDE_VALUE_STRING)
      tide_json_string_append(out, field->text);
    else
      tide_buffer_append_bytes(out, field->text);
    return TRUE;
  case TIDE_ENCODE_INT64:
    *ret_detail = "not a 64-bit integer";
    if (!read_int64(field->text, &integer))
      return FALSE;
    bits = (guint64)integer;
    break;
  case TIDE_ENCODE_FLOAT64:
  case TIDE_ENCODE_FLOAT64_ROUNDED:
    *ret_detail = "not a finite number";
    if (!read_float64(field->text, &number))
      return FALSE;
    *ret_detail =
        "more digits than a float64 holds, or too close to zero; 'encode: float64_rounded' stores the nearest";
    if (encoding == TIDE_ENCODE_FLOAT64 && !holds_text(number, field->text))
      return FALSE;
    memcpy(&bits, &number, sizeof bits);
    break;
  }
  bits = GUINT64_TO_BE(bits);
  tide_buffer_append(out, &bits, sizeof bits);
  return TRUE;
}

/* ---- packed as MessagePack ---- */

static int
write_to_buffer(void *data, const char *bytes, size_t len)
{
  tide_buffer_append(data, bytes, len);
  return 0;
}

static msgpack_packer
msgpack_of(const TidePacker *packer)
{
  msgpack_packer msgpack;
  msgpack_packer_init(&msgpack, packer->out, write_to_buffer);
  return msgpack;
}

static void
pack_string(msgpack_packer *msgpack, TideBytes text)
{
  if (text.len == 0 || g_utf8_validate_len((const char *)text.data, text.len, NULL))
    msgpack_pack_str_with_body(msgpack, text.data, text.len);
  else
    msgpack_pack_bin_with_body(msgpack, text.data, text.len);
}

static gsize
count_digits(TideBytes text, gsize at)
{
  gsize n = 0;
  while (at + n < text.len && g_ascii_isdigit(text.data[at + n]))
    n++;
  return n;
}

/* A decimal number as programs print it: digits without leading zeros, then optionally a point and digits. */
typedef struct Decimal {
  gboolean is_negative;
  gsize first; /* index of the first digit */
  gsize n_whole;
  gsize n_fraction; /* 0: no point */
} Decimal;

static gboolean
take_apart(TideBytes text, Decimal *ret_decimal)
{
  gboolean is_negative = text.len > 0 && text.data[0] == '-';
  gsize first = is_negative ? 1 : 0;
  gsize n_whole = count_digits(text, first), end = first + n_whole, n_fraction = 0;
  if (n_whole == 0 || (n_whole > 1 && text.data[first] == '0'))
    return FALSE;
  if (end < text.len && text.data[end] == '.') {
    n_fraction = count_digits(text, end + 1);
    end += 1 + n_fraction;
    if (n_fraction == 0)
      return FALSE;
  }
  *ret_decimal = (Decimal){is_negative, first, n_whole, n_fraction};
  return end == text.len;
}

/* FALSE: not a 64-bit integer, or printed differently, as -0 is. */
static gboolean
pack_integer(msgpack_packer *msgpack, TideBytes text, const Decimal *decimal)
{
  guint64 magnitude = 0;
  for (gsize i = decimal->first; i < text.len; i++)
    if (__builtin_mul_overflow(magnitude, 10u, &magnitude) ||
        __builtin_add_overflow(magnitude, (guint64)(text.data[i] - '0'), &magnitude))
      return FALSE;
  if (!decimal->is_negative) {
    msgpack_pack_uint64(msgpack, magnitude);
    return TRUE;
  }
  if (magnitude == 0 || magnitude > (guint64)G_MAXINT64 + 1)
    return FALSE;
  msgpack_pack_int64(msgpack, (gint64)(0 - magnitude));
  return TRUE;
}

/* FALSE: its double would be printed differently. @decimal: NULL: @text has an exponent, or is not written as programs
 * print numbers */
static gboolean
pack_double(msgpack_packer *msgpack, TideBytes text, const Decimal *decimal)
{
  char copy[TIDE_NUMBER_TEXT_BYTES], printed[TIDE_NUMBER_TEXT_BYTES];
  if (text.len >= sizeof copy)
    return FALSE;
  if (decimal != NULL && decimal->n_fraction > 0 && text.data[text.len - 1] == '0')
    return FALSE; /* printing omits such zeros */
  memcpy(copy, text.data, text.len);
  copy[text.len] = '\0';
  double value = g_ascii_strtod(copy, NULL);
  /* A text with so few digits is certainly what its double prints. This avoids printing it, which takes ten times as
   * long. */
  gboolean is_surely_printed_so = FALSE;
  if (decimal != NULL && decimal->n_fraction > 0) {
    gsize leading_zeros = 0;
    if (text.data[decimal->first] == '0')
      for (gsize i = text.len - decimal->n_fraction; text.data[i] == '0'; i++)
        leading_zeros++;
    is_surely_printed_so =
        leading_zeros <= DOUBLE_MAX_LEADING_ZEROS && decimal->n_whole + decimal->n_fraction <= DOUBLE_MAX_DIGITS;
  }
  gboolean is_printed_so = is_surely_printed_so || g_str_equal(tide_double_print(value, printed), copy);
  if (is_printed_so)
    msgpack_pack_double(msgpack, value);
  return is_printed_so;
}

static void
pack_number(msgpack_packer *msgpack, TideBytes text)
{
  Decimal decimal;
  gboolean is_plain = take_apart(text, &decimal);
  if (is_plain && decimal.n_fraction == 0 && pack_integer(msgpack, text, &decimal))
    return;
  if (!pack_double(msgpack, text, is_plain ? &decimal : NULL))
    pack_string(msgpack, text);
}

static void
pack_member(const TidePacker *packer, TideBytes name, TideValueKind kind, TideBytes text)
{
  msgpack_packer msgpack = msgpack_of(packer);
  pack_string(&msgpack, name);
  switch (kind) {
  case TIDE_VALUE_STRING:
  case TIDE_VALUE_JSON:
    pack_string(&msgpack, text);
    break;
  case TIDE_VALUE_NUMBER:
    pack_number(&msgpack, text);
    break;
  case TIDE_VALUE_BOOL:
    if (tide_bytes_equal(text, TIDE_BYTES_LITERAL("true")))
      msgpack_pack_true(&msgpack);
    else if (tide_bytes_equal(text, TIDE_BYTES_LITERAL("false")))
      msgpack_pack_false(&msgpack);
    else /* readings.booleans: 1 and 0 */
      pack_number(&msgpack, text);
    break;
  case TIDE_VALUE_NULL:
    msgpack_pack_nil(&msgpack);
    break;
  }
}

/* ---- packed as JSON ---- */

static void
write_member(const TidePacker *packer, TideBytes name, TideValueKind kind, TideBytes text)
{
  TideBuffer *out = packer->out;
  if (packer->n_members > 0)
    tide_buffer_append_byte(out, ',');
  tide_json_string_append(out, name);
  tide_buffer_append_byte(out, ':');
  switch (kind) {
  case TIDE_VALUE_STRING:
    tide_json_string_append(out, text);
    break;
  case TIDE_VALUE_NUMBER:
  case TIDE_VALUE_BOOL:
  case TIDE_VALUE_JSON:
    tide_buffer_append_bytes(out, text);
    break;
  case TIDE_VALUE_NULL:
    tide_buffer_append(out, "null", 4);
    break;
  }
}

/* ---- packed as either ---- */

void
tide_packer_begin(TidePacker *packer, TidePacking packing, TideBuffer *out)
{
  *packer = (TidePacker){.packing = packing, .out = out, .start = out->len};
  if (packing == TIDE_PACK_MSGPACK) {
    /* The header of a map with a 32-bit size, which end() fills in because it is not yet known. */
    msgpack_packer msgpack = msgpack_of(packer);
    msgpack_pack_map(&msgpack, G_MAXUINT32);
  } else {
    tide_buffer_append_byte(out, '{');
  }
}

void
tide_packer_add(TidePacker *packer, TideBytes name, TideValueKind kind, TideBytes text)
{
  if (packer->packing == TIDE_PACK_MSGPACK)
    pack_member(packer, name, kind, text);
  else
    write_member(packer, name, kind, text);
  packer->n_members++;
}

gboolean
tide_packer_end(TidePacker *packer)
{
  if (packer->n_members == 0) {
    packer->out->len = packer->start;
    return FALSE;
  }
  if (packer->packing == TIDE_PACK_MSGPACK) {
    guint32 size = GUINT32_TO_BE(packer->n_members);
    memcpy(packer->out->data + packer->start + 1, &size, sizeof size);
  } else {
    tide_buffer_append_byte(packer->out, '}');
  }
  return TRUE;
}
