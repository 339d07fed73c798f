#include "kafka/kafka_producer.h"

#include "kafka/kafka_conf.h"
#include "kafka/kafka_error.h"
#include "util/error.h"
#include "util/units.h"

/* While the queue is full: how long to wait for a delivery report, which frees room. */
#define QUEUE_FULL_WAIT_MS 100

struct TideKafkaProducer {
  rd_kafka_t *kafka; /* owned */
  guint64 delivered;
  char *failure;      /* owned: why the first failed message failed */
  char *broker_fault; /* owned: the last one reported */
};

/* Callbacks run inside rd_kafka_poll(), on the owner's thread. */
static void
count_delivery(rd_kafka_t *kafka, const rd_kafka_message_t *message, void *opaque)
{
  TideKafkaProducer *producer = opaque;
  if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
    producer->delivered++;
    return;
  }
  rd_kafka_resp_err_t code = message->err;
  if (producer->failure == NULL)
    producer->failure = tide_kafka_error_describe(kafka, &code);
}

static void
note_broker_fault(rd_kafka_t *kafka, int code, const char *reason, void *opaque)
{
  TideKafkaProducer *producer = opaque;
  g_free(producer->broker_fault);
  producer->broker_fault = tide_kafka_error_explain(kafka, reason);
}

TideKafkaProducer *
tide_kafka_producer_new(const TideKafkaConfig *config, gint64 linger_ms, GError **error)
{
  g_autofree char *linger = g_strdup_printf("%" G_GINT64_FORMAT, linger_ms);
  const TideKafkaSetting settings[] = {
      {"enable.idempotence", "true"}, /* implies acks=all, and keeps the order */
      {"linger.ms", linger},
      {"message.max.bytes", TIDE_KAFKA_CLIENT_MAX_MESSAGE_BYTES},
      {"batch.size", TIDE_KAFKA_BATCH_BYTES},
      /* Java's default partitioner: a key gets the partition that other producers choose. */
      {"partitioner", "murmur2_random"},
      {NULL},
  };
  rd_kafka_conf_t *conf = tide_kafka_conf_new(config, settings, error);
  if (conf == NULL)
    return NULL;
  g_autoptr(TideKafkaProducer) producer = g_new0(TideKafkaProducer, 1);
  rd_kafka_conf_set_opaque(conf, producer);
  /* The callbacks above receive faults; other log lines would mix with the command's progress. */
  rd_kafka_conf_set_log_cb(conf, NULL);
  rd_kafka_conf_set_error_cb(conf, note_broker_fault);
  rd_kafka_conf_set_dr_msg_cb(conf, count_delivery);
  producer->kafka = tide_kafka_conf_connect(RD_KAFKA_PRODUCER, conf, error);
  return producer->kafka != NULL ? g_steal_pointer(&producer) : NULL;
}

void
tide_kafka_producer_free(TideKafkaProducer *producer)
{
  if (producer == NULL)
    return;
  if (producer->kafka != NULL) {
    rd_kafka_purge(producer->kafka, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
    rd_kafka_poll(producer->kafka, 0);
    rd_kafka_destroy(producer->kafka);
  }
  g_free(producer->failure);
  g_free(producer->broker_fault);
  g_free(producer);
}

/* An empty value is not null: it needs an address. */
static void *
address_of(TideBytes bytes, gboolean is_there)
{
  if (!is_there)
    return NULL;
  return bytes.len > 0 ? (void *)(gsize)bytes.data : (void *)(gsize) "";
}

rd_kafka_headers_t *
tide_kafka_headers_new(const TideDeadLetterHeader *headers, guint32 n, guint32 n_more)
{
  rd_kafka_headers_t *made = rd_kafka_headers_new(n + n_more);
  for (guint32 i = 0; i < n; i++) /* fails only for a read-only list */
    (void)rd_kafka_header_add(made, address_of(headers[i].name, TRUE), (gssize)headers[i].name.len,
                              address_of(headers[i].value, headers[i].has_value), (gssize)headers[i].value.len);
  return made;
}

rd_kafka_resp_err_t
tide_kafka_produce(rd_kafka_t *kafka, const TideKafkaProducerRecord *record, rd_kafka_headers_t *headers, int flags,
                   gpointer opaque)
{
  rd_kafka_resp_err_t result = rd_kafka_producev(
      kafka, RD_KAFKA_V_TOPIC(record->topic), RD_KAFKA_V_PARTITION(record->partition),
      RD_KAFKA_V_TIMESTAMP(MAX(record->timestamp_ms, 0)), /* 0: now */
      RD_KAFKA_V_KEY(address_of(record->key, record->has_key), record->key.len),
      RD_KAFKA_V_VALUE(address_of(record->value, record->has_value), record->value.len), RD_KAFKA_V_HEADERS(headers),
      RD_KAFKA_V_MSGFLAGS(flags), RD_KAFKA_V_OPAQUE(opaque), RD_KAFKA_V_END);
  if (result != RD_KAFKA_RESP_ERR_NO_ERROR)
    rd_kafka_headers_destroy(headers); /* otherwise the message owns them */
  return result;
}

gboolean
tide_kafka_producer_send(TideKafkaProducer *producer, const TideKafkaProducerRecord *record,
                         const TideDeadLetterHeader *headers, guint32 n_headers, const volatile int *stop,
                         GError **error)
{
  rd_kafka_resp_err_t result;
  while ((result = tide_kafka_produce(producer->kafka, record, tide_kafka_headers_new(headers, n_headers, 0),
                                      RD_KAFKA_MSG_F_COPY, NULL)) == RD_KAFKA_RESP_ERR__QUEUE_FULL &&
         *stop == 0)
    rd_kafka_poll(producer->kafka, QUEUE_FULL_WAIT_MS);
  if (result == RD_KAFKA_RESP_ERR__QUEUE_FULL)
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_CANCELLED, "stopped while the queue to '%s' was full", record->topic);
  else if (result != RD_KAFKA_RESP_ERR_NO_ERROR) {
    g_autofree char *what = tide_kafka_error_describe(producer->kafka, &result);
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_KAFKA, "cannot send to '%s': %s", record->topic, what);
  }
  return result == RD_KAFKA_RESP_ERR_NO_ERROR;
}

guint64
tide_kafka_producer_poll(TideKafkaProducer *producer, int wait_ms)
{
  rd_kafka_poll(producer->kafka, wait_ms);
  int waiting = rd_kafka_outq_len(producer->kafka);
  return waiting > 0 ? (guint64)waiting : 0;
}

guint64
tide_kafka_producer_n_delivered(const TideKafkaProducer *producer)
{
  return producer->delivered;
}

gboolean
tide_kafka_producer_check(const TideKafkaProducer *producer, guint64 n_sent, const char *advice, GError **error)
{
  if (producer->delivered == n_sent)
    return TRUE;
  const char *fault = producer->failure != NULL ? producer->failure : producer->broker_fault;
  g_autofree char *delivered = tide_count_text(producer->delivered);
  g_autofree char *sent = tide_count_of(n_sent, "message was", "messages were");
  return tide_fail(error, TIDE_ERROR_UNAVAILABLE, "only %s of %s acknowledged: %s%s", delivered, sent,
                   fault != NULL ? fault : "no reason was given", advice);
}
