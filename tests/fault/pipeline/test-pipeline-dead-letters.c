/* The whole pipeline with messages that can never be written: exactly these become dead letters, byte for byte and
 * before their offsets move, whichever messages shared a call or a row with them. */
#include "fault/pipeline/pipeline_fixture.h"
#include "util/clock.h"
#include "util/error.h"

static void
produce_oversized(PipelineFixture *fixture, gint32 partition, const char *host, gint64 time_ms)
{
  g_autofree char *value = pipeline_fixture_oversized();
  pipeline_fixture_produce(fixture, partition, host, time_ms, value);
}

/* ---- rejected when it is mapped ---- */

#define BAD_KEY "\x00key\xff"
#define BAD_VALUE "{\"host\":\xff\x00 this is not JSON"

static void
produce_bad(PipelineFixture *fixture)
{
  TideMockMessage bad = {.topic = FIXTURE_TOPIC,
                         .partition = 0,
                         .key = TIDE_BYTES_LITERAL(BAD_KEY),
                         .payload = TIDE_BYTES_LITERAL(BAD_VALUE),
                         .timestamp_ms = PIPELINE_BASE_MS,
                         .headers = {{"trace", TIDE_BYTES_LITERAL("a\x00z")}, {"trace", TIDE_BYTES_LITERAL("")}}};
  mock_kafka_produce(fixture->kafka, &bad);
  fixture->produced[0]++;
}

static void
assert_is_bad_message(const TideMockRecord *dead_letter)
{
  letter_assert_bytes(dead_letter->key, TIDE_BYTES_LITERAL(BAD_KEY));
  letter_assert_bytes(dead_letter->payload, TIDE_BYTES_LITERAL(BAD_VALUE));
  const char *name;
  const void *value;
  size_t size;
  g_assert_cmpint(rd_kafka_header_get_all(dead_letter->headers, 0, &name, &value, &size), ==,
                  RD_KAFKA_RESP_ERR_NO_ERROR);
  g_assert_cmpstr(name, ==, "trace");
  g_assert_true(tide_bytes_equal(tide_bytes(value, size), TIDE_BYTES_LITERAL("a\x00z")));
  g_assert_cmpint(rd_kafka_header_get_all(dead_letter->headers, 1, &name, &value, &size), ==,
                  RD_KAFKA_RESP_ERR_NO_ERROR);
  g_assert_cmpstr(name, ==, "trace");
  g_assert_cmpuint(size, ==, 0);
  g_autofree char *timestamp = g_strdup_printf("%" G_GINT64_FORMAT, PIPELINE_BASE_MS);
  letter_assert_header(dead_letter, TIDE_DEAD_LETTER_HEADER_REASON, "utf8");
  letter_assert_header(dead_letter, TIDE_DEAD_LETTER_HEADER_OFFSET, "1");
  letter_assert_header(dead_letter, TIDE_DEAD_LETTER_HEADER_TIMESTAMP, timestamp);
  letter_assert_header(dead_letter, TIDE_DEAD_LETTER_HEADER_TABLE, NULL);
  letter_assert_header(dead_letter, TIDE_DEAD_LETTER_HEADER_ATTEMPTS, "0");
}

/* The topic refuses: nothing passes the message, and what is behind it is written all the same. */
static void
test_bad_message_is_kept_byte_for_byte_before_its_offset_moves(PipelineFixture *fixture, gconstpointer data)
{
  pipeline_fixture_produce(fixture, 0, "host0", PIPELINE_BASE_MS, "before");
  produce_bad(fixture);
  pipeline_fixture_produce(fixture, 0, "host0", PIPELINE_BASE_MS + 1000, "after");
  pipeline_fixture_flush(fixture);
  mock_kafka_push_errors(fixture->kafka, TIDE_KAFKA_PRODUCE, RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS, 100000);
  RunningPipeline *running = running_pipeline_start(fixture, 1, TO_TOPIC);
  pipeline_fixture_wait_rows(fixture, "METRIC", 2);
  pipeline_fixture_wait_committed(fixture, 0, 1);
  running_pipeline_wait_metric(running, "tidemark_dead_letters_waiting", 1);
  running_pipeline_wait_metric(running, "tidemark_messages_written_total", 2);
  running_pipeline_assert_accounting_balances(running);
  g_assert_cmpint(pipeline_fixture_committed(fixture, 0), ==, 1);
  mock_kafka_clear_errors(fixture->kafka, TIDE_KAFKA_PRODUCE);
  pipeline_fixture_wait_all_committed(fixture);
  g_assert_cmpuint(running_pipeline_sum(running, "tidemark_messages_dead_lettered_total"), ==, 1);
  g_assert_cmpuint(tide_metrics_sum(running->metrics, "tidemark_messages_dead_lettered_total", "reason=\"utf8\""), ==,
                   1);
  running_pipeline_end(running);
  g_autoptr(GPtrArray) dead_letters = pipeline_fixture_read_letters(fixture);
  g_assert_cmpuint(dead_letters->len, ==, 1);
  assert_is_bad_message(g_ptr_array_index(dead_letters, 0));
}

static void
test_u4_without_a_place_for_dead_letters_each_partition_holds_and_says_so(PipelineFixture *fixture, gconstpointer data)
{
  produce_bad(fixture);
  pipeline_fixture_produce(fixture, 1, "host1", PIPELINE_BASE_MS, "other");
  produce_oversized(fixture, 1, "host2", PIPELINE_BASE_MS);
  pipeline_fixture_flush(fixture);
  LogCapture *capture = log_capture_start();
  RunningPipeline *running = running_pipeline_start(fixture, 1, NULL);
  running_pipeline_wait_halted(running);
  running_pipeline_wait_metric(running, "tidemark_messages_halted_total", 2);
  running_pipeline_wait_reason(running, "partition 0 is halted");
  running_pipeline_wait_reason(running, "partition 1 is halted");
  g_autofree char *lines = log_capture_end(capture);
  /* U4: each of them is said, however soon one comes after the other. */
  g_assert_nonnull(strstr(lines, "partition 0 is halted at offset 0"));
  g_assert_nonnull(strstr(lines, "partition 1 is halted at offset 1"));
  pipeline_fixture_wait_committed(fixture, 1, 1);
  running_pipeline_wait_halted(running);
  running_pipeline_assert_reason(running, "partition 0 is halted at offset 0");
  running_pipeline_assert_reason(running, "partition 1 is halted at offset 1: HBase refuses row 'host2");
  running_pipeline_assert_reason(running, "no dead-letter file or topic is configured");
  g_assert_cmpint(running_pipeline_stop(running, 0), ==, 0);
}

/* C6: a halted row is unfinished by decision: a stop neither waits for it nor ends with work left over. */
static void
test_c6_stop_does_not_wait_for_a_halted_row(PipelineFixture *fixture, gconstpointer data)
{
  produce_oversized(fixture, 1, "host2", PIPELINE_BASE_MS);
  RunningPipeline *running = running_pipeline_start(fixture, 1, NULL);
  running_pipeline_wait_halted(running);
  LogCapture *capture = log_capture_start();
  running_pipeline_end(running);
  g_autofree char *lines = log_capture_end(capture);
  g_assert_null(strstr(lines, "stopping with"));
}

#define TO_TOPIC_BOUNDED "dead_letters: { topic: " DEAD_LETTERS ", max_ratio: 0.1 }\n"

#define READINGS_ALONE "readings: { format: json, time: { field: ts, format: epoch_ms }, on_bad_reading: reading }\n"

/* ---- refused by HBase ---- */

/* Three of ten thousand, in two tables each. */
static void
test_rejected_among_ten_thousand_are_dead_lettered_alone(PipelineFixture *fixture, gconstpointer data)
{
  for (guint i = 0; i < 10000; i++) {
    g_autofree char *host = g_strdup_printf("host%u", i % 1000);
    if (i % 4000 == 1234)
      produce_oversized(fixture, (gint32)(i % 2), host, PIPELINE_BASE_MS + i);
    else
      pipeline_fixture_produce(fixture, (gint32)(i % 2), host, PIPELINE_BASE_MS + i, "good");
  }
  RunningPipeline *running = running_pipeline_start(fixture, FIXTURE_GATEWAYS, TO_TOPIC);
  pipeline_fixture_wait_all_committed(fixture);
  g_assert_cmpuint(running_pipeline_sum(running, "tidemark_messages_dead_lettered_total"), ==, 3);
  g_assert_cmpuint(running_pipeline_sum(running, "tidemark_readings_dead_lettered_total"), ==, 3);
  g_assert_cmpuint(running_pipeline_sum(running, "tidemark_messages_written_total"), ==, 9997);
  running_pipeline_end(running);
  g_assert_cmpuint(fake_hbase_row_count(fixture->hbase, "METRIC"), ==, 9997);
  g_assert_cmpuint(fake_hbase_row_count(fixture->hbase, "CURRENT_METRIC"), ==, 1000);
  pipeline_fixture_assert_value(fixture, "CURRENT_METRIC", "host234", "v", "good");
  g_autoptr(GPtrArray) dead_letters = pipeline_fixture_read_letters(fixture);
  g_assert_cmpuint(dead_letters->len, ==, 3);
  for (guint i = 0; i < dead_letters->len; i++) {
    const TideMockRecord *dead_letter = g_ptr_array_index(dead_letters, i);
    letter_assert_header(dead_letter, TIDE_DEAD_LETTER_HEADER_REASON, TIDE_DEAD_LETTER_REASON_REFUSED);
    g_autoptr(GBytes) offset = mock_record_header(dead_letter, TIDE_DEAD_LETTER_HEADER_OFFSET);
    g_autofree char *text = g_strndup(g_bytes_get_data(offset, NULL), g_bytes_get_size(offset));
    g_assert_cmpuint(g_ascii_strtoull(text, NULL, 10) % 2000, ==, 617);
  }
}

#define WITH_INDEX                                                                                                     \
  "tables:\n"                                                                                                          \
  "  METRIC: { key: [ { field: host }, \"#\", { time: epoch_ms } ], columns: { family: M, from: \"*\" } }\n"           \
  "  INDEX: { latest: merge, index_of: METRIC, key: [ { field: host } ],"                                              \
  " columns: { family: M, from: [ { value: { time: epoch_ms }, as: ts } ] } }\n"

static void
test_index_does_not_name_a_refused_row(PipelineFixture *fixture, gconstpointer data)
{
  produce_oversized(fixture, 0, "rejected", PIPELINE_BASE_MS);
  pipeline_fixture_produce(fixture, 0, "accepted", PIPELINE_BASE_MS, "good");
  RunningPipeline *running = running_pipeline_start(fixture, 1, TO_TOPIC WITH_INDEX);
  pipeline_fixture_finish(fixture, running);
  g_assert_cmpuint(fake_hbase_row_count(fixture->hbase, "METRIC"), ==, 1);
  g_assert_cmpuint(fake_hbase_row_count(fixture->hbase, "INDEX"), ==, 1);
  pipeline_fixture_assert_value(fixture, "INDEX", "rejected", "ts", NULL);
  pipeline_fixture_assert_only_letter(fixture, "0", "0");
}

/* ---- repeated, and too many ---- */

/* The dead letter is kept and its offset is not committed: whoever reads on writes it again, and then it is. */
static void
test_dead_letter_comes_again_when_its_offset_was_not_committed(PipelineFixture *fixture, gconstpointer data)
{
  RunningPipeline *running = running_pipeline_start(fixture, 1, TO_TOPIC);
  pipeline_fixture_wait_committed(fixture, 0, 0); /* that it has the partition: else it reads nothing */
  mock_kafka_push_errors(fixture->kafka, TIDE_KAFKA_OFFSET_COMMIT, RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED,
                         100000);
  produce_oversized(fixture, 0, "host1", PIPELINE_BASE_MS);
  pipeline_fixture_flush(fixture);
  running_pipeline_wait_metric(running, "tidemark_messages_dead_lettered_total", 1);
  running_pipeline_stop(running, 100);
  mock_kafka_clear_errors(fixture->kafka, TIDE_KAFKA_OFFSET_COMMIT);
  running = running_pipeline_start(fixture, 1, TO_TOPIC);
  pipeline_fixture_wait_all_committed(fixture);
  g_assert_cmpuint(running_pipeline_sum(running, "tidemark_messages_dead_lettered_total"), ==, 1);
  running_pipeline_end(running);
  g_autoptr(GPtrArray) dead_letters = pipeline_fixture_read_letters(fixture);
  g_assert_cmpuint(dead_letters->len, ==, 2);
  for (guint i = 0; i < dead_letters->len; i++)
    letter_assert_header(g_ptr_array_index(dead_letters, i), TIDE_DEAD_LETTER_HEADER_OFFSET, "0");
}

static gboolean
has_too_many_dead_letters(const TidePipelineState *state, gpointer data)
{
  return state->reason != NULL && strstr(state->reason, "dead_letters.max_ratio") != NULL;
}

#define FOR_EVER_MS (3600 * 1000)

/* A run that is to end writes all else that it has read, and ends; its stop waits for nothing that may not be kept. */
static void
test_until_end_ends_at_too_many(PipelineFixture *fixture, gconstpointer data)
{
  for (guint i = 0; i < 300; i++)
    pipeline_fixture_produce(fixture, (gint32)(i % 2), "host1", PIPELINE_BASE_MS + i, "good");
  for (guint i = 0; i < 400; i++)
    pipeline_fixture_produce_raw(fixture, (gint32)(i % 2), "nonsense");
  RunningPipeline *running = running_pipeline_start_with(
      fixture, &(RunningPipelineOptions){.gateways = 1, .options = TO_TOPIC_BOUNDED, .until_end = TRUE});
  running_pipeline_wait_fatal(running);
  TidePipelineState state = tide_pipeline_state(running->pipeline);
  g_assert_cmpint(state.fatal_exit, ==, TIDE_EXIT_DATA);
  g_assert_nonnull(strstr(state.reason, "no more are written: correct the configuration and restart"));
  tide_pipeline_state_clear(&state);
  gint64 deadline_us = pipeline_fixture_deadline_us();
  while (running_pipeline_sum(running, "tidemark_messages_in_flight") !=
         running_pipeline_sum(running, "tidemark_dead_letters_waiting"))
    pipeline_fixture_wait_a_little(deadline_us, "nothing but dead letters is in flight");
  g_assert_cmpuint(running_pipeline_sum(running, "tidemark_messages_dead_lettered_total"), >=, 99);
  g_assert_cmpint(running_pipeline_stop(running, FOR_EVER_MS), ==, 75);
}

/* What may come back is waited for: with the topic all is kept. */
static void
test_until_end_waits_for_the_topic(PipelineFixture *fixture, gconstpointer data)
{
  produce_bad(fixture);
  pipeline_fixture_produce(fixture, 1, "host1", PIPELINE_BASE_MS, "good");
  pipeline_fixture_flush(fixture);
  mock_kafka_push_errors(fixture->kafka, TIDE_KAFKA_PRODUCE, RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS, 100000);
  RunningPipeline *running = running_pipeline_start_with(
      fixture, &(RunningPipelineOptions){.gateways = 1, .options = TO_TOPIC, .until_end = TRUE});
  running_pipeline_wait_metric(running, "tidemark_dead_letters_blocked", 1);
  running_pipeline_wait_status(running, "paused 2");
  TidePipelineState state = tide_pipeline_state(running->pipeline);
  g_assert_false(state.finished);
  tide_pipeline_state_clear(&state);
  mock_kafka_clear_errors(fixture->kafka, TIDE_KAFKA_PRODUCE);
  running_pipeline_wait_finished(running);
  g_assert_cmpuint(running_pipeline_sum(running, "tidemark_messages_dead_lettered_total"), ==, 1);
  running_pipeline_end(running);
}

#define ADD(path, func)                                                                                                \
  g_test_add("/pipeline-dead-letters/" path, PipelineFixture, NULL, pipeline_fixture_set_up_refusing, func,            \
             pipeline_fixture_tear_down)

/* One message of hundreds of readings, all bad, is one message. */
static void
test_f21_bad_readings_of_one_message_count_once(PipelineFixture *fixture, gconstpointer data)
{
  g_autoptr(GString) payload = g_string_new("[");
  for (guint i = 0; i < 150; i++)
    g_string_append_printf(payload, "%s{\"host\":\"h\"}", i > 0 ? "," : "");
  g_string_append_c(payload, ']');
  pipeline_fixture_produce_raw(fixture, 0, payload->str);
  RunningPipeline *running = running_pipeline_start(fixture, 1, TO_TOPIC_BOUNDED READINGS_ALONE);
  pipeline_fixture_wait_all_committed(fixture);
  running_pipeline_wait_ready(running);
  g_assert_cmpuint(running_pipeline_sum(running, "tidemark_readings_dead_lettered_total"), ==, 150);
  running_pipeline_end(running);
}

static gboolean
has_ended(const TidePipelineState *state, gpointer data)
{
  PipelineFixture *fixture = data;
  return has_too_many_dead_letters(state, NULL) || pipeline_fixture_committed(fixture, 0) == fixture->produced[0];
}

/* A start that ends at too many does not end there again: the messages up to the bound are kept and committed. */
static void
test_f21_each_restart_gets_on(PipelineFixture *fixture, gconstpointer data)
{
  for (guint i = 0; i < 150; i++)
    pipeline_fixture_produce_raw(fixture, 0, "nonsense");
  pipeline_fixture_flush(fixture);
  gint64 committed = 0;
  for (guint starts = 0; committed < fixture->produced[0]; starts++) {
    g_assert_cmpuint(starts, <, 3);
    RunningPipeline *running = running_pipeline_start(fixture, 1, TO_TOPIC_BOUNDED);
    running_pipeline_wait(running, has_ended, fixture);
    running_pipeline_stop(running, 2000);
    gint64 now = pipeline_fixture_committed(fixture, 0);
    g_assert_cmpint(now, >=, MIN(committed + 99, fixture->produced[0]));
    committed = now;
  }
}

/* Partitions that come back while no dead letter is kept are paused like those before. */
static void
test_y23_pause_outlives_a_rebalance(PipelineFixture *fixture, gconstpointer data)
{
  for (guint i = 0; i < 1500; i++)
    pipeline_fixture_produce_raw(fixture, (gint32)(i % 2), "nonsense");
  RunningPipeline *running = running_pipeline_start(fixture, 1, TO_TOPIC_BOUNDED);
  running_pipeline_wait_reason(running, "dead_letters.max_ratio");
  running_pipeline_wait_status(running, "paused 2");
  guint64 pauses = running_pipeline_sum(running, "tidemark_kafka_pauses_total");
  mock_kafka_push_errors(fixture->kafka, TIDE_KAFKA_HEARTBEAT, RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS, 1);
  running_pipeline_wait_metric(running, "tidemark_kafka_pauses_total", pauses + FIXTURE_PARTITIONS);
  running_pipeline_stop(running, 100);
}

int
main(int argc, char **argv)
{
  pipeline_fixture_init(&argc, &argv);
  ADD("rejected/bad-message-is-kept-byte-for-byte-before-its-offset-moves",
      test_bad_message_is_kept_byte_for_byte_before_its_offset_moves);
  ADD("rejected/U4-without-a-place-for-dead-letters-each-partition-holds-and-says-so",
      test_u4_without_a_place_for_dead_letters_each_partition_holds_and_says_so);
  ADD("rejected/C6-stop-does-not-wait-for-a-halted-row", test_c6_stop_does_not_wait_for_a_halted_row);
  ADD("refused/rejected-among-ten-thousand-are-dead-lettered-alone",
      test_rejected_among_ten_thousand_are_dead_lettered_alone);
  ADD("refused/index-does-not-name-a-refused-row", test_index_does_not_name_a_refused_row);
  ADD("many/dead-letter-comes-again-when-its-offset-was-not-committed",
      test_dead_letter_comes_again_when_its_offset_was_not_committed);
  ADD("F21/bad-readings-of-one-message-count-once", test_f21_bad_readings_of_one_message_count_once);
  ADD("F21/each-restart-gets-on", test_f21_each_restart_gets_on);
  ADD("end/until-end-ends-at-too-many", test_until_end_ends_at_too_many);
  ADD("end/until-end-waits-for-the-topic", test_until_end_waits_for_the_topic);
  ADD("many/Y23-pause-outlives-a-rebalance", test_y23_pause_outlives_a_rebalance);
  return g_test_run();
}
