/* A client of the brokers that joins no group and commits nothing. Threads: one at a time. */
#pragma once

#include "kafka/kafka_conf.h"
#include "model/message.h"

G_BEGIN_DECLS

typedef struct TideKafkaClient TideKafkaClient;

/* Creates a bystander (kafka_conf.h) that logs nothing: librdkafka's report about a broker becomes part of the
 * command's one error. It is a consumer, because brokers may create a topic that a producer asks for. @config:
 * borrowed. @settings: (nullable). Errors: CONFIG. */
TideKafkaClient *tide_kafka_client_new(const TideKafkaConfig *config, const char *group,
                                       const TideKafkaSetting *settings, GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* Creates a client that reads single messages again for the daemon; librdkafka writes to its log. Errors: CONFIG. */
TideKafkaClient *tide_kafka_client_new_originals(const TideKafkaConfig *config,
                                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;
void tide_kafka_client_free(TideKafkaClient *client); /* NULL ok */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideKafkaClient, tide_kafka_client_free)

rd_kafka_t *tide_kafka_client_handle(TideKafkaClient *client); /* borrowed */

/* All brokers and topics; rd_kafka_metadata_destroy() frees it. Errors: KAFKA. */
const struct rd_kafka_metadata *tide_kafka_client_ask(TideKafkaClient *client, int timeout_ms,
                                                      GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The brokers' answer about one topic. A list of all topics omits those that this user may not describe. */
rd_kafka_resp_err_t tide_kafka_client_ask_by_name(TideKafkaClient *client, const char *topic, int timeout_ms);

/**
 * tide_kafka_client_list: every partition of @topics. Brokers omit topics that this user may not read, so each name
 * must be listed.
 * @topics: NULL-terminated; one that begins with ^ is a pattern, which may match none unless @must_match
 * Errors: KAFKA: no answer; NOT_FOUND with the permission that may be missing. Ownership: (transfer full).
 */
rd_kafka_topic_partition_list_t *tide_kafka_client_list(TideKafkaClient *client, const TideKafkaConfig *config,
                                                        char *const *topics, gboolean must_match, int timeout_ms,
                                                        GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Whether a broker answers at all. Errors: KAFKA with librdkafka's report about the brokers, CONFIG. */
gboolean tide_kafka_client_try(const TideKafkaConfig *config, int timeout_ms, GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* Whether a broker answers and @topic exists: a producer would wait half a minute for it. Errors: as above; UNAVAILABLE
 * if it does not exist. */
gboolean tide_kafka_client_find_topic(const TideKafkaConfig *config, const char *topic, int timeout_ms,
                                      GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Sets KAFKA: no answer, with the first fault reported of a broker, which is the cause if @result is only a timeout. */
void tide_kafka_client_set_error(TideKafkaClient *client, rd_kafka_resp_err_t result, GError **error);

/* ---- questions about lists of partitions, for any client ---- */

/* Sets the offset of each element to its first message at or after @time_ms, or to its beginning or end
 * (RD_KAFKA_OFFSET_BEGINNING, RD_KAFKA_OFFSET_END). The protocol treats both as times, so each broker gets one request.
 * Returns the error of the question as a whole; each element has its own, too. */
rd_kafka_resp_err_t tide_kafka_ask_offsets(rd_kafka_t *kafka, rd_kafka_topic_partition_list_t *list, gint64 time_ms,
                                           int timeout_ms);

/* The error of the question as a whole, @result, or else the first error of an element. */
rd_kafka_resp_err_t tide_kafka_first_error(rd_kafka_resp_err_t result, const rd_kafka_topic_partition_list_t *list);

/* Every partition of the topics in @metadata that one of @topics names or matches, except topics with an error.
 * (transfer full) */
rd_kafka_topic_partition_list_t *tide_kafka_list_partitions(const struct rd_kafka_metadata *metadata,
                                                            char *const *topics);

/* Converts @raw, which has no error, to the form that the mapping reads. The result borrows everything from it.
 * Allocates: nothing. Threads: any. */
TideMessage tide_kafka_message(const rd_kafka_message_t *raw);

G_END_DECLS
