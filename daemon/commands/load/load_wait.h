/* What a load says while it waits at its start; the pipeline ends that wait (service/pipeline.h). */
#pragma once

#include "service/pipeline_health.h"

G_BEGIN_DECLS

/* A wait that is longer is told of. */
#define TIDE_LOAD_PATIENCE_US (3 * TIDE_US_PER_S)

typedef struct TideLoadWait {
  gint64 start_us; /* monotonic: when the pipeline was started */
  gboolean is_told;
} TideLoadWait;

/* Looks at a pipeline that does not run yet; says once on standard error what it waits for. */
void tide_load_wait_look(TideLoadWait *wait, const TidePipelineState *state, gint64 now_us);

G_END_DECLS
