/* The dead-letter queue with a mock Kafka and a scripted gateway: the contents of the topic, what is read again, and
 * which message is at fault. */
#include "dead_letters/dead_letter_queue.h"
#include "dead_letters/kafka_originals.h"
#include "fault/pipeline/pipeline_fixture.h"
#include "thrift/wire/put_encoder.h"
#include "unit/load_text.h"
#include "util/clock.h"

/* A reading of host1, and the row that it makes. */
#define TIME_MS G_GINT64_CONSTANT(1785069296000)
#define ROW_KEY "host1#1785069296000"
#define ROW_KEY_HEX "686f7374312331373835303639323936303030"

typedef struct Fixture {
  PipelineFixture outside;
  TideConfig *config;
  TideMetrics *metrics;
  TideBudget budget;
  TideDeadLetterQueue *dead_letters;
  TideDeadLetterCompletions box;
  TideDeadLetterJob *completions; /* completed, the last one first */
  guint n_completed;
} Fixture;

/* @data: the configured max_ratio */
static void
prepare(Fixture *fixture, gconstpointer data)
{
  pipeline_fixture_set_up_letters(&fixture->outside, NULL);
  g_autofree char *options =
      g_strdup_printf("dead_letters: { topic: " DEAD_LETTERS ", max_ratio: %s }\n", (const char *)data);
  g_autofree char *yaml =
      pipeline_fixture_yaml(&fixture->outside, &(RunningPipelineOptions){.gateways = 1, .options = options});
  fixture->config = load_text(yaml);
  fixture->metrics = tide_metrics_new();
  tide_budget_init(&fixture->budget, 1 << 26);
  TideDeadLetterQueueContext context = {
      .config = fixture->config, .budget = &fixture->budget, .metrics = fixture->metrics};
  fixture->dead_letters = tide_dead_letter_queue_new(&context);
  tide_dead_letter_completions_init(&fixture->box, NULL, NULL);
}

static void
start(Fixture *fixture)
{
  g_autoptr(GError) error = NULL;
  g_assert_true(tide_dead_letter_queue_start(fixture->dead_letters, TIDE_WIRE_BINARY, &error));
}

static void
set_up(Fixture *fixture, gconstpointer data)
{
  prepare(fixture, data);
  start(fixture);
}

/* The first producer hears after a while that it may not send anything. */
static void
set_up_failing_producer(Fixture *fixture, gconstpointer data)
{
  prepare(fixture, data);
  mock_kafka_delay_request(fixture->outside.kafka, 1, TIDE_KAFKA_INIT_PRODUCER_ID,
                           RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED, 1000);
  start(fixture);
}

static void
tear_down(Fixture *fixture, gconstpointer data)
{
  tide_dead_letter_queue_free(fixture->dead_letters);
  for (TideDeadLetterJob *job = fixture->completions, *next; job != NULL; job = next) {
    next = job->next;
    tide_dead_letter_job_free(job);
  }
  tide_dead_letter_completions_clear(&fixture->box);
  g_assert_cmpuint(tide_budget_used_racy(&fixture->budget), ==, 0);
  tide_config_free(fixture->config);
  tide_metrics_free(fixture->metrics);
  pipeline_fixture_tear_down(&fixture->outside, NULL);
}

#define FAILING_PRODUCER_TEST(path) TEST_OF(Fixture, "1", set_up_failing_producer, tear_down, path)

#define FIXTURE_TEST(path) TEST_OF(Fixture, "1", set_up, tear_down, path)

static TideDeadLetter
dead_letter_at(gint64 offset)
{
  return (TideDeadLetter){.topic = TIDE_BYTES_LITERAL(FIXTURE_TOPIC),
                          .offset = offset,
                          .timestamp_ms = -1,
                          .reading_index = -1,
                          .reason = TIDE_BYTES_LITERAL("refused_by_hbase"),
                          .text = TIDE_BYTES_LITERAL("the gateway says no"),
                          .table = TIDE_BYTES_LITERAL("METRIC"),
                          .row_key = TIDE_BYTES_LITERAL(ROW_KEY),
                          .attempts = 3};
}

static TideDeadLetterJob *
job_of(Fixture *fixture, const TideDeadLetter *dead_letter)
{
  TideSourceRef source = {.assignment = 2, .sequence = (guint32)dead_letter->offset};
  return tide_dead_letter_job_new(dead_letter, source, 1, &fixture->box);
}

static void
await_completed(Fixture *fixture, guint n)
{
  gint64 deadline_us = pipeline_fixture_deadline_us();
  while (fixture->n_completed < n) {
    for (TideDeadLetterJob *job = tide_dead_letter_completions_take(&fixture->box), *next; job != NULL; job = next) {
      next = job->next;
      job->next = fixture->completions;
      fixture->completions = job;
      fixture->n_completed++;
    }
    if (fixture->n_completed < n)
      pipeline_fixture_wait_a_little(deadline_us, "the dead letters' completion");
  }
}

static GPtrArray *
read_dead_letters(Fixture *fixture, guint n)
{
  GPtrArray *records = pipeline_fixture_read_letters(&fixture->outside);
  g_assert_cmpuint(records->len, ==, n);
  return records;
}

/* The header at @index, by its bytes. */
static void
assert_header_at(const TideMockRecord *record, gsize index, const char *name, const void *value, gsize len)
{
  const char *got_name = NULL;
  const void *got = NULL;
  size_t got_len = 0;
  g_assert_cmpint(rd_kafka_header_get_all(record->headers, index, &got_name, &got, &got_len), ==,
                  RD_KAFKA_RESP_ERR_NO_ERROR);
  g_assert_cmpstr(got_name, ==, name);
  g_assert_true((got == NULL) == (value == NULL));
  g_assert_true(tide_bytes_equal(tide_bytes(got, got_len), tide_bytes(value, len)));
}

/* ---- the topic ---- */

FIXTURE_TEST("/dead-letter-queue/topic/has-the-original-byte-for-byte")
{
  const TideDeadLetterHeader headers[] = {
      {TIDE_BYTES_LITERAL("trace"), TIDE_BYTES_LITERAL("\x00\xff"), TRUE},
      {TIDE_BYTES_LITERAL("tidemark-reason"), TIDE_BYTES_LITERAL("an older dead letter's"), TRUE},
      {TIDE_BYTES_LITERAL("none"), TIDE_BYTES_EMPTY, FALSE},
      {TIDE_BYTES_LITERAL("empty"), TIDE_BYTES_EMPTY, TRUE},
  };
  TideDeadLetter dead_letter = dead_letter_at(7);
  dead_letter.timestamp_ms = 1785069296123;
  dead_letter.key = TIDE_BYTES_LITERAL("k\0\xfe");
  dead_letter.value = TIDE_BYTES_LITERAL("{\"v\": \x80\n\0");
  dead_letter.has_key = dead_letter.has_value = TRUE;
  dead_letter.headers = headers;
  dead_letter.n_headers = G_N_ELEMENTS(headers);
  dead_letter.reading_index = 5;
  tide_dead_letter_queue_submit(fixture->dead_letters, job_of(fixture, &dead_letter));
  await_completed(fixture, 1);
  g_assert_true(fixture->completions->is_kept);

  g_autoptr(GPtrArray) records = read_dead_letters(fixture, 1);
  const TideMockRecord *record = g_ptr_array_index(records, 0);
  letter_assert_bytes(record->key, dead_letter.key);
  letter_assert_bytes(record->payload, dead_letter.value);
  assert_header_at(record, 0, "trace", "\x00\xff", 2);
  assert_header_at(record, 1, "tidemark-reason", "an older dead letter's", 22);
  assert_header_at(record, 2, "none", NULL, 0);
  assert_header_at(record, 3, "empty", "", 0);
  letter_assert_header(record, "tidemark-reason", "refused_by_hbase");
  letter_assert_header(record, "tidemark-text", "the gateway says no");
  letter_assert_header(record, "tidemark-topic", FIXTURE_TOPIC);
  letter_assert_header(record, "tidemark-partition", "0");
  letter_assert_header(record, "tidemark-offset", "7");
  letter_assert_header(record, "tidemark-timestamp", "1785069296123");
  letter_assert_header(record, "tidemark-table", "METRIC");
  letter_assert_header(record, "tidemark-row-key", ROW_KEY_HEX);
  letter_assert_header(record, "tidemark-reading", "5");
  letter_assert_header(record, "tidemark-attempts", "3");
  g_autoptr(GBytes) version = mock_record_header(record, "tidemark-version");
  g_assert_nonnull(version);
  letter_assert_header(record, "tidemark-original", NULL);
}

FIXTURE_TEST("/dead-letter-queue/topic/absent-and-empty-stay-apart")
{
  TideDeadLetter dead_letter = dead_letter_at(0);
  tide_dead_letter_queue_submit(fixture->dead_letters, job_of(fixture, &dead_letter));
  await_completed(fixture, 1);
  dead_letter = dead_letter_at(1);
  dead_letter.has_key = dead_letter.has_value = TRUE;
  tide_dead_letter_queue_submit(fixture->dead_letters, job_of(fixture, &dead_letter));
  await_completed(fixture, 2);
  g_autoptr(GPtrArray) records = read_dead_letters(fixture, 2);
  const TideMockRecord *absent = g_ptr_array_index(records, 0), *empty = g_ptr_array_index(records, 1);
  g_assert_null(absent->key);
  g_assert_null(absent->payload);
  letter_assert_bytes(empty->key, TIDE_BYTES_EMPTY);
  letter_assert_bytes(empty->payload, TIDE_BYTES_EMPTY);
}

/* Waits until dead letters hold, and @part is in the reason. */
static void
await_holding(Fixture *fixture, const char *part)
{
  gint64 deadline_us = pipeline_fixture_deadline_us();
  while (!tide_dead_letter_queue_is_stalled_racy(fixture->dead_letters))
    pipeline_fixture_wait_a_little(deadline_us, "the holding");
  g_autofree char *text = tide_dead_letter_queue_stall_text(fixture->dead_letters);
  if (strstr(text, part) == NULL)
    g_error("'%s' is not in: %s", part, text);
}

FIXTURE_TEST("/dead-letter-queue/topic/one-that-takes-nothing-holds-until-it-does")
{
  mock_kafka_push_errors(fixture->outside.kafka, TIDE_KAFKA_PRODUCE, RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED, 1);
  TideDeadLetter dead_letter = dead_letter_at(0);
  tide_dead_letter_queue_submit(fixture->dead_letters, job_of(fixture, &dead_letter));
  await_holding(fixture, "the user of this connection may not write to topic '" DEAD_LETTERS "': grant Write");
  g_assert_cmpuint(fixture->n_completed, ==, 0);
  await_completed(fixture, 1);
  g_assert_true(fixture->completions->is_kept);
  g_assert_false(tide_dead_letter_queue_is_stalled_racy(fixture->dead_letters));
  g_assert_cmpuint(tide_metrics_sum(fixture->metrics, "tidemark_dead_letters_retries_total", NULL), >=, 1);
  g_autoptr(GPtrArray) records G_GNUC_UNUSED = read_dead_letters(fixture, 1);
}

/* As brokers since 2.8 do it to who may write to no topic: the producer never gets its number. */
FAILING_PRODUCER_TEST("/dead-letter-queue/topic/a-producer-that-may-write-nowhere-holds")
{
  TideDeadLetter dead_letter = dead_letter_at(0);
  tide_dead_letter_queue_submit(fixture->dead_letters, job_of(fixture, &dead_letter));
  await_holding(fixture, "may not write to topic '" DEAD_LETTERS "': grant Write, for example with kafka-acls");
  await_completed(fixture, 1);
  g_assert_true(fixture->completions->is_kept);
}

/* The producer may not go on, and another takes its place: dead letters that it had not sent yet are sent by that. */
FAILING_PRODUCER_TEST("/dead-letter-queue/topic/dead-letters-of-a-producer-that-failed-are-sent-again")
{
  for (gint64 offset = 0; offset < 10; offset++) {
    TideDeadLetter dead_letter = dead_letter_at(offset);
    tide_dead_letter_queue_submit(fixture->dead_letters, job_of(fixture, &dead_letter));
  }
  await_completed(fixture, 10);
  g_autoptr(GPtrArray) records G_GNUC_UNUSED = read_dead_letters(fixture, 10);
  g_assert_cmpuint(tide_metrics_sum(fixture->metrics, "tidemark_dead_letters_retries_total", NULL), >=, 1);
}

/* ---- originals ---- */

static TideDeadLetterJob *
job_to_read(Fixture *fixture, gint64 offset)
{
  TideDeadLetter dead_letter = dead_letter_at(offset);
  TideDeadLetterJob *job = job_of(fixture, &dead_letter);
  job->must_read = TRUE;
  g_auto(TideBuffer) prefix = {0};
  TideBuffer *put = &job->row;
  tide_column_prefix_append(TIDE_WIRE_BINARY, &prefix, TIDE_BYTES_LITERAL("M"), TIDE_BYTES_LITERAL("v"));
  tide_put_head_append(TIDE_WIRE_BINARY, put, dead_letter.row_key, 1);
  tide_cell_append(TIDE_WIRE_BINARY, put, tide_buffer_bytes(&prefix), TIDE_BYTES_LITERAL("12"), 1000);
  tide_put_tail_append(TIDE_WIRE_BINARY, put, TIDE_PUT_NO_TIME, 0);
  return job;
}

FIXTURE_TEST("/dead-letter-queue/originals/are-read-again")
{
  for (guint i = 0; i < 3000; i++) {
    g_autofree char *payload = g_strdup_printf("message %u", i);
    TideMockMessage message = {.topic = FIXTURE_TOPIC,
                               .key = TIDE_BYTES_LITERAL("key"),
                               .payload = tide_bytes_of_string(payload),
                               .timestamp_ms = TIME_MS + i,
                               .headers = {{"trace", TIDE_BYTES_LITERAL("\x01\x00")}}};
    mock_kafka_produce(fixture->outside.kafka, &message);
  }
  pipeline_fixture_flush(&fixture->outside);
  static const gint64 offsets[] = {2999, 5, 6, 5, 1800, 0};
  for (gsize i = 0; i < G_N_ELEMENTS(offsets); i++)
    tide_dead_letter_queue_submit(fixture->dead_letters, job_to_read(fixture, offsets[i]));
  await_completed(fixture, G_N_ELEMENTS(offsets));
  g_autoptr(GPtrArray) records = read_dead_letters(fixture, G_N_ELEMENTS(offsets));
  for (guint i = 0; i < records->len; i++) {
    const TideMockRecord *record = g_ptr_array_index(records, i);
    g_autoptr(GBytes) offset = mock_record_header(record, "tidemark-offset");
    g_autofree char *number = g_strndup(g_bytes_get_data(offset, NULL), g_bytes_get_size(offset));
    g_autofree char *payload = g_strdup_printf("message %s", number);
    g_autofree char *time = g_strdup_printf("%" G_GINT64_FORMAT, TIME_MS + g_ascii_strtoll(number, NULL, 10));
    letter_assert_bytes(record->payload, tide_bytes_of_string(payload));
    letter_assert_bytes(record->key, TIDE_BYTES_LITERAL("key"));
    assert_header_at(record, 0, "trace", "\x01\x00", 2);
    letter_assert_header(record, "tidemark-timestamp", time);
  }
}

/* The mock keeps 5 MiB of a partition. */
FIXTURE_TEST("/dead-letter-queue/originals/one-that-is-gone-leaves-its-row")
{
  g_autofree char *large = g_strnfill(500000, 'x');
  for (guint i = 0; i < 20; i++)
    mock_kafka_produce_text(fixture->outside.kafka, FIXTURE_TOPIC, 0, large);
  pipeline_fixture_flush(&fixture->outside);
  tide_dead_letter_queue_submit(fixture->dead_letters, job_to_read(fixture, 0));
  tide_dead_letter_queue_submit(fixture->dead_letters, job_to_read(fixture, 19));
  await_completed(fixture, 2);
  g_assert_cmpuint(tide_metrics_sum(fixture->metrics, "tidemark_dead_letters_originals_missing_total", NULL), ==, 1);
  g_autoptr(GPtrArray) records = read_dead_letters(fixture, 2);
  const TideMockRecord *gone = g_ptr_array_index(records, 0), *there = g_ptr_array_index(records, 1);
  letter_assert_header(gone, "tidemark-original", "gone");
  g_assert_null(gone->key);
  letter_assert_bytes(gone->payload, TIDE_BYTES_LITERAL("{\"row_key\":\"" ROW_KEY_HEX
                                                        "\",\"cells\":[{\"family\":\"4d\",\"qualifier\":\"76\","
                                                        "\"timestamp_ms\":1000,\"value\":\"MTI=\"}]}"));
  letter_assert_header(there, "tidemark-original", NULL);
  letter_assert_bytes(there->payload, tide_bytes_of_string(large));
}

/* A header that is null is not one that is empty, also when the message is read again. */
FIXTURE_TEST("/dead-letter-queue/originals/null-header-of-one-stays-null")
{
  TideMockMessage message = {.topic = FIXTURE_TOPIC,
                             .payload = TIDE_BYTES_LITERAL("message"),
                             .headers = {{"none", {0}}, {"empty", {(const guint8 *)"", 0}}}};
  mock_kafka_produce(fixture->outside.kafka, &message);
  pipeline_fixture_flush(&fixture->outside);
  tide_dead_letter_queue_submit(fixture->dead_letters, job_to_read(fixture, 0));
  await_completed(fixture, 1);
  g_autoptr(GPtrArray) records = read_dead_letters(fixture, 1);
  assert_header_at(g_ptr_array_index(records, 0), 0, "none", NULL, 0);
  assert_header_at(g_ptr_array_index(records, 0), 1, "empty", "", 0);
}

/* A leader that has just changed may not know the newest messages yet: what was read is not gone at once. */
FIXTURE_TEST("/dead-letter-queue/originals/one-beyond-the-end-is-waited-for")
{
  static const _Atomic gboolean stopping = FALSE;
  TideKafkaOriginals *originals = tide_kafka_originals_new(fixture->config, &stopping);
  TideDeadLetterJobs wanted = {0}, read = {0};
  tide_dead_letter_jobs_append(&wanted, job_to_read(fixture, 1));
  pipeline_fixture_produce(&fixture->outside, 0, "host1", TIME_MS, "0");
  pipeline_fixture_flush(&fixture->outside);
  g_autofree char *trouble = tide_kafka_originals_read(originals, &wanted, &read);
  g_assert_nonnull(trouble);
  g_assert_nonnull(strstr(trouble, "ends before offset 1, which was read from it; checking again"));
  g_assert_null(read.first);
  pipeline_fixture_produce(&fixture->outside, 0, "host1", TIME_MS, "1");
  pipeline_fixture_flush(&fixture->outside);
  gint64 deadline_us = pipeline_fixture_deadline_us();
  while (read.first == NULL) {
    g_assert_cmpint(tide_now_us(), <, deadline_us);
    g_autofree char *again G_GNUC_UNUSED = tide_kafka_originals_read(originals, &wanted, &read);
  }
  g_assert_false(read.first->dead_letter.original_is_gone);
  g_assert_true(read.first->dead_letter.has_value);
  tide_dead_letter_jobs_clear(&read);
  tide_kafka_originals_free(originals);
}

FIXTURE_TEST("/dead-letter-queue/originals/a-broker-that-is-away-takes-none")
{
  pipeline_fixture_produce(&fixture->outside, 0, "host1", TIME_MS, "1");
  pipeline_fixture_flush(&fixture->outside);
  mock_kafka_set_broker_up(fixture->outside.kafka, -1, FALSE);
  tide_dead_letter_queue_submit(fixture->dead_letters, job_to_read(fixture, 0));
  gint64 deadline_us = pipeline_fixture_deadline_us();
  gint64 away_until_us = tide_now_us() + 3 * TIDE_US_PER_S; /* more than a pass waits for */
  while (tide_now_us() < away_until_us)
    pipeline_fixture_wait_a_little(deadline_us, "the end of the outage");
  g_assert_null(tide_dead_letter_completions_take(&fixture->box));
  mock_kafka_set_broker_up(fixture->outside.kafka, -1, TRUE);
  await_completed(fixture, 1);
  g_assert_false(fixture->completions->dead_letter.original_is_gone);
  g_assert_true(tide_bytes_equal(fixture->completions->dead_letter.value,
                                 TIDE_BYTES_LITERAL("{\"host\":\"host1\",\"ts\":1785069296000,\"v\":\"1\"}")));
}

#define N_WIDE 30
#define WIDE_BYTES 900000u
#define PASS_BYTES (16u << 20) /* after which a pass takes no more */

/* Each partition has one that is wanted: none of them goes on to a next. */
FIXTURE_TEST("/dead-letter-queue/originals/a-pass-over-many-partitions-is-bounded")
{
  static const _Atomic gboolean stopping = FALSE;
  TideKafkaOriginals *originals = tide_kafka_originals_new(fixture->config, &stopping);
  TideDeadLetterJobs wanted = {0}, read = {0};
  g_autofree char *large = g_strnfill(WIDE_BYTES, 'x');
  mock_kafka_create_topic(fixture->outside.kafka, "wide", N_WIDE);
  for (gint32 i = 0; i < N_WIDE; i++) {
    TideDeadLetter dead_letter = dead_letter_at(0);
    dead_letter.topic = TIDE_BYTES_LITERAL("wide");
    dead_letter.partition = i;
    TideDeadLetterJob *job = job_of(fixture, &dead_letter);
    job->must_read = TRUE;
    tide_dead_letter_jobs_append(&wanted, job);
    mock_kafka_produce_text(fixture->outside.kafka, "wide", i, large);
  }
  pipeline_fixture_flush(&fixture->outside);
  guint n_read = 0;
  while (n_read < N_WIDE) {
    g_autofree char *trouble G_GNUC_UNUSED = tide_kafka_originals_read(originals, &wanted, &read);
    g_assert_cmpuint((gsize)read.n * WIDE_BYTES, <=, PASS_BYTES + WIDE_BYTES);
    n_read += read.n;
    tide_dead_letter_jobs_clear(&read);
  }
  g_assert_null(wanted.first);
  tide_kafka_originals_free(originals);
}

/* ---- the end ---- */

FIXTURE_TEST("/dead-letter-queue/stop/drops-what-is-under-way")
{
  mock_kafka_set_broker_up(fixture->outside.kafka, -1, FALSE);
  for (gint64 i = 0; i < 100; i++)
    tide_dead_letter_queue_submit(fixture->dead_letters, job_to_read(fixture, i));
  TideDeadLetter dead_letter = dead_letter_at(100);
  tide_dead_letter_queue_submit(fixture->dead_letters, job_of(fixture, &dead_letter));
  gint64 start_us = tide_now_us();
  g_assert_true(tide_dead_letter_queue_stop(fixture->dead_letters, start_us + 20 * TIDE_US_PER_S));
  g_assert_cmpint(tide_now_us() - start_us, <, 15 * TIDE_US_PER_S);
  mock_kafka_set_broker_up(fixture->outside.kafka, -1, TRUE);
}
