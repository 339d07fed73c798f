/* The dead-letter topic on a mock cluster: each dead letter has its own result, whatever else is in its batch, and the
 * creation of a producer is retried. */
#include "dead_letters/kafka_dead_letters.h"
#include "fault/kafka/mock_config.h"
#include "unit/test_case.h"
#include "util/clock.h"
#include "util/log.h"

#include <dlfcn.h>

#define DEAD_LETTERS "letters"
#define TIMEOUT_US (60 * TIDE_US_PER_S)
#define N_OF_BATCH 20u /* some 5 KB: one batch, if all are there before it is sent */

/* ---- in place of librdkafka's own ---- */

static _Atomic gboolean no_clients; /* as when the system has no thread left for one */

rd_kafka_t *
rd_kafka_new(rd_kafka_type_t type, rd_kafka_conf_t *conf, char *reason, size_t size)
{
  rd_kafka_t *(*real)(rd_kafka_type_t, rd_kafka_conf_t *, char *, size_t);
  *(void **)&real = dlsym(RTLD_NEXT, "rd_kafka_new");
  if (!atomic_load(&no_clients))
    return real(type, conf, reason, size);
  g_strlcpy(reason, "Failed to create thread: Resource temporarily unavailable", size);
  return NULL;
}

/* ---- the tests ---- */

typedef struct Fixture {
  TideMockKafka *kafka;
  TideConfig *config;
  TideKafkaDeadLetters *dead_letters;
  TideKafkaDeadLetterReports reports;
} Fixture;

/* @data: what the first producer is told, late enough for all that a test sends at first, when it asks for its number
 */
static void
set_up(Fixture *fixture, gconstpointer data)
{
  g_autoptr(GError) error = NULL;
  fixture->kafka = mock_kafka_new(1);
  mock_kafka_create_topic(fixture->kafka, DEAD_LETTERS, 1);
  mock_kafka_delay_request(fixture->kafka, 1, TIDE_KAFKA_INIT_PRODUCER_ID, GPOINTER_TO_INT(data), 1000);
  fixture->config =
      mock_kafka_config(fixture->kafka, "group: g, topics: [m]", "dead_letters: { topic: " DEAD_LETTERS " }\n");
  fixture->dead_letters = tide_kafka_dead_letters_new(fixture->config, &error);
  g_assert_no_error(error);
}

static void
tear_down(Fixture *fixture, gconstpointer data)
{
  tide_kafka_dead_letters_free(fixture->dead_letters);
  tide_dead_letter_jobs_clear(&fixture->reports.kept);
  tide_dead_letter_jobs_clear(&fixture->reports.too_large);
  tide_dead_letter_jobs_clear(&fixture->reports.failed);
  tide_config_free(fixture->config);
  mock_kafka_free(fixture->kafka);
}

#define FIXTURE_TEST(path) TEST_WITH(Fixture, set_up, tear_down, path)

static TideDeadLetterJob *
job_of(gint64 offset, TideBytes value)
{
  TideDeadLetter dead_letter = {.topic = TIDE_BYTES_LITERAL("m"),
                                .offset = offset,
                                .timestamp_ms = -1,
                                .value = value,
                                .has_value = TRUE,
                                .reading_index = -1,
                                .reason = TIDE_BYTES_LITERAL("parse"),
                                .text = TIDE_BYTES_LITERAL("it is not JSON")};
  return tide_dead_letter_job_new(&dead_letter, (TideSourceRef){0}, 1, NULL);
}

static TideDeadLetterJob *
job_at(gint64 offset)
{
  return job_of(offset, TIDE_BYTES_LITERAL("{bad"));
}

static void
send_jobs(Fixture *fixture, gint64 first, guint n)
{
  for (guint i = 0; i < n; i++)
    g_assert_cmpint(tide_kafka_dead_letters_send(fixture->dead_letters, job_at(first + i)), ==,
                    TIDE_KAFKA_DEAD_LETTER_SENT);
}

/* Until @jobs, a list of the fixture's reports, has @n. */
static void
await(Fixture *fixture, const TideDeadLetterJobs *jobs, guint n)
{
  for (gint64 deadline_us = tide_now_us() + TIMEOUT_US; jobs->n < n;) {
    g_assert_cmpint(tide_now_us(), <, deadline_us);
    tide_kafka_dead_letters_poll(fixture->dead_letters, 10, &fixture->reports);
  }
}

/* The first of @n dead letters of one batch is too large for the topic: neither the batch nor the letter alone. */
static void
send_batch_with_one_too_large(Fixture *fixture)
{
  mock_kafka_push_errors(fixture->kafka, TIDE_KAFKA_PRODUCE, RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE, 2);
  send_jobs(fixture, 0, N_OF_BATCH);
  await(fixture, &fixture->reports.kept, N_OF_BATCH - 1);
  await(fixture, &fixture->reports.too_large, 1);
}

FIXTURE_TEST("/kafka-dead-letters/C3-what-was-refused-for-its-batch-goes-alone")
{
  send_batch_with_one_too_large(fixture);
  const TideDeadLetterJob *too_large = fixture->reports.too_large.first;
  g_assert_cmpint(too_large->dead_letter.offset, ==, 0);
  g_assert_cmpuint(fixture->reports.n_refused_with_others, ==, N_OF_BATCH);
  g_assert_cmpuint(fixture->reports.failed.n, ==, 0);
  g_assert_cmpuint(tide_kafka_dead_letters_in_flight(fixture->dead_letters), ==, 0);
  g_autofree char *text = tide_kafka_dead_letters_describe_too_large(fixture->dead_letters, too_large);
  g_assert_nonnull(strstr(text, "topic '" DEAD_LETTERS
                                "' refuses a dead letter whose key and value have 4 bytes: raise max.message.bytes"));
  g_autoptr(GPtrArray) records = mock_kafka_read_topic(fixture->kafka, DEAD_LETTERS, 1, tide_now_us() + TIMEOUT_US);
  g_assert_cmpuint(records->len, ==, N_OF_BATCH - 1);
}

/* However often one is refused: others share no batch with it, and each has its own answer. */
FIXTURE_TEST("/kafka-dead-letters/C2-each-has-its-own-answer")
{
  send_batch_with_one_too_large(fixture);
  guint n_kept = fixture->reports.kept.n;
  for (guint round = 0; round < 3; round++, n_kept += N_OF_BATCH) {
    TideDeadLetterJob *too_large = tide_dead_letter_jobs_take(&fixture->reports.too_large);
    mock_kafka_push_errors(fixture->kafka, TIDE_KAFKA_PRODUCE, RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE, 1);
    g_assert_cmpint(tide_kafka_dead_letters_send(fixture->dead_letters, too_large), ==, TIDE_KAFKA_DEAD_LETTER_SENT);
    await(fixture, &fixture->reports.too_large, 1);
    send_jobs(fixture, n_kept + 1, N_OF_BATCH);
    await(fixture, &fixture->reports.kept, n_kept + N_OF_BATCH);
    g_assert_cmpint(fixture->reports.too_large.first->dead_letter.offset, ==, 0);
  }
  g_assert_cmpuint(fixture->reports.too_large.n, ==, 1);
  g_assert_cmpuint(fixture->reports.failed.n, ==, 0);
  g_assert_cmpuint(fixture->reports.n_refused_with_others, ==, N_OF_BATCH); /* those of the first time */
  g_assert_null(tide_kafka_dead_letters_trouble(fixture->dead_letters));
}

/* What is under way at the end comes back, wherever it waits. */
FIXTURE_TEST("/kafka-dead-letters/what-waits-to-go-alone-comes-back")
{
  TideDeadLetterJobs left = {0};
  for (guint i = 0; i < 100; i++) { /* more than are with librdkafka at a time */
    TideDeadLetterJob *job = job_at(i);
    job->must_be_sent_alone = i % 2 == 0 || i > 10;
    g_assert_cmpint(tide_kafka_dead_letters_send(fixture->dead_letters, job), ==, TIDE_KAFKA_DEAD_LETTER_SENT);
  }
  mock_kafka_set_broker_up(fixture->kafka, -1, FALSE);
  tide_kafka_dead_letters_poll(fixture->dead_letters, 0, &fixture->reports);
  tide_kafka_dead_letters_disconnect(fixture->dead_letters, &left);
  g_assert_cmpuint(left.n + fixture->reports.kept.n + fixture->reports.failed.n, ==, 100);
  g_assert_cmpuint(tide_kafka_dead_letters_in_flight(fixture->dead_letters), ==, 0);
  tide_dead_letter_jobs_clear(&left);
  mock_kafka_set_broker_up(fixture->kafka, -1, TRUE);
}

/* The producer failed for ever, and the system has no thread for another one: that is no reason to end. */
TEST_OF(Fixture, GINT_TO_POINTER(RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED), set_up, tear_down,
        "/kafka-dead-letters/C8-producer-that-cannot-be-made-is-tried-again")
{
  send_jobs(fixture, 0, 1);
  await(fixture, &fixture->reports.failed, 1);
  TideDeadLetterJob *job = tide_dead_letter_jobs_take(&fixture->reports.failed);
  atomic_store(&no_clients, TRUE);
  for (guint i = 0; i < 3; i++) {
    g_assert_cmpint(tide_kafka_dead_letters_send(fixture->dead_letters, job), ==, TIDE_KAFKA_DEAD_LETTER_FAILED);
    g_assert_nonnull(strstr(tide_kafka_dead_letters_trouble(fixture->dead_letters),
                            "cannot create a producer for topic '" DEAD_LETTERS "': "));
    g_assert_nonnull(strstr(tide_kafka_dead_letters_trouble(fixture->dead_letters), "Failed to create thread"));
  }
  atomic_store(&no_clients, FALSE);
  g_assert_cmpint(tide_kafka_dead_letters_send(fixture->dead_letters, job), ==, TIDE_KAFKA_DEAD_LETTER_SENT);
  await(fixture, &fixture->reports.kept, 1);
}

/* As brokers of KRaft's preview: what helps is said, and another producer would not. */
FIXTURE_TEST("/kafka-dead-letters/brokers-without-idempotent-producers")
{
  mock_kafka_forget_request(fixture->kafka, TIDE_KAFKA_INIT_PRODUCER_ID);
  send_jobs(fixture, 0, 1);
  await(fixture, &fixture->reports.failed, 1);
  g_assert_nonnull(strstr(tide_kafka_dead_letters_trouble(fixture->dead_letters),
                          "the brokers of topic '" DEAD_LETTERS "' have no idempotent producers"));
  g_assert_nonnull(strstr(tide_kafka_dead_letters_trouble(fixture->dead_letters), "'dead_letters.file'"));
}

/* More than may be under way at a time is kept one after the other, and then there is room for several at once. */
FIXTURE_TEST("/kafka-dead-letters/what-is-kept-makes-room")
{
  enum { N_LARGE = 20 };
  g_autofree char *large = g_strnfill(900000, 'x');
  for (guint i = 0; i < N_LARGE; i++) {
    TideDeadLetterJob *job = job_of(i, tide_bytes_of_string(large));
    g_assert_cmpint(tide_kafka_dead_letters_send(fixture->dead_letters, job), ==, TIDE_KAFKA_DEAD_LETTER_SENT);
    await(fixture, &fixture->reports.kept, i + 1);
  }
  send_jobs(fixture, N_LARGE, 2);
  await(fixture, &fixture->reports.kept, N_LARGE + 2);
}

/* The same for the producer that sends one by one. */
FIXTURE_TEST("/kafka-dead-letters/C8-second-producer-that-cannot-be-made-is-tried-again")
{
  mock_kafka_push_errors(fixture->kafka, TIDE_KAFKA_PRODUCE, RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE, 1);
  atomic_store(&no_clients, TRUE);
  send_jobs(fixture, 0, 1);
  await(fixture, &fixture->reports.failed, 1);
  g_assert_nonnull(strstr(tide_kafka_dead_letters_trouble(fixture->dead_letters), "Failed to create thread"));
  g_assert_cmpuint(tide_kafka_dead_letters_in_flight(fixture->dead_letters), ==, 0);
  atomic_store(&no_clients, FALSE);
  TideDeadLetterJob *job = tide_dead_letter_jobs_take(&fixture->reports.failed);
  g_assert_cmpint(tide_kafka_dead_letters_send(fixture->dead_letters, job), ==, TIDE_KAFKA_DEAD_LETTER_SENT);
  await(fixture, &fixture->reports.kept, 1);
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  tide_log_init(TIDE_LOG_FORMAT_TEXT, TIDE_LOG_CRIT);
  test_cases_add();
  return g_test_run();
}
