#include "model/time/time_cut.h"

#include "model/time/zone_spans.h"
#include "util/calendar.h"
#include "util/error.h"

#define NS_PER_S G_GINT64_CONSTANT(1000000000)
#define SECONDS_PER_HOUR 3600
#define MINUTES_PER_DAY 1440u
#define MAX_MINUTES 720u

/* The largest step back of any zone since 1970: Antarctica/Casey, 3 hours, in 2010 and 2012. */
#define LONGEST_REPEAT_S (3 * SECONDS_PER_HOUR)

/* The units with names. Slots of minutes are written as numbers, except for the hour. */
static const struct {
  const char *name;
  TideTimeCut cut;
  gint64 longest_days;
} named_cuts[] = {
    {"hour", {TIDE_CUT_MINUTES, 60}, 0}, {"day", {TIDE_CUT_DAY, 0}, 1},      {"1d", {TIDE_CUT_DAY, 0}, 1},
    {"week", {TIDE_CUT_WEEK, 0}, 7},     {"month", {TIDE_CUT_MONTH, 0}, 31}, {"year", {TIDE_CUT_YEAR, 0}, 366},
};

gboolean
tide_time_cut_parse(const char *text, TideTimeCut *ret_cut, GError **error)
{
  for (gsize i = 0; i < G_N_ELEMENTS(named_cuts); i++) {
    if (g_str_equal(text, named_cuts[i].name)) {
      *ret_cut = named_cuts[i].cut;
      return TRUE;
    }
  }
  char *end = NULL; /* for "15m" or "6h"; anything else, and any number that is too large, becomes 0 */
  guint64 number = g_ascii_isdigit(*text) ? g_ascii_strtoull(text, &end, 10) : 0;
  gboolean is_number = end != NULL && end[0] != '\0' && end[1] == '\0' && number <= MINUTES_PER_DAY;
  guint64 minutes = !is_number ? 0 : *end == 'm' ? number : *end == 'h' ? number * 60 : 0;
  if (minutes == 0)
    return tide_fail(error, TIDE_ERROR_CONFIG,
                     "a time cannot be cut to '%s': use minutes (15m), hour, hours (6h), day, week, month or year",
                     text);
  if (minutes > MAX_MINUTES || MINUTES_PER_DAY % minutes != 0)
    return tide_fail(
        error, TIDE_ERROR_CONFIG,
        "a time cannot be cut to '%s': the slots of a day must be equal, so its minutes must be a divisor of %u "
        "such as 5, 10, 15, 30, 60, 360 or 720; for a whole day use day",
        text, MINUTES_PER_DAY);
  *ret_cut = (TideTimeCut){TIDE_CUT_MINUTES, (guint32)minutes};
  return TRUE;
}

char *
tide_time_cut_format(TideTimeCut cut)
{
  if (cut.unit == TIDE_CUT_NONE)
    return g_strdup("none");
  for (gsize i = 0; i < G_N_ELEMENTS(named_cuts); i++)
    if (named_cuts[i].cut.unit == cut.unit && named_cuts[i].cut.minutes == cut.minutes)
      return g_strdup(named_cuts[i].name);
  return cut.minutes % 60 == 0 ? g_strdup_printf("%uh", cut.minutes / 60) : g_strdup_printf("%um", cut.minutes);
}

static gint64
slot_of_minutes_s(TideTimeCut cut)
{
  return (gint64)cut.minutes * 60;
}

/* The local start of the slot of minutes that contains a local time. 1970 began at midnight, and slots divide the day.
 */
static gint64
clock_start(gint64 local_s, gint64 slot_s)
{
  gint64 over_s = local_s % slot_s;
  return local_s - (over_s < 0 ? over_s + slot_s : over_s);
}

/* A slot continues across a change of offset only if the new local time lies within the same slot but is not its start:
 * a start always begins a slot, also the second time that it occurs. */
static gboolean
goes_on(gint64 slot_start_local_s, gint64 local_after_s, gint64 slot_s)
{
  return local_after_s != slot_start_local_s && clock_start(local_after_s, slot_s) == slot_start_local_s;
}

static gint64
minutes_start_s(gint64 slot_s, GTimeZone *zone, gint64 utc_s)
{
  for (;;) {
    TideZoneSpan span = tide_zone_span_at(zone, utc_s);
    gint64 start_local_s = clock_start(utc_s + span.offset_s, slot_s);
    if (start_local_s - span.offset_s >= span.from_s)
      return start_local_s - span.offset_s;
    utc_s = span.from_s - 1;
    gint64 local_before_s = utc_s + tide_zone_span_at(zone, utc_s).offset_s;
    if (!goes_on(clock_start(local_before_s, slot_s), span.from_s + span.offset_s, slot_s))
      return span.from_s;
  }
}

static gint64
minutes_end_s(gint64 slot_s, GTimeZone *zone, gint64 utc_s)
{
  for (;;) {
    TideZoneSpan span = tide_zone_span_at(zone, utc_s);
    gint64 start_local_s = clock_start(utc_s + span.offset_s, slot_s);
    gint64 end_s = start_local_s + slot_s - span.offset_s;
    if (end_s < span.to_s)
      return end_s;
    utc_s = span.to_s;
    if (!goes_on(start_local_s, utc_s + tide_zone_span_at(zone, utc_s).offset_s, slot_s))
      return utc_s;
  }
}

/* The first day of the slot that contains @day or, with @further, of the next slot. Days are counted from 1970-01-01, a
 * Thursday. */
static gint64
first_day(TideCutUnit unit, gint64 day, int further)
{
  int year, month, day_of_month;
  switch (unit) {
  case TIDE_CUT_WEEK: {
    gint64 weekday = (day + 3) % 7; /* Monday is 0 */
    return day - (weekday < 0 ? weekday + 7 : weekday) + 7 * further;
  }
  case TIDE_CUT_MONTH:
    tide_date_of_days(day, &year, &month, &day_of_month);
    month += further;
    return month <= 12 ? tide_days_of_date(year, month, 1) : tide_days_of_date(year + 1, 1, 1);
  case TIDE_CUT_YEAR:
    tide_date_of_days(day, &year, &month, &day_of_month);
    return tide_days_of_date(year + further, 1, 1);
  case TIDE_CUT_NONE:
  case TIDE_CUT_MINUTES:
  case TIDE_CUT_DAY:
    break;
  }
  return day + further;
}

/* The moment from which the clocks of @zone show @day or later. If clocks are set back across midnight, that is the
 * second midnight; if they skip midnight or the whole day, it is the first moment afterwards. */
static gint64
moment_of_day_s(GTimeZone *zone, gint64 day)
{
  gint64 midnight_local_s = day * TIDE_SECONDS_PER_DAY;
  /* Offsets are below a day, so at this time midnight has passed in any zone. */
  TideZoneSpan span = tide_zone_span_at(zone, midnight_local_s + TIDE_SECONDS_PER_DAY);
  for (;;) {
    gint64 midnight_s = midnight_local_s - span.offset_s;
    if (midnight_s > span.from_s)
      return midnight_s;
    TideZoneSpan before = tide_zone_span_at(zone, span.from_s - 1);
    if (span.from_s - 1 + before.offset_s < midnight_local_s)
      return span.from_s;
    span = before;
  }
}

/* The first day of the slot that contains @utc_s. */
static gint64
slot_day(TideCutUnit unit, GTimeZone *zone, gint64 utc_s)
{
  gint64 day = first_day(unit, tide_day_of_seconds(utc_s + tide_zone_span_at(zone, utc_s).offset_s), 0);
  /* After a local midnight that clocks will be set back across, the previous day continues. */
  return moment_of_day_s(zone, day) <= utc_s ? day : first_day(unit, day - 1, 0);
}

/* Limits to what nanoseconds since 1970 can count. */
static gint64
ns_of_seconds(gint64 utc_s)
{
  return CLAMP(utc_s, 0, G_MAXINT64 / NS_PER_S) * NS_PER_S;
}

gint64
tide_time_cut_start_ns(TideTimeCut cut, GTimeZone *zone, gint64 ns)
{
  gint64 utc_s = ns / NS_PER_S;
  if (cut.unit == TIDE_CUT_NONE)
    return ns;
  if (cut.unit == TIDE_CUT_MINUTES)
    return ns_of_seconds(minutes_start_s(slot_of_minutes_s(cut), zone, utc_s));
  return ns_of_seconds(moment_of_day_s(zone, slot_day(cut.unit, zone, utc_s)));
}

gint64
tide_time_cut_end_ns(TideTimeCut cut, GTimeZone *zone, gint64 ns)
{
  gint64 utc_s = ns / NS_PER_S;
  if (cut.unit == TIDE_CUT_NONE)
    return ns + 1;
  if (cut.unit == TIDE_CUT_MINUTES)
    return ns_of_seconds(minutes_end_s(slot_of_minutes_s(cut), zone, utc_s));
  return ns_of_seconds(moment_of_day_s(zone, first_day(cut.unit, slot_day(cut.unit, zone, utc_s), 1)));
}

gint64
tide_time_cut_longest_ns(TideTimeCut cut)
{
  if (cut.unit == TIDE_CUT_NONE)
    return 1;
  if (cut.unit == TIDE_CUT_MINUTES) /* a slot continues across a change only if less than the whole slot is repeated */
    return (slot_of_minutes_s(cut) + MIN(slot_of_minutes_s(cut), LONGEST_REPEAT_S)) * NS_PER_S;
  gint64 days = 0;
  for (gsize i = 0; i < G_N_ELEMENTS(named_cuts); i++)
    if (named_cuts[i].cut.unit == cut.unit)
      days = named_cuts[i].longest_days;
  return (days * TIDE_SECONDS_PER_DAY + LONGEST_REPEAT_S) * NS_PER_S;
}

gboolean
tide_zone_has_changes(GTimeZone *zone)
{
  return tide_zone_span_at(zone, 0).to_s != G_MAXINT64;
}
