/* The pipeline's health, for readiness, the status line, the gauges and the log. */
#pragma once

#include "service/clock_watch.h"
#include "service/pipeline_parts.h"
#include "service/summary.h"
#include "util/clock.h"
#include "util/rate.h"

G_BEGIN_DECLS

/* Interval at which ongoing problems are logged again; a lane counts as in trouble after failing for this long. */
#define TIDE_TROUBLE_US (30 * TIDE_US_PER_S)

/* TRUE if the problem logged at @logged_us (0: never) need not be logged again yet. */
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
  gboolean ready;      /* assigned, or waiting for partitions as in normal operation, and nothing is halted */
  gboolean healthy;    /* every thread has recently completed a round of its loop */
  gboolean finished;   /* with until_end */
  int fatal_exit;      /* not 0: it cannot continue, so stop and exit with this code: a consumer is fenced; or Kafka
                        * denies access to the topics, does not have them or assigns no partitions, and startup is set
                        * to fail; or, with until_end, the only messages left are too many dead letters, rows that HBase
                        * refuses for no known reason, or messages of partitions that other members have */
  gboolean any_halted; /* a partition is halted until an operator acts */
  gint64 unread;       /* messages in our partitions; -1: unknown */
  char *reason;        /* owned: why not ready or not healthy; NULL */
  char *status;        /* owned: one line for STATUS= */
} TidePipelineState;

void tide_pipeline_state_clear(TidePipelineState *state);

/* State of a run to the end that waits only for rows with unexplained failures. */
typedef struct TideStuckRows {
  gint64 since_us;       /* main thread only; 0: it does not wait */
  gint64 read_us;        /* main thread only: since when nothing more is read; 0: reading continues */
  _Atomic int exit_code; /* any thread: the exit code; 0: it continues */
  const char *text;      /* the reason, interned; set once, before exit_code */
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
  gint64 pausing_us; /* since when partitions are paused, without those halted; 0: none is */
  gboolean pausing_is_said;
  TideStuckRows stuck;
  gint64 delayed_us;        /* since when the rows reported in the log are delayed; 0: none are */
  gint64 brokers_silent_us; /* since when no broker answers; 0: one does */
  gint64 brokers_logged_us; /* 0: their silence was not logged */
  TideClockWatch clock;
  gboolean must_rouse; /* wake the consumers, because the wall clock was set back */
  TideSummary summary;
  TideRate received;  /* messages */
  guint64 n_received; /* at the last check, like the next two */
  gint64 cpu_us;
  gint64 looked_us;
  /* any thread */
  _Atomic gboolean was_ready;
  _Atomic gint64 received_milli; /* thousandths of messages a second */
  _Atomic gint64 cpu_milli;      /* thousandths of a core */
} TidePipelineHealth;

void tide_pipeline_health_init(TidePipelineHealth *health, const TidePipelineParts *parts);

/* Fills all of @state except its stage, while the parts run. Threads: any. */
void tide_pipeline_health_fill_running(TidePipelineHealth *health, TidePipelineState *state);

/* Logs what an operator must know (lanes that fail for 30 s and more, every 30 s) and sets gauges. */
void tide_pipeline_health_watch(TidePipelineHealth *health, gboolean is_running, gint64 now_us);

G_END_DECLS
