#include "consumer/batch_metrics.h"

#include "util/clock.h"

static const double bounds_s[] = {0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30, 300, 3600};

static TideHistogram *
stage(TideMetrics *metrics, const char *name)
{
  g_autofree char *label = tide_metrics_label("stage", name);
  return tide_metrics_histogram(metrics, "tidemark_stage_duration_seconds",
                                "Time that readings, or the oldest row of a batch, spent in a stage", label, bounds_s,
                                G_N_ELEMENTS(bounds_s));
}

void
tide_batch_metrics_init(TideBatchMetrics *batches, const TideConfig *config, TideMetrics *metrics)
{
  guint n = config->tables->len;
  *batches = (TideBatchMetrics){.rows = g_new(TideCounter *, n),
                                .batches = g_new(TideCounter *, n),
                                .event = stage(metrics, "event_to_kafka"),
                                .polled = stage(metrics, "kafka_to_polled"),
                                .sealed = stage(metrics, "polled_to_sealed"),
                                .acknowledged = stage(metrics, "sealed_to_acknowledged")};
  for (guint i = 0; i < n; i++) {
    const TideTable *table = g_ptr_array_index(config->tables, i);
    g_autofree char *label = tide_metrics_label("table", table->name);
    batches->rows[i] = tide_metrics_counter(metrics, "tidemark_rows_written_total",
                                            "Rows that HBase acknowledged, excluding refused rows", label);
    batches->batches[i] = tide_metrics_counter(
        metrics, "tidemark_batches_written_total",
        "Batches that HBase acknowledged; a batch contains rows of one region, and a call one or more batches", label);
  }
}

void
tide_batch_metrics_clear(TideBatchMetrics *batches)
{
  g_free(batches->rows);
  g_free(batches->batches);
}

void
tide_batch_metrics_note_polled(TideBatchMetrics *batches, gint64 timestamp_ms, gint64 now_epoch_ms)
{
  if (timestamp_ms >= 0)
    tide_histogram_observe(batches->polled, (double)MAX(now_epoch_ms - timestamp_ms, 0) / 1000.0);
}

void
tide_batch_metrics_note_event(TideBatchMetrics *batches, gint64 event_ms, gint64 timestamp_ms)
{
  if (timestamp_ms >= 0 && event_ms != G_MININT64)
    tide_histogram_observe(batches->event, (double)MAX(timestamp_ms - event_ms, 0) / 1000.0);
}

void
tide_batch_metrics_note_completed(TideBatchMetrics *batches, const TideBatch *batch, gint64 now_us)
{
  const TideTable *table = batch->lane->table;
  guint32 index = (table->declared != NULL ? table->declared : table)->index;
  gsize n_poison;
  (void)tide_batch_poison(batch, &n_poison);
  tide_counter_add(batches->rows[index], batch->n_rows - n_poison);
  tide_counter_inc(batches->batches[index]);
  tide_histogram_observe(batches->sealed, (double)(batch->times.sealed_us - batch->times.oldest_us) / TIDE_US_PER_S);
  tide_histogram_observe(batches->acknowledged, (double)(now_us - batch->times.sealed_us) / TIDE_US_PER_S);
}
