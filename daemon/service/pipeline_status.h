/* Fills the /status document from the running pipeline: from published values, and under locks that are held for
 * copying only. */
#pragma once

#include "service/bottleneck.h"
#include "service/pipeline_health.h"
#include "service/status_document.h"

G_BEGIN_DECLS

/* Fills what is known even before anything runs: gateways, tables, memory, dead letters, configuration. Threads:
 * any. */
void tide_pipeline_status_fill(const TidePipelineParts *parts, TideStatus *status);

/* Fills partitions, writers and CPU, while the parts run. Threads: any. */
void tide_pipeline_status_fill_running(const TidePipelineHealth *health, TideStatus *status);

/* Judges what limits the speed, and whether now is a good moment for a restart, from the data already in @status. */
void tide_pipeline_status_judge(const TideConfig *config, TideStatus *status);

/* The verdicts of /status as gauges: what limits the speed, whether now is a good moment for a restart, and whether the
 * daemon is ready. Dashboards and alerts thus use the same rules. Threads: one at a time. */
typedef struct TideVerdictMetrics {
  TideGauge *limited_by[TIDE_N_LIMITS]; /* owned by the metrics */
  TideGauge *restart_is_good, *is_ready;
} TideVerdictMetrics;

void tide_verdict_metrics_init(TideVerdictMetrics *verdicts, TideMetrics *metrics);
void tide_verdict_metrics_update(const TideVerdictMetrics *verdicts, const TideStatus *status);

G_END_DECLS
