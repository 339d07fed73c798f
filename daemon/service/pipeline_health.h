/* How the pipeline is, for readiness, the status line, the gauges and the log. */
#pragma once

#include "service/clock_watch.h"
#include "service/pipeline_parts.h"
#include "service/summary.h"
#include "util/clock.h"
#include "util/rate.h"

G_BEGIN_DECLS

/* What an operator must know is said again this often; a lane is that when it has failed for so long. */
#define TIDE_TROUBLE_US (30 * TIDE_US_PER_S)

/* Whether what was logged at @logged_us (0: never) need not be told again yet. */
static inline gboolean
tide_pipeline_was_just_logged(gint64 logged_us, gint64 now_us)
{
  return logged_us > 0 && now_us - logged_us < TIDE_TROUBLE_US;
}

typedef enum TidePipelineStage {
  TIDE_STAGE_WAITING_FOR_GATEWAY,
  TIDE_STAGE_WAITING_FOR_TABLES,
  TIDE_STAGE_RUNNING,
  TIDE_STAGE_FAILED, /* it cannot start: see tide_pipeline_failure() */
  TIDE_N_STAGES,
} TidePipelineStage;

typedef struct TidePipelineState {
  TidePipelineStage stage;
  gboolean ready;      /* assigned, or waiting lawfully for partitions, and nothing is halted */
  gboolean healthy;    /* every thread went round its loop lately */
  gboolean finished;   /* with until_end */
  int fatal_exit;      /* not 0: it cannot go on, stop and end with this code: a consumer is fenced; or Kafka denies us
                        * its topics, does not have them or gives out no partitions, and the start is to fail then; or,
                        * with until_end, nothing is left but dead letters that are too many to be kept, rows that
                        * HBase refuses for no known reason, or partitions that others have */
  gboolean any_halted; /* a partition is halted until an operator acts */
  gint64 unread;       /* messages of our partitions; -1: unknown */
  char *reason;        /* owned: why not ready or not healthy; NULL */
  char *status;        /* owned: one line for STATUS= */
} TidePipelineState;

void tide_pipeline_state_clear(TidePipelineState *state);

/* A run to the end that waits for nothing but rows of which nothing shows that they are to blame. */
typedef struct TideStuckRows {
  gint64 since_us;       /* main thread only; 0: it does not */
  gint64 read_us;        /* main thread only: since when nothing more is read; 0: something is */
  _Atomic int exit_code; /* any thread: with which it ends; 0: it goes on */
  const char *text;      /* why, interned; set once, before exit_code */
} TideStuckRows;

typedef struct TidePipelineHealth {
  /* set at the beginning, then read-only */
  const TidePipelineParts *parts; /* borrowed */
  TideGauge *budget_limit;
  TideGauge *budget_used;
  TideGauge *waiting_rows;
  TideGauge *in_flight_rows;
  TideGauge *troubled_lanes;
  TideGauge *narrowed_lanes;
  TideGauge *probes;
  TideGauge *suspended_tables;
  TideGauge *oldest;
  TideGauge *halted;
  TideGauge *unlocated;
  TideGauge *operator_pause;
  TideGauge *paused_for[TIDE_N_PAUSE_REASONS];
  TideCounter *clock_set[2]; /* back, forward */
  /* main thread only */
  gint64 trouble_logged_us;
  gint64 regions_shown_us;
  gint64 strangers_logged_us;
  gint64 other_tables_logged_us;
  gint64 missing_logged_us;
  gint64 goal_logged_us;
  gint64 group_logged_us;
  gint64 pausing_us; /* since when partitions pause that are not halted; 0: none does */
  gboolean pausing_is_said;
  TideStuckRows stuck;
  gint64 delayed_us;        /* since when rows are delayed that the log told of; 0: none are */
  gint64 brokers_silent_us; /* since when no broker answers; 0: one does */
  gint64 brokers_logged_us; /* 0: their silence was not said */
  TideClockWatch clock;
  gboolean must_rouse; /* the consumers, since the wall clock was set back */
  TideSummary summary;
  TideRate received;  /* messages */
  guint64 n_received; /* at the last look, as the next two */
  gint64 cpu_us;
  gint64 looked_us;
  /* any thread */
  _Atomic gboolean was_ready;
  _Atomic gint64 received_milli; /* thousandths of messages a second */
  _Atomic gint64 cpu_milli;      /* thousandths of a core */
} TidePipelineHealth;

void tide_pipeline_health_init(TidePipelineHealth *health, const TidePipelineParts *parts);

/* Fills all of @state but its stage, while the parts run. Threads: any. */
void tide_pipeline_health_fill_running(TidePipelineHealth *health, TidePipelineState *state);

/* Logs what an operator must know (lanes that fail for 30 s and more, every 30 s) and sets gauges. */
void tide_pipeline_health_watch(TidePipelineHealth *health, gboolean is_running, gint64 now_us);

G_END_DECLS
