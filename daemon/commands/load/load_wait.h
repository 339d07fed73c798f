/* What a load says while it waits at its start, and when it has waited for long enough.
 *
 * A gateway that has answered once is waited for as long as it takes: a load of hours outlives its restart. One that
 * never did may be one that is not there at all, and whoever started the load is to hear of it. */
#pragma once

#include "service/pipeline_health.h"

G_BEGIN_DECLS

/* A restart of HBase's Thrift servers is over by then. */
#define TIDE_LOAD_GATEWAY_WAIT_US (60 * TIDE_US_PER_S)

/* A wait that is longer is told of. */
#define TIDE_LOAD_PATIENCE_US (3 * TIDE_US_PER_S)

typedef struct TideLoadWait {
  gint64 start_us; /* monotonic: when the pipeline was started */
  gboolean is_told;
} TideLoadWait;

/* Looks at a pipeline that does not run yet; says once on standard error what it waits for. Returns: FALSE where no
 * gateway has been usable for too long, with UNAVAILABLE. */
gboolean tide_load_wait_look(TideLoadWait *wait, const TidePipelineState *state, gint64 now_us,
                             GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
