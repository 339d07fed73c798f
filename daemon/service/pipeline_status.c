#include "service/pipeline_status.h"

#include "config/config_source.h"
#include "registry/registry.h"
#include "service/process_metrics.h"
#include "util/cgroup_bound.h"
#include "util/error.h"

/* Maximum number of regions in the document. */
#define MAX_REGIONS 32u

/* ---- tables ---- */

static void
add_table(const TidePipelineParts *parts, GArray *tables, const TideLoad *load)
{
  const TideBudget *budget = &parts->table_budgets[load->table->index];
  guint64 used_bytes = tide_budget_used_racy(budget);
  g_autofree char *label = tide_metrics_label("table", load->table->name);
  guint64 n_regions = tide_metrics_sum(parts->options.metrics, "tidemark_table_regions", label);
  TideStatusTable table = {.load = *load,
                           .name = load->table->name,
                           .regions = (gint64)n_regions,
                           .memory_bytes = (gint64)used_bytes,
                           .memory_share = (double)used_bytes / (double)MAX(tide_budget_limit_racy(budget), 1)};
  g_array_append_val(tables, table);
}

static gboolean
has_table(const GArray *tables, const TideTable *table)
{
  for (guint i = 0; i < tables->len; i++)
    if (g_array_index(tables, TideStatusTable, i).load.table == table)
      return TRUE;
  return FALSE;
}

/* Lists tables with rows first, then all other declared tables. */
static GArray *
list_tables(const TidePipelineParts *parts, gint64 now_us)
{
  const GPtrArray *declared = parts->options.config->tables;
  g_autoptr(GArray) loads = tide_lanes_tables(parts->lanes, now_us);
  GArray *tables = g_array_new(FALSE, TRUE, sizeof(TideStatusTable));
  g_array_set_clear_func(tables, (GDestroyNotify)tide_load_clear);
  for (guint i = 0; i < loads->len; i++)
    add_table(parts, tables, &g_array_index(loads, TideLoad, i));
  g_array_set_clear_func(loads, NULL); /* their contents have moved */
  for (guint i = 0; i < declared->len; i++) {
    TideLoad none = {.table = g_ptr_array_index(declared, i), .failing_seconds = -1};
    if (!has_table(tables, none.table))
      add_table(parts, tables, &none);
  }
  return tables;
}

static GArray *
list_regions(const TidePipelineParts *parts, gint64 now_us)
{
  g_autoptr(GArray) loads = tide_lanes_regions(parts->lanes, MAX_REGIONS, now_us);
  GArray *regions = g_array_new(FALSE, TRUE, sizeof(TideStatusRegion));
  g_array_set_clear_func(regions, (GDestroyNotify)tide_load_clear);
  for (guint i = 0; i < loads->len; i++) {
    TideStatusRegion region = {.load = g_array_index(loads, TideLoad, i)};
    region.table = region.load.table->name;
    g_array_append_val(regions, region);
  }
  g_array_set_clear_func(loads, NULL); /* their contents have moved */
  return regions;
}

static void
clear_pause(gpointer data)
{
  TideStatusPause *pause = data;
  g_free(pause->name);
  g_free(pause->reason);
  g_free(pause->no_effect);
}

/* (transfer full); NULL: the pause has an effect */
static char *
why_no_effect(const TidePipelineParts *parts, const TideOperatorPause *pause)
{
  const char *scope = tide_pause_scope_names[pause->scope];
  if (tide_pipeline_parts_pause_has_effect(parts, pause))
    return NULL;
  g_autofree char *name = tide_shell_word(pause->name);
  return g_strdup_printf("the pause has no effect, because the configuration has no such %s; end it with 'tidemark "
                         "resume --%s %s'",
                         scope, scope, name);
}

/* Lists the pauses, and joins the texts of those that have an effect. */
static void
fill_pauses(const TidePipelineParts *parts, TideStatusOperator *shown)
{
  g_autoptr(GPtrArray) list = tide_pause_watch_list(parts->pause_watch);
  g_autoptr(GString) paused = g_string_new(NULL);
  GArray *pauses = shown->pauses = g_array_new(FALSE, TRUE, sizeof(TideStatusPause));
  g_array_set_clear_func(pauses, clear_pause);
  for (guint i = 0; i < list->len; i++) {
    TideOperatorPause *of = list->pdata[i];
    TideStatusPause pause = {.scope = tide_pause_scope_names[of->scope],
                             .name = of->scope != TIDE_SCOPE_EVERYTHING ? g_strdup(of->name) : NULL,
                             .reason = *of->reason != '\0' ? g_strdup(of->reason) : NULL,
                             .since_ms = of->since_ms,
                             .until_ms = of->until_ms,
                             .no_effect = why_no_effect(parts, of)};
    g_array_append_val(pauses, pause);
    g_autofree char *text = tide_operator_pause_describe(of);
    if (pause.no_effect == NULL)
      g_string_append_printf(paused, "%s%s", paused->len > 0 ? "; " : "", text);
  }
  shown->paused = paused->len > 0 ? g_strdup(paused->str) : NULL;
}

void
tide_pipeline_status_fill(const TidePipelineParts *parts, TideStatus *status)
{
  const TideConfig *config = parts->options.config;
  const char *topic = config->dead_letters.topic;
  gint64 now_us = tide_now_us(), resident_bytes = tide_process_resident_bytes();
  status->kafka = (TideStatusKafka){
      .group = g_strdup(config->kafka.group), .lag_messages = -1, .lag_seconds = -1, .unread_messages = -1};
  /* A message is in flight before and after its rows, so messages are counted before and after the rows: otherwise
   * "none in flight" could contradict rows in calls. */
  guint64 before = tide_pipeline_parts_in_flight(parts);
  status->tables = list_tables(parts, now_us);
  status->regions = list_regions(parts, now_us);
  status->kafka.in_flight_messages = (gint64)MAX(before, tide_pipeline_parts_in_flight(parts));
  status->gateways = tide_gateways_view(parts->gateways);
  status->operator.is_paced = tide_lanes_state(parts->lanes).is_paced;
  fill_pauses(parts, &status->operator);
  status->dead_letters.location = topic != NULL ? g_strdup(topic) : tide_dead_letter_queue_file_path(config);
  status->dead_letters.blocked = tide_dead_letter_queue_stall_text(parts->dead_letters);
  status->dead_letters.has_too_many = tide_dead_letter_queue_has_too_many_racy(parts->dead_letters);
  status->dead_letters.view = tide_dead_letter_queue_view(parts->dead_letters);
  status->memory = (TideStatusMemory){.limit_bytes = (gint64)config->limits.memory_bytes,
                                      .budget_bytes = (gint64)tide_budget_limit_racy(&parts->budget),
                                      .used_bytes = (gint64)tide_budget_used_racy(&parts->budget),
                                      .uncertain_bytes = (gint64)tide_budget_used_racy(&parts->doubt_budget),
                                      .resident_bytes = resident_bytes == TIDE_GAUGE_UNKNOWN ? -1 : resident_bytes};
  guint n_cpus = tide_cpu_bound("");
  status->cpu.cores = n_cpus > 0 ? n_cpus : g_get_num_processors();
  status->configuration_file = g_strdup(config->path);
  status->configuration = tide_config_print(config);
}

/* ---- while it runs ---- */

static void
fill_kafka(const TidePipelineParts *parts, TideStatus *status)
{
  TideStatusKafka *kafka = &status->kafka;
  TideKafkaLag lag = tide_kafka_watch_lag(parts->watch);
  g_auto(TideKafkaSeen) seen = tide_kafka_watch_seen(parts->watch);
  kafka->is_reachable = seen.answers_since_us > 0;
  kafka->lag_messages = lag.is_known ? lag.messages : -1;
  kafka->unread_messages = lag.is_known ? lag.unread : -1;
  kafka->throttle_ms = lag.throttle_ms;
  kafka->lag_seconds = lag.is_known ? lag.seconds : -1;
  for (guint i = 0; i < parts->consumers->len; i++) {
    TideConsumer *consumer = g_ptr_array_index(parts->consumers, i);
    TideConsumerState state = tide_consumer_state_racy(consumer);
    kafka->assigned_partitions += state.assigned;
    kafka->halted_partitions += state.halted;
    kafka->paused_partitions += state.paused;
    status->cpu.busiest_consumer = MAX(status->cpu.busiest_consumer, state.cpu_permille / 1000.0);
    status->memory.paused_share = MAX(status->memory.paused_share, state.held_permille / 1000.0);
    if (kafka->error == NULL)
      kafka->error = tide_consumer_trouble_text(consumer);
  }
}

void
tide_pipeline_status_fill_running(const TidePipelineHealth *health, TideStatus *status)
{
  const TidePipelineParts *parts = health->parts;
  gint64 now_us = tide_now_us();
  fill_kafka(parts, status);
  status->partitions = tide_kafka_watch_view(parts->watch);
  for (guint i = 0; i < status->partitions->len; i++) {
    TidePartitionView *view = &g_array_index(status->partitions, TidePartitionView, i);
    view->source = tide_config_source_name(parts->options.config, view->topic);
    const TideConfigSource *source =
        tide_config_source_of_topic(parts->options.config, tide_bytes_of_string(view->topic));
    if (view->pauses & TIDE_PAUSE_SCHEMA && source != NULL && status->kafka.schema_trouble == NULL)
      status->kafka.schema_trouble = tide_registry_trouble(source->readings->decode.schemas);
  }
  status->writers = g_array_new(FALSE, TRUE, sizeof(TideStatusWriter));
  for (guint i = 0; i < parts->writers->len; i++) {
    TideWriterView view = tide_writer_view_racy(g_ptr_array_index(parts->writers, i), now_us);
    double call_seconds = view.call_us >= 0 ? (double)view.call_us / TIDE_US_PER_S : -1;
    TideStatusWriter writer = {.index = i, .gateway = view.gateway, .call_seconds = call_seconds};
    g_array_append_val(status->writers, writer);
  }
  status->kafka.messages_per_second =
      (double)atomic_load_explicit(&health->received_milli, memory_order_relaxed) / 1000;
  status->cpu.process = (double)atomic_load_explicit(&health->cpu_milli, memory_order_relaxed) / 1000;
}

/* ---- what limits ---- */

static char *
region_text(const TideStatusRegion *region)
{
  if (*region->load.region_start == '\0')
    return g_strdup_printf("the first region of '%s'", region->table);
  return g_strdup_printf("the region of '%s' from '%s'", region->table, region->load.region_start);
}

/* Chooses the region with most failed calls in a row, and of the full ones that with most waiting rows. */
static void
add_region(TideBottleneckFacts *facts, const TideStatusRegion *region, char **failing, char **full)
{
  const TideLoad *load = &region->load;
  if (load->failures > facts->failing.calls) {
    g_free(*failing);
    facts->failing.region = *failing = region_text(region);
    facts->failing.error = load->error_text != NULL ? load->error_text : "no answer";
    facts->failing.seconds = load->failing_seconds;
    facts->failing.calls = load->failures;
  }
  if (load->is_full && load->failures == 0 && load->waiting_rows > facts->full.waiting_rows) {
    g_free(*full);
    facts->full.region = *full = region_text(region);
    facts->full.table = region->table;
    facts->full.waiting_rows = load->waiting_rows;
  }
}

/* Returns the region of all rows in calls, while others are written. (transfer full) (nullable) */
static char *
only_called_region(const GArray *regions)
{
  const TideStatusRegion *called = NULL;
  gboolean others_are_written = FALSE;
  for (guint i = 0; i < regions->len; i++) {
    const TideStatusRegion *region = &g_array_index(regions, TideStatusRegion, i);
    if (region->load.in_flight_rows > 0 && called != NULL)
      return NULL;
    if (region->load.in_flight_rows > 0)
      called = region;
    else
      others_are_written |= region->load.rows_per_second > 0;
  }
  return called != NULL && others_are_written ? region_text(called) : NULL;
}

/* @list: (nullable). Returns element @i; NULL: the list is shorter. */
#define ITEM(list, Type, i) ((list) != NULL && (i) < (list)->len ? &g_array_index(list, Type, i) : NULL)

/* Adds the facts from the lists of @status. */
static void
add_lists(TideBottleneckFacts *facts, const TideStatus *status)
{
  const TideGatewayView *gateway;
  const TideStatusWriter *writer;
  const TidePartitionView *partition;
  const TideStatusTable *table;
  for (guint i = 0; (gateway = ITEM(status->gateways, TideGatewayView, i)) != NULL; i++) {
    facts->gateways++;
    facts->gateways_up += strcmp(gateway->state, "up") == 0 ? 1 : 0;
    if (facts->gateway_trouble == NULL)
      facts->gateway_trouble = gateway->error_text;
    if (gateway->is_slow)
      facts->slow_gateway = gateway->name;
    if (gateway->call_seconds > facts->slowest_call_seconds) {
      facts->slowest_call_seconds = gateway->call_seconds;
      facts->slowest_gateway = gateway->name;
    }
  }
  for (guint i = 0; (writer = ITEM(status->writers, TideStatusWriter, i)) != NULL; i++) {
    facts->writers++;
    facts->busy_writers += writer->call_seconds >= 0 ? 1 : 0;
    if (writer->call_seconds > facts->longest_call_seconds) {
      facts->longest_call_seconds = writer->call_seconds;
      facts->longest_call_gateway = writer->gateway;
    }
  }
  for (guint i = 0; (partition = ITEM(status->partitions, TidePartitionView, i)) != NULL; i++) {
    facts->memory_paused_partitions += partition->pauses & TIDE_PAUSES_FOR_MEMORY ? 1 : 0;
    facts->held_partitions += partition->held_text != NULL ? 1 : 0;
    gint64 unread = MAX(partition->lag_messages - partition->in_flight, 0);
    facts->halted_messages += partition->halt_text != NULL ? unread : 0;
    facts->paused.schema_messages += partition->pauses & TIDE_PAUSE_SCHEMA ? unread : 0;
    facts->paused.commit_messages += partition->pauses & TIDE_PAUSE_COMMIT ? unread : 0;
    facts->paused.span_messages += partition->pauses & TIDE_PAUSE_SPAN ? unread : 0;
    if (partition->undecided == 0)
      continue;
    facts->undecided.messages += partition->undecided;
    facts->undecided.topic = partition->topic;
    facts->undecided.partition = partition->partition;
    facts->undecided.offset = partition->end - partition->undecided;
  }
  for (guint i = 0; (table = ITEM(status->tables, TideStatusTable, i)) != NULL; i++) {
    facts->waiting_rows += table->load.waiting_rows;
    facts->in_flight_rows += table->load.in_flight_rows;
    facts->rows_per_second += table->load.rows_per_second;
    if (table->load.is_paced && table->load.waiting_rows > facts->operator.paced_rows) {
      facts->operator.paced_table = table->name;
      facts->operator.paced_rows = table->load.waiting_rows;
      facts->operator.paced_per_second = table->load.rows_per_second;
    }
    if (table->load.error_text == NULL)
      continue;
    facts->stopped_table = table->name;
    facts->stopped_reason = table->load.error_text;
  }
}

/* Judges the first region, which receives most rows. */
static TideBottleneckVerdict
judge_hot_region(const TideStatus *status)
{
  if (status->regions->len == 0)
    return tide_hot_region_judge(&(TideHotRegionFacts){0});
  const TideStatusRegion *region = &g_array_index(status->regions, TideStatusRegion, 0);
  g_autofree char *name = region_text(region);
  TideHotRegionFacts facts = {
      .region = name, .rows_per_second = region->load.rows_per_second, .share = region->load.share};
  const TideStatusTable *table;
  for (guint i = 0; (table = ITEM(status->tables, TideStatusTable, i)) != NULL; i++)
    if (table->load.table == region->load.table) {
      facts.table_rows_per_second = table->load.rows_per_second;
      facts.table_regions = table->regions;
    }
  for (guint i = 1; i < status->regions->len; i++) {
    const TideLoad *other = &g_array_index(status->regions, TideStatusRegion, i).load;
    facts.others_fail |= other->table == region->load.table && other->failures > 0;
  }
  return tide_hot_region_judge(&facts);
}

void
tide_pipeline_status_judge(const TideConfig *config, TideStatus *status)
{
  TideBottleneckFacts facts = {.is_running = strcmp(status->stage, "running") == 0,
                               .reason = status->reason,
                               .drain_seconds = config->limits.drain_timeout_ms / 1000,
                               .group = status->kafka.group,
                               .brokers_answer = status->kafka.is_reachable,
                               .partitions = status->kafka.assigned_partitions,
                               .halted_partitions = status->kafka.halted_partitions,
                               .unread_messages = status->kafka.unread_messages,
                               .throttle_ms = status->kafka.throttle_ms,
                               .in_flight_messages = status->kafka.in_flight_messages,
                               .kafka_trouble = status->kafka.error,
                               .consumer_cpu = status->cpu.busiest_consumer,
                               .longest_call_seconds = -1,
                               .memory_share =
                                   (double)status->memory.used_bytes / (double)MAX(status->memory.budget_bytes, 1),
                               .memory_held = status->memory.paused_share,
                               .dead_letters_stalled = status->dead_letters.blocked,
                               .has_too_many_dead_letters = status->dead_letters.has_too_many};
  facts.paused.schema_trouble = status->kafka.schema_trouble;
  facts.operator.paused = status->operator.paused;
  facts.operator.is_paced = status->operator.is_paced;
  g_autofree char *failing = NULL, *full = NULL, *called = only_called_region(status->regions);
  facts.called_region = called;
  add_lists(&facts, status);
  for (guint i = 0; i < status->regions->len; i++)
    add_region(&facts, &g_array_index(status->regions, TideStatusRegion, i), &failing, &full);
  TideBottleneckVerdict limit = tide_bottleneck_judge(&facts);
  status->bottleneck = (TideStatusBottleneck){.limit = tide_limit_name(limit.limit), .why = limit.why};
  status->restart = tide_restart_judge(&facts);
  status->hot_region = judge_hot_region(status);
}

/* ---- as gauges ---- */

void
tide_verdict_metrics_init(TideVerdictMetrics *verdicts, TideMetrics *metrics)
{
  for (TideLimit limit = TIDE_LIMIT_KAFKA; limit < TIDE_N_LIMITS; limit++) {
    g_autofree char *label = tide_metrics_label("limit", tide_limit_name(limit));
    verdicts->limited_by[limit] =
        tide_metrics_gauge(metrics, "tidemark_limited_by", "1 for the current bottleneck", label);
  }
  verdicts->restart_is_good = tide_metrics_gauge(metrics, "tidemark_restart_clean",
                                                 "1 while a stop would be quick and cause no duplicate writes", NULL);
  verdicts->is_ready = tide_metrics_gauge(metrics, "tidemark_ready", "1 while /readyz reports that it is ready", NULL);
}

void
tide_verdict_metrics_update(const TideVerdictMetrics *verdicts, const TideStatus *status)
{
  for (TideLimit limit = TIDE_LIMIT_KAFKA; limit < TIDE_N_LIMITS; limit++)
    tide_gauge_set(verdicts->limited_by[limit], strcmp(status->bottleneck.limit, tide_limit_name(limit)) == 0);
  tide_gauge_set(verdicts->restart_is_good, status->restart.is_good ? 1 : 0);
  tide_gauge_set(verdicts->is_ready, status->ready ? 1 : 0);
}
