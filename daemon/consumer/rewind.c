#include "consumer/rewind.h"

#include "decode/avro_schema.h"
#include "registry/registry.h"
#include "util/backoff.h"
#include "util/clock.h"
#include "util/log.h"

/* A partition that was rewound and has not moved on waits so long before it is rewound again, doubling. */
#define LEAST_BACKOFF_US TIDE_US_PER_S
#define MOST_BACKOFF_US (300 * TIDE_US_PER_S)

/* With --until-end: longer than one question to the schema registry may take. */
#define AWAITED_AT_END_US (15 * TIDE_US_PER_S)

/* ---- holding ---- */

/* What was asked to be committed does not say yet that the offset stays behind. */
static void
begin_pending(TidePartition *partition)
{
  if (tide_rewind_is_pending(&partition->rewind))
    return;
  partition->rewind.is_noted = FALSE;
  partition->commit.needs_opening = TRUE;
  for (guint i = 0; i < partition->commit.asked->len; i++)
    g_array_index(partition->commit.asked, TideAskedCommit, i).is_noted = FALSE;
}

/* Holds message @sequence, which need not have begun: then all that comes. */
static void
hold(TidePartition *partition, guint32 sequence, guint32 n_contested, gint64 until_us)
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
  begin_pending(partition);
  tide_rewind_add_held(&partition->rewind, &message);
}

void
tide_rewind_hold(TidePartition *partition, TideSourceRef ref, gint64 until_us, gboolean may_end)
{
  hold(partition, ref.sequence, may_end ? 1 : TIDE_HELD_IN_ANY_CASE, until_us);
}

void
tide_rewind_end_hold(TidePartition *partition, TideSourceRef ref)
{
  tide_rewind_remove_held(&partition->rewind, ref.sequence);
}

void
tide_rewind_hold_all(TidePartition *partition, guint32 sequence, gint64 until_us)
{
  hold(partition, sequence, TIDE_HELD_IN_ANY_CASE, until_us);
  partition->rewind.overflow_until_us = MAX(partition->rewind.overflow_until_us, until_us);
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
tide_rewind_is_ready(TidePartition *partition, gint64 now_us)
{
  TideRewind *rewind = &partition->rewind;
  if (partition->assigned && !rewind->is_due && tide_rewind_is_pending(rewind))
    rewind->is_due = tide_rewind_due_us(rewind) <= now_us;
  return rewind->is_due && partition->rewind.n_letters_in_flight == 0 && partition->halt.text == NULL &&
         tide_partition_position(partition) >= 0;
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
                                               tide_rewind_kinds[i].label);
  rewinds->backed_off =
      tide_metrics_counter(context->metrics, "tidemark_kafka_rewinds_backed_off_total",
                           "Rewinds of a partition that had not moved on since the one before: the next waits", NULL);
}

static void
log_rewind(const TidePartition *partition, TideRewindReason reason, gint64 offset, gint64 now_us)
{
  g_autofree char *next = partition->rewind.backed_off_us > now_us
                              ? g_strdup_printf("; it has not moved on since it was rewound before, so it is not "
                                                "rewound again for %" G_GINT64_FORMAT " s",
                                                (partition->rewind.backed_off_us - now_us) / TIDE_US_PER_S)
                              : NULL;
  tide_log_fields(
      reason == TIDE_REWIND_SCHEMA ? TIDE_LOG_INFO : TIDE_LOG_NOTICE, "partition-rewound",
      TIDE_LOG_FIELDS({"TOPIC", partition->topic}, {"PARTITION", tide_log_number(partition->partition).text},
                      {"SOURCE", partition->source}, {"OFFSET", tide_log_number(offset).text}),
      "topic '%s' partition %d is read again from offset %" G_GINT64_FORMAT " on, because %s%s", partition->topic,
      partition->partition, offset, tide_rewind_kinds[reason].text, next != NULL ? next : "");
}

/* The next message of @partition that is read is that of @offset. */
static void
seek(TideRewinds *rewinds, TidePartition *partition, TideRewindReason reason, gint64 offset, gint64 now_us)
{
  guint32 slot = partition->slot;
  partition->awaited.is_awaited = FALSE;
  partition->end.is_reached = FALSE;
  tide_counter_inc(rewinds->rewinds[reason]);
  log_rewind(partition, reason, offset, now_us);
  tide_pauses_lift(rewinds->context.pauses, &slot, 1);
  tide_input_move(rewinds->context.input, slot, offset);
  tide_pauses_apply_assigned(rewinds->context.pauses); /* behind the move: a resume would take that back */
}

static void
note_place(TideRewinds *rewinds, TideRewind *rewind, gint64 offset, gint64 now_us)
{
  rewind->n_in_place = rewind->last_offset == offset ? rewind->n_in_place + 1 : 0;
  rewind->last_offset = offset;
  if (rewind->n_in_place == 0)
    return;
  rewind->backed_off_us = now_us + tide_backoff_us(rewind->n_in_place, LEAST_BACKOFF_US, MOST_BACKOFF_US);
  tide_counter_inc(rewinds->backed_off);
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
    seek(rewinds, partition, TIDE_REWIND_SCHEMA, awaited->offset, now_us);
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
    if (tide_rewind_is_ready(partition, now_us)) {
      gint64 position = tide_partition_position(partition);
      tide_partition_rewind(partition, context->budget, now_us, context->settle_us);
      note_place(rewinds, &partition->rewind, position, now_us);
      seek(rewinds, partition, reason, position, now_us);
    } else if (partition->assigned && partition->awaited.is_awaited && partition->halt.text == NULL)
      look_for_schema(rewinds, partition, now_us);
  }
}
