/* What the document of /status tells of the pipeline, taken while its threads work on: of what they publish, and under
 * locks that are held for copying only. */
#pragma once

#include "service/bottleneck.h"
#include "service/pipeline_health.h"
#include "service/status_document.h"

G_BEGIN_DECLS

/* What is known before anything runs, too: gateways, tables, memory, dead letters, configuration. Threads: any. */
void tide_pipeline_status_fill(const TidePipelineParts *parts, TideStatus *status);

/* Partitions, writers and CPU, while the parts run. Threads: any. */
void tide_pipeline_status_fill_running(const TidePipelineHealth *health, TideStatus *status);

/* What limits, and whether now is a good moment for a restart: from all that is filled in @status by then. */
void tide_pipeline_status_judge(const TideConfig *config, TideStatus *status);

/* What /status says in words, as gauges: what limits, and whether now is a good moment for a restart. A dashboard answers
 * these two with them, by the same rules. Threads: one at a time. */
typedef struct TideVerdictMetrics {
  TideGauge *limited_by[TIDE_N_LIMITS]; /* the metrics' */
  TideGauge *restart_is_good;
} TideVerdictMetrics;

void tide_verdict_metrics_init(TideVerdictMetrics *verdicts, TideMetrics *metrics);
void tide_verdict_metrics_update(const TideVerdictMetrics *verdicts, const TideStatus *status);

G_END_DECLS
