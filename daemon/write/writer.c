#include "write/writer.h"

#include "gateway/writer_connection.h"
#include "thrift/client/access_denied.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/log.h"
#include "util/units.h"
#include "write/bisect.h"

/* How long a writer waits for a gateway or for work. It limits how old its watchdog time and its idle check can be. */
#define ROUND_US (1 * TIDE_US_PER_S)

/* Minimum time between logged errors of one writer; the pipeline reports failing lanes. */
#define FAILURE_LOG_INTERVAL_US (10 * TIDE_US_PER_S)

/* A failure is persistent after this many attempts of a batch (half a second or more with pauses), or this time. */
#define PERSISTENT_ATTEMPTS 3
#define PERSISTENT_US (5 * TIDE_US_PER_S)

static const double duration_bounds_s[] = {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30};

typedef enum WriteMethod { PUT_MULTIPLE, MUTATE_ROW, N_WRITE_METHODS } WriteMethod;

static const char *const method_names[] = {[PUT_MULTIPLE] = "putMultiple", [MUTATE_ROW] = "mutateRow"};
G_STATIC_ASSERT(G_N_ELEMENTS(method_names) == N_WRITE_METHODS);

/* Metrics of one method's calls to one gateway. */
typedef struct MethodMetrics {
  TideCounter *calls[TIDE_OUTCOME_COUNT]; /* by TideOutcome */
  TideCounter *rows_written;
  TideHistogram *durations;
} MethodMetrics;

struct TideWriter {
  /* set before start, then read-only */
  TideWriterContext context;
  TideThread *thread;
  MethodMetrics *methods; /* owned: N_WRITE_METHODS for each gateway's place */
  TideCounter *bytes_written;
  TideCounter *bisections;
  TideCounter *poison_rows;
  /* any thread */
  _Atomic gint64 last_round_us;
  _Atomic(const char *) gateway; /* of the last call */
  _Atomic gint64 called_us;      /* start of the running call; 0: none */
  /* the writer's thread only */
  TideCall call;
  TideBisect *bisect;    /* owned */
  gboolean is_cancelled; /* the stop cancelled the last call */
  TideLogLimit failure_limit;
  TideLogLimit retry_limit; /* of failures that often pass */
  TideLogLimit suspect_limit;
  TideWriterConnection connection;
};

static void
register_method_metrics(TideMetrics *metrics, const char *gateway, WriteMethod method, MethodMetrics *registered)
{
  g_autofree char *gateway_label = tide_metrics_label("gateway", gateway);
  g_autofree char *method_label = g_strdup_printf("%s,method=\"%s\"", gateway_label, method_names[method]);
  for (TideOutcome outcome = TIDE_OUTCOME_OK; outcome < TIDE_OUTCOME_COUNT; outcome++) {
    g_autofree char *outcome_label = tide_metrics_label("outcome", tide_outcomes[outcome].name);
    g_autofree char *labels = g_strdup_printf("%s,%s", method_label, outcome_label);
    registered->calls[outcome] = tide_metrics_counter(metrics, "tidemark_hbase_calls_total",
                                                      "Calls that write rows, by gateway, method and outcome", labels);
  }
  registered->rows_written =
      tide_metrics_counter(metrics, "tidemark_hbase_rows_written_total",
                           "Rows that HBase acknowledged: many per putMultiple, one per mutateRow", method_label);
  registered->durations = tide_metrics_histogram(metrics, "tidemark_hbase_call_duration_seconds",
                                                 "Duration of calls that write rows, by gateway and method",
                                                 method_label, duration_bounds_s, G_N_ELEMENTS(duration_bounds_s));
}

/* Registers a gateway added by a reload at its first call. */
static MethodMetrics *
metrics_at(const TideWriter *writer, guint32 place, WriteMethod method)
{
  MethodMetrics *metrics = &writer->methods[place * N_WRITE_METHODS + method];
  if (G_UNLIKELY(metrics->rows_written == NULL))
    register_method_metrics(writer->context.metrics, tide_gateways_name_at(writer->context.gateways, place), method,
                            metrics);
  return metrics;
}

/* Metrics of calls to the connection's gateway. */
static MethodMetrics *
metrics_of_call(const TideWriter *writer, WriteMethod method)
{
  return metrics_at(writer, tide_gateway_index(writer->connection.link.gateway), method);
}

static void
register_metrics(TideWriter *writer)
{
  TideMetrics *metrics = writer->context.metrics;
  TideGateways *gateways = writer->context.gateways;
  guint32 n_places = tide_gateways_n_entries(gateways);
  writer->methods = g_new0(MethodMetrics, tide_gateways_max_entries(gateways) * N_WRITE_METHODS);
  for (guint32 i = 0; i < n_places; i++)
    for (WriteMethod method = PUT_MULTIPLE; method < N_WRITE_METHODS; method++)
      (void)metrics_at(writer, i, method);
  writer->bytes_written = tide_metrics_counter(metrics, "tidemark_hbase_written_bytes_total",
                                               "Encoded size of rows that HBase acknowledged", NULL);
  writer->bisections = tide_metrics_counter(metrics, "tidemark_hbase_bisections_total",
                                            "Calls sent to find the rows that HBase refuses", NULL);
  writer->poison_rows =
      tide_metrics_counter(metrics, "tidemark_hbase_poison_rows_total", "Rows that HBase refuses permanently", NULL);
}

/* A call that is cut off by a gateway's restart, or meets a moving region, succeeds a moment later and needs no
 * operator. The prober reports gateways that are down. */
static void
log_failure(TideWriter *writer, TideOutcome outcome, const char *text, gint64 start_us, gint64 now_us)
{
  guint64 suppressed;
  gboolean persistent =
      writer->call.batches[0]->delivery.attempts + 1 >= PERSISTENT_ATTEMPTS || now_us - start_us >= PERSISTENT_US;
  if (!tide_outcomes[outcome].is_often_passing)
    persistent = outcome != TIDE_OUTCOME_NOT_SENT;
  TideLogLimit *limit = persistent ? &writer->failure_limit : &writer->retry_limit;
  if (!tide_log_limit_pass(limit, now_us, FAILURE_LOG_INTERVAL_US, &suppressed))
    return;
  const char *gateway = tide_writer_connection_gateway_name(&writer->connection);
  g_autofree char *first_key = tide_bytes_printable(tide_batch_row_key(writer->call.batches[0], 0));
  const TideLogField fields[] = {
      {"TABLE", writer->call.table->name}, {"GATEWAY", gateway}, {"OUTCOME", tide_outcomes[outcome].name}};
  g_autofree char *rows = tide_count_of(writer->call.n_rows, "row", NULL);
  gboolean is_suspend = outcome == TIDE_OUTCOME_SUSPEND;
  tide_log_fields(is_suspend   ? TIDE_LOG_CRIT
                  : persistent ? TIDE_LOG_WARNING
                               : TIDE_LOG_INFO,
                  "write-failed", fields, G_N_ELEMENTS(fields),
                  "cannot write %s to '%s' via '%s', first row key '%s': %s; %s%s", rows, writer->call.table->name,
                  gateway, first_key, text, is_suspend ? "the table is suspended until this is fixed" : "retrying",
                  tide_log_suppressed(suppressed, "failures").text);
}

/* Sends one call: several puts, or one mutated row. @ret_text: (transfer full): failure and remedy; NULL if OK */
static TideFailure
send_rows(TideWriter *writer, TideHBaseClient *client, const TideBisectCall *rows, char **ret_text)
{
  TideBytes table = tide_bytes_of_string(writer->call.table->name);
  WriteMethod method = rows->batch->is_mutations ? MUTATE_ROW : PUT_MULTIPLE;
  gint64 start_us = tide_now_us();
  gint64 deadline_us = start_us + writer->context.config->call_timeout_ms * TIDE_US_PER_MS;
  atomic_store_explicit(&writer->last_round_us, start_us, memory_order_relaxed);

  g_autoptr(GError) error = NULL;
  gboolean acknowledged =
      method == MUTATE_ROW
          ? tide_hbase_client_mutate_row(client, table, tide_batch_row_key(rows->batch, rows->row), rows->parts[0],
                                         tide_batch_rows(rows->batch)[rows->row].n_mutations, deadline_us, &error)
          : tide_hbase_client_put_multiple(client, table, rows->parts, rows->n_parts, rows->n_rows, deadline_us,
                                           &error);
  writer->is_cancelled = tide_error_is_cancelled(error);
  TideFailure failure = tide_failure_of(error);
  g_assert(acknowledged == (failure.outcome == TIDE_OUTCOME_OK));
  const MethodMetrics *metrics = metrics_of_call(writer, method);
  gint64 end_us = tide_now_us();
  tide_writer_connection_note_call(&writer->connection, rows->n_rows, start_us, error);
  tide_counter_inc(metrics->calls[failure.outcome]);
  tide_histogram_observe(metrics->durations, (double)(end_us - start_us) / TIDE_US_PER_S);
  if (acknowledged) {
    tide_counter_add(metrics->rows_written, rows->n_rows);
    tide_counter_add(writer->bytes_written, rows->n_bytes);
    return failure;
  }
  g_autofree char *grant = tide_access_denied_remedy(error, NULL);
  const char *remedy = grant != NULL ? grant : failure.remedy;
  GString *text = g_string_new(remedy);
  (void)g_string_replace(text, TIDE_REMEDY_TABLE, writer->call.table->name, 0);
  g_string_prepend(text, remedy != NULL ? "; " : "");
  g_string_prepend(text, error->message);
  *ret_text = g_string_free(text, FALSE);
  return failure;
}

/* A suspect may wait for minutes without delaying other rows, so nothing else would report it. */
static void
log_suspects(TideWriter *writer, gint64 now_us)
{
  const TideCall *call = &writer->call;
  guint64 suppressed;
  for (guint32 i = 0; i < call->n_batches; i++) {
    const TideBatchDelivery *delivery = &call->batches[i]->delivery;
    if (delivery->n_more <= 0 ||
        !tide_log_limit_pass(&writer->suspect_limit, now_us, FAILURE_LOG_INTERVAL_US, &suppressed))
      continue;
    g_autofree char *key = tide_bytes_printable(tide_batch_row_key(call->batches[i], delivery->suspect_row));
    const TideLogField fields[] = {{"TABLE", call->table->name}, {"ROW", key}};
    tide_log_fields(TIDE_LOG_WARNING, "row-suspected", fields, G_N_ELEMENTS(fields),
                    "row '%s' of table '%s' is delayed, and retried alone: %s%s", key, call->table->name,
                    delivery->text, tide_log_suppressed(suppressed, "rows").text);
  }
}

/* Nothing is lost, so only this explains why calls are many and small. */
static void
log_rows_per_call(const TideCall *call)
{
  if (call->rows_after == call->rows_before)
    return;
  const TideLogField fields[] = {{"TABLE", call->table->name}};
  g_autofree char *rows = tide_count_of(call->rows_after, "row", NULL);
  if (call->rows_after < call->rows_before)
    tide_log_fields(TIDE_LOG_WARNING, "call-too-large", fields, G_N_ELEMENTS(fields),
                    "calls to table '%s' are limited to %s instead of %u, doubling every hour, because larger ones %s; "
                    "raise the limit of the proxy, or of the region servers (hbase.rpc.rows.size.threshold.reject), or "
                    "lower 'batch.max_rows' or 'batch.max_bytes'",
                    call->table->name, rows, call->rows_before,
                    call->oversized_rows > 0 ? "were refused for their size" : "repeatedly got no answer");
  else
    tide_log_fields(TIDE_LOG_NOTICE, "call-larger-again", fields, G_N_ELEMENTS(fields),
                    "calls to table '%s' may have up to %s again, instead of %u", call->table->name, rows,
                    call->rows_before);
}

/* After a split of the region, the evidence about a suspect arrives through other lanes than its batch's. */
static void
check_lanes_of_suspects(TideWriter *writer, TideBatch *batch)
{
  TideRegionMap *map = tide_regions_get(writer->context.regions, writer->call.table);
  gint64 worked_us = G_MAXINT64;
  for (guint32 row = 0; (row = tide_batch_find_state(batch, TIDE_ROW_SUSPECT, row, batch->n_rows)) < batch->n_rows;
       row++) {
    const TideLane *lane = map->lanes[tide_region_map_find(map, tide_batch_row_key(batch, row))];
    worked_us = MIN(worked_us, tide_lanes_worked_us(writer->context.lanes, lane));
  }
  batch->delivery.lane_ok_us = worked_us;
  tide_region_map_unref(map);
}

static void
send_call(TideWriter *writer)
{
  TideCall *call = &writer->call;
  TideBisectCall sent;
  TideBisectCounts counts;
  g_autofree char *text = NULL;
  gint64 start_us = tide_now_us();
  TideHBaseClient *client = tide_writer_connection_begin(&writer->connection);
  atomic_store_explicit(&writer->gateway, tide_writer_connection_gateway_name(&writer->connection),
                        memory_order_relaxed);
  atomic_store_explicit(&writer->called_us, start_us, memory_order_relaxed);
  for (guint32 i = 0; i < call->n_batches; i++)
    if (G_UNLIKELY(tide_batch_has_suspects_only(call->batches[i])))
      check_lanes_of_suspects(writer, call->batches[i]);
  tide_bisect_begin(writer->bisect, call, start_us);
  while (tide_bisect_next(writer->bisect, &sent)) {
    g_autofree char *sent_text = NULL;
    TideFailure failure = send_rows(writer, client, &sent, &sent_text);
    tide_bisect_note(writer->bisect, failure, sent_text, tide_now_us());
  }
  gint64 end_us = tide_now_us();
  TideFailure failure = tide_bisect_end(writer->bisect, end_us, &counts, &text);
  tide_writer_connection_end(&writer->connection);

  atomic_store_explicit(&writer->called_us, 0, memory_order_relaxed);
  tide_counter_add(writer->bisections, counts.bisections);
  tide_counter_add(writer->poison_rows, counts.poison);
  log_suspects(writer, end_us);
  if (failure.outcome != TIDE_OUTCOME_OK) {
    if (!writer->is_cancelled)
      log_failure(writer, failure.outcome, text, start_us, end_us);
    tide_regions_suspect(writer->context.regions, call->table);
  }
  tide_lanes_finish(writer->context.lanes, call, failure.outcome, text, end_us);
  log_rows_per_call(call);
  tide_writer_connection_settle(&writer->connection);
}

/* Takes calls only while connected, so rows never wait in a writer. */
static void
run_writer(gpointer data)
{
  TideWriter *writer = data;
  gboolean stopped = FALSE;
  while (!stopped) {
    atomic_store_explicit(&writer->last_round_us, tide_now_us(), memory_order_relaxed);
    gboolean connected = tide_writer_connection_open(&writer->connection, tide_now_us() + ROUND_US);
    gint64 deadline_us = connected ? tide_now_us() + ROUND_US : 0;
    if (!connected) {
      /* No gateway is up: takes no calls and only checks for a stop. */
      stopped = tide_lanes_is_stopped(writer->context.lanes);
      continue;
    }
    guint32 gateway = tide_gateway_index(writer->connection.link.gateway);
    switch (tide_lanes_take(writer->context.lanes, gateway, deadline_us, &writer->call)) {
    case TIDE_TAKE_CALL:
      send_call(writer);
      break;
    case TIDE_TAKE_NOTHING:
      tide_writer_connection_keep_alive(&writer->connection);
      break;
    case TIDE_TAKE_STOPPED:
      stopped = TRUE;
      break;
    }
  }
  tide_writer_connection_close(&writer->connection);
}

TideWriter *
tide_writer_start(const TideWriterContext *context, guint32 index)
{
  TideWriter *writer = g_new0(TideWriter, 1);
  writer->context = *context;
  tide_writer_connection_init(&writer->connection, context->config, context->gateways, context->metrics);
  atomic_init(&writer->last_round_us, tide_now_us());
  register_metrics(writer);
  TideBisectOptions bisect = {.suspects = tide_lanes_suspects(context->lanes),
                              .retry_min_us = context->config->retry_min_ms * TIDE_US_PER_MS,
                              .retry_max_us = context->config->retry_max_ms * TIDE_US_PER_MS};
  writer->bisect = tide_bisect_new(&bisect);
  g_autofree char *name = g_strdup_printf("tide-writer-%u", index);
  writer->thread = tide_thread_start(name, run_writer, writer);
  return writer;
}

void
tide_writer_cancel(TideWriter *writer)
{
  tide_writer_connection_cancel(&writer->connection);
}

gboolean
tide_writer_join_until(TideWriter *writer, gint64 deadline_us)
{
  if (writer->thread == NULL)
    return TRUE;
  if (!tide_thread_join_until(writer->thread, deadline_us))
    return FALSE;
  writer->thread = NULL;
  return TRUE;
}

void
tide_writer_free(TideWriter *writer)
{
  if (writer == NULL)
    return;
  tide_thread_join(writer->thread);
  tide_bisect_free(writer->bisect);
  g_free(writer->methods);
  tide_writer_connection_clear(&writer->connection);
  g_free(writer);
}

gint64
tide_writer_last_round_us_racy(const TideWriter *writer)
{
  return atomic_load_explicit(&writer->last_round_us, memory_order_relaxed);
}

TideWriterView
tide_writer_view_racy(const TideWriter *writer, gint64 now_us)
{
  gint64 called_us = atomic_load_explicit(&writer->called_us, memory_order_relaxed);
  return (TideWriterView){.gateway = atomic_load_explicit(&writer->gateway, memory_order_relaxed),
                          .call_us = called_us > 0 ? MAX(now_us - called_us, 0) : -1};
}
