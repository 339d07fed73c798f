#include "kafka/kafka_reader.h"

#include "kafka/kafka_client.h"
#include "kafka/kafka_message.h"
#include "util/clock.h"
#include "util/error.h"

/* Long enough to cost nothing, short enough that the deadline is kept closely. */
#define WAIT_MS 100

/* For each partition: a fetch of librdkafka's default size fits several times. */
#define QUEUE_KIB "4096"

typedef struct Reader {
  const TideKafkaReadRequest *request; /* borrowed */
  TideKafkaReadFunc func;
  gpointer data;
  gint64 deadline_us;
  TideKafkaClient *client; /* owned */
  rd_kafka_topic_t *topic; /* owned */
  rd_kafka_queue_t *queue; /* owned: of all partitions */
  guint64 *counts;         /* owned, by partition: messages handed out */
  gboolean *running;       /* owned, by partition */
  gint64 *ends;            /* owned, by partition: its first offset that is not read; G_MAXINT64: up to its end */
  gint32 n_partitions;
  gint32 n_running;
  guint64 share;    /* of each partition */
  gboolean stopped; /* by func */
  TideKafkaReadResult result;
} Reader;

static int
ms_left(const Reader *reader)
{
  return (int)CLAMP((reader->deadline_us - tide_now_us()) / TIDE_US_PER_MS, 0, G_MAXINT);
}

static gboolean
find_partitions(Reader *reader, GError **error)
{
  const struct rd_kafka_metadata *metadata = NULL;
  rd_kafka_resp_err_t result =
      rd_kafka_metadata(tide_kafka_client_handle(reader->client), 0, reader->topic, &metadata, ms_left(reader));
  if (result != RD_KAFKA_RESP_ERR_NO_ERROR) {
    tide_kafka_client_set_error(reader->client, result, error);
    return FALSE;
  }
  gboolean found = metadata->topic_cnt == 1 && metadata->topics[0].err == RD_KAFKA_RESP_ERR_NO_ERROR;
  if (found)
    reader->n_partitions = metadata->topics[0].partition_cnt;
  else
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_NOT_FOUND, "topic '%s' does not exist, or this user may not see it",
                reader->request->topic);
  rd_kafka_metadata_destroy(metadata);
  return found;
}

/* @ret_is_empty: nothing is to be read of it. */
static gboolean
find_end(Reader *reader, gint32 partition, gboolean *ret_is_empty, GError **error)
{
  gint64 low = 0, high = 0;
  rd_kafka_resp_err_t result = rd_kafka_query_watermark_offsets(
      tide_kafka_client_handle(reader->client), reader->request->topic, partition, &low, &high, ms_left(reader));
  if (result != RD_KAFKA_RESP_ERR_NO_ERROR) {
    tide_kafka_client_set_error(reader->client, result, error);
    return FALSE;
  }
  reader->ends[partition] = high;
  *ret_is_empty = low >= high;
  return TRUE;
}

/* All of them before any is read. */
static gboolean
find_ends(Reader *reader, gboolean *ret_is_empty, GError **error)
{
  for (gint32 partition = 0; partition < reader->n_partitions; partition++) {
    reader->ends[partition] = G_MAXINT64;
    if (reader->request->to_present_end && !find_end(reader, partition, &ret_is_empty[partition], error))
      return FALSE;
  }
  return TRUE;
}

/* librdkafka's simple consumer: it knows no groups, so there is none to disturb. */
static gboolean
start_partitions(Reader *reader, GError **error)
{
  const TideKafkaReadRequest *request = reader->request;
  gsize n = (gsize)reader->n_partitions;
  reader->counts = g_new0(guint64, n);
  reader->running = g_new0(gboolean, n);
  reader->ends = g_new0(gint64, n);
  g_autofree gboolean *is_empty = g_new0(gboolean, n);
  if (!find_ends(reader, is_empty, error))
    return FALSE;
  reader->share = MAX(request->max_messages / MAX(n, 1) + (request->max_messages % MAX(n, 1) > 0), 1);
  for (gint32 partition = 0; partition < reader->n_partitions; partition++) {
    if (is_empty[partition])
      continue;
    gint64 from = request->newest ? RD_KAFKA_OFFSET_TAIL((gint64)reader->share) : RD_KAFKA_OFFSET_BEGINNING;
    if (rd_kafka_consume_start_queue(reader->topic, partition, from, reader->queue) != 0) {
      tide_kafka_client_set_error(reader->client, rd_kafka_last_error(), error);
      return FALSE;
    }
    reader->running[partition] = TRUE;
    reader->n_running++;
  }
  return TRUE;
}

static void
stop_partition(Reader *reader, gint32 partition)
{
  if (!reader->running[partition])
    return;
  (void)rd_kafka_consume_stop(reader->topic, partition); /* of one that runs, it cannot fail */
  reader->running[partition] = FALSE;
  reader->n_running--;
}

static void
take_message(Reader *reader, const rd_kafka_message_t *raw)
{
  if (raw->partition < 0 || raw->partition >= reader->n_partitions || !reader->running[raw->partition])
    return;
  if (raw->err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
    stop_partition(reader, raw->partition);
    return;
  }
  if (raw->err == RD_KAFKA_RESP_ERR_NO_ERROR && raw->offset >= reader->ends[raw->partition]) {
    stop_partition(reader, raw->partition); /* the last ones before it were compacted away */
    return;
  }
  if (raw->err != RD_KAFKA_RESP_ERR_NO_ERROR)
    return; /* librdkafka goes on trying, until our time is over */
  if (reader->request->waits_for_each)
    reader->deadline_us = tide_now_us() + reader->request->timeout_ms * TIDE_US_PER_MS;
  TideMessage message = tide_kafka_message(raw);
  reader->result.n_messages++;
  reader->stopped = !reader->func(&message, reader->data);
  if (++reader->counts[raw->partition] >= reader->share || raw->offset + 1 >= reader->ends[raw->partition])
    stop_partition(reader, raw->partition);
}

static gboolean
read_messages(Reader *reader, GError **error)
{
  while (reader->n_running > 0 && !reader->stopped && reader->result.n_messages < reader->request->max_messages) {
    int wait_ms = ms_left(reader);
    if (wait_ms == 0) {
      reader->result.timed_out = TRUE;
      break;
    }
    rd_kafka_message_t *raw = rd_kafka_consume_queue(reader->queue, MIN(wait_ms, WAIT_MS));
    if (raw == NULL)
      continue;
    take_message(reader, raw);
    rd_kafka_message_destroy(raw);
  }
  if (!reader->result.timed_out || reader->result.n_messages > 0)
    return TRUE;
  tide_kafka_client_set_error(reader->client, RD_KAFKA_RESP_ERR__TIMED_OUT, error);
  return FALSE;
}

static gboolean
run(Reader *reader, const TideKafkaConfig *config, GError **error)
{
  /* Of a partition that holds fewer than its share, or lost its oldest meanwhile, what is left. */
  static const TideKafkaSetting settings[] = {
      {"auto.offset.reset", "earliest"},
      {"queued.max.messages.kbytes", QUEUE_KIB},
      {NULL},
  };
  reader->client = tide_kafka_client_new(config, NULL, settings, error);
  if (reader->client == NULL)
    return FALSE;
  rd_kafka_t *kafka = tide_kafka_client_handle(reader->client);
  reader->topic = rd_kafka_topic_new(kafka, reader->request->topic, NULL);
  if (reader->topic == NULL) {
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_USAGE, "'%s' is no topic's name: %s", reader->request->topic,
                rd_kafka_err2str(rd_kafka_last_error()));
    return FALSE;
  }
  reader->queue = rd_kafka_queue_new(kafka);
  return find_partitions(reader, error) && start_partitions(reader, error) && read_messages(reader, error);
}

/* librdkafka hangs in its destruction when a partition, queue or topic is still held. */
static void
clear(Reader *reader)
{
  for (gint32 partition = 0; reader->running != NULL && partition < reader->n_partitions; partition++)
    stop_partition(reader, partition);
  g_clear_pointer(&reader->queue, rd_kafka_queue_destroy);
  g_clear_pointer(&reader->topic, rd_kafka_topic_destroy);
  g_clear_pointer(&reader->client, tide_kafka_client_free);
  g_free(reader->counts);
  g_free(reader->running);
  g_free(reader->ends);
}

gboolean
tide_kafka_read(const TideKafkaConfig *config, const TideKafkaReadRequest *request, TideKafkaReadFunc func,
                gpointer data, TideKafkaReadResult *ret_result, GError **error)
{
  Reader reader = {
      .request = request,
      .func = func,
      .data = data,
      .deadline_us = tide_now_us() + request->timeout_ms * TIDE_US_PER_MS,
  };
  gboolean ok = run(&reader, config, error);
  clear(&reader);
  if (!ok)
    return FALSE;
  reader.result.n_partitions = (guint)reader.n_partitions;
  *ret_result = reader.result;
  return TRUE;
}

const char *
tide_kafka_reader_topic(const TideKafkaConfig *config, const char *given, GError **error)
{
  if (given != NULL)
    return given;
  gboolean one = config->topics[1] == NULL;
  if (one && config->topics[0][0] != '^')
    return config->topics[0];
  g_set_error(error, TIDE_ERROR, TIDE_ERROR_USAGE, "the configuration names %s: say which topic with '--topic'",
              one ? "a pattern of topics" : "several topics");
  return NULL;
}
