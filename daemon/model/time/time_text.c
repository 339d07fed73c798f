#include "model/time/time_text.h"

#include "model/time/time_pattern.h"
#include "util/calendar.h"

#define NS_DECIMALS 9
#define EPOCH_TEXT_MAX_BYTES 40 /* 19 digits of a gint64, and room for a fraction and an exponent */

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

/* A decimal number taken apart: digits x 10^exponent. */
typedef struct Decimal {
  gboolean is_negative;
  gint64 digits;
  int exponent;
  gboolean is_too_big;  /* more digits than 64 bits hold, before the point ... */
  gboolean is_too_fine; /* ... or behind it */
} Decimal;

/* Zeros count only when another digit follows, so that 1426535612.0450000000 is no big number. */
static gsize
read_fraction(TideBytes text, gsize at, Decimal *decimal)
{
  int zeros = 0;
  for (; at < text.len && is_digit(text.data[at]); at++) {
    zeros++;
    if (text.data[at] == '0')
      continue;
    decimal->exponent -= zeros;
    for (; zeros > 1; zeros--)
      decimal->is_too_fine |= !push_digit(&decimal->digits, 0);
    decimal->is_too_fine |= !push_digit(&decimal->digits, text.data[at] - '0');
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

/* JSON's grammar for numbers, but leading zeros are allowed: a time in quotes may be padded. */
static gboolean
read_decimal(TideBytes text, Decimal *ret_decimal)
{
  *ret_decimal = (Decimal){0};
  if (text.len > EPOCH_TEXT_MAX_BYTES)
    return FALSE;
  ret_decimal->is_negative = text.len > 0 && text.data[0] == '-';
  gsize first = ret_decimal->is_negative ? 1 : 0;
  gsize at = first;
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

/* Moves the point of @decimal by @digits and gives the whole number; FALSE with is_too_big when it has no
 * room, FALSE without when a fraction would be lost. */
static gboolean
scale(Decimal *decimal, int digits, gint64 *ret_number)
{
  gint64 number = decimal->digits;
  int exponent = decimal->exponent + digits;
  for (; exponent > 0 && number != 0; exponent--) {
    if (!push_digit(&number, 0)) {
      decimal->is_too_big = TRUE;
      return FALSE;
    }
  }
  for (; exponent < 0 && number != 0; exponent++) {
    if (number % 10 != 0)
      return FALSE;
    number /= 10;
  }
  *ret_number = decimal->is_negative ? -number : number;
  return TRUE;
}

TideTimeFault
tide_time_text_read_epoch(TideBytes text, int decimals, gint64 *ret_ns, const char **ret_detail)
{
  Decimal decimal;
  if (!read_decimal(text, &decimal)) {
    *ret_detail = "not a number";
    return TIDE_TIME_FAULT_SYNTAX;
  }
  gint64 whole_units, ns;
  gboolean is_exact = !decimal.is_too_big && !decimal.is_too_fine &&
                      (decimals == 0 || scale(&decimal, 0, &whole_units)) &&
                      scale(&decimal, NS_DECIMALS - decimals, &ns);
  if (is_exact) {
    *ret_ns = ns;
    return TIDE_TIME_FAULT_NONE;
  }
  if (decimal.is_too_big) {
    *ret_detail = "beyond the year 2262: is the unit right?";
    return TIDE_TIME_FAULT_RANGE;
  }
  *ret_detail = decimals > 0 ? "a fraction of the unit" : "more than 9 digits after the point";
  return TIDE_TIME_FAULT_SYNTAX;
}

/* The place in a text that is read from left to right. */
typedef struct Cursor {
  TideBytes text;
  gsize at;
} Cursor;

static gboolean
take_number(Cursor *cursor, gsize n_digits, int *ret_number)
{
  if (cursor->text.len - cursor->at < n_digits)
    return FALSE;
  int number = 0;
  for (gsize i = 0; i < n_digits; i++) {
    guint8 byte = cursor->text.data[cursor->at + i];
    if (!is_digit(byte))
      return FALSE;
    number = number * 10 + (byte - '0');
  }
  cursor->at += n_digits;
  *ret_number = number;
  return TRUE;
}

static gboolean
take_byte(Cursor *cursor, guint8 byte)
{
  if (cursor->at >= cursor->text.len || cursor->text.data[cursor->at] != byte)
    return FALSE;
  cursor->at++;
  return TRUE;
}

static int
nanoseconds_of(int fraction, gsize n_digits)
{
  for (; n_digits < NS_DECIMALS; n_digits++)
    fraction *= 10;
  return fraction;
}

static gboolean
check_ranges(const TideTimeText *time, const char **ret_detail)
{
  if (time->has_date && !tide_date_is_valid(time->year, time->month, time->day)) {
    *ret_detail = "no such date";
    return FALSE;
  }
  if (time->second == 60) {
    *ret_detail = "a leap second, which a count since the epoch cannot hold";
    return FALSE;
  }
  if (time->hour > 23 || time->minute > 59 || time->second > 59) {
    *ret_detail = "no such time of day";
    return FALSE;
  }
  return TRUE;
}

static gboolean
take_fraction(Cursor *cursor, TideTimeText *time)
{
  if (!take_byte(cursor, '.'))
    return TRUE;
  gsize n_digits = 0;
  while (cursor->at + n_digits < cursor->text.len && is_digit(cursor->text.data[cursor->at + n_digits]))
    n_digits++;
  int fraction;
  if (n_digits < 1 || n_digits > NS_DECIMALS || !take_number(cursor, n_digits, &fraction))
    return FALSE;
  time->nanosecond = nanoseconds_of(fraction, n_digits);
  return TRUE;
}

static gboolean
take_offset(Cursor *cursor, TideTimeText *time)
{
  if (cursor->at == cursor->text.len)
    return TRUE;
  time->has_offset = TRUE;
  if (take_byte(cursor, 'Z') || take_byte(cursor, 'z'))
    return TRUE;
  gboolean is_negative = take_byte(cursor, '-');
  int hours, minutes;
  if (!(is_negative || take_byte(cursor, '+')) || !take_number(cursor, 2, &hours) || !take_byte(cursor, ':') ||
      !take_number(cursor, 2, &minutes) || hours > 23 || minutes > 59)
    return FALSE;
  time->offset_s = (hours * 60 + minutes) * 60 * (is_negative ? -1 : 1);
  return TRUE;
}

gboolean
tide_time_text_read_rfc3339(TideBytes text, TideTimeText *ret_time, const char **ret_detail)
{
  Cursor cursor = {.text = text};
  TideTimeText time = {.has_date = TRUE};
  gboolean is_read =
      take_number(&cursor, 4, &time.year) && take_byte(&cursor, '-') && take_number(&cursor, 2, &time.month) &&
      take_byte(&cursor, '-') && take_number(&cursor, 2, &time.day) &&
      (take_byte(&cursor, 'T') || take_byte(&cursor, 't') || take_byte(&cursor, ' ')) &&
      take_number(&cursor, 2, &time.hour) && take_byte(&cursor, ':') && take_number(&cursor, 2, &time.minute) &&
      take_byte(&cursor, ':') && take_number(&cursor, 2, &time.second) && take_fraction(&cursor, &time) &&
      take_offset(&cursor, &time) && cursor.at == text.len;
  if (!is_read) {
    *ret_detail = "not RFC 3339, such as 2026-11-21T04:45:00.123Z";
    return FALSE;
  }
  if (!check_ranges(&time, ret_detail))
    return FALSE;
  *ret_time = time;
  return TRUE;
}

/* Reads the @n_letters digits that a run of @letter stands for. */
static gboolean
take_letters(Cursor *cursor, char letter, gsize n_letters, TideTimeText *time)
{
  switch (letter) {
  case 'y':
    time->has_date = TRUE;
    return take_number(cursor, n_letters, &time->year);
  case 'M':
    return take_number(cursor, n_letters, &time->month);
  case 'd':
    return take_number(cursor, n_letters, &time->day);
  case 'H':
    return take_number(cursor, n_letters, &time->hour);
  case 'm':
    return take_number(cursor, n_letters, &time->minute);
  case 's':
    return take_number(cursor, n_letters, &time->second);
  case 'S': {
    int fraction;
    if (!take_number(cursor, n_letters, &fraction))
      return FALSE;
    time->nanosecond = nanoseconds_of(fraction, n_letters);
    return TRUE;
  }
  default:
    return FALSE;
  }
}

gboolean
tide_time_text_read_pattern(TideBytes text, const char *pattern, TideTimeText *ret_time, const char **ret_detail)
{
  TideTimeText time = {0};
  Cursor cursor = {.text = text};
  TideTimePatternCursor at = {.at = pattern};
  TideTimePatternPiece piece;
  gboolean is_read = TRUE;
  while (is_read && tide_time_pattern_next(&at, &piece))
    is_read = piece.n_letters > 0 ? take_letters(&cursor, (char)piece.byte, piece.n_letters, &time)
                                  : take_byte(&cursor, piece.byte);
  if (!is_read || cursor.at != text.len) {
    *ret_detail = "not in the declared pattern";
    return FALSE;
  }
  if (!check_ranges(&time, ret_detail))
    return FALSE;
  *ret_time = time;
  return TRUE;
}

gint64
tide_time_text_local_s(const TideTimeText *time)
{
  gint64 second_of_day = (time->hour * 60 + time->minute) * 60 + time->second;
  gint64 day = time->has_date ? tide_days_of_date(time->year, time->month, time->day) : 0;
  return day * TIDE_SECONDS_PER_DAY + second_of_day;
}
