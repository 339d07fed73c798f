/* Inside of the pipeline: shared by pipeline.c, which starts and stops it, and pipeline_state.c, which tells how it is.
 * Nobody else includes this. */
#pragma once

#include "consumer/consumer.h"
#include "dead_letters/dead_letter_queue.h"
#include "service/pipeline.h"
#include "tables/dated_tables.h"
#include "tables/fingerprint_check.h"
#include "write/writer.h"

G_BEGIN_DECLS

/* What an operator must know is said again this often; a lane is that when it has failed for so long. */
#define TIDE_TROUBLE_US (30 * TIDE_US_PER_S)

struct TidePipeline {
  /* set before start, then read-only */
  TidePipelineOptions options;
  TideFingerprintStore fingerprints;
  TideBudget budget;
  TideBudget *table_budgets; /* owned array, by table slot */
  TideDatedTables *dated;
  TideLanes *lanes;
  TideGateways *gateways;
  TideRegions *regions;
  TideDeadLetterQueue *dead_letters;
  TideKafkaWatch *watch;
  TideThread *starter;
  TideGauge *budget_used;
  TideGauge *waiting_rows;
  TideGauge *in_flight_rows;
  TideGauge *troubled_lanes;
  TideGauge *narrowed_lanes;
  TideGauge *probes;
  TideGauge *suspended_tables;
  TideGauge *oldest;
  TideGauge *halted;

  /* main thread only */
  gint64 trouble_logged_us;
  gint64 missing_logged_us;
  gint64 group_logged_us;
  gint64 brokers_silent_us; /* since when no broker answers; 0: one does */
  gint64 brokers_logged_us; /* 0: their silence was not said */

  /* any thread */
  _Atomic gboolean stopping;
  _Atomic TidePipelineStage stage;
  _Atomic gboolean was_ready;

  /* written by the starter before stage is RUNNING, then read-only */
  GPtrArray *writers;   /* owned (element-type TideWriter) */
  GPtrArray *consumers; /* owned (element-type TideConsumer) */
  GError *failure;      /* owned */
  gint64 joined_us;     /* when the consumers began to join the group, monotonic */

  /* under lock */
  TideMutex lock;
  TideCond stop_asked;
  char *waiting_for; /* owned: what the start waits for */
};

G_END_DECLS
