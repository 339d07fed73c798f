#include "util/number_text.h"

#include "util/shortest_digits.h"

#include <math.h>

/* A decimal of 15 digits survives the way to a double and back, and 17 digits tell all doubles apart; 6 and 9 for
 * floats. Exponents are written from there on, as %.15g does, or %.17g where all digits are needed. */
#define DOUBLE_DIGITS 15u
#define FLOAT_DIGITS 6u

/* The least that is written with zeros in front: 0.0001. */
#define LEAST_PLAIN_EXPONENT (-4)

static char *
append_exponent(char *at, int exponent)
{
  guint magnitude = (guint)ABS(exponent);
  *at++ = 'e';
  *at++ = exponent < 0 ? '-' : '+';
  if (magnitude >= 100)
    *at++ = (char)('0' + magnitude / 100);
  *at++ = (char)('0' + magnitude / 10 % 10);
  *at++ = (char)('0' + magnitude % 10);
  return at;
}

/* @digits with a point behind @n_whole of them, which may be more than there are, or less than one. */
static char *
append_digits(char *at, const TideShortestDigits *digits, int n_whole)
{
  int n = digits->n_digits;
  if (n_whole <= 0) {
    *at++ = '0';
    *at++ = '.';
    for (int i = n_whole; i < 0; i++)
      *at++ = '0';
    n_whole = n;
  }
  for (int i = 0; i < MAX(n, n_whole); i++) {
    if (i == n_whole)
      *at++ = '.';
    *at++ = i < n ? digits->digits[i] : '0';
  }
  return at;
}

/* As printf's %g with the precision that @digits need, at least @least. */
static void
print_digits(const TideShortestDigits *digits, guint least, char *at)
{
  int precision = (int)MAX(least, digits->n_digits);
  if (digits->is_negative)
    *at++ = '-';
  if (digits->exponent < LEAST_PLAIN_EXPONENT || digits->exponent >= precision)
    at = append_exponent(append_digits(at, digits, 1), digits->exponent);
  else
    at = append_digits(at, digits, digits->exponent + 1);
  *at = '\0';
}

/* Most measurements are decimals of few digits, for which no search is needed: where a whole number of ten-thousandths
 * divides to the very double, it is the one decimal of at most DOUBLE_DIGITS that reads back as it, for both are exact
 * and are rounded once. */
#define TEN_THOUSANDTHS 10000
#define TEN_THOUSANDTHS_MAX 1e11 /* exclusive; so many make a number of DOUBLE_DIGITS */

/* FALSE: @magnitude, which is finite and not negative, is no such decimal. */
static gboolean
count_ten_thousandths(double magnitude, gint64 *ret_n)
{
  if (magnitude >= TEN_THOUSANDTHS_MAX)
    return FALSE;
  *ret_n = (gint64)(magnitude * TEN_THOUSANDTHS + 0.5);
  return !islessgreater((double)*ret_n / TEN_THOUSANDTHS, magnitude);
}

/* Backwards, from the end of @text. */
static TideBytes
print_ten_thousandths(guint64 n, gboolean is_negative, char text[TIDE_NUMBER_TEXT_BYTES])
{
  char *end = text + TIDE_NUMBER_TEXT_BYTES - 1, *at = end;
  guint n_decimals = 4;
  *end = '\0';
  for (; n_decimals > 0 && n % 10 == 0; n_decimals--)
    n /= 10;
  if (n_decimals > 0) {
    for (; n_decimals > 0; n_decimals--, n /= 10)
      *--at = (char)('0' + n % 10);
    *--at = '.';
  }
  do
    *--at = (char)('0' + n % 10);
  while ((n /= 10) > 0);
  if (is_negative)
    *--at = '-';
  return tide_bytes(at, (gsize)(end - at));
}

static void
print_double_by_trying(double value, char text[TIDE_NUMBER_TEXT_BYTES])
{
  static const char *const formats[] = {"%.15g", "%.16g", "%.17g"};
  for (gsize i = 0; i < G_N_ELEMENTS(formats); i++) {
    g_ascii_formatd(text, TIDE_NUMBER_TEXT_BYTES, formats[i], value);
    if (!islessgreater(g_ascii_strtod(text, NULL), value))
      break;
  }
}

static void
print_float_by_trying(float value, char text[TIDE_NUMBER_TEXT_BYTES])
{
  static const char *const formats[] = {"%.6g", "%.7g", "%.8g", "%.9g"};
  for (gsize i = 0; i < G_N_ELEMENTS(formats); i++) {
    g_ascii_formatd(text, TIDE_NUMBER_TEXT_BYTES, formats[i], (double)value);
    if (!islessgreater((float)g_ascii_strtod(text, NULL), value))
      break;
  }
}

/* The texts were made by trying precisions once, and what is stored must not change: of numbers too small for all
 * digits, that is not the shortest; and at a power of two, where the numbers below are nearer than those above, it may
 * be that the shortest is not the nearest of its length. What is not finite has no digits. */
static gboolean
has_digits(int class)
{
  return class == FP_NORMAL || class == FP_ZERO;
}

static gboolean
are_digits_as_tried(const TideShortestDigits *digits, guint certain, double fraction)
{
  return digits->n_digits <= certain || fabs(fraction) > 0.5; /* that of a power of two is 0.5 */
}

TideBytes
tide_double_print_bytes(double value, char text[TIDE_NUMBER_TEXT_BYTES])
{
  int exponent;
  gint64 n;
  if (G_LIKELY(isfinite(value) && count_ten_thousandths(fabs(value), &n)))
    return print_ten_thousandths((guint64)n, signbit(value) != 0, text);
  if (G_LIKELY(has_digits(fpclassify(value)))) {
    TideShortestDigits digits = tide_shortest_digits_of_double(value);
    if (G_LIKELY(are_digits_as_tried(&digits, DOUBLE_DIGITS, frexp(value, &exponent)))) {
      print_digits(&digits, DOUBLE_DIGITS, text);
      return tide_bytes_of_string(text);
    }
  }
  print_double_by_trying(value, text);
  return tide_bytes_of_string(text);
}

const char *
tide_float_print(float value, char text[TIDE_NUMBER_TEXT_BYTES])
{
  int exponent;
  if (G_LIKELY(has_digits(fpclassify(value)))) {
    TideShortestDigits digits = tide_shortest_digits_of_float(value);
    if (G_LIKELY(are_digits_as_tried(&digits, FLOAT_DIGITS, (double)frexpf(value, &exponent)))) {
      print_digits(&digits, FLOAT_DIGITS, text);
      return text;
    }
  }
  print_float_by_trying(value, text);
  return text;
}
