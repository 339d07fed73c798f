/* What /status says in words, as gauges: what limits, and whether now is a good moment for a restart. A dashboard
 * answers these two with them, by the same rules.
 *
 * Threads: one at a time. */
#pragma once

#include "service/bottleneck.h"
#include "service/status_document.h"
#include "util/metrics.h"

G_BEGIN_DECLS

typedef struct TideVerdictMetrics {
  TideGauge *limited_by[TIDE_N_LIMITS]; /* the metrics' */
  TideGauge *restart_is_good;
} TideVerdictMetrics;

void tide_verdict_metrics_init(TideVerdictMetrics *verdicts, TideMetrics *metrics);
void tide_verdict_metrics_update(const TideVerdictMetrics *verdicts, const TideStatus *status);

G_END_DECLS
