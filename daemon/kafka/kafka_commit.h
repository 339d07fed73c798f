/* A commit as librdkafka has it: a list of offsets, each with its note, and what the broker says to each. */
#pragma once

#include <glib.h>
#include <librdkafka/rdkafka.h>

G_BEGIN_DECLS

/* Adds one partition; @note is copied. */
void tide_kafka_commit_add(rd_kafka_topic_partition_list_t *list, const char *topic, gint32 partition, gint64 offset,
                           const char *note);

/* How the commit of one partition of @list ended. A commit as a whole may succeed when a single partition does. */
rd_kafka_resp_err_t tide_kafka_commit_result(rd_kafka_resp_err_t whole, const rd_kafka_topic_partition_t *of);

/* What went wrong: of the first partition that has an error of its own, else of the whole, which is no partition's in
 * particular. NULL: nothing. @list: (nullable). (transfer full) */
char *tide_kafka_commit_problem(rd_kafka_resp_err_t whole, const rd_kafka_topic_partition_list_t *list);

G_END_DECLS
