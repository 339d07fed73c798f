#include "kafka/kafka_watch.h"

#include "config/topic_pattern.h"
#include "kafka/group_offsets.h"
#include "kafka/kafka_client.h"
#include "util/clock.h"
#include "util/lock.h"

#define ROUND_US TIDE_US_PER_S

/* Limit for each question. The thread asks up to eight in a row, and checks between them whether it must end. */
#define QUESTION_MS 2000

/* Older answers are forgotten. Longer than a leader or a coordinator takes to move. */
#define ANSWER_LASTS_US (15 * TIDE_US_PER_S)

/* A partition with unread messages that is not read for this long may wait for a transaction. */
#define STILL_US (10 * TIDE_US_PER_S)

/* A newly elected leader may not know the log's end for a moment; an end that stays lower means lost messages. */
#define SHORTER_US (5 * TIDE_US_PER_S)

/* Topics are rarely created or deleted. */
#define TOPICS_INTERVAL_US (10 * TIDE_US_PER_S)

struct TideWatchedPartition {
  /* set at creation, then read-only */
  char *topic; /* owned */
  gint32 partition;
  struct {
    TideGauge *lag, *lag_seconds, *committed, *undecided;
  } gauges;
  TideLogWitness *witness; /* borrowed; its thread only */
  /* under the watch's lock */
  gboolean is_gone; /* "tide-watch", which may be asking about it, frees it */
  TideConsumerPosition position;
  TideConsumerNote note;         /* its texts are owned */
  gint64 asked_committed_offset; /* of the position, when the current question was asked */
  TideUnreadSince unread_since;
  struct {
    gint64 us; /* 0: not yet, or too long ago */
    gint64 messages;
    gint64 committed_offset;
    gint64 end_offset;
    gint64 read_to;
    gint64 oldest_ms;
  } answer; /* the last */
  struct {
    TideLogLength length;
    gboolean was_replaced;
  } log;
  gint64 still_us;  /* since when read_to has not changed although more exists; 0: all is read */
  gint64 undecided; /* messages */
};

struct TideKafkaWatch {
  /* set before start, then read-only */
  const TideKafkaConfig *config;
  guint32 tables_mark; /* config/tables_mark.h */
  TideMetrics *metrics;
  rd_kafka_t *kafka;
  struct {
    TideGauge *throttled_total, *missing, *up, *strangers, *other_tables;
  } gauges;
  GPtrArray *topics; /* owned (element-type rd_kafka_topic_t): those configured by name */
  guint n_patterns;  /* those configured as patterns */
  TideThread *thread;
  /* its thread only */
  struct {
    gint64 topics_asked_us;
    gint64 group_asked_us;   /* 0: ask now */
    rd_kafka_t *as_consumer; /* owned: sees transactions as the consumers do; NULL: not needed yet */
    GPtrArray *patterns;     /* owned (element-type utf8, borrowed): those without a match so far */
  } own;
  TideMutex lock;
  TideCond changed;
  /* under lock */
  gboolean is_stopping;
  gboolean is_urgent;    /* a partition was added */
  GPtrArray *partitions; /* owned (element-type TideWatchedPartition); only its thread removes any */
  GHashTable *witnesses; /* owned: "topic/3" -> TideLogWitness; they outlast assignments */
  TideKafkaSeen seen;
  struct {
    int ms;
    gint64 end_us;
  } throttle;
};

static void
watched_free(gpointer data)
{
  TideWatchedPartition *watched = data;
  g_free(watched->topic);
  g_free((char *)watched->note.halt_text);
  g_free((char *)watched->note.held_text);
  g_free(watched);
}

TideKafkaWatch *
tide_kafka_watch_new(const TideKafkaConfig *config, guint32 tables_mark, TideMetrics *metrics)
{
  TideKafkaWatch *watch = g_new0(TideKafkaWatch, 1);
  watch->config = config;
  watch->tables_mark = tables_mark;
  watch->metrics = metrics;
  watch->topics = g_ptr_array_new_with_free_func((GDestroyNotify)rd_kafka_topic_destroy);
  watch->own.patterns = g_ptr_array_new();
  watch->partitions = g_ptr_array_new_with_free_func(watched_free);
  watch->witnesses = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
  watch->gauges.missing =
      tide_metrics_gauge(metrics, "tidemark_kafka_topics_missing", "Configured topics that do not exist", NULL);
  watch->gauges.throttled_total = tide_metrics_counter_milli(
      metrics, "tidemark_kafka_throttled_seconds_total", "Time for which broker quotas throttled the consumers", NULL);
  watch->gauges.up = tide_metrics_gauge_unknown(metrics, "tidemark_kafka_up", "1 while a broker answers", NULL);
  watch->gauges.strangers =
      tide_metrics_gauge_unknown(metrics, "tidemark_kafka_group_foreign_members",
                                 "Members of the group other than tidemark, whose messages are never written", NULL);
  watch->gauges.other_tables = tide_metrics_gauge_unknown(
      metrics, "tidemark_kafka_table_mismatch_partitions",
      "Partitions whose last commit is from a tidemark with other tables, keys or columns", NULL);
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
  watched->gauges.lag =
      tide_metrics_gauge_unknown(watch->metrics, "tidemark_kafka_consumer_lag",
                                 "Messages between the group's committed offset and the end of the partition", labels);
  watched->gauges.lag_seconds = tide_metrics_gauge_milli_unknown(
      watch->metrics, "tidemark_kafka_consumer_lag_seconds", "Age of the oldest message that is not committed", labels);
  watched->gauges.committed =
      tide_metrics_gauge_unknown(watch->metrics, "tidemark_kafka_committed_offset",
                                 "The group's committed offset; without one, the beginning of the partition", labels);
  watched->gauges.undecided =
      tide_metrics_gauge(watch->metrics, "tidemark_kafka_open_transaction_messages",
                         "Messages that cannot be read until a producer's open transaction ends", labels);
  tide_mutex_lock(&watch->lock);
  {
    g_autofree char *name = g_strdup_printf("%s/%d", topic, partition);
    watched->witness = g_hash_table_lookup(watch->witnesses, name);
    if (watched->witness == NULL) {
      watched->witness = g_new0(TideLogWitness, 1);
      g_hash_table_insert(watch->witnesses, g_steal_pointer(&name), watched->witness);
    }
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
  watched->answer.us = 0;
  tide_gauge_clear(watched->gauges.lag);
  tide_gauge_clear(watched->gauges.lag_seconds);
  tide_gauge_clear(watched->gauges.committed);
  watched->still_us = watched->undecided = 0;
  tide_gauge_set(watched->gauges.undecided, 0);
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
  g_free((char *)watched->note.held_text);
  watched->note = *note;
  watched->note.halt_text = g_strdup(note->halt_text);
  watched->note.held_text = g_strdup(note->held_text);
  gboolean was_replaced = watched->log.was_replaced;
  tide_mutex_unlock(&watch->lock);
  return was_replaced;
}

void
tide_kafka_watch_throttled(TideKafkaWatch *watch, int throttle_ms)
{
  if (watch == NULL || throttle_ms <= 0) /* 0: that broker no longer throttles; others may */
    return;
  gint64 end_us = tide_now_us() + throttle_ms * TIDE_US_PER_MS;
  tide_gauge_add(watch->gauges.throttled_total, throttle_ms);
  tide_mutex_lock(&watch->lock);
  watch->throttle.ms = throttle_ms;
  watch->throttle.end_us = MAX(watch->throttle.end_us, end_us);
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
    lag.is_known &= watched->answer.us > 0;
    lag.messages += watched->answer.messages;
    lag.unread +=
        MAX(watched->answer.end_offset - MAX(watched->position.next_offset, watched->answer.committed_offset), 0);
    if (lag.seconds >= 0)
      lag.seconds = watched->answer.oldest_ms < 0 ? -1 : MAX(lag.seconds, (now_ms - watched->answer.oldest_ms) / 1000);
  }
  if (tide_now_us() < watch->throttle.end_us + ROUND_US)
    lag.throttle_ms = watch->throttle.ms;
  if (n == 0) /* other members have them, or the brokers are gone and report no new messages */
    lag.is_known = watch->seen.answers_since_us > 0;
  tide_mutex_unlock(&watch->lock);
  return lag;
}

TideKafkaSeen
tide_kafka_watch_seen(TideKafkaWatch *watch)
{
  if (watch == NULL)
    return (TideKafkaSeen){.knows_topics = TRUE};
  tide_mutex_lock(&watch->lock);
  TideKafkaSeen seen = watch->seen;
  seen.missing_topics = g_strdup(seen.missing_topics);
  seen.strangers = g_strdup(seen.strangers);
  tide_mutex_unlock(&watch->lock);
  return seen;
}

void
tide_kafka_seen_clear(TideKafkaSeen *seen)
{
  g_free(seen->missing_topics);
  g_free(seen->strangers);
}

static void
clear_view(gpointer data)
{
  TidePartitionView *view = data;
  g_free(view->topic);
  g_free(view->halt_text);
  g_free(view->held_text);
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
    gboolean is_known = watched->answer.us > 0;
    gboolean has_age = is_known && watched->answer.oldest_ms >= 0;
    TidePartitionView view = {.topic = g_strdup(watched->topic),
                              .partition = watched->partition,
                              .mark = watched->position.mark,
                              .committed = is_known ? watched->answer.committed_offset : -1,
                              .end = is_known ? watched->answer.end_offset : -1,
                              .lag_messages = is_known ? watched->answer.messages : -1,
                              .lag_seconds = has_age ? MAX(now_ms - watched->answer.oldest_ms, 0) / 1000 : -1,
                              .undecided = watched->undecided,
                              .in_flight = watched->note.in_flight,
                              .pauses = watched->note.pauses,
                              .is_located = watched->note.is_located,
                              .halt_text = g_strdup(watched->note.halt_text),
                              .held_text = g_strdup(watched->note.held_text)};
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

gint64
tide_lag_oldest_ms(const TideConsumerPosition *position, gint64 committed, gint64 end, gint64 now_ms,
                   TideUnreadSince *unread)
{
  gint64 read_to = MAX(position->next_offset, committed);
  if (read_to >= end)
    *unread = (TideUnreadSince){.was_read_up = TRUE, .since_ms = -1};
  else if ((unread->was_read_up && unread->since_ms < 0) || (unread->since_ms >= 0 && read_to >= unread->end_offset)) {
    unread->since_ms = now_ms;
    unread->end_offset = end;
  }
  if (committed >= end)
    return now_ms;
  if (position->mark > committed && position->finished_ms >= 0)
    return position->finished_ms; /* finished messages come before unfinished ones */
  if (position->oldest_ms >= 0)
    return position->oldest_ms;
  if (read_to >= end)
    return now_ms; /* only transaction markers are left, which are not messages */
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

/* The partitions that are watched now; the opaque of each element is its TideWatchedPartition. */
static rd_kafka_topic_partition_list_t *
list_watched(TideKafkaWatch *watch)
{
  gint64 now_ms = tide_wall_clock_epoch_ms();
  tide_mutex_lock(&watch->lock);
  rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new((int)watch->partitions->len);
  for (guint i = watch->partitions->len; i-- > 0;) {
    TideWatchedPartition *watched = g_ptr_array_index(watch->partitions, i);
    if (watched->is_gone)
      g_ptr_array_remove_index(watch->partitions, i);
    else {
      rd_kafka_topic_partition_list_add(list, watched->topic, watched->partition)->opaque = watched;
      watched->asked_committed_offset = watched->position.committed_offset;
      tide_log_witness_choose(watched->witness, watched->position.newest_ms, now_ms);
    }
  }
  tide_mutex_unlock(&watch->lock);
  return list;
}

/* Sets the first offset for partitions without a committed one. The group begins there: if it begins elsewhere, it
 * commits that at once. */
static gboolean
fill_in_begins(TideKafkaWatch *watch, rd_kafka_topic_partition_list_t *committed)
{
  gboolean is_filled = TRUE;
  for (int i = 0; i < committed->cnt && is_filled; i++)
    is_filled = committed->elems[i].offset >= 0;
  if (is_filled)
    return TRUE;
  g_autoptr(rd_kafka_topic_partition_list_t) begins = rd_kafka_topic_partition_list_copy(committed);
  if (tide_kafka_ask_offsets(watch->kafka, begins, RD_KAFKA_OFFSET_BEGINNING, QUESTION_MS) !=
      RD_KAFKA_RESP_ERR_NO_ERROR)
    return FALSE;
  for (int i = 0; i < committed->cnt; i++)
    if (committed->elems[i].offset < 0 && begins->elems[i].err == RD_KAFKA_RESP_ERR_NO_ERROR)
      committed->elems[i].offset = begins->elems[i].offset;
  return TRUE;
}

static void
take_answer_locked(TideWatchedPartition *watched, gint64 committed, gint64 end, gint64 now_us)
{
  gint64 now_ms = tide_wall_clock_epoch_ms(), read_to = MAX(watched->position.next_offset, committed);
  gboolean is_shorter = tide_log_length_take(&watched->log.length, end, now_us);
  watched->log.was_replaced |= is_shorter || watched->witness->is_refuted;
  if (read_to >= end || read_to != watched->answer.read_to || watched->still_us == 0) {
    watched->still_us = read_to < end ? now_us : 0;
    watched->undecided = 0;
    tide_gauge_set(watched->gauges.undecided, 0);
  }
  watched->answer.read_to = read_to;
  watched->answer.us = now_us;
  watched->answer.messages = tide_lag_messages(&watched->position, watched->note.in_flight, committed, end);
  watched->answer.committed_offset = committed;
  watched->answer.end_offset = end;
  watched->answer.oldest_ms = tide_lag_oldest_ms(&watched->position, committed, end, now_ms, &watched->unread_since);
  tide_gauge_set(watched->gauges.lag, watched->answer.messages);
  tide_gauge_set(watched->gauges.committed, committed);
  if (watched->answer.oldest_ms >= 0)
    tide_gauge_set(watched->gauges.lag_seconds, MAX(now_ms - watched->answer.oldest_ms, 0));
  else
    tide_gauge_clear(watched->gauges.lag_seconds);
}

/* @committed, @ends: the answers; NULL: none. */
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
    if (!watched->is_gone && watched->answer.us > 0 && now_us - watched->answer.us > ANSWER_LASTS_US)
      forget_answer_locked(watched);
  }
  tide_mutex_unlock(&watch->lock);
}

/* ---- whether the logs are the same ---- */

gboolean
tide_log_length_take(TideLogLength *length, gint64 end_offset, gint64 now_us)
{
  length->greatest_end_offset = MAX(length->greatest_end_offset, end_offset);
  if (end_offset == length->greatest_end_offset)
    length->shorter_us = 0;
  else if (length->shorter_us == 0)
    length->shorter_us = now_us;
  return length->shorter_us > 0 && now_us - length->shorter_us >= SHORTER_US;
}

void
tide_log_witness_choose(TideLogWitness *witness, gint64 newest_ms, gint64 now_ms)
{
  witness->next_time_ms = newest_ms > 0 && newest_ms < now_ms ? newest_ms + 1 : now_ms;
}

void
tide_log_witness_take(TideLogWitness *witness, gint64 next_offset, gint64 present_offset, gint64 end_offset)
{
  witness->is_refuted |= witness->time_ms > 0 && present_offset >= 0 && present_offset < witness->offset;
  if (witness->is_refuted)
    return;
  witness->time_ms = witness->next_time_ms;
  witness->offset = next_offset >= 0 ? next_offset : end_offset;
}

/* The first offsets of the partitions of @all at the times of their witnesses. (transfer full); NULL: no answer */
static rd_kafka_topic_partition_list_t *
ask_at_times(TideKafkaWatch *watch, const rd_kafka_topic_partition_list_t *all, gsize member)
{
  g_autoptr(rd_kafka_topic_partition_list_t) list = rd_kafka_topic_partition_list_copy(all);
  for (int i = 0; i < list->cnt; i++) {
    const TideWatchedPartition *watched = all->elems[i].opaque;
    list->elems[i].offset = G_STRUCT_MEMBER(gint64, watched->witness, member);
  }
  gboolean is_answered = rd_kafka_offsets_for_times(watch->kafka, list, QUESTION_MS) == RD_KAFKA_RESP_ERR_NO_ERROR;
  return is_answered ? g_steal_pointer(&list) : NULL;
}

/* Asks both questions for each partition of @all, by list_watched(), whose ends are @ends. Without an answer, a
 * witness does not change. */
static void
ask_witnesses(TideKafkaWatch *watch, const rd_kafka_topic_partition_list_t *all,
              const rd_kafka_topic_partition_list_t *ends)
{
  g_autoptr(rd_kafka_topic_partition_list_t) next =
      ask_at_times(watch, all, G_STRUCT_OFFSET(TideLogWitness, next_time_ms));
  if (next == NULL)
    return;
  g_autoptr(rd_kafka_topic_partition_list_t) present =
      ask_at_times(watch, all, G_STRUCT_OFFSET(TideLogWitness, time_ms));
  for (int i = 0; present != NULL && i < ends->cnt; i++) {
    const rd_kafka_topic_partition_t *to = &next->elems[i], *at = &present->elems[i], *end = &ends->elems[i];
    const TideWatchedPartition *watched = all->elems[i].opaque;
    if (to->err == RD_KAFKA_RESP_ERR_NO_ERROR && at->err == RD_KAFKA_RESP_ERR_NO_ERROR &&
        end->err == RD_KAFKA_RESP_ERR_NO_ERROR)
      tide_log_witness_take(watched->witness, to->offset, at->offset, end->offset);
  }
}

/* ---- the lag ---- */

/* Without a partition of ours, only this shows whether the group's coordinator answers. Any partition will do. */
static void
ask_coordinator(TideKafkaWatch *watch)
{
  rd_kafka_resp_err_t problem = RD_KAFKA_RESP_ERR_NO_ERROR;
  if (watch->topics->len > 0) {
    g_autoptr(rd_kafka_topic_partition_list_t) list = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_list_add(list, rd_kafka_topic_name(g_ptr_array_index(watch->topics, 0)), 0);
    problem = rd_kafka_committed(watch->kafka, list, QUESTION_MS);
  }
  tide_mutex_lock(&watch->lock);
  watch->seen.has_group = TRUE;
  watch->seen.group_problem = problem != RD_KAFKA_RESP_ERR_NO_ERROR ? rd_kafka_err2str(problem) : NULL;
  tide_mutex_unlock(&watch->lock);
}

static void
ask_for_lag(TideKafkaWatch *watch)
{
  g_autoptr(rd_kafka_topic_partition_list_t) committed = list_watched(watch);
  if (committed->cnt == 0) {
    if (!is_stopping(watch))
      ask_coordinator(watch);
    return;
  }
  /* Ask for the ends first: offsets committed meanwhile may be after them, which is not lag. */
  g_autoptr(rd_kafka_topic_partition_list_t) ends = rd_kafka_topic_partition_list_copy(committed);
  gboolean has_ends =
      tide_kafka_ask_offsets(watch->kafka, ends, RD_KAFKA_OFFSET_END, QUESTION_MS) == RD_KAFKA_RESP_ERR_NO_ERROR;
  /* Even if a leader does not answer, vanished offsets of other partitions must be noticed. */
  gboolean answered =
      !is_stopping(watch) && rd_kafka_committed(watch->kafka, committed, QUESTION_MS) == RD_KAFKA_RESP_ERR_NO_ERROR;
  if (answered) {
    /* Brokers delete the offsets of a group with members only when the topic is deleted. The question was asked after
     * the consumer reported its committed offset. */
    tide_mutex_lock(&watch->lock);
    for (int i = 0; i < committed->cnt; i++) {
      const rd_kafka_topic_partition_t *at = &committed->elems[i];
      TideWatchedPartition *watched = at->opaque;
      if (at->err == RD_KAFKA_RESP_ERR_NO_ERROR && at->offset < 0 && watched->asked_committed_offset >= 0)
        watched->log.was_replaced = TRUE;
    }
    tide_mutex_unlock(&watch->lock);
  }
  answered = answered && has_ends && !is_stopping(watch) && fill_in_begins(watch, committed);
  if (!answered)
    watch->own.topics_asked_us = 0; /* perhaps no broker answers any longer */
  if (answered && !is_stopping(watch))
    ask_witnesses(watch, committed, ends);
  take_answers(watch, committed, answered ? ends : NULL);
}

/* Checks for partitions with unread messages that are not read: has their consumer read all that it may? That ends at
 * the last stable offset, where the oldest open transaction begins. Consumers that ignore transactions get the end of
 * the log instead. */
static void
ask_for_undecided(TideKafkaWatch *watch)
{
  g_autoptr(rd_kafka_topic_partition_list_t) list = rd_kafka_topic_partition_list_new(1);
  gint64 now_us = tide_now_us();
  tide_mutex_lock(&watch->lock);
  for (guint i = 0; i < watch->partitions->len; i++) {
    TideWatchedPartition *watched = g_ptr_array_index(watch->partitions, i);
    if (!watched->is_gone && watched->still_us > 0 && now_us - watched->still_us >= STILL_US)
      rd_kafka_topic_partition_list_add(list, watched->topic, watched->partition)->opaque = watched;
  }
  tide_mutex_unlock(&watch->lock);
  if (list->cnt > 0 && watch->own.as_consumer == NULL)
    watch->own.as_consumer = tide_kafka_conf_connect(
        RD_KAFKA_CONSUMER, tide_kafka_conf_new_bystander(watch->config, NULL, NULL, NULL), NULL);
  if (list->cnt > 0 && watch->own.as_consumer != NULL &&
      tide_kafka_ask_offsets(watch->own.as_consumer, list, RD_KAFKA_OFFSET_END, QUESTION_MS) ==
          RD_KAFKA_RESP_ERR_NO_ERROR) {
    tide_mutex_lock(&watch->lock);
    for (int i = 0; i < list->cnt; i++) {
      TideWatchedPartition *watched = list->elems[i].opaque;
      gint64 stable = list->elems[i].offset;
      if (watched->is_gone || watched->still_us == 0 || list->elems[i].err != RD_KAFKA_RESP_ERR_NO_ERROR || stable < 0)
        continue;
      watched->undecided = stable <= watched->answer.read_to ? MAX(watched->answer.end_offset - stable, 0) : 0;
      tide_gauge_set(watched->gauges.undecided, watched->undecided);
    }
    tide_mutex_unlock(&watch->lock);
  }
  if (watch->own.as_consumer != NULL)
    rd_kafka_poll(watch->own.as_consumer, 0);
}

/* ---- topics ---- */

/* Adds the configured topics that do not exist to @names. FALSE: no broker answered. */
static gboolean
look_for_named(TideKafkaWatch *watch, GString *names, guint *ret_n_missing)
{
  *ret_n_missing = 0;
  for (guint i = 0; i < watch->topics->len; i++) {
    rd_kafka_topic_t *topic = g_ptr_array_index(watch->topics, i);
    const struct rd_kafka_metadata *metadata = NULL;
    if (is_stopping(watch) ||
        rd_kafka_metadata(watch->kafka, 0, topic, &metadata, QUESTION_MS) != RD_KAFKA_RESP_ERR_NO_ERROR)
      return FALSE;
    if (metadata->topic_cnt > 0 && metadata->topics[0].err == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART)
      g_string_append_printf(names, "%s '%s'", (*ret_n_missing)++ == 0 ? "the topic" : ",", rd_kafka_topic_name(topic));
    rd_kafka_metadata_destroy(metadata);
  }
  return TRUE;
}

/* Asks for all topics while a pattern has no match; after that, only whether a broker answers. */
static gboolean
look_for_patterns(TideKafkaWatch *watch)
{
  const struct rd_kafka_metadata *metadata = NULL;
  GPtrArray *patterns = watch->own.patterns;
  if (watch->n_patterns == 0)
    return TRUE;
  if (is_stopping(watch) || rd_kafka_metadata(watch->kafka, patterns->len > 0 ? 1 : 0, NULL, &metadata, QUESTION_MS) !=
                                RD_KAFKA_RESP_ERR_NO_ERROR)
    return FALSE;
  for (int i = 0; i < metadata->topic_cnt; i++)
    for (guint k = patterns->len; k-- > 0;)
      if (tide_topic_pattern_matches(g_ptr_array_index(patterns, k), metadata->topics[i].topic))
        g_ptr_array_remove_index(patterns, k);
  rd_kafka_metadata_destroy(metadata);
  return TRUE;
}

/* @names: of the missing topics. (transfer full) (nullable) */
static char *
missing_text(const TideKafkaWatch *watch, const char *names, guint n_missing, gboolean has_topics)
{
  const char *it = n_missing == 1 ? "it" : "them";
  GString *text = g_string_new(NULL);
  if (n_missing > 0)
    g_string_printf(text,
                    "%s %s not exist: create %s with 'kafka-topics.sh --create', or remove %s from kafka.topics%s",
                    names, n_missing == 1 ? "does" : "do", it, it, has_topics ? "; other topics are read" : "");
  for (guint i = 0; i < watch->own.patterns->len && !has_topics; i++)
    g_string_append_printf(text, "%sno topic matches the pattern '%s' of kafka.topics: new ones are read",
                           text->len > 0 ? "; " : "", (const char *)g_ptr_array_index(watch->own.patterns, i));
  return g_string_free(text, text->len == 0);
}

static void
ask_for_topics(TideKafkaWatch *watch)
{
  g_autoptr(GString) names = g_string_new(NULL);
  guint n_missing;
  gboolean is_answered = look_for_named(watch, names, &n_missing) && look_for_patterns(watch);
  tide_mutex_lock(&watch->lock);
  if (!is_answered)
    watch->seen.answers_since_us = 0;
  else {
    watch->seen.answers_since_us = watch->seen.answers_since_us > 0 ? watch->seen.answers_since_us : tide_now_us();
    watch->seen.has_topics = n_missing < watch->topics->len || watch->own.patterns->len < watch->n_patterns;
    watch->seen.knows_topics = TRUE;
    g_free(watch->seen.missing_topics);
    watch->seen.missing_topics = missing_text(watch, names->str, n_missing, watch->seen.has_topics);
  }
  tide_mutex_unlock(&watch->lock);
  tide_gauge_set(watch->gauges.up, is_answered ? 1 : 0);
  if (!is_answered)
    return;
  tide_gauge_set(watch->gauges.missing, n_missing);
  watch->own.topics_asked_us = tide_now_us();
}

/* ---- the group ---- */

/* Asks for its members. The tables that they deliver are known only from the notes of their commits. */
static void
ask_about_group(TideKafkaWatch *watch)
{
  g_autoptr(GArray) members = tide_kafka_group_describe(watch->kafka, watch->config->group, QUESTION_MS, NULL);
  watch->own.group_asked_us = tide_now_us();
  if (members == NULL)
    tide_gauge_clear(watch->gauges.strangers); /* those seen last stay known */
  else {
    guint n_strangers;
    char *strangers = tide_kafka_group_strangers(members, watch->config, &n_strangers);
    tide_gauge_set(watch->gauges.strangers, n_strangers);
    tide_mutex_lock(&watch->lock);
    g_free(watch->seen.strangers);
    watch->seen.strangers = strangers;
    if (n_strangers > 0)
      watch->seen.stranger_seen_us = watch->own.group_asked_us;
    tide_mutex_unlock(&watch->lock);
  }
  int n_others = is_stopping(watch)
                     ? -1
                     : tide_kafka_group_other_tables(watch->kafka, watch->config, watch->tables_mark, QUESTION_MS);
  if (n_others < 0)
    tide_gauge_clear(watch->gauges.other_tables);
  else
    tide_gauge_set(watch->gauges.other_tables, n_others);
  tide_mutex_lock(&watch->lock);
  if (watch->seen.other_tables == 0)
    watch->seen.other_tables_since_us = watch->own.group_asked_us;
  watch->seen.other_tables = (guint)MAX(n_others, 0);
  tide_mutex_unlock(&watch->lock);
}

/* ---- life ---- */

/* The owner function of "tide-watch". */
static void
run_watch(gpointer data)
{
  TideKafkaWatch *watch = data;
  for (gboolean goes_on = TRUE; goes_on;) {
    if (watch->own.topics_asked_us == 0 || tide_now_us() - watch->own.topics_asked_us >= TOPICS_INTERVAL_US)
      ask_for_topics(watch);
    if (watch->own.group_asked_us == 0 || tide_now_us() - watch->own.group_asked_us >= TIDE_GROUP_LOOK_US)
      ask_about_group(watch);
    ask_for_lag(watch);
    ask_for_undecided(watch);
    rd_kafka_poll(watch->kafka, 0); /* librdkafka logs its problems itself */
    gint64 next_round_us = tide_now_us() + ROUND_US;
    tide_mutex_lock(&watch->lock);
    while (!watch->is_stopping && !watch->is_urgent && tide_now_us() < next_round_us)
      tide_cond_wait_until(&watch->changed, &watch->lock, next_round_us);
    if (watch->is_urgent) /* partitions were assigned, perhaps because a member joined */
      watch->own.group_asked_us = 0;
    watch->is_urgent = FALSE;
    goes_on = !watch->is_stopping;
    tide_mutex_unlock(&watch->lock);
  }
}

gboolean
tide_kafka_watch_start(TideKafkaWatch *watch, GError **error)
{
  /* Kafka's own tool counts messages of open transactions, too. */
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
      g_ptr_array_add(watch->own.patterns, *topic);
  watch->n_patterns = watch->own.patterns->len;
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
  g_ptr_array_unref(watch->own.patterns);
  /* They have joined no group that they could leave. */
  if (watch->own.as_consumer != NULL)
    rd_kafka_destroy_flags(watch->own.as_consumer, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
  if (watch->kafka != NULL)
    rd_kafka_destroy_flags(watch->kafka, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
  g_ptr_array_unref(watch->partitions);
  g_hash_table_unref(watch->witnesses);
  tide_kafka_seen_clear(&watch->seen);
  tide_cond_clear(&watch->changed);
  tide_mutex_clear(&watch->lock);
  g_free(watch);
}
