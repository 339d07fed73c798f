#include "fault/pipeline/pipeline_fixture.h"

#include "thrift/client/hbase_client.h"
#include "unit/assert_bytes.h"
#include "unit/load_text.h"
#include "util/clock.h"
#include "util/lock.h"
#include "util/log.h"

#include <stdio.h>
#include <unistd.h>

#define LOOK_AGAIN_US (10 * TIDE_US_PER_MS)

gint64
pipeline_fixture_deadline_us(void)
{
  return tide_now_us() + FIXTURE_TIMEOUT_US;
}

void
test_program_begin(void)
{
  g_unsetenv("STATE_DIRECTORY");
  tide_log_init(TIDE_LOG_FORMAT_TEXT, g_getenv("TIDE_TEST_VERBOSE") != NULL ? TIDE_LOG_DEBUG : TIDE_LOG_CRIT);
  tide_hbase_client_init_types();
}

void
pipeline_fixture_init(int *argc, char ***argv)
{
  g_test_init(argc, argv, NULL);
  test_program_begin();
}

void
pipeline_fixture_set_up(PipelineFixture *fixture, gconstpointer data)
{
  pipeline_fixture_set_up_brokers(fixture, 1);
}

void
pipeline_fixture_set_up_brokers(PipelineFixture *fixture, int n_brokers)
{
  fixture->kafka = mock_kafka_new(n_brokers);
  mock_kafka_create_topic(fixture->kafka, FIXTURE_TOPIC, FIXTURE_PARTITIONS);
  fixture->hbase = fake_hbase_new();
  for (guint i = 0; i < FIXTURE_GATEWAYS; i++) {
    TideGatewayOptions options = {.hbase = fixture->hbase};
    fixture->gateways[i] = scripted_gateway_new(&options);
  }
  const char *const splits[] = {"host5", NULL};
  scripted_gateway_create_table(fixture->gateways[0], "METRIC", "M", splits);
  scripted_gateway_create_table(fixture->gateways[0], "CURRENT_METRIC", "M", NULL);
}

void
pipeline_fixture_tear_down(PipelineFixture *fixture, gconstpointer data)
{
  for (guint i = 0; i < FIXTURE_GATEWAYS; i++)
    scripted_gateway_free(fixture->gateways[i]);
  fake_hbase_unref(fixture->hbase);
  mock_kafka_free(fixture->kafka);
}

void
pipeline_fixture_add(const char *path, PipelineTest test)
{
  pipeline_fixture_add_with(path, NULL, test);
}

void
pipeline_fixture_add_with(const char *path, gconstpointer data, PipelineTest test)
{
  g_test_add(path, PipelineFixture, data, pipeline_fixture_set_up, test, pipeline_fixture_tear_down);
}

void
pipeline_fixture_produce_raw(PipelineFixture *fixture, gint32 partition, const char *payload)
{
  TideMockMessage message = {.topic = FIXTURE_TOPIC,
                             .partition = partition,
                             .payload = payload != NULL ? tide_bytes_of_string(payload) : TIDE_BYTES_EMPTY};
  mock_kafka_produce(fixture->kafka, &message);
  fixture->produced[partition]++;
}

void
pipeline_fixture_produce(PipelineFixture *fixture, gint32 partition, const char *host, gint64 time_ms,
                         const char *value)
{
  g_autofree char *payload =
      g_strdup_printf("{\"host\":\"%s\",\"ts\":%" G_GINT64_FORMAT ",\"v\":\"%s\"}", host, time_ms, value);
  pipeline_fixture_produce_raw(fixture, partition, payload);
}

void
pipeline_fixture_flush(PipelineFixture *fixture)
{
  g_assert_true(mock_kafka_flush(fixture->kafka, pipeline_fixture_deadline_us()));
}

static char *
gateway_list(PipelineFixture *fixture, guint gateways)
{
  g_autoptr(GString) list = g_string_new(NULL);
  for (guint i = 0; i < gateways; i++)
    g_string_append_printf(list, "%s\"%s\"", i > 0 ? ", " : "", scripted_gateway_endpoint(fixture->gateways[i]));
  return g_string_free(g_steal_pointer(&list), FALSE);
}

static const char default_tables[] =
    "tables:\n"
    "  METRIC: { key: [ { field: host }, \"#\", { time: epoch_ms } ], columns: { family: M, from: \"*\" } }\n"
    "  CURRENT_METRIC: { latest: merge, key: [ { field: host } ], columns: { family: M, from: \"*\" } }\n";

/* The mock cluster ends a fetch that found nothing when its time is over, and not when something comes. */
#define SHORT_FETCHES ", librdkafka: { fetch.wait.max.ms: 10 }"

char *
pipeline_fixture_yaml(PipelineFixture *fixture, const RunningPipelineOptions *running)
{
  const char *options = running->options != NULL ? running->options : "";
  const char *kafka = running->kafka != NULL ? running->kafka : "";
  const char *hbase = running->hbase != NULL ? running->hbase : "";
  gboolean has_sources = strstr(options, "sources:\n") != NULL;
  g_autofree char *topics =
      has_sources ? g_strdup("")
                  : g_strdup_printf(", topics: [%s]", running->topics != NULL ? running->topics : FIXTURE_TOPIC);
  g_autofree char *list =
      running->gateway_list != NULL ? g_strdup(running->gateway_list) : gateway_list(fixture, running->gateways);
  return g_strdup_printf("kafka: { brokers: \"%s\", group: %s%s%s%s%s%s%s%s }\n"
                         "hbase: { gateways: [%s], writers: 3, connect_timeout: 1s, call_timeout: 1s, retry_min: 20ms,"
                         " retry_max: 200ms%s%s }\n"
                         "%s%s%s%s",
                         mock_kafka_brokers(fixture->kafka), running->group != NULL ? running->group : FIXTURE_GROUP,
                         topics, strstr(kafka, "threads:") != NULL ? "" : ", threads: 1",
                         strstr(kafka, "session_timeout:") != NULL ? "" : ", session_timeout: 6s",
                         strstr(kafka, "max_span_messages:") != NULL ? "" : ", max_span_messages: 2000",
                         strstr(kafka, "commit_interval:") != NULL ? "" : ", commit_interval: 100ms", kafka,
                         strstr(kafka, "librdkafka:") != NULL ? "" : SHORT_FETCHES, list,
                         strstr(hbase, "uncertain_timeout:") != NULL ? "" : ", uncertain_timeout: 3s", hbase,
                         strstr(options, "tables:") != NULL ? "" : default_tables, options,
                         has_sources || strstr(options, "readings:") != NULL
                             ? ""
                             : "readings: { format: json, time: { field: ts, format: epoch_ms } }\n",
                         strstr(options, "limits:") != NULL ? "" : "limits: { drain_timeout: 3s }\n");
}

RunningPipeline *
running_pipeline_start(PipelineFixture *fixture, guint gateways, const char *options)
{
  return running_pipeline_start_group(fixture, FIXTURE_GROUP, gateways, options);
}

RunningPipeline *
running_pipeline_start_group(PipelineFixture *fixture, const char *group, guint gateways, const char *options)
{
  return running_pipeline_start_with(
      fixture, &(RunningPipelineOptions){.group = group, .gateways = gateways, .options = options});
}

RunningPipeline *
running_pipeline_start_with(PipelineFixture *fixture, const RunningPipelineOptions *options)
{
  RunningPipeline *running = g_new0(RunningPipeline, 1);
  pipeline_fixture_flush(fixture);
  g_autofree char *text = pipeline_fixture_yaml(fixture, options);
  running->config = load_text(text);
  running->metrics = tide_metrics_new();
  TidePipelineOptions pipeline = {.config = running->config,
                                  .metrics = running->metrics,
                                  .until_end = options->until_end,
                                  .accept_scheme_change = options->accept_scheme_change};
  running->pipeline = tide_pipeline_new(&pipeline);
  tide_pipeline_start(running->pipeline);
  return running;
}

/* ---- accounting ---- */

/* Fails unless what came in, of one partition, is what came out and what is in flight. */
static void
assert_book_balances(TideMetrics *metrics, const char *partition, const char *received, const char *const *ends)
{
  g_autoptr(GString) book = g_string_new(NULL);
  guint64 sum = 0;
  for (; *ends != NULL; ends++) {
    guint64 n = tide_metrics_sum(metrics, *ends, partition);
    g_string_append_printf(book, " + %s %" G_GUINT64_FORMAT, *ends, n);
    sum += n;
  }
  guint64 n_received = tide_metrics_sum(metrics, received, partition);
  if (n_received != sum)
    g_error("the accounting of %s does not balance: %s %" G_GUINT64_FORMAT " is not%s", partition, received, n_received,
            book->str + 2);
}

static void
assert_partition_balances(TideMetrics *metrics, const char *partition)
{
  static const char *const message_ends[] = {
      "tidemark_messages_written_total",   "tidemark_messages_dead_lettered_total",
      "tidemark_messages_unmatched_total", "tidemark_messages_expired_total",
      "tidemark_messages_skipped_total",   "tidemark_messages_handed_back_total",
      "tidemark_messages_in_flight",       NULL};
  static const char *const reading_ends[] = {
      "tidemark_readings_written_total",   "tidemark_readings_dead_lettered_total",
      "tidemark_readings_unmatched_total", "tidemark_readings_expired_total",
      "tidemark_readings_skipped_total",   "tidemark_readings_handed_back_total",
      "tidemark_readings_in_flight",       NULL};
  assert_book_balances(metrics, partition, "tidemark_messages_received_total", message_ends);
  assert_book_balances(metrics, partition, "tidemark_readings_received_total", reading_ends);
}

void
running_pipeline_assert_accounting_balances(RunningPipeline *running)
{
  static const char series[] = "\ntidemark_messages_received_total{";
  g_autofree char *text = tide_metrics_render(running->metrics);
  for (const char *at = text; (at = strstr(at, series)) != NULL;) {
    at += strlen(series);
    g_autofree char *partition = g_strndup(at, strcspn(at, "}"));
    assert_partition_balances(running->metrics, partition);
  }
}

int
running_pipeline_stop(RunningPipeline *running, gint64 drain_ms)
{
  int exit_code = tide_pipeline_stop(running->pipeline, tide_now_us() + drain_ms * TIDE_US_PER_MS, NULL);
  g_assert_cmpint(exit_code, !=, TIDE_PIPELINE_STUCK);
  running_pipeline_assert_accounting_balances(running);
  tide_pipeline_free(running->pipeline);
  tide_metrics_free(running->metrics);
  tide_config_free(running->config);
  g_free(running);
  return exit_code;
}

void
running_pipeline_end(RunningPipeline *running)
{
  g_assert_cmpint(running_pipeline_stop(running, 20000), ==, 0);
}

void
pipeline_fixture_finish(PipelineFixture *fixture, RunningPipeline *running)
{
  pipeline_fixture_wait_all_committed(fixture);
  running_pipeline_end(running);
}

void
pipeline_fixture_wait_a_little(gint64 deadline_us, const char *what)
{
  static TideMutex lock = {PTHREAD_MUTEX_INITIALIZER};
  TideCond never;
  tide_cond_init(&never);
  tide_mutex_lock(&lock);
  tide_cond_wait_until(&never, &lock, tide_now_us() + LOOK_AGAIN_US);
  tide_mutex_unlock(&lock);
  tide_cond_clear(&never);
  if (tide_now_us() >= deadline_us)
    g_error("did not happen in time: %s", what);
}

void
running_pipeline_wait(RunningPipeline *running, PipelineCondition condition, gpointer data)
{
  gint64 deadline_us = pipeline_fixture_deadline_us();
  for (;;) {
    tide_pipeline_watch(running->pipeline, tide_now_us());
    TidePipelineState state = tide_pipeline_state(running->pipeline);
    gboolean holds = condition(&state, data);
    g_autofree char *status = g_strdup(state.status);
    tide_pipeline_state_clear(&state);
    if (holds)
      return;
    pipeline_fixture_wait_a_little(deadline_us, status);
  }
}

static gboolean
is_ready(const TidePipelineState *state, gpointer data)
{
  return state->ready;
}

static gboolean
is_past(const TidePipelineState *state, gpointer data)
{
  return tide_now_us() >= *(const gint64 *)data;
}

void
running_pipeline_wait_until(RunningPipeline *running, gint64 at_us)
{
  running_pipeline_wait(running, is_past, &at_us);
}

void
running_pipeline_wait_ready(RunningPipeline *running)
{
  running_pipeline_wait(running, is_ready, NULL);
}

static gboolean
is_halted(const TidePipelineState *state, gpointer data)
{
  return state->any_halted;
}

void
running_pipeline_wait_halted(RunningPipeline *running)
{
  running_pipeline_wait(running, is_halted, NULL);
}

static gboolean
has_failed(const TidePipelineState *state, gpointer data)
{
  return state->stage == TIDE_STAGE_FAILED;
}

void
running_pipeline_wait_failed(RunningPipeline *running)
{
  running_pipeline_wait(running, has_failed, NULL);
}

static gboolean
is_fatal(const TidePipelineState *state, gpointer data)
{
  return state->fatal_exit != 0;
}

void
running_pipeline_wait_fatal(RunningPipeline *running)
{
  running_pipeline_wait(running, is_fatal, NULL);
}

static gboolean
is_finished(const TidePipelineState *state, gpointer data)
{
  return state->finished;
}

void
running_pipeline_wait_finished(RunningPipeline *running)
{
  running_pipeline_wait(running, is_finished, NULL);
}

static gboolean
gives_reason(const TidePipelineState *state, gpointer part)
{
  return state->reason != NULL && strstr(state->reason, part) != NULL;
}

void
running_pipeline_wait_reason(RunningPipeline *running, const char *part)
{
  running_pipeline_wait(running, gives_reason, (gpointer)part);
}

static gboolean
is_not_ready_for(const TidePipelineState *state, gpointer part)
{
  return !state->ready && gives_reason(state, part);
}

void
running_pipeline_wait_not_ready(RunningPipeline *running, const char *part)
{
  running_pipeline_wait(running, is_not_ready_for, (gpointer)part);
}

static gboolean
has_status(const TidePipelineState *state, gpointer part)
{
  return state->status != NULL && strstr(state->status, part) != NULL;
}

void
running_pipeline_wait_status(RunningPipeline *running, const char *part)
{
  running_pipeline_wait(running, has_status, (gpointer)part);
}

void
running_pipeline_assert_not_ready(RunningPipeline *running)
{
  TidePipelineState state = tide_pipeline_state(running->pipeline);
  g_assert_false(state.ready);
  tide_pipeline_state_clear(&state);
}

void
running_pipeline_assert_reason(RunningPipeline *running, const char *part)
{
  TidePipelineState state = tide_pipeline_state(running->pipeline);
  if (!gives_reason(&state, (gpointer)part))
    g_error("'%s' is not in: %s", part, state.reason != NULL ? state.reason : "no reason");
  tide_pipeline_state_clear(&state);
}

guint64
running_pipeline_sum(const RunningPipeline *running, const char *metric)
{
  return tide_metrics_sum(running->metrics, metric, NULL);
}

void
running_pipeline_wait_metric(RunningPipeline *running, const char *name, guint64 least)
{
  gint64 deadline_us = pipeline_fixture_deadline_us();
  while (tide_metrics_sum(running->metrics, name, NULL) < least)
    pipeline_fixture_wait_a_little(deadline_us, name);
}

void
pipeline_fixture_wait_all_committed(PipelineFixture *fixture)
{
  pipeline_fixture_flush(fixture);
  for (gint32 i = 0; i < FIXTURE_PARTITIONS; i++)
    if (fixture->produced[i] > 0)
      pipeline_fixture_wait_committed(fixture, i, fixture->produced[i]);
}

void
pipeline_fixture_wait_committed(PipelineFixture *fixture, gint32 partition, gint64 offset)
{
  pipeline_fixture_wait_committed_of(fixture, FIXTURE_TOPIC, partition, offset);
}

void
pipeline_fixture_wait_committed_of(PipelineFixture *fixture, const char *topic, gint32 partition, gint64 offset)
{
  if (!mock_kafka_wait_committed(fixture->kafka, FIXTURE_GROUP, topic, partition, offset,
                                 pipeline_fixture_deadline_us()))
    g_error("offset %" G_GINT64_FORMAT " of '%s' partition %d was not committed in time", offset, topic, partition);
}

gint64
pipeline_fixture_committed(PipelineFixture *fixture, gint32 partition)
{
  return mock_kafka_committed(fixture->kafka, FIXTURE_GROUP, FIXTURE_TOPIC, partition, pipeline_fixture_deadline_us());
}

/* ---- gateways and tables ---- */

guint
pipeline_fixture_fail_puts(PipelineFixture *fixture, const char *table, const char *row_prefix)
{
  TideScriptedFault failing = {.kind = TIDE_FAULT_IO_ERROR,
                               .call = TIDE_CALL_PUT_MULTIPLE,
                               .table = table,
                               .row_prefix = row_prefix != NULL ? tide_bytes_of_string(row_prefix) : (TideBytes){0}};
  return scripted_gateway_add_fault(fixture->gateways[0], &failing);
}

void
pipeline_fixture_wait_hits(PipelineFixture *fixture, guint fault, guint64 n)
{
  g_assert_true(scripted_gateway_wait_fault_hits(fixture->gateways[0], fault, n, pipeline_fixture_deadline_us()));
}

void
pipeline_fixture_wait_puts(PipelineFixture *fixture, guint64 n)
{
  g_assert_true(
      scripted_gateway_wait_calls(fixture->gateways[0], TIDE_CALL_PUT_MULTIPLE, n, pipeline_fixture_deadline_us()));
}

void
pipeline_fixture_wait_rows(PipelineFixture *fixture, const char *table, guint64 n)
{
  if (!fake_hbase_wait_rows(fixture->hbase, table, n, pipeline_fixture_deadline_us()))
    g_error("table '%s' did not come to have %" G_GUINT64_FORMAT " rows in time", table, n);
}

void
pipeline_fixture_wait_value(PipelineFixture *fixture, const char *table, const char *row, const char *qualifier,
                            const char *value)
{
  if (!fake_hbase_wait_value(fixture->hbase, table, row, "M", qualifier, value, pipeline_fixture_deadline_us()))
    g_error("table '%s' row '%s' M:%s never was '%s'", table, row, qualifier, value);
}

void
pipeline_fixture_assert_value(PipelineFixture *fixture, const char *table, const char *row, const char *qualifier,
                              const char *wanted)
{
  g_autoptr(GBytes) found = fake_hbase_value(fixture->hbase, table, row, "M", qualifier, NULL);
  g_autofree char *text = found != NULL ? g_strndup(g_bytes_get_data(found, NULL), g_bytes_get_size(found)) : NULL;
  g_assert_cmpstr(text, ==, wanted);
}

void
pipeline_fixture_drop_table(PipelineFixture *fixture, const char *table)
{
  g_auto(TideFakeError) error = {0};
  g_assert_true(fake_hbase_set_enabled(fixture->hbase, table, FALSE, &error));
  g_assert_true(fake_hbase_delete_table(fixture->hbase, table, &error));
}

/* ---- readings that make order matter ---- */

void
pipeline_produce_mixture_from(PipelineFixture *fixture, guint first, guint n_steps)
{
  for (guint step = first; step < first + n_steps; step++)
    for (guint host = 0; host < 8; host++) {
      guint late = step % 7 == 3 ? step - 3 : step; /* the reading of three steps ago comes again */
      g_autofree char *name = g_strdup_printf("host%u", host);
      g_autofree char *value = g_strdup_printf("%u.%u", late, host);
      pipeline_fixture_produce(fixture, (gint32)(host % FIXTURE_PARTITIONS), name, PIPELINE_BASE_MS + late * 1000,
                               value);
    }
  pipeline_fixture_flush(fixture);
}

void
pipeline_produce_mixture(PipelineFixture *fixture, guint n_steps)
{
  pipeline_produce_mixture_from(fixture, 0, n_steps);
}

/* What pipeline_produce_mixture() must leave, by an own small calculation. */
static char *
expected_tables(guint n_steps)
{
  g_autoptr(GString) text = g_string_new(NULL);
  for (guint host = 0; host < 8; host++)
    for (guint step = 0; step < n_steps; step++)
      if (step % 7 != 3)
        g_string_append_printf(text, "host%u#%" G_GINT64_FORMAT "\tM:v\t%" G_GINT64_FORMAT "\t%u.%u\n", host,
                               PIPELINE_BASE_MS + step * 1000, PIPELINE_BASE_MS + step * 1000, step, host);
  guint newest = n_steps - 1;
  while (newest % 7 == 3)
    newest--;
  for (guint host = 0; host < 8; host++)
    g_string_append_printf(text, "host%u\tM:v\t%" G_GINT64_FORMAT "\t%u.%u\n", host, PIPELINE_BASE_MS + newest * 1000,
                           newest, host);
  return g_string_free(g_steal_pointer(&text), FALSE);
}

void
pipeline_assert_tables(PipelineFixture *fixture, guint n_steps)
{
  g_autofree char *history = fake_hbase_dump(fixture->hbase, "METRIC", FALSE);
  g_autofree char *latest = fake_hbase_dump(fixture->hbase, "CURRENT_METRIC", FALSE);
  g_autofree char *found = g_strconcat(history, latest, NULL);
  g_autofree char *expected = expected_tables(n_steps);
  g_assert_cmpstr(found, ==, expected);
}

void
pipeline_fixture_finish_mixture(PipelineFixture *fixture, RunningPipeline *running, guint n_steps)
{
  pipeline_fixture_wait_all_committed(fixture);
  pipeline_assert_tables(fixture, n_steps);
  running_pipeline_end(running);
}

/* ---- dead letters ---- */

#define MAX_CELL_BYTES 100

void
pipeline_fixture_set_up_letters(PipelineFixture *fixture, gconstpointer data)
{
  pipeline_fixture_set_up(fixture, data);
  mock_kafka_create_topic(fixture->kafka, DEAD_LETTERS, 1);
}

void
pipeline_fixture_set_up_refusing(PipelineFixture *fixture, gconstpointer data)
{
  pipeline_fixture_set_up_letters(fixture, data);
  scripted_gateway_create_table(fixture->gateways[0], "INDEX", "M", NULL);
  fake_hbase_set_max_cell_bytes(fixture->hbase, MAX_CELL_BYTES);
}

char *
pipeline_fixture_oversized(void)
{
  return g_strnfill(MAX_CELL_BYTES + 1, 'x');
}

GPtrArray *
pipeline_fixture_read_letters(PipelineFixture *fixture)
{
  return mock_kafka_read_topic(fixture->kafka, DEAD_LETTERS, 1, pipeline_fixture_deadline_us());
}

void
letter_assert_bytes(GBytes *found, TideBytes wanted)
{
  g_assert_nonnull(found);
  gsize len;
  gconstpointer data = g_bytes_get_data(found, &len);
  assert_bytes_equal(tide_bytes(data, len), wanted);
}

void
letter_assert_header(const TideMockRecord *dead_letter, const char *name, const char *wanted)
{
  g_autoptr(GBytes) value = mock_record_header(dead_letter, name);
  g_autofree char *text = value != NULL ? g_strndup(g_bytes_get_data(value, NULL), g_bytes_get_size(value)) : NULL;
  g_assert_cmpstr(text, ==, wanted);
}

guint64
letter_offset(const TideMockRecord *dead_letter)
{
  g_autoptr(GBytes) offset = mock_record_header(dead_letter, TIDE_DEAD_LETTER_HEADER_OFFSET);
  g_assert_nonnull(offset);
  g_autofree char *text = g_strndup(g_bytes_get_data(offset, NULL), g_bytes_get_size(offset));
  return g_ascii_strtoull(text, NULL, 10);
}

void
pipeline_fixture_assert_only_letter(PipelineFixture *fixture, const char *partition, const char *offset)
{
  g_autoptr(GPtrArray) dead_letters = pipeline_fixture_read_letters(fixture);
  g_assert_cmpuint(dead_letters->len, ==, 1);
  const TideMockRecord *only = g_ptr_array_index(dead_letters, 0);
  letter_assert_header(only, TIDE_DEAD_LETTER_HEADER_TOPIC, FIXTURE_TOPIC);
  letter_assert_header(only, TIDE_DEAD_LETTER_HEADER_PARTITION, partition);
  letter_assert_header(only, TIDE_DEAD_LETTER_HEADER_OFFSET, offset);
  letter_assert_header(only, TIDE_DEAD_LETTER_HEADER_REASON, TIDE_DEAD_LETTER_REASON_REFUSED);
}

/* ---- what an operator would have had to read ---- */

struct LogCapture {
  FILE *file;         /* owned, without a name */
  int standard_error; /* owned: the descriptor it was */
};

LogCapture *
log_capture_start(void)
{
  LogCapture *capture = g_new0(LogCapture, 1);
  capture->file = tmpfile();
  g_assert_nonnull(capture->file);
  capture->standard_error = dup(STDERR_FILENO);
  g_assert_cmpint(capture->standard_error, >=, 0);
  g_assert_cmpint(dup2(fileno(capture->file), STDERR_FILENO), ==, STDERR_FILENO);
  tide_log_set_level(TIDE_LOG_WARNING);
  return capture;
}

char *
log_capture_end(LogCapture *capture)
{
  tide_log_set_level(TIDE_LOG_CRIT);
  g_assert_cmpint(dup2(capture->standard_error, STDERR_FILENO), ==, STDERR_FILENO);
  close(capture->standard_error);
  g_autoptr(GString) lines = g_string_new(NULL);
  char piece[4096];
  gsize len;
  rewind(capture->file);
  while ((len = fread(piece, 1, sizeof piece, capture->file)) > 0)
    g_string_append_len(lines, piece, (gssize)len);
  fclose(capture->file);
  g_free(capture);
  return g_string_free(g_steal_pointer(&lines), FALSE);
}
