/* Which moments a day has, by the clocks of a zone. */
#include "commands/rollup/rollup.h"

#include "unit/test_case.h"
#include "util/error.h"

#define HOUR_MS G_GINT64_CONSTANT(3600000)

static TideRollupDay
parse(const char *text, const char *zone_name, gint64 now_ms)
{
  g_autoptr(GTimeZone) zone = zone_name != NULL ? g_time_zone_new_identifier(zone_name) : NULL;
  g_autoptr(GError) error = NULL;
  TideRollupDay day;
  g_assert_true(zone_name == NULL || zone != NULL);
  g_assert_true(tide_rollup_day_parse(text, zone, now_ms, &day, &error));
  g_assert_no_error(error);
  return day;
}

TEST("/rollup-day/a-day-in-utc")
{
  TideRollupDay day = parse("2017-07-26", NULL, 0);
  g_assert_cmpstr(day.name, ==, "20170726");
  g_assert_cmpint(day.from_ms, ==, G_GINT64_CONSTANT(1501027200000));
  g_assert_cmpint(day.to_ms, ==, G_GINT64_CONSTANT(1501113600000));
  TideRollupDay same = parse("20170726", NULL, 0);
  g_assert_cmpint(same.from_ms, ==, day.from_ms);
}

TEST("/rollup-day/hours-of-the-zone")
{
  TideRollupDay day = parse("2015-03-16", "America/Los_Angeles", 0);
  g_assert_cmpint(day.from_ms, ==, G_GINT64_CONSTANT(1426489200000));
  TideRollupDay spring = parse("2015-03-29", "Europe/Berlin", 0);
  g_assert_cmpstr(spring.name, ==, "20150329");
  g_assert_cmpint(spring.to_ms - spring.from_ms, ==, 23 * HOUR_MS);
  TideRollupDay autumn = parse("2015-10-25", "Europe/Berlin", 0);
  g_assert_cmpint(autumn.to_ms - autumn.from_ms, ==, 25 * HOUR_MS);
  /* A midnight that the clocks skip: the day begins at one o'clock. */
  TideRollupDay late = parse("2017-10-15", "America/Sao_Paulo", 0);
  g_assert_cmpstr(late.name, ==, "20171015");
  g_assert_cmpint(late.to_ms - late.from_ms, ==, 23 * HOUR_MS);
}

TEST("/rollup-day/yesterday")
{
  gint64 now_ms = G_GINT64_CONSTANT(1501113600000); /* 2017-07-27T00:00Z, still the 26th in Los Angeles */
  g_assert_cmpstr(parse(NULL, NULL, now_ms).name, ==, "20170726");
  g_assert_cmpstr(parse(NULL, "America/Los_Angeles", now_ms).name, ==, "20170725");
  /* The day after the one of 25 hours, in its first hour. */
  TideRollupDay berlin = parse(NULL, "Europe/Berlin", G_GINT64_CONSTANT(1445814000000) + 60000);
  g_assert_cmpstr(berlin.name, ==, "20151025");
  g_assert_cmpint(berlin.to_ms, ==, G_GINT64_CONSTANT(1445814000000));
}

TEST("/rollup-day/no-day")
{
  const char *const texts[] = {"",          "yesterday",  "2017-07",   "2017-02-29",
                               "2017-7-26", "2017-13-01", "20170726x", "1969-12-31"};
  for (gsize i = 0; i < G_N_ELEMENTS(texts); i++) {
    g_autoptr(GError) error = NULL;
    TideRollupDay day;
    g_assert_false(tide_rollup_day_parse(texts[i], NULL, 0, &day, &error));
    g_assert_error(error, TIDE_ERROR, TIDE_ERROR_USAGE);
    g_assert_nonnull(strstr(error->message, "2017-07-26"));
  }
}
