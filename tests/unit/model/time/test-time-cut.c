#include "model/time/time_cut.h"
#include "model/time/zone_spans.h"
#include "util/calendar.h"
#include "util/error.h"

#include "unit/allocation_counter.h"
#include "unit/time_zones.h"

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

static void
test_known_slots(void)
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

static void
test_days_on_which_clocks_are_set(void)
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

static void
test_days_are_those_of_the_definition(void)
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

static void
test_random_moments_are_in_one_slot(void)
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

static void
test_no_cut_is_the_moment_itself(void)
{
  TideTimeCut none = {.unit = TIDE_CUT_NONE};
  g_assert_cmpint(tide_time_cut_start_ns(none, NULL, 17), ==, 17);
  g_assert_cmpint(tide_time_cut_end_ns(none, NULL, 17), ==, 18);
  g_assert_cmpint(tide_time_cut_longest_ns(none), ==, 1);
}

static void
test_last_moment_is_in_a_slot(void)
{
  for (int unit = TIDE_CUT_MINUTES; unit <= TIDE_CUT_YEAR; unit++) {
    TideTimeCut cut = {.unit = (TideCutUnit)unit, .minutes = unit == TIDE_CUT_MINUTES ? 60 : 0};
    g_assert_cmpint(tide_time_cut_start_ns(cut, NULL, G_MAXINT64), <=, G_MAXINT64);
    g_assert_cmpint(tide_time_cut_end_ns(cut, NULL, G_MAXINT64), >, G_MAXINT64 - NS_PER_S);
  }
}

static void
test_texts_are_read_and_written(void)
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

static void
test_wrong_texts_are_refused_with_what_is_allowed(void)
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

static void
test_changes_of_zones(void)
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

static void
test_cutting_allocates_nothing(void)
{
  g_autoptr(GTimeZone) zone = time_zone_of("Europe/Berlin");
  TideTimeCut day = cut_of("day"), quarter = cut_of("15m");
  guint64 sum = (guint64)tide_time_cut_start_ns(day, zone, 0); /* wraps round */
  guint64 n_before = allocation_count;
  for (gint64 t_ns = 0; t_ns < 1000 * 86400 * NS_PER_S; t_ns += 86399 * NS_PER_S)
    sum += (guint64)tide_time_cut_start_ns(day, zone, t_ns) + (guint64)tide_time_cut_end_ns(quarter, zone, t_ns);
  g_assert_cmpuint(allocation_count, ==, n_before);
  g_assert_cmpuint(sum, !=, 0);
}

/* For `--m perf`: prints what a cut costs. */
static void
test_cost(void)
{
  static const char *const texts[] = {"15m", "day", "week", "month"};
  static const char *const names[] = {NULL, "Asia/Kathmandu", "Europe/Berlin", "America/St_Johns"};
  if (!g_test_perf()) {
    g_test_skip("a measurement: run with -m perf");
    return;
  }
  for (gsize z = 0; z < G_N_ELEMENTS(names); z++) {
    g_autoptr(GTimeZone) zone = names[z] != NULL ? time_zone_of(names[z]) : NULL;
    for (gsize c = 0; c < G_N_ELEMENTS(texts); c++) {
      TideTimeCut cut = cut_of(texts[c]);
      guint64 sum = 0;
      gint64 began_us = g_get_monotonic_time();
      for (gint64 n = 0; n < 2000000; n++)
        sum += (guint64)tide_time_cut_start_ns(cut, zone, (1780000000 + n * 997 % 30000000) * NS_PER_S);
      g_assert_cmpuint(sum, !=, 0);
      g_test_minimized_result((double)(g_get_monotonic_time() - began_us) / 2000, "%s in %s: %.1f ns", texts[c],
                              names[z] != NULL ? names[z] : "UTC", (double)(g_get_monotonic_time() - began_us) / 2000);
    }
  }
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/time-cut/known-slots", test_known_slots);
  g_test_add_func("/time-cut/days-on-which-clocks-are-set", test_days_on_which_clocks_are_set);
  g_test_add_func("/time-cut/days-are-those-of-the-definition", test_days_are_those_of_the_definition);
  g_test_add_func("/time-cut/random-moments-are-in-one-slot", test_random_moments_are_in_one_slot);
  g_test_add_func("/time-cut/no-cut", test_no_cut_is_the_moment_itself);
  g_test_add_func("/time-cut/last-moment", test_last_moment_is_in_a_slot);
  g_test_add_func("/time-cut/texts", test_texts_are_read_and_written);
  g_test_add_func("/time-cut/wrong-texts", test_wrong_texts_are_refused_with_what_is_allowed);
  g_test_add_func("/time-cut/changes-of-zones", test_changes_of_zones);
  g_test_add_func("/time-cut/allocates-nothing", test_cutting_allocates_nothing);
  g_test_add_func("/time-cut/cost", test_cost);
  return g_test_run();
}
