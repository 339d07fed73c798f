/* Asks the brokers about assigned partitions: what the group has committed of each, what its log holds, and if nothing
 * is committed, where `kafka.start` lets a new group begin. The consumer decides what follows
 * (consumer/offset_trust.h).
 *
 * Threads: the client's only. Each question is asked once for all partitions, or if a broker does not answer, once for
 * each leader, and waits for the broker for a few seconds at most. */
#pragma once

#include "config/config.h"
#include "model/input.h"

#include <librdkafka/rdkafka.h>

G_BEGIN_DECLS

/* For questions inside a rebalance: well below the shortest session timeout that is allowed (6 s). */
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
 * @partitions: receives what is committed, and its metadata; the error of an element is that of the first question
 * about it that was not answered.
 * Returns: (transfer full): one for each, by index; its note is borrowed from @partitions. wanted_offset is -1.
 */
TideInputLog *tide_kafka_find_starts(const TideKafkaStarts *starts, rd_kafka_topic_partition_list_t *partitions);

G_END_DECLS
