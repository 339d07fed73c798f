#include "gateway/certificate_watch.h"

#define NOW_S G_GINT64_CONSTANT(1800000000) /* 2027-01-15 08:00 */
#define DAY_S 86400

static void
test_warning(void)
{
  const struct {
    gint64 end_s;
    const char *text;
  } cases[] = {
      {0, NULL},
      {NOW_S + 31 * DAY_S, NULL},
      {NOW_S + 30 * DAY_S, NULL},
      {NOW_S + 30 * DAY_S - 1, "ends in 29 days, on 2027-02-14"},
      {NOW_S + DAY_S / 2, "ends in 0 days, on 2027-01-15"},
      {NOW_S - DAY_S, "has ended on 2027-01-14"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *warning = tide_certificate_warning(cases[i].end_s, NOW_S);
    g_assert_cmpstr(warning, ==, cases[i].text);
  }
}

/* What is known of connections is shown; of a plain one nothing is. */
static void
test_metrics(void)
{
  TideMetrics *metrics = tide_metrics_new();
  TideCertificateWatch watch;
  gint64 far_s = g_get_real_time() / G_USEC_PER_SEC + 400 * DAY_S;
  tide_certificate_watch_init(&watch, "thrift+tls://h:1", metrics);
  tide_certificate_watch_note(&watch, (TideCertificateEnds){0});
  g_autofree char *before = tide_metrics_render(metrics);
  g_assert_null(strstr(before, "end_timestamp_seconds{"));
  tide_certificate_watch_note(&watch, (TideCertificateEnds){.peer_s = far_s});
  g_autofree char *after = tide_metrics_render(metrics);
  g_autofree char *line = g_strdup_printf(
      "tidemark_gateway_certificate_end_timestamp_seconds{gateway=\"thrift+tls://h:1\"} %" G_GINT64_FORMAT "\n", far_s);
  g_assert_nonnull(strstr(after, line));
  g_assert_null(strstr(after, "tidemark_own_certificate_end_timestamp_seconds{"));
  tide_metrics_free(metrics);
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/certificate-watch/an-end-that-is-near-is-told", test_warning);
  g_test_add_func("/certificate-watch/ends-are-metrics", test_metrics);
  return g_test_run();
}
