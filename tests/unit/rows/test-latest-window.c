/* How long latest rows wait: short when all is well, long when it costs nothing, and else in proportion to what writes
 * take. */
#include "rows/latest_window.h"

#include "util/clock.h"

#define MS TIDE_US_PER_MS

#define MIN_US (5 * MS)
#define MAX_US (1000 * MS)

static const TideLoadSigns quiet = {.more = FALSE, .late_us = 3600 * TIDE_US_PER_S};
static const TideLoadSigns live = {.more = TRUE, .late_us = 20 * MS};
static const TideLoadSigns backlog = {.more = TRUE, .late_us = 3600 * TIDE_US_PER_S};
static const TideLoadSigns without_time = {.more = TRUE, .late_us = G_MAXINT64};

static TideLatestWindow
window_new(void)
{
  TideLatestWindow window;
  tide_latest_window_init(&window, MIN_US, MAX_US);
  return window;
}

static TideLatestWindow
window_after(const TideLoadSigns *signs)
{
  TideLatestWindow window = window_new();
  tide_latest_window_adapt(&window, signs, 0);
  return window;
}

/* Of a live stream, while writes take that long. */
static void
adapt_to_write(TideLatestWindow *window, gint64 write_us, gint64 now_us)
{
  TideLoadSigns signs = {.write_us = write_us};
  tide_latest_window_adapt(window, &signs, now_us);
}

static void
test_is_short_on_a_live_stream(void)
{
  g_assert_cmpint(window_after(&quiet).us, ==, 5 * MS);
  g_assert_cmpint(window_after(&live).us, ==, 10 * MS);
  TideLatestWindow window = window_new();
  for (gint64 now_us = 0; now_us < TIDE_US_PER_S; now_us += 5 * MS)
    adapt_to_write(&window, MS, now_us);
  g_assert_cmpint(window.us, ==, 5 * MS);
}

static void
test_is_long_in_a_backlog(void)
{
  g_assert_cmpint(window_after(&backlog).us, ==, 1000 * MS);
  g_assert_cmpint(window_after(&without_time).us, ==, 1000 * MS);
  TideLatestWindow window = window_new();
  tide_latest_window_adapt(&window, &(const TideLoadSigns){.more = TRUE, .late_us = 4000 * MS, .write_us = -1}, 0);
  g_assert_cmpint(tide_latest_window_next_us(&window), ==, 20 * MS); /* its end is looked for then, writes or not */
}

static void
test_halves_when_no_backlog_keeps_it_up(void)
{
  TideLatestWindow window = window_after(&backlog);
  tide_latest_window_adapt(&window, &quiet, 19 * MS);
  g_assert_cmpint(window.us, ==, 1000 * MS);
  g_assert_cmpint(tide_latest_window_next_us(&window), <=, 39 * MS);
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

/* From either side, without passing it, in some tenths of a second. */
static void
test_comes_to_what_writes_ask_for(void)
{
  TideLatestWindow rising = window_new(), falling = window_new();
  gint64 now_us = 0;
  for (; now_us < 10 * TIDE_US_PER_S; now_us += 5 * MS)
    adapt_to_write(&falling, 200 * MS, now_us);
  g_assert_cmpint(falling.us, >, 350 * MS);
  adapt_to_write(&rising, 0, now_us);
  for (gint64 end_us = now_us + TIDE_US_PER_S; now_us < end_us; now_us += 5 * MS) {
    gint64 low_us = rising.us, high_us = falling.us;
    adapt_to_write(&rising, 50 * MS, now_us);
    adapt_to_write(&falling, 50 * MS, now_us);
    g_assert_cmpint(rising.us, >=, low_us);
    g_assert_cmpint(falling.us, <=, high_us);
    g_assert_cmpint(rising.us, <=, falling.us);
  }
  g_assert_cmpint(falling.us - rising.us, <=, MS);
  g_assert_cmpint(rising.us, >, 95 * MS);
  g_assert_cmpint(falling.us, <, 105 * MS);
}

static void
test_one_slow_write_makes_nobody_wait(void)
{
  TideLatestWindow window = window_new();
  gint64 now_us = 0;
  for (; now_us < TIDE_US_PER_S; now_us += 5 * MS)
    adapt_to_write(&window, 10 * MS, now_us);
  gint64 before_us = window.us;
  now_us += 400 * MS;
  adapt_to_write(&window, 400 * MS, now_us);
  g_assert_cmpint(window.us, <, before_us + 150 * MS); /* not twice what that took */
  for (gint64 end_us = now_us + 500 * MS; now_us < end_us; now_us += 5 * MS)
    adapt_to_write(&window, 10 * MS, now_us);
  g_assert_cmpint(window.us, <, before_us + 5 * MS);
}

static void
test_stays_while_nothing_is_known_and_ends_with_the_writes(void)
{
  TideLatestWindow window = window_new();
  gint64 now_us = 0;
  for (; now_us < TIDE_US_PER_S; now_us += 5 * MS)
    adapt_to_write(&window, 50 * MS, now_us);
  gint64 busy_us = window.us;
  adapt_to_write(&window, -1, now_us += 100 * MS);
  g_assert_cmpint(window.us, ==, busy_us);
  g_assert_cmpint(tide_latest_window_next_us(&window), ==, G_MAXINT64); /* the write that is under way wakes */
  adapt_to_write(&window, 0, now_us += 20 * MS);
  g_assert_cmpint(window.us, <, busy_us);
  for (guint i = 0; tide_latest_window_next_us(&window) != G_MAXINT64; i++) {
    g_assert_cmpuint(i, <, 50);
    adapt_to_write(&window, 0, tide_latest_window_next_us(&window));
  }
  g_assert_cmpint(window.us, ==, 5 * MS);
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

static TideLoadSigns
draw_signs(void)
{
  return (TideLoadSigns){.more = g_test_rand_bit(),
                         .late_us = g_test_rand_int_range(0, 4000) * MS,
                         .write_us = g_test_rand_int_range(-1, 3000) * MS};
}

/* Whatever is seen: within its bounds, and not shorter where a write took longer, with all else the same. */
static void
test_any_signs(void)
{
  for (guint round = 0; round < 100; round++) {
    TideLatestWindow window = window_new(), slower = window_new();
    gint64 now_us = 0;
    for (guint i = 0; i < 200; i++) {
      TideLoadSigns signs = draw_signs();
      now_us += g_test_rand_int_range(0, 100) * MS;
      tide_latest_window_adapt(&window, &signs, now_us);
      signs.write_us += signs.write_us >= 0 ? g_test_rand_int_range(0, 100) * MS : 0;
      tide_latest_window_adapt(&slower, &signs, now_us);
      g_assert_cmpint(window.us, >=, MIN_US);
      g_assert_cmpint(slower.us, <=, MAX_US);
      g_assert_cmpint(window.us, <=, slower.us);
    }
  }
}

/* ---- what it makes of writers, and they of it ---- */

#define STEP_MS 5
#define SIMULATED_S 30
#define N_STEPS (SIMULATED_S * 1000 / STEP_MS)

/* A history table and a latest one of so many machines before writers that take rows in the order they come. */
typedef struct Load {
  double readings_per_s;
  double machines;
  double rows_per_s; /* that the writers can do */
  double call_ms;    /* what a call takes with nothing before it */
} Load;

/* Runs @load, and says between which two the window was in the last third. */
static void
run_load(const Load *load, gint64 *ret_least_us, gint64 *ret_most_us, double *ret_rows_per_reading)
{
  TideLatestWindow window = window_new();
  g_autofree double *arrived = g_new0(double, N_STEPS + 1); /* rows, up to each step */
  double written = 0;
  guint written_step = 0; /* of the row that is written now */
  *ret_least_us = G_MAXINT64;
  *ret_most_us = 0;
  for (guint i = 0; i < N_STEPS; i++) {
    double window_s = (double)window.us / TIDE_US_PER_S;
    double latest_per_s = load->machines / (window_s + load->machines / load->readings_per_s);
    arrived[i + 1] = arrived[i] + (load->readings_per_s + latest_per_s) * STEP_MS / 1000;
    written = MIN(written + load->rows_per_s * STEP_MS / 1000, arrived[i + 1]);
    while (written_step < i && arrived[written_step + 1] <= written)
      written_step++;
    double write_ms = (i - written_step) * STEP_MS + load->call_ms;
    adapt_to_write(&window, (gint64)(write_ms * MS), (gint64)(i + 1) * STEP_MS * MS);
    if (i < N_STEPS / 3 * 2)
      continue;
    *ret_least_us = MIN(*ret_least_us, window.us);
    *ret_most_us = MAX(*ret_most_us, window.us);
  }
  *ret_rows_per_reading = arrived[N_STEPS] / load->readings_per_s / SIMULATED_S;
}

/* Where the writers cannot do a latest row for each reading the window comes to rest where they can; where they can, it
 * stays short. */
static void
test_comes_to_rest_under_any_load(void)
{
  static const double readings_per_s[] = {1000, 5000, 20000, 50000}, machines[] = {10, 1000, 10000};
  static const double share[] = {1.1, 1.3, 1.6, 1.9, 2.5}; /* of rows that the writers can do for each reading */
  for (guint r = 0; r < G_N_ELEMENTS(readings_per_s); r++)
    for (guint m = 0; m < G_N_ELEMENTS(machines); m++)
      for (guint s = 0; s < G_N_ELEMENTS(share); s++) {
        Load load = {readings_per_s[r], machines[m], readings_per_s[r] * share[s], 2};
        double least_rows = 1 + 1 / (1 + readings_per_s[r] / machines[m]); /* with the longest window, of a second */
        gint64 least_us, most_us;
        double rows_per_reading;
        if (share[s] < least_rows)
          continue; /* too much for them anyway */
        run_load(&load, &least_us, &most_us, &rows_per_reading);
        g_test_message("%.0f readings/s, %.0f machines, %.1f rows a reading: window %.1f to %.1f ms, %.2f rows",
                       load.readings_per_s, load.machines, share[s], (double)least_us / MS, (double)most_us / MS,
                       rows_per_reading);
        g_assert_cmpfloat((double)most_us, <=, 1.25 * (double)least_us + 5 * MS);
        g_assert_cmpfloat(rows_per_reading, <=, share[s] * 1.02);
        if (share[s] > 2)
          g_assert_cmpint(most_us, <=, 15 * MS);
      }
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/latest-window/is-short-on-a-live-stream", test_is_short_on_a_live_stream);
  g_test_add_func("/latest-window/is-long-in-a-backlog", test_is_long_in_a_backlog);
  g_test_add_func("/latest-window/halves-when-no-backlog-keeps-it-up", test_halves_when_no_backlog_keeps_it_up);
  g_test_add_func("/latest-window/comes-to-what-writes-ask-for", test_comes_to_what_writes_ask_for);
  g_test_add_func("/latest-window/one-slow-write-makes-nobody-wait", test_one_slow_write_makes_nobody_wait);
  g_test_add_func("/latest-window/stays-while-nothing-is-known-and-ends-with-the-writes",
                  test_stays_while_nothing_is_known_and_ends_with_the_writes);
  g_test_add_func("/latest-window/is-never-below-what-is-asked-for", test_is_never_below_what_is_asked_for);
  g_test_add_func("/latest-window/comes-to-be-within-new-bounds", test_comes_to_be_within_new_bounds);
  g_test_add_func("/latest-window/any-signs", test_any_signs);
  g_test_add_func("/latest-window/comes-to-rest-under-any-load", test_comes_to_rest_under_any_load);
  return g_test_run();
}
