#include "flow/kafka_start.h"

#include "util/clock.h"
#include "util/log.h"

/* Members of a group that begins commit where they begin a moment before others ask: their commits carry this and the
 * time, and are no sign yet that the group began before. Later ones are, and every commit after it. */
#define START_MARK "tidemark start "
#define BEGINNING_MS 60000

typedef struct Starts {
  rd_kafka_t *kafka;
  const TideKafkaConfig *config;
  gboolean knows_group;
  gboolean group_has_begun; /* when known */
} Starts;

/* The partition's end as a number, so that it can be committed at once. */
static gint64
end_as_number(const Starts *starts, const char *topic, gint32 partition)
{
  gint64 low, high;
  if (rd_kafka_query_watermark_offsets(starts->kafka, topic, partition, &low, &high, TIDE_KAFKA_QUESTION_MS) !=
      RD_KAFKA_RESP_ERR_NO_ERROR)
    return RD_KAFKA_OFFSET_END;
  return high;
}

static gint64
offset_at_start_time(const Starts *starts, const char *topic, gint32 partition)
{
  rd_kafka_topic_partition_list_t *times = rd_kafka_topic_partition_list_new(1);
  rd_kafka_topic_partition_list_add(times, topic, partition)->offset = starts->config->start_epoch_ms;
  gint64 found = RD_KAFKA_OFFSET_BEGINNING; /* no answer: rather too early than too late */
  if (rd_kafka_offsets_for_times(starts->kafka, times, TIDE_KAFKA_QUESTION_MS) == RD_KAFKA_RESP_ERR_NO_ERROR &&
      times->elems[0].err == RD_KAFKA_RESP_ERR_NO_ERROR)
    found = times->elems[0].offset;
  rd_kafka_topic_partition_list_destroy(times);
  return found == RD_KAFKA_OFFSET_END ? end_as_number(starts, topic, partition) : found;
}

/* ---- whether the group is new ---- */

static gboolean
is_subscribed(const TideKafkaConfig *config, const char *name)
{
  for (char **topic = config->topics; *topic != NULL; topic++)
    if (**topic == '^' ? g_regex_match_simple(*topic, name, 0, 0) : strcmp(*topic, name) == 0)
      return TRUE;
  return FALSE;
}

/* Every partition of the topics that the group reads; NULL when no broker says. */
static rd_kafka_topic_partition_list_t *
list_all(const Starts *starts)
{
  const struct rd_kafka_metadata *metadata = NULL;
  if (rd_kafka_metadata(starts->kafka, 1, NULL, &metadata, TIDE_KAFKA_QUESTION_MS) != RD_KAFKA_RESP_ERR_NO_ERROR)
    return NULL;
  rd_kafka_topic_partition_list_t *all = rd_kafka_topic_partition_list_new(16);
  for (int i = 0; i < metadata->topic_cnt; i++) {
    const struct rd_kafka_metadata_topic *topic = &metadata->topics[i];
    for (int p = 0; is_subscribed(starts->config, topic->topic) && p < topic->partition_cnt; p++)
      rd_kafka_topic_partition_list_add(all, topic->topic, topic->partitions[p].id);
  }
  rd_kafka_metadata_destroy(metadata);
  return all;
}

static gboolean
was_before(const rd_kafka_topic_partition_t *committed, gint64 now_epoch_ms)
{
  if (committed->err != RD_KAFKA_RESP_ERR_NO_ERROR || committed->offset < 0)
    return FALSE;
  g_autofree char *mark = g_strndup(committed->metadata, committed->metadata_size);
  if (mark == NULL || !g_str_has_prefix(mark, START_MARK))
    return TRUE;
  return now_epoch_ms - g_ascii_strtoll(mark + strlen(START_MARK), NULL, 10) > BEGINNING_MS;
}

static gboolean
ask_whether_begun(const Starts *starts)
{
  rd_kafka_topic_partition_list_t *all = list_all(starts);
  if (all == NULL)
    return TRUE; /* rather too early than too late */
  gboolean begun = rd_kafka_committed(starts->kafka, all, TIDE_KAFKA_QUESTION_MS) != RD_KAFKA_RESP_ERR_NO_ERROR;
  gint64 now_epoch_ms = tide_wall_clock_epoch_ms();
  for (int i = 0; i < all->cnt && !begun; i++)
    begun = was_before(&all->elems[i], now_epoch_ms);
  rd_kafka_topic_partition_list_destroy(all);
  return begun;
}

static gboolean
group_has_begun(Starts *starts)
{
  if (!starts->knows_group)
    starts->group_has_begun = ask_whether_begun(starts);
  starts->knows_group = TRUE;
  return starts->group_has_begun;
}

/* ---- the offsets ---- */

/* The offset at which a partition without a committed one starts. */
static gint64
first_offset(Starts *starts, const char *topic, gint32 partition)
{
  switch (starts->config->start) {
  case TIDE_START_EARLIEST:
    return RD_KAFKA_OFFSET_BEGINNING;
  case TIDE_START_LATEST:
    /* Messages that came before a new partition was noticed are not what the operator left out at the start. */
    return group_has_begun(starts) ? RD_KAFKA_OFFSET_BEGINNING : end_as_number(starts, topic, partition);
  case TIDE_START_TIME:
    return offset_at_start_time(starts, topic, partition);
  }
  return RD_KAFKA_OFFSET_BEGINNING;
}

static void
add_fresh(rd_kafka_topic_partition_list_t *fresh, const rd_kafka_topic_partition_t *at)
{
  rd_kafka_topic_partition_t *added = rd_kafka_topic_partition_list_add(fresh, at->topic, at->partition);
  g_autofree char *mark = g_strdup_printf(START_MARK "%" G_GINT64_FORMAT, tide_wall_clock_epoch_ms());
  added->offset = at->offset;
  added->metadata = strdup(mark); /* librdkafka frees it by free() */
  added->metadata_size = strlen(mark);
}

void
tide_kafka_fill_in_starts(rd_kafka_t *kafka, const TideKafkaConfig *config, rd_kafka_topic_partition_list_t *partitions,
                          rd_kafka_topic_partition_list_t *fresh)
{
  Starts starts = {.kafka = kafka, .config = config};
  rd_kafka_resp_err_t problem = rd_kafka_committed(kafka, partitions, TIDE_KAFKA_QUESTION_MS);
  if (problem != RD_KAFKA_RESP_ERR_NO_ERROR)
    tide_log(TIDE_LOG_WARNING, "cannot ask for the committed offsets of group '%s': %s", config->group,
             rd_kafka_err2str(problem));
  for (int i = 0; i < partitions->cnt; i++) {
    rd_kafka_topic_partition_t *at = &partitions->elems[i];
    if (problem != RD_KAFKA_RESP_ERR_NO_ERROR || at->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
      at->offset = RD_KAFKA_OFFSET_STORED;
      continue;
    }
    if (at->offset >= 0)
      continue;
    at->offset = first_offset(&starts, at->topic, at->partition);
    if (at->offset >= 0)
      add_fresh(fresh, at);
  }
}
