/* Handlers for events of a consumer's input: assignment and revocation, ends of partitions, and failures. All run on
 * the consumer's thread, inside its polls. */
#include "config/config_source.h"
#include "consumer/consumer_private.h"
#include "util/clock.h"
#include "util/log.h"
#include "util/units.h"

#define TROUBLE_LOG_US (30 * TIDE_US_PER_S)

static TidePartition *
find_or_add_partition(TideConsumer *consumer, const char *topic, gint32 number)
{
  const char *source = tide_config_source_name(consumer->context.config, topic);
  for (guint i = 0; i < consumer->partitions->len; i++) {
    TidePartition *candidate = tide_consumer_partition(consumer, i);
    if (candidate->partition == number && strcmp(candidate->topic, topic) == 0)
      return candidate;
    if (consumer->context.watch == NULL && !candidate->assigned) { /* a file that was read is never assigned again */
      tide_partition_rename(candidate, topic, number, source);
      return candidate;
    }
  }
  TidePartition *partition =
      tide_partition_new(topic, number, source, consumer->partitions->len, &consumer->assignments,
                         consumer->context.metrics, &consumer->write_latency);
  partition->watch.watch = consumer->context.watch;
  g_ptr_array_add(consumer->partitions, partition);
  return partition;
}

static void
on_progress(gpointer data)
{
  TideConsumer *consumer = data;
  atomic_store_explicit(&consumer->status.last_round_us, tide_now_us(), memory_order_relaxed);
}

static guint32
on_assigned(const char *topic, gint32 number, gpointer data)
{
  TideConsumer *consumer = data;
  TidePartition *partition = find_or_add_partition(consumer, topic, number);
  if (!partition->assigned)
    tide_partition_assign(partition);
  return partition->slot;
}

/* ---- locating partitions ---- */

/* Log lines name at most this many partitions. */
#define MAX_NAMED 5u

/* Why an event's range of messages is not read; N_LEFT_OUT: it is read, or empty. */
static const TideLeftOut left_out_by[] = {
    [TIDE_OFFSET_PLAIN] = TIDE_N_LEFT_OUT,           [TIDE_OFFSET_UNSIGNED] = TIDE_N_LEFT_OUT,
    [TIDE_OFFSET_BEGINS] = TIDE_LEFT_OUT_START,      [TIDE_OFFSET_GONE] = TIDE_N_LEFT_OUT,
    [TIDE_OFFSET_JUMPS] = TIDE_LEFT_OUT_TAKEN,       [TIDE_OFFSET_GOES_BACK] = TIDE_N_LEFT_OUT,
    [TIDE_OFFSET_DELETED] = TIDE_LEFT_OUT_RETENTION, [TIDE_OFFSET_READ_AGAIN] = TIDE_N_LEFT_OUT,
    [TIDE_OFFSET_OTHER_TABLES] = TIDE_N_LEFT_OUT,    [TIDE_OFFSET_NOT_REWOUND] = TIDE_N_LEFT_OUT,
};
G_STATIC_ASSERT(G_N_ELEMENTS(left_out_by) == TIDE_OFFSET_N_EVENTS);

static void
note_event(TideConsumer *consumer, const TidePartition *partition, const TideOffsetVerdict *verdict)
{
  TideOffsetReport *report = &consumer->offset_reports[verdict->event];
  gint64 n_messages = verdict->to_offset - verdict->from_offset;
  report->n_messages += n_messages;
  if (report->names == NULL)
    report->names = g_string_new(NULL);
  if (report->n_partitions++ < MAX_NAMED) {
    g_string_append_printf(report->names, "%s'%s' partition %d at %" G_GINT64_FORMAT,
                           report->names->len > 0 ? ", " : "", partition->topic, partition->partition, verdict->offset);
    if (n_messages > 0)
      g_string_append_printf(report->names, " (%" G_GINT64_FORMAT " to %" G_GINT64_FORMAT ")", verdict->from_offset,
                             verdict->to_offset - 1);
  }
  TideConsumerCounters *counters = &consumer->counters;
  if (left_out_by[verdict->event] < TIDE_N_LEFT_OUT)
    tide_counter_add(counters->left_out[left_out_by[verdict->event]], (guint64)n_messages);
  if (verdict->event == TIDE_OFFSET_DELETED)
    tide_counter_add(counters->messages_lost, (guint64)n_messages);
  if (verdict->event == TIDE_OFFSET_NOT_REWOUND)
    tide_counter_add(counters->not_rewound, (guint64)n_messages);
  if (verdict->event == TIDE_OFFSET_OTHER_TABLES)
    tide_counter_inc(counters->of_other_tables);
  if (verdict->event == TIDE_OFFSET_GONE)
    tide_counter_inc(counters->offsets_gone);
}

/* Logs @event once for all partitions located together. */
static void
log_event(const TideConsumer *consumer, TideOffsetEvent event, const TideOffsetReport *report)
{
  const char *group = consumer->context.config->kafka.group;
  g_autofree char *which = report->n_partitions > MAX_NAMED
                               ? g_strdup_printf("%s and %u more", report->names->str, report->n_partitions - MAX_NAMED)
                               : g_strdup(report->names->str);
  g_autofree char *partitions = tide_count_of(report->n_partitions, "partition", NULL);
  g_autofree char *messages = tide_count_of((guint64)MAX(report->n_messages, 0), "message", NULL);
  switch (event) {
  case TIDE_OFFSET_UNSIGNED:
    tide_log(TIDE_LOG_INFO, "offsets-unsigned",
             "%s resumed at committed offsets that have no note of their committer: %s", partitions, which);
    break;
  case TIDE_OFFSET_BEGINS:
    tide_log(report->n_messages > 0 ? TIDE_LOG_NOTICE : TIDE_LOG_INFO, "offsets-begin",
             "group '%s' has no committed offsets for %s; starting according to kafka.start, skipping %s: %s", group,
             partitions, messages, which);
    break;
  case TIDE_OFFSET_GONE:
    tide_log(TIDE_LOG_WARNING, "offsets-gone",
             "group '%s' has started before but has no committed offsets for %s (offsets expired or deleted, or new "
             "partitions); reading from the oldest message, regardless of kafka.start: %s",
             group, partitions, which);
    break;
  case TIDE_OFFSET_JUMPS:
    tide_log(TIDE_LOG_WARNING, "offsets-jump",
             "%s reassigned with committed offsets after this daemon's last commit, without a note of their committer; "
             "another consumer read %s; unless it was a tidemark, read them again with 'tidemark offsets move': %s",
             partitions, messages, which);
    break;
  case TIDE_OFFSET_GOES_BACK:
    tide_log(TIDE_LOG_WARNING, "offsets-back",
             "%s reassigned with committed offsets before this daemon's last commit; reading %s again: %s", partitions,
             messages, which);
    break;
  case TIDE_OFFSET_DELETED:
    tide_log(TIDE_LOG_CRIT, "offsets-skipped",
             "lost %s of %s, deleted from the topic before being read; continuing at the oldest remaining message "
             "(kafka.on_lost_offsets); raise the topic's retention.ms to prevent this: %s",
             messages, partitions, which);
    break;
  case TIDE_OFFSET_READ_AGAIN:
    tide_log(TIDE_LOG_WARNING, "offset-not-found",
             "a broker did not find offsets that its log contains, in %s; reading these again: %s", partitions, which);
    break;
  case TIDE_OFFSET_OTHER_TABLES:
    tide_log(
        TIDE_LOG_WARNING, "offsets-of-other-tables",
        "%s of group '%s' taken over from a tidemark with other tables, keys or columns (this configuration's mark is "
        "%08x; 'tidemark check' shows each host's); earlier messages were written by that configuration; run all "
        "instances with the same tables, then fill new tables with 'tidemark offsets move --to' or 'tidemark load': %s",
        partitions, group, consumer->commits.tables_mark, which);
    break;
  case TIDE_OFFSET_NOT_REWOUND:
    tide_log(TIDE_LOG_ERROR, "messages-not-rewound",
             "cannot read %s of %s again: deleted from the topic after being written; unanswered calls may have left "
             "older values of the same times, which tidemark cannot correct; check the rows in HBase or have the "
             "senders send them again, and raise the topic's retention.ms: %s",
             messages, partitions, which);
    break;
  case TIDE_OFFSET_PLAIN:
  case TIDE_OFFSET_N_EVENTS:
    break;
  }
}

/* Logs what one lookup of offsets found, one line per event, and frees the texts. */
static void
log_events(TideConsumer *consumer)
{
  for (guint event = 0; event < TIDE_OFFSET_N_EVENTS; event++) {
    TideOffsetReport *report = &consumer->offset_reports[event];
    if (report->n_partitions > 0 && consumer->context.watch != NULL)
      log_event(consumer, event, report);
    if (report->names != NULL)
      g_string_free(report->names, TRUE);
    *report = (TideOffsetReport){0};
  }
}

/* Says why @partition is halted, and which command ends the halt. (transfer full) */
static char *
describe_halt(const TideConsumer *consumer, const TidePartition *partition, const TideOffsetVerdict *verdict,
              const TideInputLog *log)
{
  const TideHaltNote *halt = &verdict->halt;
  g_autofree char *why = NULL;
  if (verdict->is_noted || halt->cause == TIDE_HALT_RECREATED)
    why = g_strdup_printf("the next offset was %" G_GINT64_FORMAT "; %s", halt->offset,
                          tide_halt_kinds[halt->cause].text);
  else if (halt->cause == TIDE_HALT_DELETED)
    why = g_strdup_printf("messages %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT " were deleted before they were read",
                          verdict->from_offset, verdict->to_offset - 1);
  else if (halt->cause == TIDE_HALT_BEYOND_END)
    why = g_strdup_printf("the next offset is %" G_GINT64_FORMAT ", but the partition ends at %" G_GINT64_FORMAT
                          ": the topic was recreated, or lost its newest messages",
                          halt->offset, log->end_offset);
  else {
    g_auto(TideKafkaSeen) seen = tide_kafka_watch_seen(consumer->context.watch);
    why = g_strdup_printf(
        "a consumer that is not tidemark was in the group%s%s, and the committed offset moved from %" G_GINT64_FORMAT
        " to %" G_GINT64_FORMAT "; the messages between may not be written",
        seen.strangers != NULL ? ": " : "", seen.strangers != NULL ? seen.strangers : "", verdict->from_offset,
        verdict->to_offset);
  }
  return g_strdup_printf("topic '%s' partition %d is halted: %s; stop the daemons of group '%s', run 'tidemark offsets "
                         "move --to past-halt %s:%d' to continue at %" G_GINT64_FORMAT ", then start them again%s",
                         partition->topic, partition->partition, why, consumer->context.config->kafka.group,
                         partition->topic, partition->partition, tide_halt_past(halt, log->begin_offset),
                         tide_halt_kinds[halt->cause].prevention);
}

static TideOffsetVerdict
judge(const TideConsumer *consumer, const TidePartition *partition, const TideInputLog *log, const TideCommitNote *note)
{
  const TideConsumerContext *context = &consumer->context;
  TideOwnCommit own = tide_group_memory_find(context->memory, partition->topic, partition->partition);
  g_auto(TideKafkaSeen) seen = tide_kafka_watch_seen(context->watch);
  TideOffsetFacts facts = {
      .log = log,
      .note = note,
      .own_offset = log->wanted_offset >= 0 ? partition->commit.offset : own.offset,
      .own_reached_offset = own.reached_offset,
      .was_stranger_seen = own.offset >= 0 && seen.stranger_seen_us >= own.released_us - TIDE_GROUP_LOOK_US,
      .was_group_started = context->config->kafka.start != TIDE_START_TIME &&
                           tide_group_memory_was_started(context->memory, log->cluster_id),
      .was_log_replaced = partition->location.was_replaced,
      .continues_after_deletion = context->config->kafka.on_lost_offsets == TIDE_LOST_OFFSETS_CONTINUE,
      .beyond_end_us = partition->location.beyond_end_us};
  return tide_offset_judge(&facts, tide_now_us());
}

/* Reports if @partition was committed by an instance with other tables. Offsets that this process wrote are
 * excluded. */
static void
note_other_tables(TideConsumer *consumer, const TidePartition *partition, const TideInputLog *log,
                  const TideCommitNote *note)
{
  if (note->tables_mark == 0 || note->tables_mark == consumer->commits.tables_mark)
    return;
  TideOwnCommit own = tide_group_memory_find(consumer->context.memory, partition->topic, partition->partition);
  gint64 to_offset = MAX(log->committed_offset, 0);
  TideOffsetVerdict verdict = {.event = TIDE_OFFSET_OTHER_TABLES,
                               .offset = to_offset,
                               .from_offset = MIN(MAX(own.offset, MAX(log->begin_offset, 0)), to_offset),
                               .to_offset = to_offset};
  note_event(consumer, partition, &verdict);
}

/* Messages acknowledged before a rewind and deleted since are not lost, but they cannot be written again. Returns the
 * offset to continue at. */
static gint64
pass_deleted(TideConsumer *consumer, const TidePartition *partition, const TideInputLog *log, gint64 wanted_offset)
{
  gint64 offset = MIN(log->begin_offset, partition->rewind.acked_to_offset);
  if (offset <= wanted_offset)
    return wanted_offset;
  TideOffsetVerdict verdict = {
      .event = TIDE_OFFSET_NOT_REWOUND, .offset = offset, .from_offset = wanted_offset, .to_offset = offset};
  note_event(consumer, partition, &verdict);
  return offset;
}

/* Returns the offset at which to continue after a fetch from @offset failed. A fetch from before a rewind is limited to
 * the rewind's offset, so that no message is passed over. */
static gint64
bound_by_rewind(const TidePartition *partition, gint64 offset)
{
  const TideTrackedMessage *newest = tide_offsets_newest(&partition->offsets);
  gint64 next_offset = newest != NULL                 ? newest->offset + 1
                       : partition->offsets.mark >= 0 ? partition->offsets.mark
                                                      : partition->commit.start_offset;
  return tide_rewind_is_reread(&partition->rewind, next_offset) ? MIN(offset, next_offset) : offset;
}

static gint64
on_located(guint32 slot, const TideInputLog *log, gpointer data)
{
  TideConsumer *consumer = data;
  TidePartition *partition = tide_consumer_partition(consumer, slot);
  gboolean was_reading = log->wanted_offset >= 0;
  TideCommitNote note;
  gboolean is_noted = tide_commit_note_parse(log->note, &note);
  /* A fetch begins after the last message. Transaction markers that follow it count as finished and may be deleted. */
  TideInputLog wanted = *log;
  if (was_reading)
    wanted.wanted_offset = MAX(bound_by_rewind(partition, log->wanted_offset), partition->offsets.mark);
  if (was_reading)
    wanted.wanted_offset = pass_deleted(consumer, partition, log, wanted.wanted_offset);
  TideOffsetVerdict verdict = judge(consumer, partition, &wanted, is_noted ? &note : NULL);
  if (verdict.event == TIDE_OFFSET_READ_AGAIN && wanted.wanted_offset != log->wanted_offset)
    verdict.event = TIDE_OFFSET_PLAIN;
  if (verdict.offset == TIDE_INPUT_ASK_AGAIN) {
    if (partition->location.beyond_end_us == 0)
      partition->location.beyond_end_us = tide_now_us();
    partition->location.is_located = FALSE;
    return verdict.offset;
  }
  if (!was_reading && is_noted)
    note_other_tables(consumer, partition, log, &note);
  if (was_reading)
    partition->location = (TidePartitionLocation){.is_located = TRUE};
  else
    tide_consumer_commits_take_over(&consumer->commits, partition, log, is_noted ? &note : NULL,
                                    verdict.offset >= 0 ? verdict.offset : log->begin_offset);
  /* The end of a file is unknown: the first end that is reached counts. */
  if (consumer->context.until_end && !was_reading)
    partition->end.wanted_offset = MAX(log->end_offset, 0);
  if (verdict.offset != TIDE_INPUT_HALTED) {
    note_event(consumer, partition, &verdict);
    tide_group_memory_note_started(consumer->context.memory, log->cluster_id);
    return verdict.offset;
  }
  guint64 n_left_out = (guint64)(verdict.to_offset - verdict.from_offset);
  if (verdict.halt.cause == TIDE_HALT_DELETED)
    tide_counter_add(consumer->counters.messages_lost, n_left_out);
  tide_counter_add(consumer->counters
                       .left_out[verdict.halt.cause == TIDE_HALT_TAKEN ? TIDE_LEFT_OUT_TAKEN : TIDE_LEFT_OUT_RETENTION],
                   n_left_out);
  if (!verdict.is_noted)
    tide_counter_inc(consumer->counters.out_of_range);
  tide_partition_halt_by_offset(partition, &verdict.halt, log->begin_offset);
  consumer->commits.marks_moved = TRUE;
  consumer->commits.noted_us = 0; /* now, since a killed process forgets the takeover */
  tide_pauses_halt_partition(&consumer->pauses, partition, describe_halt(consumer, partition, &verdict, log));
  return verdict.offset;
}

static void
on_unlocated(guint n_slots, const char *why, gpointer data)
{
  TideConsumer *consumer = data;
  guint64 suppressed;
  guint n_before = atomic_exchange_explicit(&consumer->status.unlocated, n_slots, memory_order_relaxed);
  log_events(consumer);
  if (n_before > 0 && n_slots == 0)
    tide_consumer_status_publish_trouble(&consumer->status, NULL);
  if (why == NULL)
    return;
  tide_consumer_status_publish_trouble(&consumer->status, why);
  g_autofree char *partitions = tide_count_of(n_slots, "partition", NULL);
  if (tide_log_limit_pass(&consumer->log_limits.unlocated, tide_now_us(), TROUBLE_LOG_US, &suppressed))
    tide_log(TIDE_LOG_WARNING, "committed-unknown",
             "cannot look up the committed offsets of %s of group '%s': %s; retrying; these partitions are not read "
             "meanwhile%s",
             partitions, consumer->context.config->kafka.group, why, tide_log_suppressed(suppressed, "lookups").text);
}

void
tide_consumer_locate_replaced(TideConsumer *consumer)
{
  for (guint i = 0; i < consumer->partitions->len; i++) {
    TidePartition *partition = tide_consumer_partition(consumer, i);
    if (!partition->assigned || !partition->location.was_replaced || !partition->location.is_located ||
        partition->halt.text != NULL)
      continue;
    gint64 position = tide_partition_position(partition);
    partition->location.is_located = FALSE;
    tide_input_locate(consumer->input, partition->slot, MAX(position, 0));
  }
}

/* ---- assignment and revocation ---- */

static void
on_taking(const guint32 *slots, gsize n_slots, gpointer data)
{
  TideConsumer *consumer = data;
  tide_pauses_lift(&consumer->pauses, slots, n_slots);
  tide_consumer_commits_open(&consumer->commits, slots, n_slots);
  atomic_store_explicit(&consumer->status.last_round_us, tide_now_us(), memory_order_relaxed);
}

/* Without a commit the next owner would trust the previous owner's note, which does not cover what this one sends. */
static void
log_unannounced(const TideConsumer *consumer, guint n, const char *names)
{
  g_autofree char *partitions = tide_count_of(n, "partition", NULL);
  tide_log(TIDE_LOG_WARNING, "takeover-not-committed",
           "group '%s' has not committed the takeover of %s (see 'commit-failed' for the cause); not reading them "
           "until it has, so that no later owner leaves older values; retrying every few seconds: %s%s",
           consumer->context.config->kafka.group, partitions, names, n > MAX_NAMED ? " and more" : "");
}

static void
on_taken(const guint32 *slots, gsize n_slots, gpointer data)
{
  TideConsumer *consumer = data;
  g_autoptr(GString) names = g_string_new(NULL);
  guint n_unannounced = 0;
  for (gsize i = 0; i < n_slots; i++) {
    TidePartition *partition = tide_consumer_partition(consumer, slots[i]);
    partition->commit.is_unannounced = partition->commit.needs_opening && partition->offsets.mark < 0; /* just begun */
    if (partition->commit.is_unannounced && n_unannounced++ < MAX_NAMED)
      g_string_append_printf(names, "%s'%s' partition %d", n_unannounced > 1 ? ", " : "", partition->topic,
                             partition->partition);
  }
  tide_pauses_apply_assigned(&consumer->pauses); /* after the assignment, which would undo it */
  if (n_unannounced > 0)
    log_unannounced(consumer, n_unannounced, names->str);
}

static void
on_assignment_done(gpointer data)
{
  TideConsumer *consumer = data;
  tide_counter_inc(consumer->counters.rebalances_assigned);
  consumer->commit_lost = FALSE; /* the partitions' new owners have read them again */
  atomic_store_explicit(&consumer->status.had_assignment, TRUE, memory_order_relaxed);
  atomic_store_explicit(&consumer->status.denied, FALSE, memory_order_relaxed);
  atomic_store_explicit(&consumer->status.refused, FALSE, memory_order_relaxed);
  if (atomic_load_explicit(&consumer->status.unlocated, memory_order_relaxed) == 0)
    tide_consumer_status_publish_trouble(&consumer->status, NULL);
  tide_consumer_status_publish_assigned(&consumer->status, consumer->partitions);
  tide_consumer_status_publish_halted(&consumer->status, consumer->partitions);
  guint assigned = atomic_load_explicit(&consumer->status.assigned, memory_order_relaxed);
  g_autofree char *partitions = tide_count_of(assigned, "partition", NULL);
  tide_log(TIDE_LOG_NOTICE, "assigned", "assigned: %s", partitions);
}

static gboolean
any_has_work(const TideConsumer *consumer, const guint32 *slots, gsize n_slots)
{
  for (gsize i = 0; i < n_slots; i++)
    if (tide_consumer_has_work(consumer, slots[i]))
      return TRUE;
  return FALSE;
}

/* Sends every row that may be sent and waits for the answers. The thread does not poll meanwhile; librdkafka's
 * heartbeats continue. */
static void
drain_partitions(TideConsumer *consumer, const guint32 *slots, gsize n_slots, gint64 deadline_us)
{
  while (any_has_work(consumer, slots, n_slots) && !tide_consumer_dead_letters_block_progress(consumer)) {
    gint64 now_us = tide_now_us();
    atomic_store_explicit(&consumer->status.last_round_us, now_us, memory_order_relaxed);
    if (now_us >= deadline_us)
      return;
    tide_accumulator_tick(consumer->accumulator, TIDE_PRESSURE_FLUSH, 0, now_us);
    tide_consumer_take_completed(consumer, MIN(deadline_us, now_us + 100 * TIDE_US_PER_MS));
  }
}

/* The drain must end before the group times out. Heartbeats continue, but the other members wait for this one, and a
 * broker considers a member gone that does not poll. Half of each timeout leaves room for the commit and for
 * rejoining. */
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
on_revoking(const guint32 *slots, gsize n_slots, gboolean lost, gpointer data)
{
  TideConsumer *consumer = data;
  if (lost) {
    tide_counter_inc(consumer->counters.rebalances_lost);
    g_autofree char *partitions = tide_count_of(n_slots, "partition", NULL);
    tide_log(TIDE_LOG_WARNING, "partitions-lost",
             "lost %s without a commit: the next owner reads uncommitted messages again", partitions);
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
      atomic_store_explicit(&consumer->status.work_remains, TRUE, memory_order_relaxed);
  }
  tide_pauses_lift(&consumer->pauses, slots, n_slots);
}

/* Cancels rows of revoked partitions, unless a call is in flight with them. The new owner writes newer values, which a
 * late call would overwrite. */
static void
cancel_rows(TideConsumer *consumer)
{
  g_autoptr(GHashTable) kept = g_hash_table_new(NULL, NULL);
  g_autoptr(GHashTable) cancelled = g_hash_table_new(NULL, NULL);
  GHashTableIter iter;
  gpointer number, data;
  g_hash_table_iter_init(&iter, consumer->assignments.partitions);
  while (g_hash_table_iter_next(&iter, &number, &data))
    if (((TidePartition *)data)->assigned)
      g_hash_table_add(kept, number);
  tide_accumulator_cancel(consumer->accumulator, kept, cancelled);
  gint64 now_us = tide_now_us();
  g_hash_table_iter_init(&iter, cancelled);
  while (g_hash_table_iter_next(&iter, &number, NULL)) {
    TideSourceRef ref = {.assignment = GPOINTER_TO_UINT(number)};
    TidePartition *partition = tide_assignments_find_owner(&consumer->assignments, ref);
    if (partition != NULL)
      tide_rewind_ask(partition, TIDE_REWIND_CANCELLED, now_us);
  }
}

static void
on_revoked(const guint32 *slots, gsize n_slots, gpointer data)
{
  TideConsumer *consumer = data;
  guint32 unfinished = 0;
  gboolean has_work = any_has_work(consumer, slots, n_slots);
  for (gsize i = 0; i < n_slots; i++) {
    TidePartition *partition = tide_consumer_partition(consumer, slots[i]);
    unfinished += partition->offsets.unfinished;
    tide_group_memory_release(
        consumer->context.memory, partition->topic, partition->partition,
        (TideOwnCommit){.offset = partition->commit.offset,
                        .reached_offset = MAX(partition->offsets.mark, partition->commit.start_offset),
                        .released_us = tide_now_us()});
    tide_partition_release(partition, consumer->context.budget);
  }
  cancel_rows(consumer);
  consumer->commits.noted_us = tide_now_us(); /* renew the notes of kept partitions, but after the rebalance */
  /* A stop that looks for work later would miss it. */
  if (has_work && atomic_load_explicit(&consumer->stopping, memory_order_acquire))
    atomic_store_explicit(&consumer->status.work_remains, TRUE, memory_order_relaxed);
  tide_consumer_status_publish_assigned(&consumer->status, consumer->partitions);
  tide_consumer_status_publish_halted(&consumer->status, consumer->partitions);
  g_autofree char *partitions = tide_count_of(n_slots, "partition", NULL);
  g_autofree char *messages = tide_count_of(unfinished, "message", NULL);
  tide_log(TIDE_LOG_NOTICE, "revoked", "revoked: %s, %s handed back unfinished", partitions, messages);
}

static void
on_reached_end(guint32 slot, gint64 offset, gpointer data)
{
  TideConsumer *consumer = data;
  TidePartition *partition = tide_consumer_partition(consumer, slot);
  if (partition->awaited.is_awaited || partition->rewind.is_due)
    return; /* earlier messages are being read again */
  /* During a stop, messages are dropped before they are begun. */
  if (consumer->context.watch != NULL && !atomic_load_explicit(&consumer->stopping, memory_order_acquire)) {
    tide_partition_reach_end(partition, offset);
    consumer->commits.marks_moved |= tide_partition_has_moved(partition);
  }
  partition->end.seen_offset = offset;
  if (partition->end.wanted_offset >= 0 && offset >= partition->end.wanted_offset)
    partition->end.is_reached = TRUE;
}

/* ---- failures ---- */

static void
halt_at_damage(TideConsumer *consumer, TidePartition *partition, const TideInputReport *report)
{
  tide_counter_inc(consumer->counters.damaged);
  partition->halt.is_damaged = TRUE;
  tide_pauses_halt_at_message(
      &consumer->pauses, partition, MAX(report->offset, tide_partition_position(partition)),
      g_strdup_printf("topic '%s' partition %d is halted: %s; restart the daemon to fetch the data again; if that "
                      "fails, the broker's copy is damaged: stop the daemons of group '%s', run 'tidemark offsets move "
                      "--to past-halt %s:%d' to skip it, then start them again",
                      partition->topic, partition->partition, report->text, consumer->context.config->kafka.group,
                      partition->topic, partition->partition));
}

/* Logs a failure that librdkafka retries. */
static void
log_trouble(TideConsumer *consumer, const TideInputReport *report)
{
  TideLogLevel level = report->kind == TIDE_INPUT_TROUBLE_MISSING || report->kind == TIDE_INPUT_TROUBLE_DENIED ||
                               report->kind == TIDE_INPUT_TROUBLE_POLL
                           ? TIDE_LOG_ERROR
                           : TIDE_LOG_WARNING;
  guint64 suppressed = 0;
  if (level == TIDE_LOG_WARNING &&
      !tide_log_limit_pass(&consumer->log_limits.trouble, tide_now_us(), TROUBLE_LOG_US, &suppressed))
    return;
  const char *next = report->kind == TIDE_INPUT_TROUBLE_POLL ? "rejoining the group; messages in flight are read again"
                     : report->kind == TIDE_INPUT_TROUBLE_MISSING ? "checking again"
                     : report->kind == TIDE_INPUT_TROUBLE_FULL    ? "retrying"
                                                                  : "retrying; no offset moves meanwhile";
  const TidePartition *partition =
      report->slot != TIDE_INPUT_NO_SLOT ? tide_consumer_partition(consumer, report->slot) : NULL;
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
  case TIDE_INPUT_TROUBLE_DAMAGED:
    if (report->slot != TIDE_INPUT_NO_SLOT)
      halt_at_damage(consumer, tide_consumer_partition(consumer, report->slot), report);
    return;
  case TIDE_INPUT_TROUBLE_FATAL:
    tide_log(TIDE_LOG_CRIT, "kafka-cannot-go-on", "the Kafka client failed permanently: %s; exiting", report->text);
    atomic_store_explicit(&consumer->status.fatal, TRUE, memory_order_release);
    return;
  case TIDE_INPUT_TROUBLE_DENIED:
    atomic_store_explicit(&consumer->status.denied, TRUE, memory_order_relaxed);
    break;
  case TIDE_INPUT_TROUBLE_FULL:
    atomic_store_explicit(&consumer->status.refused, TRUE, memory_order_relaxed);
    break;
  case TIDE_INPUT_TROUBLE_MISSING:
  case TIDE_INPUT_TROUBLE_POLL:
  case TIDE_INPUT_TROUBLE_PARTITION:
  case TIDE_INPUT_TROUBLE_CLIENT:
    break;
  }
  /* The pipeline reports a missing topic once for all consumers, with its remedy. */
  if (report->kind != TIDE_INPUT_TROUBLE_MISSING || report->slot != TIDE_INPUT_NO_SLOT)
    log_trouble(consumer, report);
  tide_consumer_status_publish_trouble(&consumer->status, report->text);
}

static void
log_resumed(const TidePartition *partition)
{
  tide_log_fields(TIDE_LOG_NOTICE, "partition-resumed",
                  TIDE_LOG_FIELDS({"TOPIC", partition->topic},
                                  {"PARTITION", tide_log_number(partition->partition).text},
                                  {"SOURCE", partition->source}),
                  "topic '%s' partition %d is readable again", partition->topic, partition->partition);
}

static void
on_recovered(guint32 slot, gpointer data)
{
  TideConsumer *consumer = data;
  atomic_store_explicit(&consumer->status.denied, FALSE, memory_order_relaxed);
  tide_consumer_status_publish_trouble(&consumer->status, NULL);
  log_resumed(tide_consumer_partition(consumer, slot));
}

static void
on_committed(guint32 slot, gint64 offset, gboolean good, gpointer data)
{
  TideConsumer *consumer = data;
  TidePartition *partition = tide_consumer_partition(consumer, slot);
  if (!partition->assigned)
    return;
  gboolean was_unannounced = partition->commit.is_unannounced;
  tide_consumer_commits_answered(&consumer->commits, partition, offset, good);
  if (was_unannounced && !partition->commit.is_unannounced) {
    tide_pauses_set(&consumer->pauses, partition, TIDE_PAUSE_COMMIT, FALSE);
    log_resumed(partition);
  }
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
                             .located = on_located,
                             .unlocated = on_unlocated,
                             .taken = on_taken,
                             .assignment_done = on_assignment_done,
                             .revoking = on_revoking,
                             .revoked = on_revoked,
                             .reached_end = on_reached_end,
                             .recovered = on_recovered,
                             .trouble = on_trouble,
                             .commit_failed = on_commit_failed};
}
