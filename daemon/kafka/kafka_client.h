/* A client of the brokers that joins no group and commits nothing. Threads: one at a time. */
#pragma once

#include "kafka/kafka_conf.h"
#include "model/message.h"

G_BEGIN_DECLS

typedef struct TideKafkaClient TideKafkaClient;

/* A consumer, because brokers may create a topic when a producer asks for it. @config: borrowed.
 * @conf: (transfer full) (nullable): tide_kafka_conf_new_bystander()'s; NULL with @error set
 * @is_quiet: it logs nothing; what librdkafka says of a broker becomes part of the command's one error
 * Errors: CONFIG. */
TideKafkaClient *tide_kafka_client_new(const TideKafkaConfig *config, rd_kafka_conf_t *conf, gboolean is_quiet,
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

/* @raw, one without an error, in the form that the mapping reads. Everything in the result is borrowed from it.
 * Allocates: nothing. Threads: any. */
TideMessage tide_kafka_message(const rd_kafka_message_t *raw);

G_END_DECLS
