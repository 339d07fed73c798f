/* What a client is asked after the wall clock was set back, and when it is given up: the time is the test's, the
 * brokers' silence is real. */
#include "fault/kafka/mock_kafka.h"
#include "kafka/kafka_conf.h"
#include "kafka/kafka_wakeup.h"
#include "unit/load_text.h"
#include "util/clock.h"

#define TIMEOUT_US (240 * TIDE_US_PER_S) /* far beyond what any step takes: only a failure waits so long */
#define TOPIC "metrics"
#define GROUP "g"
#define S TIDE_US_PER_S
#define BEGIN_US (1000 * S)

typedef struct Fixture {
  TideMockKafka *kafka; /* two brokers, of which the second coordinates the group */
  TideConfig *config;
  rd_kafka_t *client;
  TideKafkaRefill refill;
  TideKafkaRouse rouse;
} Fixture;

static void
set_up(Fixture *fixture, gconstpointer data)
{
  fixture->kafka = mock_kafka_new(2);
  mock_kafka_create_topic(fixture->kafka, TOPIC, 1);
  mock_kafka_set_leader(fixture->kafka, TOPIC, 0, 1);
  mock_kafka_set_coordinator(fixture->kafka, GROUP, 2);
  g_autofree char *text =
      g_strdup_printf("kafka: { brokers: \"%s\", group: " GROUP ", topics: [" TOPIC "], session_timeout: 25s }\n"
                      "readings: { format: json, time: { field: ts, format: epoch_ms } }\n"
                      "limits: { drain_timeout: 5s }\n"
                      "hbase: { gateways: [\"127.0.0.1:1\"] }\n"
                      "tables:\n"
                      "  T: { key: [ { field: host } ], columns: { family: M, from: \"*\" } }\n",
                      mock_kafka_brokers(fixture->kafka));
  fixture->config = load_text(text);
  const TideKafkaConfig *config = &fixture->config->kafka;
  g_autoptr(GError) error = NULL;
  fixture->client = tide_kafka_conf_connect(RD_KAFKA_CONSUMER,
                                            tide_kafka_conf_new_bystander(config, config->group, NULL, &error), &error);
  g_assert_no_error(error);
  tide_kafka_refill_init(&fixture->refill, fixture->client, NULL, NULL);
  fixture->rouse = (TideKafkaRouse){.config = config, .refill = &fixture->refill};
}

static void
tear_down(Fixture *fixture, gconstpointer data)
{
  rd_kafka_destroy_flags(fixture->client, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
  tide_config_free(fixture->config);
  mock_kafka_free(fixture->kafka);
}

/* Asks once a second, of the time that is the test's, until the coordinator has answered. */
static void
rouse_until_answered(Fixture *fixture, gint64 now_us)
{
  gint64 deadline_us = tide_now_us() + TIMEOUT_US;
  while (tide_kafka_rouse_is_under_way(&fixture->rouse)) {
    g_assert_cmpint(tide_now_us(), <, deadline_us);
    g_assert_true(tide_kafka_rouse(&fixture->rouse, now_us));
    now_us += S;
  }
}

static void
test_answer_ends_it(Fixture *fixture, gconstpointer data)
{
  g_assert_false(tide_kafka_rouse_is_under_way(&fixture->rouse));
  for (gint64 i = 0; i < 2; i++) { /* each time that the clock is set back */
    tide_kafka_rouse_want(&fixture->rouse);
    g_assert_true(tide_kafka_rouse_is_under_way(&fixture->rouse));
    rouse_until_answered(fixture, BEGIN_US + i * 3600 * S);
  }
}

/* A broker that refuses the question has answered it. */
static void
test_refusal_ends_it(Fixture *fixture, gconstpointer data)
{
  mock_kafka_push_errors(fixture->kafka, TIDE_KAFKA_OFFSET_FETCH, RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED, 1000);
  tide_kafka_rouse_want(&fixture->rouse);
  rouse_until_answered(fixture, BEGIN_US);
}

static void
test_silent_coordinator(Fixture *fixture, gconstpointer data)
{
  mock_kafka_set_broker_up(fixture->kafka, 2, FALSE);
  tide_kafka_rouse_want(&fixture->rouse);
  g_assert_true(tide_kafka_rouse(&fixture->rouse, BEGIN_US));
  g_assert_true(tide_kafka_rouse(&fixture->rouse, BEGIN_US + 10 * S));
  g_assert_true(tide_kafka_rouse(&fixture->rouse, BEGIN_US + 20 * S));
  g_assert_false(tide_kafka_rouse(&fixture->rouse, BEGIN_US + 30 * S));
  g_assert_false(tide_kafka_rouse_is_under_way(&fixture->rouse)); /* said once */
}

/* However long it takes, the time of a session begins anew when a broker answers. */
static void
test_outage(Fixture *fixture, gconstpointer data)
{
  mock_kafka_set_broker_up(fixture->kafka, 2, FALSE);
  tide_kafka_rouse_want(&fixture->rouse);
  g_assert_true(tide_kafka_rouse(&fixture->rouse, BEGIN_US));
  mock_kafka_set_broker_up(fixture->kafka, 1, FALSE);
  for (gint64 i = 1; i < 3; i++)
    g_assert_true(tide_kafka_rouse(&fixture->rouse, BEGIN_US + i * 60 * S));
  mock_kafka_set_broker_up(fixture->kafka, 1, TRUE);
  g_assert_true(tide_kafka_rouse(&fixture->rouse, BEGIN_US + 180 * S));
  g_assert_true(tide_kafka_rouse(&fixture->rouse, BEGIN_US + 190 * S));
  mock_kafka_set_broker_up(fixture->kafka, 2, TRUE);
  rouse_until_answered(fixture, BEGIN_US + 191 * S);
}

#define ADD(path, func) g_test_add("/kafka-rouse/" path, Fixture, NULL, set_up, func, tear_down)

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  ADD("E9-K5-answer-ends-it", test_answer_ends_it);
  ADD("E9-K5-refusal-is-an-answer", test_refusal_ends_it);
  ADD("E9-K5-silent-coordinator-among-brokers-is-the-end", test_silent_coordinator);
  ADD("E9-K5-outage-alone-is-not-the-end", test_outage);
  return g_test_run();
}
