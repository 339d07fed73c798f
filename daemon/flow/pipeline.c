#include "flow/pipeline.h"

#include "flow/consumer.h"
#include "flow/dated_tables.h"
#include "flow/dead_letters.h"
#include "flow/scheme_check.h"
#include "flow/table_check.h"
#include "flow/writer.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/log.h"

/* A lane is an operator's business when it has failed this long; then it is said again this often. */
#define TROUBLE_US (30 * TIDE_US_PER_S)

/* Missing tables are looked for this often, and said again every TROUBLE_US. */
#define TABLE_CHECK_US (5 * TIDE_US_PER_S)

/* A thread that has not gone round for this long beyond its longest lawful wait is stuck. */
#define STUCK_US (30 * TIDE_US_PER_S)

/* Beyond the drain deadline: leaving the group, which librdkafka bounds by nothing. */
#define CLOSE_US (5 * TIDE_US_PER_S)

/* Waits are cut into pieces of this length so that a stop during the start is noticed. */
#define START_ROUND_US (TIDE_US_PER_S / 5)

struct TidePipeline {
  /* set before start, then read-only */
  TidePipelineOptions options;
  TideSchemeStore schemes;
  TideBudget budget;
  TideBudget *table_budgets; /* owned array, by table place */
  TideDatedTables *dated;
  TideLanes *lanes;
  TideGateways *gateways;
  TideRegions *regions;
  TideDeadLetters *letters;
  TideKafkaWatch *watch;
  TideThread *starter;
  TideGauge *budget_used;
  TideGauge *waiting_rows;
  TideGauge *in_flight_rows;
  TideGauge *troubled_lanes;
  TideGauge *narrowed_lanes;
  TideGauge *probes;
  TideGauge *held_tables;
  TideGauge *oldest;
  TideGauge *held;

  /* main thread only */
  gint64 trouble_logged_us;
  gint64 missing_logged_us;
  gint64 group_logged_us;

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

static void
wait_for_stop_until(TidePipeline *pipeline, gint64 deadline_us)
{
  tide_mutex_lock(&pipeline->lock);
  while (!is_stopping(pipeline) && tide_now_us() < deadline_us)
    tide_cond_wait_until(&pipeline->stop_asked, &pipeline->lock, deadline_us);
  tide_mutex_unlock(&pipeline->lock);
}

static gboolean
wait_for_gateway(TidePipeline *pipeline, TideWireProtocol *ret_protocol)
{
  while (!is_stopping(pipeline)) {
    if (tide_gateways_wait_up(pipeline->gateways, tide_now_us() + START_ROUND_US, ret_protocol))
      return TRUE;
    char *complaint = tide_gateways_complaint(pipeline->gateways);
    set_waiting_for(pipeline, g_strdup_printf("no gateway is usable: %s", complaint != NULL ? complaint : "probing"));
    g_free(complaint);
  }
  return FALSE;
}

/* What is missing, joined; NULL when all is there. FALSE when no gateway could be asked. */
static gboolean
ask_for_tables(TidePipeline *pipeline, char **ret_missing)
{
  const TideConfig *config = pipeline->options.config;
  TideHBaseClient *client = NULL;
  TideGateway *gateway = tide_gateways_connect(pipeline->gateways, tide_now_us() + START_ROUND_US, &client);
  if (gateway == NULL)
    return FALSE;
  g_autoptr(GError) error = NULL;
  g_autoptr(GPtrArray) missing = tide_table_check(config, client, config->hbase.call_timeout_ms, &error);
  tide_gateways_release(pipeline->gateways, gateway, client, missing == NULL);
  if (missing == NULL) {
    set_waiting_for(pipeline, g_strdup_printf("cannot look at the tables: %s", error->message));
    return FALSE;
  }
  *ret_missing = NULL;
  if (missing->len > 0) {
    g_ptr_array_add(missing, NULL);
    *ret_missing = g_strjoinv("; ", (char **)missing->pdata);
  }
  return TRUE;
}

static gboolean
wait_for_tables(TidePipeline *pipeline)
{
  gint64 said_us = 0;
  while (!is_stopping(pipeline)) {
    g_autofree char *missing = NULL;
    gboolean asked = ask_for_tables(pipeline, &missing);
    if (asked && missing == NULL)
      return TRUE;
    if (asked && pipeline->options.config->service.startup == TIDE_STARTUP_FAIL) {
      g_set_error(&pipeline->failure, TIDE_ERROR, TIDE_ERROR_UNAVAILABLE, "%s", missing);
      return FALSE;
    }
    gint64 now_us = tide_now_us();
    if (asked && (said_us == 0 || now_us - said_us >= TROUBLE_US)) {
      said_us = now_us;
      tide_log(TIDE_LOG_ERROR, "%s; waiting for it (service.startup: wait)", missing);
    }
    if (asked)
      set_waiting_for(pipeline, g_steal_pointer(&missing));
    wait_for_stop_until(pipeline, now_us + (asked ? TABLE_CHECK_US : START_ROUND_US));
  }
  return FALSE;
}

/* FALSE when HBase could not be asked: @ret_error says why, or nothing when no gateway is up. */
static gboolean
ask_for_schemes(TidePipeline *pipeline, GError **ret_error)
{
  TideHBaseClient *client = NULL;
  TideGateway *gateway = tide_gateways_connect(pipeline->gateways, tide_now_us() + START_ROUND_US, &client);
  if (gateway == NULL)
    return FALSE;
  gboolean good = tide_scheme_check(&pipeline->schemes, client, pipeline->options.config->tables,
                                    pipeline->options.accept_scheme_change, ret_error);
  tide_gateways_release(pipeline->gateways, gateway, client, !tide_hbase_client_is_open(client));
  return good;
}

/* A changed scheme fails the start at once; HBase that cannot be asked is waited for, as for the tables. */
static gboolean
wait_for_schemes(TidePipeline *pipeline)
{
  gint64 said_us = 0;
  while (!is_stopping(pipeline)) {
    g_autoptr(GError) error = NULL;
    if (ask_for_schemes(pipeline, &error))
      return TRUE;
    if (g_error_matches(error, TIDE_ERROR, TIDE_ERROR_CONFIG)) {
      pipeline->failure = g_steal_pointer(&error);
      return FALSE;
    }
    gint64 now_us = tide_now_us();
    if (error != NULL && (said_us == 0 || now_us - said_us >= TROUBLE_US)) {
      said_us = now_us;
      tide_log(TIDE_LOG_ERROR, "cannot compare the schemes of the tables: %s; trying again", error->message);
    }
    if (error != NULL)
      set_waiting_for(pipeline, g_strdup_printf("cannot compare the schemes of the tables: %s", error->message));
    wait_for_stop_until(pipeline, now_us + START_ROUND_US);
  }
  return FALSE;
}

static void
start_writers(TidePipeline *pipeline)
{
  TideWriterContext context = {.config = &pipeline->options.config->hbase,
                               .lanes = pipeline->lanes,
                               .gateways = pipeline->gateways,
                               .regions = pipeline->regions,
                               .metrics = pipeline->options.metrics};
  for (guint32 i = 0; i < pipeline->options.config->hbase.writers; i++)
    g_ptr_array_add(pipeline->writers, tide_writer_start(&context, i));
}

static gboolean
start_consumers(TidePipeline *pipeline, TideWireProtocol protocol)
{
  if (!tide_kafka_watch_start(pipeline->watch, &pipeline->failure))
    return FALSE;
  TideConsumerContext context = {.config = pipeline->options.config,
                                 .protocol = protocol,
                                 .budget = &pipeline->budget,
                                 .table_budgets = pipeline->table_budgets,
                                 .lanes = pipeline->lanes,
                                 .regions = pipeline->regions,
                                 .dated = pipeline->dated,
                                 .letters = pipeline->letters,
                                 .metrics = pipeline->options.metrics,
                                 .watch = pipeline->watch,
                                 .until_end = pipeline->options.until_end};
  pipeline->joined_us = tide_now_us();
  for (guint32 i = 0; i < pipeline->options.config->kafka.threads; i++) {
    TideConsumer *consumer = tide_consumer_start(&context, i, &pipeline->failure);
    if (consumer == NULL)
      return FALSE;
    g_ptr_array_add(pipeline->consumers, consumer);
  }
  return TRUE;
}

/* The starter thread's owner function. */
static void
run_start(gpointer data)
{
  TidePipeline *pipeline = data;
  TideWireProtocol protocol;
  if (!wait_for_gateway(pipeline, &protocol))
    return;
  set_stage(pipeline, TIDE_STAGE_WAITING_FOR_TABLES);
  if (wait_for_tables(pipeline) && wait_for_schemes(pipeline)) {
    tide_regions_refresh_all(pipeline->regions, tide_now_us() + TABLE_CHECK_US);
    tide_regions_start(pipeline->regions);
    start_writers(pipeline);
    if (!is_stopping(pipeline) && tide_dead_letters_start(pipeline->letters, protocol, &pipeline->failure) &&
        start_consumers(pipeline, protocol)) {
      set_waiting_for(pipeline, NULL);
      set_stage(pipeline, TIDE_STAGE_RUNNING);
      return;
    }
  }
  if (pipeline->failure != NULL)
    set_stage(pipeline, TIDE_STAGE_FAILED);
}

static void
register_metrics(TidePipeline *pipeline)
{
  TideMetrics *metrics = pipeline->options.metrics;
  TideGauge *limit =
      tide_metrics_gauge(metrics, "tidemark_memory_budget_bytes", "Budget for all that is in flight", NULL);
  tide_gauge_set(limit, (gint64)pipeline->budget.limit_bytes);
  pipeline->budget_used = tide_metrics_gauge(metrics, "tidemark_memory_used_bytes", "Of the budget, in use", NULL);
  pipeline->waiting_rows =
      tide_metrics_gauge(metrics, "tidemark_lane_waiting_rows", "Sealed rows that wait for a writer", NULL);
  pipeline->in_flight_rows =
      tide_metrics_gauge(metrics, "tidemark_lane_in_flight_rows", "Rows in calls that run", NULL);
  pipeline->troubled_lanes =
      tide_metrics_gauge(metrics, "tidemark_lanes_in_trouble", "Lanes (regions) whose calls keep failing", NULL);
  pipeline->narrowed_lanes =
      tide_metrics_gauge(metrics, "tidemark_lanes_narrowed",
                         "Lanes that may have fewer rows in flight since a call of theirs failed", NULL);
  pipeline->probes =
      tide_metrics_gauge(metrics, "tidemark_lane_probes", "Calls that run to see whether a trouble is over", NULL);
  pipeline->held_tables = tide_metrics_gauge(metrics, "tidemark_tables_held",
                                             "Tables that stand still until an operator mends them in HBase", NULL);
  pipeline->oldest = tide_metrics_gauge_milli(metrics, "tidemark_oldest_in_flight_seconds",
                                              "Age of the oldest row that HBase has not acknowledged", NULL);
  pipeline->held = tide_metrics_gauge(metrics, "tidemark_kafka_held_partitions",
                                      "Partitions that stand still until an operator acts", NULL);
}

TidePipeline *
tide_pipeline_new(const TidePipelineOptions *options)
{
  const TideConfig *config = options->config;
  TidePipeline *pipeline = g_new0(TidePipeline, 1);
  pipeline->options = *options;
  tide_scheme_store_init(&pipeline->schemes, config);
  guint64 memory_bytes = config->limits.memory_bytes;
  tide_budget_init(&pipeline->budget, memory_bytes - tide_budget_prefetch_bytes(memory_bytes));
  tide_mutex_init(&pipeline->lock);
  tide_cond_init(&pipeline->stop_asked);
  pipeline->writers = g_ptr_array_new();
  pipeline->consumers = g_ptr_array_new();
  pipeline->dated = tide_dated_tables_new(config);
  guint32 n_dated;
  guint32 n_places = tide_dated_tables_places(config, &n_dated);
  pipeline->table_budgets = g_new0(TideBudget, n_places);
  for (guint32 i = 0; i < n_places; i++)
    tide_budget_init_table_share(&pipeline->table_budgets[i], &pipeline->budget);
  TideLanesOptions lanes = {.n_tables = n_places,
                            .n_blocked = n_dated,
                            .max_rows = config->batch.max_rows,
                            .max_bytes = config->batch.max_bytes,
                            .max_in_flight_per_region = config->hbase.max_in_flight_per_region,
                            .max_probes = config->hbase.writers / 2,
                            .retry_min_us = config->hbase.retry_min_ms * TIDE_US_PER_MS,
                            .retry_max_us = config->hbase.retry_max_ms * TIDE_US_PER_MS};
  pipeline->lanes = tide_lanes_new(&lanes);
  pipeline->gateways = tide_gateways_new(&config->hbase, options->metrics);
  TideRegionsOptions regions = {.config = config,
                                .lanes = pipeline->lanes,
                                .gateways = pipeline->gateways,
                                .metrics = options->metrics,
                                .schemes = &pipeline->schemes,
                                .accept_scheme_change = options->accept_scheme_change,
                                .n_places = n_places};
  pipeline->regions = tide_regions_new(&regions);
  TideDeadLettersContext letters = {.config = config, .budget = &pipeline->budget, .metrics = options->metrics};
  pipeline->letters = tide_dead_letters_new(&letters);
  pipeline->watch = tide_kafka_watch_new(&config->kafka, options->metrics);
  register_metrics(pipeline);
  return pipeline;
}

void
tide_pipeline_start(TidePipeline *pipeline)
{
  tide_gateways_start(pipeline->gateways);
  pipeline->starter = tide_thread_start("tide-start", run_start, pipeline);
}

/* ---- stop ---- */

static void
end_here(const char *what)
{
  tide_log(TIDE_LOG_ERROR, "%s did not end in time: ending without it; what it held was not committed and comes again",
           what);
  _exit(TIDE_EXIT_TEMPFAIL);
}

static gboolean
stop_consumers(TidePipeline *pipeline, gint64 deadline_us)
{
  gboolean left_work = FALSE;
  for (guint i = 0; i < pipeline->consumers->len; i++)
    tide_consumer_stop(g_ptr_array_index(pipeline->consumers, i), deadline_us);
  for (guint i = 0; i < pipeline->consumers->len; i++) {
    TideConsumer *consumer = g_ptr_array_index(pipeline->consumers, i);
    if (!tide_consumer_join_until(consumer, deadline_us + CLOSE_US))
      end_here("a Kafka consumer");
    left_work |= tide_consumer_state_racy(consumer).left_work;
  }
  return left_work;
}

static void
stop_writers(TidePipeline *pipeline)
{
  tide_lanes_stop(pipeline->lanes);
  for (guint i = 0; i < pipeline->writers->len; i++)
    tide_writer_cancel(g_ptr_array_index(pipeline->writers, i));
  for (guint i = 0; i < pipeline->writers->len; i++)
    if (!tide_writer_join_until(g_ptr_array_index(pipeline->writers, i), tide_now_us() + CLOSE_US))
      end_here("a writer");
}

int
tide_pipeline_stop(TidePipeline *pipeline, gint64 deadline_us)
{
  tide_mutex_lock(&pipeline->lock);
  atomic_store_explicit(&pipeline->stopping, TRUE, memory_order_release);
  tide_cond_broadcast(&pipeline->stop_asked);
  tide_mutex_unlock(&pipeline->lock);
  if (!tide_thread_join_until(pipeline->starter, deadline_us + CLOSE_US))
    end_here("the start");
  pipeline->starter = NULL;
  tide_kafka_watch_stop(pipeline->watch);
  gboolean left_work = stop_consumers(pipeline, deadline_us);
  if (!tide_dead_letters_stop(pipeline->letters, tide_now_us() + CLOSE_US))
    end_here("the keeping of dead letters");
  stop_writers(pipeline);
  tide_regions_stop(pipeline->regions);
  tide_gateways_stop(pipeline->gateways);
  return left_work ? TIDE_EXIT_TEMPFAIL : TIDE_EXIT_OK;
}

void
tide_pipeline_free(TidePipeline *pipeline)
{
  if (pipeline == NULL)
    return;
  for (guint i = 0; i < pipeline->consumers->len; i++)
    tide_consumer_free(g_ptr_array_index(pipeline->consumers, i));
  for (guint i = 0; i < pipeline->writers->len; i++)
    tide_writer_free(g_ptr_array_index(pipeline->writers, i));
  g_ptr_array_unref(pipeline->consumers);
  g_ptr_array_unref(pipeline->writers);
  tide_kafka_watch_free(pipeline->watch);
  tide_dead_letters_free(pipeline->letters);
  tide_regions_free(pipeline->regions);
  tide_lanes_free(pipeline->lanes);
  tide_gateways_free(pipeline->gateways);
  tide_dated_tables_free(pipeline->dated);
  g_free(pipeline->table_budgets);
  tide_scheme_store_clear(&pipeline->schemes);
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

/* ---- watching ---- */

typedef struct Totals {
  guint32 assigned, held, paused;
  guint64 in_flight;
  gint64 oldest_us;
  guint32 n_finished;
  gboolean had_assignment;
  gboolean fatal;
  gboolean denied;
  gboolean stuck;
} Totals;

static Totals
total(TidePipeline *pipeline, gint64 now_us)
{
  Totals totals = {.had_assignment = TRUE};
  for (guint i = 0; i < pipeline->consumers->len; i++) {
    TideConsumerState state = tide_consumer_state_racy(g_ptr_array_index(pipeline->consumers, i));
    totals.assigned += state.assigned;
    totals.held += state.held;
    totals.paused += state.paused;
    totals.in_flight += state.in_flight;
    totals.n_finished += state.finished ? 1 : 0;
    totals.had_assignment &= state.had_assignment;
    totals.fatal |= state.fatal;
    totals.denied |= state.denied;
    totals.stuck |= now_us - state.last_round_us > STUCK_US;
    if (state.oldest_us > 0 && (totals.oldest_us == 0 || state.oldest_us < totals.oldest_us))
      totals.oldest_us = state.oldest_us;
  }
  gint64 longest_us = STUCK_US + pipeline->options.config->hbase.call_timeout_ms * TIDE_US_PER_MS;
  for (guint i = 0; i < pipeline->writers->len; i++)
    totals.stuck |= now_us - tide_writer_last_round_us_racy(g_ptr_array_index(pipeline->writers, i)) > longest_us;
  return totals;
}

static char *
held_text(TidePipeline *pipeline)
{
  for (guint i = 0; i < pipeline->consumers->len; i++) {
    char *text = tide_consumer_held_text(g_ptr_array_index(pipeline->consumers, i));
    if (text != NULL)
      return text;
  }
  return g_strdup("a partition stands still");
}

static char *
trouble_text(const TideLaneTrouble *trouble, gint64 now_us)
{
  return g_strdup_printf("table '%s', region from '%s', first row key '%s': %" G_GUINT64_FORMAT
                         " rows wait for %" G_GINT64_FORMAT " s, %u calls failed, the last with: %s",
                         trouble->table->name, trouble->region_start, trouble->first_row_key, trouble->waiting_rows,
                         (now_us - trouble->since_us) / TIDE_US_PER_S, trouble->failures, trouble->error_text);
}

static char *
kafka_trouble(TidePipeline *pipeline)
{
  char *text = NULL;
  for (guint i = 0; i < pipeline->consumers->len && text == NULL; i++)
    text = tide_consumer_trouble_text(g_ptr_array_index(pipeline->consumers, i));
  return text;
}

/* A group in which nobody died has given out its partitions by then: brokers let a new one wait for 3 s. */
#define GROUP_WAIT_US (4 * TIDE_US_PER_S)

/* Why the group gives out no partitions, as far as that can be told from here. */
static char *
group_text(const TidePipeline *pipeline, gint64 now_us)
{
  const TideKafkaConfig *config = &pipeline->options.config->kafka;
  gint64 waited_us = now_us - pipeline->joined_us;
  gint64 left_us = config->session_timeout_ms * TIDE_US_PER_MS - waited_us;
  if (waited_us < GROUP_WAIT_US)
    return g_strdup("no assignment yet");
  if (left_us < 0)
    return g_strdup_printf("the group '%s' has given out no partitions for %" G_GINT64_FORMAT
                           " s: a member that does not join again is waited for as long as its kafka.max_poll_interval",
                           config->group, waited_us / TIDE_US_PER_S);
  g_autoptr(GDateTime) now = g_date_time_new_now_utc();
  g_autoptr(GDateTime) until = g_date_time_add(now, left_us);
  g_autofree char *time = g_date_time_format(until, "%H:%M:%S");
  return g_strdup_printf("the group '%s' keeps partitions for a member that ended without leaving, a daemon that was "
                         "killed: its kafka.session_timeout is over by %s UTC at the latest",
                         config->group, time);
}

/* Why the program must end by itself, as an exit code; 0: it need not. */
static int
fatal_exit(const TidePipeline *pipeline, const Totals *totals)
{
  if (totals->fatal)
    return TIDE_EXIT_TEMPFAIL;
  if (pipeline->options.config->service.startup == TIDE_STARTUP_WAIT)
    return 0;
  if (totals->denied && !totals->had_assignment)
    return TIDE_EXIT_PERMISSION;
  g_autofree char *missing = NULL;
  (void)tide_kafka_watch_topics(pipeline->watch, &missing);
  gboolean was_ready = atomic_load_explicit(&pipeline->was_ready, memory_order_relaxed);
  return missing != NULL && !was_ready ? TIDE_EXIT_UNAVAILABLE : 0;
}

/* What keeps a running pipeline from being ready; NULL when nothing does. */
static char *
why_not_ready(TidePipeline *pipeline, const Totals *totals, gint64 now_us)
{
  if (!totals->had_assignment || totals->denied) {
    g_autofree char *trouble = kafka_trouble(pipeline);
    g_autofree char *group = group_text(pipeline, now_us);
    return g_strdup_printf("waiting for Kafka: %s", trouble != NULL ? trouble : group);
  }
  char *missing = NULL;
  if (!tide_kafka_watch_topics(pipeline->watch, &missing))
    return g_strdup("waiting for Kafka: no broker has said yet whether the topics exist");
  if (missing != NULL)
    return missing;
  if (totals->held > 0)
    return held_text(pipeline);
  char *letters_text = tide_dead_letters_held_text(pipeline->letters);
  if (letters_text != NULL)
    return letters_text;
  if (tide_gateways_n_up(pipeline->gateways) == 0) {
    g_autofree char *complaint = tide_gateways_complaint(pipeline->gateways);
    return g_strdup_printf("no gateway is usable: %s", complaint != NULL ? complaint : "probing");
  }
  g_autoptr(GPtrArray) troubles = tide_lanes_in_trouble(pipeline->lanes, now_us - TROUBLE_US);
  return troubles->len > 0 ? trouble_text(g_ptr_array_index(troubles, 0), now_us) : NULL;
}

/* As part of the status line. */
static char *
lag_text(const TideKafkaLag *lag)
{
  if (!lag->is_known)
    return g_strdup("lag unknown");
  return lag->seconds < 0 ? g_strdup_printf("lag %" G_GINT64_FORMAT " messages", lag->messages)
                          : g_strdup_printf("lag %" G_GINT64_FORMAT " messages, %" G_GINT64_FORMAT " s", lag->messages,
                                            lag->seconds);
}

static void
fill_running_state(TidePipeline *pipeline, TidePipelineState *state)
{
  gint64 now_us = tide_now_us();
  Totals totals = total(pipeline, now_us);
  state->healthy = !totals.stuck;
  state->fatal_exit = fatal_exit(pipeline, &totals);
  state->any_held = totals.held > 0;
  state->finished = totals.n_finished == pipeline->consumers->len;
  state->reason = totals.stuck ? g_strdup("a thread has not gone round its loop for too long")
                               : why_not_ready(pipeline, &totals, now_us);
  state->ready = state->reason == NULL;
  if (state->ready)
    atomic_store_explicit(&pipeline->was_ready, TRUE, memory_order_relaxed);
  g_autofree char *detail = state->ready ? NULL : g_strdup_printf("; %s", state->reason);
  TideKafkaLag lag = tide_kafka_watch_lag(pipeline->watch);
  state->unread = lag.is_known ? lag.unread : -1;
  g_autofree char *lag_part = lag_text(&lag);
  state->status =
      g_strdup_printf("%u partitions, %s, in flight %" G_GUINT64_FORMAT " messages, gateways %u/%u up, paused %u%s",
                      totals.assigned, lag_part, totals.in_flight, tide_gateways_n_up(pipeline->gateways),
                      tide_gateways_n(pipeline->gateways), totals.paused, detail != NULL ? detail : "");
}

TidePipelineState
tide_pipeline_state(TidePipeline *pipeline)
{
  TidePipelineState state = {.healthy = TRUE, .unread = -1};
  state.stage = atomic_load_explicit(&pipeline->stage, memory_order_acquire);
  if (state.stage == TIDE_STAGE_RUNNING) {
    fill_running_state(pipeline, &state);
    return state;
  }
  tide_mutex_lock(&pipeline->lock);
  state.reason = g_strdup(pipeline->waiting_for != NULL ? pipeline->waiting_for : "starting");
  tide_mutex_unlock(&pipeline->lock);
  state.status = g_strdup_printf("starting: %s", state.reason);
  return state;
}

void
tide_pipeline_state_clear(TidePipelineState *state)
{
  g_free(state->reason);
  g_free(state->status);
  *state = (TidePipelineState){0};
}

static void
log_troubles(TidePipeline *pipeline, gint64 now_us)
{
  if (now_us - pipeline->trouble_logged_us < TROUBLE_US)
    return;
  g_autoptr(GPtrArray) troubles = tide_lanes_in_trouble(pipeline->lanes, now_us - TROUBLE_US);
  if (troubles->len == 0)
    return;
  pipeline->trouble_logged_us = now_us;
  for (guint i = 0; i < troubles->len; i++) {
    const TideLaneTrouble *trouble = g_ptr_array_index(troubles, i);
    g_autofree char *text = trouble_text(trouble, now_us);
    const TideLogField fields[] = {{"TABLE", trouble->table->name}, {"ROW", trouble->first_row_key}};
    tide_log_fields(trouble->is_held ? TIDE_LOG_CRIT : TIDE_LOG_ERROR, fields, G_N_ELEMENTS(fields),
                    "%s; it is sent again until it is written, offsets stay where they are", text);
  }
}

static void
log_group(TidePipeline *pipeline, const Totals *totals, gint64 now_us)
{
  if (totals->had_assignment || now_us - pipeline->joined_us < GROUP_WAIT_US ||
      (pipeline->group_logged_us > 0 && now_us - pipeline->group_logged_us < TROUBLE_US))
    return;
  pipeline->group_logged_us = now_us;
  g_autofree char *text = group_text(pipeline, now_us);
  tide_log(TIDE_LOG_NOTICE, "waiting for partitions: %s", text);
}

static void
log_missing_topics(TidePipeline *pipeline, gint64 now_us)
{
  g_autofree char *missing = NULL;
  (void)tide_kafka_watch_topics(pipeline->watch, &missing);
  if (missing == NULL || (pipeline->missing_logged_us > 0 && now_us - pipeline->missing_logged_us < TROUBLE_US))
    return;
  pipeline->missing_logged_us = now_us;
  tide_log(TIDE_LOG_ERROR, "%s", missing);
}

void
tide_pipeline_watch(TidePipeline *pipeline, gint64 now_us)
{
  tide_gauge_set(pipeline->budget_used, (gint64)tide_budget_used_racy(&pipeline->budget));
  TideLanesState lanes = tide_lanes_state(pipeline->lanes);
  tide_gauge_set(pipeline->waiting_rows, (gint64)lanes.waiting_rows);
  tide_gauge_set(pipeline->in_flight_rows, (gint64)lanes.in_flight_rows);
  tide_gauge_set(pipeline->troubled_lanes, lanes.troubled_lanes);
  tide_gauge_set(pipeline->narrowed_lanes, lanes.narrowed_lanes);
  tide_gauge_set(pipeline->probes, lanes.in_flight_probes);
  tide_gauge_set(pipeline->held_tables, lanes.held_tables);
  if (atomic_load_explicit(&pipeline->stage, memory_order_acquire) != TIDE_STAGE_RUNNING)
    return;
  Totals totals = total(pipeline, now_us);
  gint64 oldest_us = lanes.oldest_us > 0 && (totals.oldest_us == 0 || lanes.oldest_us < totals.oldest_us)
                         ? lanes.oldest_us
                         : totals.oldest_us;
  tide_gauge_set(pipeline->oldest, oldest_us > 0 ? (now_us - oldest_us) / TIDE_US_PER_MS : 0);
  tide_gauge_set(pipeline->held, totals.held);
  log_troubles(pipeline, now_us);
  log_group(pipeline, &totals, now_us);
  log_missing_topics(pipeline, now_us);
}
