/* The rate over the last seconds. */
#include "util/rate.h"

#define SECOND TIDE_US_PER_S

static void
test_steady(void)
{
  TideRate rate = {0};
  for (gint64 s = 1000; s < 1030; s++)
    (void)tide_rate_add(&rate, 7, s * SECOND);
  g_assert_cmpfloat(tide_rate_a_second(rate, 1030 * SECOND), ==, 7);
}

static void
test_over_when_nothing_comes(void)
{
  TideRate rate = {0};
  g_assert_cmpfloat(tide_rate_a_second(rate, 5 * SECOND), ==, 0);
  g_assert_true(tide_rate_add(&rate, 50, 1000 * SECOND));
  g_assert_false(tide_rate_add(&rate, 50, 1004 * SECOND));
  g_assert_cmpfloat(tide_rate_a_second(rate, 1005 * SECOND), ==, 20);
  g_assert_cmpfloat(tide_rate_a_second(rate, 1009 * SECOND), <, 20);
  g_assert_cmpfloat(tide_rate_a_second(rate, 1010 * SECOND), ==, 0);
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/rate/steady", test_steady);
  g_test_add_func("/rate/over-when-nothing-comes", test_over_when_nothing_comes);
  return g_test_run();
}
