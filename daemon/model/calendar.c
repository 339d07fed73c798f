#include "model/calendar.h"

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
  return era * 146097 + day_of_era - 719468; /* 0000-03-01 to 1970-01-01 */
}

gint64
tide_day_of_seconds(gint64 seconds)
{
  gint64 day = seconds / TIDE_SECONDS_PER_DAY;
  return seconds % TIDE_SECONDS_PER_DAY < 0 ? day - 1 : day;
}

gint64
tide_zone_offset_s(GTimeZone *zone, gint64 utc_s)
{
  return g_time_zone_get_offset(zone, g_time_zone_find_interval(zone, G_TIME_TYPE_UNIVERSAL, utc_s));
}

/* The offset in force is that of a day before or of a day after, whichever proves right when it is applied:
 * offsets are below a day, and no zone changes twice within two days. Where the clocks go back both prove
 * right, and the one before the change gives the first moment. */
gboolean
tide_zone_utc_of_local(GTimeZone *zone, gint64 local_s, gint64 *ret_utc_s)
{
  gint64 around[] = {local_s - TIDE_SECONDS_PER_DAY, local_s + TIDE_SECONDS_PER_DAY};
  for (gsize i = 0; i < G_N_ELEMENTS(around); i++) {
    gint64 offset_s = tide_zone_offset_s(zone, around[i]);
    gint64 utc_s = local_s - offset_s;
    if (tide_zone_offset_s(zone, utc_s) == offset_s) {
      *ret_utc_s = utc_s;
      return TRUE;
    }
  }
  return FALSE;
}
