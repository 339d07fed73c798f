/* Looking at a topic without taking part: which messages come, what is left behind, and how trouble is said. */
#include "fault/kafka/mock_kafka.h"
#include "kafka/kafka_topic_reader.h"
#include "util/clock.h"
#include "util/error.h"

#define TIMEOUT_US (240 * TIDE_US_PER_S) /* far beyond what any step takes: only a failure waits so long */
#define TIMEOUT_MS 240000
#define TOPIC "metrics"
#define GROUP "tidemark"

static gint64
timeout(void)
{
  return tide_now_us() + TIMEOUT_US;
}

/* A cluster with one topic of two partitions: "0:0" ... in the one, "1:0" ... in the other. */
static TideMockKafka *
cluster_with(guint n_first, guint n_second)
{
  TideMockKafka *kafka = mock_kafka_new(1);
  mock_kafka_create_topic(kafka, TOPIC, 2);
  for (guint i = 0; i < n_first + n_second; i++) {
    gint32 partition = i < n_first ? 0 : 1;
    g_autofree char *payload = g_strdup_printf("%d:%u", partition, i < n_first ? i : i - n_first);
    mock_kafka_produce_text(kafka, TOPIC, partition, payload);
  }
  g_assert_true(mock_kafka_flush(kafka, timeout()));
  return kafka;
}

/* What was read, by partition, and how often to go on. */
typedef struct Seen {
  GString *texts[2];
  guint n_wanted; /* 0: all */
  guint n;
} Seen;

static gboolean
take(const TideMessage *message, gpointer data)
{
  Seen *seen = data;
  g_assert_cmpint(message->partition, <, 2);
  g_string_append_len(seen->texts[message->partition], (const char *)message->value.data, (gssize)message->value.len);
  g_string_append_c(seen->texts[message->partition], ' ');
  return ++seen->n != seen->n_wanted;
}

typedef struct Read {
  TideKafkaConfig config;
  TideKafkaReadResult result;
  Seen seen;
  GError *error;
  gboolean ok;
} Read;

static void
read_topic(Read *read, const char *brokers, const TideKafkaReadRequest *request)
{
  read->config.brokers = (char *)brokers;
  read->config.properties = g_array_new(FALSE, FALSE, sizeof(TideKafkaProperty));
  read->seen.texts[0] = g_string_new(NULL);
  read->seen.texts[1] = g_string_new(NULL);
  read->ok = tide_kafka_read(&read->config, request, take, &read->seen, &read->result, &read->error);
}

static void
read_clear(Read *read)
{
  g_array_unref(read->config.properties);
  g_string_free(read->seen.texts[0], TRUE);
  g_string_free(read->seen.texts[1], TRUE);
  g_clear_error(&read->error);
}

static void
test_first(void)
{
  g_autoptr(TideMockKafka) kafka = cluster_with(10, 2);
  Read read = {0};
  TideKafkaReadRequest request = {.topic = TOPIC, .max_messages = 8, .timeout_ms = TIMEOUT_MS};
  read_topic(&read, mock_kafka_brokers(kafka), &request);
  g_assert_no_error(read.error);
  g_assert_cmpstr(read.seen.texts[0]->str, ==, "0:0 0:1 0:2 0:3 ");
  g_assert_cmpstr(read.seen.texts[1]->str, ==, "1:0 1:1 ");
  g_assert_cmpuint(read.result.n_messages, ==, 6);
  g_assert_false(read.result.timed_out);
  read_clear(&read);
}

/* Each message that is read makes another. */
typedef struct Echo {
  TideMockKafka *kafka;
  guint n;
} Echo;

static gboolean
take_and_produce(const TideMessage *message, gpointer data)
{
  Echo *echo = data;
  mock_kafka_produce_text(echo->kafka, TOPIC, message->partition, "more");
  g_assert_true(mock_kafka_flush(echo->kafka, timeout()));
  return ++echo->n < 100;
}

/* What is fetched is one message at a time, so that the topic has grown before its end is met. */
static void
test_f19_present_end(void)
{
  g_autoptr(TideMockKafka) kafka = cluster_with(1, 0);
  for (guint i = 0; i < 2; i++) {
    mock_kafka_produce_text(kafka, TOPIC, 0, "another batch");
    g_assert_true(mock_kafka_flush(kafka, timeout()));
  }
  g_autoptr(GArray) properties = g_array_new(FALSE, FALSE, sizeof(TideKafkaProperty));
  static const TideKafkaProperty few[] = {{.name = (char *)"queued.min.messages", .value = (char *)"1"},
                                          {.name = (char *)"fetch.message.max.bytes", .value = (char *)"1"}};
  g_array_append_vals(properties, few, G_N_ELEMENTS(few));
  TideKafkaConfig config = {.brokers = (char *)mock_kafka_brokers(kafka), .properties = properties};
  TideKafkaReadRequest request = {
      .topic = TOPIC, .max_messages = G_MAXINT64, .timeout_ms = TIMEOUT_MS, .to_present_end = TRUE};
  Echo echo = {.kafka = kafka};
  TideKafkaReadResult result;
  g_autoptr(GError) error = NULL;
  g_assert_true(tide_kafka_read(&config, &request, take_and_produce, &echo, &result, &error));
  g_assert_no_error(error);
  g_assert_cmpuint(echo.n, ==, 3);
  g_assert_false(result.timed_out);
}

static void
test_newest(void)
{
  g_autoptr(TideMockKafka) kafka = cluster_with(10, 1);
  Read read = {0};
  TideKafkaReadRequest request = {.topic = TOPIC, .max_messages = 6, .newest = TRUE, .timeout_ms = TIMEOUT_MS};
  read_topic(&read, mock_kafka_brokers(kafka), &request);
  g_assert_no_error(read.error);
  g_assert_cmpstr(read.seen.texts[0]->str, ==, "0:7 0:8 0:9 ");
  g_assert_cmpstr(read.seen.texts[1]->str, ==, "1:0 ");
  read_clear(&read);
}

/* The group of the daemon commits as before, and gets every message. */
static void
test_commits_nothing(void)
{
  g_autoptr(TideMockKafka) kafka = cluster_with(5, 5);
  Read read = {0};
  TideKafkaReadRequest request = {.topic = TOPIC, .max_messages = 100, .timeout_ms = TIMEOUT_MS};
  read.config.group = (char *)GROUP;
  read_topic(&read, mock_kafka_brokers(kafka), &request);
  g_assert_no_error(read.error);
  g_assert_cmpuint(read.result.n_messages, ==, 10);
  g_assert_cmpint(mock_kafka_committed(kafka, GROUP, TOPIC, 0, timeout()), ==, -1);
  read_clear(&read);
}

static void
test_stopped(void)
{
  g_autoptr(TideMockKafka) kafka = cluster_with(50, 50);
  Read read = {.seen = {.n_wanted = 3}};
  TideKafkaReadRequest request = {.topic = TOPIC, .max_messages = 100, .timeout_ms = TIMEOUT_MS};
  read_topic(&read, mock_kafka_brokers(kafka), &request);
  g_assert_no_error(read.error);
  g_assert_cmpuint(read.result.n_messages, ==, 3);
  read_clear(&read);
}

static void
test_empty(void)
{
  g_autoptr(TideMockKafka) kafka = cluster_with(0, 0);
  Read read = {0};
  TideKafkaReadRequest request = {.topic = TOPIC, .max_messages = 100, .timeout_ms = TIMEOUT_MS};
  read_topic(&read, mock_kafka_brokers(kafka), &request);
  g_assert_no_error(read.error);
  g_assert_cmpuint(read.result.n_messages, ==, 0);
  g_assert_false(read.result.timed_out);
  read_clear(&read);
}

static void
test_no_broker(void)
{
  Read read = {0};
  TideKafkaReadRequest request = {.topic = TOPIC, .max_messages = 1, .timeout_ms = 1500};
  read_topic(&read, "127.0.0.1:1", &request); /* nobody listens there */
  g_assert_false(read.ok);
  g_assert_error(read.error, TIDE_ERROR, TIDE_ERROR_KAFKA);
  g_assert_nonnull(strstr(read.error->message, "refused"));
  read_clear(&read);
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/kafka-reader/each-partition-gives-its-first", test_first);
  g_test_add_func("/kafka-reader/each-partition-gives-its-newest", test_newest);
  g_test_add_func("/kafka-reader/nothing-is-committed", test_commits_nothing);
  g_test_add_func("/kafka-reader/F19/ends-where-the-topic-ended-at-the-start", test_f19_present_end);
  g_test_add_func("/kafka-reader/ends-when-told", test_stopped);
  g_test_add_func("/kafka-reader/an-empty-topic-is-no-error", test_empty);
  g_test_add_func("/kafka-reader/a-broker-that-is-down-is-named", test_no_broker);
  return g_test_run();
}
