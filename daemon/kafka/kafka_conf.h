/* Builds librdkafka's settings from the configuration, for the consumer and for commands that ask the brokers. */
#pragma once

#include "config/config.h"

#include <librdkafka/rdkafka.h>

G_BEGIN_DECLS

G_DEFINE_AUTOPTR_CLEANUP_FUNC(rd_kafka_conf_t, rd_kafka_conf_destroy)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(rd_kafka_topic_partition_list_t, rd_kafka_topic_partition_list_destroy)

/* A list ends with a NULL name. */
typedef struct TideKafkaSetting {
  const char *name;
  const char *value; /* NULL: not set */
} TideKafkaSetting;

/* message.max.bytes of a producer: the largest that librdkafka accepts. Only the broker knows the limit of a topic, and
 * its error names the topic. */
#define TIDE_KAFKA_CLIENT_MAX_MESSAGE_BYTES "1000000000"

/* batch.size of a producer. A broker compares max.message.bytes of a topic with whole batches, so a batch must not
 * exceed it. Also the default of Kafka's own producer. */
#define TIDE_KAFKA_BATCH_BYTES "16384"

/* Brokers, pass-through properties and the log, which every client needs, plus @settings.
 * @settings: (nullable)
 * Errors: CONFIG, naming the property. Ownership: (transfer full); tide_kafka_conf_connect consumes it. */
rd_kafka_conf_t *tide_kafka_conf_new(const TideKafkaConfig *config, const TideKafkaSetting *settings,
                                     GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Settings of a consumer that joins no group and commits nothing. @group: (nullable): whose commits it may ask for */
rd_kafka_conf_t *tide_kafka_conf_new_bystander(const TideKafkaConfig *config, const char *group,
                                               const TideKafkaSetting *settings,
                                               GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Creates a client; does not wait for brokers. @conf: (transfer full) (nullable): NULL with @error set. Errors: CONFIG.
 */
rd_kafka_t *tide_kafka_conf_connect(rd_kafka_type_t type, rd_kafka_conf_t *conf,
                                    GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Settings of consumer @index of the process that runs with @config. Its kafka.instance ends with the index, and it
 * gets a share of the memory for prefetched messages. */
rd_kafka_conf_t *tide_kafka_conf_new_consumer(const TideConfig *config, guint32 index,
                                              GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Settings of the client that reads single messages again: it joins no group and commits nothing. */
rd_kafka_conf_t *tide_kafka_conf_new_originals(const TideKafkaConfig *config, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Settings of a producer of dead letters: acknowledged by all in-sync replicas, each result reported.
 * @sends_alone: each dead letter in its own batch, so that an error concerns only one; otherwise idempotent. */
rd_kafka_conf_t *tide_kafka_conf_new_dead_letters(const TideKafkaConfig *config, gboolean sends_alone,
                                                  GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Whether a member of the group with @client_id may be a tidemark: all have the same client id. If kafka.librdkafka
 * sets another, members may have any, and all count as tidemark. */
gboolean tide_kafka_conf_is_tidemark(const TideKafkaConfig *config, const char *client_id);

/* kafka.instance of members without a static member name. */
#define TIDE_KAFKA_NO_INSTANCE "none"

/* ---- whether librdkafka accepts everything; asks no broker ---- */

/* Adds an error, with its position, for each property of kafka.librdkafka that librdkafka does not know or whose value
 * it refuses, and for each missing ability of this version. Cheap. @problems: (element-type TideConfigProblem) */
void tide_kafka_check_properties(const TideConfig *config, GPtrArray *problems);

/**
 * tide_kafka_check_clients: create each Kafka client of the daemon without brokers, and end it. This finds faults that
 * appear only when properties are combined, or their files are read. Errors: CONFIG. Blocks: some milliseconds for
 * each.
 */
gboolean tide_kafka_check_clients(const TideConfig *config, GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
