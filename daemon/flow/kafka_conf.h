/* librdkafka's settings, made from the configuration: shared by the consumer and by the commands that ask the brokers. */
#pragma once

#include "config/config.h"

#include <librdkafka/rdkafka.h>

G_BEGIN_DECLS

/* Brokers, pass-through properties and the log; what any client needs. Errors: CONFIG, naming the property.
 * Ownership: (transfer full), rd_kafka_conf_destroy or rd_kafka_new takes it. */
rd_kafka_conf_t *tide_kafka_conf_new(const TideKafkaConfig *config, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The above and all that a consumer of ours fixes. @queue_bytes: its share of the memory budget for prefetched messages;
 * @max_message_bytes: readings.max_message_size. */
rd_kafka_conf_t *tide_kafka_conf_new_consumer(const TideKafkaConfig *config, guint64 queue_bytes,
                                              guint32 max_message_bytes, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* rd_kafka_conf_set() with our error. */
gboolean tide_kafka_conf_set(rd_kafka_conf_t *conf, const char *name, const char *value, GError **error)
    G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
