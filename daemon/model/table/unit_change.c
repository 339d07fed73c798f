#include "model/table/unit_change.h"

/* A written exponent may be as long as the text; beyond this bound only zero would fit the result. */
#define EXPONENT_BOUND 100000

/* The places of a result's digits: 10^-64 to 10^64. An offset has at most 32 digits before the point, so it cannot
 * bring a larger product back into range; and at most 32 after the point, so it cannot cancel lower digits. */
#define LOWEST_PLACE (-TIDE_DECIMAL_MAX_BYTES)
#define HIGHEST_PLACE (TIDE_DECIMAL_MAX_BYTES + 1)
#define N_PLACES (HIGHEST_PLACE - LOWEST_PLACE + 1)

static const char no_number[] = "not a decimal number, which 'scale' and 'offset' need";
static const char too_long[] =
    "with 'scale' and 'offset' it has more than " G_STRINGIFY(TIDE_DECIMAL_MAX_BYTES) " characters";

/* ---- reading ---- */

/* Reads the digits at *@at. Each digit after the point decrements @decimal's exponent. */
static gsize
read_digits(TideBytes text, gsize *at, gboolean is_fraction, TideDecimal *decimal)
{
  gsize start = *at;
  for (; *at < text.len && g_ascii_isdigit(text.data[*at]); (*at)++) {
    guint8 digit = (guint8)(text.data[*at] - '0');
    if (decimal->n_digits > 0 || digit > 0)
      decimal->digits[decimal->n_digits++] = digit;
    decimal->exponent -= is_fraction ? 1 : 0;
  }
  return *at - start;
}

static gboolean
read_sign(TideBytes text, gsize *at)
{
  gboolean is_sign = *at < text.len && (text.data[*at] == '-' || text.data[*at] == '+');
  return is_sign && text.data[(*at)++] == '-';
}

static void
trim(TideDecimal *decimal)
{
  while (decimal->n_digits > 0 && decimal->digits[decimal->n_digits - 1] == 0) {
    decimal->n_digits--;
    decimal->exponent++;
  }
}

gboolean
tide_decimal_read(TideBytes text, TideDecimal *decimal)
{
  gsize at = 0;
  if (text.len == 0 || text.len > TIDE_DECIMAL_MAX_BYTES)
    return FALSE;
  decimal->n_digits = 0;
  decimal->exponent = 0;
  decimal->is_negative = read_sign(text, &at);
  gsize n_read = read_digits(text, &at, FALSE, decimal);
  if (at < text.len && text.data[at] == '.') {
    at++;
    n_read += read_digits(text, &at, TRUE, decimal);
  }
  if (n_read == 0)
    return FALSE;
  if (at < text.len && (text.data[at] | 0x20) == 'e') {
    at++;
    gboolean is_negative = read_sign(text, &at);
    gsize start = at;
    int exponent = 0;
    for (; at < text.len && g_ascii_isdigit(text.data[at]); at++)
      exponent = MIN(exponent * 10 + (text.data[at] - '0'), EXPONENT_BOUND);
    if (at == start)
      return FALSE;
    decimal->exponent += is_negative ? -exponent : exponent;
  }
  trim(decimal);
  return at == text.len;
}

gboolean
tide_decimal_equal(const TideDecimal *a, const TideDecimal *b)
{
  return a->n_digits == b->n_digits && memcmp(a->digits, b->digits, a->n_digits) == 0 &&
         (a->n_digits == 0 || (a->exponent == b->exponent && a->is_negative == b->is_negative));
}

gboolean
tide_unit_change_read(const char *text, TideDecimal *ret_decimal)
{
  if (!tide_decimal_read(tide_bytes_of_string(text), ret_decimal))
    return FALSE;
  if (ret_decimal->n_digits == 0)
    return TRUE;
  return ret_decimal->n_digits <= TIDE_UNIT_CHANGE_MAX_DIGITS &&
         ret_decimal->exponent >= -TIDE_UNIT_CHANGE_MAX_DIGITS &&
         ret_decimal->exponent + (gint)ret_decimal->n_digits <= TIDE_UNIT_CHANGE_MAX_DIGITS;
}

/* ---- arithmetic ---- */

/* Multiplies @number, with at most TIDE_DECIMAL_MAX_BYTES digits, by @scale, with at most TIDE_UNIT_CHANGE_MAX_DIGITS.
 */
static void
multiply(const TideDecimal *number, const TideDecimal *scale, TideDecimal *ret_product)
{
  guint n_digits = number->n_digits + scale->n_digits;
  *ret_product = (TideDecimal){.exponent = number->exponent + scale->exponent,
                               .is_negative = number->is_negative != scale->is_negative};
  if (number->n_digits == 0 || scale->n_digits == 0)
    return;
  for (guint i = number->n_digits; i-- > 0;) {
    guint carry = 0;
    for (guint k = scale->n_digits; k-- > 0;) {
      guint sum = ret_product->digits[i + k + 1] + carry + (guint)number->digits[i] * scale->digits[k];
      ret_product->digits[i + k + 1] = (guint8)(sum % 10);
      carry = sum / 10;
    }
    ret_product->digits[i] = (guint8)carry;
  }
  ret_product->n_digits = n_digits;
  if (ret_product->digits[0] == 0) {
    memmove(ret_product->digits, ret_product->digits + 1, n_digits - 1);
    ret_product->n_digits--;
  }
  trim(ret_product);
}

/* A sum by decimal places, lowest first. Digits may be outside 0 to 9 until carried. */
typedef struct Places {
  int digits[N_PLACES];
  int first, end; /* the places in use */
} Places;

/* FALSE: a digit of @decimal is outside the places. */
static gboolean
add(const TideDecimal *decimal, Places *places)
{
  if (decimal->n_digits == 0)
    return TRUE;
  int top = decimal->exponent + (int)decimal->n_digits - 1;
  if (decimal->exponent < LOWEST_PLACE || top >= HIGHEST_PLACE)
    return FALSE;
  for (guint i = 0; i < decimal->n_digits; i++)
    places->digits[top - (int)i - LOWEST_PLACE] += decimal->is_negative ? -decimal->digits[i] : decimal->digits[i];
  places->first = MIN(places->first, decimal->exponent - LOWEST_PLACE);
  places->end = MAX(places->end, top + 2 - LOWEST_PLACE);
  return TRUE;
}

/* Carries until each place is one digit. Returns: whether the sum is negative. */
static gboolean
carry(Places *places)
{
  for (int sign = 1;; sign = -1) {
    int carried = 0;
    for (int i = places->first; i < places->end; i++) {
      int sum = sign * places->digits[i] + carried;
      carried = sum < 0 ? -((9 - sum) / 10) : sum / 10;
      places->digits[i] = sum - 10 * carried;
    }
    if (carried == 0)
      return sign < 0;
    /* The number is negative, so the places now contain its tens' complement. The highest place gets the borrow back.
     */
    places->digits[places->end - 1] += 10 * carried;
  }
}

/* ---- printing ---- */

static gboolean
print(const Places *places, gboolean is_negative, TideBuffer *out)
{
  const int point = -LOWEST_PLACE; /* the index of the ones */
  int first = places->first, end = places->end;
  while (first < end && places->digits[first] == 0)
    first++;
  while (end > first && places->digits[end - 1] == 0)
    end--;
  if (first >= end) {
    tide_buffer_append_byte(out, '0');
    return TRUE;
  }
  char text[N_PLACES + 3];
  gsize len = 0;
  if (is_negative)
    text[len++] = '-';
  for (int i = MAX(end - 1, point); i >= MIN(first, point); i--) {
    text[len++] = (char)('0' + (i >= first && i < end ? places->digits[i] : 0));
    if (i == point && first < point)
      text[len++] = '.';
  }
  if (len > TIDE_DECIMAL_MAX_BYTES)
    return FALSE;
  tide_buffer_append_bytes(out, tide_bytes(text, len));
  return TRUE;
}

gboolean
tide_unit_change_apply(const TideUnitChange *change, TideBytes text, TideBuffer *out, const char **ret_detail)
{
  TideDecimal number, product;
  *ret_detail = no_number;
  if (!tide_decimal_read(text, &number))
    return FALSE;
  *ret_detail = too_long;
  multiply(&number, &change->scale, &product);
  Places places = {.first = N_PLACES, .end = 0};
  return add(&product, &places) && add(&change->offset, &places) && print(&places, carry(&places), out);
}
