/* What to say where the brokers refuse us a right: who lacks it, on what, and how it is granted. */
#pragma once

#include "config/config.h"

#include <librdkafka/rdkafka.h>

G_BEGIN_DECLS

typedef enum TideKafkaRight {
  TIDE_KAFKA_RIGHT_READ,  /* on a topic */
  TIDE_KAFKA_RIGHT_WRITE, /* on a topic */
  TIDE_KAFKA_RIGHT_GROUP, /* Read on the group */
} TideKafkaRight;

/* "user 'u' may not read topic 't': grant Read, as by kafka-acls ...". Without sasl.username it is only known that it
 * is the user of this connection. @name: of the topic or the group. (transfer full) */
char *tide_kafka_right_missing(const TideKafkaConfig *config, TideKafkaRight right, const char *name);

/* Of a topic that is not among those the brokers list, @code being their answer when asked for it by name: who may not
 * describe a topic does not hear whether it exists. (transfer full) */
char *tide_kafka_right_absent(const TideKafkaConfig *config, TideKafkaRight right, const char *name,
                              rd_kafka_resp_err_t code);

G_END_DECLS
