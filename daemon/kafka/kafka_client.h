/* A client of the brokers that joins no group and commits nothing. Threads: one at a time. */
#pragma once

#include "kafka/kafka_conf.h"
#include "model/message.h"

G_BEGIN_DECLS

typedef struct TideKafkaClient TideKafkaClient;

/* A bystander (kafka_conf.h), which logs nothing: what librdkafka says of a broker becomes part of the command's one
 * error. A consumer, because brokers may create a topic when a producer asks for it. @config: borrowed. @settings:
 * (nullable). Errors: CONFIG. */
TideKafkaClient *tide_kafka_client_new(const TideKafkaConfig *config, const char *group,
                                       const TideKafkaSetting *settings, GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* One that reads single messages again for the daemon, in whose log is what librdkafka says. Errors: CONFIG. */
TideKafkaClient *tide_kafka_client_new_originals(const TideKafkaConfig *config,
                                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;
void tide_kafka_client_free(TideKafkaClient *client); /* NULL ok */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideKafkaClient, tide_kafka_client_free)

rd_kafka_t *tide_kafka_client_handle(TideKafkaClient *client); /* borrowed */

/* All brokers and topics; rd_kafka_metadata_destroy() frees it. Errors: KAFKA. */
const struct rd_kafka_metadata *tide_kafka_client_ask(TideKafkaClient *client, int timeout_ms,
                                                      GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* What the brokers say to one topic's name. Those that this user may not describe are left out of the answer for all.
 */
rd_kafka_resp_err_t tide_kafka_client_ask_by_name(TideKafkaClient *client, const char *topic, int timeout_ms);

/* Whether a broker answers at all. Errors: KAFKA with what librdkafka said of the brokers, CONFIG. */
gboolean tide_kafka_client_try(const TideKafkaConfig *config, int timeout_ms, GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* Whether one answers, and @topic is there: a producer would wait half a minute for it. Errors: as above; UNAVAILABLE
 * when it is not. */
gboolean tide_kafka_client_find_topic(const TideKafkaConfig *config, const char *topic, int timeout_ms,
                                      GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* KAFKA: no answer, with the first thing that was said of a broker, which is the cause where @result is only a timeout.
 */
void tide_kafka_client_set_error(TideKafkaClient *client, rd_kafka_resp_err_t result, GError **error);

/* ---- questions about lists of partitions, to any client ---- */

/* Sets the offset of each element to its first message at or after @time_ms, or to where it begins or ends
 * (RD_KAFKA_OFFSET_BEGINNING, RD_KAFKA_OFFSET_END): in the protocol both are times, so that it is one request for each
 * broker. Returns the error of the question as a whole; each element has its own, too. */
rd_kafka_resp_err_t tide_kafka_ask_offsets(rd_kafka_t *kafka, rd_kafka_topic_partition_list_t *list, gint64 time_ms,
                                           int timeout_ms);

/* That of the question as a whole, @result, or else the first that an element has. */
rd_kafka_resp_err_t tide_kafka_first_error(rd_kafka_resp_err_t result, const rd_kafka_topic_partition_list_t *list);

/* Every partition of the topics in @metadata that one of @topics names or matches, unless the broker tells an error of
 * the topic. (transfer full) */
rd_kafka_topic_partition_list_t *tide_kafka_list_partitions(const struct rd_kafka_metadata *metadata,
                                                            char *const *topics);

/* @raw, one without an error, in the form that the mapping reads. Everything in the result is borrowed from it.
 * Allocates: nothing. Threads: any. */
TideMessage tide_kafka_message(const rd_kafka_message_t *raw);

G_END_DECLS
