/* The line that a log has once a minute at the most: how fast it goes, how far behind it is, and what is in trouble.
 * While nothing comes and nothing is wrong there is none.
 *
 * Threads: the main one only. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define TIDE_SUMMARY_S 60

typedef struct TideSummaryFacts {
  guint64 n_messages; /* read, since the start */
  guint64 n_rows;     /* that HBase acknowledged, since the start */
  guint64 in_flight_messages;
  guint32 partitions;
  guint32 paused_partitions;
  guint32 troubled_lanes;
  const char *lag; /* in words */
} TideSummaryFacts;

typedef struct TideSummary {
  gint64 looked_us; /* when the minute began; 0: none did */
  guint64 n_messages, n_rows;
} TideSummary;

/* Logs the line when the minute is over. @now_us: monotonic */
void tide_summary_log(TideSummary *summary, const TideSummaryFacts *facts, gint64 now_us);

G_END_DECLS
