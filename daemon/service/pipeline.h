/* The pipeline: starts the parts in order, and stops them in the opposite order.
 *
 * Start: gateways -> (one is up: the protocol is known) -> check of the tables and their key fingerprints -> regions ->
 * writers -> dead letters -> consumers. It runs in a thread of its own ("tide-start"), so that waiting for a gateway or
 * a table never blocks the main thread's signals.
 *
 * Stop: consumers (stop fetching, flush, wait for acknowledgements, commit, leave) -> dead letters -> lanes -> writers
 * -> regions -> gateways. Consumers stop first, because they need all the others to finish; unfinished messages at the
 * deadline were never committed and are read again.
 *
 * Threads: one at a time, unless stated otherwise. */
#pragma once

#include "service/pipeline_health.h"
#include "service/status_document.h"

G_BEGIN_DECLS

typedef struct TidePipeline TidePipeline;

TidePipeline *tide_pipeline_new(const TidePipelineOptions *options);
void tide_pipeline_start(TidePipeline *pipeline);

#define TIDE_PIPELINE_STUCK (-1)

/**
 * tide_pipeline_stop: stop everything; blocks until done or the deadline.
 * @deadline_us: monotonic; for flushing and awaiting acknowledgements. Leaving the group may take a few seconds more.
 * @ret_held_messages: (nullable): written but not committed, because calls without an answer may overwrite them
 * Returns: the exit code: 0, or 75 when messages were left unfinished. TIDE_PIPELINE_STUCK when a thread does not end
 * (librdkafka's close can hang while brokers are gone): nothing may be freed, and the process must exit with 75 at
 * once. No message that the thread still holds was committed.
 */
int tide_pipeline_stop(TidePipeline *pipeline, gint64 deadline_us, guint64 *ret_held_messages);
void tide_pipeline_free(TidePipeline *pipeline); /* after stop */

/* Threads: any. */
TidePipelineState tide_pipeline_state(TidePipeline *pipeline);

/* Fills @status except the version. Threads: any. */
void tide_pipeline_fill_status(TidePipeline *pipeline, TideStatus *status);

/* Call after a reload has changed the configuration: passes the changes to the parts that keep copies. Threads: any. */
void tide_pipeline_take_changes(TidePipeline *pipeline);

/* Logs what an operator must know, and sets gauges; call once a second. */
void tide_pipeline_watch(TidePipeline *pipeline, gint64 now_us);

/* TRUE if no more dead letters are stored, because there were too many. Threads: any. */
gboolean tide_pipeline_has_too_many_dead_letters(TidePipeline *pipeline);

/* How much of their time the writers leave to other programs, with the option yields. Threads: any. */
TideWaitingShare tide_pipeline_waiting_share(TidePipeline *pipeline);

/* Why the pipeline could not start. Valid after TIDE_STAGE_FAILED; borrowed. */
const GError *tide_pipeline_failure(TidePipeline *pipeline);

G_END_DECLS
