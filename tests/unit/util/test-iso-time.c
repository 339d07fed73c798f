#include "util/calendar.h"

static void
check(gint64 epoch_ms, const char *expected)
{
  char text[TIDE_ISO_TIME_BYTES];
  g_assert_cmpstr(tide_iso_time_print(epoch_ms, text), ==, expected);
}

static void
test_moments(void)
{
  check(0, "1970-01-01T00:00:00.000Z");
  check(-1, "1969-12-31T23:59:59.999Z");
  check(1426535612045, "2015-03-16T19:53:32.045Z");
  check(1582934400000, "2020-02-29T00:00:00.000Z");
  check(-62135596800000, "0001-01-01T00:00:00.000Z");
  check(253402300799999, "9999-12-31T23:59:59.999Z");
}

static void
test_what_no_year_of_four_digits_holds_is_a_number(void)
{
  check(-62135596800001, "-62135596800001");
  check(253402300800000, "253402300800000");
  check(G_MAXINT64, "9223372036854775807");
  check(G_MININT64, "-9223372036854775808");
}

/* A leap day ends a year that begins in March, and that of 400 years ends all of them: the days around each. */
static void
test_leap_days(void)
{
  check(951782400000, "2000-02-29T00:00:00.000Z");
  for (int year = 1; year <= 9999; year++) {
    for (int day = -2; day <= 1; day++) {
      g_autoptr(GDateTime) march = g_date_time_new_utc(year, 3, 1, 0, 0, 0);
      g_autoptr(GDateTime) time = g_date_time_add_days(march, day);
      g_autofree char *expected = g_strdup_printf("%04d-%02d-%02dT00:00:00.000Z", g_date_time_get_year(time),
                                                  g_date_time_get_month(time), g_date_time_get_day_of_month(time));
      check(g_date_time_to_unix(time) * 1000, expected);
    }
  }
}

/* GLib's calendar is another one than the C library's. */
static void
test_as_glib_prints_them(void)
{
  for (int i = 0; i < 20000; i++) {
    gint64 epoch_s = (gint64)g_test_rand_double_range(-30610224000.0, 253402300799.0); /* from the year 1000 */
    g_autoptr(GDateTime) time = g_date_time_new_from_unix_utc(epoch_s);
    g_autofree char *expected = g_date_time_format(time, "%Y-%m-%dT%H:%M:%S.007Z");
    check(epoch_s * 1000 + 7, expected);
  }
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/iso-time/moments", test_moments);
  g_test_add_func("/iso-time/what-no-year-of-four-digits-holds-is-a-number",
                  test_what_no_year_of_four_digits_holds_is_a_number);
  g_test_add_func("/iso-time/leap-days", test_leap_days);
  g_test_add_func("/iso-time/as-glib-prints-them", test_as_glib_prints_them);
  return g_test_run();
}
