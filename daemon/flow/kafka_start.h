/* Where partitions begin of which the group has committed nothing: what `kafka.start` says for a group that begins, and the
 * earliest message for what appears later (a topic got more partitions, a pattern matches a new topic).
 *
 * Threads: the consumer's only, inside of a rebalance. Each question waits for the broker for a few seconds at most. */
#pragma once

#include "config/config.h"

#include <librdkafka/rdkafka.h>

G_BEGIN_DECLS

/* Questions asked inside a rebalance: well below any session timeout we allow (6 s). */
#define TIDE_KAFKA_QUESTION_MS 4000

/**
 * tide_kafka_fill_in_starts: give @partitions the offsets at which they begin.
 * @partitions: those with a committed offset get that; when the broker does not say, RD_KAFKA_OFFSET_STORED: librdkafka asks
 *     again, until it is told
 * @fresh: those that begin at a number of ours are added; commit it, or a restart before the first commit would begin later and
 *     pass over what came in between
 */
void tide_kafka_fill_in_starts(rd_kafka_t *kafka, const TideKafkaConfig *config,
                               rd_kafka_topic_partition_list_t *partitions, rd_kafka_topic_partition_list_t *fresh);

G_END_DECLS
