/* The producer of `simulate` and `dead-letters replay` against a mock cluster: what is said when it cannot send, and
 * that it sends whatever a topic takes. */
#include "fault/kafka/mock_kafka.h"
#include "kafka/kafka_producer.h"
#include "unit/load_text.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/log.h"

#define TOPIC "metrics"
#define TIMEOUT_US (120 * TIDE_US_PER_S)
#define LARGE_BYTES (3u * 1024 * 1024)

typedef struct Fixture {
  TideMockKafka *kafka;
  TideConfig *config;
  TideKafkaProducer *producer;
} Fixture;

static void
set_up(Fixture *fixture, gconstpointer data)
{
  g_autoptr(GError) error = NULL;
  fixture->kafka = mock_kafka_new(1);
  mock_kafka_create_topic(fixture->kafka, TOPIC, 1);
  g_autofree char *text = g_strdup_printf("kafka: {brokers: \"%s\", group: g, topics: [" TOPIC "]}\n"
                                          "hbase: {gateways: [\"127.0.0.1:1\"]}\nreadings: {time: record}\n"
                                          "tables:\n  T: {key: [{ field: a }], columns: { family: f, from: \"*\" }}\n",
                                          mock_kafka_brokers(fixture->kafka));
  fixture->config = load_text(text);
  if (data != NULL)
    mock_kafka_push_errors(fixture->kafka, TIDE_KAFKA_INIT_PRODUCER_ID, GPOINTER_TO_INT(data), 1);
  fixture->producer = tide_kafka_producer_new(&fixture->config->kafka, 0, &error);
  g_assert_no_error(error);
}

static void
tear_down(Fixture *fixture, gconstpointer data)
{
  tide_kafka_producer_free(fixture->producer);
  tide_config_free(fixture->config);
  mock_kafka_free(fixture->kafka);
}

static gboolean
send_one(Fixture *fixture, TideBytes value, GError **error)
{
  static const volatile int stop = 0;
  TideKafkaProducerRecord record = {.topic = TOPIC, .partition = 0, .value = value, .has_value = TRUE};
  return tide_kafka_producer_send(fixture->producer, &record, NULL, 0, &stop, error);
}

/* "Local: Fatal error" tells nobody what to do. */
static void
test_fatal_error_has_its_reason(Fixture *fixture, gconstpointer data)
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
  g_assert_false(tide_kafka_producer_check(fixture->producer, n_sent, "", &at_end));
  g_assert_nonnull(strstr(at_end->message, "Cluster authorization failed"));
}

/* What a topic takes is the broker's to say: a dead letter of 3 MiB can be replayed. */
static void
test_large_record_is_sent(Fixture *fixture, gconstpointer data)
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

#define ADD(path, test, answer)                                                                                        \
  g_test_add("/kafka-producer/" path, Fixture, GINT_TO_POINTER(answer), set_up, test, tear_down)

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  tide_log_init(TIDE_LOG_FORMAT_TEXT, TIDE_LOG_CRIT);
  ADD("K16-fatal-error-has-its-reason", test_fatal_error_has_its_reason,
      RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED);
  ADD("C3-large-record-is-sent", test_large_record_is_sent, 0);
  return g_test_run();
}
