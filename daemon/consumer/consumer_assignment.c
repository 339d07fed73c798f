/* What a consumer does when its input tells that partitions come and go, have ended, or are in trouble. All is called
 * on the consumer's thread, out of its polls. */
#include "config/config_source.h"
#include "consumer/consumer_private.h"
#include "consumer/partition_slots.h"
#include "decode/avro_schema.h"
#include "registry/registry.h"
#include "util/clock.h"
#include "util/log.h"

#define TROUBLE_LOG_US (30 * TIDE_US_PER_S)

/* With --until-end: longer than one question to the schema registry may take. */
#define AWAITED_AT_END_US (15 * TIDE_US_PER_S)

/* NULL: there is no place for it. */
static TidePartition *
find_or_add_partition(TideConsumer *consumer, const char *topic, gint32 number)
{
  guint16 slot;
  const char *source = tide_config_source_name(consumer->context.config, topic);
  TidePartition *partition =
      tide_partition_slots_find(consumer->partitions, topic, number, source, TIDE_PARTITION_SLOTS_MAX, &slot);
  if (slot == G_MAXUINT16 || partition != NULL)
    return partition;
  partition = tide_partition_new(topic, number, source, slot, consumer->context.metrics, &consumer->write_latency);
  partition->watch = consumer->context.watch;
  g_ptr_array_add(consumer->partitions, partition);
  return partition;
}

static void
on_progress(gpointer data)
{
  TideConsumer *consumer = data;
  atomic_store_explicit(&consumer->status.last_round_us, tide_now_us(), memory_order_relaxed);
}

static guint16
on_assigned(const TideInputAssignment *assignment, gpointer data)
{
  TideConsumer *consumer = data;
  TidePartition *partition = find_or_add_partition(consumer, assignment->topic, assignment->partition);
  if (partition == NULL) {
    tide_log(TIDE_LOG_CRIT, "too-many-partitions",
             "a consumer has at most %u partitions: raise kafka.threads; the program ends", TIDE_PARTITION_SLOTS_MAX);
    atomic_store_explicit(&consumer->status.fatal, TRUE, memory_order_release);
    return G_MAXUINT16;
  }
  if (!partition->assigned)
    tide_partition_assign(partition);
  /* Not known: the first end that is reached will do. */
  if (consumer->context.until_end)
    partition->end.wanted_offset = MAX(assignment->end_offset, 0);
  tide_consumer_commits_take_over(&consumer->commits, partition, assignment);
  return partition->slot;
}

static void
on_taking(const guint16 *slots, gsize n_slots, gpointer data)
{
  TideConsumer *consumer = data;
  consumer->is_at_end &= n_slots == 0;
  tide_consumer_commits_open(&consumer->commits, slots, n_slots);
  atomic_store_explicit(&consumer->status.last_round_us, tide_now_us(), memory_order_relaxed);
}

static void
on_assignment_done(gpointer data)
{
  TideConsumer *consumer = data;
  tide_counter_inc(consumer->counters.rebalances_assigned);
  consumer->left_us = 0;
  consumer->commit_lost = FALSE; /* whoever has those partitions now has read them again */
  atomic_store_explicit(&consumer->status.had_assignment, TRUE, memory_order_relaxed);
  atomic_store_explicit(&consumer->status.denied, FALSE, memory_order_relaxed);
  tide_consumer_status_publish_trouble(&consumer->status, NULL);
  tide_consumer_status_publish_assigned(&consumer->status, consumer->partitions);
  tide_consumer_status_publish_halted(&consumer->status, consumer->partitions);
  tide_pauses_apply_assigned(&consumer->pauses);
  guint assigned = atomic_load_explicit(&consumer->status.assigned, memory_order_relaxed);
  tide_log(TIDE_LOG_NOTICE, "assigned", "assigned: %u partition%s", assigned, assigned == 1 ? "" : "s");
}

static gboolean
any_has_work(const TideConsumer *consumer, const guint16 *slots, gsize n_slots)
{
  gboolean is_empty = tide_accumulator_is_empty(consumer->accumulator);
  for (gsize i = 0; i < n_slots; i++)
    if (tide_consumer_has_work(tide_consumer_partition(consumer, slots[i]), is_empty))
      return TRUE;
  return FALSE;
}

/* Sends all that may be sent and waits for it. The thread does not poll meanwhile; the group's heartbeats go on. */
static void
drain_partitions(TideConsumer *consumer, const guint16 *slots, gsize n_slots, gint64 deadline_us)
{
  while (any_has_work(consumer, slots, n_slots) && !tide_consumer_is_held_for_good(consumer)) {
    gint64 now_us = tide_now_us();
    atomic_store_explicit(&consumer->status.last_round_us, now_us, memory_order_relaxed);
    if (now_us >= deadline_us)
      return;
    tide_accumulator_tick(consumer->accumulator, TIDE_PRESSURE_FLUSH, 0, now_us);
    tide_consumer_take_completed(consumer, MIN(deadline_us, now_us + 100 * TIDE_US_PER_MS));
  }
}

/* The drain must end before the group times out: heartbeats go on meanwhile, but the others wait for this member,
 * and a broker takes a member that does not poll for gone. Half of each leaves room for the commit and for joining
 * again. */
static gint64
revoke_deadline_us(const TideConsumer *consumer)
{
  const TideConfig *config = consumer->context.config;
  gint64 timeout_ms = MIN(config->kafka.session_timeout_ms, config->kafka.max_poll_interval_ms);
  gint64 drain_ms = config->limits.drain_timeout_ms;
  gint64 bound_ms = MIN(drain_ms, timeout_ms / 2);
  gint64 deadline_us = tide_now_us() + bound_ms * TIDE_US_PER_MS;
  if (atomic_load_explicit(&consumer->stopping, memory_order_acquire))
    deadline_us = MIN(deadline_us, atomic_load_explicit(&consumer->stop_deadline_us, memory_order_acquire));
  return deadline_us;
}

static void
on_revoking(const guint16 *slots, gsize n_slots, gboolean lost, gpointer data)
{
  TideConsumer *consumer = data;
  if (lost) {
    tide_counter_inc(consumer->counters.rebalances_lost);
    tide_log(TIDE_LOG_WARNING, "partitions-lost",
             "%zu partition%s lost: nothing is committed there, and the next owner reads again", n_slots,
             n_slots == 1 ? " was" : "s were");
  } else {
    tide_counter_inc(consumer->counters.rebalances_revoked);
    gint64 deadline_us = revoke_deadline_us(consumer);
    drain_partitions(consumer, slots, n_slots, deadline_us);
    gint64 commit_us = consumer->context.config->kafka.session_timeout_ms / 4 * TIDE_US_PER_MS;
    (void)tide_consumer_commits_close(&consumer->commits, slots, n_slots, MAX(deadline_us, tide_now_us()) + commit_us);
  }
  if (!tide_consumer_commits_are_done(&consumer->commits, slots, n_slots)) {
    consumer->commit_lost = TRUE;
    if (atomic_load_explicit(&consumer->stopping, memory_order_acquire))
      atomic_store_explicit(&consumer->status.left_work, TRUE, memory_order_relaxed);
  }
  tide_pauses_lift(&consumer->pauses, slots, n_slots);
}

static void
on_revoked(const guint16 *slots, gsize n_slots, gpointer data)
{
  TideConsumer *consumer = data;
  guint32 unfinished = 0;
  gboolean has_work = any_has_work(consumer, slots, n_slots);
  for (gsize i = 0; i < n_slots; i++) {
    TidePartition *partition = tide_consumer_partition(consumer, slots[i]);
    unfinished += partition->offsets.unfinished;
    tide_partition_release(partition, consumer->context.budget);
  }
  consumer->is_at_end = FALSE;
  consumer->left_us = tide_now_us();
  tide_accumulator_give_up(consumer->accumulator, consumer->left_us);
  /* A stop does not find it any more when it looks for work. */
  if (has_work && atomic_load_explicit(&consumer->stopping, memory_order_acquire))
    atomic_store_explicit(&consumer->status.left_work, TRUE, memory_order_relaxed);
  tide_consumer_status_publish_assigned(&consumer->status, consumer->partitions);
  tide_consumer_status_publish_halted(&consumer->status, consumer->partitions);
  tide_log(TIDE_LOG_NOTICE, "revoked", "revoked: %zu partition%s, %u message%s handed back unfinished", n_slots,
           n_slots == 1 ? "" : "s", unfinished, unfinished == 1 ? "" : "s");
}

static void
on_reached_end(guint16 slot, gint64 offset, gpointer data)
{
  TideConsumer *consumer = data;
  TidePartition *partition = tide_consumer_partition(consumer, slot);
  if (partition->awaited.is_awaited)
    return; /* what was read before it is read again */
  partition->end.seen_offset = offset;
  if (partition->end.wanted_offset >= 0 && offset >= partition->end.wanted_offset)
    partition->end.is_reached = TRUE;
}

/* ---- reading again ---- */

static void
read_partition_again(TideConsumer *consumer, TidePartition *partition)
{
  guint16 slot = partition->slot;
  gint64 position = tide_partition_position(partition);
  tide_pauses_lift(&consumer->pauses, &slot, 1);
  tide_partition_read_again(partition, consumer->context.budget);
  tide_accumulator_disown(consumer->accumulator);
  tide_counter_inc(consumer->counters.read_again);
  tide_log_fields(
      TIDE_LOG_NOTICE, "partition-read-again",
      TIDE_LOG_FIELDS({"TOPIC", partition->topic}, {"PARTITION", tide_log_number(partition->partition).text},
                      {"SOURCE", partition->source}, {"OFFSET", tide_log_number(position).text}),
      "topic '%s' partition %d is read again from offset %" G_GINT64_FORMAT
      " on: more calls had no answer than could be remembered, and their time has passed, or rows that it shared "
      "with a partition that was taken away were given up",
      partition->topic, partition->partition, position);
  tide_input_move(consumer->input, slot, position);
  tide_pauses_apply_assigned(&consumer->pauses); /* behind the move: a resume would take that back */
}

void
tide_consumer_read_again(TideConsumer *consumer, gint64 now_us)
{
  for (guint i = 0; i < consumer->partitions->len; i++) {
    TidePartition *partition = tide_consumer_partition(consumer, (guint16)i);
    if (partition->assigned && tide_partition_is_read_again(partition) && partition->again.at_us <= now_us &&
        partition->halt.text == NULL && tide_partition_position(partition) >= 0)
      read_partition_again(consumer, partition);
  }
}

/* ---- schemas ---- */

/* A run that is to end does not wait for ever; nothing is committed behind the message. */
static void
halt_if_in_vain(TideConsumer *consumer, TidePartition *partition, gint64 now_us)
{
  const TideAwaitedSchema *awaited = &partition->awaited;
  if (!consumer->context.until_end || now_us - awaited->since_us < AWAITED_AT_END_US)
    return;
  g_autofree char *trouble = tide_registry_trouble(awaited->schemas);
  if (trouble == NULL)
    return;
  tide_pauses_halt_partition(
      &consumer->pauses, partition,
      g_strdup_printf("topic '%s' partition %d is halted at offset %" G_GINT64_FORMAT
                      ": the schema registry cannot be asked for its schema %u: %s; see that it answers, and run again",
                      partition->topic, partition->partition, awaited->offset, awaited->id, trouble));
}

static void
read_awaited_partition(TideConsumer *consumer, TidePartition *partition)
{
  guint16 slot = partition->slot;
  partition->awaited.is_awaited = FALSE;
  partition->end.is_reached = FALSE;
  tide_pauses_lift(&consumer->pauses, &slot, 1);
  tide_input_move(consumer->input, slot, partition->awaited.offset);
  tide_pauses_apply_assigned(&consumer->pauses); /* behind the move: a resume would take that back */
}

void
tide_consumer_read_awaited(TideConsumer *consumer, gint64 now_us)
{
  const TideAvroSchema *schema;
  const char *why;
  for (guint i = 0; i < consumer->partitions->len; i++) {
    TidePartition *partition = tide_consumer_partition(consumer, (guint16)i);
    const TideAwaitedSchema *awaited = &partition->awaited;
    if (!partition->assigned || !awaited->is_awaited || partition->halt.text != NULL)
      continue;
    if (awaited->schemas->find(awaited->schemas, awaited->id, &schema, &why) != TIDE_SCHEMA_AWAITED)
      read_awaited_partition(consumer, partition);
    else
      halt_if_in_vain(consumer, partition, now_us);
  }
}

/* ---- troubles ---- */

static void
halt_and_log(TideConsumer *consumer, TidePartition *partition, const char *why, const char *remedy)
{
  char *text =
      g_strdup_printf("topic '%s' partition %d is halted: %s; %s", partition->topic, partition->partition, why, remedy);
  tide_pauses_halt_partition(&consumer->pauses, partition, text);
}

static void
on_lost_messages(TideConsumer *consumer, TidePartition *partition, const TideInputReport *report)
{
  tide_counter_add(consumer->counters.messages_lost, (guint64)(report->lost_to - report->lost_from));
  if (consumer->context.config->kafka.on_lost_offsets == TIDE_LOST_OFFSETS_HOLD) {
    halt_and_log(consumer, partition, report->text,
                 "decide where to go on (kafka-consumer-groups --reset-offsets, or on_lost_offsets: continue) and "
                 "restart; a longer retention.ms keeps it from coming back");
    return;
  }
  tide_log_fields(TIDE_LOG_CRIT, "offsets-skipped",
                  TIDE_LOG_FIELDS({"TOPIC", partition->topic},
                                  {"PARTITION", tide_log_number(partition->partition).text},
                                  {"SOURCE", partition->source}, {"OFFSET", tide_log_number(report->lost_to).text}),
                  "topic '%s' partition %d: %s; going on at offset %" G_GINT64_FORMAT
                  ", as on_lost_offsets says: a longer retention.ms keeps it from coming back",
                  partition->topic, partition->partition, report->text, report->lost_to);
  tide_input_move(consumer->input, partition->slot, report->lost_to);
}

static void
on_partition_trouble(TideConsumer *consumer, TidePartition *partition, const TideInputReport *report)
{
  switch ((int)report->kind) {
  case TIDE_INPUT_TROUBLE_LOST:
    tide_counter_inc(consumer->counters.out_of_range);
    on_lost_messages(consumer, partition, report);
    break;
  case TIDE_INPUT_TROUBLE_OUT_OF_RANGE:
    tide_counter_inc(consumer->counters.out_of_range);
    halt_and_log(consumer, partition, report->text,
                 "decide where to go on (kafka-consumer-groups --reset-offsets) and restart");
    break;
  case TIDE_INPUT_TROUBLE_DAMAGED:
    tide_counter_inc(consumer->counters.damaged);
    halt_and_log(consumer, partition, report->text,
                 "restart to fetch it once more; when that does not help, the broker's copy is damaged, and "
                 "kafka-consumer-groups --reset-offsets passes over it");
    break;
  }
}

/* What goes on being tried by librdkafka. */
static void
log_trouble(TideConsumer *consumer, const TideInputReport *report)
{
  TideLogLevel level = report->kind == TIDE_INPUT_TROUBLE_MISSING || report->kind == TIDE_INPUT_TROUBLE_DENIED ||
                               report->kind == TIDE_INPUT_TROUBLE_POLL
                           ? TIDE_LOG_ERROR
                           : TIDE_LOG_WARNING;
  guint64 suppressed = 0;
  if (level == TIDE_LOG_WARNING &&
      !tide_log_limit_pass(&consumer->trouble_limit, tide_now_us(), TROUBLE_LOG_US, &suppressed))
    return;
  const char *next = report->kind == TIDE_INPUT_TROUBLE_POLL
                         ? "joining the group again; what was in flight is read again"
                     : report->kind == TIDE_INPUT_TROUBLE_MISSING ? "it is looked for again"
                                                                  : "it is tried again, no offset moves meanwhile";
  const TidePartition *partition = report->slot != G_MAXUINT16 ? tide_consumer_partition(consumer, report->slot) : NULL;
  tide_log_fields(level, "kafka-trouble",
                  TIDE_LOG_FIELDS({"TOPIC", partition != NULL ? partition->topic : NULL},
                                  {"PARTITION", partition != NULL ? tide_log_number(partition->partition).text : NULL},
                                  {"SOURCE", partition != NULL ? partition->source : NULL}, {"REASON", report->text}),
                  "kafka: %s; %s%s", report->text, next, tide_log_suppressed(suppressed, "events").text);
}

static void
on_trouble(const TideInputReport *report, gpointer data)
{
  TideConsumer *consumer = data;
  switch (report->kind) {
  case TIDE_INPUT_TROUBLE_LOST:
  case TIDE_INPUT_TROUBLE_OUT_OF_RANGE:
  case TIDE_INPUT_TROUBLE_DAMAGED:
    if (report->slot != G_MAXUINT16)
      on_partition_trouble(consumer, tide_consumer_partition(consumer, report->slot), report);
    return;
  case TIDE_INPUT_TROUBLE_FATAL:
    tide_log(TIDE_LOG_CRIT, "kafka-cannot-go-on",
             "the Kafka client cannot go on: %s; another daemon runs with the same kafka.instance: give each its own; "
             "the program ends",
             report->text);
    atomic_store_explicit(&consumer->status.fatal, TRUE, memory_order_release);
    return;
  case TIDE_INPUT_TROUBLE_DENIED:
    atomic_store_explicit(&consumer->status.denied, TRUE, memory_order_relaxed);
    break;
  case TIDE_INPUT_TROUBLE_MISSING:
  case TIDE_INPUT_TROUBLE_POLL:
  case TIDE_INPUT_TROUBLE_PARTITION:
  case TIDE_INPUT_TROUBLE_CLIENT:
    break;
  }
  /* Of a topic that is missing the pipeline tells, once for all consumers, and what to do. */
  if (report->kind != TIDE_INPUT_TROUBLE_MISSING || report->slot != G_MAXUINT16)
    log_trouble(consumer, report);
  tide_consumer_status_publish_trouble(&consumer->status, report->text);
}

static void
on_recovered(guint16 slot, gpointer data)
{
  TideConsumer *consumer = data;
  const TidePartition *partition = tide_consumer_partition(consumer, slot);
  atomic_store_explicit(&consumer->status.denied, FALSE, memory_order_relaxed);
  tide_consumer_status_publish_trouble(&consumer->status, NULL);
  tide_log_fields(TIDE_LOG_NOTICE, "partition-resumed",
                  TIDE_LOG_FIELDS({"TOPIC", partition->topic},
                                  {"PARTITION", tide_log_number(partition->partition).text},
                                  {"SOURCE", partition->source}),
                  "topic '%s' partition %d may be read again", partition->topic, partition->partition);
}

static void
on_committed(guint16 slot, gint64 offset, gboolean good, gpointer data)
{
  TideConsumer *consumer = data;
  TidePartition *partition = tide_consumer_partition(consumer, slot);
  if (!partition->assigned)
    return;
  tide_consumer_commits_answered(&consumer->commits, partition, offset, good);
  tide_pauses_check_in_flight_window(&consumer->pauses, partition);
}

static void
on_commit_failed(const char *text, gpointer data)
{
  TideConsumer *consumer = data;
  tide_consumer_commits_failed(&consumer->commits, text);
}

TideInputHandlers
tide_consumer_input_handlers(TideConsumer *consumer)
{
  return (TideInputHandlers){.data = consumer,
                             .progress = on_progress,
                             .taking = on_taking,
                             .committed = on_committed,
                             .assigned = on_assigned,
                             .assignment_done = on_assignment_done,
                             .revoking = on_revoking,
                             .revoked = on_revoked,
                             .reached_end = on_reached_end,
                             .recovered = on_recovered,
                             .trouble = on_trouble,
                             .commit_failed = on_commit_failed};
}
