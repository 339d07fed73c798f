/* When librdkafka is woken: once its full prefetch queue is being emptied, it sends a request to the brokers; and what
 * a client is asked after the wall clock was set back, and when it is given up: the time is the test's, the brokers'
 * silence is real. */
#include "fault/kafka/mock_config.h"
#include "fault/pipeline/pipeline_fixture.h"
#include "kafka/kafka_conf.h"
#include "kafka/kafka_library.h"
#include "kafka/kafka_wakeup.h"
#include "util/clock.h"

/* ---- a prefetch queue that was full ---- */

#define TIMEOUT_US (240 * TIDE_US_PER_S)
#define TOPIC "metrics"
#define TOPIC_BYTES 4500000u /* the mock broker keeps no more than 5 MiB */
#define MESSAGE_BYTES 1000u
#define N_MESSAGES (TOPIC_BYTES / MESSAGE_BYTES)
#define LARGE_BYTES 250000u
#define QUEUE_KIB "1500"
#define N_HALF ((1024u * 1500 / 2 + MESSAGE_BYTES - 1) / MESSAGE_BYTES)
/* librdkafka counts what is around a payload, too, a hundredth of this one, and so stops some messages below 1536. */
#define N_FULL 1450u
/* Together a little more than a queue, and neither of them three quarters of it. */
#define SMALL_BYTES 100u
#define N_SMALL 5450u
#define N_LARGE 4u

typedef struct Fixture {
  TideMockKafka *kafka;
  rd_kafka_t *consumer;
  rd_kafka_queue_t *queue;
  rd_kafka_queue_t *empty;
  TideKafkaRefill refill;
} Fixture;

static void
set_conf(rd_kafka_conf_t *conf, const char *name, const char *value)
{
  char reason[256];
  if (rd_kafka_conf_set(conf, name, value, reason, sizeof reason) != RD_KAFKA_CONF_OK)
    g_error("%s", reason);
}

static void
produce(Fixture *fixture, guint n, guint message_bytes)
{
  g_autofree char *text = g_strnfill(message_bytes, 'x');
  for (guint i = 0; i < n; i++)
    mock_kafka_produce_text(fixture->kafka, TOPIC, 0, text);
  g_assert_true(mock_kafka_flush(fixture->kafka, tide_now_us() + TIMEOUT_US));
}

/* A topic of messages of @message_bytes, 0: of some of each size, and how to consume it with a queue for a third of it.
 * (transfer full) */
static rd_kafka_conf_t *
make_topic(Fixture *fixture, guint message_bytes)
{
  fixture->kafka = mock_kafka_new(1);
  mock_kafka_create_topic(fixture->kafka, TOPIC, 1);
  if (message_bytes > 0)
    produce(fixture, TOPIC_BYTES / message_bytes, message_bytes);
  for (guint i = 0; message_bytes == 0 && i < 2; i++) {
    produce(fixture, N_SMALL, SMALL_BYTES);
    produce(fixture, N_LARGE, LARGE_BYTES);
  }

  rd_kafka_conf_t *conf = rd_kafka_conf_new();
  set_conf(conf, "bootstrap.servers", mock_kafka_brokers(fixture->kafka));
  set_conf(conf, "group.id", "g");
  set_conf(conf, "queued.max.messages.kbytes", QUEUE_KIB);
  set_conf(conf, "fetch.message.max.bytes", "100000");
  return conf;
}

static rd_kafka_topic_partition_list_t *
all_partitions(void)
{
  rd_kafka_topic_partition_list_t *partitions = rd_kafka_topic_partition_list_new(1);
  rd_kafka_topic_partition_list_add(partitions, TOPIC, 0)->offset = 0;
  return partitions;
}

/* A consumer whose queue is full with a third of the topic. @data: the size of a message; 0: of some of each size */
static void
set_up(Fixture *fixture, gconstpointer data)
{
  rd_kafka_conf_t *conf = make_topic(fixture, GPOINTER_TO_UINT(data));
  fixture->consumer = rd_kafka_new(RD_KAFKA_CONSUMER, conf, NULL, 0);
  g_assert_nonnull(fixture->consumer);
  rd_kafka_poll_set_consumer(fixture->consumer);
  fixture->queue = rd_kafka_queue_get_consumer(fixture->consumer);
  fixture->empty = rd_kafka_queue_new(fixture->consumer);
  g_autoptr(rd_kafka_topic_partition_list_t) partitions = all_partitions();
  g_assert_cmpint(rd_kafka_assign(fixture->consumer, partitions), ==, RD_KAFKA_RESP_ERR_NO_ERROR);
  tide_kafka_refill_init(&fixture->refill, fixture->consumer, fixture->queue, NULL);
}

static void
tear_down(Fixture *fixture, gconstpointer data)
{
  rd_kafka_queue_destroy(fixture->empty);
  rd_kafka_queue_destroy(fixture->queue);
  rd_kafka_consumer_close(fixture->consumer);
  rd_kafka_destroy(fixture->consumer);
  mock_kafka_free(fixture->kafka);
}

#define FIXTURE_TEST(path) TEST_OF(Fixture, GUINT_TO_POINTER(MESSAGE_BYTES), set_up, tear_down, path)
#define FIXTURE_TEST_OF(data, path) TEST_OF(Fixture, data, set_up, tear_down, path)

static void
wait_until_full(Fixture *fixture, guint n_full)
{
  gint64 deadline_us = tide_now_us() + TIMEOUT_US;
  while (rd_kafka_queue_length(fixture->queue) < n_full)
    pipeline_fixture_wait_a_little(deadline_us, "a full queue");
}

static void
take(Fixture *fixture, guint n)
{
  for (guint i = 0; i < n; i++) {
    rd_kafka_message_t *message = rd_kafka_consumer_poll(fixture->consumer, (int)(TIMEOUT_US / TIDE_US_PER_MS));
    g_assert_nonnull(message);
    g_assert_cmpint(message->err, ==, RD_KAFKA_RESP_ERR_NO_ERROR);
    tide_kafka_refill_taken(&fixture->refill, message->len);
    rd_kafka_message_destroy(message);
  }
}

/* A librdkafka that looks at its queue by itself is never asked: the test is skipped. */
static gboolean
looks_by_itself(void)
{
  const TideKafkaLibrary library = tide_kafka_library();
  if (!tide_kafka_library_can(&library, TIDE_KAFKA_QUEUE_BACKOFF))
    return FALSE;
  g_test_skip("this librdkafka looks often by itself");
  return TRUE;
}

FIXTURE_TEST("/kafka-refill/asks-when-a-full-queue-is-half-empty")
{
  if (looks_by_itself())
    return;
  wait_until_full(fixture, N_FULL);
  take(fixture, N_HALF - 1);
  g_assert_cmpuint(fixture->refill.n_questions, ==, 0);
  take(fixture, 1);
  g_assert_cmpuint(fixture->refill.n_questions, ==, 1);
  take(fixture, N_MESSAGES - N_HALF);
}

FIXTURE_TEST("/kafka-refill/asks-of-the-partitions-that-are-assigned")
{
  if (looks_by_itself())
    return;
  mock_kafka_push_errors(fixture->kafka, TIDE_KAFKA_LIST_OFFSETS, RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED, 1);
  take(fixture, N_HALF);
  gint64 deadline_us = tide_now_us() + TIMEOUT_US;
  g_assert_true(mock_kafka_tells_offsets(fixture->kafka, fixture->consumer, TOPIC, deadline_us));
}

/* A broker that does not answer: the next question comes late enough, however soon half a queue is taken again. */
FIXTURE_TEST("/kafka-refill/questions-take-a-part-of-the-time")
{
  if (looks_by_itself())
    return;
  take(fixture, 1);
  mock_kafka_set_round_trip_ms(fixture->kafka, -1, 1000);
  gint64 begin_us = tide_now_us();
  tide_kafka_refill_ask(&fixture->refill);
  g_assert_cmpuint(fixture->refill.n_questions, ==, 1);
  g_assert_cmpint(fixture->refill.not_before_us, >=, begin_us + 40 * TIDE_US_PER_MS);
  mock_kafka_set_round_trip_ms(fixture->kafka, -1, 0);
}

FIXTURE_TEST("/kafka-refill/asks-when-half-of-the-messages-are-taken")
{
  if (looks_by_itself())
    return;
  fixture->refill.half_messages = 100;
  take(fixture, 99);
  g_assert_cmpuint(fixture->refill.n_questions, ==, 0);
  take(fixture, 1);
  g_assert_cmpuint(fixture->refill.n_questions, ==, 1);
}

static void
take_all_that_is_queued(Fixture *fixture)
{
  while (rd_kafka_queue_length(fixture->queue) > 0 || fixture->refill.n_messages == 0)
    take(fixture, 1);
}

/* A queue that holds a handful of them. */
FIXTURE_TEST_OF(GUINT_TO_POINTER(LARGE_BYTES), "/kafka-refill/asks-when-large-messages-emptied-it")
{
  if (looks_by_itself())
    return;
  wait_until_full(fixture, 6);
  take_all_that_is_queued(fixture);
  g_assert_cmpuint(fixture->refill.n_questions, >=, 1);
}

/* What one of them has says nothing about those behind it. */
FIXTURE_TEST_OF(NULL, "/kafka-refill/asks-when-small-messages-and-large-ones-emptied-it")
{
  if (looks_by_itself())
    return;
  wait_until_full(fixture, N_SMALL + N_LARGE);
  take(fixture, N_SMALL + N_LARGE);
  g_assert_cmpuint(fixture->refill.n_questions, >=, 1);
}

FIXTURE_TEST("/kafka-refill/asks-when-it-ran-empty-before")
{
  if (looks_by_itself())
    return;
  wait_until_full(fixture, N_FULL);
  fixture->refill.not_before_us = G_MAXINT64;
  take(fixture, N_FULL);
  fixture->refill.queue = fixture->empty;
  g_assert_cmpint(tide_kafka_refill_wait_ms(&fixture->refill, 500), <, 500);
  g_assert_cmpuint(fixture->refill.n_questions, ==, 0);
  g_assert_cmpint(tide_kafka_refill_wait_ms(&fixture->refill, 0), ==, 0);
  fixture->refill.not_before_us = 0;
  g_assert_cmpint(tide_kafka_refill_wait_ms(&fixture->refill, 500), ==, 500);
  g_assert_cmpuint(fixture->refill.n_questions, ==, 1);
}

/* It runs empty again and again: it is not full in between, or more would have been taken. */
FIXTURE_TEST("/kafka-refill/does-not-ask-when-the-queue-was-never-full")
{
  if (looks_by_itself())
    return;
  fixture->refill.queue = fixture->empty;
  for (guint n_taken = 0; n_taken < 3 * N_HALF; n_taken += 100) {
    take(fixture, 100);
    g_assert_cmpint(tide_kafka_refill_wait_ms(&fixture->refill, 500), ==, 500);
  }
  g_assert_cmpuint(fixture->refill.n_questions, ==, 0);
}

/* Nothing is known of a queue that is not empty. */
FIXTURE_TEST("/kafka-refill/goes-on-counting-while-something-is-queued")
{
  if (looks_by_itself())
    return;
  wait_until_full(fixture, N_FULL);
  for (guint n_taken = 0; n_taken < N_HALF; n_taken++) {
    g_assert_cmpint(tide_kafka_refill_wait_ms(&fixture->refill, 500), ==, 500);
    take(fixture, 1);
  }
  g_assert_cmpuint(fixture->refill.n_questions, ==, 1);
}

/* ---- partitions that were not assigned ---- */

/* Counts the questions for offsets that the brokers were asked, as librdkafka's statistics have them. */
static int
count_questions(rd_kafka_t *kafka, char *statistics, size_t len, void *opaque)
{
  gint64 *n_questions = opaque;
  const char *found = strstr(statistics, "\"ListOffsets\":");
  if (found != NULL)
    *n_questions = MAX(*n_questions, g_ascii_strtoll(found + strlen("\"ListOffsets\":"), NULL, 10));
  return 0;
}

/* Of a queue that is empty: nothing is read, so that nothing can fill it before it is looked at. */
TEST("/kafka-refill/asks-of-the-partitions-that-it-is-told")
{
  Fixture fixture = {0};
  gint64 n_asked = 0, deadline_us = tide_now_us() + TIMEOUT_US;
  rd_kafka_conf_t *conf = make_topic(&fixture, MESSAGE_BYTES);
  set_conf(conf, "statistics.interval.ms", "10");
  rd_kafka_conf_set_stats_cb(conf, count_questions);
  rd_kafka_conf_set_opaque(conf, &n_asked);
  fixture.consumer = rd_kafka_new(RD_KAFKA_CONSUMER, conf, NULL, 0);
  g_assert_nonnull(fixture.consumer);
  fixture.queue = rd_kafka_queue_new(fixture.consumer);
  g_autoptr(rd_kafka_topic_partition_list_t) partitions = all_partitions();
  tide_kafka_refill_init(&fixture.refill, fixture.consumer, fixture.queue, partitions);
  while (n_asked == 0) { /* while the broker is not known yet, a question ends with our patience */
    guint64 n_questions = fixture.refill.n_questions;
    fixture.refill.n_messages = fixture.refill.half_messages;
    fixture.refill.not_before_us = 0;
    g_assert_cmpint(tide_kafka_refill_wait_ms(&fixture.refill, 500), ==, 500);
    g_assert_cmpuint(fixture.refill.n_questions, ==, n_questions + 1);
    pipeline_fixture_wait_a_little(deadline_us, "a question to the broker");
    rd_kafka_poll(fixture.consumer, 0);
  }
  rd_kafka_queue_destroy(fixture.queue);
  rd_kafka_destroy(fixture.consumer);
  mock_kafka_free(fixture.kafka);
}

/* ---- the wall clock was set back ---- */

#define GROUP "g"
#define S TIDE_US_PER_S
#define BEGIN_US (1000 * S)

typedef struct RouseFixture {
  TideMockKafka *kafka; /* two brokers, of which the second coordinates the group */
  TideConfig *config;
  rd_kafka_t *client;
  TideKafkaRefill refill;
  TideKafkaRouse rouse;
} RouseFixture;

static void
set_up_rouse(RouseFixture *fixture, gconstpointer data)
{
  fixture->kafka = mock_kafka_new(2);
  mock_kafka_create_topic(fixture->kafka, TOPIC, 1);
  mock_kafka_set_leader(fixture->kafka, TOPIC, 0, 1);
  mock_kafka_set_coordinator(fixture->kafka, GROUP, 2);
  fixture->config = mock_kafka_config(fixture->kafka, "group: " GROUP ", topics: [" TOPIC "], session_timeout: 25s",
                                      "limits: { drain_timeout: 5s }\n");
  const TideKafkaConfig *config = &fixture->config->kafka;
  g_autoptr(GError) error = NULL;
  fixture->client = tide_kafka_conf_connect(RD_KAFKA_CONSUMER,
                                            tide_kafka_conf_new_bystander(config, config->group, NULL, &error), &error);
  g_assert_no_error(error);
  tide_kafka_refill_init(&fixture->refill, fixture->client, NULL, NULL);
  fixture->rouse = (TideKafkaRouse){.config = config, .refill = &fixture->refill};
}

static void
tear_down_rouse(RouseFixture *fixture, gconstpointer data)
{
  rd_kafka_destroy_flags(fixture->client, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
  tide_config_free(fixture->config);
  mock_kafka_free(fixture->kafka);
}

#define ROUSE_TEST(path) TEST_WITH(RouseFixture, set_up_rouse, tear_down_rouse, path)

/* Asks once a second, of the time that is the test's, until the coordinator has answered. */
static void
rouse_until_answered(RouseFixture *fixture, gint64 now_us)
{
  gint64 deadline_us = tide_now_us() + TIMEOUT_US;
  while (tide_kafka_rouse_is_under_way(&fixture->rouse)) {
    g_assert_cmpint(tide_now_us(), <, deadline_us);
    g_assert_true(tide_kafka_rouse(&fixture->rouse, now_us));
    now_us += S;
  }
}

ROUSE_TEST("/kafka-rouse/E9-K5-answer-ends-it")
{
  g_assert_false(tide_kafka_rouse_is_under_way(&fixture->rouse));
  for (gint64 i = 0; i < 2; i++) { /* each time that the clock is set back */
    tide_kafka_rouse_want(&fixture->rouse);
    g_assert_true(tide_kafka_rouse_is_under_way(&fixture->rouse));
    rouse_until_answered(fixture, BEGIN_US + i * 3600 * S);
  }
}

/* A broker that refuses the question has answered it. */
ROUSE_TEST("/kafka-rouse/E9-K5-refusal-is-an-answer")
{
  mock_kafka_push_errors(fixture->kafka, TIDE_KAFKA_OFFSET_FETCH, RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED, 1000);
  tide_kafka_rouse_want(&fixture->rouse);
  rouse_until_answered(fixture, BEGIN_US);
}

ROUSE_TEST("/kafka-rouse/E9-K5-silent-coordinator-among-brokers-is-the-end")
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
ROUSE_TEST("/kafka-rouse/E9-K5-outage-alone-is-not-the-end")
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
