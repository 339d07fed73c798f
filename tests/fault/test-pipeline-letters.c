/* The whole pipeline with messages that can never be written: they become dead letters, byte for byte and before their
 * offsets move, and nobody else does, whoever shared a call or a row with them. */
#include "fault/pipeline_mixture.h"
#include "model/letter.h"
#include "util/clock.h"

#define LETTERS "letters"
#define TO_TOPIC "dead_letters: { topic: " LETTERS ", max_ratio: 1 }\n"

/* What HBase takes in one cell, in these tests. */
#define MAX_CELL_BYTES 100

static void
set_up(PipelineFixture *fixture, gconstpointer data)
{
  pipeline_fixture_set_up(fixture, data);
  mock_kafka_create_topic(fixture->kafka, LETTERS, 1);
  scripted_gateway_create_table(fixture->gateways[0], "INDEX", "M", NULL);
  fake_hbase_set_max_cell_bytes(fixture->hbase, MAX_CELL_BYTES);
}

/* A value that HBase refuses. (transfer full) */
static char *
oversized(void)
{
  return g_strnfill(MAX_CELL_BYTES + 1, 'x');
}

static void
produce_oversized(PipelineFixture *fixture, gint32 partition, const char *host, gint64 time_ms)
{
  g_autofree char *value = oversized();
  pipeline_fixture_produce(fixture, partition, host, time_ms, value);
}

static void
assert_bytes(GBytes *found, TideBytes wanted)
{
  g_assert_nonnull(found);
  gsize len;
  gconstpointer data = g_bytes_get_data(found, &len);
  g_assert_true(tide_bytes_equal(tide_bytes(data, len), wanted));
}

static void
assert_header(const TideMockRecord *letter, const char *name, const char *wanted)
{
  g_autoptr(GBytes) value = mock_record_header(letter, name);
  if (wanted == NULL)
    g_assert_null(value);
  else
    assert_bytes(value, tide_bytes_of_string(wanted));
}

static GPtrArray *
read_letters(PipelineFixture *fixture)
{
  return mock_kafka_read_topic(fixture->kafka, LETTERS, 1, pipeline_fixture_deadline_us());
}

/* Exactly one letter, of that message. */
static void
assert_only_letter(PipelineFixture *fixture, const char *partition, const char *offset)
{
  g_autoptr(GPtrArray) letters = read_letters(fixture);
  g_assert_cmpuint(letters->len, ==, 1);
  assert_header(g_ptr_array_index(letters, 0), TIDE_LETTER_HEADER_TOPIC, FIXTURE_TOPIC);
  assert_header(g_ptr_array_index(letters, 0), TIDE_LETTER_HEADER_PARTITION, partition);
  assert_header(g_ptr_array_index(letters, 0), TIDE_LETTER_HEADER_OFFSET, offset);
  assert_header(g_ptr_array_index(letters, 0), TIDE_LETTER_HEADER_REASON, TIDE_LETTER_REASON_REFUSED);
}

static void
assert_value(PipelineFixture *fixture, const char *table, const char *row, const char *qualifier, const char *wanted)
{
  g_autoptr(GBytes) value = fake_hbase_value(fixture->hbase, table, row, "M", qualifier, NULL);
  if (wanted == NULL)
    g_assert_null(value);
  else
    assert_bytes(value, tide_bytes_of_string(wanted));
}

static guint64
sum_of(RunningPipeline *running, const char *metric)
{
  return tide_metrics_sum(running->metrics, metric, NULL);
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
assert_is_bad_message(const TideMockRecord *letter)
{
  assert_bytes(letter->key, TIDE_BYTES_LITERAL(BAD_KEY));
  assert_bytes(letter->payload, TIDE_BYTES_LITERAL(BAD_VALUE));
  const char *name;
  const void *value;
  size_t size;
  g_assert_cmpint(rd_kafka_header_get_all(letter->headers, 0, &name, &value, &size), ==, RD_KAFKA_RESP_ERR_NO_ERROR);
  g_assert_cmpstr(name, ==, "trace");
  g_assert_true(tide_bytes_equal(tide_bytes(value, size), TIDE_BYTES_LITERAL("a\x00z")));
  g_assert_cmpint(rd_kafka_header_get_all(letter->headers, 1, &name, &value, &size), ==, RD_KAFKA_RESP_ERR_NO_ERROR);
  g_assert_cmpstr(name, ==, "trace");
  g_assert_cmpuint(size, ==, 0);
  g_autofree char *timestamp = g_strdup_printf("%" G_GINT64_FORMAT, PIPELINE_BASE_MS);
  assert_header(letter, TIDE_LETTER_HEADER_REASON, "utf8");
  assert_header(letter, TIDE_LETTER_HEADER_OFFSET, "1");
  assert_header(letter, TIDE_LETTER_HEADER_TIMESTAMP, timestamp);
  assert_header(letter, TIDE_LETTER_HEADER_TABLE, NULL);
  assert_header(letter, TIDE_LETTER_HEADER_ATTEMPTS, "0");
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
  gint64 deadline_us = pipeline_fixture_deadline_us();
  g_assert_true(fake_hbase_wait_rows(fixture->hbase, "METRIC", 2, deadline_us));
  g_assert_true(mock_kafka_wait_committed(fixture->kafka, FIXTURE_GROUP, FIXTURE_TOPIC, 0, 1, deadline_us));
  running_pipeline_wait_metric(running, "tidemark_dead_letters_waiting", 1);
  running_pipeline_wait_metric(running, "tidemark_messages_written_total", 2);
  running_pipeline_assert_books_balance(running);
  g_assert_cmpint(mock_kafka_committed(fixture->kafka, FIXTURE_GROUP, FIXTURE_TOPIC, 0, deadline_us), ==, 1);
  mock_kafka_clear_errors(fixture->kafka, TIDE_KAFKA_PRODUCE);
  pipeline_fixture_wait_all_committed(fixture);
  g_assert_cmpuint(sum_of(running, "tidemark_messages_dead_lettered_total"), ==, 1);
  g_assert_cmpuint(tide_metrics_sum(running->metrics, "tidemark_messages_dead_lettered_total", "reason=\"utf8\""), ==,
                   1);
  g_assert_cmpint(running_pipeline_stop(running, 10000), ==, 0);
  g_autoptr(GPtrArray) letters = read_letters(fixture);
  g_assert_cmpuint(letters->len, ==, 1);
  assert_is_bad_message(g_ptr_array_index(letters, 0));
}

static gboolean
is_held(const TidePipelineState *state, gpointer data)
{
  return state->any_held;
}

static void
test_without_a_place_for_letters_the_partition_holds(PipelineFixture *fixture, gconstpointer data)
{
  produce_bad(fixture);
  pipeline_fixture_produce(fixture, 1, "host1", PIPELINE_BASE_MS, "other");
  produce_oversized(fixture, 1, "host2", PIPELINE_BASE_MS);
  pipeline_fixture_flush(fixture);
  RunningPipeline *running = running_pipeline_start(fixture, 1, NULL);
  running_pipeline_wait(running, is_held, NULL);
  running_pipeline_wait_metric(running, "tidemark_messages_held_total", 2);
  gint64 deadline_us = pipeline_fixture_deadline_us();
  g_assert_true(mock_kafka_wait_committed(fixture->kafka, FIXTURE_GROUP, FIXTURE_TOPIC, 1, 1, deadline_us));
  running_pipeline_wait(running, is_held, NULL);
  TidePipelineState state = tide_pipeline_state(running->pipeline);
  g_assert_nonnull(strstr(state.reason, "partition 0 stands still at offset 0"));
  g_assert_nonnull(strstr(state.reason, "partition 1 stands still at offset 1: HBase refuses its row 'host2"));
  g_assert_nonnull(strstr(state.reason, "neither dead_letters.topic nor a file is there"));
  tide_pipeline_state_clear(&state);
  g_assert_cmpint(running_pipeline_stop(running, 0), ==, 75); /* the refused one is unfinished */
}

#define READINGS_ALONE "readings: { format: json, time: { field: ts, format: epoch_ms }, on_bad_reading: reading }\n"

/* One of three readings is bad, in one message; in another all of them are. */
static void
test_bad_readings_are_kept_alone(PipelineFixture *fixture, gconstpointer data)
{
  static const char some[] = "[{\"host\":\"host0\",\"ts\":1763700000000,\"v\":1},{\"host\":\"host0\",\"v\":2},"
                             "{\"host\":\"host0\",\"ts\":1763700001000,\"v\":3}]";
  pipeline_fixture_produce_raw(fixture, 0, some);
  pipeline_fixture_produce_raw(fixture, 0, "[{\"host\":\"x\"},{\"host\":\"y\"}]");
  RunningPipeline *running = running_pipeline_start(fixture, 1, TO_TOPIC READINGS_ALONE);
  pipeline_fixture_wait_all_committed(fixture);
  g_assert_cmpuint(sum_of(running, "tidemark_messages_dead_lettered_total"), ==, 2);
  g_assert_cmpuint(sum_of(running, "tidemark_readings_dead_lettered_total"), ==, 3);
  g_assert_cmpuint(sum_of(running, "tidemark_readings_written_total"), ==, 2);
  g_assert_cmpint(running_pipeline_stop(running, 10000), ==, 0);
  g_assert_cmpuint(fake_hbase_row_count(fixture->hbase, "METRIC"), ==, 2);
  g_autoptr(GPtrArray) letters = read_letters(fixture);
  g_assert_cmpuint(letters->len, ==, 3);
  const TideMockRecord *letter = g_ptr_array_index(letters, 0);
  assert_bytes(letter->payload, tide_bytes_of_string(some));
  assert_header(letter, TIDE_LETTER_HEADER_READING, "1");
  assert_header(letter, TIDE_LETTER_HEADER_REASON, "missing_field");
}

/* ---- refused by HBase ---- */

/* Three of ten thousand, in two tables each. */
static void
test_guilty_among_ten_thousand_are_dead_lettered_alone(PipelineFixture *fixture, gconstpointer data)
{
  for (guint i = 0; i < 10000; i++) {
    g_autofree char *host = g_strdup_printf("host%u", i % 1000);
    if (i % 4000 == 1234)
      produce_oversized(fixture, (gint32)(i % 2), host, PIPELINE_BASE_MS + i);
    else
      pipeline_fixture_produce(fixture, (gint32)(i % 2), host, PIPELINE_BASE_MS + i, "good");
  }
  pipeline_fixture_flush(fixture);
  RunningPipeline *running = running_pipeline_start(fixture, FIXTURE_GATEWAYS, TO_TOPIC);
  pipeline_fixture_wait_all_committed(fixture);
  g_assert_cmpuint(sum_of(running, "tidemark_messages_dead_lettered_total"), ==, 3);
  g_assert_cmpuint(sum_of(running, "tidemark_readings_dead_lettered_total"), ==, 3);
  g_assert_cmpuint(sum_of(running, "tidemark_messages_written_total"), ==, 9997);
  g_assert_cmpint(running_pipeline_stop(running, 10000), ==, 0);
  g_assert_cmpuint(fake_hbase_row_count(fixture->hbase, "METRIC"), ==, 9997);
  g_assert_cmpuint(fake_hbase_row_count(fixture->hbase, "CURRENT_METRIC"), ==, 1000);
  assert_value(fixture, "CURRENT_METRIC", "host234", "v", "good");
  g_autoptr(GPtrArray) letters = read_letters(fixture);
  g_assert_cmpuint(letters->len, ==, 3);
  for (guint i = 0; i < letters->len; i++) {
    const TideMockRecord *letter = g_ptr_array_index(letters, i);
    assert_header(letter, TIDE_LETTER_HEADER_REASON, TIDE_LETTER_REASON_REFUSED);
    g_autoptr(GBytes) offset = mock_record_header(letter, TIDE_LETTER_HEADER_OFFSET);
    g_autofree char *text = g_strndup(g_bytes_get_data(offset, NULL), g_bytes_get_size(offset));
    g_assert_cmpuint(g_ascii_strtoull(text, NULL, 10) % 2000, ==, 617);
  }
}

static void
produce_field(PipelineFixture *fixture, guint second, const char *field, const char *value)
{
  g_autofree char *payload = g_strdup_printf("{\"host\":\"host1\",\"ts\":%" G_GINT64_FORMAT ",\"%s\":\"%s\"}",
                                             PIPELINE_BASE_MS + second * 1000, field, value);
  pipeline_fixture_produce_raw(fixture, 0, payload);
}

/* Three messages meet in one latest row, which is refused for one of them. Its data row is refused, too: one letter. */
static void
test_of_a_shared_latest_row_only_the_guilty_is_dead_lettered(PipelineFixture *fixture, gconstpointer data)
{
  g_autofree char *value = oversized();
  produce_field(fixture, 1, "a", "first");
  produce_field(fixture, 2, "b", value);
  produce_field(fixture, 3, "c", "third");
  pipeline_fixture_flush(fixture);
  RunningPipeline *running =
      running_pipeline_start(fixture, FIXTURE_GATEWAYS, TO_TOPIC "batch: { latest_window: 1s }\n");
  pipeline_fixture_wait_all_committed(fixture);
  g_assert_cmpuint(sum_of(running, "tidemark_messages_written_total"), ==, 2);
  g_assert_cmpint(running_pipeline_stop(running, 10000), ==, 0);
  assert_only_letter(fixture, "0", "1");
  assert_value(fixture, "CURRENT_METRIC", "host1", "a", "first");
  assert_value(fixture, "CURRENT_METRIC", "host1", "b", NULL);
  assert_value(fixture, "CURRENT_METRIC", "host1", "c", "third");
  g_assert_cmpuint(fake_hbase_row_count(fixture->hbase, "METRIC"), ==, 2);
}

#define WITH_INDEX                                                                                                     \
  "tables:\n"                                                                                                          \
  "  METRIC: { key: [ { field: host }, \"#\", { time: epoch_ms } ], columns: { family: M, from: \"*\" } }\n"           \
  "  INDEX: { latest: merge, index_of: METRIC, key: [ { field: host } ],"                                              \
  " columns: { family: M, from: [ { value: { time: epoch_ms }, as: ts } ] } }\n"

static void
test_index_does_not_name_a_refused_row(PipelineFixture *fixture, gconstpointer data)
{
  produce_oversized(fixture, 0, "guilty", PIPELINE_BASE_MS);
  pipeline_fixture_produce(fixture, 0, "innocent", PIPELINE_BASE_MS, "good");
  RunningPipeline *running = running_pipeline_start(fixture, 1, TO_TOPIC WITH_INDEX);
  pipeline_fixture_wait_all_committed(fixture);
  g_assert_cmpint(running_pipeline_stop(running, 10000), ==, 0);
  g_assert_cmpuint(fake_hbase_row_count(fixture->hbase, "METRIC"), ==, 1);
  g_assert_cmpuint(fake_hbase_row_count(fixture->hbase, "INDEX"), ==, 1);
  assert_value(fixture, "INDEX", "guilty", "ts", NULL);
  assert_only_letter(fixture, "0", "0");
}

/* Two messages make one data row; the index row of the innocent one is written with its part of it. */
static void
test_index_names_the_row_of_an_innocent(PipelineFixture *fixture, gconstpointer data)
{
  g_autofree char *value = oversized();
  produce_field(fixture, 1, "a", "innocent");
  produce_field(fixture, 1, "b", value);
  pipeline_fixture_flush(fixture);
  RunningPipeline *running = running_pipeline_start(fixture, 1, TO_TOPIC WITH_INDEX);
  pipeline_fixture_wait_all_committed(fixture);
  g_assert_cmpint(running_pipeline_stop(running, 10000), ==, 0);
  g_autofree char *row = g_strdup_printf("host1#%" G_GINT64_FORMAT, PIPELINE_BASE_MS + 1000);
  g_autofree char *time = g_strdup_printf("%" G_GINT64_FORMAT, PIPELINE_BASE_MS + 1000);
  assert_value(fixture, "METRIC", row, "a", "innocent");
  assert_value(fixture, "METRIC", row, "b", NULL);
  assert_value(fixture, "INDEX", "host1", "ts", time);
  assert_only_letter(fixture, "0", "1");
}

/* ---- F1: many readings in a message, many rows refused ---- */

#define N_MACHINES 6

#define LATEST_WITH_INDEX                                                                                              \
  "tables:\n"                                                                                                          \
  "  METRIC: { key: [ { field: host }, \"#\", { time: epoch_ms } ], columns: { family: M, from: \"*\" } }\n"           \
  "  CURRENT_METRIC: { latest: merge, key: [ { field: host } ], columns: { family: M, from: \"*\" } }\n"               \
  "  INDEX: { latest: merge, index_of: METRIC, key: [ \"of-\", { field: host } ],"                                     \
  " columns: { family: M, from: [ { value: { time: epoch_ms }, as: ts } ] } }\n"                                       \
  "batch: { latest_window: 1s }\n"

/* One message with a reading of each machine, in column @field. @refused: bit i: that of machine i is too large. */
static void
produce_array(PipelineFixture *fixture, guint second, const char *field, guint refused)
{
  g_autofree char *large = oversized();
  g_autoptr(GString) payload = g_string_new("[");
  for (guint i = 0; i < N_MACHINES; i++)
    g_string_append_printf(payload, "%s{\"host\":\"host%u\",\"ts\":%" G_GINT64_FORMAT ",\"%s\":\"%s\"}",
                           i > 0 ? "," : "", i, PIPELINE_BASE_MS + second * 1000, field,
                           (refused >> i & 1) != 0 ? large : "good");
  g_string_append_c(payload, ']');
  pipeline_fixture_produce_raw(fixture, 0, payload->str);
}

/* The latest row of each machine has the innocent messages' cells, and its index names the newest time written. */
static void
assert_innocent_cells(PipelineFixture *fixture, guint newest_second)
{
  g_autofree char *time = g_strdup_printf("%" G_GINT64_FORMAT, PIPELINE_BASE_MS + newest_second * 1000);
  for (guint i = 0; i < N_MACHINES; i++) {
    g_autofree char *host = g_strdup_printf("host%u", i);
    g_autofree char *index = g_strdup_printf("of-host%u", i);
    g_autofree char *row = g_strdup_printf("host%u#%" G_GINT64_FORMAT, i, PIPELINE_BASE_MS + 1000);
    assert_value(fixture, "METRIC", row, "a", "good");
    assert_value(fixture, "CURRENT_METRIC", host, "a", "good");
    assert_value(fixture, "INDEX", index, "ts", time);
  }
}

/* Two messages share six rows of data and six latest rows, and HBase refuses all that the second has in them. */
static void
test_f1_each_shared_row_keeps_the_innocent_part(PipelineFixture *fixture, gconstpointer data)
{
  produce_array(fixture, 1, "a", 0);
  produce_array(fixture, 1, "b", (1u << N_MACHINES) - 1);
  pipeline_fixture_flush(fixture);
  RunningPipeline *running = running_pipeline_start(fixture, 1, TO_TOPIC LATEST_WITH_INDEX);
  pipeline_fixture_wait_all_committed(fixture);
  g_assert_cmpuint(sum_of(running, "tidemark_messages_written_total"), ==, 1);
  g_assert_cmpuint(sum_of(running, "tidemark_messages_dead_lettered_total"), ==, 1);
  g_assert_cmpint(running_pipeline_stop(running, 10000), ==, 0);
  assert_innocent_cells(fixture, 1);
  for (guint i = 0; i < N_MACHINES; i++) {
    g_autofree char *host = g_strdup_printf("host%u", i);
    assert_value(fixture, "CURRENT_METRIC", host, "b", NULL);
  }
  assert_only_letter(fixture, "0", "1");
}

/* Three messages share the rows; the second is refused in some of them, and the third is newer. */
static void
test_f1_message_refused_in_some_rows_ends_once(PipelineFixture *fixture, gconstpointer data)
{
  produce_array(fixture, 1, "a", 0);
  produce_array(fixture, 1, "b", 1u << 1 | 1u << 4);
  produce_array(fixture, 3, "c", 0);
  pipeline_fixture_flush(fixture);
  RunningPipeline *running = running_pipeline_start(fixture, FIXTURE_GATEWAYS, TO_TOPIC LATEST_WITH_INDEX);
  pipeline_fixture_wait_all_committed(fixture);
  g_assert_cmpuint(sum_of(running, "tidemark_messages_written_total"), ==, 2);
  g_assert_cmpuint(sum_of(running, "tidemark_messages_dead_lettered_total"), ==, 1);
  g_assert_cmpint(running_pipeline_stop(running, 10000), ==, 0);
  assert_innocent_cells(fixture, 3);
  for (guint i = 0; i < N_MACHINES; i++) {
    g_autofree char *host = g_strdup_printf("host%u", i);
    assert_value(fixture, "CURRENT_METRIC", host, "c", "good");
  }
  assert_only_letter(fixture, "0", "1");
}

/* ---- of a row that hundreds were merged into ---- */

#define N_MERGED 400
#define HALVINGS 9 /* of N_MERGED, until one stands alone */

#define ONLY_LATEST                                                                                                    \
  "tables:\n"                                                                                                          \
  "  CURRENT_METRIC: { latest: merge, key: [ { field: host } ], columns: { family: M, from: \"*\" } }\n"               \
  "batch: { latest_window: 1s }\n"

static const guint one_guilty[] = {201, 0}, three_guilty[] = {1, 200, 399, 0};

/* One row, a column for each message. @guilty: which, from 1 on; 0 ends it. */
static void
produce_merged(PipelineFixture *fixture, const guint *guilty)
{
  g_autofree char *large = oversized();
  for (guint i = 1; i <= N_MERGED; i++) {
    gboolean is_guilty = FALSE;
    for (const guint *at = guilty; *at != 0; at++)
      is_guilty |= *at == i;
    g_autofree char *payload = g_strdup_printf("{\"host\":\"host1\",\"ts\":%" G_GINT64_FORMAT ",\"f%03u\":\"%s\"}",
                                               PIPELINE_BASE_MS + i, i, is_guilty ? large : "good");
    pipeline_fixture_produce_raw(fixture, (gint32)(i % 2), payload);
  }
  pipeline_fixture_flush(fixture);
}

static guint64
puts_seen(PipelineFixture *fixture)
{
  guint64 n = 0;
  for (guint i = 0; i < FIXTURE_GATEWAYS; i++) {
    TideGatewayStats stats;
    scripted_gateway_stats(fixture->gateways[i], &stats);
    n += stats.calls_by_method[TIDE_CALL_PUT_MULTIPLE];
  }
  return n;
}

/* The cells of all innocents, and none of the guilty; the letters of these, once each. */
static void
assert_merged(PipelineFixture *fixture, const guint *guilty)
{
  guint n_guilty = 0;
  g_autoptr(GPtrArray) letters = read_letters(fixture);
  for (; guilty[n_guilty] != 0; n_guilty++) {
    g_autofree char *field = g_strdup_printf("f%03u", guilty[n_guilty]);
    g_autofree char *name = g_strdup_printf("\"%s\"", field);
    assert_value(fixture, "CURRENT_METRIC", "host1", field, NULL);
    guint n_letters = 0;
    for (guint i = 0; i < letters->len; i++) {
      const TideMockRecord *letter = g_ptr_array_index(letters, i);
      gsize len;
      const char *payload = g_bytes_get_data(letter->payload, &len);
      n_letters += g_strstr_len(payload, (gssize)len, name) != NULL;
    }
    g_assert_cmpuint(n_letters, ==, 1);
  }
  g_assert_cmpuint(letters->len, ==, n_guilty);
  g_autofree char *dump = fake_hbase_dump(fixture->hbase, "CURRENT_METRIC", FALSE);
  g_auto(GStrv) cells = g_strsplit(dump, "\tgood\n", -1);
  g_assert_cmpuint(g_strv_length(cells) - 1, ==, N_MERGED - n_guilty);
}

static void
test_of_hundreds_merged_few_calls_find_the_guilty(PipelineFixture *fixture, gconstpointer data)
{
  const guint *guilty = data;
  guint n_guilty = 0;
  while (guilty[n_guilty] != 0)
    n_guilty++;
  produce_merged(fixture, guilty);
  RunningPipeline *running = running_pipeline_start(fixture, FIXTURE_GATEWAYS, TO_TOPIC ONLY_LATEST);
  pipeline_fixture_wait_all_committed(fixture);
  g_assert_cmpuint(sum_of(running, "tidemark_messages_dead_lettered_total"), ==, n_guilty);
  g_assert_cmpuint(sum_of(running, "tidemark_messages_written_total"), ==, N_MERGED - n_guilty);
  g_assert_cmpuint(sum_of(running, "tidemark_dead_letters_innocent_total"), >, 0);
  g_assert_cmpint(running_pipeline_stop(running, 10000), ==, 0);
  /* What is read in two polls may become two rows, and be tried in several parts: some calls more. */
  g_assert_cmpuint(puts_seen(fixture), <=, 2 * n_guilty * HALVINGS + 20);
  assert_merged(fixture, guilty);
}

/* The gateways fall silent while the row is on trial: a stop does not wait for them, and nothing of it is lost. */
static void
test_stop_during_a_trial_leaves_all_to_the_next_start(PipelineFixture *fixture, gconstpointer data)
{
  static const guint guilty[] = {77, 0};
  produce_merged(fixture, guilty);
  TideScriptedFault silence = {.kind = TIDE_FAULT_SILENCE, .call = TIDE_CALL_PUT_MULTIPLE, .skip_calls = 4};
  guint id = scripted_gateway_add_fault(fixture->gateways[0], &silence);
  RunningPipeline *running = running_pipeline_start(fixture, 1, TO_TOPIC ONLY_LATEST);
  g_assert_true(scripted_gateway_wait_fault_hits(fixture->gateways[0], id, 1, pipeline_fixture_deadline_us()));
  gint64 start_us = tide_now_us();
  g_assert_cmpint(running_pipeline_stop(running, 2000), ==, 75);
  g_assert_cmpint(tide_now_us() - start_us, <, 8 * TIDE_US_PER_S);
  scripted_gateway_clear_faults(fixture->gateways[0]);
  running = running_pipeline_start(fixture, 1, TO_TOPIC ONLY_LATEST);
  pipeline_fixture_wait_all_committed(fixture);
  g_assert_cmpint(running_pipeline_stop(running, 10000), ==, 0);
  assert_merged(fixture, guilty);
}

/* ---- repeated, and too many ---- */

/* The letter is kept and its offset is not committed: whoever reads on writes it again, and then it is. */
static void
test_letter_comes_again_when_its_offset_was_not_committed(PipelineFixture *fixture, gconstpointer data)
{
  produce_oversized(fixture, 0, "host1", PIPELINE_BASE_MS);
  pipeline_fixture_flush(fixture);
  mock_kafka_push_errors(fixture->kafka, TIDE_KAFKA_OFFSET_COMMIT, RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED,
                         100000);
  RunningPipeline *running = running_pipeline_start(fixture, 1, TO_TOPIC);
  running_pipeline_wait_metric(running, "tidemark_messages_dead_lettered_total", 1);
  running_pipeline_stop(running, 100);
  mock_kafka_clear_errors(fixture->kafka, TIDE_KAFKA_OFFSET_COMMIT);
  running = running_pipeline_start(fixture, 1, TO_TOPIC);
  pipeline_fixture_wait_all_committed(fixture);
  g_assert_cmpuint(sum_of(running, "tidemark_messages_dead_lettered_total"), ==, 1);
  g_assert_cmpint(running_pipeline_stop(running, 10000), ==, 0);
  g_autoptr(GPtrArray) letters = read_letters(fixture);
  g_assert_cmpuint(letters->len, ==, 2);
  for (guint i = 0; i < letters->len; i++)
    assert_header(g_ptr_array_index(letters, i), TIDE_LETTER_HEADER_OFFSET, "0");
}

static gboolean
has_too_many_letters(const TidePipelineState *state, gpointer data)
{
  return state->reason != NULL && strstr(state->reason, "dead_letters.max_ratio") != NULL;
}

static gboolean
is_paused(const TidePipelineState *state, gpointer data)
{
  return strstr(state->status, "paused 2") != NULL;
}

/* As with a wrong configuration: nearly every message is bad. */
static void
test_too_many_letters_stop_everything_until_a_restart(PipelineFixture *fixture, gconstpointer data)
{
  for (guint i = 0; i < 1500; i++)
    pipeline_fixture_produce_raw(fixture, (gint32)(i % 2), "nonsense");
  pipeline_fixture_flush(fixture);
  RunningPipeline *running =
      running_pipeline_start(fixture, 1, "dead_letters: { topic: " LETTERS ", max_ratio: 0.1 }\n");
  running_pipeline_wait(running, has_too_many_letters, NULL);
  running_pipeline_wait(running, is_paused, NULL);
  TidePipelineState state = tide_pipeline_state(running->pipeline);
  g_assert_false(state.ready);
  tide_pipeline_state_clear(&state);
  g_assert_cmpuint(sum_of(running, "tidemark_messages_dead_lettered_total"), <, 1000);
  g_assert_cmpint(running_pipeline_stop(running, 100), ==, 75);
  running = running_pipeline_start(fixture, 1, TO_TOPIC);
  pipeline_fixture_wait_all_committed(fixture);
  g_assert_cmpint(running_pipeline_stop(running, 10000), ==, 0);
  g_autoptr(GPtrArray) letters = read_letters(fixture);
  g_assert_cmpuint(letters->len, >=, 1500); /* some twice: they were kept, and their offsets not committed */
}

#define ADD_DATA(path, func, data)                                                                                     \
  g_test_add("/pipeline-letters/" path, PipelineFixture, data, set_up, func, pipeline_fixture_tear_down)
#define ADD(path, func) ADD_DATA(path, func, NULL)

int
main(int argc, char **argv)
{
  pipeline_fixture_init(&argc, &argv);
  ADD("rejected/bad-message-is-kept-byte-for-byte-before-its-offset-moves",
      test_bad_message_is_kept_byte_for_byte_before_its_offset_moves);
  ADD("rejected/without-a-place-for-letters-the-partition-holds", test_without_a_place_for_letters_the_partition_holds);
  ADD("rejected/bad-readings-are-kept-alone", test_bad_readings_are_kept_alone);
  ADD("refused/guilty-among-ten-thousand-are-dead-lettered-alone",
      test_guilty_among_ten_thousand_are_dead_lettered_alone);
  ADD("refused/of-a-shared-latest-row-only-the-guilty-is-dead-lettered",
      test_of_a_shared_latest_row_only_the_guilty_is_dead_lettered);
  ADD("refused/index-does-not-name-a-refused-row", test_index_does_not_name_a_refused_row);
  ADD("refused/index-names-the-row-of-an-innocent", test_index_names_the_row_of_an_innocent);
  ADD("F1/each-shared-row-keeps-the-innocent-part", test_f1_each_shared_row_keeps_the_innocent_part);
  ADD("F1/message-refused-in-some-rows-ends-once", test_f1_message_refused_in_some_rows_ends_once);
  ADD_DATA("merged/few-calls-find-one-guilty", test_of_hundreds_merged_few_calls_find_the_guilty, one_guilty);
  ADD_DATA("merged/few-calls-find-three-guilty", test_of_hundreds_merged_few_calls_find_the_guilty, three_guilty);
  ADD("merged/stop-during-a-trial-leaves-all-to-the-next-start", test_stop_during_a_trial_leaves_all_to_the_next_start);
  ADD("many/letter-comes-again-when-its-offset-was-not-committed",
      test_letter_comes_again_when_its_offset_was_not_committed);
  ADD("many/too-many-letters-stop-everything-until-a-restart", test_too_many_letters_stop_everything_until_a_restart);
  return g_test_run();
}
