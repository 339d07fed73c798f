#include "util/calendar.h"

#define DAYS_TO_1970 719468 /* from 0000-03-01 */
#define DAYS_OF_400_YEARS 146097

#define FIRST_EPOCH_S G_GINT64_CONSTANT(-62135596800) /* 0001-01-01T00:00:00Z */
#define LAST_EPOCH_S G_GINT64_CONSTANT(253402300799)  /* 9999-12-31T23:59:59Z */

gboolean
tide_date_is_valid(int year, int month, int day)
{
  static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  if (month < 1 || month > 12 || day < 1)
    return FALSE;
  gboolean is_leap_year = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  return day <= days[month - 1] + (month == 2 && is_leap_year ? 1 : 0);
}

/* Years are counted from March, so that the leap day is the last of its year; 400 years have 146,097 days. */
gint64
tide_days_of_date(int year, int month, int day)
{
  gint64 march_year = month <= 2 ? year - 1 : year;
  gint64 era = (march_year >= 0 ? march_year : march_year - 399) / 400;
  gint64 year_of_era = march_year - era * 400;
  gint64 months_since_march = (month + 9) % 12;
  gint64 day_of_year = (153 * months_since_march + 2) / 5 + day - 1;
  gint64 day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
  return era * DAYS_OF_400_YEARS + day_of_era - DAYS_TO_1970;
}

/* The year of the era is the day number, without the leap days before it, divided by 365. There is a leap day at the
 * end of 4 years (day 1460), none at the end of 100 (36524), but one at the end of 400 (146096). */
void
tide_date_of_days(gint64 days, int *ret_year, int *ret_month, int *ret_day)
{
  gint64 since_origin = days + DAYS_TO_1970;
  gint64 era = (since_origin >= 0 ? since_origin : since_origin - (DAYS_OF_400_YEARS - 1)) / DAYS_OF_400_YEARS;
  int day_of_era = (int)(since_origin - era * DAYS_OF_400_YEARS);
  int year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
  int day_of_year = day_of_era - (year_of_era * 365 + year_of_era / 4 - year_of_era / 100);
  int months_since_march = (5 * day_of_year + 2) / 153;
  *ret_month = months_since_march < 10 ? months_since_march + 3 : months_since_march - 9;
  *ret_day = day_of_year - (153 * months_since_march + 2) / 5 + 1;
  *ret_year = (int)(era * 400) + year_of_era + (*ret_month <= 2 ? 1 : 0);
}

gint64
tide_day_of_seconds(gint64 seconds)
{
  gint64 day = seconds / TIDE_SECONDS_PER_DAY;
  return seconds % TIDE_SECONDS_PER_DAY < 0 ? day - 1 : day;
}

/* Writes @number with @n_digits digits and then @behind; returns the position after it. printf() is too slow: rows of a
 * table are printed by the million, each with several times. */
static char *
put(char *at, int number, int n_digits, char behind)
{
  for (int i = n_digits; i > 0; i--, number /= 10)
    at[i - 1] = (char)('0' + number % 10);
  at[n_digits] = behind;
  return at + n_digits + 1;
}

const char *
tide_iso_time_print(gint64 epoch_ms, char text[TIDE_ISO_TIME_BYTES])
{
  int ms = (int)(epoch_ms % 1000);
  gint64 seconds = epoch_ms / 1000;
  if (ms < 0) {
    ms += 1000;
    seconds--;
  }
  if (seconds < FIRST_EPOCH_S || seconds > LAST_EPOCH_S) {
    g_snprintf(text, TIDE_ISO_TIME_BYTES, "%" G_GINT64_FORMAT, epoch_ms);
    return text;
  }
  gint64 days = tide_day_of_seconds(seconds);
  int second_of_day = (int)(seconds - days * TIDE_SECONDS_PER_DAY);
  int year, month, day;
  tide_date_of_days(days, &year, &month, &day);
  char *at = put(text, year, 4, '-');
  at = put(at, month, 2, '-');
  at = put(at, day, 2, 'T');
  at = put(at, second_of_day / 3600, 2, ':');
  at = put(at, second_of_day / 60 % 60, 2, ':');
  at = put(at, second_of_day % 60, 2, '.');
  at = put(at, ms, 3, 'Z');
  *at = '\0';
  return text;
}
