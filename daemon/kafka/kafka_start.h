/* Where partitions begin that were assigned: at what the group has committed, and where it has committed nothing, at
 * what `kafka.start` says for a group that begins, and at the earliest message for what appears later (a topic got more
 * partitions, a pattern matches a new topic).
 *
 * Threads: the consumer's only, inside of a rebalance. Each question is asked once for all partitions, and waits for
 * the broker for a few seconds at most. */
#pragma once

#include "config/config.h"

#include <librdkafka/rdkafka.h>

G_BEGIN_DECLS

/* Questions asked inside a rebalance: well below any session timeout we allow (6 s). */
#define TIDE_KAFKA_QUESTION_MS 4000

/* What is known of a partition that begins. */
typedef struct TideKafkaStart {
  gboolean is_answered;  /* FALSE: the broker did not say whether something is committed */
  gboolean is_committed; /* something is; its metadata stands in the list */
  gint64 start_offset;   /* -1: unknown */
  gint64 end_offset;     /* where it ends; -1: unknown */
} TideKafkaStart;

typedef struct TideKafkaStarts {
  rd_kafka_t *kafka; /* borrowed, all */
  const TideKafkaConfig *config;
  void (*progress)(gpointer data); /* after each question */
  gpointer progress_data;
} TideKafkaStarts;

/**
 * tide_kafka_find_starts: give @partitions the offsets at which they begin.
 * @partitions: when the broker does not say, RD_KAFKA_OFFSET_STORED: librdkafka asks again, until it is told
 * Returns: (transfer full): one for each, by index
 */
TideKafkaStart *tide_kafka_find_starts(const TideKafkaStarts *starts, rd_kafka_topic_partition_list_t *partitions);

G_END_DECLS
