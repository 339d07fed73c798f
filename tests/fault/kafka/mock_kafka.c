#include "fault/kafka/mock_kafka.h"

#include "util/clock.h"

#include <librdkafka/rdkafka_mock.h>

G_DEFINE_AUTOPTR_CLEANUP_FUNC(rd_kafka_topic_partition_list_t, rd_kafka_topic_partition_list_destroy)

/* librdkafka's calls that wait are asked to for so long at most; the deadline is looked at in between. */
#define STEP_MS 20
#define LEARN_MS 2000 /* only a cluster that was made unreachable takes so long */

struct TideMockKafka {
  int n_brokers;
  rd_kafka_t *handle; /* keeps the cluster's books, as rd_kafka_mock_cluster_new() wants */
  rd_kafka_mock_cluster_t *cluster;
  rd_kafka_t *producer;
  GHashTable *observers;         /* owned: group -> rd_kafka_t, consumers that never join */
  _Atomic guint64 n_undelivered; /* counted by the producer's poll */
};

/* The mock's brokers come and go on purpose: what the fixture's own clients say about it is noise. */
static void
drop_log(const rd_kafka_t *client, int level, const char *facility, const char *text)
{
}

static rd_kafka_conf_t *
new_conf(void)
{
  rd_kafka_conf_t *conf = rd_kafka_conf_new();
  rd_kafka_conf_set_log_cb(conf, drop_log);
  return conf;
}

static void
set_property(rd_kafka_conf_t *conf, const char *name, const char *value)
{
  char text[256];
  if (rd_kafka_conf_set(conf, name, value, text, sizeof text) != RD_KAFKA_CONF_OK)
    g_error("%s", text);
}

static rd_kafka_t *
new_client(rd_kafka_type_t type, rd_kafka_conf_t *conf)
{
  char text[256];
  rd_kafka_t *client = rd_kafka_new(type, conf, text, sizeof text);
  if (client == NULL)
    g_error("%s", text);
  return client;
}

static void
require(rd_kafka_resp_err_t code, const char *what)
{
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR)
    g_error("%s: %s", what, rd_kafka_err2str(code));
}

static void
message_delivered(rd_kafka_t *producer, const rd_kafka_message_t *message, void *data)
{
  TideMockKafka *kafka = data;
  if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR)
    kafka->n_undelivered++;
}

/* A client that knows the topics from the start: else it looks for their leaders once a second only. */
static void
learn_topics(rd_kafka_t *client, int timeout_ms)
{
  const struct rd_kafka_metadata *metadata = NULL;
  if (rd_kafka_metadata(client, 1, NULL, &metadata, timeout_ms) == RD_KAFKA_RESP_ERR_NO_ERROR)
    rd_kafka_metadata_destroy(metadata);
}

TideMockKafka *
mock_kafka_new(int n_brokers)
{
  TideMockKafka *kafka = g_new0(TideMockKafka, 1);
  kafka->n_brokers = n_brokers;
  kafka->handle = new_client(RD_KAFKA_PRODUCER, new_conf());
  kafka->cluster = rd_kafka_mock_cluster_new(kafka->handle, n_brokers);
  if (kafka->cluster == NULL)
    g_error("cannot start the mock cluster");
  kafka->observers = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)rd_kafka_destroy);

  rd_kafka_conf_t *conf = new_conf();
  set_property(conf, "bootstrap.servers", mock_kafka_brokers(kafka));
  set_property(conf, "linger.ms", "1");
  set_property(conf, "queue.buffering.max.messages", "1000000");
  rd_kafka_conf_set_dr_msg_cb(conf, message_delivered);
  rd_kafka_conf_set_opaque(conf, kafka);
  kafka->producer = new_client(RD_KAFKA_PRODUCER, conf);
  return kafka;
}

void
mock_kafka_free(TideMockKafka *kafka)
{
  if (kafka == NULL)
    return;
  rd_kafka_purge(kafka->producer, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT | RD_KAFKA_PURGE_F_NON_BLOCKING);
  rd_kafka_destroy(kafka->producer);
  g_hash_table_unref(kafka->observers);
  rd_kafka_mock_cluster_destroy(kafka->cluster);
  rd_kafka_destroy(kafka->handle);
  g_free(kafka);
}

const char *
mock_kafka_brokers(const TideMockKafka *kafka)
{
  return rd_kafka_mock_cluster_bootstraps(kafka->cluster);
}

void
mock_kafka_create_topic(TideMockKafka *kafka, const char *topic, int n_partitions)
{
  require(rd_kafka_mock_topic_create(kafka->cluster, topic, n_partitions, kafka->n_brokers), topic);
  learn_topics(kafka->producer, LEARN_MS);
}

static rd_kafka_headers_t *
copy_headers(const TideMockMessage *message)
{
  rd_kafka_headers_t *headers = rd_kafka_headers_new(MOCK_KAFKA_MAX_HEADERS);
  for (guint i = 0; i < MOCK_KAFKA_MAX_HEADERS && message->headers[i].name != NULL; i++) {
    const TideMockHeader *header = &message->headers[i];
    rd_kafka_header_add(headers, header->name, -1, header->value.data, (gssize)header->value.len);
  }
  return headers;
}

void
mock_kafka_produce(TideMockKafka *kafka, const TideMockMessage *message)
{
  rd_kafka_resp_err_t code;
  do {
    rd_kafka_headers_t *headers = copy_headers(message);
    code =
        rd_kafka_producev(kafka->producer, RD_KAFKA_V_TOPIC(message->topic), RD_KAFKA_V_PARTITION(message->partition),
                          RD_KAFKA_V_KEY((void *)message->key.data, message->key.len),
                          RD_KAFKA_V_VALUE((void *)message->payload.data, message->payload.len),
                          RD_KAFKA_V_TIMESTAMP(message->timestamp_ms), RD_KAFKA_V_HEADERS(headers),
                          RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_END);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR)
      rd_kafka_headers_destroy(headers);
    rd_kafka_poll(kafka->producer, code == RD_KAFKA_RESP_ERR__QUEUE_FULL ? STEP_MS : 0);
  } while (code == RD_KAFKA_RESP_ERR__QUEUE_FULL);
  require(code, "produce");
}

void
mock_kafka_produce_text(TideMockKafka *kafka, const char *topic, gint32 partition, const char *payload)
{
  TideMockMessage message = {.topic = topic, .partition = partition, .payload = tide_bytes_of_string(payload)};
  mock_kafka_produce(kafka, &message);
}

static int
ms_until(gint64 deadline_us)
{
  gint64 left_ms = (deadline_us - tide_now_us()) / TIDE_US_PER_MS;
  return (int)CLAMP(left_ms, 0, G_MAXINT32);
}

gboolean
mock_kafka_flush(TideMockKafka *kafka, gint64 deadline_us)
{
  return rd_kafka_flush(kafka->producer, ms_until(deadline_us)) == RD_KAFKA_RESP_ERR_NO_ERROR &&
         kafka->n_undelivered == 0;
}

/* FALSE when they cannot be had by the deadline. */
static gboolean
ask_range(TideMockKafka *kafka, const char *topic, gint32 partition, gint64 deadline_us, gint64 *ret_low,
          gint64 *ret_high)
{
  rd_kafka_resp_err_t code;
  do
    code = rd_kafka_query_watermark_offsets(kafka->producer, topic, partition, ret_low, ret_high,
                                            CLAMP(ms_until(deadline_us), 1, STEP_MS * 50));
  while (code != RD_KAFKA_RESP_ERR_NO_ERROR && tide_now_us() < deadline_us);
  return code == RD_KAFKA_RESP_ERR_NO_ERROR;
}

gint64
mock_kafka_end_offset(TideMockKafka *kafka, const char *topic, gint32 partition, gint64 deadline_us)
{
  gint64 low, high;
  return ask_range(kafka, topic, partition, deadline_us, &low, &high) ? high : -1;
}

gint64
mock_kafka_begin_offset(TideMockKafka *kafka, const char *topic, gint32 partition, gint64 deadline_us)
{
  gint64 low, high;
  return ask_range(kafka, topic, partition, deadline_us, &low, &high) ? low : -1;
}

char *
mock_kafka_cluster_id(TideMockKafka *kafka)
{
  char *id = rd_kafka_clusterid(kafka->producer, LEARN_MS);
  if (id == NULL)
    g_error("the mock cluster does not tell its id");
  char *copy = g_strdup(id);
  rd_kafka_mem_free(kafka->producer, id);
  return copy;
}

gboolean
mock_kafka_tells_offsets(TideMockKafka *kafka, rd_kafka_t *client, const char *topic, gint64 deadline_us)
{
  g_autoptr(rd_kafka_topic_partition_list_t) list = rd_kafka_topic_partition_list_new(1);
  rd_kafka_topic_partition_list_add(list, topic, 0)->offset = RD_KAFKA_OFFSET_END;
  return rd_kafka_offsets_for_times(client != NULL ? client : kafka->producer, list, ms_until(deadline_us)) ==
         RD_KAFKA_RESP_ERR_NO_ERROR;
}

static rd_kafka_t *
new_observer(TideMockKafka *kafka, const char *group)
{
  rd_kafka_conf_t *conf = new_conf();
  set_property(conf, "bootstrap.servers", mock_kafka_brokers(kafka));
  set_property(conf, "group.id", group);
  set_property(conf, "enable.auto.commit", "false");
  set_property(conf, "auto.offset.reset", "earliest");
  set_property(conf, "enable.partition.eof", "true");
  set_property(conf, "fetch.wait.max.ms", "10"); /* an end is reported when a fetch comes back empty */
  return new_client(RD_KAFKA_CONSUMER, conf);
}

static rd_kafka_t *
observer_of(TideMockKafka *kafka, const char *group)
{
  rd_kafka_t *observer = g_hash_table_lookup(kafka->observers, group);
  if (observer == NULL)
    g_hash_table_insert(kafka->observers, g_strdup(group), observer = new_observer(kafka, group));
  return observer;
}

/* -1 when nothing is committed, or the coordinator does not answer in time. */
static gint64
ask_committed(rd_kafka_t *observer, const char *topic, gint32 partition, int timeout_ms)
{
  g_autoptr(rd_kafka_topic_partition_list_t) list = rd_kafka_topic_partition_list_new(1);
  rd_kafka_topic_partition_t *element = rd_kafka_topic_partition_list_add(list, topic, partition);
  rd_kafka_resp_err_t code = rd_kafka_committed(observer, list, timeout_ms);
  gint64 offset =
      code == RD_KAFKA_RESP_ERR_NO_ERROR && element->err == RD_KAFKA_RESP_ERR_NO_ERROR ? element->offset : -1;
  return offset >= 0 ? offset : -1;
}

char *
mock_kafka_committed_note(TideMockKafka *kafka, const char *group, const char *topic, gint32 partition,
                          gint64 deadline_us)
{
  g_autoptr(rd_kafka_topic_partition_list_t) list = rd_kafka_topic_partition_list_new(1);
  rd_kafka_topic_partition_t *element = rd_kafka_topic_partition_list_add(list, topic, partition);
  rd_kafka_resp_err_t code = rd_kafka_committed(observer_of(kafka, group), list, ms_until(deadline_us));
  g_assert_cmpint(code, ==, RD_KAFKA_RESP_ERR_NO_ERROR);
  char *note = g_strndup(element->metadata, element->metadata_size);
  return note != NULL ? note : g_strdup("");
}

gint64
mock_kafka_committed(TideMockKafka *kafka, const char *group, const char *topic, gint32 partition, gint64 deadline_us)
{
  return ask_committed(observer_of(kafka, group), topic, partition, ms_until(deadline_us));
}

gboolean
mock_kafka_wait_committed(TideMockKafka *kafka, const char *group, const char *topic, gint32 partition, gint64 offset,
                          gint64 deadline_us)
{
  rd_kafka_t *observer = observer_of(kafka, group);
  while (ask_committed(observer, topic, partition, ms_until(deadline_us)) < offset) {
    if (tide_now_us() >= deadline_us)
      return FALSE;
    rd_kafka_consumer_poll(observer, STEP_MS); /* nothing is assigned: this only waits, and serves its events */
  }
  return TRUE;
}

void
mock_kafka_commit(TideMockKafka *kafka, const char *group, const char *topic, gint32 partition, gint64 offset)
{
  mock_kafka_commit_note(kafka, group, topic, partition, offset, "");
}

void
mock_kafka_commit_note(TideMockKafka *kafka, const char *group, const char *topic, gint32 partition, gint64 offset,
                       const char *note)
{
  g_autoptr(rd_kafka_topic_partition_list_t) list = rd_kafka_topic_partition_list_new(1);
  rd_kafka_topic_partition_t *at = rd_kafka_topic_partition_list_add(list, topic, partition);
  at->offset = offset;
  at->metadata = strdup(note); /* librdkafka frees it by free() */
  at->metadata_size = strlen(note);
  require(rd_kafka_commit(observer_of(kafka, group), list, 0), topic);
}

static void
record_free(gpointer data)
{
  TideMockRecord *record = data;
  g_clear_pointer(&record->key, g_bytes_unref);
  g_clear_pointer(&record->payload, g_bytes_unref);
  g_clear_pointer(&record->headers, rd_kafka_headers_destroy);
  g_free(record);
}

/* A copy: a message of librdkafka's must not outlive its consumer. */
static TideMockRecord *
record_of_message(const rd_kafka_message_t *message)
{
  TideMockRecord *record = g_new0(TideMockRecord, 1);
  rd_kafka_headers_t *headers = NULL;
  record->partition = message->partition;
  record->offset = message->offset;
  record->timestamp_ms = rd_kafka_message_timestamp(message, NULL);
  record->key = message->key != NULL ? g_bytes_new(message->key, message->key_len) : NULL;
  record->payload = message->payload != NULL ? g_bytes_new(message->payload, message->len) : NULL;
  if (rd_kafka_message_headers(message, &headers) == RD_KAFKA_RESP_ERR_NO_ERROR)
    record->headers = rd_kafka_headers_copy(headers);
  return record;
}

GBytes *
mock_record_header(const TideMockRecord *record, const char *name)
{
  const void *value = NULL;
  size_t len = 0;
  if (record->headers == NULL ||
      rd_kafka_header_get_last(record->headers, name, &value, &len) != RD_KAFKA_RESP_ERR_NO_ERROR)
    return NULL;
  return g_bytes_new(value, len);
}

static int
compare_places(gconstpointer a, gconstpointer b)
{
  const TideMockRecord *left = *(TideMockRecord *const *)a;
  const TideMockRecord *right = *(TideMockRecord *const *)b;
  if (left->partition != right->partition)
    return left->partition < right->partition ? -1 : 1;
  return left->offset < right->offset ? -1 : left->offset > right->offset;
}

GPtrArray *
mock_kafka_read_topic(TideMockKafka *kafka, const char *topic, int n_partitions, gint64 deadline_us)
{
  GPtrArray *records = g_ptr_array_new_with_free_func(record_free);
  rd_kafka_t *reader = new_observer(kafka, "mock-kafka-reader");
  learn_topics(reader, MIN(ms_until(deadline_us), LEARN_MS));
  g_autoptr(rd_kafka_topic_partition_list_t) list = rd_kafka_topic_partition_list_new(n_partitions);
  for (gint32 partition = 0; partition < n_partitions; partition++)
    rd_kafka_topic_partition_list_add(list, topic, partition)->offset = RD_KAFKA_OFFSET_BEGINNING;
  require(rd_kafka_assign(reader, list), topic);
  int n_open = n_partitions;
  while (n_open > 0 && tide_now_us() < deadline_us) {
    rd_kafka_message_t *message = rd_kafka_consumer_poll(reader, MIN(ms_until(deadline_us), STEP_MS));
    if (message == NULL)
      continue;
    if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR)
      g_ptr_array_add(records, record_of_message(message));
    else if (message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF)
      n_open--;
    rd_kafka_message_destroy(message);
  }
  rd_kafka_destroy_flags(reader, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE); /* it is in no group that it could leave */
  g_ptr_array_sort(records, compare_places);
  return records;
}

void
mock_kafka_push_errors(TideMockKafka *kafka, TideKafkaRequest request, rd_kafka_resp_err_t code, guint n)
{
  g_autofree rd_kafka_resp_err_t *codes = g_new(rd_kafka_resp_err_t, n);
  for (guint i = 0; i < n; i++)
    codes[i] = code;
  rd_kafka_mock_push_request_errors_array(kafka->cluster, (gint16)request, n, codes);
}

void
mock_kafka_delay_request(TideMockKafka *kafka, gint32 broker, TideKafkaRequest request, rd_kafka_resp_err_t code,
                         int delay_ms)
{
  require(rd_kafka_mock_broker_push_request_error_rtts(kafka->cluster, broker, (gint16)request, 1, code, delay_ms),
          "delay of a request");
}

void
mock_kafka_forget_request(TideMockKafka *kafka, TideKafkaRequest request)
{
  require(rd_kafka_mock_set_apiversion(kafka->cluster, (gint16)request, -1, -1), "a request");
}

void
mock_kafka_clear_errors(TideMockKafka *kafka, TideKafkaRequest request)
{
  rd_kafka_mock_clear_request_errors(kafka->cluster, (gint16)request);
}

void
mock_kafka_set_broker_up(TideMockKafka *kafka, gint32 broker, gboolean up)
{
  require(up ? rd_kafka_mock_broker_set_up(kafka->cluster, broker)
             : rd_kafka_mock_broker_set_down(kafka->cluster, broker),
          "state of a broker");
}

void
mock_kafka_set_round_trip_ms(TideMockKafka *kafka, gint32 broker, int ms)
{
  require(rd_kafka_mock_broker_set_rtt(kafka->cluster, broker, ms), "round trip time");
}

void
mock_kafka_set_leader(TideMockKafka *kafka, const char *topic, gint32 partition, gint32 broker)
{
  require(rd_kafka_mock_partition_set_leader(kafka->cluster, topic, partition, broker), topic);
}

void
mock_kafka_set_coordinator(TideMockKafka *kafka, const char *group, gint32 broker)
{
  require(rd_kafka_mock_coordinator_set(kafka->cluster, "group", group, broker), group);
}

void
mock_kafka_set_topic_error(TideMockKafka *kafka, const char *topic, rd_kafka_resp_err_t code)
{
  rd_kafka_mock_topic_set_error(kafka->cluster, topic, code);
}

gboolean
mock_kafka_can_deny_topics(void)
{
  int version = rd_kafka_version();
  return version < 0x02010000 || version >= 0x020a0000;
}
