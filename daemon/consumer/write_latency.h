/* How long messages take: from their own time in Kafka to the acknowledgement of the last of their rows. What an
 * operator is asked for ("how old is what I see?"), and what the benchmark measures.
 *
 * A record's time is the producer's clock or the broker's, in milliseconds, so two machines' clocks are compared: what
 * seems to be acknowledged before it was produced counts as 0. Messages that are read late (a backlog) took long.
 *
 * Threads: the owning consumer's only. */
#pragma once

#include "util/metrics.h"

G_BEGIN_DECLS

typedef struct TideWriteLatency {
  TideHistogram *histogram; /* the registry's */
  gint64 now_epoch_ms;      /* when what is marked now completed: read once for all of it */
} TideWriteLatency;

void tide_write_latency_init(TideWriteLatency *latency, TideMetrics *metrics);

/* A message was written. @timestamp_ms: the record's own time; below 0 it has none, and nothing is noted. */
void tide_write_latency_note(TideWriteLatency *latency, gint64 timestamp_ms);

G_END_DECLS
