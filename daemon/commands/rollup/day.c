/* Determines the day of a rollup. Pure: the caller provides the current time. */
#include "commands/rollup/rollup.h"
#include "model/reading.h"
#include "model/time/time_cut.h"
#include "model/time/time_pattern.h"
#include "model/time/zone_spans.h"
#include "util/error.h"

#define MS_PER_S G_GINT64_CONSTANT(1000)
#define NOON_S (12 * 3600) /* clocks never change at noon */

static const TideTimeCut day_cut = {.unit = TIDE_CUT_DAY};

static void
set_day(GTimeZone *zone, gint64 within_ns, TideRollupDay *ret_day)
{
  ret_day->from_ms = tide_ns_to_ms(tide_time_cut_start_ns(day_cut, zone, within_ns));
  ret_day->to_ms = tide_ns_to_ms(tide_time_cut_end_ns(day_cut, zone, within_ns));
}

static gboolean
read_date(const char *text, TideTimeElements *ret_date)
{
  g_autoptr(TideTimePattern) pattern = tide_time_pattern_compile("[yyyy-MM-dd][yyyyMMdd]", TIDE_PATTERN_TEXT, NULL);
  const char *detail;
  return tide_time_pattern_read(pattern, tide_bytes_of_string(text), ret_date, &detail) &&
         ret_date->values[TIDE_LEVEL_YEAR] >= 1970 && ret_date->values[TIDE_LEVEL_YEAR] < 2200;
}

gboolean
tide_rollup_day_parse(const char *text, GTimeZone *zone, gint64 now_ms, TideRollupDay *ret_day, GError **error)
{
  gint64 noon_utc_s;
  if (text == NULL) {
    set_day(zone, now_ms * TIDE_NS_PER_MS, ret_day);
    set_day(zone, ret_day->from_ms * TIDE_NS_PER_MS - 1, ret_day);
    noon_utc_s = ret_day->from_ms / MS_PER_S + NOON_S;
  } else {
    TideTimeElements date;
    if (!read_date(text, &date))
      return tide_fail(error, TIDE_ERROR_USAGE, "must be a day such as 2017-07-26, got '%s'", text);
    gint64 noon_s = tide_time_elements_local_s(&date) + NOON_S;
    TideLocalMoments noon = tide_zone_moments_of_local(zone, noon_s);
    noon_utc_s = noon.utc_s[0];
    if (noon.n == 0)
      return tide_fail(error, TIDE_ERROR_USAGE, "must be a day that exists in the zone '%s', got '%s'",
                       g_time_zone_get_identifier(zone), text);
    set_day(zone, noon_utc_s * MS_PER_S * TIDE_NS_PER_MS, ret_day);
  }
  gint64 local_s = noon_utc_s + (zone != NULL ? tide_zone_offset_s(zone, noon_utc_s) : 0);
  g_autoptr(GDateTime) date = g_date_time_new_from_unix_utc(local_s);
  g_autofree char *name = g_date_time_format(date, "%Y%m%d");
  g_strlcpy(ret_day->name, name, sizeof ret_day->name);
  return TRUE;
}
