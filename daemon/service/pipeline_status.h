/* What the document of /status tells of the pipeline, taken while its threads work on: of what they publish, and under
 * locks that are held for copying only. */
#pragma once

#include "service/pipeline_health.h"
#include "service/status_document.h"

G_BEGIN_DECLS

/* What is known before anything runs, too: gateways, tables, memory, dead letters, configuration. Threads: any. */
void tide_pipeline_status_fill(const TidePipelineParts *parts, TideStatus *status);

/* Partitions, writers and CPU, while the parts run. Threads: any. */
void tide_pipeline_status_fill_running(const TidePipelineHealth *health, TideStatus *status);

/* What limits, and whether now is a good moment for a restart: from all that is filled in @status by then. */
void tide_pipeline_status_judge(const TideConfig *config, TideStatus *status);

G_END_DECLS
