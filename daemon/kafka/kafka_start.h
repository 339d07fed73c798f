/* Asks the brokers about assigned partitions: the committed offset of each and the ends of its log. Without a committed
 * offset, also where `kafka.start` lets a new group begin. The consumer decides what to do (consumer/offset_trust.h).
 *
 * Threads: the client's only. Each question is asked once for all partitions, or if a broker does not answer, once for
 * each leader. It waits a few seconds at most. */
#pragma once

#include "config/config.h"
#include "model/input.h"

#include <librdkafka/rdkafka.h>

G_BEGIN_DECLS

/* For questions inside a rebalance: well below the shortest allowed session timeout (6 s). */
#define TIDE_KAFKA_QUESTION_MS 4000

typedef struct TideKafkaStarts {
  rd_kafka_t *kafka; /* borrowed, all */
  const TideKafkaConfig *config;
  int question_ms;                 /* for each question */
  void (*progress)(gpointer data); /* after each question */
  gpointer progress_data;
} TideKafkaStarts;

/**
 * tide_kafka_find_starts: ask about @partitions.
 * @partitions: receives committed offsets and metadata; the error of an element is that of its first unanswered
 * question.
 * Returns: (transfer full): one for each, by index; its note is borrowed from @partitions. wanted_offset is -1.
 */
TideInputLog *tide_kafka_find_starts(const TideKafkaStarts *starts, rd_kafka_topic_partition_list_t *partitions);

G_END_DECLS
