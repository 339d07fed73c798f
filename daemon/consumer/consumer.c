/* Life cycle and main loop of a consumer: poll, take in, seal, collect completions. Its components are in intake.h,
 * consumer_dead_letters.h, pauses.h, consumer_commits.h and consumer_status.h; consumer_assignment.c handles
 * rebalances. */
#include "consumer/consumer_private.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/log.h"
#include "util/units.h"

/* Messages per round, between two checks for completed batches and lane ticks. At full speed both then run well below a
 * millisecond apart. */
#define MESSAGES_A_ROUND 512u

/* The longest poll when nothing is due. It limits how old the watchdog's time and the gauges can be. */
#define MAX_POLL_MS 500

#define SHOW_INTERVAL_US TIDE_US_PER_S

/* Time for batches to return memory to a spent budget, while the partitions must not pause again yet. */
#define UNPAUSED_WAIT_US (50 * TIDE_US_PER_MS)

/* Minimum time for the last commit, even if the drain used up the deadline. The pipeline waits longer than this after
 * the deadline. */
#define LAST_COMMIT_US (2 * TIDE_US_PER_S)

/* ---- completions ---- */

static void
mark_sources(TideConsumer *consumer, const TideBatch *batch)
{
  if (G_UNLIKELY(batch->delivery.poison.len > 0)) {
    tide_consumer_dead_letters_take_refused(&consumer->letters, batch);
    return;
  }
  gsize n_sources;
  const TideBatchSource *sources = tide_batch_sources(batch, &n_sources);
  TidePartition *partition = NULL;
  for (gsize i = 0; i < n_sources; i++) {
    if (i == 0 || sources[i].ref.assignment != sources[i - 1].ref.assignment)
      partition = tide_assignments_find_owner(&consumer->assignments, sources[i].ref);
    if (partition != NULL)
      tide_partition_ack(partition, sources[i].ref, 1);
  }
}

gboolean
tide_consumer_take_completed(TideConsumer *consumer, gint64 deadline_us)
{
  consumer->write_latency.now_epoch_ms = tide_wall_clock_epoch_ms();
  gboolean any_dead_letters = tide_consumer_dead_letters_take_completed(&consumer->letters);
  TideBatch *batch = tide_completion_queue_take(&consumer->completions, any_dead_letters ? 0 : deadline_us);
  if (batch == NULL && !any_dead_letters)
    return FALSE;
  gint64 now_us = tide_now_us();
  consumer->write_latency.now_epoch_ms = tide_wall_clock_epoch_ms();
  for (TideBatch *next; batch != NULL; batch = next) {
    next = batch->next;
    if (next != NULL) {
      tide_prefetch(next->next, sizeof *next);
      tide_accumulator_prefetch(next);
    }
    g_autofree TideDoubt *inherited = tide_rewind_inherited_by_row(&consumer->assignments, batch);
    TideJudgement judgement = tide_accumulator_judge(consumer->accumulator, batch, inherited, now_us);
    tide_rewind_take_judgement(&consumer->assignments, batch, &judgement, now_us);
    if (!tide_batch_is_cancelled(batch)) {
      tide_batch_metrics_note_completed(&consumer->batch_metrics, batch, now_us);
      mark_sources(consumer, batch);
    }
    tide_accumulator_complete(consumer->accumulator, batch, now_us);
  }
  consumer->commits.marks_moved = TRUE;
  tide_pauses_apply_spans(&consumer->pauses);
  return TRUE;
}

gboolean
tide_consumer_dead_letters_block_progress(TideConsumer *consumer)
{
  /* Order matters: ask the queue first, then drain completions posted before its answer. */
  return tide_dead_letter_queue_keeps_no_more(consumer->context.dead_letters) &&
         !tide_consumer_take_completed(consumer, 0) && tide_accumulator_is_empty(consumer->accumulator);
}

static void
show(TideConsumer *consumer)
{
  tide_consumer_status_show(&consumer->status, consumer->partitions, tide_accumulator_oldest_us(consumer->accumulator));
}

/* If no row is in flight, the unfinished messages wait for a dead letter. */
static gboolean
is_read_to_end(const TideConsumer *consumer)
{
  for (guint i = 0; i < consumer->partitions->len; i++) {
    const TidePartition *partition = tide_consumer_partition(consumer, i);
    gboolean is_unfinished = partition->offsets.unfinished > 0 || tide_rewind_is_pending(&partition->rewind) ||
                             partition->awaited.is_awaited || (partition->assigned && !partition->end.is_reached);
    if (is_unfinished && partition->halt.text == NULL)
      return FALSE;
  }
  return TRUE;
}

static gboolean
reads_on(const TideConsumer *consumer)
{
  for (guint i = 0; i < consumer->partitions->len; i++) {
    const TidePartition *partition = tide_consumer_partition(consumer, i);
    if (partition->assigned && !partition->end.is_reached && partition->halt.text == NULL &&
        partition->pauses.reasons == 0)
      return TRUE;
  }
  return FALSE;
}

void
tide_consumer_update_finished(TideConsumer *consumer)
{
  if (!consumer->context.until_end || !atomic_load_explicit(&consumer->status.had_assignment, memory_order_relaxed))
    return;
  /* A reload may raise the dead-letter limit. Until then no dead letter is kept and no message is read. */
  gboolean is_finished = tide_accumulator_is_empty(consumer->accumulator) &&
                         (is_read_to_end(consumer) || (consumer->pauses.dead_letters_paused &&
                                                       tide_consumer_dead_letters_block_progress(consumer)));
  if (is_finished)
    show(consumer);
  atomic_store_explicit(&consumer->status.end.reads_on, reads_on(consumer), memory_order_relaxed);
  atomic_store_explicit(&consumer->status.end.finished, is_finished, memory_order_release);
}

static void
wake(gpointer data)
{
  TideConsumer *consumer = data;
  tide_input_wake(consumer->input);
}

/* ---- the thread ---- */

void
tide_consumer_handle_message(TideConsumer *consumer, const TideInputRecord *record, gint64 now_us)
{
  TidePartition *partition = tide_consumer_partition(consumer, record->slot);
  consumer->commits.marks_moved |= tide_intake_take(&consumer->intake, partition, &record->message, now_us);
}

/* Handles the messages that are available. Returns their number; at MESSAGES_A_ROUND there may be more. */
static guint32
take_messages(TideConsumer *consumer, int timeout_ms)
{
  if (G_UNLIKELY(tide_pauses_must_wait(&consumer->pauses))) {
    /* Memory or the span is spent, and it is too early to pause. A second or two without a poll does no harm. */
    gint64 since_us = tide_now_us();
    gboolean is_for_memory = tide_pauses_wait_for_memory(&consumer->pauses);
    tide_consumer_take_completed(consumer, since_us + UNPAUSED_WAIT_US);
    if (is_for_memory)
      tide_consumer_status_note_held(&consumer->status, tide_now_us() - since_us);
    return 0;
  }
  TideInputRecord record;
  gint64 now_us = 0;
  guint32 n = 0;
  while (n < MESSAGES_A_ROUND && tide_input_poll(consumer->input, n == 0 ? timeout_ms : 0, &record)) {
    if (n++ == 0) {
      now_us = tide_now_us();
      gint64 now_epoch_ms = tide_wall_clock_epoch_ms();
      tide_mapping_set_now(consumer->intake.mapping, now_epoch_ms);
      tide_batch_metrics_note_polled(&consumer->batch_metrics, record.message.timestamp_ms, now_epoch_ms);
    }
    tide_consumer_handle_message(consumer, &record, now_us);
    if (n == 1)
      tide_batch_metrics_note_event(&consumer->batch_metrics, consumer->intake.event_ms, record.message.timestamp_ms);
    tide_input_release(consumer->input, &record);
    if (tide_budget_is_spent_racy(consumer->context.budget) || consumer->pauses.span_waits || consumer->pauses.is_held)
      break;
  }
  return n;
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
    atomic_store_explicit(&consumer->status.last_round_us, now_us, memory_order_relaxed);
    tide_consumer_take_completed(consumer, 0);
    tide_pauses_apply_backpressure(&consumer->pauses, now_us);
    tide_pauses_apply_holds(&consumer->pauses, now_us);
    tide_pauses_check_dead_letters(&consumer->pauses,
                                   tide_dead_letter_queue_is_stalled_racy(consumer->context.dead_letters), now_us);
    tide_pauses_check_operator(&consumer->pauses);
    more = take_messages(consumer, more ? 0 : poll_timeout_ms(due_us, now_us)) == MESSAGES_A_ROUND &&
           !tide_budget_is_spent_racy(consumer->context.budget);
    tide_consumer_dead_letters_note_messages(&consumer->letters);
    tide_consumer_take_completed(consumer, 0);
    TidePressure pressure = consumer->pauses.memory_paused ? TIDE_PRESSURE_FLUSH
                            : more                         ? TIDE_PRESSURE_NONE
                                                           : TIDE_PRESSURE_IDLE;
    now_us = tide_now_us();
    if (tide_consumer_commits_due_us(&consumer->commits) <= now_us)
      tide_consumer_commits_store_marks(&consumer->commits);
    due_us = MIN(tide_accumulator_tick(consumer->accumulator, pressure,
                                       tide_intake_late_us(&consumer->intake, tide_wall_clock_epoch_ms()), now_us),
                 tide_consumer_commits_due_us(&consumer->commits));
    if (now_us - consumer->status.shown.at_us >= SHOW_INTERVAL_US) {
      show(consumer);
      tide_consumer_locate_replaced(consumer);
      tide_consumer_commits_renew(&consumer->commits, now_us);
      tide_rewinds_run(&consumer->rewinds, now_us);
    }
    tide_consumer_update_finished(consumer);
  }
}

static gboolean
has_work(const TideConsumer *consumer)
{
  for (guint i = 0; i < consumer->partitions->len; i++)
    if (tide_consumer_has_work(consumer, i))
      return TRUE;
  return FALSE;
}

/* Keeps the group membership alive. Messages prefetched before the pause are dropped without being begun; they are read
 * again later. */
static void
poll_without_reading(TideConsumer *consumer, int timeout_ms)
{
  TideInputRecord record;
  if (tide_input_poll(consumer->input, timeout_ms, &record))
    tide_input_release(consumer->input, &record);
}

/* A group does not accept commits during a rebalance: polls until it does, or until the deadline. */
static gboolean
commit_at_last(TideConsumer *consumer, gint64 deadline_us)
{
  g_autofree guint32 *slots = g_new(guint32, MAX(consumer->partitions->len, 1));
  for (guint i = 0; i < consumer->partitions->len; i++)
    slots[i] = i;
  while (!tide_consumer_commits_close(&consumer->commits, slots, consumer->partitions->len, deadline_us)) {
    gint64 now_us = tide_now_us();
    if (now_us >= deadline_us)
      return tide_consumer_commits_are_done(&consumer->commits, slots, consumer->partitions->len);
    atomic_store_explicit(&consumer->status.last_round_us, now_us, memory_order_relaxed);
    poll_without_reading(consumer, 100);
  }
  return TRUE;
}

static void
report_unfinished(TideConsumer *consumer)
{
  guint64 unfinished = 0, n_held = 0;
  for (guint i = 0; i < consumer->partitions->len; i++) {
    const TidePartition *partition = tide_consumer_partition(consumer, i);
    const TideHeldMessage *held = tide_rewind_first_held(&partition->rewind);
    gint32 n_behind = held != NULL ? (gint32)(partition->offsets.head - held->sequence) : 0;
    n_held += (guint64)MAX(n_behind, 0); /* negative during a rewind */
    /* Messages that halt their partition are unfinished by decision and do not count. */
    if (partition->halt.text == NULL || tide_partition_is_unfinished(partition))
      unfinished += partition->offsets.unfinished;
  }
  if (unfinished == 0 && n_held > 0) {
    g_autofree char *messages = tide_count_of(n_held, "message", NULL);
    tide_log(TIDE_LOG_NOTICE, "stopping-before-settled",
             "stopping before hbase.uncertain_timeout has passed, with %s written but not committed; the next start "
             "writes %s again",
             messages, n_held == 1 ? "it" : "them");
  }
  atomic_store_explicit(&consumer->status.remaining_held, n_held, memory_order_relaxed);
  if (unfinished == 0)
    return;
  atomic_store_explicit(&consumer->status.work_remains, TRUE, memory_order_relaxed);
  g_autofree char *messages = tide_count_of(unfinished, "message", NULL);
  if (consumer->context.watch != NULL)
    tide_log(TIDE_LOG_WARNING, "stopping-unfinished",
             "stopping with %s unfinished and not committed; the next start continues from there", messages);
  else
    tide_log(TIDE_LOG_WARNING, "stopping-unfinished",
             "stopping with %s unfinished; run the same command again to continue from there", messages);
}

/* Stops fetching but keeps polling for the group, until every row is acknowledged or the deadline passes. */
static void
drain(TideConsumer *consumer)
{
  gint64 deadline_us = atomic_load_explicit(&consumer->stop_deadline_us, memory_order_acquire);
  for (guint i = 0; i < consumer->partitions->len; i++)
    tide_pauses_set(&consumer->pauses, tide_consumer_partition(consumer, i), TIDE_PAUSE_MEMORY, TRUE);
  while (has_work(consumer) && !tide_consumer_dead_letters_block_progress(consumer) && tide_now_us() < deadline_us) {
    gint64 now_us = tide_now_us();
    atomic_store_explicit(&consumer->status.last_round_us, now_us, memory_order_relaxed);
    tide_accumulator_tick(consumer->accumulator, TIDE_PRESSURE_FLUSH, 0, now_us);
    poll_without_reading(consumer, 20);
    tide_consumer_take_completed(consumer, 0);
  }
  gboolean committed = commit_at_last(consumer, MAX(deadline_us, tide_now_us() + LAST_COMMIT_US));
  if (!committed || consumer->commit_lost)
    atomic_store_explicit(&consumer->status.work_remains, TRUE, memory_order_relaxed);
  report_unfinished(consumer);
}

static void
run_consumer(gpointer data)
{
  TideConsumer *consumer = data;
  run_rounds(consumer);
  drain(consumer);
  tide_intake_report_unlogged(&consumer->intake);
  tide_consumer_dead_letters_report_unlogged(&consumer->letters);
  tide_input_close(consumer->input);
}

/* ---- life ---- */

static void
register_metrics(TideConsumer *consumer)
{
  TideMetrics *metrics = consumer->context.metrics;
  TideConsumerCounters *counters = &consumer->counters;
  const char *name = "tidemark_kafka_rebalances_total", *help = "Rebalances by type";
  counters->rebalances_assigned = tide_metrics_counter(metrics, name, help, "type=\"assigned\"");
  counters->rebalances_revoked = tide_metrics_counter(metrics, name, help, "type=\"revoked\"");
  counters->rebalances_lost = tide_metrics_counter(metrics, name, help, "type=\"lost\"");
  counters->out_of_range = tide_metrics_counter(
      metrics, "tidemark_kafka_offset_out_of_range_total",
      "Committed offsets that were no longer in the topic: messages were lost before they were read", NULL);
  counters->messages_lost = tide_metrics_counter(
      metrics, "tidemark_messages_lost_total",
      "Messages deleted from the topic before they were read: retention is too short for the lag", NULL);
  counters->not_rewound = tide_metrics_counter(metrics, "tidemark_messages_deleted_before_rewind_total",
                                               "Messages deleted from the topic after they were written and before "
                                               "they were read again: unanswered calls may have left older values",
                                               NULL);
  static const char *const left_out[] = {[TIDE_LEFT_OUT_START] = "reason=\"start\"",
                                         [TIDE_LEFT_OUT_RETENTION] = "reason=\"retention\"",
                                         [TIDE_LEFT_OUT_TAKEN] = "reason=\"taken\""};
  G_STATIC_ASSERT(G_N_ELEMENTS(left_out) == TIDE_N_LEFT_OUT);
  for (guint i = 0; i < TIDE_N_LEFT_OUT; i++)
    counters->left_out[i] = tide_metrics_counter(metrics, "tidemark_messages_never_read_total",
                                                 "Messages never read: they are before kafka.start, were deleted by "
                                                 "retention, or were read by another consumer of the group",
                                                 left_out[i]);
  counters->of_other_tables = tide_metrics_counter(
      metrics, "tidemark_kafka_table_mismatch_takeovers_total",
      "Partitions taken over from a tidemark whose configuration has other tables, keys or columns", NULL);
  counters->offsets_gone = tide_metrics_counter(
      metrics, "tidemark_kafka_offsets_gone_total",
      "Partitions read from their oldest message although the group has started before: they have no committed offset",
      NULL);
  counters->damaged = tide_metrics_counter(metrics, "tidemark_kafka_corrupt_fetches_total",
                                           "Fetched data with a wrong checksum or compression", NULL);
}

static void
notify_input(guint32 slot, gboolean pause, gpointer data)
{
  TideConsumer *consumer = data;
  if (pause)
    tide_input_pause(consumer->input, slot);
  else
    tide_input_resume(consumer->input, slot);
}

static void
init_pauses(TideConsumer *consumer)
{
  const TideConsumerContext *context = &consumer->context;
  TidePausesContext pauses = {.partitions = consumer->partitions,
                              .budget = context->budget,
                              .table_budgets = context->table_budgets,
                              .status = &consumer->status,
                              .operator_pauses = context->pause_watch,
                              .metrics = context->metrics,
                              .max_span_messages = context->config->kafka.max_span_messages,
                              .n_consumers = context->config->kafka.threads,
                              .notify = notify_input,
                              .notify_data = consumer};
  tide_pauses_init(&consumer->pauses, &pauses);
}

static void
init_intake(TideConsumer *consumer)
{
  const TideConsumerContext *context = &consumer->context;
  TideIntakeContext intake = {.config = context->config,
                              .protocol = context->protocol,
                              .budget = context->budget,
                              .dated = context->dated,
                              .dead_letters = context->dead_letters,
                              .metrics = context->metrics,
                              .accumulator = consumer->accumulator,
                              .pauses = &consumer->pauses,
                              .letters = &consumer->letters};
  tide_intake_init(&consumer->intake, &intake);
}

static void
init_dead_letters(TideConsumer *consumer)
{
  const TideConsumerContext *context = &consumer->context;
  TideConsumerDeadLettersContext letters = {.partitions = consumer->partitions,
                                            .assignments = &consumer->assignments,
                                            .budget = context->budget,
                                            .dead_letters = context->dead_letters,
                                            .mapping = consumer->intake.mapping,
                                            .accumulator = consumer->accumulator,
                                            .pauses = &consumer->pauses,
                                            .wake = wake,
                                            .wake_data = consumer};
  tide_consumer_dead_letters_init(&consumer->letters, &letters);
}

static void
init_accumulator(TideConsumer *consumer)
{
  const TideConsumerContext *context = &consumer->context;
  TideAccumulatorContext accumulator = {.config = context->config,
                                        .protocol = context->protocol,
                                        .budget = context->budget,
                                        .table_budgets = context->table_budgets,
                                        .doubt_budget = context->doubt_budget,
                                        .lanes = context->lanes,
                                        .regions = context->regions,
                                        .dated = context->dated,
                                        .completions = &consumer->completions,
                                        .metrics = context->metrics};
  consumer->accumulator = tide_accumulator_new(&accumulator);
}

TideConsumer *
tide_consumer_new(const TideConsumerContext *context, guint32 index, GError **error)
{
  TideConsumer *consumer = g_new0(TideConsumer, 1);
  consumer->context = *context;
  consumer->partitions = g_ptr_array_new();
  tide_assignments_init(&consumer->assignments);
  tide_consumer_status_init(&consumer->status, tide_now_us());
  init_pauses(consumer);
  register_metrics(consumer);
  tide_write_latency_init(&consumer->write_latency, context->metrics);
  tide_batch_metrics_init(&consumer->batch_metrics, context->config, context->metrics);
  tide_completion_queue_init(&consumer->completions, wake, consumer);
  init_accumulator(consumer);
  init_intake(consumer);
  init_dead_letters(consumer);
  TideInputHandlers handlers = tide_consumer_input_handlers(consumer);
  consumer->input = context->open_input(index, &handlers, context->input_data, error);
  if (consumer->input == NULL) {
    tide_consumer_free(consumer);
    return NULL;
  }
  TideConsumerCommitsContext commits = {.config = context->config,
                                        .input = consumer->input,
                                        .partitions = consumer->partitions,
                                        .accumulator = consumer->accumulator,
                                        .metrics = context->metrics};
  tide_consumer_commits_init(&consumer->commits, &commits);
  TideRewindsContext rewinds = {.input = consumer->input,
                                .pauses = &consumer->pauses,
                                .settle_us = context->config->hbase.settle_ms * TIDE_US_PER_MS,
                                .until_end = context->until_end};
  tide_rewinds_init(&consumer->rewinds, &rewinds);
  return consumer;
}

TideConsumer *
tide_consumer_start(const TideConsumerContext *context, guint32 index, GError **error)
{
  TideConsumer *consumer = tide_consumer_new(context, index, error);
  if (consumer == NULL)
    return NULL;
  g_autofree char *name = g_strdup_printf("tide-consumer-%u", index);
  consumer->thread = tide_thread_start(name, run_consumer, consumer);
  return consumer;
}

void
tide_consumer_stop(TideConsumer *consumer, gint64 deadline_us)
{
  atomic_store_explicit(&consumer->stop_deadline_us, deadline_us, memory_order_release);
  atomic_store_explicit(&consumer->stopping, TRUE, memory_order_release);
  tide_input_wake(consumer->input);
}

void
tide_consumer_rouse(TideConsumer *consumer)
{
  tide_input_rouse(consumer->input);
}

TideConsumerState
tide_consumer_state_racy(const TideConsumer *consumer)
{
  return tide_consumer_status_read_racy(&consumer->status);
}

char *
tide_consumer_halt_text(TideConsumer *consumer)
{
  return tide_consumer_status_halt_text(&consumer->status);
}

char *
tide_consumer_trouble_text(TideConsumer *consumer)
{
  return tide_consumer_status_trouble_text(&consumer->status);
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
  tide_input_free(consumer->input);
  tide_accumulator_free(consumer->accumulator);
  tide_intake_clear(&consumer->intake);
  tide_completion_queue_clear(&consumer->completions);
  tide_consumer_dead_letters_clear(&consumer->letters);
  for (guint i = 0; i < consumer->partitions->len; i++)
    tide_partition_free(tide_consumer_partition(consumer, i), consumer->context.budget);
  g_ptr_array_unref(consumer->partitions);
  tide_assignments_clear(&consumer->assignments);
  tide_consumer_status_clear(&consumer->status);
  tide_batch_metrics_clear(&consumer->batch_metrics);
  g_free(consumer);
}
