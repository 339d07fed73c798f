/* Sends messages and counts their results. Idempotent, acknowledged by all in-sync replicas. Threads: one. */
#pragma once

#include "config/config.h"
#include "model/dead_letter.h"

#include <librdkafka/rdkafka.h>

G_BEGIN_DECLS

typedef struct TideKafkaProducer TideKafkaProducer;

/* Default time that a message waits for others to share its request. */
#define TIDE_KAFKA_PRODUCER_LINGER_MS 20

/* @config: brokers and properties; borrowed for the call. @linger_ms: 0: each message is sent at once. Errors: CONFIG.
 */
TideKafkaProducer *tide_kafka_producer_new(const TideKafkaConfig *config, gint64 linger_ms,
                                           GError **error) G_GNUC_WARN_UNUSED_RESULT;
void tide_kafka_producer_free(TideKafkaProducer *producer); /* drops undelivered messages; NULL ok */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideKafkaProducer, tide_kafka_producer_free)

/* A record to be written to a topic, without its headers. */
typedef struct TideKafkaProducerRecord {
  const char *topic;
  gint32 partition;    /* -1: chosen by its key */
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
 * tide_kafka_producer_send: queue a copy of a record. Waits while the client's queue is full.
 * @stop: checked while waiting; not 0 cancels
 * Errors: KAFKA if the message can never be sent; CANCELLED after @stop.
 */
gboolean tide_kafka_producer_send(TideKafkaProducer *producer, const TideKafkaProducerRecord *record,
                                  const TideDeadLetterHeader *headers, guint32 n_headers, const volatile int *stop,
                                  GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Handles delivery reports for up to @wait_ms. Returns: the number of messages without one. */
guint64 tide_kafka_producer_poll(TideKafkaProducer *producer, int wait_ms);

/* Messages that were acknowledged. */
guint64 tide_kafka_producer_n_delivered(const TideKafkaProducer *producer);

/* Whether all @n_sent messages were acknowledged. @advice: appended to the reason; may be empty. Errors: UNAVAILABLE
 * with the reason of the first failed message, or the last broker fault. */
gboolean tide_kafka_producer_check(const TideKafkaProducer *producer, guint64 n_sent, const char *advice,
                                   GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
