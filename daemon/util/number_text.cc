#include "util/number_text.h"

#include <charconv>
#include <cmath>
#include <limits>

/* A decimal of CERTAIN digits survives conversion to a number and back, and ENOUGH digits distinguish all numbers: 15
 * and 17 for doubles, 6 and 9 for floats. Exponents start there, as with %.15g, or %.17g if all digits are needed. */
template <typename Number> static constexpr int CERTAIN = std::numeric_limits<Number>::digits10;
template <typename Number> static constexpr int ENOUGH = std::numeric_limits<Number>::max_digits10;

/* The smallest exponent without exponent notation: 0.0001. */
#define LEAST_PLAIN_EXPONENT (-4)

/* Digits d, and the exponent e of d[0].d[1]d[2]... times 10^e. The last digit is 0 only for zero. */
struct ShortestDigits {
  char digits[ENOUGH<double>];
  int n_digits;
  bool is_negative; /* also for -0 */
  int exponent;
};

/* The shortest digits that read back as @value, by the standard library's Ryu: exact, in some tens of nanoseconds. */
template <typename Number>
static ShortestDigits
shortest_digits_of(Number value)
{
  char text[32]; /* a sign, digits with a point, and "e-324" */
  const char *end = std::to_chars(text, text + sizeof text, value, std::chars_format::scientific).ptr;
  ShortestDigits shortest = {};
  const char *at = text;
  shortest.is_negative = *at == '-';
  at += shortest.is_negative ? 1 : 0;
  for (; *at != 'e'; at++)
    if (*at != '.')
      shortest.digits[shortest.n_digits++] = *at;
  std::from_chars(at + (at[1] == '-' ? 1 : 2), end, shortest.exponent);
  return shortest;
}

/* Appends @digits with a point after @n_whole of them, which may exceed their number or be below one. */
static char *
append_digits(char *at, const ShortestDigits &digits, int n_whole)
{
  int n = digits.n_digits;
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
    *at++ = i < n ? digits.digits[i] : '0';
  }
  return at;
}

/* Prints like printf's %g with the precision that @digits need, at least @least. */
static void
print_digits(const ShortestDigits &digits, int least, char *at)
{
  int precision = MAX(least, digits.n_digits), magnitude = ABS(digits.exponent);
  if (digits.is_negative)
    *at++ = '-';
  if (digits.exponent >= LEAST_PLAIN_EXPONENT && digits.exponent < precision) {
    *append_digits(at, digits, digits.exponent + 1) = '\0';
    return;
  }
  at = append_digits(at, digits, 1);
  *at++ = 'e';
  *at++ = digits.exponent < 0 ? '-' : '+';
  if (magnitude >= 100)
    *at++ = (char)('0' + magnitude / 100);
  *at++ = (char)('0' + magnitude / 10 % 10);
  *at++ = (char)('0' + magnitude % 10);
  *at = '\0';
}

template <typename Number>
static void
print_by_trying(Number value, char text[TIDE_NUMBER_TEXT_BYTES])
{
  for (int precision = CERTAIN<Number>; precision <= ENOUGH<Number>; precision++) {
    char format[8];
    g_snprintf(format, sizeof format, "%%.%dg", precision);
    g_ascii_formatd(text, TIDE_NUMBER_TEXT_BYTES, format, (double)value);
    if (!std::islessgreater((Number)g_ascii_strtod(text, NULL), value))
      return;
  }
}

/* The texts were originally made by trying precisions, and stored texts must not change. The shortest digits differ in
 * two cases: numbers too small for all digits, and powers of two, where the numbers below are nearer than those above,
 * so that the shortest may not be the nearest of its length. Numbers that are not finite have no digits. */
template <typename Number>
static void
print(Number value, char text[TIDE_NUMBER_TEXT_BYTES])
{
  int exponent, kind = std::fpclassify(value);
  if (G_LIKELY(kind == FP_NORMAL || kind == FP_ZERO)) {
    ShortestDigits digits = shortest_digits_of(value);
    /* the fraction of a power of two is 0.5 */
    if (G_LIKELY(digits.n_digits <= CERTAIN<Number> || std::fabs(std::frexp(value, &exponent)) > (Number)0.5)) {
      print_digits(digits, CERTAIN<Number>, text);
      return;
    }
  }
  print_by_trying(value, text);
}

/* Most measurements are decimals of few digits, which need no search. If a whole number of ten-thousandths divides to
 * exactly the double, it is the only decimal of at most 15 digits that reads back as it, because both are exact and
 * rounded once. */
#define TEN_THOUSANDTHS 10000
#define TEN_THOUSANDTHS_MAX 1e11 /* exclusive; this many make a number of 15 digits */

/* Writes backwards, from the end of @text. */
static TideBytes
print_ten_thousandths(guint64 n, bool is_negative, char text[TIDE_NUMBER_TEXT_BYTES])
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

TideBytes
tide_double_print_bytes(double value, char text[TIDE_NUMBER_TEXT_BYTES])
{
  double magnitude = std::fabs(value);
  if (G_LIKELY(magnitude < TEN_THOUSANDTHS_MAX)) {
    gint64 n = (gint64)(magnitude * TEN_THOUSANDTHS + 0.5);
    if (G_LIKELY(!std::islessgreater((double)n / TEN_THOUSANDTHS, magnitude)))
      return print_ten_thousandths((guint64)n, std::signbit(value), text);
  }
  print(value, text);
  return tide_bytes_of_string(text);
}

const char *
tide_float_print(float value, char text[TIDE_NUMBER_TEXT_BYTES])
{
  print(value, text);
  return text;
}
