/* A message as librdkafka hands it out, in the form that the mapping reads. */
#pragma once

#include "model/message.h"

#include <librdkafka/rdkafka.h>

G_BEGIN_DECLS

/* @raw: one without an error. Everything in the result is borrowed from it. Allocates: nothing. */
TideMessage tide_kafka_message(const rd_kafka_message_t *raw);

G_END_DECLS
