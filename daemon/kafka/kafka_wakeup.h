/* Wakes librdkafka's threads when they would sleep too long. */
#pragma once

#include "config/config.h"

#include <librdkafka/rdkafka.h>
#include <stdatomic.h>

G_BEGIN_DECLS

/* Wakes librdkafka so that it fetches again in time, instead of sleeping for up to a second.
 *
 * When a consumer's prefetch queue is full, librdkafka stops fetching. It notices free room only when the thread of the
 * broker wakes: on received bytes, a request of ours, or the end of a second. A consumer that empties the queue sooner
 * is idle for the rest of that second (measured with 2.0.2: 85,000 messages/s instead of 430,000 from a backlog,
 * whatever the processors can do). So after each half queue of messages, unless the queue is known not to have been
 * full, the brokers are asked for the ends of our partitions. That is cheap for them, and wakes the threads. Messages
 * are counted, not estimated from the queue's length, because large and small ones may be mixed. librdkafka from 2.2 on
 * has a property instead.
 *
 * Threads: the consumer's only. */
typedef struct TideKafkaRefill {
  rd_kafka_t *kafka;                                 /* borrowed, like the next two */
  rd_kafka_queue_t *queue;                           /* the consumer's */
  const rd_kafka_topic_partition_list_t *partitions; /* NULL: the assignment */
  guint64 half_bytes;    /* of the payload at which librdkafka stops fetching; G_MAXUINT64: it checks by itself */
  guint64 half_messages; /* the same, in messages */

  guint64 n_bytes;    /* taken since the last question, or since the queue was seen empty before one was due */
  guint64 n_messages; /* the same, in messages */
  gint64 not_before_us;
  guint64 n_questions; /* in total */
} TideKafkaRefill;

/* @kafka: a consumer configured by kafka_conf.c; @partitions: (nullable): those that fill the queue, if not the
 * assignment; may change between calls */
void tide_kafka_refill_init(TideKafkaRefill *refill, rd_kafka_t *kafka, rd_kafka_queue_t *queue,
                            const rd_kafka_topic_partition_list_t *partitions);

/* Whether a queue that was full may be half empty. */
static inline gboolean
tide_kafka_refill_is_due(const TideKafkaRefill *refill)
{
  return refill->n_bytes >= refill->half_bytes || refill->n_messages >= refill->half_messages;
}

/* Asks the brokers, unless questions have taken too much of the time lately. */
void tide_kafka_refill_ask(TideKafkaRefill *refill);

/* Counts a message of @bytes taken from the queue. Asks the brokers once per half queue. */
static inline void
tide_kafka_refill_taken(TideKafkaRefill *refill, gsize bytes)
{
  refill->n_bytes += bytes;
  refill->n_messages++;
  if (G_UNLIKELY(tide_kafka_refill_is_due(refill)))
    tide_kafka_refill_ask(refill);
}

/* How long a poll may wait, at most @timeout_ms: less if the queue has run empty before a question was due. */
int tide_kafka_refill_wait_ms(TideKafkaRefill *refill, int timeout_ms);

/* Wakes a consumer's client after the wall clock was set back, and checks whether that helped.
 *
 * librdkafka's threads wait until a moment of the wall clock (librdkafka#2145, measured with 2.0.2, 2.8.0 and 2.16.0).
 * After it is set back by an hour, a thread that waits for one second waits for an hour more unless it is woken, and
 * sends no heartbeat and no commit. The next wait is correct again, so one wake-up for each thread is enough. A
 * question for the partitions' ends wakes the threads of their brokers. A question for the group's offset wakes the
 * main thread and the coordinator's, because it takes the path of heartbeats and commits. A thread that waits to
 * reconnect cannot be woken.
 *
 * So the group's offset is asked for each second until the coordinator answers. Until then, a separate client shows
 * whether brokers answer at all; time without their answers is not counted. */
typedef struct TideKafkaRouse {
  /* set once */
  const TideKafkaConfig *config; /* borrowed, like the next */
  const TideKafkaRefill *refill;
  /* any thread */
  _Atomic gboolean is_wanted;
  /* the consumer's thread; monotonic */
  gboolean is_asking;
  gint64 asked_us;
  gint64 tried_us;      /* when a separate client asked the brokers last; 0: not yet */
  gint64 unanswered_us; /* since when each try reached a broker; 0: the last did not */
} TideKafkaRouse;

/* Call this after the wall clock was set back. Threads: any. */
static inline void
tide_kafka_rouse_want(TideKafkaRouse *rouse)
{
  atomic_store_explicit(&rouse->is_wanted, TRUE, memory_order_release);
}

static inline gboolean
tide_kafka_rouse_is_under_way(const TideKafkaRouse *rouse)
{
  return atomic_load_explicit(&rouse->is_wanted, memory_order_relaxed) || rouse->is_asking;
}

/* Asks if a question is due. Blocks for milliseconds, or for up to three seconds if the coordinator does not answer.
 * Returns FALSE, once, if brokers have answered for kafka.session_timeout and the coordinator has not. @now_us:
 * monotonic. Threads: the consumer's. */
gboolean tide_kafka_rouse(TideKafkaRouse *rouse, gint64 now_us) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
