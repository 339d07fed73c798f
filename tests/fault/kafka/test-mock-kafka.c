/* Holds the mock cluster and its fixture to what tests build on. */
#include "fault/kafka/mock_kafka.h"
#include "util/clock.h"

#define TIMEOUT_US (240 * TIDE_US_PER_S) /* far beyond what any step takes: only a failure waits so long */
#define TOPIC "metrics"
#define GROUP "tidemark"

static gint64
timeout(void)
{
  return tide_now_us() + TIMEOUT_US;
}

static TideMockKafka *
cluster_with_topic(int n_brokers, int n_partitions)
{
  TideMockKafka *kafka = mock_kafka_new(n_brokers);
  mock_kafka_create_topic(kafka, TOPIC, n_partitions);
  return kafka;
}

static void
produce_numbered(TideMockKafka *kafka, gint32 partition, guint n)
{
  for (guint i = 0; i < n; i++) {
    g_autofree char *payload = g_strdup_printf("{\"n\":%u}", i);
    mock_kafka_produce_text(kafka, TOPIC, partition, payload);
  }
  g_assert_true(mock_kafka_flush(kafka, timeout()));
}

static void
assert_bytes(GBytes *bytes, TideBytes wanted)
{
  g_assert_nonnull(bytes);
  g_autofree char *seen = tide_bytes_printable(tide_bytes(g_bytes_get_data(bytes, NULL), g_bytes_get_size(bytes)));
  g_autofree char *text = tide_bytes_printable(wanted);
  g_assert_cmpstr(seen, ==, text);
}

static void
test_messages_keep_key_time_headers_and_partition(void)
{
  g_autoptr(TideMockKafka) kafka = cluster_with_topic(1, 3);
  TideMockMessage message = {.topic = TOPIC,
                             .partition = 2,
                             .key = TIDE_BYTES_LITERAL("server1"),
                             .payload = TIDE_BYTES_LITERAL("{}"),
                             .timestamp_ms = 1426535612045,
                             .headers = {{"site", TIDE_BYTES_LITERAL("b\0b")}, {"empty", TIDE_BYTES_LITERAL("")}}};
  mock_kafka_produce(kafka, &message);
  g_assert_true(mock_kafka_flush(kafka, timeout()));

  g_autoptr(GPtrArray) records = mock_kafka_read_topic(kafka, TOPIC, 3, timeout());
  g_assert_cmpuint(records->len, ==, 1);
  const TideMockRecord *record = records->pdata[0];
  g_autoptr(GBytes) site = mock_record_header(record, "site");
  g_autoptr(GBytes) none = mock_record_header(record, "none");
  g_assert_cmpint(record->partition, ==, 2);
  g_assert_cmpint(record->offset, ==, 0);
  g_assert_cmpint(record->timestamp_ms, ==, 1426535612045);
  assert_bytes(record->key, message.key);
  assert_bytes(record->payload, message.payload);
  assert_bytes(site, message.headers[0].value);
  g_assert_null(none);
}

static void
test_tombstones_are_not_empty_messages(void)
{
  g_autoptr(TideMockKafka) kafka = cluster_with_topic(1, 1);
  mock_kafka_produce(kafka, &(TideMockMessage){.topic = TOPIC, .key = TIDE_BYTES_LITERAL("k")});
  mock_kafka_produce(kafka, &(TideMockMessage){.topic = TOPIC, .payload = TIDE_BYTES_LITERAL("")});
  g_assert_true(mock_kafka_flush(kafka, timeout()));

  g_autoptr(GPtrArray) records = mock_kafka_read_topic(kafka, TOPIC, 1, timeout());
  g_assert_cmpuint(records->len, ==, 2);
  g_assert_null(((TideMockRecord *)records->pdata[0])->payload);
  g_assert_nonnull(((TideMockRecord *)records->pdata[1])->payload);
  g_assert_null(((TideMockRecord *)records->pdata[1])->key);
}

static void
test_offsets_count_per_partition(void)
{
  g_autoptr(TideMockKafka) kafka = cluster_with_topic(3, 2);
  produce_numbered(kafka, 0, 1000);
  produce_numbered(kafka, 1, 10);
  g_assert_cmpint(mock_kafka_end_offset(kafka, TOPIC, 0, timeout()), ==, 1000);
  g_assert_cmpint(mock_kafka_end_offset(kafka, TOPIC, 1, timeout()), ==, 10);
  g_autoptr(GPtrArray) records = mock_kafka_read_topic(kafka, TOPIC, 2, timeout());
  g_assert_cmpuint(records->len, ==, 1010);
}

/* A consumer in the group, as a user of the fixture would have one. */
static rd_kafka_t *
join_group(TideMockKafka *kafka)
{
  char text[256];
  rd_kafka_conf_t *conf = rd_kafka_conf_new();
  g_assert_cmpint(rd_kafka_conf_set(conf, "bootstrap.servers", mock_kafka_brokers(kafka), text, sizeof text), ==, 0);
  g_assert_cmpint(rd_kafka_conf_set(conf, "group.id", GROUP, text, sizeof text), ==, 0);
  g_assert_cmpint(rd_kafka_conf_set(conf, "enable.auto.commit", "false", text, sizeof text), ==, 0);
  g_assert_cmpint(rd_kafka_conf_set(conf, "auto.offset.reset", "earliest", text, sizeof text), ==, 0);
  rd_kafka_t *consumer = rd_kafka_new(RD_KAFKA_CONSUMER, conf, text, sizeof text);
  g_assert_nonnull(consumer);
  rd_kafka_topic_partition_list_t *topics = rd_kafka_topic_partition_list_new(1);
  rd_kafka_topic_partition_list_add(topics, TOPIC, RD_KAFKA_PARTITION_UA);
  g_assert_cmpint(rd_kafka_subscribe(consumer, topics), ==, RD_KAFKA_RESP_ERR_NO_ERROR);
  rd_kafka_topic_partition_list_destroy(topics);
  return consumer;
}

static void
consume(rd_kafka_t *consumer, guint n)
{
  gint64 deadline_us = timeout();
  for (guint i = 0; i < n;) {
    g_assert_cmpint(tide_now_us(), <, deadline_us);
    rd_kafka_message_t *message = rd_kafka_consumer_poll(consumer, 100);
    if (message == NULL)
      continue;
    i += message->err == RD_KAFKA_RESP_ERR_NO_ERROR;
    rd_kafka_message_destroy(message);
  }
}

static rd_kafka_resp_err_t
commit(rd_kafka_t *consumer, gint64 offset)
{
  rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
  rd_kafka_topic_partition_list_add(list, TOPIC, 0)->offset = offset;
  rd_kafka_resp_err_t code = rd_kafka_commit(consumer, list, 0);
  rd_kafka_topic_partition_list_destroy(list);
  return code;
}

static void
leave_group(rd_kafka_t *consumer)
{
  rd_kafka_consumer_close(consumer);
  rd_kafka_destroy(consumer);
}

static void
test_committed_offsets_are_seen_without_joining(void)
{
  g_autoptr(TideMockKafka) kafka = cluster_with_topic(1, 1);
  produce_numbered(kafka, 0, 20);
  g_assert_cmpint(mock_kafka_committed(kafka, GROUP, TOPIC, 0, timeout()), ==, -1);
  g_assert_false(mock_kafka_wait_committed(kafka, GROUP, TOPIC, 0, 1, tide_now_us() + 200 * TIDE_US_PER_MS));

  rd_kafka_t *consumer = join_group(kafka);
  consume(consumer, 20);
  g_assert_cmpint(commit(consumer, 7), ==, RD_KAFKA_RESP_ERR_NO_ERROR);
  g_assert_true(mock_kafka_wait_committed(kafka, GROUP, TOPIC, 0, 7, timeout()));
  g_assert_cmpint(mock_kafka_committed(kafka, GROUP, TOPIC, 0, timeout()), ==, 7);
  leave_group(consumer);
  g_assert_cmpint(mock_kafka_committed(kafka, GROUP, TOPIC, 0, timeout()), ==, 7);
}

static void
test_pushed_errors_fail_the_next_requests_only(void)
{
  g_autoptr(TideMockKafka) kafka = cluster_with_topic(1, 1);
  produce_numbered(kafka, 0, 1);
  rd_kafka_t *consumer = join_group(kafka);
  consume(consumer, 1);
  mock_kafka_push_errors(kafka, TIDE_KAFKA_OFFSET_COMMIT, RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED, 1);
  g_assert_cmpint(commit(consumer, 1), ==, RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED);
  g_assert_cmpint(mock_kafka_committed(kafka, GROUP, TOPIC, 0, timeout()), ==, -1);
  g_assert_cmpint(commit(consumer, 1), ==, RD_KAFKA_RESP_ERR_NO_ERROR);
  g_assert_cmpint(mock_kafka_committed(kafka, GROUP, TOPIC, 0, timeout()), ==, 1);
  leave_group(consumer);
}

static void
test_a_cluster_that_is_down_keeps_what_it_had(void)
{
  g_autoptr(TideMockKafka) kafka = cluster_with_topic(2, 1);
  produce_numbered(kafka, 0, 5);
  mock_kafka_set_broker_up(kafka, -1, FALSE);
  mock_kafka_produce_text(kafka, TOPIC, 0, "later");
  g_assert_false(mock_kafka_flush(kafka, tide_now_us() + 300 * TIDE_US_PER_MS));
  mock_kafka_set_broker_up(kafka, -1, TRUE);
  g_assert_true(mock_kafka_flush(kafka, timeout()));
  g_assert_cmpint(mock_kafka_end_offset(kafka, TOPIC, 0, timeout()), ==, 6);
}

static void
test_a_leader_that_moves_takes_the_messages_along(void)
{
  g_autoptr(TideMockKafka) kafka = cluster_with_topic(2, 1);
  mock_kafka_set_leader(kafka, TOPIC, 0, 1);
  mock_kafka_set_coordinator(kafka, GROUP, 1);
  produce_numbered(kafka, 0, 5);
  mock_kafka_set_leader(kafka, TOPIC, 0, 2);
  mock_kafka_set_coordinator(kafka, GROUP, 2);
  produce_numbered(kafka, 0, 5);
  rd_kafka_t *consumer = join_group(kafka);
  consume(consumer, 10);
  g_assert_cmpint(commit(consumer, 10), ==, RD_KAFKA_RESP_ERR_NO_ERROR);
  g_assert_true(mock_kafka_wait_committed(kafka, GROUP, TOPIC, 0, 10, timeout()));
  leave_group(consumer);
}

/* The limit that mock_kafka.h warns of: who relies on more than 5 MiB in a partition would see a loss that is none. */
static void
test_a_partition_forgets_its_oldest_beyond_five_mebibytes(void)
{
  g_autoptr(TideMockKafka) kafka = cluster_with_topic(1, 1);
  g_autofree char *payload = g_strnfill(64 * 1024, 'x');
  for (guint i = 0; i < 100; i++) {
    mock_kafka_produce_text(kafka, TOPIC, 0, payload);
    g_assert_true(mock_kafka_flush(kafka, timeout()));
  }
  g_assert_cmpint(mock_kafka_end_offset(kafka, TOPIC, 0, timeout()), ==, 100);
  g_autoptr(GPtrArray) records = mock_kafka_read_topic(kafka, TOPIC, 1, timeout());
  g_assert_cmpuint(records->len, <, 100);
  g_assert_cmpint(((TideMockRecord *)records->pdata[records->len - 1])->offset, ==, 99);
}

static void
test_a_slow_broker_is_slow(void)
{
  g_autoptr(TideMockKafka) kafka = cluster_with_topic(1, 1);
  produce_numbered(kafka, 0, 1);
  mock_kafka_set_round_trip_ms(kafka, -1, 200);
  gint64 start_us = tide_now_us();
  produce_numbered(kafka, 0, 1);
  g_assert_cmpint(tide_now_us() - start_us, >=, 200 * TIDE_US_PER_MS);
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/mock-kafka/messages-keep-key-time-headers-and-partition",
                  test_messages_keep_key_time_headers_and_partition);
  g_test_add_func("/mock-kafka/tombstones-are-not-empty-messages", test_tombstones_are_not_empty_messages);
  g_test_add_func("/mock-kafka/offsets-count-per-partition", test_offsets_count_per_partition);
  g_test_add_func("/mock-kafka/committed-offsets-are-seen-without-joining",
                  test_committed_offsets_are_seen_without_joining);
  g_test_add_func("/mock-kafka/pushed-errors-fail-the-next-requests-only",
                  test_pushed_errors_fail_the_next_requests_only);
  g_test_add_func("/mock-kafka/a-cluster-that-is-down-keeps-what-it-had",
                  test_a_cluster_that_is_down_keeps_what_it_had);
  g_test_add_func("/mock-kafka/a-leader-that-moves-takes-the-messages-along",
                  test_a_leader_that_moves_takes_the_messages_along);
  g_test_add_func("/mock-kafka/a-partition-forgets-its-oldest-beyond-five-mebibytes",
                  test_a_partition_forgets_its_oldest_beyond_five_mebibytes);
  g_test_add_func("/mock-kafka/a-slow-broker-is-slow", test_a_slow_broker_is_slow);
  return g_test_run();
}
