/* Whether the wall clock was set, by what two clocks show. */
#include "service/clock_watch.h"

#define S TIDE_US_PER_S
#define NOON (1763700000 * S)

static gint64
look(TideClockWatch *watch, gint64 wall_us, gint64 boot_us)
{
  return tide_clock_watch_compare(watch, wall_us, boot_us);
}

static void
test_jumps(void)
{
  TideClockWatch watch = {0};
  g_assert_cmpint(look(&watch, NOON, 100 * S), ==, 0);
  g_assert_cmpint(look(&watch, NOON + S, 101 * S), ==, 0);
  g_assert_cmpint(look(&watch, NOON + 2 * S - 3600 * S, 102 * S), ==, -3600 * S);
  g_assert_cmpint(look(&watch, NOON + 3 * S - 3600 * S, 103 * S), ==, 0); /* once */
  g_assert_cmpint(look(&watch, NOON + 4 * S, 104 * S), ==, 3600 * S);
  g_assert_cmpint(look(&watch, NOON + 4 * S, 105 * S), ==, -S); /* a leap second */
}

static void
test_no_jumps(void)
{
  TideClockWatch watch = {0};
  g_assert_cmpint(look(&watch, 0, 5 * S), ==, 0);         /* whatever it shows at first */
  g_assert_cmpint(look(&watch, 600 * S, 605 * S), ==, 0); /* suspended in between, or this thread stood still */
  for (gint64 i = 1; i <= 100; i++)
    g_assert_cmpint(look(&watch, 600 * S + i * (S + S / 10), 605 * S + i * S), ==, 0); /* slewed */
}

static void
test_real_clocks(void)
{
  TideClockWatch watch = {0};
  g_assert_cmpint(tide_clock_watch_look(&watch), ==, 0);
  g_assert_true(watch.has_looked);
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/clock-watch/E9-jumps-are-noticed-once", test_jumps);
  g_test_add_func("/clock-watch/E9-slewing-and-suspension-are-no-jumps", test_no_jumps);
  g_test_add_func("/clock-watch/real-clocks", test_real_clocks);
  return g_test_run();
}
