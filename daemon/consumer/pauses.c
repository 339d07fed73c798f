#include "consumer/pauses.h"
#include "util/clock.h"
#include "util/log.h"

/* librdkafka drops prefetched messages at a pause and keeps a little memory of each pause, so a partition changes at
 * most once a second. */
#define PAUSE_INTERVAL_US TIDE_US_PER_S

/* Time without reading while memory is spent, before partitions pause. Nothing is polled meanwhile, so a rebalance
 * waits. If it frees less than a twentieth of the budget, prefetched messages keep the budget spent much longer. */
#define HOLD_US (2 * TIDE_US_PER_S)

/* Minimum time between changes of the pause for dead letters: each pause drops prefetched messages. */
#define HOLD_INTERVAL_US TIDE_US_PER_S

/* Kept dead letters after held offsets may use this fraction of the budget, shared equally by the partitions of all
 * consumers. */
#define KEPT_LETTERS_PART_OF 8u

void
tide_pauses_init(TidePauses *pauses, const TidePausesContext *context)
{
  TideMetrics *metrics = context->metrics;
  *pauses = (TidePauses){.context = *context};
  pauses->n_pauses = tide_metrics_counter(metrics, "tidemark_kafka_pauses_total", "Times a partition was paused", NULL);
  pauses->n_resumes =
      tide_metrics_counter(metrics, "tidemark_kafka_resumes_total", "Times a paused partition resumed", NULL);
  pauses->n_holds = tide_metrics_counter(metrics, "tidemark_kafka_memory_pauses_total",
                                         "Times reading paused briefly because the memory budget was used up", NULL);
  pauses->messages_held = tide_metrics_counter(metrics, "tidemark_messages_halted_total",
                                               "Messages that halted their partition because of on_bad_message: stop, "
                                               "missing storage for dead letters, or too many dated tables",
                                               NULL);
}

/* Tells librdkafka that the partition pauses or resumes, as soon as a change is allowed. */
static void
apply_pause(TidePauses *pauses, TidePartition *partition, gint64 now_us)
{
  gboolean should = partition->pauses.reasons != 0;
  if (!partition->assigned || should == partition->pauses.is_paused)
    return;
  if (now_us - partition->pauses.changed_us < PAUSE_INTERVAL_US) {
    pauses->waits = TRUE;
    return;
  }
  partition->pauses.changed_us = now_us;
  partition->pauses.is_paused = should;
  tide_counter_inc(should ? pauses->n_pauses : pauses->n_resumes);
  pauses->context.notify(partition->slot, should, pauses->context.notify_data);
}

static void
apply_waiting_pauses(TidePauses *pauses, gint64 now_us)
{
  const GPtrArray *partitions = pauses->context.partitions;
  pauses->waits = pauses->span_waits = FALSE;
  for (guint i = 0; i < partitions->len; i++) {
    TidePartition *partition = tide_partition_at(partitions, i);
    apply_pause(pauses, partition, now_us);
    pauses->span_waits |=
        partition->assigned && (partition->pauses.reasons & TIDE_PAUSE_SPAN) != 0 && !partition->pauses.is_paused;
  }
}

void
tide_pauses_set(TidePauses *pauses, TidePartition *partition, TidePauseReason reason, gboolean on)
{
  guint before = partition->pauses.reasons;
  partition->pauses.reasons = on ? before | reason : before & ~(guint)reason;
  if (partition->pauses.reasons != before)
    apply_pause(pauses, partition, tide_now_us());
}

static void
set_all(TidePauses *pauses, TidePauseReason reason, gboolean on)
{
  const GPtrArray *partitions = pauses->context.partitions;
  for (guint i = 0; i < partitions->len; i++)
    tide_pauses_set(pauses, tide_partition_at(partitions, i), reason, on);
}

static void
pause_for_memory(TidePauses *pauses, gboolean should, gint64 now_us)
{
  pauses->memory_paused = should;
  pauses->memory_changed_us = now_us;
  set_all(pauses, TIDE_PAUSE_MEMORY, should);
}

/* Begins or ends a hold for memory. */
static void
hold_for_memory(TidePauses *pauses, gint64 now_us)
{
  if (pauses->memory_held_us == 0) {
    if (!tide_budget_is_spent_racy(pauses->context.budget))
      return;
    pauses->memory_held_us = now_us;
    tide_counter_inc(pauses->n_holds);
  } else if (tide_budget_is_below_racy(pauses->context.budget, TIDE_BUDGET_GO_ON_PERCENT)) {
    pauses->memory_held_us = 0;
  } else if (now_us - pauses->memory_held_us >= HOLD_US) {
    pauses->memory_held_us = 0;
    pause_for_memory(pauses, TRUE, now_us);
  }
}

void
tide_pauses_apply_backpressure(TidePauses *pauses, gint64 now_us)
{
  if (pauses->waits)
    apply_waiting_pauses(pauses, now_us);
  /* Only this returns the memory of written messages. Without it they could fill the budget and stop reading. */
  gboolean is_short = pauses->memory_paused || pauses->memory_held_us != 0;
  for (guint i = 0; is_short && i < pauses->context.partitions->len; i++)
    tide_partition_trim(tide_partition_at(pauses->context.partitions, i), pauses->context.budget);
  if (!pauses->memory_paused)
    hold_for_memory(pauses, now_us);
  else if (tide_budget_has_room_racy(pauses->context.budget) && now_us - pauses->memory_changed_us >= PAUSE_INTERVAL_US)
    pause_for_memory(pauses, FALSE, now_us);
}

static gboolean
any_pauses_for_table(const TidePauses *pauses, guint32 crowded)
{
  for (guint i = 0; i < pauses->context.partitions->len; i++) {
    const TidePartition *partition = tide_partition_at(pauses->context.partitions, i);
    if (partition->pauses.crowded_table == crowded && (partition->pauses.reasons & TIDE_PAUSE_TABLE) != 0)
      return TRUE;
  }
  return FALSE;
}

void
tide_pauses_wait_for_crowded_table(TidePauses *pauses, TidePartition *partition, guint32 crowded, gint64 now_us)
{
  gboolean is_held = partition->pauses.table_held_us != 0;
  partition->pauses.crowded_table = crowded;
  if (is_held || (partition->pauses.reasons & TIDE_PAUSE_TABLE) != 0)
    return;
  if (any_pauses_for_table(pauses, crowded)) { /* the hold did not help */
    tide_pauses_set(pauses, partition, TIDE_PAUSE_TABLE, TRUE);
    return;
  }
  partition->pauses.table_held_us = now_us;
  pauses->is_held = TRUE;
  tide_counter_inc(pauses->n_holds);
}

static void
apply_table(TidePauses *pauses, TidePartition *partition, gint64 now_us)
{
  const TideBudget *table_budget = &pauses->context.table_budgets[partition->pauses.crowded_table - 1];
  gboolean is_held = partition->pauses.table_held_us != 0;
  if (tide_budget_is_below_racy(table_budget, is_held ? TIDE_BUDGET_GO_ON_PERCENT : TIDE_BUDGET_RESUME_PERCENT)) {
    partition->pauses.table_held_us = 0;
    partition->pauses.crowded_table = 0;
    tide_pauses_set(pauses, partition, TIDE_PAUSE_TABLE, FALSE);
  } else if (is_held && now_us - partition->pauses.table_held_us >= HOLD_US) {
    partition->pauses.table_held_us = 0;
    tide_pauses_set(pauses, partition, TIDE_PAUSE_TABLE, TRUE);
  } else
    pauses->is_held |= is_held;
}

void
tide_pauses_apply_holds(TidePauses *pauses, gint64 now_us)
{
  const GPtrArray *partitions = pauses->context.partitions;
  pauses->is_held = FALSE;
  for (guint i = 0; i < partitions->len; i++) {
    TidePartition *partition = tide_partition_at(partitions, i);
    if (partition->pauses.crowded_table != 0)
      apply_table(pauses, partition, now_us);
  }
}

gboolean
tide_pauses_wait_for_memory(const TidePauses *pauses)
{
  if (pauses->memory_held_us != 0 || (pauses->memory_paused && pauses->waits))
    return TRUE;
  for (guint i = 0; pauses->is_held && i < pauses->context.partitions->len; i++)
    if (tide_partition_at(pauses->context.partitions, i)->pauses.table_held_us != 0)
      return TRUE;
  return FALSE;
}

/* Whether the kept dead letters after a held offset use their full share of memory. A commit returns it, after the
 * messages are read again, which adds none. */
static gboolean
keeps_many_letters(const TidePauses *pauses, TidePartition *partition)
{
  const TideRewind *rewind = &partition->rewind;
  if (G_LIKELY(!tide_rewind_is_pending(rewind)))
    return FALSE;
  guint64 bytes = tide_budget_limit_racy(pauses->context.budget) / KEPT_LETTERS_PART_OF / pauses->context.n_consumers /
                  pauses->context.partitions->len;
  if (rewind->kept_letters->len <= bytes / sizeof(TideKeptLetter))
    return FALSE;
  tide_rewind_forget_letters(&partition->rewind, partition->commit.offset);
  const TideTrackedMessage *newest = tide_offsets_newest(&partition->offsets);
  return rewind->kept_letters->len > bytes / sizeof(TideKeptLetter) && newest != NULL &&
         newest->offset + 1 >= rewind->read_to_offset;
}

void
tide_pauses_check_in_flight_window(TidePauses *pauses, TidePartition *partition)
{
  guint32 limit = pauses->context.max_span_messages;
  guint32 n_messages = keeps_many_letters(pauses, partition) ? limit : tide_partition_span(partition);
  if (limit > 0 && n_messages >= limit) {
    tide_pauses_set(pauses, partition, TIDE_PAUSE_SPAN, TRUE);
    pauses->span_waits |= !partition->pauses.is_paused;
  } else if (n_messages <= limit / 2 || limit == 0) /* 0: no limit */
    tide_pauses_set(pauses, partition, TIDE_PAUSE_SPAN, FALSE);
}

void
tide_pauses_apply_spans(TidePauses *pauses)
{
  for (guint i = 0; i < pauses->context.partitions->len; i++) {
    TidePartition *partition = tide_partition_at(pauses->context.partitions, i);
    if (partition->assigned)
      tide_pauses_check_in_flight_window(pauses, partition);
  }
}

void
tide_pauses_check_dead_letters(TidePauses *pauses, gboolean are_stalled, gint64 now_us)
{
  if (are_stalled == pauses->dead_letters_paused ||
      (!are_stalled && now_us - pauses->dead_letters_changed_us < HOLD_INTERVAL_US))
    return;
  pauses->dead_letters_paused = are_stalled;
  pauses->dead_letters_changed_us = now_us;
  set_all(pauses, TIDE_PAUSE_DEAD_LETTERS, are_stalled);
}

static void
apply_operator(TidePauses *pauses)
{
  TidePauseWatch *paused = pauses->context.operator_pauses;
  gboolean is_everything = tide_pause_watch_has(paused, TIDE_SCOPE_EVERYTHING, "");
  for (guint i = 0; i < pauses->context.partitions->len; i++) {
    TidePartition *partition = tide_partition_at(pauses->context.partitions, i);
    tide_pauses_set(pauses, partition, TIDE_PAUSE_OPERATOR,
                    is_everything || tide_pause_watch_has(paused, TIDE_SCOPE_TOPIC, partition->topic));
  }
}

void
tide_pauses_check_operator(TidePauses *pauses)
{
  guint generation = tide_pause_watch_generation(pauses->context.operator_pauses);
  if (generation == pauses->operator_generation)
    return;
  pauses->operator_generation = generation;
  apply_operator(pauses);
}

void
tide_pauses_apply_assigned(TidePauses *pauses)
{
  apply_operator(pauses);
  if (pauses->memory_paused)
    set_all(pauses, TIDE_PAUSE_MEMORY, TRUE);
  if (pauses->dead_letters_paused)
    set_all(pauses, TIDE_PAUSE_DEAD_LETTERS, TRUE);
  for (guint i = 0; i < pauses->context.partitions->len; i++)
    if (tide_partition_at(pauses->context.partitions, i)->commit.is_unannounced)
      tide_pauses_set(pauses, tide_partition_at(pauses->context.partitions, i), TIDE_PAUSE_COMMIT, TRUE);
}

void
tide_pauses_lift(TidePauses *pauses, const guint32 *slots, gsize n_slots)
{
  gint64 now_us = tide_now_us();
  for (gsize i = 0; i < n_slots; i++) {
    TidePartition *partition = tide_partition_at(pauses->context.partitions, slots[i]);
    partition->pauses.table_held_us = 0;
    partition->pauses.reasons = 0;
    partition->pauses.crowded_table = 0;
    partition->pauses.changed_us = 0; /* the next assignment fetches again */
    apply_pause(pauses, partition, now_us);
    partition->pauses.changed_us = 0;
  }
}

/* ---- halted partitions ---- */

/* @text: (transfer full) */
static void
halt(TidePauses *pauses, TidePartition *partition, char *text)
{
  g_free(partition->halt.text);
  partition->halt.text = text;
  tide_pauses_set(pauses, partition, TIDE_PAUSE_HALTED, TRUE);
  tide_consumer_status_publish_halted(pauses->context.status, pauses->context.partitions);
}

void
tide_pauses_halt_partition(TidePauses *pauses, TidePartition *partition, char *text)
{
  tide_log_fields(TIDE_LOG_CRIT, "partition-halted",
                  TIDE_LOG_FIELDS({"TOPIC", partition->topic},
                                  {"PARTITION", tide_log_number(partition->partition).text},
                                  {"SOURCE", partition->source}),
                  "%s", text);
  halt(pauses, partition, text);
}

void
tide_pauses_halt_at_message(TidePauses *pauses, TidePartition *partition, gint64 offset, char *text)
{
  partition->halt.note = (TideHaltNote){TIDE_HALT_MESSAGE, offset};
  partition->commit.needs_opening = TRUE;
  if (!tide_rewind_add_letter(&partition->rewind, offset, TIDE_LETTER_OF_HALT, partition->commit.offset)) {
    halt(pauses, partition, text); /* again after a rewind: it was logged and counted the first time */
    return;
  }
  tide_counter_inc(pauses->messages_held);
  tide_pauses_halt_partition(pauses, partition, text);
}
