#include "flow/consumer.h"

#include "flow/mapping.h"
#include "flow/open_lanes.h"
#include "flow/partition.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/log.h"

/* Messages taken before batches that came home are looked at and lanes are ticked: keeps both well below a millisecond
 * apart at full speed. */
#define MESSAGES_A_ROUND 512u

/* The longest a poll waits when nothing is due: bounds how stale the watchdog's time and the gauges are. */
#define MAX_POLL_MS 500

/* librdkafka throws prefetched messages away at a pause: no more than one change a second. */
#define PAUSE_INTERVAL_US TIDE_US_PER_S

#define SHOW_INTERVAL_US TIDE_US_PER_S
#define BAD_MESSAGE_LOG_US (10 * TIDE_US_PER_S)
#define TROUBLE_LOG_US (30 * TIDE_US_PER_S)

/* The share of the memory budget that prefetched messages may take, of all consumers together. */
#define PREFETCH_SHARE 4u

struct TideConsumer {
  /* set before start, then read-only */
  TideConsumerContext context;
  TideThread *thread;
  TideCounter *pauses;
  TideCounter *rebalances_assigned;
  TideCounter *rebalances_revoked;
  TideCounter *rebalances_lost;
  TideCounter *commit_failures;
  TideCounter *out_of_range;
  TideCounter *messages_held;
  TideCounter **rows_expired; /* owned; by table */

  /* the consumer's thread only */
  TideKafkaSource *source;
  TideMapping *mapping;
  TideDatedCache dated_names;
  TideOpenLanes *open_lanes;
  GPtrArray *partitions; /* owned (element-type TidePartition), by slot */
  gint64 pause_changed_us;
  gboolean memory_paused;
  gint64 shown_us;
  TideLogLimit bad_message_limit;
  TideLogLimit trouble_limit;

  /* any thread */
  TideInbox inbox;
  _Atomic gboolean stopping;
  _Atomic gint64 stop_deadline_us;
  _Atomic gint64 last_round_us;
  _Atomic guint32 assigned;
  _Atomic guint32 held;
  _Atomic guint32 paused;
  _Atomic guint64 in_flight;
  _Atomic gint64 oldest_us;
  _Atomic gint64 lag;
  _Atomic gboolean had_assignment;
  _Atomic gboolean finished;
  _Atomic gboolean left_work;
  _Atomic gboolean fatal;

  /* under lock */
  TideMutex lock;
  char *held_text; /* owned */
};

static TidePartition *
partition_of(const TideConsumer *consumer, guint16 slot)
{
  return g_ptr_array_index(consumer->partitions, slot);
}

/* ---- pausing ---- */

/* Tells librdkafka when "any reason to pause" has changed. */
static void
apply_pause(TideConsumer *consumer, TidePartition *partition)
{
  gboolean should = partition->pause_reasons != 0;
  if (!partition->assigned || should == partition->is_paused)
    return;
  partition->is_paused = should;
  if (should) {
    tide_counter_inc(consumer->pauses);
    tide_kafka_source_pause(consumer->source, partition->slot);
  } else
    tide_kafka_source_resume(consumer->source, partition->slot);
}

static void
set_pause_reason(TideConsumer *consumer, TidePartition *partition, TidePauseReason reason, gboolean on)
{
  guint before = partition->pause_reasons;
  partition->pause_reasons = on ? before | reason : before & ~(guint)reason;
  if (partition->pause_reasons != before)
    apply_pause(consumer, partition);
}

/* Above the budget every partition pauses; below its lower mark all go on. */
static void
heed_budget(TideConsumer *consumer, gint64 now_us)
{
  gboolean should = consumer->memory_paused ? !tide_budget_has_room_racy(consumer->context.budget)
                                            : tide_budget_is_spent_racy(consumer->context.budget);
  if (should == consumer->memory_paused || (!should && now_us - consumer->pause_changed_us < PAUSE_INTERVAL_US))
    return;
  consumer->memory_paused = should;
  consumer->pause_changed_us = now_us;
  for (guint i = 0; i < consumer->partitions->len; i++)
    set_pause_reason(consumer, partition_of(consumer, (guint16)i), TIDE_PAUSE_MEMORY, should);
}

/* A partition whose oldest unfinished message lies far behind waits for it alone. */
static void
heed_span(TideConsumer *consumer, TidePartition *partition)
{
  guint32 span = tide_offsets_span(&partition->offsets);
  guint32 limit = consumer->context.config->kafka.max_span_messages;
  if (span >= limit)
    set_pause_reason(consumer, partition, TIDE_PAUSE_SPAN, TRUE);
  else if (span <= limit / 2)
    set_pause_reason(consumer, partition, TIDE_PAUSE_SPAN, FALSE);
}

/* ---- held partitions ---- */

static void
publish_held(TideConsumer *consumer)
{
  GString *text = g_string_new(NULL);
  guint32 n = 0;
  for (guint i = 0; i < consumer->partitions->len; i++) {
    const TidePartition *partition = partition_of(consumer, (guint16)i);
    if (!partition->assigned || partition->held_text == NULL)
      continue;
    g_string_append_printf(text, "%s%s", n++ > 0 ? "; " : "", partition->held_text);
  }
  atomic_store_explicit(&consumer->held, n, memory_order_relaxed);
  tide_mutex_lock(&consumer->lock);
  g_free(consumer->held_text);
  consumer->held_text = g_string_free(text, n == 0);
  tide_mutex_unlock(&consumer->lock);
}

/* @text: (transfer full). */
static void
hold(TideConsumer *consumer, TidePartition *partition, char *text)
{
  g_free(partition->held_text);
  partition->held_text = text;
  set_pause_reason(consumer, partition, TIDE_PAUSE_HELD, TRUE);
  publish_held(consumer);
}

/* ---- a message ---- */

static void
log_bad_message(TideConsumer *consumer, const TideKafkaRecord *record, const TideReject *reject, const char *next)
{
  guint64 suppressed;
  if (!tide_log_limit_pass(&consumer->bad_message_limit, tide_now_us(), BAD_MESSAGE_LOG_US, &suppressed))
    return;
  g_autofree char *why = tide_reject_describe(reject);
  g_autofree char *partition = g_strdup_printf("%d", record->message.partition);
  g_autofree char *offset = g_strdup_printf("%" G_GINT64_FORMAT, record->message.offset);
  g_autofree char *topic = g_strndup((const char *)record->message.topic.data, record->message.topic.len);
  const TideLogField fields[] = {{"TOPIC", topic},
                                 {"PARTITION", partition},
                                 {"OFFSET", offset},
                                 {"REASON", tide_reject_reason_name(reject->reason)}};
  tide_log_fields(TIDE_LOG_ERROR, fields, G_N_ELEMENTS(fields),
                  "cannot use message %s of '%s' partition %s: %s; %s (%" G_GUINT64_FORMAT " such events not logged)",
                  offset, topic, partition, why, next, suppressed);
}

static void
handle_bad_message(TideConsumer *consumer, TidePartition *partition, const TideKafkaRecord *record,
                   const TideReject *reject)
{
  if (reject->reason == TIDE_REJECT_TOMBSTONE) {
    /* Nothing is wrong with it: it has no readings, and no table asks which row it deletes. */
    tide_partition_skip(partition, consumer->context.metrics, consumer->context.budget, record->message.offset,
                        reject->reason);
    return;
  }
  switch (consumer->context.config->readings.on_bad_message) {
  case TIDE_BAD_MESSAGE_SKIP:
    log_bad_message(consumer, record, reject, "passing over it, as on_bad_message says");
    tide_partition_skip(partition, consumer->context.metrics, consumer->context.budget, record->message.offset,
                        reject->reason);
    break;
  case TIDE_BAD_MESSAGE_STOP: {
    log_bad_message(consumer, record, reject,
                    "the partition stands still: mend the configuration, or set on_bad_message: skip, and restart");
    tide_counter_inc(consumer->messages_held);
    g_autofree char *why = tide_reject_describe(reject);
    hold(consumer, partition,
         g_strdup_printf("topic '%s' partition %d stands still at offset %" G_GINT64_FORMAT ": %s", partition->topic,
                         partition->partition, record->message.offset, why));
    break;
  }
  }
}

/* Gives the rows of dated tables the places of theirs. NULL; else the row for whose table there is none. */
static const TideRow *
place_rows(TideConsumer *consumer, const TideMapped *mapped)
{
  for (guint32 i = 0; i < mapped->n_rows; i++) {
    TideRow *row = &mapped->rows[i];
    if (row->table_name.len == 0)
      continue;
    const TideTable *declared = g_ptr_array_index(consumer->context.config->tables, row->table_index);
    const TideTable *table =
        tide_dated_cache_get(&consumer->dated_names, consumer->context.dated, declared, row->table_name);
    if (G_UNLIKELY(table == NULL))
      return row;
    row->table_index = table->index;
  }
  return NULL;
}

/* Too many dated tables: the message is good, so it is not passed over whatever on_bad_message says. */
static void
hold_at_unplaced_row(TideConsumer *consumer, TidePartition *partition, const TideKafkaRecord *record,
                     const TideRow *row)
{
  g_autofree char *table = tide_bytes_printable(row->table_name);
  char *why =
      g_strdup_printf("topic '%s' partition %d stands still at offset %" G_GINT64_FORMAT
                      ": its table '%s' would be one more than the %u dated tables that a process writes to: "
                      "look whether readings have absurd times, or restart to go on with newer tables",
                      partition->topic, partition->partition, record->message.offset, table, TIDE_DATED_TABLES_MAX);
  tide_log(TIDE_LOG_CRIT, "%s", why);
  tide_counter_inc(consumer->messages_held);
  hold(consumer, partition, why);
}

static void
count_expired_rows(const TideConsumer *consumer, const guint32 *n_by_table)
{
  for (guint i = 0; i < consumer->context.config->tables->len; i++)
    if (n_by_table[i] > 0)
      tide_counter_add(consumer->rows_expired[i], n_by_table[i]);
}

static void
handle_message(TideConsumer *consumer, const TideKafkaRecord *record, gint64 now_us)
{
  TidePartition *partition = partition_of(consumer, record->slot);
  if (!partition->assigned || partition->held_text != NULL)
    return; /* behind the message that holds the partition: fetched again once that is solved */
  TideMapped mapped;
  TideReject reject = {0};
  if (!tide_mapping_apply(consumer->mapping, &record->message, &mapped, &reject)) {
    handle_bad_message(consumer, partition, record, &reject);
    return;
  }
  const TideRow *unplaced = place_rows(consumer, &mapped);
  if (G_UNLIKELY(unplaced != NULL)) {
    hold_at_unplaced_row(consumer, partition, record, unplaced);
    return;
  }
  if (G_UNLIKELY(mapped.n_expired_rows != NULL))
    count_expired_rows(consumer, mapped.n_expired_rows);
  TideSourceRef ref = tide_partition_begin(partition, consumer->context.budget, record->message.offset, &mapped);
  tide_open_lanes_append_message(consumer->open_lanes, mapped.rows, mapped.n_rows, ref, now_us);
  heed_span(consumer, partition);
}

/* ---- what comes home ---- */

static void
mark_sources(TideConsumer *consumer, const TideBatch *batch)
{
  gsize n_sources;
  const TideBatchSource *sources = tide_batch_sources(batch, &n_sources);
  for (gsize i = 0; i < n_sources; i++) {
    TidePartition *partition = partition_of(consumer, sources[i].ref.slot);
    if (tide_partition_owns(partition, sources[i].ref))
      tide_partition_ack(partition, sources[i].ref);
  }
}

static void
store_mark(TideConsumer *consumer, TidePartition *partition)
{
  gint64 mark = partition->offsets.mark;
  if (!partition->assigned || mark < 0 || mark == partition->stored_offset)
    return;
  if (tide_kafka_source_store(consumer->source, partition->slot, mark))
    partition->stored_offset = mark;
}

static void
store_marks(TideConsumer *consumer)
{
  for (guint i = 0; i < consumer->partitions->len; i++) {
    TidePartition *partition = partition_of(consumer, (guint16)i);
    store_mark(consumer, partition);
    if (partition->assigned)
      heed_span(consumer, partition);
  }
}

/* @deadline_us: how long to wait for a batch; 0: not at all. */
static void
take_home(TideConsumer *consumer, gint64 deadline_us)
{
  TideBatch *batch = tide_inbox_take(&consumer->inbox, deadline_us);
  if (batch == NULL)
    return;
  gint64 now_us = tide_now_us();
  for (TideBatch *next; batch != NULL; batch = next) {
    next = batch->next;
    mark_sources(consumer, batch);
    tide_open_lanes_came_home(consumer->open_lanes, batch, now_us);
  }
  store_marks(consumer);
}

/* ---- what others see ---- */

static void
show(TideConsumer *consumer, gint64 now_us)
{
  consumer->shown_us = now_us;
  guint32 paused = 0;
  guint64 in_flight = 0;
  gint64 lag = 0;
  for (guint i = 0; i < consumer->partitions->len; i++) {
    TidePartition *partition = partition_of(consumer, (guint16)i);
    if (!partition->assigned)
      continue;
    gint64 high = tide_kafka_source_high_watermark(consumer->source, partition->slot);
    tide_partition_show(partition, high);
    paused += partition->is_paused ? 1 : 0;
    in_flight += partition->offsets.unfinished;
    lag += tide_gauge_value(partition->lag);
  }
  atomic_store_explicit(&consumer->paused, paused, memory_order_relaxed);
  atomic_store_explicit(&consumer->in_flight, in_flight, memory_order_relaxed);
  atomic_store_explicit(&consumer->lag, lag, memory_order_relaxed);
  atomic_store_explicit(&consumer->oldest_us, tide_open_lanes_oldest_us(consumer->open_lanes), memory_order_relaxed);
}

static void
publish_assigned(TideConsumer *consumer)
{
  guint32 n = 0;
  for (guint i = 0; i < consumer->partitions->len; i++)
    n += partition_of(consumer, (guint16)i)->assigned ? 1 : 0;
  atomic_store_explicit(&consumer->assigned, n, memory_order_relaxed);
}

static void
look_whether_finished(TideConsumer *consumer)
{
  if (!consumer->context.until_end || !tide_open_lanes_is_empty(consumer->open_lanes))
    return;
  if (!atomic_load_explicit(&consumer->had_assignment, memory_order_relaxed))
    return;
  for (guint i = 0; i < consumer->partitions->len; i++) {
    const TidePartition *partition = partition_of(consumer, (guint16)i);
    if (partition->assigned && !partition->reached_end && partition->held_text == NULL)
      return;
  }
  show(consumer, tide_now_us());
  atomic_store_explicit(&consumer->finished, TRUE, memory_order_release);
}

/* ---- called by the source, on this thread ---- */

static guint16
on_assigned(const char *topic, gint32 number, gint64 end_offset, gpointer data)
{
  TideConsumer *consumer = data;
  TidePartition *partition = NULL;
  for (guint i = 0; i < consumer->partitions->len && partition == NULL; i++) {
    TidePartition *candidate = partition_of(consumer, (guint16)i);
    if (candidate->partition == number && strcmp(candidate->topic, topic) == 0)
      partition = candidate;
  }
  if (partition == NULL) {
    guint16 slot = (guint16)consumer->partitions->len;
    partition = tide_partition_new(topic, number, slot, consumer->context.metrics);
    g_ptr_array_add(consumer->partitions, partition);
  }
  tide_partition_assign(partition);
  partition->end_offset = end_offset;
  return partition->slot;
}

static void
on_assignment_done(gpointer data)
{
  TideConsumer *consumer = data;
  tide_counter_inc(consumer->rebalances_assigned);
  atomic_store_explicit(&consumer->had_assignment, TRUE, memory_order_relaxed);
  publish_assigned(consumer);
  publish_held(consumer);
  for (guint i = 0; i < consumer->partitions->len; i++)
    if (consumer->memory_paused)
      set_pause_reason(consumer, partition_of(consumer, (guint16)i), TIDE_PAUSE_MEMORY, TRUE);
  tide_log(TIDE_LOG_NOTICE, "assigned: %u partitions", atomic_load_explicit(&consumer->assigned, memory_order_relaxed));
}

static gboolean
any_unfinished(const TideConsumer *consumer, const guint16 *slots, gsize n_slots)
{
  for (gsize i = 0; i < n_slots; i++)
    if (partition_of(consumer, slots[i])->offsets.unfinished > 0)
      return TRUE;
  return FALSE;
}

/* Sends all that may be sent and waits for it. The thread does not poll meanwhile; the group's heartbeats go on. */
static void
drain_partitions(TideConsumer *consumer, const guint16 *slots, gsize n_slots, gint64 deadline_us)
{
  while (any_unfinished(consumer, slots, n_slots)) {
    gint64 now_us = tide_now_us();
    atomic_store_explicit(&consumer->last_round_us, now_us, memory_order_relaxed);
    if (now_us >= deadline_us)
      return;
    tide_open_lanes_tick(consumer->open_lanes, TIDE_PRESSURE_FLUSH, now_us);
    take_home(consumer, MIN(deadline_us, now_us + 100 * TIDE_US_PER_MS));
  }
}

static gint64
revoke_deadline_us(const TideConsumer *consumer)
{
  const TideConfig *config = consumer->context.config;
  gint64 bound_ms = MIN(config->limits.drain_timeout_ms, config->kafka.session_timeout_ms / 2);
  gint64 deadline_us = tide_now_us() + bound_ms * TIDE_US_PER_MS;
  if (atomic_load_explicit(&consumer->stopping, memory_order_acquire))
    deadline_us = MIN(deadline_us, atomic_load_explicit(&consumer->stop_deadline_us, memory_order_acquire));
  return deadline_us;
}

static void
commit(TideConsumer *consumer)
{
  g_autofree char *problem = NULL;
  if (tide_kafka_source_commit(consumer->source, &problem))
    return;
  tide_counter_inc(consumer->commit_failures);
  tide_log(TIDE_LOG_WARNING, "cannot commit offsets: %s; the next owner repeats some writes, nothing is lost", problem);
}

/* librdkafka remembers a pause beyond the assignment: a partition that came back would never be fetched again. */
static void
lift_pauses(TideConsumer *consumer, const guint16 *slots, gsize n_slots)
{
  for (gsize i = 0; i < n_slots; i++) {
    TidePartition *partition = partition_of(consumer, slots[i]);
    partition->pause_reasons = 0;
    apply_pause(consumer, partition);
  }
}

static void
on_revoking(const guint16 *slots, gsize n_slots, gboolean lost, gpointer data)
{
  TideConsumer *consumer = data;
  if (lost) {
    tide_counter_inc(consumer->rebalances_lost);
    tide_log(TIDE_LOG_WARNING, "%zu partitions were lost: nothing is committed for them, their next owner reads again",
             n_slots);
  } else {
    tide_counter_inc(consumer->rebalances_revoked);
    drain_partitions(consumer, slots, n_slots, revoke_deadline_us(consumer));
    store_marks(consumer);
    commit(consumer);
  }
  lift_pauses(consumer, slots, n_slots);
}

static void
on_revoked(const guint16 *slots, gsize n_slots, gpointer data)
{
  TideConsumer *consumer = data;
  guint32 unfinished = 0;
  for (gsize i = 0; i < n_slots; i++) {
    TidePartition *partition = partition_of(consumer, slots[i]);
    unfinished += partition->offsets.unfinished;
    tide_partition_release(partition, consumer->context.budget);
  }
  publish_assigned(consumer);
  publish_held(consumer);
  tide_log(TIDE_LOG_NOTICE, "revoked: %zu partitions, %u messages handed back unfinished", n_slots, unfinished);
}

static void
on_reached_end(guint16 slot, gint64 offset, gpointer data)
{
  TideConsumer *consumer = data;
  TidePartition *partition = partition_of(consumer, slot);
  if (partition->end_offset >= 0 && offset >= partition->end_offset)
    partition->reached_end = TRUE;
}

static void
on_trouble(TideKafkaTrouble kind, guint16 slot, const char *text, gpointer data)
{
  TideConsumer *consumer = data;
  switch (kind) {
  case TIDE_KAFKA_TROUBLE_OUT_OF_RANGE: {
    tide_counter_inc(consumer->out_of_range);
    if (slot == G_MAXUINT16)
      return;
    TidePartition *partition = partition_of(consumer, slot);
    char *why =
        g_strdup_printf("topic '%s' partition %d stands still: %s: messages were deleted before they were read, or "
                        "the topic was made anew; decide where to go on (kafka-consumer-groups "
                        "--reset-offsets) and restart",
                        partition->topic, partition->partition, text);
    tide_log(TIDE_LOG_CRIT, "%s", why);
    hold(consumer, partition, why);
    return;
  }
  case TIDE_KAFKA_TROUBLE_FATAL:
    tide_log(TIDE_LOG_CRIT, "the Kafka client cannot go on: %s; the program ends", text);
    atomic_store_explicit(&consumer->fatal, TRUE, memory_order_release);
    return;
  case TIDE_KAFKA_TROUBLE_PARTITION:
  case TIDE_KAFKA_TROUBLE_CLIENT: {
    guint64 suppressed;
    if (tide_log_limit_pass(&consumer->trouble_limit, tide_now_us(), TROUBLE_LOG_US, &suppressed))
      tide_log(TIDE_LOG_WARNING, "kafka: %s; it is tried again (%" G_GUINT64_FORMAT " such events not logged)", text,
               suppressed);
    return;
  }
  }
}

static void
wake(gpointer data)
{
  TideConsumer *consumer = data;
  tide_kafka_source_wake(consumer->source);
}

/* ---- the thread ---- */

/* Takes what can be read now; TRUE when there may be more. */
static gboolean
read_messages(TideConsumer *consumer, int timeout_ms, gint64 now_us)
{
  TideKafkaRecord record;
  for (guint i = 0; i < MESSAGES_A_ROUND; i++) {
    if (!tide_kafka_source_poll(consumer->source, i == 0 ? timeout_ms : 0, &record))
      return FALSE;
    if (i == 0) {
      now_us = tide_now_us();
      tide_mapping_set_now(consumer->mapping, tide_wall_clock_epoch_ms());
    }
    handle_message(consumer, &record, now_us);
    tide_kafka_source_release(&record);
    if (tide_budget_is_spent_racy(consumer->context.budget))
      return FALSE;
  }
  return TRUE;
}

static int
poll_timeout_ms(gint64 due_us, gint64 now_us)
{
  if (due_us <= now_us)
    return 0;
  gint64 wait_ms = (due_us - now_us + TIDE_US_PER_MS - 1) / TIDE_US_PER_MS;
  return (int)MIN(wait_ms, MAX_POLL_MS);
}

static void
run_rounds(TideConsumer *consumer)
{
  gint64 due_us = 0;
  gboolean more = FALSE;
  while (!atomic_load_explicit(&consumer->stopping, memory_order_acquire)) {
    gint64 now_us = tide_now_us();
    atomic_store_explicit(&consumer->last_round_us, now_us, memory_order_relaxed);
    take_home(consumer, 0);
    heed_budget(consumer, now_us);
    more = read_messages(consumer, more ? 0 : poll_timeout_ms(due_us, now_us), now_us);
    take_home(consumer, 0);
    TidePressure pressure = consumer->memory_paused ? TIDE_PRESSURE_FLUSH
                            : more                  ? TIDE_PRESSURE_NONE
                                                    : TIDE_PRESSURE_IDLE;
    now_us = tide_now_us();
    due_us = tide_open_lanes_tick(consumer->open_lanes, pressure, now_us);
    if (now_us - consumer->shown_us >= SHOW_INTERVAL_US)
      show(consumer, now_us);
    look_whether_finished(consumer);
  }
}

static guint64
count_unfinished(const TideConsumer *consumer)
{
  guint64 n = 0;
  for (guint i = 0; i < consumer->partitions->len; i++)
    n += partition_of(consumer, (guint16)i)->offsets.unfinished;
  return n;
}

/* Fetches no more, goes on polling (the group must be served), and waits until all is acknowledged or the time is up.
 */
static void
drain(TideConsumer *consumer)
{
  gint64 deadline_us = atomic_load_explicit(&consumer->stop_deadline_us, memory_order_acquire);
  for (guint i = 0; i < consumer->partitions->len; i++)
    set_pause_reason(consumer, partition_of(consumer, (guint16)i), TIDE_PAUSE_MEMORY, TRUE);
  while (count_unfinished(consumer) > 0 && tide_now_us() < deadline_us) {
    gint64 now_us = tide_now_us();
    atomic_store_explicit(&consumer->last_round_us, now_us, memory_order_relaxed);
    tide_open_lanes_tick(consumer->open_lanes, TIDE_PRESSURE_FLUSH, now_us);
    TideKafkaRecord record;
    if (tide_kafka_source_poll(consumer->source, 20, &record))
      tide_kafka_source_release(&record); /* prefetched before the pause: not begun, so read again later */
    take_home(consumer, 0);
  }
  store_marks(consumer);
  commit(consumer);
  guint64 unfinished = count_unfinished(consumer);
  if (unfinished == 0)
    return;
  atomic_store_explicit(&consumer->left_work, TRUE, memory_order_relaxed);
  tide_log(TIDE_LOG_WARNING,
           "stopping with %" G_GUINT64_FORMAT
           " messages unfinished: their offsets are not committed, they are read again",
           unfinished);
}

/* The thread's owner function. */
static void
run_consumer(gpointer data)
{
  TideConsumer *consumer = data;
  run_rounds(consumer);
  drain(consumer);
  tide_kafka_source_close(consumer->source);
}

/* ---- life ---- */

static void
register_metrics(TideConsumer *consumer)
{
  TideMetrics *metrics = consumer->context.metrics;
  consumer->pauses = tide_metrics_counter(metrics, "tidemark_kafka_pauses_total", "Times a partition was paused", NULL);
  const char *name = "tidemark_kafka_rebalances_total", *help = "Rebalances by what happened";
  consumer->rebalances_assigned = tide_metrics_counter(metrics, name, help, "type=\"assigned\"");
  consumer->rebalances_revoked = tide_metrics_counter(metrics, name, help, "type=\"revoked\"");
  consumer->rebalances_lost = tide_metrics_counter(metrics, name, help, "type=\"lost\"");
  consumer->commit_failures =
      tide_metrics_counter(metrics, "tidemark_kafka_commit_failures_total", "Commits that the broker refused", NULL);
  consumer->out_of_range = tide_metrics_counter(
      metrics, "tidemark_kafka_offset_out_of_range_total",
      "Committed offsets that were no more in the topic: messages were lost before they were read", NULL);
  consumer->messages_held =
      tide_metrics_counter(metrics, "tidemark_messages_held_total",
                           "Messages that hold their partition: on_bad_message: stop, or too many "
                           "dated tables",
                           NULL);
}

static void
register_rows_expired(TideConsumer *consumer)
{
  const GPtrArray *tables = consumer->context.config->tables;
  consumer->rows_expired = g_new0(TideCounter *, tables->len);
  for (guint i = 0; i < tables->len; i++) {
    g_autofree char *label = tide_metrics_label("table", ((const TideTable *)g_ptr_array_index(tables, i))->name);
    consumer->rows_expired[i] =
        tide_metrics_counter(consumer->context.metrics, "tidemark_rows_expired_total",
                             "Rows not written because their cells are older than their time to live", label);
  }
}

static gboolean
make_source(TideConsumer *consumer, GError **error)
{
  const TideConfig *config = consumer->context.config;
  TideKafkaSourceOptions options = {.config = config,
                                    .queue_bytes = config->limits.memory_bytes / PREFETCH_SHARE / config->kafka.threads,
                                    .ask_for_ends = consumer->context.until_end};
  TideKafkaHandlers handlers = {.data = consumer,
                                .assigned = on_assigned,
                                .assignment_done = on_assignment_done,
                                .revoking = on_revoking,
                                .revoked = on_revoked,
                                .reached_end = on_reached_end,
                                .trouble = on_trouble};
  consumer->source = tide_kafka_source_new(&options, &handlers, error);
  return consumer->source != NULL;
}

TideConsumer *
tide_consumer_start(const TideConsumerContext *context, guint32 index, GError **error)
{
  TideConsumer *consumer = g_new0(TideConsumer, 1);
  consumer->context = *context;
  consumer->partitions = g_ptr_array_new();
  tide_mutex_init(&consumer->lock);
  atomic_init(&consumer->last_round_us, tide_now_us());
  register_metrics(consumer);
  register_rows_expired(consumer);
  tide_inbox_init(&consumer->inbox, wake, consumer);
  consumer->mapping = tide_mapping_new(context->config, context->protocol);
  TideOpenLanesContext lanes_context = {.config = context->config,
                                        .protocol = context->protocol,
                                        .budget = context->budget,
                                        .lanes = context->lanes,
                                        .regions = context->regions,
                                        .dated = context->dated,
                                        .inbox = &consumer->inbox,
                                        .metrics = context->metrics};
  consumer->open_lanes = tide_open_lanes_new(&lanes_context);
  if (!make_source(consumer, error)) {
    tide_consumer_free(consumer);
    return NULL;
  }
  g_autofree char *name = g_strdup_printf("tide-consumer-%u", index);
  consumer->thread = tide_thread_start(name, run_consumer, consumer);
  return consumer;
}

void
tide_consumer_stop(TideConsumer *consumer, gint64 deadline_us)
{
  atomic_store_explicit(&consumer->stop_deadline_us, deadline_us, memory_order_release);
  atomic_store_explicit(&consumer->stopping, TRUE, memory_order_release);
  tide_kafka_source_wake(consumer->source);
}

gboolean
tide_consumer_join_until(TideConsumer *consumer, gint64 deadline_us)
{
  if (consumer->thread == NULL)
    return TRUE;
  if (!tide_thread_join_until(consumer->thread, deadline_us))
    return FALSE;
  consumer->thread = NULL;
  return TRUE;
}

void
tide_consumer_free(TideConsumer *consumer)
{
  if (consumer == NULL)
    return;
  tide_thread_join(consumer->thread);
  tide_kafka_source_free(consumer->source);
  tide_open_lanes_free(consumer->open_lanes);
  tide_mapping_free(consumer->mapping);
  tide_inbox_clear(&consumer->inbox);
  for (guint i = 0; i < consumer->partitions->len; i++)
    tide_partition_free(partition_of(consumer, (guint16)i), consumer->context.budget);
  g_ptr_array_unref(consumer->partitions);
  tide_mutex_clear(&consumer->lock);
  g_free(consumer->held_text);
  g_free(consumer->rows_expired);
  g_free(consumer);
}

TideConsumerState
tide_consumer_state_racy(const TideConsumer *consumer)
{
  return (TideConsumerState){
      .last_round_us = atomic_load_explicit(&consumer->last_round_us, memory_order_relaxed),
      .assigned = atomic_load_explicit(&consumer->assigned, memory_order_relaxed),
      .held = atomic_load_explicit(&consumer->held, memory_order_relaxed),
      .paused = atomic_load_explicit(&consumer->paused, memory_order_relaxed),
      .in_flight = atomic_load_explicit(&consumer->in_flight, memory_order_relaxed),
      .oldest_us = atomic_load_explicit(&consumer->oldest_us, memory_order_relaxed),
      .lag = atomic_load_explicit(&consumer->lag, memory_order_relaxed),
      .had_assignment = atomic_load_explicit(&consumer->had_assignment, memory_order_relaxed),
      .finished = atomic_load_explicit(&consumer->finished, memory_order_relaxed),
      .left_work = atomic_load_explicit(&consumer->left_work, memory_order_relaxed),
      .fatal = atomic_load_explicit(&consumer->fatal, memory_order_acquire),
  };
}

char *
tide_consumer_held_text(TideConsumer *consumer)
{
  tide_mutex_lock(&consumer->lock);
  char *text = g_strdup(consumer->held_text);
  tide_mutex_unlock(&consumer->lock);
  return text;
}
