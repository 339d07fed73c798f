/* The pipeline: builds the parts, starts them in order, watches them, and stops them in the opposite order.
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

#include "config/config.h"
#include "util/metrics.h"

G_BEGIN_DECLS

typedef struct TidePipeline TidePipeline;

typedef struct TidePipelineOptions {
  const TideConfig *config; /* borrowed */
  TideMetrics *metrics;     /* borrowed */
  gboolean until_end;
  gboolean accept_scheme_change; /* of tables with rows: fingerprint_check.h */
} TidePipelineOptions;

typedef enum TidePipelineStage {
  TIDE_STAGE_WAITING_FOR_GATEWAY,
  TIDE_STAGE_WAITING_FOR_TABLES,
  TIDE_STAGE_RUNNING,
  TIDE_STAGE_FAILED, /* it cannot start: see tide_pipeline_failure() */
} TidePipelineStage;

TidePipeline *tide_pipeline_new(const TidePipelineOptions *options);
void tide_pipeline_start(TidePipeline *pipeline);

/**
 * tide_pipeline_stop: stop everything; blocks until it is done or time is up.
 * @deadline_us: monotonic; for flushing and awaiting acknowledgements. Leaving the group may take a few seconds more.
 * Returns: the exit code: 0, or 75 when messages were left unfinished. When a thread does not end (librdkafka's close
 * can hang while brokers are gone), the process is ended with 75 right here: nothing it still holds was committed.
 */
int tide_pipeline_stop(TidePipeline *pipeline, gint64 deadline_us);
void tide_pipeline_free(TidePipeline *pipeline); /* after stop */

typedef struct TidePipelineState {
  TidePipelineStage stage;
  gboolean ready;      /* assigned, or waiting lawfully for partitions, and nothing is halted */
  gboolean healthy;    /* every thread went round its loop lately */
  gboolean finished;   /* with until_end */
  int fatal_exit;      /* not 0: it cannot go on, stop and end with this code: a consumer is fenced; or Kafka denies us
                        * its topics or does not have them, and the start is to fail then */
  gboolean any_halted; /* a partition is halted until an operator acts */
  gint64 unread;       /* messages of our partitions; -1: unknown */
  char *reason;        /* owned: why not ready or not healthy; NULL */
  char *status;        /* owned: one line for STATUS= */
} TidePipelineState;

/* Threads: any. */
TidePipelineState tide_pipeline_state(TidePipeline *pipeline);
void tide_pipeline_state_clear(TidePipelineState *state);

/* Logs what an operator must know (lanes that fail for 30 s and more, every 30 s) and sets gauges; call once a second.
 */
void tide_pipeline_watch(TidePipeline *pipeline, gint64 now_us);

/* Why it could not start. Valid after TIDE_STAGE_FAILED; borrowed. */
const GError *tide_pipeline_failure(TidePipeline *pipeline);

G_END_DECLS
