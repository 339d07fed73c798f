#include "kafka/kafka_start.h"

#include "config/topic_pattern.h"
#include "kafka/commit_note.h"
#include "util/clock.h"
#include "util/log.h"

/* Members of a group that begins commit where they begin a moment before others ask: the note of such a commit says
 * when, and it is no sign yet that the group began before. Later ones are, and every commit that has moved. */
#define BEGINNING_MS 60000

typedef struct Search {
  const TideKafkaStarts *starts;
  rd_kafka_topic_partition_list_t *partitions;
  TideKafkaStart *found;
} Search;

/* ---- offsets by time ---- */

/* The offsets of @partitions at @time_ms, or at RD_KAFKA_OFFSET_BEGINNING or _END, all in one question; below 0 where
 * the broker gave none. (transfer full) */
static rd_kafka_topic_partition_list_t *
ask_offsets(const TideKafkaStarts *starts, const rd_kafka_topic_partition_list_t *partitions, gint64 time_ms)
{
  rd_kafka_topic_partition_list_t *asked = rd_kafka_topic_partition_list_new(partitions->cnt);
  for (int i = 0; i < partitions->cnt; i++)
    rd_kafka_topic_partition_list_add(asked, partitions->elems[i].topic, partitions->elems[i].partition)->offset =
        time_ms;
  rd_kafka_resp_err_t problem = rd_kafka_offsets_for_times(starts->kafka, asked, TIDE_KAFKA_QUESTION_MS);
  for (int i = 0; i < asked->cnt; i++)
    if (problem != RD_KAFKA_RESP_ERR_NO_ERROR || asked->elems[i].err != RD_KAFKA_RESP_ERR_NO_ERROR)
      asked->elems[i].offset = RD_KAFKA_OFFSET_INVALID;
  starts->progress(starts->progress_data);
  return asked;
}

static void
find_ends(Search *search)
{
  rd_kafka_topic_partition_list_t *ends = ask_offsets(search->starts, search->partitions, RD_KAFKA_OFFSET_END);
  for (int i = 0; i < ends->cnt; i++)
    search->found[i].end_offset = MAX(ends->elems[i].offset, -1);
  rd_kafka_topic_partition_list_destroy(ends);
}

/* ---- whether the group is new ---- */

/* Every partition of the topics that the group reads; NULL when no broker says. */
static rd_kafka_topic_partition_list_t *
list_all(const TideKafkaStarts *starts)
{
  const struct rd_kafka_metadata *metadata = NULL;
  if (rd_kafka_metadata(starts->kafka, 1, NULL, &metadata, TIDE_KAFKA_QUESTION_MS) != RD_KAFKA_RESP_ERR_NO_ERROR)
    return NULL;
  rd_kafka_topic_partition_list_t *all = rd_kafka_topic_partition_list_new(16);
  for (int i = 0; i < metadata->topic_cnt; i++) {
    const struct rd_kafka_metadata_topic *topic = &metadata->topics[i];
    gboolean is_wanted = tide_topic_pattern_any_matches(starts->config->topics, topic->topic);
    for (int p = 0; is_wanted && p < topic->partition_cnt; p++)
      rd_kafka_topic_partition_list_add(all, topic->topic, topic->partitions[p].id);
  }
  rd_kafka_metadata_destroy(metadata);
  return all;
}

static gboolean
was_before(const rd_kafka_topic_partition_t *committed, gint64 now_epoch_ms)
{
  TideCommitNote note;
  if (committed->err != RD_KAFKA_RESP_ERR_NO_ERROR || committed->offset < 0)
    return FALSE;
  return !tide_commit_note_parse(tide_bytes(committed->metadata, committed->metadata_size), &note) ||
         note.start_ms == 0 || now_epoch_ms - note.start_ms > BEGINNING_MS;
}

static gboolean
group_has_begun(const TideKafkaStarts *starts)
{
  rd_kafka_topic_partition_list_t *all = list_all(starts);
  starts->progress(starts->progress_data);
  if (all == NULL)
    return TRUE; /* rather too early than too late */
  gboolean begun = rd_kafka_committed(starts->kafka, all, TIDE_KAFKA_QUESTION_MS) != RD_KAFKA_RESP_ERR_NO_ERROR;
  starts->progress(starts->progress_data);
  gint64 now_epoch_ms = tide_wall_clock_epoch_ms();
  for (int i = 0; i < all->cnt && !begun; i++)
    begun = was_before(&all->elems[i], now_epoch_ms);
  rd_kafka_topic_partition_list_destroy(all);
  return begun;
}

/* ---- the offsets ---- */

static gboolean
begins(const Search *search, int i)
{
  return search->found[i].is_answered && !search->found[i].is_committed;
}

/* Of partitions that begin; BEGINNING where the broker does not say: rather too early than too late. */
static void
begin_at(Search *search, gint64 time_ms)
{
  rd_kafka_topic_partition_list_t *at = ask_offsets(search->starts, search->partitions, time_ms);
  for (int i = 0; i < at->cnt; i++) {
    if (!begins(search, i))
      continue;
    gint64 offset = at->elems[i].offset;
    search->found[i].start_offset = offset == RD_KAFKA_OFFSET_END ? search->found[i].end_offset : MAX(offset, -1);
    search->partitions->elems[i].offset =
        time_ms == RD_KAFKA_OFFSET_BEGINNING || offset == RD_KAFKA_OFFSET_INVALID ? RD_KAFKA_OFFSET_BEGINNING
        : offset == RD_KAFKA_OFFSET_END && search->found[i].end_offset >= 0       ? search->found[i].end_offset
                                                                                  : offset;
  }
  rd_kafka_topic_partition_list_destroy(at);
}

static void
begin_at_end(Search *search)
{
  for (int i = 0; i < search->partitions->cnt; i++) {
    if (!begins(search, i))
      continue;
    gint64 end = search->found[i].end_offset;
    search->found[i].start_offset = end;
    search->partitions->elems[i].offset = end >= 0 ? end : RD_KAFKA_OFFSET_END;
  }
}

static void
begin_partitions(Search *search)
{
  const TideKafkaConfig *config = search->starts->config;
  /* Messages that came before a new partition was noticed are not what the operator left out at the start. */
  if (config->start == TIDE_START_TIME)
    begin_at(search, config->start_epoch_ms);
  else if (config->start == TIDE_START_LATEST && !group_has_begun(search->starts))
    begin_at_end(search);
  else
    begin_at(search, RD_KAFKA_OFFSET_BEGINNING);
}

static void
find_committed(Search *search)
{
  const TideKafkaStarts *starts = search->starts;
  rd_kafka_resp_err_t problem = rd_kafka_committed(starts->kafka, search->partitions, TIDE_KAFKA_QUESTION_MS);
  starts->progress(starts->progress_data);
  if (problem != RD_KAFKA_RESP_ERR_NO_ERROR)
    tide_log(TIDE_LOG_WARNING, "committed-unknown",
             "cannot get the committed offsets of group '%s': %s; they are asked for again", starts->config->group,
             rd_kafka_err2str(problem));
  for (int i = 0; i < search->partitions->cnt; i++) {
    rd_kafka_topic_partition_t *at = &search->partitions->elems[i];
    TideKafkaStart *found = &search->found[i];
    found->is_answered = problem == RD_KAFKA_RESP_ERR_NO_ERROR && at->err == RD_KAFKA_RESP_ERR_NO_ERROR;
    found->is_committed = found->is_answered && at->offset >= 0;
    found->start_offset = found->is_committed ? at->offset : -1;
    if (!found->is_answered)
      at->offset = RD_KAFKA_OFFSET_STORED;
  }
}

TideKafkaStart *
tide_kafka_find_starts(const TideKafkaStarts *starts, rd_kafka_topic_partition_list_t *partitions)
{
  Search search = {starts, partitions, g_new0(TideKafkaStart, (gsize)MAX(partitions->cnt, 1))};
  if (partitions->cnt == 0)
    return search.found;
  find_committed(&search);
  find_ends(&search);
  for (int i = 0; i < partitions->cnt; i++)
    if (begins(&search, i)) {
      begin_partitions(&search);
      break;
    }
  return search.found;
}
