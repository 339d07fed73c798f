#include "service/summary.h"

#include "util/clock.h"
#include "util/log.h"
#include "util/units.h"

static gboolean
is_worth_a_line(const TideSummary *before, const TideSummaryFacts *facts)
{
  return facts->n_messages != before->n_messages || facts->n_rows != before->n_rows || facts->in_flight_messages > 0 ||
         facts->paused_partitions > 0 || facts->troubled_lanes > 0;
}

void
tide_summary_log(TideSummary *summary, const TideSummaryFacts *facts, gint64 now_us)
{
  gint64 passed_us = now_us - summary->looked_us;
  if (summary->looked_us > 0 && passed_us < TIDE_SUMMARY_S * TIDE_US_PER_S)
    return;
  if (summary->looked_us > 0 && is_worth_a_line(summary, facts)) {
    double seconds = (double)passed_us / TIDE_US_PER_S;
    g_autofree char *in_flight = tide_count_of(facts->in_flight_messages, "message", NULL);
    g_autofree char *partitions = tide_count_of(facts->partitions, "partition", NULL);
    g_autofree char *regions = tide_count_of(facts->troubled_lanes, "region", NULL);
    tide_log(TIDE_LOG_INFO, "summary",
             "in the last %.0f s %.1f messages/s read, %.1f rows/s written; %s, in flight %s, %u of %s paused, %s in "
             "trouble",
             seconds, (double)(facts->n_messages - summary->n_messages) / seconds,
             (double)(facts->n_rows - summary->n_rows) / seconds, facts->lag, in_flight, facts->paused_partitions,
             partitions, regions);
  }
  *summary = (TideSummary){.looked_us = now_us, .n_messages = facts->n_messages, .n_rows = facts->n_rows};
}
