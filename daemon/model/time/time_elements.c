#include "model/time/time_elements.h"

#include "model/time/zone_spans.h"
#include "util/calendar.h"

#define NS_PER_S G_GINT64_CONSTANT(1000000000)
#define NS_DIGITS 9

gint64
tide_time_level_ns(TideTimeLevel level, int fraction_digits)
{
  static const gint64 seconds[TIDE_LEVEL_FRACTION] = {[TIDE_LEVEL_YEAR] = 366 * TIDE_SECONDS_PER_DAY,
                                                      [TIDE_LEVEL_MONTH] = 31 * TIDE_SECONDS_PER_DAY,
                                                      [TIDE_LEVEL_DAY] = TIDE_SECONDS_PER_DAY,
                                                      [TIDE_LEVEL_HOUR] = 3600,
                                                      [TIDE_LEVEL_MINUTE] = 60,
                                                      [TIDE_LEVEL_SECOND] = 1};
  gint64 step_ns = NS_PER_S;
  if (level < TIDE_LEVEL_FRACTION)
    return seconds[level] * NS_PER_S;
  for (int i = 0; i < fraction_digits; i++)
    step_ns /= 10;
  return step_ns;
}

TideTimeElements
tide_time_elements_at(GTimeZone *zone, gint64 ns)
{
  TideTimeElements shown = {.named = TIDE_NAMES_DATE | TIDE_NAMES_CLOCK, .fraction_digits = NS_DIGITS};
  gint64 utc_s = ns / NS_PER_S;
  if (ns % NS_PER_S < 0)
    utc_s--;
  shown.offset_s = (int)tide_zone_span_at(zone, utc_s).offset_s;
  gint64 local_s = utc_s + shown.offset_s;
  gint64 day = tide_day_of_seconds(local_s);
  int second_of_day = (int)(local_s - day * TIDE_SECONDS_PER_DAY);
  tide_date_of_days(day, &shown.values[TIDE_LEVEL_YEAR], &shown.values[TIDE_LEVEL_MONTH],
                    &shown.values[TIDE_LEVEL_DAY]);
  shown.values[TIDE_LEVEL_HOUR] = second_of_day / 3600;
  shown.values[TIDE_LEVEL_MINUTE] = second_of_day / 60 % 60;
  shown.values[TIDE_LEVEL_SECOND] = second_of_day % 60;
  shown.values[TIDE_LEVEL_FRACTION] = (int)(ns - utc_s * NS_PER_S);
  return shown;
}

/* Without a year, February may have its leap day; without a month, the day may be any. */
static gboolean
is_date_of_a_year(const TideTimeElements *elements)
{
  const int *values = elements->values;
  guint named = elements->named;
  return tide_date_is_valid(named & TIDE_NAMES(YEAR) ? values[TIDE_LEVEL_YEAR] : 2000,
                            named & TIDE_NAMES(MONTH) ? values[TIDE_LEVEL_MONTH] : 1,
                            named & TIDE_NAMES(DAY) ? values[TIDE_LEVEL_DAY] : 1);
}

gboolean
tide_time_elements_check(const TideTimeElements *elements, const char **ret_detail)
{
  const int *values = elements->values;
  gboolean is_whole = (elements->named & TIDE_NAMES_DATE) == TIDE_NAMES_DATE;
  if (!(G_LIKELY(is_whole)
            ? tide_date_is_valid(values[TIDE_LEVEL_YEAR], values[TIDE_LEVEL_MONTH], values[TIDE_LEVEL_DAY])
            : is_date_of_a_year(elements))) {
    *ret_detail = "no such date";
    return FALSE;
  }
  if (values[TIDE_LEVEL_SECOND] == 60) {
    *ret_detail = "a leap second, which a count since the epoch cannot represent";
    return FALSE;
  }
  if (values[TIDE_LEVEL_HOUR] > 23 || values[TIDE_LEVEL_MINUTE] > 59 || values[TIDE_LEVEL_SECOND] > 59) {
    *ret_detail = "no such time of day";
    return FALSE;
  }
  return TRUE;
}

const char *
tide_time_names_fault(guint named)
{
  guint date = named & TIDE_NAMES_DATE;
  if (date != 0 && date != TIDE_NAMES_DATE)
    return "a date needs year, month and day: yyyy, MM and dd, or yyyy and D";
  if ((named & TIDE_NAMES(MINUTE)) && !(named & TIDE_NAMES(HOUR)))
    return "mm (minutes) needs HH; months are MM";
  if ((named & TIDE_NAMES(SECOND)) && !(named & TIDE_NAMES(MINUTE)))
    return "ss needs mm";
  if ((named & TIDE_NAMES(FRACTION)) && !(named & TIDE_NAMES(SECOND)))
    return "S and f (parts of a second) need ss";
  return (named & TIDE_NAMES_OFFSET) && !(named & TIDE_NAMES(HOUR)) ? "X (the offset from UTC) needs a time of day"
                                                                    : NULL;
}

gint64
tide_time_elements_local_s(const TideTimeElements *elements)
{
  const int *values = elements->values;
  gint64 second_of_day = (values[TIDE_LEVEL_HOUR] * 60 + values[TIDE_LEVEL_MINUTE]) * 60 + values[TIDE_LEVEL_SECOND];
  gint64 day = elements->named & TIDE_NAMES_DATE
                   ? tide_days_of_date(values[TIDE_LEVEL_YEAR], values[TIDE_LEVEL_MONTH], values[TIDE_LEVEL_DAY])
                   : 0;
  return day * TIDE_SECONDS_PER_DAY + second_of_day;
}

/* The local seconds [from, to) that show the elements, without the fraction. FALSE: the date does not exist. */
static gboolean
local_interval_s(const TideTimeElements *elements, gint64 *ret_from_s, gint64 *ret_to_s)
{
  TideTimeElements first = *elements;
  int *values = first.values;
  guint named = first.named;
  if (!(named & TIDE_NAMES(MONTH)))
    values[TIDE_LEVEL_MONTH] = 1;
  if (!(named & TIDE_NAMES(DAY)))
    values[TIDE_LEVEL_DAY] = 1;
  if (!tide_date_is_valid(values[TIDE_LEVEL_YEAR], values[TIDE_LEVEL_MONTH], values[TIDE_LEVEL_DAY]))
    return FALSE;
  *ret_from_s = tide_time_elements_local_s(&first);
  if (named & (TIDE_NAMES_CLOCK | TIDE_NAMES(DAY))) {
    *ret_to_s = *ret_from_s + (named & TIDE_NAMES(SECOND)   ? 1
                               : named & TIDE_NAMES(MINUTE) ? 60
                               : named & TIDE_NAMES(HOUR)   ? 3600
                                                            : TIDE_SECONDS_PER_DAY);
    return TRUE;
  }
  gboolean is_last_month = !(named & TIDE_NAMES(MONTH)) || values[TIDE_LEVEL_MONTH] == 12;
  *ret_to_s = TIDE_SECONDS_PER_DAY * tide_days_of_date(values[TIDE_LEVEL_YEAR] + (is_last_month ? 1 : 0),
                                                       is_last_month ? 1 : values[TIDE_LEVEL_MONTH] + 1, 1);
  return TRUE;
}

/* The first and the last moment at which clocks show a time in [local_from_s, local_to_s). FALSE: there is none. */
static gboolean
moments_s(GTimeZone *zone, gint64 local_from_s, gint64 local_to_s, gint64 *ret_from_s, gint64 *ret_to_s)
{
  gint64 from_s = G_MAXINT64, to_s = G_MININT64;
  gint64 last_s = local_to_s + TIDE_SECONDS_PER_DAY; /* offsets are below a day */
  TideZoneSpan span = {.to_s = local_from_s - TIDE_SECONDS_PER_DAY};
  do {
    span = tide_zone_span_at(zone, span.to_s);
    gint64 shown_from_s = MAX(span.from_s, local_from_s - span.offset_s);
    gint64 shown_to_s = MIN(span.to_s, local_to_s - span.offset_s);
    if (shown_from_s < shown_to_s) {
      from_s = MIN(from_s, shown_from_s);
      to_s = shown_to_s;
    }
  } while (span.to_s < last_s);
  *ret_from_s = from_s;
  *ret_to_s = to_s;
  return from_s < to_s;
}

gboolean
tide_time_elements_interval(const TideTimeElements *elements, GTimeZone *zone, gint64 *ret_from_ns, gint64 *ret_to_ns)
{
  gint64 local_from_s, local_to_s, from_s, to_s, from_ns, to_ns;
  if (!tide_time_names_from_year(elements->named) || !local_interval_s(elements, &local_from_s, &local_to_s) ||
      !moments_s(zone, local_from_s, local_to_s, &from_s, &to_s))
    return FALSE;
  if (__builtin_mul_overflow(from_s, NS_PER_S, &from_ns) || __builtin_mul_overflow(to_s, NS_PER_S, &to_ns))
    return FALSE;
  if (elements->named & TIDE_NAMES(FRACTION)) {
    from_ns += elements->values[TIDE_LEVEL_FRACTION];
    to_ns += elements->values[TIDE_LEVEL_FRACTION] - NS_PER_S +
             tide_time_level_ns(TIDE_LEVEL_FRACTION, elements->fraction_digits);
  }
  if (to_ns <= 0)
    return FALSE;
  *ret_from_ns = MAX(from_ns, 0);
  *ret_to_ns = to_ns;
  return TRUE;
}
