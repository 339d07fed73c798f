/* The line of each minute: that there is one at the most, what it says, and none while nothing happens. */
#include "service/summary.h"

#include "util/clock.h"
#include "util/log.h"

#include <unistd.h>

#define MINUTE_US (TIDE_SUMMARY_S * TIDE_US_PER_S)
#define START_US (7 * TIDE_US_PER_S)

/* What was logged meanwhile; "" when nothing was. (transfer full) */
static char *
log_of(TideSummary *summary, const TideSummaryFacts *facts, gint64 now_us)
{
  int ends[2];
  g_assert_cmpint(pipe(ends), ==, 0);
  int saved = dup(STDERR_FILENO);
  g_assert_cmpint(dup2(ends[1], STDERR_FILENO), >=, 0);
  tide_summary_log(summary, facts, now_us);
  g_assert_cmpint(dup2(saved, STDERR_FILENO), >=, 0);
  close(saved);
  close(ends[1]);
  char line[1024] = "";
  g_assert_cmpint(read(ends[0], line, sizeof line - 1), >=, 0);
  close(ends[0]);
  return g_strdup(line);
}

static void
assert_silent(TideSummary *summary, const TideSummaryFacts *facts, gint64 now_us)
{
  g_autofree char *line = log_of(summary, facts, now_us);
  g_assert_cmpstr(line, ==, "");
}

static void
assert_says(TideSummary *summary, const TideSummaryFacts *facts, gint64 now_us, const char *text)
{
  g_autofree char *line = log_of(summary, facts, now_us);
  g_test_message("%s", line);
  g_assert_nonnull(strstr(line, text));
}

static void
test_once_a_minute(void)
{
  TideSummary summary = {0};
  TideSummaryFacts facts = {.n_messages = 1000, .n_rows = 500, .partitions = 3, .lag = "lag 7 messages, 2 s"};
  assert_silent(&summary, &facts, START_US); /* a minute begins */
  facts.n_messages += 600;
  facts.n_rows += 30;
  assert_silent(&summary, &facts, START_US + MINUTE_US - 1);
  assert_says(&summary, &facts, START_US + MINUTE_US,
              "in the last 60 s 10.0 messages/s read, 0.5 rows/s written; lag 7 messages, 2 s, in flight 0 messages, "
              "0 of 3 partitions paused, 0 regions in trouble");
  facts.n_messages += 60;
  assert_silent(&summary, &facts, START_US + MINUTE_US + 1);
  assert_says(&summary, &facts, START_US + 2 * MINUTE_US, " 1.0 messages/s read, 0.0 rows/s");
}

static void
test_silent_while_nothing_happens(void)
{
  TideSummary summary = {0};
  TideSummaryFacts facts = {.n_messages = 5, .lag = "lag 0 messages, 0 s"};
  gint64 now_us = START_US;
  assert_silent(&summary, &facts, now_us);
  assert_silent(&summary, &facts, now_us += MINUTE_US);
  facts.troubled_lanes = 2;
  assert_says(&summary, &facts, now_us += MINUTE_US, "2 regions in trouble");
  facts.troubled_lanes = 0;
  facts.paused_partitions = 1;
  assert_says(&summary, &facts, now_us += MINUTE_US, "1 of 0 partitions paused");
  facts.paused_partitions = 0;
  facts.in_flight_messages = 4;
  assert_says(&summary, &facts, now_us += MINUTE_US, "in flight 4 messages");
  facts.in_flight_messages = 0;
  assert_silent(&summary, &facts, now_us += MINUTE_US);
  facts.n_messages += 60; /* the rate is of this minute, however long nothing came */
  assert_says(&summary, &facts, now_us += MINUTE_US, " 1.0 messages/s read");
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/summary/once-a-minute", test_once_a_minute);
  g_test_add_func("/summary/silent-while-nothing-happens", test_silent_while_nothing_happens);
  return g_test_run();
}
