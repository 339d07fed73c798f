/* What the process costs, by the names that the client libraries of Prometheus give it, and which program it is.
 *
 * Threads: who renders the metrics, one at a time. */
#pragma once

#include "util/metrics.h"

G_BEGIN_DECLS

typedef struct TideProcessMetrics {
  TideGauge *cpu_seconds;
  TideGauge *resident_bytes;
  TideGauge *open_fds;
} TideProcessMetrics;

void tide_process_metrics_init(TideProcessMetrics *process, TideMetrics *metrics, const char *version,
                               const char *revision);

/* TIDE_GAUGE_UNKNOWN where the kernel does not say. Threads: any. */
gint64 tide_process_resident_bytes(void);

/* Asks the kernel. Once before each rendering. */
void tide_process_metrics_update(TideProcessMetrics *process);

G_END_DECLS
