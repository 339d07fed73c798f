/* How long latest rows wait: short when all is well, long when it costs nothing. */
#include "rows/latest_window.h"

#include "util/clock.h"

#define MS TIDE_US_PER_MS

static const TideLoadSigns quiet = {.more = FALSE, .late_us = 3600 * TIDE_US_PER_S};
static const TideLoadSigns live = {.more = TRUE, .late_us = 20 * MS};
static const TideLoadSigns backlog = {.more = TRUE, .late_us = 3600 * TIDE_US_PER_S};
static const TideLoadSigns without_time = {.more = TRUE, .late_us = G_MAXINT64};
static const TideLoadSigns behind = {.writers_are_behind = TRUE};
static const TideLoadSigns behind_on_a_live_stream = {.more = TRUE, .late_us = 20 * MS, .writers_are_behind = TRUE};

static TideLatestWindow
window_after(const TideLoadSigns *signs)
{
  TideLatestWindow window;
  tide_latest_window_init(&window, 5 * MS, 1000 * MS);
  tide_latest_window_adapt(&window, signs, 0);
  return window;
}

static void
test_is_short_on_a_live_stream(void)
{
  g_assert_cmpint(window_after(&quiet).us, ==, 5 * MS);
  g_assert_cmpint(window_after(&live).us, ==, 10 * MS);
}

static void
test_is_long_in_a_backlog_or_behind_slow_writers(void)
{
  g_assert_cmpint(window_after(&backlog).us, ==, 1000 * MS);
  g_assert_cmpint(window_after(&without_time).us, ==, 1000 * MS);
  g_assert_cmpint(window_after(&behind).us, ==, 1000 * MS);
  g_assert_cmpint(window_after(&behind_on_a_live_stream).us, ==, 1000 * MS);
}

static void
test_halves_when_nothing_keeps_it_up(void)
{
  TideLatestWindow window = window_after(&backlog);
  tide_latest_window_adapt(&window, &quiet, 19 * MS);
  g_assert_cmpint(window.us, ==, 1000 * MS);
  g_assert_cmpint(tide_latest_window_next_us(&window), ==, 20 * MS);
  tide_latest_window_adapt(&window, &quiet, 21 * MS);
  g_assert_cmpint(window.us, ==, 500 * MS);
  tide_latest_window_adapt(&window, &live, 60 * MS);
  g_assert_cmpint(window.us, ==, 125 * MS);
  tide_latest_window_adapt(&window, &backlog, 61 * MS);
  g_assert_cmpint(window.us, ==, 1000 * MS);
  tide_latest_window_adapt(&window, &quiet, 10 * TIDE_US_PER_S);
  g_assert_cmpint(window.us, ==, 5 * MS);
  g_assert_cmpint(tide_latest_window_next_us(&window), ==, G_MAXINT64);
}

static void
test_is_never_below_what_is_asked_for(void)
{
  TideLatestWindow window;
  tide_latest_window_init(&window, 4000 * MS, 1000 * MS);
  g_assert_cmpint(window.us, ==, 4000 * MS);
  tide_latest_window_adapt(&window, &backlog, 0);
  g_assert_cmpint(window.us, ==, 4000 * MS);
  tide_latest_window_adapt(&window, &quiet, 10 * TIDE_US_PER_S);
  g_assert_cmpint(window.us, ==, 4000 * MS);
}

/* As by a reload. */
static void
test_comes_to_be_within_new_bounds(void)
{
  TideLatestWindow window = window_after(&backlog);
  tide_latest_window_set_bounds(&window, 50 * MS, 200 * MS);
  tide_latest_window_adapt(&window, &backlog, 10 * TIDE_US_PER_S);
  g_assert_cmpint(window.us, ==, 200 * MS);
  tide_latest_window_adapt(&window, &quiet, 20 * TIDE_US_PER_S);
  g_assert_cmpint(window.us, ==, 50 * MS);
  tide_latest_window_set_bounds(&window, 400 * MS, 0);
  tide_latest_window_adapt(&window, &quiet, 20 * TIDE_US_PER_S);
  g_assert_cmpint(window.us, ==, 400 * MS);
  g_assert_cmpint(tide_latest_window_next_us(&window), ==, G_MAXINT64);
  tide_latest_window_set_bounds(&window, 0, 0);
  tide_latest_window_adapt(&window, &quiet, 40 * TIDE_US_PER_S);
  g_assert_cmpint(window.us, ==, 0);
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/latest-window/is-short-on-a-live-stream", test_is_short_on_a_live_stream);
  g_test_add_func("/latest-window/is-long-in-a-backlog-or-behind-slow-writers",
                  test_is_long_in_a_backlog_or_behind_slow_writers);
  g_test_add_func("/latest-window/halves-when-nothing-keeps-it-up", test_halves_when_nothing_keeps_it_up);
  g_test_add_func("/latest-window/is-never-below-what-is-asked-for", test_is_never_below_what_is_asked_for);
  g_test_add_func("/latest-window/comes-to-be-within-new-bounds", test_comes_to_be_within_new_bounds);
  return g_test_run();
}
