/* Wakes librdkafka so that it fetches again in time, where it would sleep for up to a second.
 *
 * When a consumer's prefetch queue is full, librdkafka fetches no more, and sees that there is room again only when
 * something wakes the thread of the broker: bytes, a request of ours, or the end of a second. A consumer that empties
 * the queue sooner stands still for the rest of that second (measured with 2.0.2: 85,000 messages/s instead of 430,000
 * from a backlog, whatever the processors can do). So whenever half a queue was taken and nothing showed that it was
 * not full before, the brokers are asked for the ends of our partitions, which is cheap for them, and wakes the
 * threads. That is counted, not estimated from what is queued: large and small messages may lie there side by side.
 * librdkafka from 2.2 on has a property for it, which is set instead.
 *
 * Threads: the consumer's only. */
#pragma once

#include <glib.h>
#include <librdkafka/rdkafka.h>

G_BEGIN_DECLS

typedef struct TideKafkaRefill {
  rd_kafka_t *kafka;                                 /* borrowed, like all that is set once */
  rd_kafka_queue_t *queue;                           /* the consumer's */
  const rd_kafka_topic_partition_list_t *partitions; /* NULL: those that are assigned */
  guint64 half_bytes;    /* of the payload from which on librdkafka fetches no more; G_MAXUINT64: it looks by itself */
  guint64 half_messages; /* the same, in messages */

  guint64 n_bytes;    /* taken since the brokers were asked, or the queue was seen to run empty sooner */
  guint64 n_messages; /* the same, in messages */
  gint64 not_before_us;
  guint64 n_questions; /* in all */
} TideKafkaRefill;

/* @kafka: a consumer whose configuration kafka_conf.c made; @partitions: (nullable):
 * what the queue is filled from, where that is not the assignment: it may change between calls */
void tide_kafka_refill_init(TideKafkaRefill *refill, rd_kafka_t *kafka, rd_kafka_queue_t *queue,
                            const rd_kafka_topic_partition_list_t *partitions);

/* A queue that was full may be half empty. */
static inline gboolean
tide_kafka_refill_is_due(const TideKafkaRefill *refill)
{
  return refill->n_bytes >= refill->half_bytes || refill->n_messages >= refill->half_messages;
}

/* Wakes librdkafka's main thread and those of the brokers that lead the partitions, by a question to each. */
void tide_kafka_refill_wake(const TideKafkaRefill *refill);

/* Asks the brokers, unless that was too much lately. */
void tide_kafka_refill_ask(TideKafkaRefill *refill);

/* A message of so many bytes has been taken from the queue. Once in half a queue it asks the brokers. */
static inline void
tide_kafka_refill_taken(TideKafkaRefill *refill, gsize bytes)
{
  refill->n_bytes += bytes;
  refill->n_messages++;
  if (G_UNLIKELY(tide_kafka_refill_is_due(refill)))
    tide_kafka_refill_ask(refill);
}

/* How long a poll may wait that would like to wait @timeout_ms: less when the queue has run empty before a question was
 * due. */
int tide_kafka_refill_wait_ms(TideKafkaRefill *refill, int timeout_ms);

G_END_DECLS
