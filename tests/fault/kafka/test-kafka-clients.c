/* The requests of commands to the brokers, before they begin and later: topics that are missing or denied; what
 * `simulate` and `dead-letters replay` report when they cannot send, and that they send whatever a topic takes. */
#include "fault/kafka/mock_config.h"
#include "kafka/kafka_preflight.h"
#include "kafka/kafka_producer.h"
#include "unit/test_case.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/log.h"

/* ---- the topics that are needed ---- */

#define TIMEOUT_MS 20000
#define TOPIC "metrics"
#define LETTERS "letters"

typedef struct Fixture {
  TideMockKafka *kafka;
  TideConfig *config;
} Fixture;

static void
set_up(Fixture *fixture, gconstpointer data)
{
  fixture->kafka = mock_kafka_new(1);
  mock_kafka_create_topic(fixture->kafka, TOPIC, 1);
  fixture->config =
      mock_kafka_config(fixture->kafka, "group: g, topics: [" TOPIC "]", "dead_letters: { topic: " LETTERS " }\n");
}

static void
tear_down(Fixture *fixture, gconstpointer data)
{
  tide_config_free(fixture->config);
  mock_kafka_free(fixture->kafka);
}

#define FIXTURE_TEST(path) TEST_WITH(Fixture, set_up, tear_down, path)

static TideKafkaPreflight *
look(const Fixture *fixture)
{
  g_autoptr(GError) error = NULL;
  TideKafkaPreflight *seen = tide_kafka_preflight(fixture->config, TIMEOUT_MS, &error);
  g_assert_no_error(error);
  return seen;
}

FIXTURE_TEST("/kafka-look/all-is-there")
{
  mock_kafka_create_topic(fixture->kafka, LETTERS, 1);
  g_autoptr(TideKafkaPreflight) seen = look(fixture);
  const TideSeenTopic *topic = seen->topics->pdata[0];
  g_assert_cmpuint(seen->topics->len, ==, 1);
  g_assert_cmpuint(topic->n_topics, ==, 1);
  g_assert_cmpuint(topic->n_partitions, ==, 1);
  g_assert_cmpstr(topic->fault, ==, NULL);
  g_assert_cmpstr(seen->group_fault, ==, NULL);
  g_assert_cmpstr(seen->dead_letters_fault, ==, NULL);
  g_assert_cmpuint(seen->settings->len, ==, 2);
}

/* Who may not see a topic would create it in vain. */
FIXTURE_TEST("/kafka-look/denied-letters-are-not-to-be-created")
{
  if (!mock_kafka_can_deny_topics()) {
    g_test_skip(MOCK_KAFKA_DENIED_TOPIC_CRASHES);
    return;
  }
  mock_kafka_set_topic_error(fixture->kafka, LETTERS, RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED);
  g_autoptr(TideKafkaPreflight) seen = look(fixture);
  g_assert_nonnull(strstr(seen->dead_letters_fault, "may not write to topic '" LETTERS "'"));
  g_assert_null(strstr(seen->dead_letters_fault, "create it"));
}

FIXTURE_TEST("/kafka-look/absent-letters-are-to-be-created")
{
  mock_kafka_set_topic_error(fixture->kafka, LETTERS, RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART);
  g_autoptr(TideKafkaPreflight) seen = look(fixture);
  g_assert_nonnull(strstr(seen->dead_letters_fault, "does not exist: create it"));
}

/* Why an offset cannot be had is what counts, not that it is asked for to begin there. */
FIXTURE_TEST("/kafka-look/K13-reason-is-given")
{
  mock_kafka_create_topic(fixture->kafka, LETTERS, 1);
  mock_kafka_push_errors(fixture->kafka, TIDE_KAFKA_LIST_OFFSETS, RD_KAFKA_RESP_ERR_UNSUPPORTED_FOR_MESSAGE_FORMAT, 50);
  g_autoptr(TideKafkaPreflight) seen = look(fixture);
  const TideSeenTopic *topic = seen->topics->pdata[0];
  g_assert_nonnull(strstr(topic->fault, rd_kafka_err2str(RD_KAFKA_RESP_ERR_UNSUPPORTED_FOR_MESSAGE_FORMAT)));
  g_assert_null(strstr(topic->fault, "automatically reset"));
}

/* ---- the producer ---- */

#define TIMEOUT_US (120 * TIDE_US_PER_S)
#define LARGE_BYTES (3u * 1024 * 1024)

typedef struct ProducerFixture {
  TideMockKafka *kafka;
  TideConfig *config;
  TideKafkaProducer *producer;
} ProducerFixture;

static void
set_up_producer(ProducerFixture *fixture, gconstpointer data)
{
  g_autoptr(GError) error = NULL;
  fixture->kafka = mock_kafka_new(1);
  mock_kafka_create_topic(fixture->kafka, TOPIC, 1);
  fixture->config = mock_kafka_config(fixture->kafka, "group: g, topics: [" TOPIC "]", "");
  if (data != NULL)
    mock_kafka_push_errors(fixture->kafka, TIDE_KAFKA_INIT_PRODUCER_ID, GPOINTER_TO_INT(data), 1);
  fixture->producer = tide_kafka_producer_new(&fixture->config->kafka, 0, &error);
  g_assert_no_error(error);
}

static void
tear_down_producer(ProducerFixture *fixture, gconstpointer data)
{
  tide_kafka_producer_free(fixture->producer);
  tide_config_free(fixture->config);
  mock_kafka_free(fixture->kafka);
}

#define PRODUCER_TEST_OF(data, path) TEST_OF(ProducerFixture, data, set_up_producer, tear_down_producer, path)

static gboolean
send_one(ProducerFixture *fixture, TideBytes value, GError **error)
{
  static const volatile int stop = 0;
  TideKafkaProducerRecord record = {.topic = TOPIC, .partition = 0, .value = value, .has_value = TRUE};
  return tide_kafka_producer_send(fixture->producer, &record, NULL, 0, &stop, error);
}

/* "Local: Fatal error" tells nobody what to do. */
PRODUCER_TEST_OF(GINT_TO_POINTER(RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED),
                 "/kafka-producer/K16-fatal-error-has-its-reason")
{
  g_autoptr(GError) at_sending = NULL, at_end = NULL;
  gint64 deadline_us = tide_now_us() + TIMEOUT_US;
  guint64 n_sent = 0;
  while (send_one(fixture, TIDE_BYTES_LITERAL("1"), &at_sending)) {
    n_sent++;
    (void)tide_kafka_producer_poll(fixture->producer, 10);
    g_assert_cmpint(tide_now_us(), <, deadline_us);
  }
  g_assert_error(at_sending, TIDE_ERROR, TIDE_ERROR_KAFKA);
  g_assert_nonnull(strstr(at_sending->message, "cannot send to '" TOPIC "': "));
  g_assert_nonnull(strstr(at_sending->message, "Cluster authorization failed"));
  while (tide_kafka_producer_poll(fixture->producer, 10) > 0)
    g_assert_cmpint(tide_now_us(), <, deadline_us);
  if (n_sent == 0)
    return; /* the producer had failed before its first message, and none is missing */
  g_assert_false(tide_kafka_producer_check(fixture->producer, n_sent, "", &at_end));
  g_assert_nonnull(strstr(at_end->message, "Cluster authorization failed"));
}

/* What a topic takes is the broker's to say: a dead letter of 3 MiB can be replayed. */
PRODUCER_TEST_OF(NULL, "/kafka-producer/C3-large-record-is-sent")
{
  g_autoptr(GError) error = NULL;
  g_autofree char *large = g_strnfill(LARGE_BYTES, 'x');
  gint64 deadline_us = tide_now_us() + TIMEOUT_US;
  g_assert_true(send_one(fixture, tide_bytes_of_string(large), &error));
  while (tide_kafka_producer_poll(fixture->producer, 10) > 0)
    g_assert_cmpint(tide_now_us(), <, deadline_us);
  g_assert_true(tide_kafka_producer_check(fixture->producer, 1, "", &error));
  g_assert_no_error(error);
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  tide_log_init(TIDE_LOG_FORMAT_TEXT, TIDE_LOG_CRIT);
  test_cases_add();
  return g_test_run();
}
