/* Where assigned partitions stand, asked of the brokers: what the group has committed of each, what its log holds, and
 * if nothing is committed, where `kafka.start` lets a new group begin. What follows from that is the consumer's to
 * decide (consumer/offset_trust.h).
 *
 * Threads: the client's only. Each question is asked once for all partitions, or if a broker does not answer,
 * once for each leader, and waits for the broker for a few seconds at most. */
#pragma once

#include "config/config.h"
#include "model/input.h"

#include <librdkafka/rdkafka.h>

G_BEGIN_DECLS

/* Questions asked inside a rebalance: well below any session timeout we allow (6 s). */
#define TIDE_KAFKA_QUESTION_MS 4000

typedef struct TideKafkaStarts {
  rd_kafka_t *kafka; /* borrowed, all */
  const TideKafkaConfig *config;
  int question_ms;                 /* for each question */
  void (*progress)(gpointer data); /* after each question */
  gpointer progress_data;
} TideKafkaStarts;

/**
 * tide_kafka_find_starts: ask where @partitions stand.
 * @partitions: afterwards with what is committed, and its metadata; the error of an element is that of the first
 *     question about it that was not answered
 * Returns: (transfer full): one for each, by index; its note is borrowed from @partitions. wanted_offset is -1
 */
TideInputLog *tide_kafka_find_starts(const TideKafkaStarts *starts, rd_kafka_topic_partition_list_t *partitions);

/* What shows whether a log is still the one that it was: no message before @offset has a time of @time_ms or later. Of
 * a log that grows at its end and loses what is oldest that stays true for ever, whatever times its messages have. A
 * topic that was deleted and created again gives the lie to it with its first message that has a later time. */
typedef struct TideLogWitness {
  gint64 time_ms; /* 0: there is no witness yet */
  gint64 offset;
  gint64 next_time_ms; /* that of the next witness, which is asked for */
  gboolean is_refuted; /* stays so */
} TideLogWitness;

/* The witness of a partition, a new one at first. @witnesses: (element-type utf8 TideLogWitness): "topic/3" -> it, both
 * owned */
TideLogWitness *tide_log_witness_of(GHashTable *witnesses, const char *topic, gint32 partition);

/* Begins to ask for the next one: of a time behind that of the message that was read last (@newest_ms, -1: there is
 * none), so that few offsets are as late, and not in the future, where none would ever be. */
void tide_log_witness_ask(TideLogWitness *witness, gint64 newest_ms);

/* Takes the answers to two questions, each negative if no message is as late as that: where the next witness's time
 * first is, and behind that question where the present one's is, so that both are of one log. @end_offset: of the log,
 * a moment before. Pure, for the watch and its test. */
void tide_log_witness_take(TideLogWitness *witness, gint64 next_offset, gint64 present_offset, gint64 end_offset);

/* Asks both questions for each partition of @ends, by index. What is not answered stays as it is. */
void tide_kafka_ask_witnesses(rd_kafka_t *kafka, const rd_kafka_topic_partition_list_t *ends,
                              TideLogWitness *const *witnesses, int question_ms);

G_END_DECLS
