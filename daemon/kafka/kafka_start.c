#include "kafka/kafka_start.h"

#include "kafka/commit_note.h"
#include "kafka/group_offsets.h"
#include "kafka/kafka_client.h"
#include "kafka/kafka_conf.h"
#include "util/clock.h"

/* Members of a new group may commit their start offsets moments before other members ask. The note of such a commit has
 * its time. The group counts as begun earlier if a commit is older than this, or has moved. */
#define BEGINNING_MS 60000

typedef struct Search {
  const TideKafkaStarts *starts;
  rd_kafka_topic_partition_list_t *partitions; /* the error of an element: that of its first unanswered question */
  TideInputLog *found;
  gint32 *leaders; /* owned: of each partition; -1: none; NULL: not needed yet */
} Search;

/* ---- offsets by time ---- */

/* Finds the leader of each partition. FALSE: no broker answered. */
static gboolean
find_leaders(Search *search)
{
  const TideKafkaStarts *starts = search->starts;
  const struct rd_kafka_metadata *metadata = NULL;
  rd_kafka_resp_err_t problem = rd_kafka_metadata(starts->kafka, 1, NULL, &metadata, starts->question_ms);
  starts->progress(starts->progress_data);
  if (problem != RD_KAFKA_RESP_ERR_NO_ERROR)
    return FALSE;
  search->leaders = g_new(gint32, (gsize)search->partitions->cnt);
  for (int i = 0; i < search->partitions->cnt; i++)
    search->leaders[i] = -1;
  for (int t = 0; t < metadata->topic_cnt; t++) {
    const struct rd_kafka_metadata_topic *topic = &metadata->topics[t];
    for (int i = 0; i < search->partitions->cnt; i++)
      for (int p = 0; strcmp(topic->topic, search->partitions->elems[i].topic) == 0 && p < topic->partition_cnt; p++)
        if (topic->partitions[p].id == search->partitions->elems[i].partition)
          search->leaders[i] = topic->partitions[p].leader;
  }
  rd_kafka_metadata_destroy(metadata);
  return TRUE;
}

/* Asks one question for the partitions without an error so far: for all, or if the leaders are known, for those of
 * @leader. Returns the error of the whole question, which is not noted yet. */
static rd_kafka_resp_err_t
ask_offsets(Search *search, gint32 leader, gint64 time_ms, gsize member)
{
  rd_kafka_topic_partition_list_t *partitions = search->partitions;
  g_autoptr(rd_kafka_topic_partition_list_t) asked = rd_kafka_topic_partition_list_new(partitions->cnt);
  rd_kafka_resp_err_t problem = RD_KAFKA_RESP_ERR_NO_ERROR;
  for (int i = 0; i < partitions->cnt; i++)
    if (partitions->elems[i].err == RD_KAFKA_RESP_ERR_NO_ERROR &&
        (search->leaders == NULL || search->leaders[i] == leader))
      rd_kafka_topic_partition_list_add(asked, partitions->elems[i].topic, partitions->elems[i].partition);
  if (asked->cnt > 0) {
    problem = tide_kafka_ask_offsets(search->starts->kafka, asked, time_ms, search->starts->question_ms);
    search->starts->progress(search->starts->progress_data);
  }
  for (int i = 0; i < partitions->cnt && problem == RD_KAFKA_RESP_ERR_NO_ERROR; i++) {
    rd_kafka_topic_partition_t *at = &partitions->elems[i];
    const rd_kafka_topic_partition_t *answer = rd_kafka_topic_partition_list_find(asked, at->topic, at->partition);
    if (answer == NULL)
      continue;
    at->err = answer->err;
    G_STRUCT_MEMBER(gint64, &search->found[i], member) = answer->offset;
  }
  return problem;
}

/* Stores the offsets of all partitions at @time_ms, RD_KAFKA_OFFSET_BEGINNING or _END in the member of each result at
 * @member. RD_KAFKA_OFFSET_END: no message is that late.
 *
 * librdkafka answers a question as a whole: if one broker does not answer, the offsets at the other brokers are
 * unknown, too. Then each leader is asked separately. */
static void
find_offsets(Search *search, gint64 time_ms, gsize member)
{
  rd_kafka_topic_partition_list_t *partitions = search->partitions;
  rd_kafka_resp_err_t problem = RD_KAFKA_RESP_ERR_NO_ERROR;
  if (search->leaders == NULL) {
    problem = ask_offsets(search, -1, time_ms, member);
    if (problem == RD_KAFKA_RESP_ERR_NO_ERROR)
      return;
  }
  gboolean are_known = search->leaders != NULL || find_leaders(search);
  for (int i = 0; i < partitions->cnt; i++) {
    gboolean was_asked = FALSE;
    for (int k = 0; k < i && are_known && !was_asked; k++)
      was_asked = search->leaders[k] == search->leaders[i];
    if (was_asked)
      continue;
    if (are_known)
      problem = search->leaders[i] < 0 ? RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE
                                       : ask_offsets(search, search->leaders[i], time_ms, member);
    for (int k = i; k < partitions->cnt && problem != RD_KAFKA_RESP_ERR_NO_ERROR; k++)
      if (partitions->elems[k].err == RD_KAFKA_RESP_ERR_NO_ERROR &&
          (!are_known || search->leaders[k] == search->leaders[i]))
        partitions->elems[k].err = problem;
  }
}

/* ---- whether the group is new ---- */

static gboolean
was_before(const rd_kafka_topic_partition_t *committed, gint64 now_epoch_ms)
{
  TideCommitNote note;
  if (committed->err != RD_KAFKA_RESP_ERR_NO_ERROR || committed->offset < 0)
    return FALSE;
  return !tide_commit_note_parse(tide_bytes(committed->metadata, committed->metadata_size), &note) ||
         note.start_ms == 0 || now_epoch_ms - note.start_ms > BEGINNING_MS;
}

/* @ret_begun: whether the group committed any offset before this start. */
static rd_kafka_resp_err_t
ask_whether_group_has_begun(const TideKafkaStarts *starts, gboolean *ret_begun)
{
  g_autoptr(rd_kafka_topic_partition_list_t) all =
      tide_kafka_group_partitions(starts->kafka, starts->config, starts->question_ms);
  starts->progress(starts->progress_data);
  if (all == NULL)
    return RD_KAFKA_RESP_ERR__TIMED_OUT;
  rd_kafka_resp_err_t problem = rd_kafka_committed(starts->kafka, all, starts->question_ms);
  starts->progress(starts->progress_data);
  gint64 now_epoch_ms = tide_wall_clock_epoch_ms();
  *ret_begun = FALSE;
  for (int i = 0; i < all->cnt && problem == RD_KAFKA_RESP_ERR_NO_ERROR && !*ret_begun; i++) {
    problem = all->elems[i].err;
    *ret_begun = was_before(&all->elems[i], now_epoch_ms);
  }
  return problem;
}

/* ---- the offsets ---- */

static gboolean
is_uncommitted(const Search *search, int i)
{
  return search->partitions->elems[i].err == RD_KAFKA_RESP_ERR_NO_ERROR && search->found[i].committed_offset < 0;
}

/* Finds the start of a new group for the partitions without a committed offset. */
static void
find_beginnings(Search *search)
{
  const TideKafkaConfig *config = search->starts->config;
  gboolean has_begun = FALSE;
  rd_kafka_resp_err_t problem = RD_KAFKA_RESP_ERR_NO_ERROR;
  if (config->start == TIDE_START_TIME)
    find_offsets(search, config->start_epoch_ms, G_STRUCT_OFFSET(TideInputLog, start_offset));
  else if (config->start == TIDE_START_LATEST)
    problem = ask_whether_group_has_begun(search->starts, &has_begun);
  for (int i = 0; i < search->partitions->cnt; i++) {
    if (!is_uncommitted(search, i))
      continue;
    TideInputLog *found = &search->found[i];
    search->partitions->elems[i].err = problem;
    found->group_has_begun = has_begun;
    if (config->start != TIDE_START_TIME)
      found->start_offset = config->start == TIDE_START_LATEST ? found->end_offset : found->begin_offset;
    else if (found->start_offset < 0) /* no message is that late */
      found->start_offset = found->end_offset;
  }
}

TideInputLog *
tide_kafka_find_starts(const TideKafkaStarts *starts, rd_kafka_topic_partition_list_t *partitions)
{
  Search search = {
      .starts = starts, .partitions = partitions, .found = g_new0(TideInputLog, (gsize)MAX(partitions->cnt, 1))};
  if (partitions->cnt == 0)
    return search.found;
  rd_kafka_resp_err_t problem = rd_kafka_committed(starts->kafka, partitions, starts->question_ms);
  starts->progress(starts->progress_data);
  for (int i = 0; i < partitions->cnt; i++) {
    rd_kafka_topic_partition_t *at = &partitions->elems[i];
    at->err = problem != RD_KAFKA_RESP_ERR_NO_ERROR ? problem : at->err;
    search.found[i] = (TideInputLog){.wanted_offset = -1,
                                     .committed_offset = at->offset >= 0 ? at->offset : -1,
                                     .note = tide_bytes(at->metadata, at->metadata_size)};
  }
  find_offsets(&search, RD_KAFKA_OFFSET_BEGINNING, G_STRUCT_OFFSET(TideInputLog, begin_offset));
  find_offsets(&search, RD_KAFKA_OFFSET_END, G_STRUCT_OFFSET(TideInputLog, end_offset));
  for (int i = 0; i < partitions->cnt; i++)
    if (is_uncommitted(&search, i)) {
      find_beginnings(&search);
      break;
    }
  g_free(search.leaders);
  return search.found;
}
