/* Sends messages and counts what became of each. Idempotent, acknowledged by all replicas. Threads: one.
 */
#pragma once

#include "config/config.h"
#include "model/dead_letter.h"

#include <librdkafka/rdkafka.h>

G_BEGIN_DECLS

typedef struct TideKafkaProducer TideKafkaProducer;

/* How long a message waits for others to be sent with, where nobody says otherwise: much goes out in few requests. */
#define TIDE_KAFKA_PRODUCER_LINGER_MS 20

/* @config: brokers and properties; borrowed for the call. @linger_ms: 0: each message is sent at once. Errors: CONFIG.
 */
TideKafkaProducer *tide_kafka_producer_new(const TideKafkaConfig *config, gint64 linger_ms,
                                           GError **error) G_GNUC_WARN_UNUSED_RESULT;
void tide_kafka_producer_free(TideKafkaProducer *producer); /* what is not delivered yet is dropped; NULL ok */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideKafkaProducer, tide_kafka_producer_free)

/* A record as it is to stand in a topic, but for its headers. */
typedef struct TideKafkaProducerRecord {
  const char *topic;
  gint32 partition;    /* -1: the one of its key */
  gint64 timestamp_ms; /* 0, -1: now */
  TideBytes key;
  gboolean has_key;
  TideBytes value;
  gboolean has_value;
} TideKafkaProducerRecord;

/* rd_kafka_producev() for @record. @headers: (transfer full) */
rd_kafka_resp_err_t tide_kafka_produce(rd_kafka_t *kafka, const TideKafkaProducerRecord *record,
                                       rd_kafka_headers_t *headers, int flags,
                                       gpointer opaque) G_GNUC_WARN_UNUSED_RESULT;

/* A list of @headers with room for @n_more. (transfer full) */
rd_kafka_headers_t *tide_kafka_headers_new(const TideDeadLetterHeader *headers, guint32 n, guint32 n_more);

/**
 * tide_kafka_producer_send: hand over a record; copies it. Waits while the client's queue is full.
 * @stop: looked at while waiting: not 0 gives up
 * Errors: KAFKA when the message can never be sent; CANCELLED after @stop.
 */
gboolean tide_kafka_producer_send(TideKafkaProducer *producer, const TideKafkaProducerRecord *record,
                                  const TideDeadLetterHeader *headers, guint32 n_headers, const volatile int *stop,
                                  GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Takes delivery reports for up to @wait_ms. Returns: messages that have none yet. */
guint64 tide_kafka_producer_poll(TideKafkaProducer *producer, int wait_ms);

/* Messages that were acknowledged. */
guint64 tide_kafka_producer_n_delivered(const TideKafkaProducer *producer);

/* Whether all @n_sent messages were acknowledged. @advice: behind the reason, may be empty. Errors: UNAVAILABLE with
 * why the first message failed, or what a broker was last said to suffer from. */
gboolean tide_kafka_producer_check(const TideKafkaProducer *producer, guint64 n_sent, const char *advice,
                                   GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
