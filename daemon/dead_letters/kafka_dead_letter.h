/* A dead letter and a Kafka record: from the original to the dead letter, from the dead letter to the headers that are
 * added, and back.
 *
 * Names of headers are taken up to a NUL byte, which librdkafka ends them with; all other bytes stay. Threads: any. */
#pragma once

#include "model/dead_letter.h"
#include "model/message.h"

#include <librdkafka/rdkafka.h>

G_BEGIN_DECLS

/* Fills in what @dead_letter says of its original: topic, partition, offset, time, key, value and headers, all borrowed
 * from
 * @message, which came from Kafka (kafka_message.h).
 * @headers: memory for the list of headers; borrowed by @dead_letter */
void tide_kafka_dead_letter_set_original(TideDeadLetter *dead_letter, const TideMessage *message, TideBuffer *headers);

/* The original's headers and, behind them, those of model/dead_letter.h. (transfer full), rd_kafka_headers_destroy or
 * rd_kafka_producev takes it. */
rd_kafka_headers_t *tide_kafka_dead_letter_headers(const TideDeadLetter *dead_letter);

/* What a dead letter that was read points to, beside its record. Zero-initialised is empty and valid. */
typedef struct TideKafkaDeadLetterMemory {
  TideBuffer headers;
  TideBuffer row_key;
} TideKafkaDeadLetterMemory;

void tide_kafka_dead_letter_memory_clear(TideKafkaDeadLetterMemory *memory);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(TideKafkaDeadLetterMemory, tide_kafka_dead_letter_memory_clear)

/**
 * tide_kafka_dead_letter_read: the dead letter that @message, a record of the dead-letter topic, holds; the undoing of
 * the above.
 * @ret_dead_letter: points into @message and @memory
 * Errors: DATA: the record is no dead letter of ours, or one of its headers cannot be read.
 */
gboolean tide_kafka_dead_letter_read(const TideMessage *message, TideKafkaDeadLetterMemory *memory,
                                     TideDeadLetter *ret_dead_letter, GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
