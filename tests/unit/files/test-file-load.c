/* The rate of a load belongs to its records: who looks in vain uses up none of it. */
#include "files/file_load.h"
#include "util/clock.h"

#define NOW_US ((gint64)1000 * TIDE_US_PER_S)
#define PERIOD_US (TIDE_US_PER_S / 10)

static void
test_rate(void)
{
  TideFileLoadOptions options = {.rate_per_s = 10};
  g_autoptr(TideFileLoad) load = tide_file_load_new(&options);
  for (guint i = 0; i < 100; i++)
    g_assert_cmpint(tide_file_load_wait_for_rate_us(load, NOW_US), ==, 0);
  tide_file_load_count_for_rate(load, NOW_US); /* catches up with a tenth of a second */
  g_assert_cmpint(tide_file_load_wait_for_rate_us(load, NOW_US), ==, 0);
  tide_file_load_count_for_rate(load, NOW_US);
  for (guint i = 0; i < 100; i++)
    g_assert_cmpint(tide_file_load_wait_for_rate_us(load, NOW_US), ==, PERIOD_US + 1);
  g_assert_cmpint(tide_file_load_wait_for_rate_us(load, NOW_US + PERIOD_US), ==, 0);
}

static void
test_no_rate(void)
{
  TideFileLoadOptions options = {.rate_per_s = 0};
  g_autoptr(TideFileLoad) load = tide_file_load_new(&options);
  for (guint i = 0; i < 100; i++)
    tide_file_load_count_for_rate(load, NOW_US);
  g_assert_cmpint(tide_file_load_wait_for_rate_us(load, NOW_US), ==, 0);
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/rate", test_rate);
  g_test_add_func("/no-rate", test_no_rate);
  return g_test_run();
}
