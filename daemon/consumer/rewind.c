#include "consumer/rewind.h"

#include "decode/avro_schema.h"
#include "registry/registry.h"
#include "util/clock.h"
#include "util/log.h"

/* With --until-end: longer than one question to the schema registry may take. */
#define AWAITED_AT_END_US (15 * TIDE_US_PER_S)

/* So many messages are held one by one; whatever comes after them is held with the last, until the rewind. */
#define MAX_HELD 4096u

/* What each reason is. */
static const struct {
  const char *label; /* of the metric */
  const char *text;  /* to follow "because " */
} kinds[TIDE_REWIND_N_REASONS] = {
    [TIDE_REWIND_CONFLICT] = {"reason=\"conflict\"",
                              "calls without an answer may have overwritten newer values of the same cells and times"},
    [TIDE_REWIND_OVERFLOW] = {"reason=\"overflow\"", "more calls had no answer than could be remembered"},
    [TIDE_REWIND_CANCELLED] = {"reason=\"cancelled\"",
                               "rows that it shared with a partition that was taken away were not sent"},
    [TIDE_REWIND_SCHEMA] = {"reason=\"schema\"", "the question for the schema of its next message was answered"},
};

/* ---- when, and why ---- */

void
tide_rewind_init(TideRewind *rewind)
{
  *rewind = (TideRewind){.held = g_array_new(FALSE, FALSE, sizeof(TideHeldMessage)),
                         .kept_letters = g_array_new(FALSE, FALSE, sizeof(TideKeptLetter)),
                         .read_to_offset = -1,
                         .acked_to_offset = -1};
}

void
tide_rewind_clear(TideRewind *rewind)
{
  g_array_unref(rewind->held);
  g_array_unref(rewind->kept_letters);
}

gint64
tide_rewind_due_us(const TideRewind *rewind)
{
  gint64 at_us = rewind->overflows[0].until_us > 0 ? rewind->overflows[0].until_us : G_MAXINT64;
  if (rewind->cancelled_us > 0)
    return rewind->cancelled_us;
  for (guint i = 0; i < rewind->held->len; i++)
    at_us = MIN(at_us, g_array_index(rewind->held, TideHeldMessage, i).until_us);
  return MAX(at_us, rewind->spaced_until_us);
}

TideRewindReason
tide_rewind_reason(const TideRewind *rewind)
{
  return rewind->cancelled_us > 0             ? TIDE_REWIND_CANCELLED
         : rewind->overflows[0].until_us > 0 ? TIDE_REWIND_OVERFLOW
                                             : TIDE_REWIND_CONFLICT;
}

char *
tide_rewind_describe(const TidePartition *partition, gint64 now_us)
{
  const TideRewind *rewind = &partition->rewind;
  if (!tide_rewind_is_pending(rewind))
    return NULL;
  gint64 left_s = rewind->is_due ? 0 : MAX(tide_rewind_due_us(rewind) - now_us, 0) / TIDE_US_PER_S;
  return g_strdup_printf("nothing behind offset %" G_GINT64_FORMAT
                         " is committed before it is read again from there on, in %" G_GINT64_FORMAT " s, because %s",
                         tide_partition_position(partition), left_s, kinds[tide_rewind_reason(rewind)].text);
}

/* ---- holding ---- */

/* What was asked to be committed does not say yet that the offset stays behind. */
static void
begin_pending(TidePartition *partition)
{
  if (!tide_rewind_is_pending(&partition->rewind))
    tide_partition_open(partition);
}

/* Message @sequence, which need not have begun. */
static TideHeldMessage
held_message(const TidePartition *partition, guint32 sequence, guint32 n_contested, gint64 until_us)
{
  const TideOffsets *offsets = &partition->offsets;
  TideHeldMessage message = {.sequence = sequence,
                             .n_contested = n_contested,
                             .offset = tide_partition_position(partition),
                             .timestamp_ms = -1,
                             .until_us = until_us};
  if (sequence - offsets->head < tide_offsets_span(offsets)) {
    message.offset = tide_offsets_find(offsets, sequence)->offset;
    message.timestamp_ms = tide_offsets_find(offsets, sequence)->timestamp_ms;
  }
  return message;
}

/* The place of @sequence among those that are held, or where it would be. */
static guint
find_held(const GArray *held, guint32 sequence)
{
  guint first = 0, end = held->len;
  while (first < end) {
    guint middle = first + (end - first) / 2;
    if ((gint32)(g_array_index(held, TideHeldMessage, middle).sequence - sequence) < 0)
      first = middle + 1;
    else
      end = middle;
  }
  return first;
}

/* Whatever comes after message @at is written once more with it, at the moment of the first of them. */
static void
hold_all_from(GArray *held, guint at)
{
  TideHeldMessage *its = &g_array_index(held, TideHeldMessage, at);
  for (guint i = at + 1; i < held->len; i++)
    its->until_us = MIN(its->until_us, g_array_index(held, TideHeldMessage, i).until_us);
  its->n_contested = TIDE_HELD_IN_ANY_CASE;
  g_array_set_size(held, at + 1);
}

void
tide_rewind_hold(TidePartition *partition, TideSourceRef ref, gint64 until_us, gboolean may_end)
{
  GArray *held = partition->rewind.held;
  guint at = find_held(held, ref.sequence);
  TideHeldMessage message = held_message(partition, ref.sequence, 0, until_us);
  const TideHeldMessage *overflows = partition->rewind.overflows;
  for (guint i = 0; i < G_N_ELEMENTS(partition->rewind.overflows); i++)
    if (overflows[i].until_us > 0 && message.offset >= overflows[i].offset)
      return; /* is written once more with all that comes after that one */
  TideHeldMessage *before = at > 0 ? &g_array_index(held, TideHeldMessage, at - 1) : NULL;
  if (before != NULL && before->n_contested == TIDE_HELD_IN_ANY_CASE) {
    before->until_us = MIN(before->until_us, until_us);
    return;
  }
  begin_pending(partition);
  if (at == held->len || g_array_index(held, TideHeldMessage, at).sequence != ref.sequence)
    g_array_insert_val(held, at, message);
  TideHeldMessage *its = &g_array_index(held, TideHeldMessage, at);
  if (!may_end || its->n_contested == TIDE_HELD_IN_ANY_CASE || at >= MAX_HELD)
    hold_all_from(held, at);
  else
    its->n_contested++;
}

void
tide_rewind_end_hold(TidePartition *partition, TideSourceRef ref)
{
  GArray *held = partition->rewind.held;
  guint at = find_held(held, ref.sequence);
  TideHeldMessage *its = at < held->len ? &g_array_index(held, TideHeldMessage, at) : NULL;
  if (its != NULL && its->sequence == ref.sequence && its->n_contested != TIDE_HELD_IN_ANY_CASE &&
      --its->n_contested == 0)
    g_array_remove_index(held, at);
}

void
tide_rewind_hold_all(TidePartition *partition, guint32 sequence, gint64 until_us)
{
  TideRewind *rewind = &partition->rewind;
  TideHeldMessage message = held_message(partition, sequence, TIDE_HELD_IN_ANY_CASE, until_us);
  TideHeldMessage *first = &rewind->overflows[0];
  TideHeldMessage *its = first->until_us == 0 || until_us <= first->until_us ? first : &rewind->overflows[1];
  begin_pending(partition);
  message.until_us = MAX(until_us, its->until_us);
  if (its->until_us == 0 || message.offset < its->offset)
    *its = message;
  its->until_us = message.until_us;
  while (rewind->held->len > 0 &&
         g_array_index(rewind->held, TideHeldMessage, rewind->held->len - 1).offset >= its->offset)
    g_array_set_size(rewind->held, rewind->held->len - 1);
}

void
tide_rewind_ask(TidePartition *partition, gint64 now_us)
{
  if (!partition->assigned || partition->rewind.cancelled_us > 0)
    return;
  begin_pending(partition);
  partition->rewind.cancelled_us = now_us;
}

/* ---- what completed batches mean ---- */

TideDoubt *
tide_rewind_inherited_by_row(const TideAssignments *assignments, const TideBatch *batch)
{
  TideDoubt *by_row = NULL;
  gsize n_sources;
  const TideBatchSource *sources = tide_batch_sources(batch, &n_sources);
  if (G_LIKELY(assignments->inherited_until_us <= batch->sealed_us))
    return NULL;
  for (gsize i = 0; i < n_sources; i++) {
    const TidePartition *partition = tide_assignments_find(assignments, sources[i].ref);
    if (partition == NULL || partition->inherited.until_us <= batch->sealed_us)
      continue;
    if (by_row == NULL)
      by_row = g_new0(TideDoubt, batch->n_rows);
    tide_doubt_add(&by_row[sources[i].row], partition->inherited, batch->sealed_us);
  }
  return by_row;
}

static void
take_forgotten(TidePartition *partition, const TideFinding *finding)
{
  gboolean owns = tide_partition_owns(partition, finding->source);
  if (partition->assigned) /* a stale one may land over whatever is read now */
    tide_rewind_hold_all(partition, owns ? finding->source.sequence : partition->offsets.head, finding->until_us);
}

static void
take_finding(const TideAssignments *assignments, TidePartition *partition, const TideFinding *finding)
{
  GHashTableIter iter;
  gboolean owns = partition != NULL && tide_partition_owns(partition, finding->source);
  switch (finding->kind) {
  case TIDE_FOUND_CONTESTED: /* one whose source is stale is read again */
    if (owns)
      tide_rewind_hold(partition, finding->source, finding->until_us, finding->is_watched);
    break;
  case TIDE_FOUND_REPLACED:
    if (owns)
      tide_rewind_end_hold(partition, finding->source);
    break;
  case TIDE_FOUND_FORGOTTEN:
    if (partition != NULL)
      take_forgotten(partition, finding);
    else {
      g_hash_table_iter_init(&iter, assignments->partitions);
      while (g_hash_table_iter_next(&iter, NULL, (gpointer *)&partition))
        take_forgotten(partition, finding);
    }
    break;
  }
}

/* What is too old for its partition to be known counts for each. */
static void
take_doubt(const TideAssignments *assignments, TidePartition *partition, TideDoubt doubt, gint64 now_us)
{
  GHashTableIter iter;
  if (partition != NULL) {
    tide_doubt_add(&partition->doubt, doubt, now_us);
    return;
  }
  g_hash_table_iter_init(&iter, assignments->partitions);
  while (g_hash_table_iter_next(&iter, NULL, (gpointer *)&partition))
    tide_doubt_add(&partition->doubt, doubt, now_us);
}

void
tide_rewind_take_judgement(const TideAssignments *assignments, const TideBatch *batch, const TideJudgement *judgement,
                           gint64 now_us)
{
  gsize n_sources;
  const TideBatchSource *sources = tide_batch_sources(batch, &n_sources);
  for (gsize i = 0; judgement->doubt.until_us > 0 && i < n_sources; i++)
    take_doubt(assignments, tide_assignments_find(assignments, sources[i].ref), judgement->doubt, now_us);
  for (guint i = 0; i < judgement->n_findings; i++) {
    const TideFinding *finding = &judgement->findings[i];
    take_finding(assignments, tide_assignments_find(assignments, finding->source), finding);
  }
}

gboolean
tide_rewind_prepare(TidePartition *partition, gint64 now_us)
{
  TideRewind *rewind = &partition->rewind;
  if (!partition->assigned || tide_partition_position(partition) < 0 || tide_partition_is_halted_by_offset(partition))
    return FALSE;
  if (!rewind->is_due && tide_rewind_is_pending(rewind) && tide_rewind_due_us(rewind) <= now_us) {
    rewind->is_due = TRUE;
    atomic_store_explicit(&partition->assignment.letters, TIDE_NOT_OWNED, memory_order_relaxed);
  }
  return rewind->is_due && rewind->n_letters_in_flight == 0;
}

/* ---- rewinding ---- */

void
tide_rewinds_init(TideRewinds *rewinds, const TideRewindsContext *context)
{
  *rewinds = (TideRewinds){.context = *context};
  for (guint i = 0; i < TIDE_REWIND_N_REASONS; i++)
    rewinds->rewinds[i] = tide_metrics_counter(context->metrics, "tidemark_kafka_rewinds_total",
                                               "Times a partition was read again from its committed offset on, or "
                                               "from a message that waited for its schema",
                                               kinds[i].label);
}

static void
log_rewind(const TidePartition *partition, TideRewindReason reason, gint64 offset)
{
  tide_log_fields(
      reason == TIDE_REWIND_SCHEMA ? TIDE_LOG_INFO : TIDE_LOG_NOTICE, "partition-rewound",
      TIDE_LOG_FIELDS({"TOPIC", partition->topic}, {"PARTITION", tide_log_number(partition->partition).text},
                      {"SOURCE", partition->source}, {"OFFSET", tide_log_number(offset).text}),
      "topic '%s' partition %d is read again from offset %" G_GINT64_FORMAT " on, because %s", partition->topic,
      partition->partition, offset, kinds[reason].text);
}

/* The next message of @partition that is read is that of @offset. */
static void
seek(TideRewinds *rewinds, TidePartition *partition, TideRewindReason reason, gint64 offset)
{
  guint32 slot = partition->slot;
  partition->awaited.is_awaited = FALSE;
  partition->end.is_reached = FALSE;
  tide_counter_inc(rewinds->rewinds[reason]);
  log_rewind(partition, reason, offset);
  tide_pauses_lift(rewinds->context.pauses, &slot, 1);
  tide_input_move(rewinds->context.input, slot, offset);
  tide_pauses_apply_assigned(rewinds->context.pauses); /* behind the move: a resume would take that back */
}

/* A run that is to end does not wait for ever; nothing is committed behind the message. */
static void
halt_if_in_vain(TideRewinds *rewinds, TidePartition *partition, gint64 now_us)
{
  const TideAwaitedSchema *awaited = &partition->awaited;
  if (!rewinds->context.until_end || now_us - awaited->since_us < AWAITED_AT_END_US)
    return;
  g_autofree char *trouble = tide_registry_trouble(awaited->schemas);
  if (trouble == NULL)
    return;
  tide_pauses_halt_partition(
      rewinds->context.pauses, partition,
      g_strdup_printf("topic '%s' partition %d is halted at offset %" G_GINT64_FORMAT
                      ": the schema registry cannot be asked for its schema %u: %s; see that it answers, and run again",
                      partition->topic, partition->partition, awaited->offset, awaited->id, trouble));
}

/* It drops nothing: what was read before the message is on its way as ever. */
static void
look_for_schema(TideRewinds *rewinds, TidePartition *partition, gint64 now_us)
{
  const TideAvroSchema *schema;
  const char *why;
  const TideAwaitedSchema *awaited = &partition->awaited;
  if (awaited->schemas->find(awaited->schemas, awaited->id, &schema, &why) != TIDE_SCHEMA_AWAITED)
    seek(rewinds, partition, TIDE_REWIND_SCHEMA, awaited->offset);
  else
    halt_if_in_vain(rewinds, partition, now_us);
}

void
tide_rewinds_run(TideRewinds *rewinds, gint64 now_us)
{
  const TideRewindsContext *context = &rewinds->context;
  for (guint i = 0; i < context->partitions->len; i++) {
    TidePartition *partition = tide_partition_at(context->partitions, i);
    TideRewindReason reason = tide_rewind_reason(&partition->rewind);
    if (tide_rewind_prepare(partition, now_us)) {
      tide_partition_rewind(partition, context->budget, now_us, context->settle_us);
      tide_consumer_status_publish_halted(context->pauses->context.status, context->partitions);
      seek(rewinds, partition, reason, partition->commit.start_offset);
    } else if (partition->assigned && partition->awaited.is_awaited && partition->halt.text == NULL)
      look_for_schema(rewinds, partition, now_us);
  }
}
