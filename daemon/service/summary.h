/* A log line at most once a minute with speed, lag and problems. There is none while nothing arrives and nothing is
 * wrong.
 *
 * Threads: the main one only. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define TIDE_SUMMARY_S 60

typedef struct TideSummaryFacts {
  guint64 n_messages; /* read, since the start */
  guint64 n_rows;     /* acknowledged by HBase, since the start */
  guint64 in_flight_messages;
  guint32 partitions;
  guint32 paused_partitions;
  guint32 troubled_lanes;
  const char *lag; /* as text */
} TideSummaryFacts;

typedef struct TideSummary {
  gint64 looked_us; /* start of the minute; 0: none yet */
  guint64 n_messages, n_rows;
} TideSummary;

/* Logs the line when the minute is over. @now_us: monotonic */
void tide_summary_log(TideSummary *summary, const TideSummaryFacts *facts, gint64 now_us);

G_END_DECLS
