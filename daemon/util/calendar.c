#include "util/calendar.h"

#define DAYS_TO_1970 719468 /* from 0000-03-01 */
#define DAYS_OF_400_YEARS 146097

static gboolean
is_leap_year(int year)
{
  return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

gboolean
tide_date_is_valid(int year, int month, int day)
{
  static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  if (month < 1 || month > 12 || day < 1)
    return FALSE;
  return day <= days[month - 1] + (month == 2 && is_leap_year(year) ? 1 : 0);
}

/* Years are counted from March, so that the leap day is the last of its year; 400 years have 146,097 days
 * always. */
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

/* The year of the era: what is left of a day's number, without the leap days before it, in years of 365 days. A leap
 * day comes at the end of 4 years (1460 is its place), none at the end of 100 (36524), but one at the end of 400
 * (146096). */
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
