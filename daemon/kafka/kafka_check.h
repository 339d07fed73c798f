/* Whether librdkafka takes what the configuration hands to it; asks no broker. */
#pragma once

#include "config/config.h"

G_BEGIN_DECLS

/* Adds an error for each property of kafka.librdkafka that librdkafka does not know, or whose value it refuses, and for
 * what the version at hand cannot do, with its place. Cheap. @problems: (element-type TideConfigProblem) */
void tide_kafka_check_properties(const TideConfig *config, GPtrArray *problems);

/**
 * tide_kafka_check_clients: makes each Kafka client of the daemon as it would be made, but without brokers, and ends
 * it: what only shows when properties meet, or files that they name are read. Errors: CONFIG. Blocks: some milliseconds
 * for each.
 */
gboolean tide_kafka_check_clients(const TideConfig *config, GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
