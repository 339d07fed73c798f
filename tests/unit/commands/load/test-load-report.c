/* How far a load is said to be: by what is done, not by what was read. */
#include "commands/load/load_report.h"

#include "unit/test_case.h"

static void
add(TideMetrics *metrics, const char *name, guint64 n)
{
  tide_counter_add(tide_metrics_counter(metrics, name, "of a test", NULL), n);
}

TEST("/load-report/done-is-what-has-ended")
{
  TideMetrics *metrics = tide_metrics_new();
  add(metrics, "tidemark_messages_received_total", 1000);
  add(metrics, "tidemark_messages_handed_back_total", 10);
  add(metrics, "tidemark_messages_written_total", 100);
  add(metrics, "tidemark_messages_unmatched_total", 20);
  add(metrics, "tidemark_messages_expired_total", 3);
  add(metrics, "tidemark_messages_skipped_total", 4);
  add(metrics, "tidemark_messages_dead_lettered_total", 5);
  TideLoadCounts counts = tide_load_report_counts(metrics);
  g_assert_cmpuint(counts.n_received, ==, 990);
  g_assert_cmpuint(counts.n_done, ==, 132);
  tide_metrics_free(metrics);
}

static void
assert_share(const TideFileLoadProgress *at, TideLoadCounts counts, double share, double before)
{
  TideProgress progress = {0};
  tide_load_report_progress(&progress, at, &counts);
  g_assert_cmpfloat_with_epsilon(progress.share, share, 1e-9);
  g_assert_cmpfloat_with_epsilon(progress.before, before, 1e-9);
}

TEST("/load-report/share-is-of-what-is-done")
{
  TideFileLoadProgress at = {.read_bytes = 1000, .before_bytes = 200, .all_bytes = 1000};
  assert_share(&at, (TideLoadCounts){0, 0}, 0.2, 0.2);
  assert_share(&at, (TideLoadCounts){500, 0}, 0.2, 0.2); /* all is read, nothing is written */
  assert_share(&at, (TideLoadCounts){500, 250}, 0.6, 0.2);
  assert_share(&at, (TideLoadCounts){500, 500}, 1, 0.2);
  assert_share(&at, (TideLoadCounts){500, 501}, 1, 0.2); /* counted a moment later */
  at.all_bytes = 0;                                      /* of a pipe */
  assert_share(&at, (TideLoadCounts){500, 250}, 0, 0);
}
