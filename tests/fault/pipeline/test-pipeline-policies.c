/* Decisions about bad readings and the future in whole pipelines: on_bad_reading and on_future, and that a replay
 * reaches the same decision. */
#include "fault/pipeline/pipeline_fixture.h"
#include "model/dead_letter.h"
#include "util/clock.h"

#define TIME "field: ts, format: epoch_ms"

#define BASE_MS G_GINT64_CONSTANT(1763700000000)
#define HOUR_MS G_GINT64_CONSTANT(3600000)

static int
compare_texts(gconstpointer a, gconstpointer b)
{
  return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The dead letters as lines "OFFSET REASON READING", sorted: they are kept in any order. READING: - for the whole
 * message.
 */
static char *
dead_letters_text(PipelineFixture *fixture)
{
  static const char *const names[] = {TIDE_DEAD_LETTER_HEADER_OFFSET, TIDE_DEAD_LETTER_HEADER_REASON,
                                      TIDE_DEAD_LETTER_HEADER_READING};
  g_autoptr(GPtrArray) dead_letters = pipeline_fixture_read_letters(fixture);
  g_autoptr(GPtrArray) lines = g_ptr_array_new_with_free_func(g_free);
  for (guint i = 0; i < dead_letters->len; i++) {
    g_autoptr(GString) line = g_string_new(NULL);
    for (guint k = 0; k < G_N_ELEMENTS(names); k++) {
      g_autoptr(GBytes) value = mock_record_header(g_ptr_array_index(dead_letters, i), names[k]);
      g_string_append(line, k > 0 ? " " : "");
      g_string_append_len(line, value != NULL ? g_bytes_get_data(value, NULL) : "-",
                          value != NULL ? (gssize)g_bytes_get_size(value) : 1);
    }
    g_ptr_array_add(lines, g_strdup(line->str));
  }
  g_ptr_array_sort(lines, compare_texts);
  g_ptr_array_add(lines, NULL);
  return g_strjoinv("\n", (char **)lines->pdata);
}

static void
assert_dead_letters(PipelineFixture *fixture, const char *wanted)
{
  g_autofree char *text = dead_letters_text(fixture);
  g_assert_cmpstr(text, ==, wanted);
}

/* ---- on_bad_reading ---- */

typedef struct BadReadingCase {
  const char *options;
  const char *messages[3];
  const char *dead_letters;
  guint64 n_readings_dead_lettered; /* a message that is bad as a whole has none */
  guint64 n_readings_written;
  guint64 n_rows;
} BadReadingCase;

/* Of the first message's readings the second and the third are bad, of the next message's all, of the last's none. */
#define SOME_BAD                                                                                                       \
  "[{\"host\":\"host0\",\"ts\":1763700000000,\"v\":1},{\"host\":\"host0\",\"v\":2},"                                   \
  "{\"host\":\"host0\",\"ts\":0,\"v\":3},{\"host\":\"host0\",\"ts\":1763700001000,\"v\":4}]"
#define ALL_BAD "[{\"host\":\"host1\"},{\"host\":7,\"ts\":\"soon\"}]"
#define ALL_GOOD "[{\"host\":\"host2\",\"ts\":1763700000000,\"v\":5}]"

static const BadReadingCase of_message = {TO_TOPIC "readings: { time: { " TIME " }, on_bad_reading: message }\n",
                                          {SOME_BAD, ALL_BAD, ALL_GOOD},
                                          "0 missing_field -\n1 missing_field -",
                                          0,
                                          1,
                                          1};
static const BadReadingCase of_reading = {
    TO_TOPIC "readings: { time: { " TIME " }, on_bad_reading: reading }\n",
    {SOME_BAD, ALL_BAD, ALL_GOOD},
    "0 missing_field 1\n0 time_implausible 2\n1 missing_field 0\n1 time_invalid 1",
    4,
    3,
    3};

static void
test_bad_reading(PipelineFixture *fixture, gconstpointer data)
{
  const BadReadingCase *at = data;
  for (gsize i = 0; i < G_N_ELEMENTS(at->messages); i++)
    pipeline_fixture_produce_raw(fixture, 0, at->messages[i]);
  RunningPipeline *running = running_pipeline_start(fixture, 1, at->options);
  pipeline_fixture_wait_all_committed(fixture);
  running_pipeline_assert_accounting_balances(running);
  g_assert_cmpuint(running_pipeline_sum(running, "tidemark_messages_dead_lettered_total"), ==, 2);
  g_assert_cmpuint(running_pipeline_sum(running, "tidemark_messages_written_total"), ==, 1);
  g_assert_cmpuint(running_pipeline_sum(running, "tidemark_readings_dead_lettered_total"), ==,
                   at->n_readings_dead_lettered);
  g_assert_cmpuint(running_pipeline_sum(running, "tidemark_readings_written_total"), ==, at->n_readings_written);
  running_pipeline_end(running);
  g_assert_cmpuint(fake_hbase_row_count(fixture->hbase, "METRIC"), ==, at->n_rows);
  assert_dead_letters(fixture, at->dead_letters);
}

#define LETTERS_TEST_OF(data, path)                                                                                    \
  TEST_OF(PipelineFixture, data, pipeline_fixture_set_up_letters, pipeline_fixture_tear_down, path)

LETTERS_TEST_OF(&of_message, "/pipeline-policies/bad-reading/message-is-one-dead-letter-as-a-whole")
{
  test_bad_reading(fixture, data);
}

LETTERS_TEST_OF(&of_reading, "/pipeline-policies/bad-reading/reading-is-a-dead-letter-with-its-place")
{
  test_bad_reading(fixture, data);
}

/* ---- on_future ---- */

typedef struct FutureCase {
  const char *options;
  const char *dead_letters; /* of one run */
  const char *dead_letters_of_two;
  guint64 n_history_rows;
  guint64 n_rows_future; /* that latest tables do not get */
} FutureCase;

static const FutureCase rejected = {TO_TOPIC "readings: { time: { " TIME ", on_future: reject } }\n",
                                    "1 time_future -\n3 time_future -",
                                    "1 time_future -\n1 time_future -\n3 time_future -\n3 time_future -", 2, 0};
static const FutureCase in_history = {TO_TOPIC "readings: { time: { " TIME ", on_future: history } }\n", "", "", 4, 2};

/* All of it lies years back: what is future, only the record's own time can say. */
static void
produce_reading(PipelineFixture *fixture, gint64 record_ms, const char *host, gint64 event_ms, const char *value)
{
  g_autofree char *payload =
      g_strdup_printf("{\"host\":\"%s\",\"ts\":%" G_GINT64_FORMAT ",\"v\":\"%s\"}", host, event_ms, value);
  TideMockMessage message = {
      .topic = FIXTURE_TOPIC, .partition = 0, .payload = tide_bytes_of_string(payload), .timestamp_ms = record_ms};
  mock_kafka_produce(fixture->kafka, &message);
  fixture->produced[0]++;
}

static void
run_as(PipelineFixture *fixture, const char *group, const FutureCase *at)
{
  gint64 deadline_us = pipeline_fixture_deadline_us();
  RunningPipeline *running = running_pipeline_start_group(fixture, group, 1, at->options);
  g_assert_true(mock_kafka_wait_committed(fixture->kafka, group, FIXTURE_TOPIC, 0, fixture->produced[0], deadline_us));
  running_pipeline_assert_accounting_balances(running);
  g_assert_cmpuint(running_pipeline_sum(running, "tidemark_rows_future_total"), ==, at->n_rows_future);
  g_assert_cmpuint(running_pipeline_sum(running, "tidemark_messages_written_total"), ==, at->n_history_rows);
  running_pipeline_end(running);
}

/* Read once as it comes, and once again by another group. */
static void
test_future(PipelineFixture *fixture, gconstpointer data)
{
  const FutureCase *at = data;
  produce_reading(fixture, BASE_MS, "host0", BASE_MS, "now");
  produce_reading(fixture, BASE_MS, "host0", BASE_MS + HOUR_MS, "ahead");
  produce_reading(fixture, BASE_MS + HOUR_MS, "host2", BASE_MS + HOUR_MS, "now");
  produce_reading(fixture, BASE_MS, "host1", BASE_MS + HOUR_MS, "ahead");
  pipeline_fixture_flush(fixture);
  run_as(fixture, "first", at);
  g_assert_cmpuint(fake_hbase_row_count(fixture->hbase, "METRIC"), ==, at->n_history_rows);
  pipeline_fixture_assert_value(fixture, "CURRENT_METRIC", "host0", "v", "now");
  pipeline_fixture_assert_value(fixture, "CURRENT_METRIC", "host1", "v", NULL);
  pipeline_fixture_assert_value(fixture, "CURRENT_METRIC", "host2", "v", "now");
  assert_dead_letters(fixture, at->dead_letters);
  g_autofree char *history = fake_hbase_dump(fixture->hbase, "METRIC", TRUE);
  g_autofree char *latest = fake_hbase_dump(fixture->hbase, "CURRENT_METRIC", TRUE);
  run_as(fixture, "second", at);
  g_autofree char *history_again = fake_hbase_dump(fixture->hbase, "METRIC", TRUE);
  g_autofree char *latest_again = fake_hbase_dump(fixture->hbase, "CURRENT_METRIC", TRUE);
  g_assert_cmpstr(history_again, ==, history);
  g_assert_cmpstr(latest_again, ==, latest);
  assert_dead_letters(fixture, at->dead_letters_of_two);
}

LETTERS_TEST_OF(&rejected, "/pipeline-policies/future/A18-reject-is-a-dead-letter-again-when-read-again")
{
  test_future(fixture, data);
}

LETTERS_TEST_OF(&in_history, "/pipeline-policies/future/A18-history-only-and-again-when-read-again")
{
  test_future(fixture, data);
}

/* A sender whose clock is a day ahead gives its records the same wrong time: its readings are kept as dead letters,
 * whatever on_future says, and the latest row goes on with what others say. */
static void
test_sender_ahead(PipelineFixture *fixture, gconstpointer data)
{
  const FutureCase *at = data;
  gint64 now_ms = tide_wall_clock_epoch_ms(), ahead_ms = now_ms + 24 * HOUR_MS;
  produce_reading(fixture, ahead_ms, "host0", ahead_ms, "ahead");
  produce_reading(fixture, now_ms, "host0", now_ms, "now");
  RunningPipeline *running = running_pipeline_start(fixture, 1, at->options);
  pipeline_fixture_wait_all_committed(fixture);
  running_pipeline_assert_accounting_balances(running);
  g_assert_cmpuint(running_pipeline_sum(running, "tidemark_messages_dead_lettered_total"), ==, 1);
  running_pipeline_end(running);
  pipeline_fixture_assert_value(fixture, "CURRENT_METRIC", "host0", "v", "now");
  g_assert_cmpuint(fake_hbase_row_count(fixture->hbase, "METRIC"), ==, 1);
  assert_dead_letters(fixture, "0 time_future -");
}

LETTERS_TEST_OF(&rejected, "/pipeline-policies/F10/A18-a-sender-ahead-is-a-dead-letter")
{
  test_sender_ahead(fixture, data);
}

LETTERS_TEST_OF(&in_history, "/pipeline-policies/F10/A18-a-sender-ahead-is-no-history")
{
  test_sender_ahead(fixture, data);
}
