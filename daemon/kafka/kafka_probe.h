/* Asks the brokers whether they are there and have the topics. Creates nothing and joins no group. */
#pragma once

#include "config/config.h"

G_BEGIN_DECLS

typedef struct TideProbedTopic {
  char *name;         /* owned: as configured; a pattern begins with ^ */
  guint n_topics;     /* that a pattern matches; 1 or 0 for a name */
  guint n_partitions; /* of all of them */
} TideProbedTopic;

typedef struct TideKafkaProbe {
  guint n_brokers;
  GPtrArray *topics; /* owned (element-type TideProbedTopic): one for each configured topic, in their order */
} TideKafkaProbe;

/**
 * tide_kafka_probe: one metadata request.
 * Errors: KAFKA with what librdkafka said of the brokers; CONFIG for a property it refuses. Blocks: up to @timeout_ms.
 */
TideKafkaProbe *tide_kafka_probe(const TideKafkaConfig *config, gint64 timeout_ms,
                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;
void tide_kafka_probe_free(TideKafkaProbe *probe); /* NULL ok */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideKafkaProbe, tide_kafka_probe_free)

G_END_DECLS
