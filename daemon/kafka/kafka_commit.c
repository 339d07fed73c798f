#include "kafka/kafka_commit.h"

#include <string.h>

void
tide_kafka_commit_add(rd_kafka_topic_partition_list_t *list, const char *topic, gint32 partition, gint64 offset,
                      const char *note)
{
  rd_kafka_topic_partition_t *at = rd_kafka_topic_partition_list_add(list, topic, partition);
  at->offset = offset;
  at->metadata = strdup(note); /* librdkafka frees it by free() */
  at->metadata_size = strlen(note);
}

rd_kafka_resp_err_t
tide_kafka_commit_result(rd_kafka_resp_err_t whole, const rd_kafka_topic_partition_t *of)
{
  return whole != RD_KAFKA_RESP_ERR_NO_ERROR ? whole : of->err;
}

char *
tide_kafka_commit_problem(rd_kafka_resp_err_t whole, const rd_kafka_topic_partition_list_t *list)
{
  for (int i = 0; list != NULL && i < list->cnt; i++) {
    const rd_kafka_topic_partition_t *at = &list->elems[i];
    if (at->err != RD_KAFKA_RESP_ERR_NO_ERROR)
      return g_strdup_printf("'%s' partition %d: %s", at->topic, at->partition, rd_kafka_err2str(at->err));
  }
  return whole != RD_KAFKA_RESP_ERR_NO_ERROR ? g_strdup(rd_kafka_err2str(whole)) : NULL;
}
