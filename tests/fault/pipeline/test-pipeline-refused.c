/* Rows that HBase refuses without stating the reason: they affect no other row of their region. */
#include "fault/pipeline/pipeline_fixture.h"
#include "util/clock.h"
#include "util/error.h"
#include "write/suspects.h"

#define VAGUE                                                                                                          \
  "Failed 1 action: org.apache.hadoop.hbase.DoNotRetryIOException: a coprocessor's rule: 1 time, servers with "        \
  "issues: "                                                                                                           \
  "rs1,16020,1"

#define REFUSED_TEST(path) TEST_WITH(PipelineFixture, pipeline_fixture_set_up_letters, pipeline_fixture_tear_down, path)

static void
set_up_two_brokers(PipelineFixture *fixture, gconstpointer data)
{
  pipeline_fixture_set_up_brokers(fixture, 2);
  mock_kafka_create_topic(fixture->kafka, DEAD_LETTERS, 1);
}

#define LATEST_ONLY                                                                                                    \
  "tables:\n"                                                                                                          \
  "  CURRENT_METRIC: { latest: merge, key: [ { field: host } ], columns: { family: M, from: \"*\" } }\n"               \
  "batch: { latest_window: 1ms }\n"
#define HISTORY_ONLY                                                                                                   \
  "tables:\n"                                                                                                          \
  "  METRIC: { key: [ { field: host }, \"#\", { time: epoch_ms } ], columns: { family: M, from: \"*\" } }\n"

/* The gateway refuses each call with a row of a host that begins so. */
static guint
refuse(PipelineFixture *fixture, const char *host)
{
  TideScriptedFault rule = {.kind = TIDE_FAULT_IO_ERROR,
                            .call = TIDE_CALL_PUT_MULTIPLE,
                            .row_prefix = tide_bytes_of_string(host),
                            .message = VAGUE,
                            .can_retry = TIDE_CAN_RETRY_NO};
  return scripted_gateway_add_fault(fixture->gateways[0], &rule);
}

/* How often @fault had hit when @table had @n_rows; not more than @max. */
static guint64
hits_until_rows(PipelineFixture *fixture, guint fault, const char *table, guint64 n_rows, guint64 max)
{
  gint64 deadline_us = pipeline_fixture_deadline_us();
  guint64 hits = 0;
  while (fake_hbase_row_count(fixture->hbase, table) < n_rows && hits < max) {
    pipeline_fixture_wait_a_little(deadline_us, "the other rows are written");
    hits = scripted_gateway_fault_hits(fixture->gateways[0], fault);
  }
  g_test_message("%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT " rows after %" G_GUINT64_FORMAT " refusals",
                 fake_hbase_row_count(fixture->hbase, table), n_rows, hits);
  return hits;
}

static void
produce_others(PipelineFixture *fixture, guint n_hosts)
{
  for (guint i = 0; i < n_hosts; i++) {
    g_autofree char *host = g_strdup_printf("good%u", i);
    pipeline_fixture_produce(fixture, 1, host, PIPELINE_BASE_MS + i, "v");
  }
  pipeline_fixture_flush(fixture);
}

/* A message of @partition whose row is refused. Returns: the fault. */
static guint
produce_refused(PipelineFixture *fixture, gint32 partition)
{
  guint fault = refuse(fixture, "bad");
  pipeline_fixture_produce(fixture, partition, "bad", PIPELINE_BASE_MS, "v");
  pipeline_fixture_flush(fixture);
  return fault;
}

/* Rows of the same region that show that it works, until the bad message has its dead letter. */
static void
show_until_committed(PipelineFixture *fixture, const char *table, guint n_rows)
{
  for (guint i = 0; pipeline_fixture_committed(fixture, 0) < 1; i++) {
    g_autofree char *host = g_strdup_printf("c%u", i);
    pipeline_fixture_produce(fixture, 1, host, PIPELINE_BASE_MS + 1000 + i, "v");
    pipeline_fixture_flush(fixture);
    pipeline_fixture_wait_rows(fixture, table, n_rows + 1 + i);
  }
  pipeline_fixture_wait_all_committed(fixture);
}

/* A latest row that is refused alone, without another row in its batch: those that come later are written, show that
 * the region works, and so the message becomes a dead letter. */
REFUSED_TEST("/pipeline-refused/latest/lone-row-holds-no-other-of-its-region")
{
  guint fault = produce_refused(fixture, 0);
  RunningPipeline *running = running_pipeline_start(fixture, 1, TO_TOPIC LATEST_ONLY);
  pipeline_fixture_wait_hits(fixture, fault, 2);
  produce_others(fixture, 10);
  g_assert_cmpuint(hits_until_rows(fixture, fault, "CURRENT_METRIC", 10, 5 * TIDE_SUSPECT_ROUNDS), <,
                   5 * TIDE_SUSPECT_ROUNDS);
  show_until_committed(fixture, "CURRENT_METRIC", 10);
  running_pipeline_end(running);
  pipeline_fixture_assert_only_letter(fixture, "0", "0");
}

/* The same with two consumers, as by default, where the region's other rows are of the row's own consumer. */
REFUSED_TEST("/pipeline-refused/latest/lone-row-holds-no-other-of-its-consumer")
{
  guint fault = produce_refused(fixture, 1);
  RunningPipeline *running = running_pipeline_start_with(
      fixture, &(RunningPipelineOptions){.gateways = 1, .options = TO_TOPIC LATEST_ONLY, .kafka = ", threads: 2"});
  pipeline_fixture_wait_hits(fixture, fault, 2);
  produce_others(fixture, 10);
  guint64 hits = hits_until_rows(fixture, fault, "CURRENT_METRIC", 10, 5 * TIDE_SUSPECT_ROUNDS);
  g_autoptr(GPtrArray) letters = pipeline_fixture_read_letters(fixture);
  g_test_message("%u dead letters", letters->len);
  running_pipeline_stop(running, 100);
  g_assert_cmpuint(hits, <, 5 * TIDE_SUSPECT_ROUNDS);
}

/* The same beside a row that is accepted: others of the region are written before the rounds are over. */
REFUSED_TEST("/pipeline-refused/latest/row-that-is-tried-delays-no-other-of-its-region")
{
  guint fault = refuse(fixture, "bad");
  pipeline_fixture_produce(fixture, 0, "fine", PIPELINE_BASE_MS, "v");
  pipeline_fixture_produce(fixture, 0, "bad", PIPELINE_BASE_MS, "v");
  pipeline_fixture_flush(fixture);
  RunningPipeline *running = running_pipeline_start(fixture, 1, TO_TOPIC LATEST_ONLY);
  pipeline_fixture_wait_hits(fixture, fault, 2);
  produce_others(fixture, 10);
  g_assert_cmpuint(hits_until_rows(fixture, fault, "CURRENT_METRIC", 11, TIDE_SUSPECT_ROUNDS), <, TIDE_SUSPECT_ROUNDS);
  pipeline_fixture_wait_all_committed(fixture);
  running_pipeline_end(running);
  pipeline_fixture_assert_only_letter(fixture, "0", "1");
}

REFUSED_TEST("/pipeline-refused/history/lone-row-holds-no-other-of-its-region")
{
  guint fault = produce_refused(fixture, 0);
  RunningPipeline *running = running_pipeline_start(fixture, 1, TO_TOPIC HISTORY_ONLY);
  pipeline_fixture_wait_hits(fixture, fault, 2);
  produce_others(fixture, 10);
  g_assert_cmpuint(hits_until_rows(fixture, fault, "METRIC", 10, 5 * TIDE_SUSPECT_ROUNDS), <, TIDE_SUSPECT_ROUNDS);
  show_until_committed(fixture, "METRIC", 10);
  running_pipeline_end(running);
  pipeline_fixture_assert_only_letter(fixture, "0", "0");
}

/* The region of a row that is tried is split: what comes for its halves does not wait for a row that waits for them. */
REFUSED_TEST("/pipeline-refused/history/split-region-does-not-wait-for-a-row-that-waits-for-it")
{
  guint fault = produce_refused(fixture, 0);
  RunningPipeline *running = running_pipeline_start_with(
      fixture,
      &(RunningPipelineOptions){.gateways = 1, .options = TO_TOPIC HISTORY_ONLY, .hbase = ", region_refresh: 5s"});
  pipeline_fixture_wait_hits(fixture, fault, 2);
  fake_hbase_split_region(fixture->hbase, "METRIC", TIDE_BYTES_LITERAL("host0"), FALSE);
  TideGatewayStats stats;
  scripted_gateway_stats(fixture->gateways[0], &stats);
  guint64 n = stats.calls_by_method[TIDE_CALL_GET_ALL_REGION_LOCATIONS] + 2;
  g_assert_true(scripted_gateway_wait_calls(fixture->gateways[0], TIDE_CALL_GET_ALL_REGION_LOCATIONS, n,
                                            pipeline_fixture_deadline_us()));
  guint64 before = scripted_gateway_fault_hits(fixture->gateways[0], fault);
  produce_others(fixture, 10);
  g_assert_cmpuint(hits_until_rows(fixture, fault, "METRIC", 10, before + 5 * TIDE_SUSPECT_ROUNDS), <,
                   before + 5 * TIDE_SUSPECT_ROUNDS);
  /* They show that its new region works, so that it need not wait for a restart. */
  pipeline_fixture_wait_all_committed(fixture);
  running_pipeline_end(running);
  pipeline_fixture_assert_only_letter(fixture, "0", "0");
}

/* What shows that the region works may be all that is read of it for a long time: the partition pauses at its span. */
REFUSED_TEST("/pipeline-refused/history/row-does-not-hold-its-partition-at-its-span")
{
  (void)refuse(fixture, "bad");
  pipeline_fixture_produce(fixture, 0, "bad", PIPELINE_BASE_MS, "v");
  for (guint i = 0; i < 1500; i++)
    pipeline_fixture_produce(fixture, 0, i < 20 ? "good" : "host7", PIPELINE_BASE_MS + i, "v");
  pipeline_fixture_flush(fixture);
  RunningPipeline *running = running_pipeline_start_with(
      fixture, &(RunningPipelineOptions){.gateways = 1,
                                         .options = TO_TOPIC HISTORY_ONLY "batch: { max_rows: 1 }\n",
                                         .kafka = ", max_span_messages: 1000"});
  pipeline_fixture_wait_all_committed(fixture);
  running_pipeline_end(running);
  pipeline_fixture_assert_only_letter(fixture, "0", "0");
}

/* A row whose refusals are said to be worth another try is never a dead letter, and is named at once. */
REFUSED_TEST("/pipeline-refused/history/D10-row-that-is-worth-another-try-is-named")
{
  TideScriptedFault rule = {
      .kind = TIDE_FAULT_IO_ERROR,
      .call = TIDE_CALL_PUT_MULTIPLE,
      .row_prefix = TIDE_BYTES_LITERAL("bad"),
      .message = "Failed 1 action: java.io.IOException: a coprocessor's rule: 1 time, servers with issues: "
                 "rs1,16020,1",
      .can_retry = TIDE_CAN_RETRY_YES};
  guint fault = scripted_gateway_add_fault(fixture->gateways[0], &rule);
  pipeline_fixture_produce(fixture, 0, "bad", PIPELINE_BASE_MS, "v");
  pipeline_fixture_flush(fixture);
  LogCapture *capture = log_capture_start();
  RunningPipeline *running = running_pipeline_start(fixture, 1, TO_TOPIC HISTORY_ONLY);
  pipeline_fixture_wait_hits(fixture, fault, 5);
  produce_others(fixture, 10);
  pipeline_fixture_wait_rows(fixture, "METRIC", 10);
  pipeline_fixture_wait_hits(fixture, fault, 3 * TIDE_SUSPECT_ROUNDS);
  running_pipeline_stop(running, 100);
  g_autofree char *lines = log_capture_end(capture);
  g_assert_nonnull(strstr(lines, "row 'bad#1763700000000' of table 'METRIC' is delayed, and retried alone: "));
  g_autoptr(GPtrArray) letters = pipeline_fixture_read_letters(fixture);
  g_assert_cmpuint(letters->len, ==, 0);
}

/* A table that takes no rows, and then answers again: that the only row that waits is refused does not hold it back. */
REFUSED_TEST("/pipeline-refused/history/B11-table-that-answers-again-is-not-suspended")
{
  guint fault = produce_refused(fixture, 0);
  RunningPipeline *running = running_pipeline_start(fixture, 1, TO_TOPIC HISTORY_ONLY);
  pipeline_fixture_wait_hits(fixture, fault, 2);
  scripted_gateway_clear_faults(fixture->gateways[0]);
  TideScriptedFault denied = {.kind = TIDE_FAULT_IO_ERROR,
                              .call = TIDE_CALL_PUT_MULTIPLE,
                              .message = "org.apache.hadoop.hbase.security.AccessDeniedException: Insufficient "
                                         "permissions (user=tidemark, scope=default:METRIC, action=WRITE)",
                              .can_retry = TIDE_CAN_RETRY_NO};
  scripted_gateway_add_fault(fixture->gateways[0], &denied);
  running_pipeline_wait_not_ready(running, "lacks the right WRITE on table 'METRIC'");
  scripted_gateway_clear_faults(fixture->gateways[0]);
  fault = refuse(fixture, "bad");
  pipeline_fixture_wait_hits(fixture, fault, 2);
  running_pipeline_wait_ready(running);
  running_pipeline_stop(running, 100);
}

/* Each message whose payload has "bad" is in the topic of dead letters, and no other, @most times at most. */
static void
assert_letters(PipelineFixture *fixture, guint n_bad, guint most)
{
  g_autoptr(GPtrArray) letters = pipeline_fixture_read_letters(fixture);
  g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  for (guint i = 0; i < letters->len; i++) {
    const TideMockRecord *letter = g_ptr_array_index(letters, i);
    g_autoptr(GBytes) partition = mock_record_header(letter, TIDE_DEAD_LETTER_HEADER_PARTITION);
    g_autofree char *payload = g_strndup(g_bytes_get_data(letter->payload, NULL), g_bytes_get_size(letter->payload));
    g_autofree char *number = g_strndup(g_bytes_get_data(partition, NULL), g_bytes_get_size(partition));
    char *which = g_strdup_printf("%s %" G_GUINT64_FORMAT, number, letter_offset(letter));
    guint n = GPOINTER_TO_UINT(g_hash_table_lookup(seen, which)) + 1;
    g_assert_nonnull(strstr(payload, "\"bad"));
    g_assert_cmpuint(n, <=, most);
    g_hash_table_insert(seen, which, GUINT_TO_POINTER(n));
  }
  g_test_message("%u letters of %u messages", letters->len, g_hash_table_size(seen));
  g_assert_cmpuint(g_hash_table_size(seen), ==, n_bad);
}

/* The second partition comes later by @delay_ms than the first one. */
static void
delay_second_partition(PipelineFixture *fixture, int delay_ms)
{
  mock_kafka_set_coordinator(fixture->kafka, FIXTURE_GROUP, 1);
  mock_kafka_set_leader(fixture->kafka, FIXTURE_TOPIC, 0, 1);
  mock_kafka_set_leader(fixture->kafka, FIXTURE_TOPIC, 1, 2);
  mock_kafka_delay_request(fixture->kafka, 2, TIDE_KAFKA_FETCH, RD_KAFKA_RESP_ERR_NO_ERROR, delay_ms);
}

static gboolean
has_ended(const TidePipelineState *state, gpointer data)
{
  return state->finished || state->fatal_exit != 0;
}

#define TWO_BROKERS_TEST(path) TEST_WITH(PipelineFixture, set_up_two_brokers, pipeline_fixture_tear_down, path)

/* The rest of the topic is still to be read, which may show who is to blame: a run to the end does not end before. */
TWO_BROKERS_TEST("/pipeline-refused/end/run-does-not-end-before-the-end-of-the-topic")
{
  (void)refuse(fixture, "bad");
  pipeline_fixture_produce(fixture, 0, "bad", PIPELINE_BASE_MS, "v");
  produce_others(fixture, 10);
  delay_second_partition(fixture, 40000);
  RunningPipeline *running = running_pipeline_start_with(
      fixture, &(RunningPipelineOptions){.gateways = 1, .options = TO_TOPIC HISTORY_ONLY, .until_end = TRUE});
  running_pipeline_wait(running, has_ended, NULL);
  guint64 n_rows = fake_hbase_row_count(fixture->hbase, "METRIC");
  TidePipelineState state = tide_pipeline_state(running->pipeline);
  g_test_message("exit %d with %" G_GUINT64_FORMAT " rows: %s", state.fatal_exit, n_rows, state.reason);
  tide_pipeline_state_clear(&state);
  running_pipeline_stop(running, 100);
  g_assert_cmpuint(n_rows, ==, 10);
}

/* The last @n_bad rows of a topic are refused, and not read before @n_good others of their region are accepted. */
static RunningPipeline *
run_to_a_refused_end(PipelineFixture *fixture, guint n_good, guint n_bad, const char *options)
{
  (void)refuse(fixture, "bad");
  for (guint i = 0; i < n_good; i++)
    pipeline_fixture_produce(fixture, 0, "good", PIPELINE_BASE_MS + i, "v");
  for (guint i = 0; i < n_bad; i++)
    pipeline_fixture_produce(fixture, 1, "bad", PIPELINE_BASE_MS + i, "v");
  pipeline_fixture_flush(fixture);
  delay_second_partition(fixture, 5000);
  RunningPipeline *running = running_pipeline_start_with(
      fixture, &(RunningPipelineOptions){.gateways = 1, .options = options, .until_end = TRUE});
  running_pipeline_wait(running, has_ended, NULL);
  return running;
}

TWO_BROKERS_TEST("/pipeline-refused/end/D10-F16-last-row-of-a-topic-becomes-a-dead-letter")
{
  RunningPipeline *running = run_to_a_refused_end(fixture, 20, 1, TO_TOPIC HISTORY_ONLY "batch: { max_rows: 1 }\n");
  TidePipelineState state = tide_pipeline_state(running->pipeline);
  g_assert_cmpint(state.fatal_exit, ==, 0);
  tide_pipeline_state_clear(&state);
  running_pipeline_end(running);
  pipeline_fixture_assert_only_letter(fixture, "1", "0");
}

/* A row of two messages is found to be at fault twice: merged, and after the rewind for each message by itself. */
TWO_BROKERS_TEST("/pipeline-refused/end/F16-last-row-of-two-messages-becomes-their-dead-letters")
{
  RunningPipeline *running = run_to_a_refused_end(fixture, 20, 2, TO_TOPIC LATEST_ONLY);
  TidePipelineState state = tide_pipeline_state(running->pipeline);
  g_assert_cmpint(state.fatal_exit, ==, 0);
  tide_pipeline_state_clear(&state);
  running_pipeline_end(running);
  assert_letters(fixture, 2, 1);
}

/* But where several are refused, and none accepted behind them, it may be the region that has come to refuse all. */
static void
check_refusing_region(PipelineFixture *fixture, guint n_bad, const char *options)
{
  RunningPipeline *running = run_to_a_refused_end(fixture, 20, n_bad, options);
  TidePipelineState state = tide_pipeline_state(running->pipeline);
  g_assert_cmpint(state.fatal_exit, ==, TIDE_EXIT_DATA);
  tide_pipeline_state_clear(&state);
  running_pipeline_assert_reason(running, "or refused several");
  running_pipeline_stop(running, 100);
  g_autoptr(GPtrArray) letters = pipeline_fixture_read_letters(fixture);
  g_assert_cmpuint(letters->len, ==, 0);
}

TWO_BROKERS_TEST("/pipeline-refused/end/D10-F16-region-that-refuses-its-last-rows-keeps-them")
{
  check_refusing_region(fixture, 5, TO_TOPIC HISTORY_ONLY "batch: { max_rows: 1 }\n");
}

/* Nor need each of a large batch be tried alone before the run ends. */
TWO_BROKERS_TEST("/pipeline-refused/end/D10-F16-region-that-refuses-many-rows-ends-the-run")
{
  check_refusing_region(fixture, 2000, TO_TOPIC HISTORY_ONLY);
}

/* One refused row in each of many batches: the others of the region are written, and wait for none of them. */
REFUSED_TEST("/pipeline-refused/many/batches-with-a-row-that-is-tried-delay-no-others")
{
  const guint n_rows = 1000, n_bad = n_rows / 10;
  (void)refuse(fixture, "bad");
  for (guint i = 0; i < n_rows; i++)
    pipeline_fixture_produce(fixture, 0, i % 10 == 5 ? "bad" : "good", PIPELINE_BASE_MS + i, "v");
  pipeline_fixture_flush(fixture);
  RunningPipeline *running = running_pipeline_start(fixture, 1, TO_TOPIC HISTORY_ONLY "batch: { max_rows: 10 }\n");
  gint64 deadline_us = pipeline_fixture_deadline_us();
  guint64 n_poison = 0, n_written = 0;
  while (n_poison == 0 && n_written < n_rows - n_bad) {
    pipeline_fixture_wait_a_little(deadline_us, "a row is found to be refused, or all others are written");
    n_poison = running_pipeline_sum(running, "tidemark_hbase_poison_rows_total");
    n_written = fake_hbase_row_count(fixture->hbase, "METRIC");
  }
  g_test_message("%" G_GUINT64_FORMAT " rows written before the first dead letter", n_written);
  running_pipeline_stop(running, 100);
  g_assert_cmpuint(n_written, ==, n_rows - n_bad);
}

/* ---- exactly once ---- */

#define CERTAIN                                                                                                        \
  "Failed 1 action: org.apache.hadoop.hbase.DoNotRetryIOException: Cell with size 10485999 exceeds limit of 10485760 " \
  "bytes: 1 time, servers with issues: rs1,16020,1"

static void
refuse_latest(PipelineFixture *fixture, const char *host, const char *text)
{
  for (guint i = 0; i < FIXTURE_GATEWAYS; i++) {
    TideScriptedFault rule = {.kind = TIDE_FAULT_IO_ERROR,
                              .call = TIDE_CALL_PUT_MULTIPLE,
                              .table = "CURRENT_METRIC",
                              .row_prefix = tide_bytes_of_string(host),
                              .message = text,
                              .can_retry = TIDE_CAN_RETRY_NO};
    scripted_gateway_add_fault(fixture->gateways[i], &rule);
  }
}

#define BOTH_TABLES "batch: { latest_window: 50ms }\n"

static void
exact_two_threads(PipelineFixture *fixture, const char *text, gboolean goes_on)
{
  refuse_latest(fixture, "bad", text);
  for (guint i = 0; i < 400; i++) {
    g_autofree char *host = i % 10 == 3 ? g_strdup("bad") : g_strdup_printf("h%u", i % 7);
    pipeline_fixture_produce(fixture, (gint32)(i / 10 % 2), host, PIPELINE_BASE_MS + i / 20, "v");
    pipeline_fixture_produce(fixture, (gint32)(i / 10 % 2), host, PIPELINE_BASE_MS + i, "w");
  }
  RunningPipeline *running = running_pipeline_start_with(
      fixture, &(RunningPipelineOptions){.gateways = 2, .options = TO_TOPIC BOTH_TABLES, .kafka = ", threads: 2"});
  gint64 deadline_us = pipeline_fixture_deadline_us();
  while (pipeline_fixture_committed(fixture, 0) < fixture->produced[0] ||
         pipeline_fixture_committed(fixture, 1) < fixture->produced[1]) {
    pipeline_fixture_wait_a_little(deadline_us, "all is committed");
    if (goes_on && running_pipeline_sum(running, "tidemark_messages_dead_lettered_total") < 80)
      pipeline_fixture_produce(fixture, 0, "h0", PIPELINE_BASE_MS, "v");
  }
  g_assert_cmpuint(running_pipeline_sum(running, "tidemark_messages_dead_lettered_total"), ==, 80);
  running_pipeline_end(running);
  assert_letters(fixture, 80, 1);
  g_assert_cmpuint(fake_hbase_row_count(fixture->hbase, "CURRENT_METRIC"), ==, 7);
}

REFUSED_TEST("/pipeline-refused/exact/certain-key-of-two-threads")
{
  exact_two_threads(fixture, CERTAIN, FALSE);
}

REFUSED_TEST("/pipeline-refused/exact/more-keys-than-are-solo")
{
  const guint n_keys = 4300;
  refuse_latest(fixture, "bad", CERTAIN);
  for (guint i = 0; i < 2 * n_keys; i++) {
    g_autofree char *host = g_strdup_printf("bad%u", i / 2);
    pipeline_fixture_produce(fixture, 0, host, PIPELINE_BASE_MS + i, "v");
    if (i % 100 == 0)
      pipeline_fixture_produce(fixture, 1, "h", PIPELINE_BASE_MS + i, "v");
  }
  LogCapture *capture = log_capture_start();
  RunningPipeline *running = running_pipeline_start_with(
      fixture, &(RunningPipelineOptions){
                   .gateways = 2, .options = TO_TOPIC BOTH_TABLES, .kafka = ", max_span_messages: 100000"});
  pipeline_fixture_wait_all_committed(fixture);
  g_assert_cmpuint(running_pipeline_sum(running, "tidemark_messages_dead_lettered_total"), ==, 2 * n_keys);
  g_test_message("rewinds %" G_GUINT64_FORMAT ", in vain %" G_GUINT64_FORMAT,
                 running_pipeline_sum(running, "tidemark_kafka_rewinds_total"),
                 running_pipeline_sum(running, "tidemark_kafka_rewinds_without_progress_total"));
  running_pipeline_end(running);
  g_autofree char *lines = log_capture_end(capture);
  g_assert_nonnull(strstr(lines, "merges none of its rows"));
  assert_letters(fixture, 2 * n_keys, 1);
}
