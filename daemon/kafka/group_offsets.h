/* A consumer group seen from outside: its members, and commits for it while it has none. The client joins no group; to
 * commit, its group.id must be the group's. Each function blocks until the coordinator answers.
 *
 * Threads: any; one at a time for each client. */
#pragma once

#include "config/config.h"

#include <librdkafka/rdkafka.h>

G_BEGIN_DECLS

typedef struct TideKafkaMember {
  char *client_id; /* owned, all */
  char *host;      /* as the broker sees it: "/10.1.2.3" */
  char *member_id;
} TideKafkaMember;

/**
 * tide_kafka_group_describe: the members that @group has now. A group that does not exist has none.
 * @kafka: a client of any kind
 * Ownership: (transfer full) (element-type TideKafkaMember).
 * Errors: KAFKA if the members are unknown: brokers refused, or not all answered within @timeout_ms and none of those
 * that did has the group; UNAVAILABLE if the brokers do not support the question.
 */
GArray *tide_kafka_group_describe(rd_kafka_t *kafka, const char *group, int timeout_ms,
                                  GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* "'rdkafka' at /10.1.2.3 (rdkafka-0f3c...)", for each member other than tidemark, by @config, and their number.
 * @members: (element-type TideKafkaMember). (transfer full) (nullable): NULL: none */
char *tide_kafka_group_strangers(const GArray *members, const TideKafkaConfig *config, guint *ret_n);

/* Every partition of the topics that the group reads. (transfer full) (nullable): NULL: no broker answered. */
rd_kafka_topic_partition_list_t *tide_kafka_group_partitions(rd_kafka_t *kafka, const TideKafkaConfig *config,
                                                             int question_ms);

/**
 * tide_kafka_group_other_tables: the number of partitions whose last commit is by a tidemark that delivers other
 * tables.
 * @tables_mark: of this configuration, tables_mark.h
 * Returns: -1 if the brokers do not answer
 */
int tide_kafka_group_other_tables(rd_kafka_t *kafka, const TideKafkaConfig *config, guint32 tables_mark,
                                  int question_ms);

/* ---- commits in librdkafka's form: a list of offsets, each with its note and its result ---- */

/* Adds a partition; @note is copied. */
void tide_kafka_commit_add(rd_kafka_topic_partition_list_t *list, const char *topic, gint32 partition, gint64 offset,
                           const char *note);

/* The result of one partition: a commit may succeed as a whole although a partition failed. */
rd_kafka_resp_err_t tide_kafka_commit_result(rd_kafka_resp_err_t whole, const rd_kafka_topic_partition_t *of);

/* The text of the first partition's own error, or else of @whole; NULL if there is neither. @list: (nullable).
 * (transfer full) */
char *tide_kafka_commit_problem(rd_kafka_resp_err_t whole, const rd_kafka_topic_partition_list_t *list);

/* An offset to commit for a partition. */
typedef struct TideKafkaGroupOffset {
  const char *topic; /* borrowed */
  gint32 partition;
  gint64 offset;
  char *note;            /* owned by the caller: the metadata */
  gboolean is_committed; /* out */
} TideKafkaGroupOffset;

/**
 * tide_kafka_group_commit: commit for the group of @kafka. Its coordinator refuses while the group has members.
 * @offsets: is_committed is set in each that the broker accepted, also after an error
 * Errors: IN_USE: the group has members; KAFKA with the first failed partition and its reason.
 */
gboolean tide_kafka_group_commit(rd_kafka_t *kafka, TideKafkaGroupOffset *offsets, gsize n_offsets,
                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
