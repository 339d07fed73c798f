/* Explains refusals of librdkafka and the brokers: what misleading words mean, and what to do. */
#pragma once

#include "config/config.h"

#include <librdkafka/rdkafka.h>

G_BEGIN_DECLS

/* What to do about @reason; NULL if the words themselves say so. @mechanism: sasl.mechanisms of the client. @version:
 * of librdkafka */
const char *tide_kafka_error_remedy(const char *reason, const char *mechanism, guint32 version);

/* Has the clients of @conf remember what is wrong with a broker's certificate, if they verify it. */
void tide_kafka_error_watch_certificates(rd_kafka_conf_t *conf);

/* Brokers with the same hash modulo this share a slot of that memory. */
#define TIDE_KAFKA_ERROR_PLACES 64

/* Called by those clients for each refusal. @broker: HOST:PORT. @error: of OpenSSL's verification. Threads: any. */
void tide_kafka_error_remember_certificate(const char *broker, int error);

/* @error: of OpenSSL's verification. NULL if it has no sentence of its own. */
const char *tide_kafka_error_of_certificate(int error);

/* @reason, with the remedy where there is one. (transfer full). Threads: any. */
char *tide_kafka_error_explain(const rd_kafka_t *kafka, const char *reason);

/* What @code of @kafka means. A client that failed for good ends all its messages with a code that gives no reason:
 * then the text is that of the fatal error, and @code becomes its code. (transfer full). Threads: any. */
char *tide_kafka_error_describe(rd_kafka_t *kafka, rd_kafka_resp_err_t *code);

/* ---- rights ---- */

typedef enum TideKafkaAcl {
  TIDE_KAFKA_ACL_READ,  /* on a topic */
  TIDE_KAFKA_ACL_WRITE, /* on a topic */
  TIDE_KAFKA_ACL_GROUP, /* Read on the group */
} TideKafkaAcl;

/* "user 'u' may not read topic 't': grant Read, as by kafka-acls ...". Without sasl.username it is only known that it
 * is the user of this connection. @name: of the topic or the group. (transfer full) */
char *tide_kafka_acl_hint(const TideKafkaConfig *config, TideKafkaAcl right, const char *name);

/* Of a topic that is not among those the brokers list, @code being their answer when asked for it by name: who may not
 * describe a topic does not hear whether it exists. (transfer full) */
char *tide_kafka_acl_hint_absent(const TideKafkaConfig *config, TideKafkaAcl right, const char *name,
                                 rd_kafka_resp_err_t code);

/* Who this client is to the brokers, for messages: sasl.username, or NULL. (borrowed) */
const char *tide_kafka_principal(const TideKafkaConfig *config);

G_END_DECLS
