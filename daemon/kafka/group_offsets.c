#include "kafka/group_offsets.h"

#include "kafka/commit_note.h"
#include "kafka/kafka_client.h"
#include "util/error.h"

#include <string.h>

static void
clear_member(gpointer data)
{
  TideKafkaMember *member = data;
  g_free(member->client_id);
  g_free(member->host);
  g_free(member->member_id);
}

/* Uses the older of two calls. After rd_kafka_DescribeConsumerGroups() librdkafka 2.0.2 never ends rd_kafka_destroy()
 * if the broker does not support the question (measured), and may abort the process if the answer is late
 * (librdkafka#4605). The price is that all brokers are asked. */
GArray *
tide_kafka_group_describe(rd_kafka_t *kafka, const char *group, int timeout_ms, GError **error)
{
  const struct rd_kafka_group_list *list = NULL;
  rd_kafka_resp_err_t result = rd_kafka_list_groups(kafka, group, &list, timeout_ms);
  if (result == RD_KAFKA_RESP_ERR__PARTIAL) /* the group is known; other brokers have not answered */
    result = RD_KAFKA_RESP_ERR_NO_ERROR;
  GArray *members = g_array_new(FALSE, TRUE, sizeof(TideKafkaMember));
  g_array_set_clear_func(members, clear_member);
  for (int i = 0; result == RD_KAFKA_RESP_ERR_NO_ERROR && i < list->group_cnt; i++) {
    const struct rd_kafka_group_info *found = &list->groups[i];
    result = found->err;
    for (int k = 0; k < found->member_cnt; k++) {
      TideKafkaMember member = {.client_id = g_strdup(found->members[k].client_id),
                                .host = g_strdup(found->members[k].client_host),
                                .member_id = g_strdup(found->members[k].member_id)};
      g_array_append_val(members, member);
    }
  }
  if (list != NULL)
    rd_kafka_group_list_destroy(list);
  if (result == RD_KAFKA_RESP_ERR_NO_ERROR)
    return members;
  g_array_unref(members);
  g_set_error(error, TIDE_ERROR,
              result == RD_KAFKA_RESP_ERR__UNSUPPORTED_FEATURE ? TIDE_ERROR_UNAVAILABLE : TIDE_ERROR_KAFKA,
              "cannot ask for the members of group '%s': %s", group, rd_kafka_err2str(result));
  return NULL;
}

char *
tide_kafka_group_strangers(const GArray *members, const TideKafkaConfig *config, guint *ret_n)
{
  g_autoptr(GString) text = g_string_new(NULL);
  *ret_n = 0;
  for (guint i = 0; i < members->len; i++) {
    const TideKafkaMember *member = &g_array_index(members, TideKafkaMember, i);
    if (!tide_kafka_conf_is_tidemark(config, member->client_id))
      g_string_append_printf(text, "%s'%s' at %s (%s)", (*ret_n)++ > 0 ? ", " : "", member->client_id, member->host,
                             member->member_id);
  }
  return *ret_n > 0 ? g_strdup(text->str) : NULL;
}

rd_kafka_topic_partition_list_t *
tide_kafka_group_partitions(rd_kafka_t *kafka, const TideKafkaConfig *config, int question_ms)
{
  const struct rd_kafka_metadata *metadata = NULL;
  if (rd_kafka_metadata(kafka, 1, NULL, &metadata, question_ms) != RD_KAFKA_RESP_ERR_NO_ERROR)
    return NULL;
  rd_kafka_topic_partition_list_t *all = tide_kafka_list_partitions(metadata, config->topics);
  rd_kafka_metadata_destroy(metadata);
  return all;
}

int
tide_kafka_group_other_tables(rd_kafka_t *kafka, const TideKafkaConfig *config, guint32 tables_mark, int question_ms)
{
  g_autoptr(rd_kafka_topic_partition_list_t) all = tide_kafka_group_partitions(kafka, config, question_ms);
  if (all == NULL)
    return -1;
  int n = rd_kafka_committed(kafka, all, question_ms) == RD_KAFKA_RESP_ERR_NO_ERROR ? 0 : -1;
  for (int i = 0; i < all->cnt && n >= 0; i++) {
    TideCommitNote note;
    const rd_kafka_topic_partition_t *at = &all->elems[i];
    if (at->offset >= 0 && tide_commit_note_parse(tide_bytes(at->metadata, at->metadata_size), &note))
      n += note.tables_mark != 0 && note.tables_mark != tables_mark ? 1 : 0;
  }
  return n;
}

/* ---- commits ---- */

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

/* Whether a coordinator refused a commit from outside because the group has members. */
static gboolean
is_of_members(rd_kafka_resp_err_t result)
{
  return result == RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID || result == RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION ||
         result == RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS;
}

typedef struct Commit {
  TideKafkaGroupOffset *offsets;
  gsize n_offsets;
  gboolean has_members;
  char *problem; /* owned; NULL: none */
} Commit;

/* Called once, within rd_kafka_commit_queue(). @list: (nullable) */
static void
take_answer(rd_kafka_t *kafka, rd_kafka_resp_err_t whole, rd_kafka_topic_partition_list_t *list, void *opaque)
{
  Commit *commit = opaque;
  commit->has_members = is_of_members(whole);
  for (gsize i = 0; list != NULL && i < commit->n_offsets; i++) {
    TideKafkaGroupOffset *offset = &commit->offsets[i];
    const rd_kafka_topic_partition_t *at = rd_kafka_topic_partition_list_find(list, offset->topic, offset->partition);
    rd_kafka_resp_err_t result = at != NULL ? tide_kafka_commit_result(whole, at) : RD_KAFKA_RESP_ERR__FAIL;
    offset->is_committed = result == RD_KAFKA_RESP_ERR_NO_ERROR;
    commit->has_members |= is_of_members(result);
  }
  g_free(commit->problem);
  commit->problem = tide_kafka_commit_problem(whole, list);
}

gboolean
tide_kafka_group_commit(rd_kafka_t *kafka, TideKafkaGroupOffset *offsets, gsize n_offsets, GError **error)
{
  g_autoptr(rd_kafka_topic_partition_list_t) list = rd_kafka_topic_partition_list_new((int)n_offsets);
  for (gsize i = 0; i < n_offsets; i++) {
    offsets[i].is_committed = FALSE;
    tide_kafka_commit_add(list, offsets[i].topic, offsets[i].partition, offsets[i].offset, offsets[i].note);
  }
  Commit commit = {.offsets = offsets, .n_offsets = n_offsets};
  rd_kafka_resp_err_t result = rd_kafka_commit_queue(kafka, list, NULL, take_answer, &commit);
  g_autofree char *problem = g_steal_pointer(&commit.problem);
  if (problem == NULL && result != RD_KAFKA_RESP_ERR_NO_ERROR)
    problem = g_strdup(rd_kafka_err2str(result));
  if (problem == NULL)
    return TRUE;
  g_set_error(error, TIDE_ERROR, commit.has_members ? TIDE_ERROR_IN_USE : TIDE_ERROR_KAFKA,
              commit.has_members ? "the group has members: %s" : "the commit failed: %s", problem);
  return FALSE;
}
