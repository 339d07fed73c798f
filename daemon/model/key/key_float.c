/* Floats in a key: bytes that sort like the numbers, for texts that these bytes reproduce. */
#include "model/key/key_part.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

/* Longer numbers are not measured values. The copy for strtod() has this size plus a NUL. */
#define FLOAT_TEXT_MAX_BYTES 127
#define FLOAT_MAX_DIGITS 17 /* suffices to identify any 64-bit float */
#define EXPONENT_MAX 100000 /* larger exponents give zero or infinity */

/* The bits to flip in a float with sign bit @is_negative so that bits sort like numbers. */
static guint64
flipped_bits(gboolean is_negative, guint32 n_bytes)
{
  guint64 all = n_bytes == 8 ? G_MAXUINT64 : G_MAXUINT32;
  return is_negative ? all : (guint64)1 << (8 * n_bytes - 1);
}

/* Rejects what strtod() also accepts: hexadecimal numbers, "inf", "nan" and spaces. @copy: FLOAT_TEXT_MAX_BYTES + 1
 * bytes */
static gboolean
read_float(TideBytes text, char *copy, gdouble *ret_number)
{
  char *end = NULL;
  if (text.len == 0 || text.len > FLOAT_TEXT_MAX_BYTES)
    return FALSE;
  for (gsize i = 0; i < text.len; i++)
    if (!g_ascii_isdigit(text.data[i]) && strchr("+-.eE", text.data[i]) == NULL)
      return FALSE;
  memcpy(copy, text.data, text.len);
  copy[text.len] = '\0';
  *ret_number = g_ascii_strtod(copy, &end) + 0.0; /* turns -0 into 0 */
  return end == copy + text.len;
}

static guint64
float_bits(const TideKeyPart *part, gdouble number)
{
  guint64 bits = 0;
  if (part->value.form == TIDE_KEY_FLOAT64) {
    memcpy(&bits, &number, sizeof number);
    return bits;
  }
  gfloat single = (gfloat)number + 0.0F; /* a small negative number may have become -0 */
  guint32 single_bits;
  memcpy(&single_bits, &single, sizeof single);
  return single_bits;
}

/* Appends the shortest text that identifies the number with these @bits. FALSE: they are not a number. */
static gboolean
print_bits(const TideKeyPart *part, guint64 bits, char *text)
{
  char format[8];
  gdouble number;
  if (part->value.form == TIDE_KEY_FLOAT32) {
    guint32 single_bits = (guint32)bits;
    gfloat single;
    memcpy(&single, &single_bits, sizeof single);
    number = (gdouble)single;
  } else {
    memcpy(&number, &bits, sizeof number);
  }
  if (!isfinite(number))
    return FALSE;
  int n_digits = 0;
  do {
    g_snprintf(format, sizeof format, "%%.%dg", ++n_digits);
    g_ascii_formatd(text, G_ASCII_DTOSTR_BUF_SIZE, format, number);
  } while (n_digits < FLOAT_MAX_DIGITS && float_bits(part, g_ascii_strtod(text, NULL)) != bits);
  return TRUE;
}

/* A number as written: 0.DIGITS x 10^exponent, without leading and trailing zeros. */
typedef struct Decimal {
  gboolean is_negative;
  char digits[FLOAT_TEXT_MAX_BYTES];
  guint n_digits;
  gint64 exponent;
} Decimal;

/* @text: accepted by strtod(). */
static void
read_decimal(const char *text, Decimal *ret_decimal)
{
  gboolean behind_point = FALSE;
  *ret_decimal = (Decimal){.is_negative = *text == '-'};
  for (; *text != '\0' && *text != 'e' && *text != 'E'; text++) {
    behind_point |= *text == '.';
    if (!g_ascii_isdigit(*text))
      continue;
    gboolean is_leading_zero = *text == '0' && ret_decimal->n_digits == 0;
    ret_decimal->exponent += is_leading_zero ? (behind_point ? -1 : 0) : (behind_point ? 0 : 1);
    if (!is_leading_zero)
      ret_decimal->digits[ret_decimal->n_digits++] = *text;
  }
  while (ret_decimal->n_digits > 0 && ret_decimal->digits[ret_decimal->n_digits - 1] == '0')
    ret_decimal->n_digits--;
  if (*text != '\0')
    ret_decimal->exponent += CLAMP(strtol(text + 1, NULL, 10), -EXPONENT_MAX, EXPONENT_MAX);
}

/* Whether the bytes of @number reproduce the number @text. With few digits they always do, because no two such numbers
 * share their bits. */
static gboolean
comes_back(const TideKeyPart *part, const char *text, gdouble number)
{
  gboolean is_single = part->value.form == TIDE_KEY_FLOAT32;
  char printed[G_ASCII_DTOSTR_BUF_SIZE];
  Decimal given, kept;
  read_decimal(text, &given);
  if (given.n_digits <= (is_single ? FLT_DIG : DBL_DIG) && fabs(number) >= (is_single ? (gdouble)FLT_MIN : DBL_MIN))
    return TRUE;
  if (!print_bits(part, float_bits(part, number), printed))
    return FALSE;
  read_decimal(printed, &kept);
  if (given.n_digits == 0 || kept.n_digits == 0)
    return given.n_digits == kept.n_digits; /* zero of either sign */
  return given.is_negative == kept.is_negative && given.exponent == kept.exponent && given.n_digits == kept.n_digits &&
         memcmp(given.digits, kept.digits, given.n_digits) == 0;
}

const char *
tide_key_float_append(const TideKeyPart *part, TideBytes text, TideBuffer *out)
{
  char copy[FLOAT_TEXT_MAX_BYTES + 1];
  gdouble number;
  if (memchr(text.data, '\0', text.len) != NULL || !read_float(text, copy, &number))
    return "it is not a number";
  if (!isfinite(number) || (part->value.form == TIDE_KEY_FLOAT32 && fabs(number) > (gdouble)G_MAXFLOAT))
    return "it is too large or too small for its form";
  if (!comes_back(part, copy, number))
    return "its form keeps fewer digits than it has, so other values would have the same key";
  guint64 bits = float_bits(part, number);
  gboolean is_negative = (bits >> (8 * part->fixed_bytes - 1)) != 0;
  tide_key_append_big_endian(bits ^ flipped_bits(is_negative, part->fixed_bytes), part->fixed_bytes, out);
  return NULL;
}

gboolean
tide_key_float_read(const TideKeyPart *part, TideBytes bytes, TideBuffer *out)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];
  guint64 sortable = tide_key_read_big_endian(bytes);
  gboolean is_negative = (sortable >> (8 * part->fixed_bytes - 1)) == 0;
  if (!print_bits(part, sortable ^ flipped_bits(is_negative, part->fixed_bytes), text))
    return FALSE;
  tide_buffer_append(out, text, strlen(text));
  return TRUE;
}
