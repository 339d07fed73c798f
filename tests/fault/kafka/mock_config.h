/* The configuration of a client of the mock cluster. */
#pragma once

#include "fault/kafka/mock_kafka.h"
#include "unit/load_text.h"

G_BEGIN_DECLS

/* @kafka_options: at least group and topics: "group: g, topics: [t]". @more: further sections, each ending with a line
 * break, or "". (transfer full) */
static inline TideConfig *
mock_kafka_config(const TideMockKafka *kafka, const char *kafka_options, const char *more)
{
  g_autofree char *text = g_strdup_printf("kafka: { brokers: \"%s\", %s }\n"
                                          "readings: { format: json, time: { field: ts, format: epoch_ms } }\n"
                                          "hbase: { gateways: [\"127.0.0.1:1\"] }\n"
                                          "tables:\n"
                                          "  T: { key: [ { field: host } ], columns: { family: M, from: \"*\" } }\n"
                                          "%s",
                                          mock_kafka_brokers(kafka), kafka_options, more);
  return load_text(text);
}

G_END_DECLS
