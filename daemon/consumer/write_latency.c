#include "consumer/write_latency.h"

#include "util/clock.h"

/* Fine up to where an idle or a loaded gateway answers, coarse for backlogs. */
static const double bounds_s[] = {0.001, 0.002, 0.003, 0.005, 0.0075, 0.01, 0.015, 0.02, 0.025, 0.035, 0.05, 0.075, 0.1,
                                  0.15,  0.25,  0.5,   1,     2.5,    5,    10,    30,   60,    300,   1800, 3600};

void
tide_write_latency_init(TideWriteLatency *latency, TideMetrics *metrics)
{
  latency->histogram = tide_metrics_histogram(metrics, "tidemark_write_latency_seconds",
                                              "From a message's time in Kafka to the acknowledgement of its last row",
                                              NULL, bounds_s, G_N_ELEMENTS(bounds_s));
}

void
tide_write_latency_note(TideWriteLatency *latency, gint64 timestamp_ms)
{
  if (timestamp_ms < 0)
    return;
  gint64 took_ms = MAX(latency->now_epoch_ms - timestamp_ms, 0);
  tide_histogram_observe(latency->histogram, (double)took_ms / 1000.0);
}
