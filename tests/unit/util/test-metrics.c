/* The registry of metrics and its text form. */
#include "unit/test_case.h"
#include "util/lock.h"
#include "util/metrics.h"

G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideMetrics, tide_metrics_free)

static void
assert_rendered(TideMetrics *metrics, const char *expected)
{
  g_autofree char *text = tide_metrics_render(metrics);
  g_assert_cmpstr(text, ==, expected);
}

TEST("/metrics/text/counters-and-gauges")
{
  g_autoptr(TideMetrics) metrics = tide_metrics_new();
  assert_rendered(metrics, "");
  tide_counter_add(tide_metrics_counter(metrics, "tidemark_b_total", "Of b.", "topic=\"y\""), 7);
  tide_counter_inc(tide_metrics_counter(metrics, "tidemark_b_total", "Not shown.", "topic=\"x\""));
  tide_gauge_set(tide_metrics_gauge(metrics, "tidemark_a", "Line one\nand a \\.", NULL), -3);
  assert_rendered(metrics, "# HELP tidemark_a Line one\\nand a \\\\.\n"
                           "# TYPE tidemark_a gauge\n"
                           "tidemark_a -3\n"
                           "# HELP tidemark_b_total Of b.\n"
                           "# TYPE tidemark_b_total counter\n"
                           "tidemark_b_total{topic=\"x\"} 1\n"
                           "tidemark_b_total{topic=\"y\"} 7\n");
}

TEST("/metrics/text/thousandths-have-three-decimals")
{
  static const struct {
    gint64 milli;
    const char *sample;
  } cases[] = {
      {0, "n 0.000\n"},
      {1, "n 0.001\n"},
      {-1, "n -0.001\n"},
      {999, "n 0.999\n"},
      {1000, "n 1.000\n"},
      {-1500, "n -1.500\n"},
      {1426535612045, "n 1426535612.045\n"},
      {G_MININT64 + 1, "n -9223372036854775.807\n"},
  };
  g_autoptr(TideMetrics) metrics = tide_metrics_new();
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    tide_gauge_set(tide_metrics_gauge_milli(metrics, "n", "N.", NULL), cases[i].milli);
    g_autofree char *expected = g_strconcat("# HELP n N.\n# TYPE n gauge\n", cases[i].sample, NULL);
    assert_rendered(metrics, expected);
  }
}

/* The search for a bucket begins at the last value's: up and down from there. */
TEST("/metrics/text/histogram-values-come-in-any-order")
{
  static const double bounds[] = {1, 2, 3, 4};
  static const double values[] = {100, 0, 4, 1, 2.5, 4.5, 3, -1};
  g_autoptr(TideMetrics) metrics = tide_metrics_new();
  TideHistogram *histogram = tide_metrics_histogram(metrics, "h", "H.", NULL, bounds, G_N_ELEMENTS(bounds));
  for (gsize i = 0; i < G_N_ELEMENTS(values); i++)
    tide_histogram_observe(histogram, values[i]);
  assert_rendered(metrics, "# HELP h H.\n# TYPE h histogram\n"
                           "h_bucket{le=\"1\"} 3\nh_bucket{le=\"2\"} 3\nh_bucket{le=\"3\"} 5\nh_bucket{le=\"4\"} 6\n"
                           "h_bucket{le=\"+Inf\"} 8\nh_sum 114\nh_count 8\n");
}

TEST("/metrics/text/histogram-buckets-are-cumulative")
{
  static const double bounds[] = {0.005, 0.1, 1, 10};
  g_autoptr(TideMetrics) metrics = tide_metrics_new();
  TideHistogram *first = tide_metrics_histogram(metrics, "tidemark_h_seconds", "H.", "op=\"put\"", bounds, 4);
  TideHistogram *second = tide_metrics_histogram(metrics, "tidemark_h_seconds", "H.", "op=\"put\"", bounds, 4);
  tide_histogram_observe(first, 0.001);
  tide_histogram_observe(first, 0.005); /* equal to a bound: belongs below it */
  tide_histogram_observe(second, 0.25);
  tide_histogram_observe(second, 100);
  tide_histogram_observe(second, 0.0 / 0.0); /* NaN counts nowhere */
  assert_rendered(metrics, "# HELP tidemark_h_seconds H.\n"
                           "# TYPE tidemark_h_seconds histogram\n"
                           "tidemark_h_seconds_bucket{op=\"put\",le=\"0.005\"} 2\n"
                           "tidemark_h_seconds_bucket{op=\"put\",le=\"0.1\"} 2\n"
                           "tidemark_h_seconds_bucket{op=\"put\",le=\"1\"} 3\n"
                           "tidemark_h_seconds_bucket{op=\"put\",le=\"10\"} 3\n"
                           "tidemark_h_seconds_bucket{op=\"put\",le=\"+Inf\"} 4\n"
                           "tidemark_h_seconds_sum{op=\"put\"} 100.256\n"
                           "tidemark_h_seconds_count{op=\"put\"} 4\n");
  g_assert_cmpuint(tide_metrics_sum(metrics, "tidemark_h_seconds", NULL), ==, 4);
}

TEST("/metrics/text/no-stray-comma-without-labels")
{
  static const double bounds[] = {1};
  g_autoptr(TideMetrics) metrics = tide_metrics_new();
  tide_histogram_observe(tide_metrics_histogram(metrics, "h", "H.", NULL, bounds, 1), 0.5);
  assert_rendered(metrics, "# HELP h H.\n# TYPE h histogram\nh_bucket{le=\"1\"} 1\nh_bucket{le=\"+Inf\"} 1\n"
                           "h_sum 0.5\nh_count 1\n");
}

TEST("/metrics/label/values-are-escaped")
{
  static const struct {
    const char *value, *label;
  } cases[] = {
      {"metrics", "topic=\"metrics\""},     {"", "topic=\"\""},
      {"a\"b", "topic=\"a\\\"b\""},         {"a\\b", "topic=\"a\\\\b\""},
      {"a\nb", "topic=\"a\\nb\""},          {"x\"} 1\nevil_total 9", "topic=\"x\\\"} 1\\nevil_total 9\""},
      {"Z\xc3\xbc", "topic=\"Z\xc3\xbc\""}, {"a\xff", "topic=\"a\xEF\xBF\xBD\""},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *label = tide_metrics_label("topic", cases[i].value);
    g_assert_cmpstr(label, ==, cases[i].label);
  }
}

/* A name that Prometheus would refuse, or that two places mean differently, is a programming error. */
static const struct WrongName {
  const char *test, *name, *fault;
} wrong_names[] = {{"cannot-have-two-types", "tidemark_x:A9", "two types"},
                   {"is-not-empty", "", "a name that Prometheus would reject"},
                   {"begins-with-no-digit", "9a", "a name that Prometheus would reject"},
                   {"has-no-dash", "a-b", "a name that Prometheus would reject"}};

TEST_EACH("/metrics/name/", wrong_names)
{
  const struct WrongName *wrong = data;
  if (g_test_subprocess()) {
    g_autoptr(TideMetrics) metrics = tide_metrics_new();
    tide_metrics_counter(metrics, wrong->name, "X.", NULL);
    tide_metrics_gauge(metrics, wrong->name, "X.", NULL);
    return;
  }
  g_test_trap_subprocess(NULL, 0, 0);
  g_test_trap_assert_failed();
  g_autofree char *expected = g_strdup_printf("*'%s'*%s*", wrong->name, wrong->fault);
  g_test_trap_assert_stderr(expected);
}

TEST("/metrics/U2-gauge-without-a-value-has-no-series")
{
  g_autoptr(TideMetrics) metrics = tide_metrics_new();
  TideGauge *lag = tide_metrics_gauge_unknown(metrics, "tidemark_lag", "Lag.", "partition=\"0\"");
  TideGauge *age = tide_metrics_gauge_milli_unknown(metrics, "tidemark_lag_seconds", "Age.", NULL);
  assert_rendered(metrics, ""); /* no family without a sample */
  g_assert_cmpuint(tide_metrics_sum(metrics, "tidemark_lag", NULL), ==, 0);
  TideGauge *other = tide_metrics_gauge(metrics, "tidemark_lag", "Lag.", "partition=\"1\"");
  tide_gauge_set(lag, 5);
  tide_gauge_add(other, 6);
  g_assert_true(tide_metrics_gauge_unknown(metrics, "tidemark_lag", "Lag.", "partition=\"0\"") == lag);
  g_assert_cmpuint(tide_metrics_sum(metrics, "tidemark_lag", NULL), ==, 11);
  tide_gauge_clear(lag);
  assert_rendered(metrics, "# HELP tidemark_lag Lag.\n# TYPE tidemark_lag gauge\ntidemark_lag{partition=\"1\"} 6\n");
  tide_gauge_clear(other);
  tide_gauge_set(age, 1500);
  assert_rendered(metrics, "# HELP tidemark_lag_seconds Age.\n# TYPE tidemark_lag_seconds gauge\n"
                           "tidemark_lag_seconds 1.500\n");
}

TEST("/metrics/sum/takes-a-part-of-the-labels")
{
  g_autoptr(TideMetrics) metrics = tide_metrics_new();
  tide_counter_add(tide_metrics_counter(metrics, "c_total", "C.", "topic=\"a\",partition=\"1\""), 1);
  tide_counter_add(tide_metrics_counter(metrics, "c_total", "C.", "topic=\"a\",partition=\"11\""), 10);
  tide_counter_add(tide_metrics_counter(metrics, "c_total", "C.", "topic=\"b\",partition=\"1\""), 100);
  g_assert_cmpuint(tide_metrics_sum(metrics, "c_total", NULL), ==, 111);
  g_assert_cmpuint(tide_metrics_sum(metrics, "c_total", "topic=\"a\""), ==, 11);
  g_assert_cmpuint(tide_metrics_sum(metrics, "c_total", "partition=\"1\""), ==, 101);
  g_assert_cmpuint(tide_metrics_sum(metrics, "unknown_total", NULL), ==, 0);
}

#define N_THREADS 4
#define N_EVENTS 20000

static const double event_bounds[] = {0.25, 0.75};

static void
count_events(gpointer data)
{
  TideMetrics *metrics = data;
  TideCounter *counter = tide_metrics_counter(metrics, "tidemark_events_total", "Events.", NULL);
  TideHistogram *histogram = tide_metrics_histogram(metrics, "tidemark_event_size", "Sizes.", NULL, event_bounds, 2);
  TideGauge *gauge = tide_metrics_gauge(metrics, "tidemark_in_flight", "In flight.", NULL);
  for (guint i = 0; i < N_EVENTS; i++) {
    tide_counter_inc(counter);
    tide_histogram_observe(histogram, i % 2 == 0 ? 0.0 : 1.0);
    tide_gauge_add(gauge, i % 2 == 0 ? 2 : -1);
  }
}

TEST("/metrics/threads/lose-no-event-while-scraped")
{
  g_autoptr(TideMetrics) metrics = tide_metrics_new();
  TideThread *threads[N_THREADS];
  for (guint i = 0; i < N_THREADS; i++)
    threads[i] = tide_thread_start("counting", count_events, metrics);
  guint64 last = 0;
  for (guint i = 0; i < 50; i++) {
    g_autofree char *text = tide_metrics_render(metrics);
    g_assert_nonnull(text);
    guint64 now = tide_metrics_sum(metrics, "tidemark_events_total", NULL);
    g_assert_cmpuint(now, >=, last); /* a counter never goes back */
    last = now;
  }
  for (guint i = 0; i < N_THREADS; i++)
    tide_thread_join(threads[i]);
  g_assert_cmpuint(tide_metrics_sum(metrics, "tidemark_events_total", NULL), ==, N_THREADS * N_EVENTS);
  g_assert_cmpuint(tide_metrics_sum(metrics, "tidemark_event_size", NULL), ==, N_THREADS * N_EVENTS);
  g_assert_cmpuint(tide_metrics_sum(metrics, "tidemark_in_flight", NULL), ==, N_THREADS * N_EVENTS / 2);
  g_autofree char *text = tide_metrics_render(metrics);
  g_assert_nonnull(strstr(text, "tidemark_event_size_sum 40000\n"));
}

static void
show_one(TideMetrics *metrics, const char *labels, gint64 value)
{
  GArray *shown = g_array_new(FALSE, FALSE, sizeof(TideShown));
  TideShown one = {g_strdup(labels), value};
  g_array_append_val(shown, one);
  tide_metrics_show(metrics, "tidemark_hot", "Hot", shown);
}

TEST("/metrics/shown/replaces-what-was-before")
{
  g_autoptr(TideMetrics) metrics = tide_metrics_new();
  show_one(metrics, "region=\"a\"", 1);
  show_one(metrics, "region=\"b\"", 2);
  assert_rendered(metrics, "# HELP tidemark_hot Hot\n# TYPE tidemark_hot gauge\ntidemark_hot{region=\"b\"} 2\n");
}

TEST("/metrics/shown/counters-of-others")
{
  g_autoptr(TideMetrics) metrics = tide_metrics_new();
  tide_gauge_set(tide_metrics_counter_milli(metrics, "process_cpu_seconds_total", "CPU", NULL), 1500);
  assert_rendered(metrics, "# HELP process_cpu_seconds_total CPU\n# TYPE process_cpu_seconds_total counter\n"
                           "process_cpu_seconds_total 1.500\n");
}
