/* Slots, printed times, and zones. */
#include "model/time/time_cut.h"
#include "model/time/time_pattern.h"
#include "model/time/zone_spans.h"
#include "unit/test_case.h"
#include "unit/time_zones.h"
#include "util/calendar.h"
#include "util/error.h"
#include "util/lock.h"

/* ---- time cut ---- */

#define NS_PER_S G_GINT64_CONSTANT(1000000000)
#define NS_PER_MS G_GINT64_CONSTANT(1000000)

static TideTimeCut
cut_of(const char *text)
{
  TideTimeCut cut;
  g_autoptr(GError) error = NULL;
  g_assert_true(tide_time_cut_parse(text, &cut, &error));
  g_assert_no_error(error);
  return cut;
}

/* The moment at which the clocks of @zone show this, as if they were UTC's: seconds. */
static gint64
local_s(int year, int month, int day, int hour, int minute)
{
  return tide_days_of_date(year, month, day) * TIDE_SECONDS_PER_DAY + (hour * 60 + minute) * 60;
}

TEST("/time-cut/known-slots")
{
  static const struct {
    const char *cut;
    const char *zone; /* NULL: UTC */
    gint64 t_ms;
    gint64 start_ms;
    gint64 end_ms;
  } cases[] = {
      /* 2015-03-16 in Los Angeles, 00:00 and 12:53:32.045 */
      {"day", "America/Los_Angeles", 1426489200000, 1426489200000, 1426575600000},
      {"day", "America/Los_Angeles", 1426535612045, 1426489200000, 1426575600000},
      {"day", "America/Los_Angeles", 1426575599999, 1426489200000, 1426575600000},
      {"day", NULL, 1426535612045, 1426464000000, 1426550400000},
      {"15m", NULL, 1426535612045, 1426535100000, 1426536000000},
      {"hour", "Asia/Kathmandu", 1426535612045, 1426533300000, 1426536900000},
      {"6h", NULL, 1426535612045, 1426528800000, 1426550400000},
      {"week", NULL, 1426535612045, 1426464000000, 1427068800000}, /* a Monday */
      {"week", NULL, 1426463999999, 1425859200000, 1426464000000}, /* the Sunday before it */
      {"week", NULL, 1451606400000, 1451260800000, 1451865600000}, /* 2016-01-01: from 2015-12-28 */
      {"month", NULL, 1456704000000, 1456790400000 - 29 * G_GINT64_CONSTANT(86400000), 1456790400000}, /* 2016-02-29 */
      {"month", NULL, 1451606399999, 1448928000000, 1451606400000},                                    /* December */
      {"year", NULL, 1483228799999, 1451606400000, 1483228800000}, /* the last of 2016's 366 days */
      {"year", "America/Los_Angeles", 1451606400000, 1420099200000, 1451635200000},
      {"month", "Europe/Berlin", 1427846399999, 1427839200000, 1430431200000}, /* 2015-04-01T01:59: summer time */
      {"month", "Europe/Berlin", 1427839199999, 1425164400000, 1427839200000}, /* March, an hour short */
      /* Before 1970 nothing is. */
      {"day", "America/Los_Angeles", 0, 0, 28800000},
      {"week", NULL, 0, 0, 345600000},
      {"year", "America/Los_Angeles", 0, 0, 28800000},
      {"day", "Asia/Kathmandu", 0, 0, 66600000},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(GTimeZone) zone = cases[i].zone != NULL ? time_zone_of(cases[i].zone) : NULL;
    TideTimeCut cut = cut_of(cases[i].cut);
    gint64 t_ns = cases[i].t_ms * NS_PER_MS;
    g_test_message("%s of %" G_GINT64_FORMAT, cases[i].cut, cases[i].t_ms);
    g_assert_cmpint(tide_time_cut_start_ns(cut, zone, t_ns), ==, cases[i].start_ms * NS_PER_MS);
    g_assert_cmpint(tide_time_cut_end_ns(cut, zone, t_ns), ==, cases[i].end_ms * NS_PER_MS);
  }
}

/* Walks through [from, to) by slots and counts them; each must begin where the one before ended, and hold each of its
 * minutes, and no other slot may. */
static int
count_slots(TideTimeCut cut, GTimeZone *zone, gint64 from_ns, gint64 to_ns)
{
  int n_slots = 0;
  gint64 start_ns = from_ns;
  for (; start_ns < to_ns; n_slots++) {
    gint64 end_ns = tide_time_cut_end_ns(cut, zone, start_ns);
    g_assert_cmpint(end_ns, >, start_ns);
    g_assert_cmpint(end_ns - start_ns, <=, tide_time_cut_longest_ns(cut));
    for (gint64 t_ns = start_ns; t_ns < end_ns; t_ns += 60 * NS_PER_S) {
      g_assert_cmpint(tide_time_cut_start_ns(cut, zone, t_ns), ==, start_ns);
      g_assert_cmpint(tide_time_cut_end_ns(cut, zone, t_ns), ==, end_ns);
    }
    g_assert_cmpint(tide_time_cut_start_ns(cut, zone, end_ns - 1), ==, start_ns);
    start_ns = end_ns;
  }
  g_assert_cmpint(start_ns, ==, to_ns);
  return n_slots;
}

TEST("/time-cut/days-on-which-clocks-are-set")
{
  static const struct {
    const char *zone;
    int year, month, day;
    int day_minutes;
    int n_quarters, n_hours, n_3_hours, n_12_hours;
  } cases[] = {
      {"Europe/Berlin", 2015, 3, 29, 23 * 60, 92, 23, 8, 2},
      {"Europe/Berlin", 2015, 10, 25, 25 * 60, 100, 25, 8, 2},
      {"Europe/Berlin", 2015, 6, 1, 24 * 60, 96, 24, 8, 2},
      {"America/Los_Angeles", 2015, 3, 8, 23 * 60, 92, 23, 8, 2},
      {"America/Los_Angeles", 2015, 11, 1, 25 * 60, 100, 25, 8, 2},
      {"America/Sao_Paulo", 2017, 10, 15, 23 * 60, 92, 23, 8, 2}, /* begins at 01:00 */
      {"America/Sao_Paulo", 2018, 2, 17, 25 * 60, 100, 25, 8, 2}, /* 23:00 to 24:00 twice */
      {"Asia/Beirut", 2015, 3, 29, 23 * 60, 92, 23, 8, 2},
      {"America/Havana", 2015, 11, 1, 25 * 60, 100, 25, 9, 3},         /* 00:00 to 01:00 twice: two slots of any size */
      {"Atlantic/Azores", 2015, 10, 25, 25 * 60, 100, 25, 9, 3},       /* so too */
      {"Australia/Lord_Howe", 2015, 4, 5, 24 * 60 + 30, 98, 24, 8, 2}, /* 01:30 to 02:00 twice: an hour of 90 minutes */
      {"Australia/Lord_Howe", 2015, 10, 4, 23 * 60 + 30, 94, 24, 8, 2},
      {"America/St_Johns", 2010, 11, 6, 25 * 60, 101, 26, 10, 4}, /* 00:00 is shown for a minute, then 23:01 again */
      {"Antarctica/Casey", 2010, 3, 4, 27 * 60, 108, 27, 10, 4},  /* 02:00 of the next day to 23:00 */
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(GTimeZone) zone = time_zone_of(cases[i].zone);
    gint64 noon_s = local_s(cases[i].year, cases[i].month, cases[i].day, 12, 0);
    gint64 noon_ns = (noon_s - tide_zone_offset_s(zone, noon_s)) * NS_PER_S;
    g_test_message("%s %04d-%02d-%02d", cases[i].zone, cases[i].year, cases[i].month, cases[i].day);
    gint64 from_ns = tide_time_cut_start_ns(cut_of("day"), zone, noon_ns);
    gint64 to_ns = tide_time_cut_end_ns(cut_of("day"), zone, noon_ns);
    g_assert_cmpint((to_ns - from_ns) / NS_PER_S / 60, ==, cases[i].day_minutes);
    g_assert_cmpint(count_slots(cut_of("day"), zone, from_ns, to_ns), ==, 1);
    g_assert_cmpint(count_slots(cut_of("15m"), zone, from_ns, to_ns), ==, cases[i].n_quarters);
    g_assert_cmpint(count_slots(cut_of("hour"), zone, from_ns, to_ns), ==, cases[i].n_hours);
    g_assert_cmpint(count_slots(cut_of("180m"), zone, from_ns, to_ns), ==, cases[i].n_3_hours);
    g_assert_cmpint(count_slots(cut_of("720m"), zone, from_ns, to_ns), ==, cases[i].n_12_hours);
  }
}

/* A day by its definition: a moment belongs to the earliest date that the clocks show then or later. Compared minute by
 * minute around every change of some years. */
static void
assert_days_by_definition(GTimeZone *zone, gint64 from_s, int n_minutes)
{
  gint64 expected_day = G_MAXINT64, expected_end_s = G_MAXINT64;
  g_autofree gint64 *days = g_new(gint64, (gsize)n_minutes);
  for (int i = n_minutes - 1; i >= 0; i--) {
    gint64 utc_s = from_s + (gint64)i * 60;
    gint64 shown = tide_day_of_seconds(utc_s + tide_zone_offset_s(zone, utc_s));
    if (shown < expected_day) {
      expected_end_s = expected_day == G_MAXINT64 ? G_MAXINT64 : utc_s + 60;
      expected_day = shown;
    }
    days[i] = expected_day;
    if (expected_end_s != G_MAXINT64)
      g_assert_cmpint(tide_time_cut_end_ns(cut_of("day"), zone, utc_s * NS_PER_S), ==, expected_end_s * NS_PER_S);
  }
  gint64 start_s = G_MININT64;
  for (int i = 1; i < n_minutes; i++) {
    gint64 utc_s = from_s + (gint64)i * 60;
    if (days[i] != days[i - 1])
      start_s = utc_s;
    if (start_s != G_MININT64)
      g_assert_cmpint(tide_time_cut_start_ns(cut_of("day"), zone, utc_s * NS_PER_S), ==, start_s * NS_PER_S);
  }
}

TEST("/time-cut/days-are-those-of-the-definition")
{
  for (gsize i = 0; i < N_TIME_ZONES; i++) {
    g_autoptr(GTimeZone) zone = time_zone_of(time_zone_names[i]);
    gint64 offset_s = 0;
    for (gint64 utc_s = local_s(2005, 1, 1, 0, 0); utc_s < local_s(2020, 1, 1, 0, 0); utc_s += TIDE_SECONDS_PER_DAY) {
      gint64 next_s = tide_zone_offset_s(zone, utc_s);
      if (next_s != offset_s)
        assert_days_by_definition(zone, utc_s - 3 * TIDE_SECONDS_PER_DAY, 5 * 1440);
      offset_s = next_s;
    }
  }
}

TEST("/time-cut/random-moments-are-in-one-slot")
{
  static const char *const texts[] = {"1m",   "5m",  "15m", "30m",  "hour",  "2h",
                                      "180m", "12h", "day", "week", "month", "year"};
  GTimeZone *zones[N_TIME_ZONES + 1] = {NULL};
  TideTimeCut cuts[G_N_ELEMENTS(texts)];
  for (gsize i = 0; i < N_TIME_ZONES; i++)
    zones[i] = time_zone_of(time_zone_names[i]);
  for (gsize i = 0; i < G_N_ELEMENTS(texts); i++)
    cuts[i] = cut_of(texts[i]);
  for (int n = 0; n < 200000; n++) {
    gint64 t = random_moment_ns();
    GTimeZone *zone = zones[g_test_rand_int_range(0, N_TIME_ZONES + 1)];
    TideTimeCut cut = cuts[g_test_rand_int_range(0, G_N_ELEMENTS(texts))];
    gint64 start = tide_time_cut_start_ns(cut, zone, t), end = tide_time_cut_end_ns(cut, zone, t);
    g_assert_cmpint(start, <=, t);
    g_assert_cmpint(t, <, end);
    g_assert_cmpint(end - start, <=, tide_time_cut_longest_ns(cut));
    g_assert_cmpint(tide_time_cut_start_ns(cut, zone, start), ==, start);
    g_assert_cmpint(tide_time_cut_end_ns(cut, zone, start), ==, end);
    g_assert_cmpint(tide_time_cut_start_ns(cut, zone, end - 1), ==, start);
    g_assert_cmpint(tide_time_cut_start_ns(cut, zone, end), ==, end);
  }
  for (gsize i = 0; i < N_TIME_ZONES; i++)
    g_time_zone_unref(zones[i]);
}

TEST("/time-cut/no-cut")
{
  TideTimeCut none = {.unit = TIDE_CUT_NONE};
  g_assert_cmpint(tide_time_cut_start_ns(none, NULL, 17), ==, 17);
  g_assert_cmpint(tide_time_cut_end_ns(none, NULL, 17), ==, 18);
  g_assert_cmpint(tide_time_cut_longest_ns(none), ==, 1);
}

TEST("/time-cut/last-moment")
{
  for (int unit = TIDE_CUT_MINUTES; unit <= TIDE_CUT_YEAR; unit++) {
    TideTimeCut cut = {.unit = (TideCutUnit)unit, .minutes = unit == TIDE_CUT_MINUTES ? 60 : 0};
    g_assert_cmpint(tide_time_cut_start_ns(cut, NULL, G_MAXINT64), <=, G_MAXINT64);
    g_assert_cmpint(tide_time_cut_end_ns(cut, NULL, G_MAXINT64), >, G_MAXINT64 - NS_PER_S);
  }
}

TEST("/time-cut/texts")
{
  static const struct {
    const char *text;
    TideTimeCut cut;
    const char *formatted; /* NULL: as the text */
  } cases[] = {
      {"15m", {TIDE_CUT_MINUTES, 15}, NULL},    {"1m", {TIDE_CUT_MINUTES, 1}, NULL},
      {"60m", {TIDE_CUT_MINUTES, 60}, "hour"},  {"1h", {TIDE_CUT_MINUTES, 60}, "hour"},
      {"hour", {TIDE_CUT_MINUTES, 60}, NULL},   {"6h", {TIDE_CUT_MINUTES, 360}, NULL},
      {"720m", {TIDE_CUT_MINUTES, 720}, "12h"}, {"90m", {TIDE_CUT_MINUTES, 90}, NULL},
      {"day", {TIDE_CUT_DAY, 0}, NULL},         {"1d", {TIDE_CUT_DAY, 0}, "day"},
      {"week", {TIDE_CUT_WEEK, 0}, NULL},       {"month", {TIDE_CUT_MONTH, 0}, NULL},
      {"year", {TIDE_CUT_YEAR, 0}, NULL},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    TideTimeCut cut = cut_of(cases[i].text);
    g_assert_cmpint(cut.unit, ==, cases[i].cut.unit);
    g_assert_cmpuint(cut.minutes, ==, cases[i].cut.minutes);
    g_autofree char *text = tide_time_cut_format(cut);
    g_assert_cmpstr(text, ==, cases[i].formatted != NULL ? cases[i].formatted : cases[i].text);
  }
  g_autofree char *none = tide_time_cut_format((TideTimeCut){.unit = TIDE_CUT_NONE});
  g_assert_cmpstr(none, ==, "none");
}

TEST("/time-cut/wrong-texts")
{
  static const char *const unknown[] = {"",
                                        "m",
                                        "15",
                                        "15x",
                                        "15mm",
                                        "-15m",
                                        " 15m",
                                        "15 m",
                                        "0m",
                                        "0h",
                                        "1w",
                                        "Day",
                                        "days",
                                        "2d",
                                        "none",
                                        "1.5h",
                                        "18446744073709551631m"};
  static const char *const uneven[] = {"7m", "11m", "24h", "1440m", "721m", "5h", "13h", "17h"};
  for (gsize i = 0; i < G_N_ELEMENTS(unknown) + G_N_ELEMENTS(uneven); i++) {
    gboolean is_uneven = i >= G_N_ELEMENTS(unknown);
    const char *text = is_uneven ? uneven[i - G_N_ELEMENTS(unknown)] : unknown[i];
    g_autoptr(GError) error = NULL;
    TideTimeCut cut;
    g_test_message("'%s'", text);
    g_assert_false(tide_time_cut_parse(text, &cut, &error));
    g_assert_error(error, TIDE_ERROR, TIDE_ERROR_CONFIG);
    g_assert_nonnull(strstr(error->message, is_uneven ? "divisor of 1440" : "hours (6h), day, week, month or year"));
  }
}

TEST("/time-cut/changes-of-zones")
{
  static const struct {
    const char *zone;
    gboolean has_changes;
  } cases[] = {{"UTC", FALSE}, {"+05:30", FALSE}, {"Europe/Berlin", TRUE}, {"Asia/Kathmandu", TRUE}};
  g_assert_false(tide_zone_has_changes(NULL));
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(GTimeZone) zone = time_zone_of(cases[i].zone);
    g_assert_cmpint(tide_zone_has_changes(zone), ==, cases[i].has_changes);
  }
}

/* ---- time print ---- */

#define NS_PER_S_TIME_PRINT G_GINT64_CONSTANT(1000000000)
#define T_NS G_GINT64_CONSTANT(1426535612045678901) /* 2015-03-16T19:53:32.045678901Z */

static TideTimePattern *
print_of(const char *pattern, gboolean variable)
{
  g_autoptr(GError) error = NULL;
  TideTimePattern *print =
      tide_time_pattern_compile(pattern, variable ? TIDE_PATTERN_QUALIFIER : TIDE_PATTERN_KEY, &error);
  g_assert_no_error(error);
  g_assert_nonnull(print);
  return print;
}

static char *
printed(const TideTimePattern *print, GTimeZone *zone, gint64 ns)
{
  g_auto(TideBuffer) out = {0};
  tide_time_pattern_print(print, zone, ns, &out);
  return g_strndup((const char *)out.data, out.len);
}

TEST("/time-print/patterns")
{
  static const struct {
    const char *pattern;
    gboolean variable;
    const char *zone; /* NULL: UTC */
    gint64 ns;
    const char *text;
  } cases[] = {
      {"yyyyMMdd", FALSE, NULL, T_NS, "20150316"},
      {"yyyyMMddHHmmssSSS", FALSE, NULL, T_NS, "20150316195332045"},
      {"yyyyMMddHHmmssSSSSSSSSS", FALSE, NULL, T_NS, "20150316195332045678901"},
      {"yyyyMMddHHmmssS", FALSE, NULL, T_NS, "201503161953320"},
      {"HHmm", FALSE, NULL, T_NS, "1953"},
      {"HHmm", FALSE, "America/Los_Angeles", T_NS, "1253"},
      {"yyyy-MM-dd'T'HH:mm:ss", FALSE, "Asia/Kathmandu", T_NS, "2015-03-17T01:38:32"},
      {"yyyyMMdd", FALSE, "Pacific/Kiritimati", T_NS, "20150317"},
      {"''yyyy''", FALSE, NULL, T_NS, "'2015'"},
      {"'day'dd'''s'", FALSE, NULL, T_NS, "day16's"},
      {"\xC3\xA9 HH", FALSE, NULL, T_NS, "\xC3\xA9 19"},
      {"d", TRUE, NULL, T_NS, "16"},
      {"d", TRUE, NULL, T_NS - 15 * 86400 * NS_PER_S_TIME_PRINT, "1"},
      {"M/d", TRUE, NULL, T_NS, "3/16"},
      {"H'h'", TRUE, NULL, T_NS, "19h"},
      {"H", TRUE, NULL, T_NS - 19 * 3600 * NS_PER_S_TIME_PRINT, "0"},
      {"MM.dd.H", TRUE, NULL, T_NS, "03.16.19"},
      {"yyyyMMddHHmmssSSSSSSSSS", FALSE, NULL, 0, "19700101000000000000000"},
      {"yyyyMMddHH", FALSE, "America/Los_Angeles", 0, "1969123116"},
      {"yyyyMMddHHmmssSSSSSSSSS", FALSE, NULL, G_MAXINT64, "22620411234716854775807"},
      {"yyyyMMddHHmmssSSSSSSSSS", FALSE, NULL, -1, "19691231235959999999999"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(GTimeZone) zone = cases[i].zone != NULL ? time_zone_of(cases[i].zone) : NULL;
    g_autoptr(TideTimePattern) print = print_of(cases[i].pattern, cases[i].variable);
    g_autofree char *text = printed(print, zone, cases[i].ns);
    g_assert_cmpstr(text, ==, cases[i].text);
  }
}

TEST("/time-print/append")
{
  g_autoptr(TideTimePattern) print = print_of("yyyyMMdd", FALSE);
  g_auto(TideBuffer) out = {0};
  tide_buffer_append(&out, "a#", 2);
  tide_time_pattern_print(print, NULL, T_NS, &out);
  g_assert_true(tide_bytes_equal(tide_buffer_bytes(&out), TIDE_BYTES_LITERAL("a#20150316")));
}

/* As keys ask it, where the zone's clocks do not change. */
static gboolean
sorts(const TideTimePattern *print)
{
  return print->width_bytes > 0 && print->descends && print->first_level == TIDE_LEVEL_YEAR;
}

TEST("/time-print/properties")
{
  static const struct {
    const char *pattern;
    gboolean variable;
    guint32 width_bytes;
    gboolean sorts, has_date, has_clock;
    gint64 resolution_ns;
  } cases[] = {
      {"yyyyMMdd", FALSE, 8, TRUE, TRUE, FALSE, 86400 * NS_PER_S_TIME_PRINT},
      {"yyyyMM", FALSE, 6, TRUE, TRUE, FALSE, 31 * 86400 * NS_PER_S_TIME_PRINT},
      {"yyyy", FALSE, 4, TRUE, TRUE, FALSE, 366 * 86400 * NS_PER_S_TIME_PRINT},
      {"yyyy-MM-dd'T'HH", FALSE, 13, TRUE, TRUE, TRUE, 3600 * NS_PER_S_TIME_PRINT},
      {"yyyyMMddHHmm", FALSE, 12, TRUE, TRUE, TRUE, 60 * NS_PER_S_TIME_PRINT},
      {"yyyyMMddHHmmss", FALSE, 14, TRUE, TRUE, TRUE, NS_PER_S_TIME_PRINT},
      {"yyyyMMddHHmmssSSS", FALSE, 17, TRUE, TRUE, TRUE, NS_PER_S_TIME_PRINT / 1000},
      {"ddMMyyyy", FALSE, 8, FALSE, TRUE, FALSE, 86400 * NS_PER_S_TIME_PRINT},
      {"HHmm", FALSE, 4, FALSE, FALSE, TRUE, 60 * NS_PER_S_TIME_PRINT},
      {"MMdd", FALSE, 4, FALSE, FALSE, FALSE, 86400 * NS_PER_S_TIME_PRINT},
      {"yyyydd", FALSE, 6, FALSE, FALSE, FALSE, 86400 * NS_PER_S_TIME_PRINT},
      {"yyyyMMddmm", FALSE, 10, FALSE, FALSE, TRUE, 60 * NS_PER_S_TIME_PRINT},
      {"d", TRUE, 0, FALSE, FALSE, FALSE, 86400 * NS_PER_S_TIME_PRINT},
      {"yyyyM", TRUE, 0, FALSE, TRUE, FALSE, 31 * 86400 * NS_PER_S_TIME_PRINT},
      {"dd", TRUE, 2, FALSE, FALSE, FALSE, 86400 * NS_PER_S_TIME_PRINT},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(TideTimePattern) print = print_of(cases[i].pattern, cases[i].variable);
    g_test_message("'%s'", cases[i].pattern);
    g_assert_cmpuint(print->width_bytes, ==, cases[i].width_bytes);
    g_assert_cmpint(sorts(print), ==, cases[i].sorts);
    g_assert_cmpint(tide_time_names_from_year(print->named), ==, cases[i].has_date);
    g_assert_cmpint((print->named & TIDE_NAMES_CLOCK) != 0, ==, cases[i].has_clock);
    g_assert_cmpint(tide_time_pattern_resolution_ns(print), ==, cases[i].resolution_ns);
  }
}

TEST("/time-print/wrong-patterns")
{
  static const struct {
    const char *pattern;
    gboolean variable;
    const char *fault;
  } cases[] = {
      {"", FALSE, "has no element of a time"},
      {"'yyyy'", FALSE, "has no element of a time"},
      {"yyyyMMddX", FALSE, "'X' cannot be part of a key, which is read back and sorted: use yyyy MM dd HH mm ss S"},
      {"yyy", FALSE, "'yyy' must be written yyyy"},
      {"yyyyMd", FALSE, "'M' must be written MM"},
      {"d", FALSE, "'d' must be written dd"},
      {"ddd", TRUE, "'ddd' must be written dd or d"},
      {"m", TRUE, "'m' must be written mm"},
      {"SSSSSSSSSS", FALSE, "'SSSSSSSSSS' must be written S to SSSSSSSSS"},
      {"yyyy-yyyy", FALSE, "'y' occurs twice"},
      {"d dd", TRUE, "'d' occurs twice"},
      {"yyyy'T", FALSE, "a quote is not closed"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(GError) error = NULL;
    g_test_message("'%s'", cases[i].pattern);
    g_assert_null(tide_time_pattern_compile(cases[i].pattern,
                                            cases[i].variable ? TIDE_PATTERN_QUALIFIER : TIDE_PATTERN_KEY, &error));
    g_assert_error(error, TIDE_ERROR, TIDE_ERROR_CONFIG);
    g_assert_nonnull(strstr(error->message, cases[i].fault));
  }
  tide_time_pattern_free(NULL);
}

/* A pattern that prints all from the year down to one element, in any order, with something between. */
static char *
random_pattern(void)
{
  static const char *const elements[] = {"yyyy", "MM", "dd", "HH", "mm", "ss", NULL};
  static const char *const between[] = {"", "", "-", " 'at' ", "''", "\xE2\x82\xAC", "7"};
  g_autofree char *fraction = g_strnfill((gsize)g_test_rand_int_range(1, 10), 'S');
  const char *order[7] = {NULL};
  int n = g_test_rand_int_range(1, 8);
  for (int i = 0; i < n; i++) {
    int index = g_test_rand_int_range(0, i + 1);
    order[i] = order[index];
    order[index] = i < 6 ? elements[i] : fraction;
  }
  GString *pattern = g_string_new(NULL);
  for (int i = 0; i < n; i++)
    g_string_append_printf(pattern, "%s%s", order[i], between[g_test_rand_int_range(0, G_N_ELEMENTS(between))]);
  return g_string_free(pattern, FALSE);
}

TEST("/time-print/reads-back")
{
  for (int n = 0; n < 50000; n++) {
    g_autofree char *pattern = random_pattern();
    g_autoptr(TideTimePattern) print = print_of(pattern, FALSE);
    g_autoptr(GTimeZone) zone =
        g_test_rand_int_range(0, 8) > 0 ? time_zone_of(time_zone_names[g_test_rand_int_range(0, N_TIME_ZONES)]) : NULL;
    gint64 t = random_moment_ns(), from, to, longest = tide_time_pattern_resolution_ns(print);
    g_autofree char *text = printed(print, zone, t);
    TideTimeElements elements;
    const char *detail;
    g_test_message("'%s' '%s' %" G_GINT64_FORMAT, pattern, text, t);
    g_assert_cmpuint(strlen(text), ==, print->width_bytes);
    g_assert_true(tide_time_pattern_read(print, tide_bytes_of_string(text), &elements, &detail));
    g_assert_true(tide_time_elements_interval(&elements, zone, &from, &to));
    g_assert_cmpint(from, <=, t);
    g_assert_cmpint(t, <, to);
    /* A time that is shown twice reaches from the one to the other, 3 hours later at most. */
    g_assert_cmpint(to - from, <=, longest + 3 * 3600 * NS_PER_S_TIME_PRINT);
    if (zone == NULL && longest <= 86400 * NS_PER_S_TIME_PRINT)
      g_assert_cmpint(to - from, ==, longest);
    /* Both ends show the same. */
    g_autofree char *first = printed(print, zone, from), *last = printed(print, zone, to - 1);
    g_assert_cmpstr(first, ==, text);
    g_assert_cmpstr(last, ==, text);
  }
}

TEST("/time-print/order")
{
  static const char *const patterns[] = {"yyyy", "yyyyMM", "yyyy-MM-dd", "yyyyMMddHH", "yyyyMMddHHmmssSSS"};
  for (int n = 0; n < 20000; n++) {
    g_autoptr(TideTimePattern) print = print_of(patterns[g_test_rand_int_range(0, G_N_ELEMENTS(patterns))], FALSE);
    gint64 a = random_moment_ns(), b = a + g_test_rand_int_range(0, G_MAXINT32) * G_GINT64_CONSTANT(1000003);
    g_autofree char *text_a = printed(print, NULL, a), *text_b = printed(print, NULL, b);
    g_assert_true(sorts(print));
    g_assert_cmpint(strcmp(text_a, text_b), <=, 0);
  }
}

/* A day slot printed as yyyyMMdd gives all of the slot back: what the wide day row needs. */
TEST("/time-print/printed-day-is-the-slot")
{
  g_autoptr(TideTimePattern) print = print_of("yyyyMMdd", FALSE);
  TideTimeCut day = {.unit = TIDE_CUT_DAY};
  for (gsize i = 0; i < N_TIME_ZONES; i++) {
    g_autoptr(GTimeZone) zone = time_zone_of(time_zone_names[i]);
    for (int n = 0; n < 5000; n++) {
      gint64 t = random_moment_ns(), from, to;
      gint64 start = tide_time_cut_start_ns(day, zone, t);
      g_autofree char *text = printed(print, zone, start);
      TideTimeElements elements;
      const char *detail;
      g_assert_true(tide_time_pattern_read(print, tide_bytes_of_string(text), &elements, &detail));
      g_assert_true(tide_time_elements_interval(&elements, zone, &from, &to));
      g_assert_true(from <= t && t < to);
      g_assert_cmpint(from, <=, start);
      g_assert_cmpint(to, >=, tide_time_cut_end_ns(day, zone, t));
      /* The date may be shown before the day's slot, where clocks are set back to the day before. */
      g_assert_cmpint(start - from, <=, 3 * 3600 * NS_PER_S_TIME_PRINT);
    }
  }
}

TEST("/time-print/texts-of-another-form")
{
  static const struct {
    const char *pattern;
    const char *text;
  } cases[] = {
      {"yyyyMMdd", "2015031"},  {"yyyyMMdd", "201503160"}, {"yyyyMMdd", "2015031a"}, {"yyyyMMdd", "20151316"},
      {"yyyyMMdd", "20150016"}, {"yyyyMMdd", "20150300"},  {"yyyyMMdd", "20150332"}, {"HHmm", "2400"},
      {"HHmm", "2360"},         {"HH:mm:ss", "12:00:60"},  {"HH:mm", "12-00"},       {"'x'HH", "y12"},
      {"yyyyMMdd", ""},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(TideTimePattern) print = print_of(cases[i].pattern, FALSE);
    TideTimeElements elements;
    const char *detail;
    g_test_message("'%s' '%s'", cases[i].pattern, cases[i].text);
    g_assert_false(tide_time_pattern_read(print, tide_bytes_of_string(cases[i].text), &elements, &detail));
  }
}

static gboolean
read_into(TideTimeElements *elements, const char *pattern, const char *text)
{
  g_autoptr(TideTimePattern) print = print_of(pattern, FALSE);
  const char *detail;
  return tide_time_pattern_read(print, tide_bytes_of_string(text), elements, &detail);
}

TEST("/time-print/clocks-set")
{
  static const struct {
    const char *zone;
    const char *pattern;
    const char *text;
    gboolean exists;
    gint64 from_s, to_s;
  } cases[] = {
      {"Europe/Berlin", "yyyyMMdd", "20150329", TRUE, 1427583600, 1427666400},     /* 23 hours */
      {"Europe/Berlin", "yyyyMMdd", "20151025", TRUE, 1445724000, 1445814000},     /* 25 hours */
      {"Europe/Berlin", "yyyyMMddHH", "2015032902", FALSE, 0, 0},                  /* skipped */
      {"Europe/Berlin", "yyyyMMddHH", "2015102502", TRUE, 1445731200, 1445738400}, /* twice: both hours */
      {"Europe/Berlin", "yyyyMMddHHmm", "201510250230", TRUE, 1445733000, 1445736660},
      {"America/Sao_Paulo", "yyyyMMdd", "20171015", TRUE, 1508036400, 1508119200}, /* begins at 01:00 */
      {"America/Sao_Paulo", "yyyyMMddHH", "2017101500", FALSE, 0, 0},
      {"Pacific/Apia", "yyyyMMdd", "20111230", FALSE, 0, 0},
      {"UTC", "yyyyMMdd", "20150229", FALSE, 0, 0},
      {"UTC", "yyyyMMdd", "20160229", TRUE, 1456704000, 1456790400},
      {"UTC", "yyyyMM", "201602", TRUE, 1454284800, 1456790400},
      {"UTC", "yyyyMM", "201612", TRUE, 1480550400, 1483228800},
      {"UTC", "yyyy", "2016", TRUE, 1451606400, 1483228800},
      {"UTC", "yyyy", "1969", FALSE, 0, 0},
      {"America/Los_Angeles", "yyyy", "1969", TRUE, 0, 28800}, /* its last hours are of 1970 in UTC */
      {"UTC", "yyyy", "2263", FALSE, 0, 0},
      {"UTC", "yyyy", "9999", FALSE, 0, 0},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(GTimeZone) zone = time_zone_of(cases[i].zone);
    TideTimeElements elements;
    gint64 from = 0, to = 0;
    g_test_message("'%s' %s", cases[i].text, cases[i].zone);
    g_assert_cmpint(read_into(&elements, cases[i].pattern, cases[i].text) &&
                        tide_time_elements_interval(&elements, zone, &from, &to),
                    ==, cases[i].exists);
    g_assert_cmpint(from, ==, cases[i].from_s * NS_PER_S_TIME_PRINT);
    g_assert_cmpint(to, ==, cases[i].to_s * NS_PER_S_TIME_PRINT);
  }
}

/* ---- zone spans ---- */

/* GLib's answer, the slow way. */
static gint64
offset_by_glib(GTimeZone *zone, gint64 utc_s)
{
  return g_time_zone_get_offset(zone, g_time_zone_find_interval(zone, G_TIME_TYPE_UNIVERSAL, utc_s));
}

TEST("/zone-spans/offsets-are-glib's")
{
  for (gsize i = 0; i < N_TIME_ZONES; i++) {
    g_autoptr(GTimeZone) zone = time_zone_of(time_zone_names[i]);
    for (int n = 0; n < 5000; n++) {
      gint64 utc_s = random_moment_ns() / G_GINT64_CONSTANT(1000000000);
      TideZoneSpan span = tide_zone_span_at(zone, utc_s);
      g_assert_cmpint(span.offset_s, ==, offset_by_glib(zone, utc_s));
      g_assert_cmpint(span.from_s, <=, utc_s);
      g_assert_cmpint(span.to_s, >, utc_s);
    }
  }
}

TEST("/zone-spans/join-and-differ")
{
  for (gsize i = 0; i < N_TIME_ZONES; i++) {
    g_autoptr(GTimeZone) zone = time_zone_of(time_zone_names[i]);
    TideZoneSpan span = tide_zone_span_at(zone, G_MININT64);
    g_assert_cmpint(span.from_s, ==, G_MININT64);
    while (span.to_s != G_MAXINT64) {
      TideZoneSpan next = tide_zone_span_at(zone, span.to_s);
      g_assert_cmpint(next.from_s, ==, span.to_s);
      g_assert_cmpint(next.offset_s, !=, span.offset_s);
      g_assert_cmpint(offset_by_glib(zone, next.from_s - 1), ==, span.offset_s);
      g_assert_cmpint(offset_by_glib(zone, next.from_s), ==, next.offset_s);
      g_assert_cmpint(tide_zone_span_at(zone, next.from_s - 1).from_s, ==, span.from_s);
      span = next;
    }
  }
}

TEST("/zone-spans/no-zone-is-utc")
{
  TideZoneSpan span = tide_zone_span_at(NULL, 1426535612);
  g_assert_cmpint(span.from_s, ==, G_MININT64);
  g_assert_cmpint(span.to_s, ==, G_MAXINT64);
  g_assert_cmpint(span.offset_s, ==, 0);
}

TEST("/zone-spans/change-in-berlin")
{
  g_autoptr(GTimeZone) zone = time_zone_of("Europe/Berlin");
  TideZoneSpan summer = tide_zone_span_at(zone, 1435708800); /* 2015-07-01 */
  g_assert_cmpint(summer.from_s, ==, 1427590800);            /* 2015-03-29T01:00:00Z */
  g_assert_cmpint(summer.to_s, ==, 1445734800);              /* 2015-10-25T01:00:00Z */
  g_assert_cmpint(summer.offset_s, ==, 7200);
}

static void
ask_all_zones(gpointer data)
{
  GTimeZone **zones = data;
  for (gsize i = 0; i < N_TIME_ZONES; i++)
    g_assert_cmpint(tide_zone_span_at(zones[i], 1435708800).offset_s, ==, offset_by_glib(zones[i], 1435708800));
}

/* Zones of their own, so that they are new to all threads at once. */
TEST("/zone-spans/threads-may-ask-first-together")
{
  GTimeZone *zones[N_TIME_ZONES];
  TideThread *threads[8];
  for (gsize i = 0; i < N_TIME_ZONES; i++) {
    g_autofree char *name = g_strdup_printf("+%02" G_GSIZE_FORMAT ":30", i % 14);
    zones[i] = g_time_zone_new_identifier(name);
  }
  for (gsize i = 0; i < G_N_ELEMENTS(threads); i++)
    threads[i] = tide_thread_start("ask", ask_all_zones, zones);
  for (gsize i = 0; i < G_N_ELEMENTS(threads); i++)
    tide_thread_join(threads[i]);
  for (gsize i = 0; i < N_TIME_ZONES; i++)
    g_time_zone_unref(zones[i]);
}
