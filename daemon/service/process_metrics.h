/* Metrics of the process and its build, named like those of Prometheus client libraries.
 *
 * Threads: the one that renders the metrics, one at a time. */
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

/* TIDE_GAUGE_UNKNOWN if the kernel does not report it. Threads: any. */
gint64 tide_process_resident_bytes(void);

/* Asks the kernel. Call once before each rendering. */
void tide_process_metrics_update(TideProcessMetrics *process);

G_END_DECLS
