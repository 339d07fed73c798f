/* One librdkafka consumer: subscribing, polling, pausing, storing offsets, and the rebalance protocol. No other
 * file of the daemon consumes; the caller interprets the messages.
 *
 * Threads: model/input.h. */
#pragma once

#include "config/config.h"
#include "kafka/kafka_watch.h"
#include "model/input.h"

G_BEGIN_DECLS

typedef struct TideKafkaSourceOptions {
  const TideConfig *config; /* borrowed */
  guint32 index;            /* of the consumer in this process */
  TideKafkaWatch *watch;    /* borrowed; NULL: no watch */
} TideKafkaSourceOptions;

/* Connects and subscribes; does not wait for brokers. Pausing discards prefetched messages. A move after LOST
 * replaces a seek, which librdkafka would refuse. Errors: CONFIG, KAFKA. */
TideInput *tide_kafka_source_new(const TideKafkaSourceOptions *options, const TideInputHandlers *handlers,
                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
