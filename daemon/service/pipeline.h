/* The pipeline: starts the parts in order, and stops them in the opposite order.
 *
 * Start: gateways -> (one is up: the protocol is known) -> tables and their key fingerprints are checked -> regions ->
 * writers -> dead letters -> consumers. It runs in a thread of its own ("tide-start"), so that waiting for a gateway or
 * a table never keeps the main thread from a signal.
 *
 * Stop: consumers (fetch no more, flush, wait for acknowledgements, commit, leave) -> dead letters -> lanes -> writers
 * -> regions -> gateways. Consumers first, because they need all the others to finish; what they leave at the deadline
 * was never committed and comes again.
 *
 * Threads: one at a time, unless said otherwise. */
#pragma once

#include "service/pipeline_health.h"
#include "service/status_document.h"

G_BEGIN_DECLS

typedef struct TidePipeline TidePipeline;

TidePipeline *tide_pipeline_new(const TidePipelineOptions *options);
void tide_pipeline_start(TidePipeline *pipeline);

#define TIDE_PIPELINE_STUCK (-1)

/**
 * tide_pipeline_stop: stop everything; blocks until it is done or time is up.
 * @deadline_us: monotonic; for flushing and awaiting acknowledgements. Leaving the group may take a few seconds more.
 * @ret_held_messages: (nullable): that are written and not committed: calls without an answer may overwrite them
 * Returns: the exit code: 0, or 75 when messages were left unfinished. TIDE_PIPELINE_STUCK when a thread does not end
 * (librdkafka's close can hang while brokers are gone): nothing may be freed, and the process is to be ended with 75 at
 * once. Nothing the thread still holds was committed.
 */
int tide_pipeline_stop(TidePipeline *pipeline, gint64 deadline_us, guint64 *ret_held_messages);
void tide_pipeline_free(TidePipeline *pipeline); /* after stop */

/* Threads: any. */
TidePipelineState tide_pipeline_state(TidePipeline *pipeline);

/* All of @status but the version. Threads: any. */
void tide_pipeline_fill_status(TidePipeline *pipeline, TideStatus *status);

/* After members of the configuration have changed that reload: hands them on to those who keep them in a form of their
 * own. Threads: any. */
void tide_pipeline_take_changes(TidePipeline *pipeline);

/* Logs what an operator must know, and sets gauges; call once a second. */
void tide_pipeline_watch(TidePipeline *pipeline, gint64 now_us);

/* Nothing more is kept among the dead letters, because too many were. Threads: any. */
gboolean tide_pipeline_has_too_many_dead_letters(TidePipeline *pipeline);

/* Why it could not start. Valid after TIDE_STAGE_FAILED; borrowed. */
const GError *tide_pipeline_failure(TidePipeline *pipeline);

G_END_DECLS
