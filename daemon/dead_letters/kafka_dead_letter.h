/* Converts between dead letters and Kafka records: fills in the original, creates the added headers, and reads both
 * back.
 *
 * Header names end at a NUL byte, as in librdkafka; all other bytes are preserved. Threads: any. */
#pragma once

#include "model/dead_letter.h"
#include "model/message.h"

#include <librdkafka/rdkafka.h>

G_BEGIN_DECLS

/* Fills in the original of @dead_letter: topic, partition, offset, time, key, value and headers, all borrowed from
 * @message, which came from Kafka (kafka_message.h).
 * @headers: memory for the list of headers; borrowed by @dead_letter */
void tide_kafka_dead_letter_set_original(TideDeadLetter *dead_letter, const TideMessage *message, TideBuffer *headers);

/* The original's headers, followed by those of model/dead_letter.h. (transfer full), for rd_kafka_headers_destroy() or
 * rd_kafka_producev(). */
rd_kafka_headers_t *tide_kafka_dead_letter_headers(const TideDeadLetter *dead_letter);

/* Memory of a parsed dead letter, in addition to its record. Zero-initialised: empty and valid. */
typedef struct TideKafkaDeadLetterMemory {
  TideBuffer headers;
  TideBuffer row_key;
} TideKafkaDeadLetterMemory;

void tide_kafka_dead_letter_memory_clear(TideKafkaDeadLetterMemory *memory);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(TideKafkaDeadLetterMemory, tide_kafka_dead_letter_memory_clear)

/**
 * tide_kafka_dead_letter_read: reads the dead letter from @message, a record of the dead-letter topic.
 * @ret_dead_letter: points into @message and @memory
 * Errors: DATA: the record is not a dead letter of tidemark's, or one of its headers cannot be read.
 */
gboolean tide_kafka_dead_letter_read(const TideMessage *message, TideKafkaDeadLetterMemory *memory,
                                     TideDeadLetter *ret_dead_letter, GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
