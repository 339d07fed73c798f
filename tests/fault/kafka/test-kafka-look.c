/* What brokers are asked of the topics that are needed: which is absent, and which may not be seen. */
#include "fault/kafka/mock_kafka.h"
#include "kafka/kafka_preflight.h"
#include "unit/load_text.h"
#include "util/clock.h"

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
  g_autofree char *text = g_strdup_printf("kafka: { brokers: \"%s\", group: g, topics: [" TOPIC "] }\n"
                                          "readings: { format: json, time: { field: ts, format: epoch_ms } }\n"
                                          "hbase: { gateways: [\"127.0.0.1:1\"] }\n"
                                          "tables:\n"
                                          "  T: { key: [ { field: host } ], columns: { family: M, from: \"*\" } }\n"
                                          "dead_letters: { topic: " LETTERS " }\n",
                                          mock_kafka_brokers(fixture->kafka));
  fixture->config = load_text(text);
}

static void
tear_down(Fixture *fixture, gconstpointer data)
{
  tide_config_free(fixture->config);
  mock_kafka_free(fixture->kafka);
}

static TideKafkaPreflight *
look(const Fixture *fixture)
{
  g_autoptr(GError) error = NULL;
  TideKafkaPreflight *seen = tide_kafka_preflight(fixture->config, TIMEOUT_MS, &error);
  g_assert_no_error(error);
  return seen;
}

static void
test_all_is_there(Fixture *fixture, gconstpointer data)
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
static void
test_denied_letters_are_not_to_be_created(Fixture *fixture, gconstpointer data)
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

static void
test_absent_letters_are_to_be_created(Fixture *fixture, gconstpointer data)
{
  mock_kafka_set_topic_error(fixture->kafka, LETTERS, RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART);
  g_autoptr(TideKafkaPreflight) seen = look(fixture);
  g_assert_nonnull(strstr(seen->dead_letters_fault, "does not exist: create it"));
}

/* Why an offset cannot be had is what counts, not that it is asked for to begin there. */
static void
test_k13_reason_is_given(Fixture *fixture, gconstpointer data)
{
  mock_kafka_create_topic(fixture->kafka, LETTERS, 1);
  mock_kafka_push_errors(fixture->kafka, TIDE_KAFKA_LIST_OFFSETS, RD_KAFKA_RESP_ERR_UNSUPPORTED_FOR_MESSAGE_FORMAT, 50);
  g_autoptr(TideKafkaPreflight) seen = look(fixture);
  const TideSeenTopic *topic = seen->topics->pdata[0];
  g_assert_nonnull(strstr(topic->fault, rd_kafka_err2str(RD_KAFKA_RESP_ERR_UNSUPPORTED_FOR_MESSAGE_FORMAT)));
  g_assert_null(strstr(topic->fault, "automatically reset"));
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
#define ADD(name, function) g_test_add("/kafka-look/" name, Fixture, NULL, set_up, function, tear_down)
  ADD("all-is-there", test_all_is_there);
  ADD("denied-letters-are-not-to-be-created", test_denied_letters_are_not_to_be_created);
  ADD("absent-letters-are-to-be-created", test_absent_letters_are_to_be_created);
  ADD("K13-reason-is-given", test_k13_reason_is_given);
#undef ADD
  return g_test_run();
}
