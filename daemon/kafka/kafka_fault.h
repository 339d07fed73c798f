/* What librdkafka says of a broker that it cannot use, with what it means where the words mislead. */
#pragma once

#include <glib.h>
#include <librdkafka/rdkafka.h>

G_BEGIN_DECLS

/* What to do about it; NULL: the words say it. @mechanism: sasl.mechanisms of the client. @version: of librdkafka */
const char *tide_kafka_fault_remedy(const char *reason, const char *mechanism, guint32 version);

/* The clients of @conf remember what is wrong with a broker's certificate, where that is checked at all. */
void tide_kafka_fault_watch_certificates(rd_kafka_conf_t *conf);

/* Brokers of the same hash modulo this share a place in that memory. */
#define TIDE_KAFKA_FAULT_PLACES 64

/* What those clients do with each refusal. @broker: HOST:PORT. @error: of OpenSSL's verification. Threads: any. */
void tide_kafka_fault_remember_certificate(const char *broker, int error);

/* @error: of OpenSSL's verification. NULL: none that has a sentence of its own. */
const char *tide_kafka_fault_of_certificate(int error);

/* @reason, with the remedy where there is one. (transfer full). Threads: any. */
char *tide_kafka_fault_explain(const rd_kafka_t *kafka, const char *reason);

/* What @code of @kafka means. A client that failed for ever ends all that it has with a code that tells no reason: then
 * the text is that of the fatal error, and @code becomes its code. (transfer full). Threads: any. */
char *tide_kafka_fault_describe(rd_kafka_t *kafka, rd_kafka_resp_err_t *code);

G_END_DECLS
