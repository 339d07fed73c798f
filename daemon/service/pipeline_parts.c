#include "service/pipeline_parts.h"

#include "config/tables_mark.h"
#include "config/topic_pattern.h"
#include "kafka/kafka_source.h"
#include "util/clock.h"
#include "util/log.h"
#include "util/state_directory.h"

/* The memory available for in-flight data. */
static guint64
budget_bytes(const TideConfig *config)
{
  guint64 memory_bytes = config->limits.memory_bytes;
  return memory_bytes - tide_budget_prefetch_bytes(memory_bytes);
}

void
tide_pipeline_parts_init(TidePipelineParts *parts, const TidePipelineOptions *options)
{
  const TideConfig *config = options->config;
  *parts = (TidePipelineParts){.options = *options};
  tide_fingerprint_store_init(&parts->fingerprints, config);
  /* One budget per table slot, a share of the whole; dated tables share their slot's. */
  tide_budget_init(&parts->budget, budget_bytes(config));
  parts->n_slots = tide_dated_tables_slots(config);
  tide_budget_init_doubt_share(&parts->doubt_budget, &parts->budget);
  parts->table_budgets = g_new0(TideBudget, parts->n_slots);
  for (guint i = 0; i < config->tables->len; i++)
    tide_budget_init_table_share(&parts->table_budgets[i], &parts->budget);
  TideDatedTablesContext dated = {
      .config = config, .budget = &parts->budget, .table_budgets = parts->table_budgets, .metrics = options->metrics};
  parts->dated = tide_dated_tables_new(&dated);
  parts->gateways = tide_gateways_new(&config->hbase, options->metrics);
  TideLanesOptions lanes = {.n_tables = parts->n_slots,
                            .max_rows = config->batch.max_rows,
                            .max_bytes = config->batch.max_bytes,
                            .max_in_flight_per_region = config->hbase.max_in_flight_per_region,
                            .max_probes = config->hbase.writers / 2,
                            .retry_min_us = config->hbase.retry_min_ms * TIDE_US_PER_MS,
                            .retry_max_us = config->hbase.retry_max_ms * TIDE_US_PER_MS,
                            .rows_per_second = config->limits.rows_per_second,
                            .yield_gateways = options->yields ? tide_gateways_max_entries(parts->gateways) : 0,
                            .n_writers = config->hbase.writers};
  parts->lanes = tide_lanes_new(&lanes);
  if (options->accept_cluster_change)
    tide_gateways_accept_cluster_change(parts->gateways);
  TideRegionsOptions regions = {.config = config,
                                .lanes = parts->lanes,
                                .gateways = parts->gateways,
                                .metrics = options->metrics,
                                .fingerprints = &parts->fingerprints,
                                .accept_scheme_change = options->accept_scheme_change,
                                .n_slots = parts->n_slots};
  parts->regions = tide_regions_new(&regions);
  TideDeadLetterQueueContext dead_letters = {.config = config,
                                             .budget = &parts->budget,
                                             .metrics = options->metrics,
                                             .find_original = options->find_original,
                                             .original_data = options->input_data};
  parts->dead_letters = tide_dead_letter_queue_new(&dead_letters);
  parts->watch = options->open_input == NULL
                     ? tide_kafka_watch_new(&config->kafka, tide_config_tables_mark(config), options->metrics)
                     : NULL;
  parts->memory = options->open_input == NULL ? tide_group_memory_new(config->kafka.group) : NULL;
  g_autofree char *state_directory = parts->watch != NULL ? tide_state_directory() : NULL;
  parts->pause_watch = tide_pause_watch_new(state_directory);
  tide_pipeline_parts_watch_pauses(parts, tide_wall_clock_epoch_ms());
  parts->goal = options->until_end && parts->watch != NULL ? tide_kafka_goal_new(&config->kafka, parts->watch) : NULL;
  parts->writers = g_ptr_array_new_with_free_func((GDestroyNotify)tide_writer_free);
  parts->consumers = g_ptr_array_new_with_free_func((GDestroyNotify)tide_consumer_free);
}

void
tide_pipeline_parts_clear(TidePipelineParts *parts)
{
  g_ptr_array_unref(parts->consumers);
  g_ptr_array_unref(parts->writers);
  tide_kafka_goal_free(parts->goal);
  tide_kafka_watch_free(parts->watch);
  tide_group_memory_free(parts->memory);
  tide_pause_watch_free(parts->pause_watch);
  tide_dead_letter_queue_free(parts->dead_letters);
  tide_regions_free(parts->regions);
  tide_lanes_free(parts->lanes);
  tide_gateways_free(parts->gateways);
  tide_dated_tables_free(parts->dated);
  g_free(parts->table_budgets);
  tide_fingerprint_store_clear(&parts->fingerprints);
}

void
tide_pipeline_parts_take_changes(TidePipelineParts *parts)
{
  const TideConfig *config = parts->options.config;
  guint64 whole_bytes = budget_bytes(config);
  tide_budget_set_limit(&parts->budget, whole_bytes);
  tide_budget_set_limit(&parts->doubt_budget, tide_budget_doubt_share_bytes(whole_bytes));
  guint32 end = tide_dated_tables_end(parts->dated);
  for (guint32 i = 0; i < end; i++)
    tide_budget_set_limit(&parts->table_budgets[i], tide_budget_table_share_bytes(whole_bytes));
  tide_gateways_take_list(parts->gateways);
  tide_lanes_set_call_limits(parts->lanes, config->batch.max_rows, config->batch.max_bytes);
  tide_lanes_set_rows_per_second(parts->lanes, config->limits.rows_per_second);
}

gboolean
tide_pipeline_parts_pause_has_effect(const TidePipelineParts *parts, const TideOperatorPause *pause)
{
  const TideConfig *config = parts->options.config;
  if (pause->scope == TIDE_SCOPE_TOPIC)
    return tide_topic_pattern_any_matches(config->kafka.topics, pause->name);
  for (guint i = 0; i < config->tables->len && pause->scope == TIDE_SCOPE_TABLE; i++)
    if (strcmp(((const TideTable *)config->tables->pdata[i])->name, pause->name) == 0)
      return TRUE;
  return pause->scope == TIDE_SCOPE_EVERYTHING;
}

/* All pauses that hold now; NULL: none. (transfer full) */
static char *
describe_pauses(const TidePipelineParts *parts)
{
  g_autoptr(GPtrArray) pauses = tide_pause_watch_list(parts->pause_watch);
  g_autoptr(GString) text = g_string_new(NULL);
  for (guint i = 0; i < pauses->len; i++) {
    const TideOperatorPause *pause = pauses->pdata[i];
    g_autofree char *one = tide_operator_pause_describe(pause);
    g_string_append_printf(text, "%s%s", i > 0 ? "; " : "", one);
    if (!tide_pipeline_parts_pause_has_effect(parts, pause))
      g_string_append_printf(text, ", without effect, because the configuration has no such %s",
                             tide_pause_scope_names[pause->scope]);
  }
  return pauses->len > 0 ? g_strdup(text->str) : NULL;
}

void
tide_pipeline_parts_watch_pauses(TidePipelineParts *parts, gint64 now_ms)
{
  if (!tide_pause_watch_update(parts->pause_watch, now_ms))
    return;
  const GPtrArray *tables = parts->options.config->tables;
  tide_lanes_set_paused(parts->lanes, NULL, tide_pause_watch_has(parts->pause_watch, TIDE_SCOPE_EVERYTHING, ""));
  for (guint i = 0; i < tables->len; i++) {
    const TideTable *table = tables->pdata[i];
    tide_lanes_set_paused(parts->lanes, table, tide_pause_watch_has(parts->pause_watch, TIDE_SCOPE_TABLE, table->name));
  }
  g_autofree char *text = describe_pauses(parts);
  if (text != NULL)
    tide_log(
        TIDE_LOG_WARNING, "operator-paused",
        "paused by an operator: %s; partitions stay assigned and offsets where they are; 'tidemark resume' ends it",
        text);
  else
    tide_log(TIDE_LOG_NOTICE, "operator-resumed", "all pauses by the operator have ended");
}

void
tide_pipeline_parts_start_writers(TidePipelineParts *parts)
{
  TideWriterContext context = {.config = &parts->options.config->hbase,
                               .lanes = parts->lanes,
                               .gateways = parts->gateways,
                               .regions = parts->regions,
                               .metrics = parts->options.metrics};
  for (guint32 i = 0; i < parts->options.config->hbase.writers; i++)
    g_ptr_array_add(parts->writers, tide_writer_start(&context, i));
}

guint64
tide_pipeline_parts_in_flight(const TidePipelineParts *parts)
{
  return tide_metrics_sum(parts->options.metrics, "tidemark_messages_in_flight", NULL);
}

static TideInput *
open_kafka(guint32 index, const TideInputHandlers *handlers, gpointer data, GError **error)
{
  const TidePipelineParts *parts = data;
  TideKafkaSourceOptions options = {.config = parts->options.config, .index = index, .watch = parts->watch};
  return tide_kafka_source_new(&options, handlers, error);
}

gboolean
tide_pipeline_parts_start_consumers(TidePipelineParts *parts, TideWireProtocol protocol, GError **error)
{
  const TidePipelineOptions *options = &parts->options;
  if (parts->watch != NULL && !tide_kafka_watch_start(parts->watch, error))
    return FALSE;
  if (parts->goal != NULL && !tide_kafka_goal_start(parts->goal, error))
    return FALSE;
  for (guint i = 0; i < options->config->sources->len; i++) {
    const TideConfigSource *source = g_ptr_array_index(options->config->sources, i);
    if (source->readings->decode.schemas != NULL) /* the polling thread has other partitions */
      tide_registry_set_waiting(source->readings->decode.schemas, FALSE);
  }
  TideConsumerContext context = {.config = parts->options.config,
                                 .protocol = protocol,
                                 .budget = &parts->budget,
                                 .table_budgets = parts->table_budgets,
                                 .doubt_budget = &parts->doubt_budget,
                                 .lanes = parts->lanes,
                                 .regions = parts->regions,
                                 .dated = parts->dated,
                                 .dead_letters = parts->dead_letters,
                                 .metrics = parts->options.metrics,
                                 .watch = parts->watch,
                                 .memory = parts->memory,
                                 .pause_watch = parts->pause_watch,
                                 .until_end = parts->options.until_end,
                                 .open_input = options->open_input != NULL ? options->open_input : open_kafka,
                                 .input_data = options->open_input != NULL ? options->input_data : parts};
  parts->joined_us = tide_now_us();
  for (guint32 i = 0; i < parts->options.config->kafka.threads; i++) {
    TideConsumer *consumer = tide_consumer_start(&context, i, error);
    if (consumer == NULL)
      return FALSE;
    g_ptr_array_add(parts->consumers, consumer);
  }
  return TRUE;
}
