/* Rouses a consumer's client after the wall clock was set back, and finds out whether that helped.
 *
 * librdkafka's threads wait until a moment of the wall clock (librdkafka#2145, measured with 2.0.2, 2.8.0 and 2.16.0).
 * After it is set back by an hour, a thread that waits for one second waits for an hour more, unless something wakes
 * it: no heartbeat and no commit is sent meanwhile. The next wait is right again, so one wake-up for each thread is
 * enough. The threads of the partitions' brokers are woken by a question for the partitions' ends, the main thread and
 * the coordinator's by a question for the group's offset, which takes the way of heartbeats and commits. A thread that
 * waits before it connects again cannot be woken.
 *
 * So the group's offset is asked for each second until the coordinator answers. Until then, a client of its own
 * shows whether brokers answer at all; time during which they do not is not counted. */
#pragma once

#include "config/config.h"
#include "kafka/kafka_refill.h"

#include <stdatomic.h>

G_BEGIN_DECLS

typedef struct TideKafkaRouse {
  /* set once */
  const TideKafkaConfig *config; /* borrowed, like the next */
  const TideKafkaRefill *refill;
  /* any thread */
  _Atomic gboolean is_wanted;
  /* the consumer's thread; monotonic */
  gboolean is_asking;
  gint64 asked_us;
  gint64 tried_us;      /* when a client of its own asked the brokers last; 0: not yet */
  gint64 unanswered_us; /* since when each try has found a broker; 0: the last found none */
} TideKafkaRouse;

/* Call it when the wall clock was set back. Threads: any. */
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

/* Asks if it is time to. Blocks for milliseconds, or for up to three seconds if the coordinator does not answer.
 * Returns FALSE, once, when brokers have answered for kafka.session_timeout and the coordinator has not. @now_us:
 * monotonic. Threads: the consumer's. */
gboolean tide_kafka_rouse(TideKafkaRouse *rouse, gint64 now_us) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
