/* Metrics of acknowledged batches: rows by table, and the duration of each stage from event to acknowledgement.
 *
 * Updated once per batch or round, so that a reading costs nothing. Threads: the owning consumer's only. */
#pragma once

#include "config/config.h"
#include "util/metrics.h"
#include "write/batch.h"

G_BEGIN_DECLS

typedef struct TideBatchMetrics {
  TideCounter **rows;    /* owned array, by the declared table's index */
  TideCounter **batches; /* likewise */
  TideHistogram *event;
  TideHistogram *polled;
  TideHistogram *sealed;
  TideHistogram *acknowledged;
} TideBatchMetrics;

void tide_batch_metrics_init(TideBatchMetrics *batches, const TideConfig *config, TideMetrics *metrics);
void tide_batch_metrics_clear(TideBatchMetrics *batches);

/* A message was polled at @now_epoch_ms. @timestamp_ms: its record time; below 0: none */
void tide_batch_metrics_note_polled(TideBatchMetrics *batches, gint64 timestamp_ms, gint64 now_epoch_ms);

/* Kafka has stored a message at @timestamp_ms (below 0: no record time). One of its readings has the event time
 * @event_ms (G_MININT64: none). */
void tide_batch_metrics_note_event(TideBatchMetrics *batches, gint64 event_ms, gint64 timestamp_ms);

/* @batch is completed. @now_us: monotonic */
void tide_batch_metrics_note_completed(TideBatchMetrics *batches, const TideBatch *batch, gint64 now_us);

G_END_DECLS
