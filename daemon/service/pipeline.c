#include "service/pipeline.h"

#include "service/pipeline_private.h"
#include "tables/table_check.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/log.h"

/* Missing tables are looked for this often, and said again every TIDE_TROUBLE_US. */
#define TABLE_CHECK_US (5 * TIDE_US_PER_S)

/* Beyond the drain deadline: leaving the group, which librdkafka bounds by nothing. */
#define CLOSE_US (5 * TIDE_US_PER_S)

/* Waits are cut into pieces of this length so that a stop during the start is noticed. */
#define START_ROUND_US (TIDE_US_PER_S / 5)

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
    char *last_error = tide_gateways_last_error(pipeline->gateways);
    set_waiting_for(pipeline, g_strdup_printf("no gateway is usable: %s", last_error != NULL ? last_error : "probing"));
    g_free(last_error);
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
  gint64 logged_us = 0;
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
    if (asked && (logged_us == 0 || now_us - logged_us >= TIDE_TROUBLE_US)) {
      logged_us = now_us;
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
ask_for_fingerprints(TidePipeline *pipeline, GError **ret_error)
{
  TideHBaseClient *client = NULL;
  TideGateway *gateway = tide_gateways_connect(pipeline->gateways, tide_now_us() + START_ROUND_US, &client);
  if (gateway == NULL)
    return FALSE;
  gboolean good = tide_fingerprint_check(&pipeline->fingerprints, client, pipeline->options.config->tables,
                                         pipeline->options.accept_scheme_change, ret_error);
  tide_gateways_release(pipeline->gateways, gateway, client, !tide_hbase_client_is_open(client));
  return good;
}

/* A changed key fingerprint fails the start at once; HBase that cannot be asked is waited for, as for the tables. */
static gboolean
wait_for_fingerprints(TidePipeline *pipeline)
{
  gint64 logged_us = 0;
  while (!is_stopping(pipeline)) {
    g_autoptr(GError) error = NULL;
    if (ask_for_fingerprints(pipeline, &error))
      return TRUE;
    if (g_error_matches(error, TIDE_ERROR, TIDE_ERROR_CONFIG)) {
      pipeline->failure = g_steal_pointer(&error);
      return FALSE;
    }
    gint64 now_us = tide_now_us();
    if (error != NULL && (logged_us == 0 || now_us - logged_us >= TIDE_TROUBLE_US)) {
      logged_us = now_us;
      tide_log(TIDE_LOG_ERROR, "cannot compare the key fingerprints of the tables: %s; trying again", error->message);
    }
    if (error != NULL)
      set_waiting_for(pipeline,
                      g_strdup_printf("cannot compare the key fingerprints of the tables: %s", error->message));
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
                                 .dead_letters = pipeline->dead_letters,
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
  if (wait_for_tables(pipeline) && wait_for_fingerprints(pipeline)) {
    tide_regions_refresh_all(pipeline->regions, tide_now_us() + TABLE_CHECK_US);
    tide_regions_start(pipeline->regions);
    start_writers(pipeline);
    if (!is_stopping(pipeline) && tide_dead_letter_queue_start(pipeline->dead_letters, protocol, &pipeline->failure) &&
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
  pipeline->suspended_tables = tide_metrics_gauge(
      metrics, "tidemark_tables_held", "Tables that are suspended until an operator repairs them in HBase", NULL);
  pipeline->oldest = tide_metrics_gauge_milli(metrics, "tidemark_oldest_in_flight_seconds",
                                              "Age of the oldest row that HBase has not acknowledged", NULL);
  pipeline->halted = tide_metrics_gauge(metrics, "tidemark_kafka_held_partitions",
                                        "Partitions that are halted until an operator acts", NULL);
}

TidePipeline *
tide_pipeline_new(const TidePipelineOptions *options)
{
  const TideConfig *config = options->config;
  TidePipeline *pipeline = g_new0(TidePipeline, 1);
  pipeline->options = *options;
  tide_fingerprint_store_init(&pipeline->fingerprints, config);
  guint64 memory_bytes = config->limits.memory_bytes;
  tide_budget_init(&pipeline->budget, memory_bytes - tide_budget_prefetch_bytes(memory_bytes));
  tide_mutex_init(&pipeline->lock);
  tide_cond_init(&pipeline->stop_asked);
  pipeline->writers = g_ptr_array_new();
  pipeline->consumers = g_ptr_array_new();
  pipeline->dated = tide_dated_tables_new(config);
  guint32 n_dated;
  guint32 n_slots = tide_dated_tables_slots(config, &n_dated);
  pipeline->table_budgets = g_new0(TideBudget, n_slots);
  for (guint32 i = 0; i < n_slots; i++)
    tide_budget_init_table_share(&pipeline->table_budgets[i], &pipeline->budget);
  TideLanesOptions lanes = {.n_tables = n_slots,
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
                                .dated = pipeline->dated,
                                .lanes = pipeline->lanes,
                                .gateways = pipeline->gateways,
                                .metrics = options->metrics,
                                .fingerprints = &pipeline->fingerprints,
                                .accept_scheme_change = options->accept_scheme_change,
                                .n_slots = n_slots};
  pipeline->regions = tide_regions_new(&regions);
  TideDeadLetterQueueContext dead_letters = {
      .config = config, .budget = &pipeline->budget, .metrics = options->metrics};
  pipeline->dead_letters = tide_dead_letter_queue_new(&dead_letters);
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
  if (!tide_dead_letter_queue_stop(pipeline->dead_letters, tide_now_us() + CLOSE_US))
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
  tide_dead_letter_queue_free(pipeline->dead_letters);
  tide_regions_free(pipeline->regions);
  tide_lanes_free(pipeline->lanes);
  tide_gateways_free(pipeline->gateways);
  tide_dated_tables_free(pipeline->dated);
  g_free(pipeline->table_budgets);
  tide_fingerprint_store_clear(&pipeline->fingerprints);
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
