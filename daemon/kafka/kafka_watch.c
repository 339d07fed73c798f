#include "kafka/kafka_watch.h"

#include "config/topic_pattern.h"
#include "kafka/group_offsets.h"
#include "kafka/kafka_conf.h"
#include "kafka/kafka_start.h"
#include "util/clock.h"
#include "util/lock.h"

#define ROUND_US TIDE_US_PER_S

/* Each question. The thread asks up to eight in a row, and looks between them whether it is to end. */
#define QUESTION_MS 2000

/* An answer that is older is no answer any more: longer than a leader or a coordinator takes to move. */
#define ANSWER_LASTS_US (15 * TIDE_US_PER_S)

/* A partition of which nothing was read for so long, although there is more, may wait for a transaction. */
#define STILL_US (10 * TIDE_US_PER_S)

/* A leader that was just elected may not know the log's end for a moment; an end that stays lower has lost messages. */
#define SHORTER_US (5 * TIDE_US_PER_S)

/* Topics come and go seldom. */
#define TOPICS_INTERVAL_US (10 * TIDE_US_PER_S)

struct TideWatchedPartition {
  /* set at creation, then read-only */
  char *topic; /* owned */
  gint32 partition;
  TideGauge *lag;
  TideGauge *lag_seconds;
  TideGauge *committed;
  TideGauge *undecided_gauge;
  TideLogWitness *witness; /* borrowed; its thread only */
  /* under the watch's lock */
  gboolean is_gone; /* "tide-watch" frees it, which may be asking about it */
  TideConsumerPosition position;
  gint64 asked_committed_offset; /* of the position, when the question that is under way was asked */
  TideConsumerNote note;         /* its text owned */
  TideUnreadSince unread_since;
  gint64 answered_us; /* 0: not yet, or too long ago */
  gint64 messages;
  gint64 committed_offset; /* at the last answer */
  gint64 end_offset;       /* likewise */
  gint64 oldest_ms;
  gint64 greatest_end_offset; /* in this assignment: what an earlier one committed vanishes with a topic, too */
  gint64 shorter_us;          /* since when the end has been below that; 0: it is not */
  gboolean was_replaced;      /* its log */
  gint64 read_to;             /* at the last answer */
  gint64 still_us;            /* since when it has been that, while there was more; 0: there was no more */
  gint64 undecided;
};

struct TideKafkaWatch {
  /* set before start, then read-only */
  const TideKafkaConfig *config;
  guint32 tables_mark; /* config/tables_mark.h */
  TideMetrics *metrics;
  rd_kafka_t *kafka;
  TideGauge *throttled_total;
  GPtrArray *topics; /* owned (element-type rd_kafka_topic_t): those that are named */
  guint n_patterns;  /* the others */
  TideThread *thread;
  TideGauge *missing_gauge, *up_gauge, *strangers_gauge, *other_tables_gauge;
  /* its thread only */
  gint64 topics_asked_us;
  gint64 group_asked_us;   /* 0: is to be asked */
  rd_kafka_t *as_consumer; /* owned: sees what the consumers see of transactions; NULL: not needed yet */
  GPtrArray *patterns;     /* owned (element-type utf8, borrowed): those that no topic has matched yet */
  /* under lock */
  TideMutex lock;
  TideCond changed;
  gboolean is_stopping;
  gboolean is_urgent;    /* a partition was added */
  GPtrArray *partitions; /* owned (element-type TideWatchedPartition); only its thread takes away */
  GHashTable *witnesses; /* owned: "topic/3" -> TideLogWitness; they outlast assignments */
  gboolean knows_topics;
  TideKafkaAnswers answers;
  char *missing;           /* owned; NULL: none */
  char *strangers;         /* owned: at the last look; NULL: none */
  gint64 stranger_seen_us; /* 0: never */
  guint other_tables;      /* partitions, at the last look */
  gint64 other_tables_since_us;
  int throttle_ms;
  gint64 throttle_end_us;
};

static void
watched_free(gpointer data)
{
  TideWatchedPartition *watched = data;
  g_free(watched->topic);
  g_free((char *)watched->note.halt_text);
  g_free(watched);
}

static void
destroy_topic(gpointer data)
{
  rd_kafka_topic_destroy(data);
}

TideKafkaWatch *
tide_kafka_watch_new(const TideKafkaConfig *config, guint32 tables_mark, TideMetrics *metrics)
{
  TideKafkaWatch *watch = g_new0(TideKafkaWatch, 1);
  watch->config = config;
  watch->tables_mark = tables_mark;
  watch->metrics = metrics;
  watch->topics = g_ptr_array_new_with_free_func(destroy_topic);
  watch->patterns = g_ptr_array_new();
  watch->partitions = g_ptr_array_new_with_free_func(watched_free);
  watch->witnesses = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
  watch->missing_gauge = tide_metrics_gauge(metrics, "tidemark_kafka_topics_missing",
                                            "Topics of the configuration that the brokers do not have", NULL);
  watch->throttled_total =
      tide_metrics_counter_milli(metrics, "tidemark_kafka_throttled_seconds_total",
                                 "Time that brokers told the consumers to wait, by quotas of theirs", NULL);
  watch->up_gauge = tide_metrics_gauge_unknown(metrics, "tidemark_kafka_up", "1 while a broker answers", NULL);
  watch->strangers_gauge =
      tide_metrics_gauge_unknown(metrics, "tidemark_kafka_group_strangers",
                                 "Members of the group that are no tidemark: what they read is never written", NULL);
  watch->other_tables_gauge = tide_metrics_gauge_unknown(
      metrics, "tidemark_kafka_group_other_tables",
      "Partitions whose last commit is of a tidemark that has other tables, keys or columns", NULL);
  tide_mutex_init(&watch->lock);
  tide_cond_init(&watch->changed);
  return watch;
}

/* ---- the partitions ---- */

char *
tide_kafka_watch_labels(const char *topic, gint32 partition, const char *source)
{
  g_autofree char *topic_label = tide_metrics_label("topic", topic);
  if (source == NULL)
    return g_strdup_printf("%s,partition=\"%d\"", topic_label, partition);
  g_autofree char *source_label = tide_metrics_label("source", source);
  return g_strdup_printf("%s,partition=\"%d\",%s", topic_label, partition, source_label);
}

TideWatchedPartition *
tide_kafka_watch_add(TideKafkaWatch *watch, const char *topic, gint32 partition, const char *source)
{
  if (watch == NULL)
    return NULL;
  g_autofree char *labels = tide_kafka_watch_labels(topic, partition, source);
  TideWatchedPartition *watched = g_new0(TideWatchedPartition, 1);
  watched->topic = g_strdup(topic);
  watched->partition = partition;
  watched->position = (TideConsumerPosition){
      .next_offset = -1, .mark = -1, .finished_ms = -1, .oldest_ms = -1, .newest_ms = -1, .committed_offset = -1};
  watched->unread_since.since_ms = -1;
  watched->lag =
      tide_metrics_gauge_unknown(watch->metrics, "tidemark_kafka_consumer_lag",
                                 "Messages between the group's committed offset and the partition's end", labels);
  watched->lag_seconds = tide_metrics_gauge_milli_unknown(watch->metrics, "tidemark_kafka_consumer_lag_seconds",
                                                          "Age of the oldest message that is not committed", labels);
  watched->committed =
      tide_metrics_gauge_unknown(watch->metrics, "tidemark_kafka_committed_offset",
                                 "Offset that the group has committed; without one, the partition's beginning", labels);
  watched->undecided_gauge =
      tide_metrics_gauge(watch->metrics, "tidemark_kafka_undecided_messages",
                         "Messages that wait for the end of an open transaction of their producers", labels);
  tide_mutex_lock(&watch->lock);
  {
    watched->witness = tide_log_witness_of(watch->witnesses, topic, partition);
    g_ptr_array_add(watch->partitions, watched);
    watch->is_urgent = TRUE;
    tide_cond_signal(&watch->changed);
  }
  tide_mutex_unlock(&watch->lock);
  return watched;
}

static void
forget_answer_locked(TideWatchedPartition *watched)
{
  watched->answered_us = 0;
  tide_gauge_clear(watched->lag);
  tide_gauge_clear(watched->lag_seconds);
  tide_gauge_clear(watched->committed);
  watched->still_us = watched->undecided = 0;
  tide_gauge_set(watched->undecided_gauge, 0);
}

void
tide_kafka_watch_remove(TideKafkaWatch *watch, TideWatchedPartition *watched)
{
  if (watched == NULL)
    return;
  tide_mutex_lock(&watch->lock);
  watched->is_gone = TRUE;
  forget_answer_locked(watched);
  tide_mutex_unlock(&watch->lock);
}

gboolean
tide_kafka_watch_note(TideKafkaWatch *watch, TideWatchedPartition *watched, const TideConsumerPosition *position,
                      const TideConsumerNote *note)
{
  if (watched == NULL)
    return FALSE;
  tide_mutex_lock(&watch->lock);
  watched->position = *position;
  g_free((char *)watched->note.halt_text);
  watched->note = *note;
  watched->note.halt_text = g_strdup(note->halt_text);
  gboolean was_replaced = watched->was_replaced;
  tide_mutex_unlock(&watch->lock);
  return was_replaced;
}

void
tide_kafka_watch_throttled(TideKafkaWatch *watch, int throttle_ms)
{
  if (watch == NULL || throttle_ms <= 0) /* 0: that broker's quota is over, which says nothing of others */
    return;
  gint64 end_us = tide_now_us() + throttle_ms * TIDE_US_PER_MS;
  tide_gauge_add(watch->throttled_total, throttle_ms);
  tide_mutex_lock(&watch->lock);
  watch->throttle_ms = throttle_ms;
  watch->throttle_end_us = MAX(watch->throttle_end_us, end_us);
  tide_mutex_unlock(&watch->lock);
}

TideKafkaLag
tide_kafka_watch_lag(TideKafkaWatch *watch)
{
  if (watch == NULL)
    return (TideKafkaLag){0};
  TideKafkaLag lag = {.is_known = TRUE};
  gint64 now_ms = tide_wall_clock_epoch_ms();
  guint n = 0;
  tide_mutex_lock(&watch->lock);
  for (guint i = 0; i < watch->partitions->len; i++) {
    const TideWatchedPartition *watched = g_ptr_array_index(watch->partitions, i);
    if (watched->is_gone)
      continue;
    n++;
    lag.is_known &= watched->answered_us > 0;
    lag.messages += watched->messages;
    lag.unread += MAX(watched->end_offset - MAX(watched->position.next_offset, watched->committed_offset), 0);
    if (lag.seconds >= 0)
      lag.seconds = watched->oldest_ms < 0 ? -1 : MAX(lag.seconds, (now_ms - watched->oldest_ms) / 1000);
  }
  if (tide_now_us() < watch->throttle_end_us + ROUND_US)
    lag.throttle_ms = watch->throttle_ms;
  if (n == 0) /* given to others, or lost with the brokers, who then do not say what comes in */
    lag.is_known = watch->answers.since_us > 0;
  tide_mutex_unlock(&watch->lock);
  return lag;
}

static void
clear_view(gpointer data)
{
  TidePartitionView *view = data;
  g_free(view->topic);
  g_free(view->halt_text);
}

static TidePartitionView
view_of_locked(const TideWatchedPartition *watched, gint64 now_ms)
{
  gboolean is_known = watched->answered_us > 0;
  return (TidePartitionView){.topic = g_strdup(watched->topic),
                             .partition = watched->partition,
                             .mark = watched->position.mark,
                             .committed = is_known ? watched->committed_offset : -1,
                             .end = is_known ? watched->end_offset : -1,
                             .lag_messages = is_known ? watched->messages : -1,
                             .lag_seconds =
                                 is_known && watched->oldest_ms >= 0 ? MAX(now_ms - watched->oldest_ms, 0) / 1000 : -1,
                             .undecided = watched->undecided,
                             .in_flight = watched->note.in_flight,
                             .pauses = watched->note.pauses,
                             .is_located = watched->note.is_located,
                             .halt_text = g_strdup(watched->note.halt_text)};
}

static int
compare_views(gconstpointer a, gconstpointer b)
{
  const TidePartitionView *first = a, *second = b;
  int order = strcmp(first->topic, second->topic);
  return order != 0 ? order : (int)(first->partition - second->partition);
}

GArray *
tide_kafka_watch_view(TideKafkaWatch *watch)
{
  gint64 now_ms = tide_wall_clock_epoch_ms();
  GArray *views = g_array_new(FALSE, TRUE, sizeof(TidePartitionView));
  g_array_set_clear_func(views, clear_view);
  tide_mutex_lock(&watch->lock);
  for (guint i = 0; i < watch->partitions->len; i++) {
    const TideWatchedPartition *watched = g_ptr_array_index(watch->partitions, i);
    if (watched->is_gone)
      continue;
    TidePartitionView view = view_of_locked(watched, now_ms);
    g_array_append_val(views, view);
  }
  tide_mutex_unlock(&watch->lock);
  g_array_sort(views, compare_views);
  return views;
}

/* ---- what is not committed, and its age ---- */

gint64
tide_lag_messages(const TideConsumerPosition *position, gint64 in_flight, gint64 committed, gint64 end)
{
  gboolean only_markers = position->next_offset >= end && position->mark <= committed && in_flight == 0;
  return only_markers ? 0 : MAX(end - committed, 0);
}

/* Since when what is unread now was seen to be there. */
static void
follow_unread(TideUnreadSince *unread, gint64 read_to, gint64 end, gint64 now_ms)
{
  if (read_to >= end)
    *unread = (TideUnreadSince){.was_read_up = TRUE, .since_ms = -1};
  else if ((unread->was_read_up && unread->since_ms < 0) || (unread->since_ms >= 0 && read_to >= unread->end_offset)) {
    unread->since_ms = now_ms;
    unread->end_offset = end;
  }
}

gint64
tide_lag_oldest_ms(const TideConsumerPosition *position, gint64 committed, gint64 end, gint64 now_ms,
                   TideUnreadSince *unread)
{
  gint64 read_to = MAX(position->next_offset, committed);
  follow_unread(unread, read_to, end, now_ms);
  if (committed >= end)
    return now_ms;
  if (position->mark > committed && position->finished_ms >= 0)
    return position->finished_ms; /* what is finished comes before what is not */
  if (position->oldest_ms >= 0)
    return position->oldest_ms;
  if (read_to >= end)
    return now_ms; /* what is left are no messages, but the markers that transactions leave */
  return unread->since_ms >= 0 ? unread->since_ms : position->newest_ms;
}

/* ---- asking ---- */

static gboolean
is_stopping(TideKafkaWatch *watch)
{
  tide_mutex_lock(&watch->lock);
  gboolean stopping = watch->is_stopping;
  tide_mutex_unlock(&watch->lock);
  return stopping;
}

/* The partitions that are watched now; the elements' opaque is their TideWatchedPartition. */
static rd_kafka_topic_partition_list_t *
list_watched(TideKafkaWatch *watch)
{
  tide_mutex_lock(&watch->lock);
  rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new((int)watch->partitions->len);
  for (guint i = watch->partitions->len; i-- > 0;) {
    TideWatchedPartition *watched = g_ptr_array_index(watch->partitions, i);
    if (watched->is_gone)
      g_ptr_array_remove_index(watch->partitions, i);
    else {
      rd_kafka_topic_partition_list_add(list, watched->topic, watched->partition)->opaque = watched;
      watched->asked_committed_offset = watched->position.committed_offset;
      tide_log_witness_ask(watched->witness, watched->position.newest_ms);
    }
  }
  tide_mutex_unlock(&watch->lock);
  return list;
}

/* Where the partitions of @list begin (RD_KAFKA_OFFSET_BEGINNING) or end (RD_KAFKA_OFFSET_END), in one request for each
 * broker: in the protocol both are times. */
static gboolean
ask_offsets(rd_kafka_t *kafka, rd_kafka_topic_partition_list_t *list, gint64 which)
{
  for (int i = 0; i < list->cnt; i++)
    list->elems[i].offset = which;
  return rd_kafka_offsets_for_times(kafka, list, QUESTION_MS) == RD_KAFKA_RESP_ERR_NO_ERROR;
}

/* Brokers forget what a group with members has committed when the topic is deleted, and not before. @committed: the
 * answers to a question that was asked after the consumer told what is committed. */
static void
mark_replaced(TideKafkaWatch *watch, const rd_kafka_topic_partition_list_t *committed)
{
  tide_mutex_lock(&watch->lock);
  for (int i = 0; i < committed->cnt; i++) {
    const rd_kafka_topic_partition_t *at = &committed->elems[i];
    TideWatchedPartition *watched = at->opaque;
    if (at->err == RD_KAFKA_RESP_ERR_NO_ERROR && at->offset < 0 && watched->asked_committed_offset >= 0)
      watched->was_replaced = TRUE;
  }
  tide_mutex_unlock(&watch->lock);
}

/* Of partitions of which the group has committed nothing: it begins at the first message, for where it begins
 * elsewhere that is committed at once. */
static gboolean
fill_in_begins(TideKafkaWatch *watch, rd_kafka_topic_partition_list_t *committed)
{
  gboolean is_filled = TRUE;
  for (int i = 0; i < committed->cnt && is_filled; i++)
    is_filled = committed->elems[i].offset >= 0;
  if (is_filled)
    return TRUE;
  rd_kafka_topic_partition_list_t *begins = rd_kafka_topic_partition_list_copy(committed);
  gboolean answered = ask_offsets(watch->kafka, begins, RD_KAFKA_OFFSET_BEGINNING);
  for (int i = 0; answered && i < committed->cnt; i++)
    if (committed->elems[i].offset < 0 && begins->elems[i].err == RD_KAFKA_RESP_ERR_NO_ERROR)
      committed->elems[i].offset = begins->elems[i].offset;
  rd_kafka_topic_partition_list_destroy(begins);
  return answered;
}

static void
take_answer_locked(TideWatchedPartition *watched, gint64 committed, gint64 end, gint64 now_us)
{
  gint64 now_ms = tide_wall_clock_epoch_ms(), read_to = MAX(watched->position.next_offset, committed);
  watched->greatest_end_offset = MAX(watched->greatest_end_offset, end);
  if (end == watched->greatest_end_offset)
    watched->shorter_us = 0;
  else if (watched->shorter_us == 0)
    watched->shorter_us = now_us;
  gboolean is_shorter = watched->shorter_us > 0 && now_us - watched->shorter_us >= SHORTER_US;
  watched->was_replaced |= is_shorter || watched->witness->is_refuted;
  if (read_to >= end || read_to != watched->read_to || watched->still_us == 0) {
    watched->still_us = read_to < end ? now_us : 0;
    watched->undecided = 0;
    tide_gauge_set(watched->undecided_gauge, 0);
  }
  watched->read_to = read_to;
  watched->answered_us = now_us;
  watched->messages = tide_lag_messages(&watched->position, watched->note.in_flight, committed, end);
  watched->committed_offset = committed;
  watched->end_offset = end;
  watched->oldest_ms = tide_lag_oldest_ms(&watched->position, committed, end, now_ms, &watched->unread_since);
  tide_gauge_set(watched->lag, watched->messages);
  tide_gauge_set(watched->committed, committed);
  if (watched->oldest_ms >= 0)
    tide_gauge_set(watched->lag_seconds, MAX(now_ms - watched->oldest_ms, 0));
  else
    tide_gauge_clear(watched->lag_seconds);
}

/* @committed, @ends: the answers; NULL: there are none. */
static void
take_answers(TideKafkaWatch *watch, const rd_kafka_topic_partition_list_t *committed,
             const rd_kafka_topic_partition_list_t *ends)
{
  gint64 now_us = tide_now_us();
  tide_mutex_lock(&watch->lock);
  for (int i = 0; ends != NULL && i < ends->cnt; i++) {
    const rd_kafka_topic_partition_t *from = &committed->elems[i], *to = &ends->elems[i];
    TideWatchedPartition *watched = from->opaque;
    if (!watched->is_gone && from->err == RD_KAFKA_RESP_ERR_NO_ERROR && from->offset >= 0 &&
        to->err == RD_KAFKA_RESP_ERR_NO_ERROR && to->offset >= 0)
      take_answer_locked(watched, from->offset, to->offset, now_us);
  }
  for (guint i = 0; i < watch->partitions->len; i++) {
    TideWatchedPartition *watched = g_ptr_array_index(watch->partitions, i);
    if (!watched->is_gone && watched->answered_us > 0 && now_us - watched->answered_us > ANSWER_LASTS_US)
      forget_answer_locked(watched);
  }
  tide_mutex_unlock(&watch->lock);
}

/* Without a partition of ours, nothing else shows whether the group's coordinator answers: any partition will do. */
static void
ask_coordinator(TideKafkaWatch *watch)
{
  rd_kafka_resp_err_t problem = RD_KAFKA_RESP_ERR_NO_ERROR;
  if (watch->topics->len > 0) {
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_list_add(list, rd_kafka_topic_name(g_ptr_array_index(watch->topics, 0)), 0);
    problem = rd_kafka_committed(watch->kafka, list, QUESTION_MS);
    rd_kafka_topic_partition_list_destroy(list);
  }
  tide_mutex_lock(&watch->lock);
  watch->answers.group_problem = problem != RD_KAFKA_RESP_ERR_NO_ERROR ? rd_kafka_err2str(problem) : NULL;
  tide_mutex_unlock(&watch->lock);
}

static void
ask_for_lag(TideKafkaWatch *watch)
{
  rd_kafka_topic_partition_list_t *committed = list_watched(watch);
  rd_kafka_topic_partition_list_t *ends = rd_kafka_topic_partition_list_copy(committed);
  /* The ends first: what is committed meanwhile may lie behind them, which is no lag. */
  gboolean has_ends = committed->cnt > 0 && ask_offsets(watch->kafka, ends, RD_KAFKA_OFFSET_END);
  /* A leader that does not answer must not hide that what is committed of other partitions vanished. */
  gboolean answered = committed->cnt > 0 && !is_stopping(watch) &&
                      rd_kafka_committed(watch->kafka, committed, QUESTION_MS) == RD_KAFKA_RESP_ERR_NO_ERROR;
  if (answered)
    mark_replaced(watch, committed);
  answered = answered && has_ends && !is_stopping(watch) && fill_in_begins(watch, committed);
  g_autofree TideLogWitness **witnesses = g_new(TideLogWitness *, (gsize)committed->cnt + 1);
  for (int i = 0; i < committed->cnt; i++)
    witnesses[i] = ((const TideWatchedPartition *)committed->elems[i].opaque)->witness;
  if (answered && !is_stopping(watch))
    tide_kafka_ask_witnesses(watch->kafka, ends, witnesses, QUESTION_MS);
  take_answers(watch, committed, answered ? ends : NULL);
  if (committed->cnt == 0 && !is_stopping(watch))
    ask_coordinator(watch);
  rd_kafka_topic_partition_list_destroy(ends);
  rd_kafka_topic_partition_list_destroy(committed);
}

/* Of partitions that stand still although there is more: whether all that their consumer may read is read. Up to there
 * is the last stable offset, where the oldest open transaction begins; consumers that read without regard to
 * transactions are shown the end. */
static void
ask_for_undecided(TideKafkaWatch *watch)
{
  rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
  gint64 now_us = tide_now_us();
  tide_mutex_lock(&watch->lock);
  for (guint i = 0; i < watch->partitions->len; i++) {
    TideWatchedPartition *watched = g_ptr_array_index(watch->partitions, i);
    if (!watched->is_gone && watched->still_us > 0 && now_us - watched->still_us >= STILL_US)
      rd_kafka_topic_partition_list_add(list, watched->topic, watched->partition)->opaque = watched;
  }
  tide_mutex_unlock(&watch->lock);
  if (list->cnt > 0 && watch->as_consumer == NULL)
    watch->as_consumer = tide_kafka_conf_connect(RD_KAFKA_CONSUMER,
                                                 tide_kafka_conf_new_bystander(watch->config, NULL, NULL, NULL), NULL);
  if (list->cnt > 0 && watch->as_consumer != NULL && ask_offsets(watch->as_consumer, list, RD_KAFKA_OFFSET_END)) {
    tide_mutex_lock(&watch->lock);
    for (int i = 0; i < list->cnt; i++) {
      TideWatchedPartition *watched = list->elems[i].opaque;
      gint64 stable = list->elems[i].offset;
      if (watched->is_gone || watched->still_us == 0 || list->elems[i].err != RD_KAFKA_RESP_ERR_NO_ERROR || stable < 0)
        continue;
      watched->undecided = stable <= watched->read_to ? MAX(watched->end_offset - stable, 0) : 0;
      tide_gauge_set(watched->undecided_gauge, watched->undecided);
    }
    tide_mutex_unlock(&watch->lock);
  }
  if (watch->as_consumer != NULL)
    rd_kafka_poll(watch->as_consumer, 0);
  rd_kafka_topic_partition_list_destroy(list);
}

/* ---- topics ---- */

/* FALSE: no broker says. */
static gboolean
ask_for_topic(TideKafkaWatch *watch, rd_kafka_topic_t *topic, gboolean *ret_missing)
{
  const struct rd_kafka_metadata *metadata = NULL;
  if (rd_kafka_metadata(watch->kafka, 0, topic, &metadata, QUESTION_MS) != RD_KAFKA_RESP_ERR_NO_ERROR)
    return FALSE;
  *ret_missing = metadata->topic_cnt > 0 && metadata->topics[0].err == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART;
  rd_kafka_metadata_destroy(metadata);
  return TRUE;
}

/* What is not there, at one look. */
typedef struct MissingTopics {
  GString *names; /* owned */
  guint n;
} MissingTopics;

static gboolean
look_for_named(TideKafkaWatch *watch, MissingTopics *missing)
{
  for (guint i = 0; i < watch->topics->len; i++) {
    rd_kafka_topic_t *topic = g_ptr_array_index(watch->topics, i);
    gboolean is_missing = FALSE;
    if (is_stopping(watch) || !ask_for_topic(watch, topic, &is_missing))
      return FALSE;
    if (is_missing)
      g_string_append_printf(missing->names, "%s '%s'", missing->n++ == 0 ? "the topic" : ",",
                             rd_kafka_topic_name(topic));
  }
  return TRUE;
}

static gboolean
matches_one(const char *pattern, const struct rd_kafka_metadata *metadata)
{
  for (int i = 0; i < metadata->topic_cnt; i++)
    if (tide_topic_pattern_matches(pattern, metadata->topics[i].topic))
      return TRUE;
  return FALSE;
}

/* All topics are asked for while there is a pattern that none has matched; after that, only whether a broker answers.
 */
static gboolean
look_for_patterns(TideKafkaWatch *watch)
{
  const struct rd_kafka_metadata *metadata = NULL;
  int all = watch->patterns->len > 0 ? 1 : 0;
  if (watch->n_patterns == 0)
    return TRUE;
  if (is_stopping(watch) ||
      rd_kafka_metadata(watch->kafka, all, NULL, &metadata, QUESTION_MS) != RD_KAFKA_RESP_ERR_NO_ERROR)
    return FALSE;
  for (guint i = watch->patterns->len; i-- > 0;)
    if (matches_one(g_ptr_array_index(watch->patterns, i), metadata))
      g_ptr_array_remove_index(watch->patterns, i);
  rd_kafka_metadata_destroy(metadata);
  return TRUE;
}

static gboolean
has_topics(const TideKafkaWatch *watch, const MissingTopics *missing)
{
  return missing->n < watch->topics->len || watch->patterns->len < watch->n_patterns;
}

/* (transfer full) (nullable) */
static char *
missing_text(const TideKafkaWatch *watch, const MissingTopics *missing)
{
  const char *it = missing->n == 1 ? "it" : "them";
  GString *text = g_string_new(NULL);
  if (missing->n > 0)
    g_string_printf(text, "%s %s not exist: create %s, or take %s out of kafka.topics%s", missing->names->str,
                    missing->n == 1 ? "does" : "do", it, it,
                    has_topics(watch, missing) ? "; other topics are read" : "");
  for (guint i = 0; i < watch->patterns->len && !has_topics(watch, missing); i++)
    g_string_append_printf(text, "%sno topic matches the pattern '%s' of kafka.topics: those that come are read",
                           text->len > 0 ? "; " : "", (const char *)g_ptr_array_index(watch->patterns, i));
  return g_string_free(text, text->len == 0);
}

static void
ask_for_topics(TideKafkaWatch *watch)
{
  g_autoptr(GString) names = g_string_new(NULL);
  MissingTopics missing = {.names = names};
  gboolean is_answered = look_for_named(watch, &missing) && look_for_patterns(watch);
  tide_mutex_lock(&watch->lock);
  if (!is_answered)
    watch->answers.since_us = 0;
  else {
    watch->answers.since_us = watch->answers.since_us > 0 ? watch->answers.since_us : tide_now_us();
    watch->answers.has_topics = has_topics(watch, &missing);
    watch->knows_topics = TRUE;
    g_free(watch->missing);
    watch->missing = missing_text(watch, &missing);
  }
  tide_mutex_unlock(&watch->lock);
  tide_gauge_set(watch->up_gauge, is_answered ? 1 : 0);
  if (!is_answered)
    return;
  tide_gauge_set(watch->missing_gauge, missing.n);
  watch->topics_asked_us = tide_now_us();
}

TideKafkaAnswers
tide_kafka_watch_answers(TideKafkaWatch *watch)
{
  if (watch == NULL)
    return (TideKafkaAnswers){0};
  tide_mutex_lock(&watch->lock);
  TideKafkaAnswers answers = watch->answers;
  tide_mutex_unlock(&watch->lock);
  return answers;
}

gboolean
tide_kafka_watch_topics(TideKafkaWatch *watch, char **ret_missing)
{
  *ret_missing = NULL;
  if (watch == NULL)
    return TRUE;
  tide_mutex_lock(&watch->lock);
  gboolean known = watch->knows_topics;
  *ret_missing = g_strdup(watch->missing);
  tide_mutex_unlock(&watch->lock);
  return known;
}

/* ---- the group ---- */

static void
ask_for_members(TideKafkaWatch *watch)
{
  g_autoptr(GArray) members = tide_kafka_group_describe(watch->kafka, watch->config->group, QUESTION_MS, NULL);
  watch->group_asked_us = tide_now_us();
  if (members == NULL) {
    tide_gauge_clear(watch->strangers_gauge);
    return; /* who were seen last stay known */
  }
  guint n;
  char *strangers = tide_kafka_group_strangers(members, watch->config, &n);
  tide_gauge_set(watch->strangers_gauge, n);
  tide_mutex_lock(&watch->lock);
  g_free(watch->strangers);
  watch->strangers = strangers;
  if (n > 0)
    watch->stranger_seen_us = watch->group_asked_us;
  tide_mutex_unlock(&watch->lock);
}

/* By the notes beside what is committed: members say nothing else of themselves. */
static void
ask_for_other_tables(TideKafkaWatch *watch)
{
  int n = is_stopping(watch)
              ? -1
              : tide_kafka_group_other_tables(watch->kafka, watch->config, watch->tables_mark, QUESTION_MS);
  if (n < 0)
    tide_gauge_clear(watch->other_tables_gauge);
  else
    tide_gauge_set(watch->other_tables_gauge, n);
  tide_mutex_lock(&watch->lock);
  if (watch->other_tables == 0)
    watch->other_tables_since_us = watch->group_asked_us;
  watch->other_tables = (guint)MAX(n, 0);
  tide_mutex_unlock(&watch->lock);
}

guint
tide_kafka_watch_other_tables(TideKafkaWatch *watch, gint64 *ret_since_us)
{
  tide_mutex_lock(&watch->lock);
  guint n = watch->other_tables;
  *ret_since_us = watch->other_tables_since_us;
  tide_mutex_unlock(&watch->lock);
  return n;
}

gint64
tide_kafka_watch_strangers(TideKafkaWatch *watch, char **ret_text)
{
  if (ret_text != NULL)
    *ret_text = NULL;
  if (watch == NULL)
    return 0;
  tide_mutex_lock(&watch->lock);
  gint64 seen_us = watch->stranger_seen_us;
  if (ret_text != NULL)
    *ret_text = g_strdup(watch->strangers);
  tide_mutex_unlock(&watch->lock);
  return seen_us;
}

/* ---- life ---- */

/* FALSE: it is to end. */
static gboolean
wait_for_round(TideKafkaWatch *watch)
{
  gint64 deadline_us = tide_now_us() + ROUND_US;
  tide_mutex_lock(&watch->lock);
  while (!watch->is_stopping && !watch->is_urgent && tide_now_us() < deadline_us)
    tide_cond_wait_until(&watch->changed, &watch->lock, deadline_us);
  if (watch->is_urgent) /* partitions were assigned, perhaps because a member came */
    watch->group_asked_us = 0;
  watch->is_urgent = FALSE;
  gboolean goes_on = !watch->is_stopping;
  tide_mutex_unlock(&watch->lock);
  return goes_on;
}

static void
ask_about_group(TideKafkaWatch *watch)
{
  ask_for_members(watch);
  ask_for_other_tables(watch);
}

/* The owner function of "tide-watch". */
static void
run_watch(gpointer data)
{
  TideKafkaWatch *watch = data;
  do {
    if (watch->topics_asked_us == 0 || tide_now_us() - watch->topics_asked_us >= TOPICS_INTERVAL_US)
      ask_for_topics(watch);
    if (watch->group_asked_us == 0 || tide_now_us() - watch->group_asked_us >= TIDE_GROUP_LOOK_US)
      ask_about_group(watch);
    ask_for_lag(watch);
    ask_for_undecided(watch);
    rd_kafka_poll(watch->kafka, 0); /* what librdkafka has to say is in its log */
  } while (wait_for_round(watch));
}

gboolean
tide_kafka_watch_start(TideKafkaWatch *watch, GError **error)
{
  /* Kafka's tool counts what transactions have not committed. */
  static const TideKafkaSetting settings[] = {
      {"isolation.level", "read_uncommitted"},
      {NULL},
  };
  const TideKafkaConfig *config = watch->config;
  watch->kafka = tide_kafka_conf_connect(RD_KAFKA_CONSUMER,
                                         tide_kafka_conf_new_bystander(config, config->group, settings, error), error);
  if (watch->kafka == NULL)
    return FALSE;
  for (char **topic = config->topics; *topic != NULL; topic++)
    if (**topic != '^')
      g_ptr_array_add(watch->topics, rd_kafka_topic_new(watch->kafka, *topic, NULL));
    else
      g_ptr_array_add(watch->patterns, *topic);
  watch->n_patterns = watch->patterns->len;
  watch->thread = tide_thread_start("tide-watch", run_watch, watch);
  return TRUE;
}

void
tide_kafka_watch_stop(TideKafkaWatch *watch)
{
  if (watch == NULL)
    return;
  tide_mutex_lock(&watch->lock);
  watch->is_stopping = TRUE;
  tide_cond_signal(&watch->changed);
  tide_mutex_unlock(&watch->lock);
}

void
tide_kafka_watch_free(TideKafkaWatch *watch)
{
  if (watch == NULL)
    return;
  tide_kafka_watch_stop(watch);
  tide_thread_join(watch->thread);
  g_ptr_array_unref(watch->topics);
  g_ptr_array_unref(watch->patterns);
  /* It is in no group that it could leave. */
  if (watch->as_consumer != NULL)
    rd_kafka_destroy_flags(watch->as_consumer, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
  if (watch->kafka != NULL)
    rd_kafka_destroy_flags(watch->kafka, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
  g_ptr_array_unref(watch->partitions);
  g_hash_table_unref(watch->witnesses);
  g_free(watch->missing);
  g_free(watch->strangers);
  tide_cond_clear(&watch->changed);
  tide_mutex_clear(&watch->lock);
  g_free(watch);
}
