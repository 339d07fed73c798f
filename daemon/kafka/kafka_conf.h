/* librdkafka's settings, made from the configuration: shared by the consumer and by the commands that ask the brokers.
 */
#pragma once

#include "config/config.h"

#include <librdkafka/rdkafka.h>

G_BEGIN_DECLS

G_DEFINE_AUTOPTR_CLEANUP_FUNC(rd_kafka_conf_t, rd_kafka_conf_destroy)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(rd_kafka_topic_partition_list_t, rd_kafka_topic_partition_list_destroy)

/* Lists of them end with a name that is NULL. */
typedef struct TideKafkaSetting {
  const char *name;
  const char *value; /* NULL: not set */
} TideKafkaSetting;

/* For message.max.bytes of a producer, the largest that librdkafka accepts: only the broker knows what a topic takes,
 * and its error names the topic. */
#define TIDE_KAFKA_CLIENT_MAX_MESSAGE_BYTES "1000000000"

/* For batch.size of a producer. A broker holds max.message.bytes of a topic against whole batches: what is packed
 * together must not be larger than a topic takes. Also the default of Kafka's own producer. */
#define TIDE_KAFKA_BATCH_BYTES "16384"

/* Brokers, pass-through properties and the log, which any client needs, and @settings.
 * @settings: (nullable)
 * Errors: CONFIG, naming the property. Ownership: (transfer full), tide_kafka_conf_connect takes it. */
rd_kafka_conf_t *tide_kafka_conf_new(const TideKafkaConfig *config, const TideKafkaSetting *settings,
                                     GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* That of a consumer that joins no group and commits nothing. @group: (nullable): whose commits it may ask for */
rd_kafka_conf_t *tide_kafka_conf_new_bystander(const TideKafkaConfig *config, const char *group,
                                               const TideKafkaSetting *settings,
                                               GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* A client; does not wait for brokers. @conf: (transfer full) (nullable): NULL with @error set. Errors: CONFIG. */
rd_kafka_t *tide_kafka_conf_connect(rd_kafka_type_t type, rd_kafka_conf_t *conf,
                                    GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* That of consumer @index of the process that runs with @config: the index ends kafka.instance, and the consumer has
 * its share of the memory for prefetched messages. */
rd_kafka_conf_t *tide_kafka_conf_new_consumer(const TideConfig *config, guint32 index,
                                              GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* That of the client that reads single messages again: it joins no group and commits nothing. */
rd_kafka_conf_t *tide_kafka_conf_new_originals(const TideKafkaConfig *config, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* That of a producer of dead letters: acknowledged by all in-sync replicas, each dead letter's end reported.
 * @sends_alone: each dead letter in a batch of its own, so that no error is that of several; else idempotent. */
rd_kafka_conf_t *tide_kafka_conf_new_dead_letters(const TideKafkaConfig *config, gboolean sends_alone,
                                                  GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Whether a member of the group with @client_id may be a tidemark: it has the name that all have. If kafka.librdkafka
 * gives this one another, members may have any, and all count as tidemark. */
gboolean tide_kafka_conf_is_tidemark(const TideKafkaConfig *config, const char *client_id);

/* kafka.instance of those that want no lasting name. */
#define TIDE_KAFKA_NO_INSTANCE "none"

/* ---- whether librdkafka takes it all; asks no broker ---- */

/* Adds an error for each property of kafka.librdkafka that librdkafka does not know, or whose value it refuses, and for
 * what the version at hand cannot do, with its place. Cheap. @problems: (element-type TideConfigProblem) */
void tide_kafka_check_properties(const TideConfig *config, GPtrArray *problems);

/**
 * tide_kafka_check_clients: makes each Kafka client of the daemon as it would be made, but without brokers, and ends
 * it: what only shows when properties meet, or files that they name are read. Errors: CONFIG. Blocks: some milliseconds
 * for each.
 */
gboolean tide_kafka_check_clients(const TideConfig *config, GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
