#include "service/pipeline.h"

#include "service/pipeline_status.h"
#include "tables/table_check.h"
#include "thrift/client/access_denied.h"
#include "util/calendar.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/log.h"

/* Interval of checks for missing tables; they are logged again every TIDE_TROUBLE_US. */
#define TABLE_CHECK_US (5 * TIDE_US_PER_S)

/* Time beyond the drain deadline for leaving the group, which librdkafka does not limit. */
#define CLOSE_US (5 * TIDE_US_PER_S)

/* Waits are split into pieces of this length, so that a stop during the start is noticed. */
#define START_ROUND_US (TIDE_US_PER_S / 5)

struct TidePipeline {
  TidePipelineParts parts;
  TidePipelineHealth health;
  TideThread *starter;
  gint64 started_us; /* monotonic */
  gint64 started_ms; /* wall clock */
  GError *failure;   /* owned; written by the start thread before stage is FAILED */
  /* any thread */
  _Atomic gboolean stopping;
  _Atomic TidePipelineStage stage;
  /* under lock */
  TideMutex lock;
  TideCond stop_asked;
  char *waiting_for; /* owned: what the start waits for */
};

TidePipeline *
tide_pipeline_new(const TidePipelineOptions *options)
{
  TidePipeline *pipeline = g_new0(TidePipeline, 1);
  pipeline->started_us = tide_now_us();
  pipeline->started_ms = tide_wall_clock_epoch_ms();
  tide_pipeline_parts_init(&pipeline->parts, options);
  tide_pipeline_health_init(&pipeline->health, &pipeline->parts);
  tide_mutex_init(&pipeline->lock);
  tide_cond_init(&pipeline->stop_asked);
  return pipeline;
}

/* ---- start ---- */

static gboolean
is_stopping(TidePipeline *pipeline)
{
  return atomic_load_explicit(&pipeline->stopping, memory_order_acquire);
}

static void
set_stage(TidePipeline *pipeline, TidePipelineStage stage)
{
  atomic_store_explicit(&pipeline->stage, stage, memory_order_release);
}

/* @text: (transfer full) (nullable) */
static void
set_waiting_for(TidePipeline *pipeline, char *text)
{
  tide_mutex_lock(&pipeline->lock);
  g_free(pipeline->waiting_for);
  pipeline->waiting_for = text;
  tide_mutex_unlock(&pipeline->lock);
}

/* (transfer full) */
static char *
no_gateway_text(TidePipeline *pipeline)
{
  g_autofree char *last_error = tide_gateways_last_error(pipeline->parts.gateways);
  return g_strdup_printf("no gateway is usable: %s", last_error != NULL ? last_error : "probing");
}

/* Sets what the start waits for, and fails it after the maximum wait. @text: (transfer full) */
static void
keep_waiting(TidePipeline *pipeline, char *text)
{
  if (pipeline->failure == NULL && tide_pipeline_parts_fail_early(&pipeline->parts) &&
      tide_now_us() - pipeline->started_us >= TIDE_PIPELINE_START_LIMIT_US)
    g_set_error(&pipeline->failure, TIDE_ERROR, TIDE_ERROR_UNAVAILABLE,
                "%s; the start has waited %d s for it: check that HBase and its Thrift servers run and that "
                "'hbase.gateways' names them (run 'tidemark check' for details)",
                text, (int)(TIDE_PIPELINE_START_LIMIT_US / TIDE_US_PER_S));
  set_waiting_for(pipeline, text);
}

/* FALSE on failure, in @pipeline's failure, or on a stop. */
static gboolean
wait_for_gateway(TidePipeline *pipeline, TideWireProtocol *ret_protocol)
{
  while (!is_stopping(pipeline) && pipeline->failure == NULL) {
    if (tide_gateways_wait_up(pipeline->parts.gateways, tide_now_us() + START_ROUND_US, ret_protocol))
      return TRUE;
    if (tide_pipeline_parts_fail_early(&pipeline->parts) && tide_gateways_are_refused(pipeline->parts.gateways)) {
      g_autofree char *text = no_gateway_text(pipeline);
      pipeline->failure = g_error_new_literal(TIDE_ERROR, TIDE_ERROR_CONFIG, text);
    }
    keep_waiting(pipeline, no_gateway_text(pipeline));
  }
  return FALSE;
}

/* The result of a request to HBase. */
typedef struct Answer {
  gboolean is_good;
  gboolean is_lost;       /* the connection can no longer be used */
  char *text;             /* owned: what the start waits for; NULL: the answer is good, or waiting does not help */
  const char *log_suffix; /* added for the log */
  gint64 pause_us;        /* before the next request; 0: short */
} Answer;

/* May set @pipeline's failure. */
typedef Answer (*AskFunc)(TidePipeline *pipeline, TideHBaseClient *client);

static Answer
ask_for_tables(TidePipeline *pipeline, TideHBaseClient *client)
{
  const TideConfig *config = pipeline->parts.options.config;
  g_autoptr(GError) error = NULL;
  g_autoptr(GPtrArray) missing = tide_table_check(config, client, config->hbase.call_timeout_ms, &error);
  /* An unknown call depends on the gateway's version; the connection is fine. */
  if (g_error_matches(error, TIDE_ERROR, TIDE_ERROR_WRONG_SERVICE) && tide_hbase_client_is_open(client)) {
    pipeline->failure =
        g_error_new(TIDE_ERROR, TIDE_ERROR_WRONG_SERVICE,
                    "cannot check the tables: %s; a gateway of HBase 1.4 or later is needed", error->message);
    return (Answer){.is_lost = TRUE};
  }
  if (missing == NULL)
    return (Answer){.is_lost = TRUE,
                    .text = g_strdup_printf("cannot check the tables: %s", error->message),
                    .log_suffix = "retrying"};
  if (missing->len == 0)
    return (Answer){.is_good = TRUE};
  g_ptr_array_add(missing, NULL);
  Answer answer = {.text = g_strjoinv("; ", (char **)missing->pdata),
                   .log_suffix = "waiting for it (service.startup: wait)",
                   .pause_us = TABLE_CHECK_US};
  if (tide_pipeline_parts_fail_early(&pipeline->parts))
    g_set_error(&pipeline->failure, TIDE_ERROR, TIDE_ERROR_UNAVAILABLE, "%s", answer.text);
  return answer;
}

/* A changed key fingerprint fails the start at once; if HBase cannot be reached, the start waits, as for the tables. */
static Answer
ask_for_fingerprints(TidePipeline *pipeline, TideHBaseClient *client)
{
  g_autoptr(GError) error = NULL;
  Answer answer = {.log_suffix = "retrying"};
  answer.is_good = tide_fingerprint_check(&pipeline->parts.fingerprints, client, pipeline->parts.options.config->tables,
                                          pipeline->parts.options.accept_scheme_change, &error);
  answer.is_lost = !tide_hbase_client_is_open(client);
  if (g_error_matches(error, TIDE_ERROR, TIDE_ERROR_CONFIG))
    pipeline->failure = g_steal_pointer(&error);
  g_autofree char *reason = error != NULL ? tide_access_denied_explain(error) : NULL;
  if (reason != NULL)
    answer.text = g_strdup_printf("cannot compare the key fingerprints of the tables: %s", reason);
  return answer;
}

static Answer
ask_hbase(TidePipeline *pipeline, AskFunc ask)
{
  TideHBaseClient *client = NULL;
  TideGateway *gateway = tide_gateways_connect(pipeline->parts.gateways, tide_now_us() + START_ROUND_US, &client);
  if (gateway == NULL)
    return (Answer){.text = no_gateway_text(pipeline), .log_suffix = "waiting for one"};
  Answer answer = ask(pipeline, client);
  tide_gateways_release(pipeline->parts.gateways, gateway, client, answer.is_lost);
  return answer;
}

/* FALSE on failure, in @pipeline's failure, or on a stop. */
static gboolean
wait_for_answer(TidePipeline *pipeline, AskFunc ask)
{
  gint64 logged_us = 0;
  while (!is_stopping(pipeline)) {
    Answer answer = ask_hbase(pipeline, ask);
    gint64 now_us = tide_now_us();
    if (answer.is_good)
      return TRUE;
    if (pipeline->failure == NULL && answer.text != NULL) {
      if (!tide_pipeline_was_just_logged(logged_us, now_us)) {
        logged_us = now_us;
        tide_log(TIDE_LOG_ERROR, "start-waits", "%s; %s", answer.text, answer.log_suffix);
      }
      keep_waiting(pipeline, g_steal_pointer(&answer.text));
    }
    g_free(answer.text);
    if (pipeline->failure != NULL)
      return FALSE;
    gint64 again_us = now_us + MAX(answer.pause_us, START_ROUND_US);
    tide_mutex_lock(&pipeline->lock);
    while (!is_stopping(pipeline) && tide_now_us() < again_us)
      tide_cond_wait_until(&pipeline->stop_asked, &pipeline->lock, again_us);
    tide_mutex_unlock(&pipeline->lock);
  }
  return FALSE;
}

/* The start thread's main function. */
static void
run_start(gpointer data)
{
  TidePipeline *pipeline = data;
  TideWireProtocol protocol;
  gboolean has_gateway = wait_for_gateway(pipeline, &protocol);
  if (has_gateway) {
    set_waiting_for(pipeline, g_strdup("asking a gateway for the tables"));
    set_stage(pipeline, TIDE_STAGE_WAITING_FOR_TABLES);
  }
  if (has_gateway && wait_for_answer(pipeline, ask_for_tables) && wait_for_answer(pipeline, ask_for_fingerprints)) {
    tide_regions_refresh_all(pipeline->parts.regions, tide_now_us() + TABLE_CHECK_US);
    tide_regions_start(pipeline->parts.regions);
    tide_pipeline_parts_start_writers(&pipeline->parts);
    if (!is_stopping(pipeline) &&
        tide_dead_letter_queue_start(pipeline->parts.dead_letters, protocol, &pipeline->failure) &&
        tide_pipeline_parts_start_consumers(&pipeline->parts, protocol, &pipeline->failure)) {
      set_waiting_for(pipeline, NULL);
      set_stage(pipeline, TIDE_STAGE_RUNNING);
      return;
    }
  }
  if (pipeline->failure != NULL)
    set_stage(pipeline, TIDE_STAGE_FAILED);
}

void
tide_pipeline_start(TidePipeline *pipeline)
{
  tide_gateways_start(pipeline->parts.gateways);
  pipeline->starter = tide_thread_start("tide-start", run_start, pipeline);
}

/* ---- stop ---- */

/* Joins the threads that hold messages, rows or connections. Returns the one that did not end in time; NULL: all
 * did. */
static const char *
join_all(TidePipelineParts *parts, TideThread **starter, gint64 deadline_us)
{
  if (!tide_thread_join_until(*starter, deadline_us + CLOSE_US))
    return "the start";
  *starter = NULL;
  tide_kafka_goal_stop(parts->goal);
  tide_kafka_watch_stop(parts->watch);
  for (guint i = 0; i < parts->consumers->len; i++)
    tide_consumer_stop(g_ptr_array_index(parts->consumers, i), deadline_us);
  for (guint i = 0; i < parts->consumers->len; i++)
    if (!tide_consumer_join_until(g_ptr_array_index(parts->consumers, i), deadline_us + CLOSE_US))
      return "a Kafka consumer";
  if (!tide_dead_letter_queue_stop(parts->dead_letters, tide_now_us() + CLOSE_US))
    return "the dead letter queue";
  tide_lanes_stop(parts->lanes);
  tide_gateways_cancel(parts->gateways);
  for (guint i = 0; i < parts->writers->len; i++)
    tide_writer_cancel(g_ptr_array_index(parts->writers, i));
  for (guint i = 0; i < parts->writers->len; i++)
    if (!tide_writer_join_until(g_ptr_array_index(parts->writers, i), tide_now_us() + CLOSE_US))
      return "a writer";
  return NULL;
}

int
tide_pipeline_stop(TidePipeline *pipeline, gint64 deadline_us, guint64 *ret_held_messages)
{
  tide_mutex_lock(&pipeline->lock);
  atomic_store_explicit(&pipeline->stopping, TRUE, memory_order_release);
  tide_cond_broadcast(&pipeline->stop_asked);
  tide_mutex_unlock(&pipeline->lock);
  const char *stuck = join_all(&pipeline->parts, &pipeline->starter, deadline_us);
  if (stuck != NULL) {
    tide_log(TIDE_LOG_ERROR, "thread-stuck",
             "%s did not stop in time; exiting anyway; uncommitted messages are read again at the next start", stuck);
    return TIDE_PIPELINE_STUCK;
  }
  tide_regions_stop(pipeline->parts.regions);
  tide_gateways_stop(pipeline->parts.gateways);
  gboolean work_remains = FALSE;
  guint64 n_held = 0;
  for (guint i = 0; i < pipeline->parts.consumers->len; i++) {
    TideConsumerState state = tide_consumer_state_racy(g_ptr_array_index(pipeline->parts.consumers, i));
    work_remains |= state.work_remains;
    n_held += state.remaining_held;
  }
  if (ret_held_messages != NULL)
    *ret_held_messages = n_held;
  return work_remains ? TIDE_EXIT_TEMPFAIL : TIDE_EXIT_OK;
}

void
tide_pipeline_free(TidePipeline *pipeline)
{
  if (pipeline == NULL)
    return;
  tide_pipeline_parts_clear(&pipeline->parts);
  tide_cond_clear(&pipeline->stop_asked);
  tide_mutex_clear(&pipeline->lock);
  g_free(pipeline->waiting_for);
  g_clear_error(&pipeline->failure);
  g_free(pipeline);
}

const GError *
tide_pipeline_failure(TidePipeline *pipeline)
{
  return pipeline->failure;
}

TidePipelineState
tide_pipeline_state(TidePipeline *pipeline)
{
  TidePipelineState state = {.healthy = TRUE, .unread = -1};
  state.stage = atomic_load_explicit(&pipeline->stage, memory_order_acquire);
  if (state.stage == TIDE_STAGE_RUNNING) {
    tide_pipeline_health_fill_running(&pipeline->health, &state);
    return state;
  }
  tide_mutex_lock(&pipeline->lock);
  state.reason = g_strdup(pipeline->waiting_for != NULL ? pipeline->waiting_for : "starting");
  tide_mutex_unlock(&pipeline->lock);
  state.status = g_strdup_printf("starting: %s", state.reason);
  return state;
}

void
tide_pipeline_fill_status(TidePipeline *pipeline, TideStatus *status)
{
  static const char *const stages[] = {[TIDE_STAGE_WAITING_FOR_GATEWAY] = "waiting_for_gateway",
                                       [TIDE_STAGE_WAITING_FOR_TABLES] = "waiting_for_tables",
                                       [TIDE_STAGE_RUNNING] = "running",
                                       [TIDE_STAGE_FAILED] = "failed"};
  G_STATIC_ASSERT(G_N_ELEMENTS(stages) == TIDE_N_STAGES);
  char started[TIDE_ISO_TIME_BYTES];
  TidePipelineState state = tide_pipeline_state(pipeline);
  status->started_at = g_strdup(tide_iso_time_print(pipeline->started_ms, started));
  status->uptime_seconds = (tide_now_us() - pipeline->started_us) / TIDE_US_PER_S;
  status->stage = stages[state.stage];
  status->ready = state.ready;
  status->healthy = state.healthy;
  status->reason = g_steal_pointer(&state.reason);
  status->line = g_steal_pointer(&state.status);
  tide_pipeline_status_fill(&pipeline->parts, status);
  if (state.stage == TIDE_STAGE_RUNNING)
    tide_pipeline_status_fill_running(&pipeline->health, status);
  tide_pipeline_status_judge(pipeline->parts.options.config, status);
}

gboolean
tide_pipeline_has_too_many_dead_letters(TidePipeline *pipeline)
{
  return tide_dead_letter_queue_has_too_many_racy(pipeline->parts.dead_letters);
}

TideWaitingShare
tide_pipeline_waiting_share(TidePipeline *pipeline)
{
  return tide_lanes_waiting_share(pipeline->parts.lanes, tide_now_us());
}

void
tide_pipeline_take_changes(TidePipeline *pipeline)
{
  tide_pipeline_parts_take_changes(&pipeline->parts);
}

void
tide_pipeline_watch(TidePipeline *pipeline, gint64 now_us)
{
  gboolean is_running = atomic_load_explicit(&pipeline->stage, memory_order_acquire) == TIDE_STAGE_RUNNING;
  tide_pipeline_parts_watch_pauses(&pipeline->parts, tide_wall_clock_epoch_ms());
  tide_pipeline_health_watch(&pipeline->health, is_running, now_us);
}
