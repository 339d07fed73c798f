/* Explains errors of librdkafka and the brokers: what misleading texts mean, and what to do. */
#pragma once

#include "config/config.h"

#include <librdkafka/rdkafka.h>

G_BEGIN_DECLS

/* What to do about @reason; NULL if it says so itself. @mechanism: sasl.mechanisms of the client. @version:
 * of librdkafka */
const char *tide_kafka_error_remedy(const char *reason, const char *mechanism, guint32 version);

/* Makes the clients of @conf remember why a broker's certificate is invalid, if they verify it. */
void tide_kafka_error_watch_certificates(rd_kafka_conf_t *conf);

/* Brokers with the same hash modulo this share a slot of that memory. */
#define TIDE_KAFKA_ERROR_PLACES 64

/* Called by those clients for each refusal. @broker: HOST:PORT. @error: of OpenSSL's verification. Threads: any. */
void tide_kafka_error_remember_certificate(const char *broker, int error);

/* @error: of OpenSSL's verification. NULL if it has no sentence of its own. */
const char *tide_kafka_error_of_certificate(int error);

/* @reason, followed by its remedy if there is one. (transfer full). Threads: any. */
char *tide_kafka_error_explain(const rd_kafka_t *kafka, const char *reason);

/* Describes @code of @kafka. A client with a fatal error ends all its messages with a code that gives no reason. Then
 * the text is that of the fatal error, and @code becomes its code. (transfer full). Threads: any. */
char *tide_kafka_error_describe(rd_kafka_t *kafka, rd_kafka_resp_err_t *code);

/* ---- rights ---- */

typedef enum TideKafkaAcl {
  TIDE_KAFKA_ACL_READ,  /* on a topic */
  TIDE_KAFKA_ACL_WRITE, /* on a topic */
  TIDE_KAFKA_ACL_GROUP, /* Read on the group */
} TideKafkaAcl;

/* "user 'u' may not read topic 't': grant Read, for example with kafka-acls ...". Without sasl.username the text
 * says "the user of this connection". @name: of the topic or the group. (transfer full) */
char *tide_kafka_acl_hint(const TideKafkaConfig *config, TideKafkaAcl right, const char *name);

/* The same for a topic that the brokers do not list; @code is their answer about it by name. Brokers do not tell a user
 * without the right to describe a topic whether it exists. (transfer full) */
char *tide_kafka_acl_hint_absent(const TideKafkaConfig *config, TideKafkaAcl right, const char *name,
                                 rd_kafka_resp_err_t code);

/* The name of this client at the brokers, for messages: sasl.username, or NULL. (borrowed) */
const char *tide_kafka_principal(const TideKafkaConfig *config);

G_END_DECLS
