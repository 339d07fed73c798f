/* Wakes librdkafka so that it fetches again in time, where it would sleep for up to a second.
 *
 * When a consumer's prefetch queue is full, librdkafka fetches no more, and sees that there is room again only when
 * something wakes the thread of the broker: bytes, a request of ours, or the end of a second. A consumer that empties
 * the queue sooner stands still for the rest of that second (measured with 2.0.2: 85,000 messages/s instead of 430,000
 * from a backlog, whatever the processors can do). So when the queue was full and is half empty, the brokers are asked
 * for the ends of our partitions, which is cheap for them, and wakes the threads. librdkafka from 2.2 on has a property
 * for it, which is set instead.
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
  guint64 queue_bytes;    /* payload from which on librdkafka fetches no more; 0: it looks often by itself */
  guint64 queue_messages; /* the same, in messages */
  guint64 look_bytes;     /* of payload taken make a look due */

  gboolean was_full;
  guint32 n_messages; /* since the last look */
  guint64 n_bytes;    /* their payload */
  gint64 not_before_us;
  guint64 n_questions; /* in all */
} TideKafkaRefill;

/* @kafka: a consumer whose configuration kafka_conf.c made; @partitions: (nullable):
 * what the queue is filled from, where that is not the assignment: it may change between calls */
void tide_kafka_refill_init(TideKafkaRefill *refill, rd_kafka_t *kafka, rd_kafka_queue_t *queue,
                            const rd_kafka_topic_partition_list_t *partitions);

void tide_kafka_refill_look(TideKafkaRefill *refill);

/* A message of so many bytes has been taken from the queue. Once in some hundred messages, or in a quarter of the queue
 * where they are large, it looks at the queue, and may ask the brokers then. */
static inline void
tide_kafka_refill_taken(TideKafkaRefill *refill, gsize bytes)
{
  refill->n_bytes += bytes;
  if (G_UNLIKELY(++refill->n_messages >= 256 || refill->n_bytes >= refill->look_bytes))
    tide_kafka_refill_look(refill);
}

/* How long a poll may wait that would like to wait @timeout_ms: less when the queue has run empty before a question was
 * due. */
int tide_kafka_refill_wait_ms(TideKafkaRefill *refill, int timeout_ms);

G_END_DECLS
