#include "consumer/rewind.h"

#include "decode/avro_schema.h"
#include "registry/registry.h"
#include "util/clock.h"
#include "util/log.h"

/* With --until-end: longer than one request to the schema registry may take. */
#define AWAITED_AT_END_US (15 * TIDE_US_PER_S)

/* ---- holding ---- */

/* The notes of requested commits do not yet state that the offset is held. */
static void
begin_pending(TidePartition *partition)
{
  if (!tide_rewind_is_pending(&partition->rewind))
    tide_partition_open(partition);
}

/* Describes message @sequence, which may not have begun. */
static TideHeldMessage
held_message(const TidePartition *partition, guint32 sequence, gint64 until_us)
{
  const TideOffsets *offsets = &partition->offsets;
  /* The next message, even while the brokers are being asked for its position. */
  gint64 next_offset = MAX(offsets->mark, partition->commit.start_offset);
  TideHeldMessage message = {.sequence = sequence, .offset = next_offset, .timestamp_ms = -1, .until_us = until_us};
  if (sequence - offsets->head < tide_offsets_span(offsets)) {
    message.offset = tide_offsets_find(offsets, sequence)->offset;
    message.timestamp_ms = tide_offsets_find(offsets, sequence)->timestamp_ms;
  }
  return message;
}

void
tide_rewind_hold_all(TidePartition *partition, guint32 sequence, gint64 until_us)
{
  TideHeldMessage message = held_message(partition, sequence, until_us);
  begin_pending(partition);
  tide_rewind_add_overflow(&partition->rewind, &message);
}

void
tide_rewind_hold(TidePartition *partition, TideSourceRef ref, gint64 until_us, gboolean may_end)
{
  TideHeldMessage message = held_message(partition, ref.sequence, until_us);
  begin_pending(partition);
  if (!may_end || !tide_rewind_add_held(&partition->rewind, &message))
    tide_rewind_add_overflow(&partition->rewind, &message);
}

void
tide_rewind_end_hold(TidePartition *partition, TideSourceRef ref)
{
  tide_rewind_remove_held(&partition->rewind, ref.sequence);
}

void
tide_rewind_ask(TidePartition *partition, TideRewindReason reason, gint64 now_us)
{
  TideRewind *rewind = &partition->rewind;
  gint64 *since_us = reason == TIDE_REWIND_REFUSED ? &rewind->refused_us : &rewind->cancelled_us;
  if (!partition->assigned || *since_us > 0)
    return;
  begin_pending(partition);
  *since_us = now_us;
}

/* ---- consequences of completed batches ---- */

TideDoubt *
tide_rewind_inherited_by_row(const TideAssignments *assignments, const TideBatch *batch)
{
  TideDoubt *by_row = NULL;
  gsize n_sources;
  const TideBatchSource *sources = tide_batch_sources(batch, &n_sources);
  if (G_LIKELY(assignments->inherited_until_us <= batch->times.sealed_us))
    return NULL;
  for (gsize i = 0; i < n_sources; i++) {
    const TidePartition *partition = tide_assignments_find(assignments, sources[i].ref);
    if (partition == NULL || partition->uncertain.inherited.until_us <= batch->times.sealed_us)
      continue;
    if (by_row == NULL)
      by_row = g_new0(TideDoubt, batch->n_rows);
    tide_doubt_add(&by_row[sources[i].row], partition->uncertain.inherited, batch->times.sealed_us);
  }
  return by_row;
}

static void
take_doubt(TidePartition *partition, gconstpointer doubt, gint64 now_us)
{
  tide_doubt_add(&partition->uncertain.doubt, *(const TideDoubt *)doubt, now_us);
}

static void
take_finding(TidePartition *partition, gconstpointer data, gint64 now_us)
{
  const TideFinding *finding = data;
  gboolean owns = tide_partition_owns(partition, finding->source); /* otherwise it is read again anyway */
  if (finding->kind == TIDE_FOUND_CONTESTED && owns)
    tide_rewind_hold(partition, finding->source, finding->until_us, finding->is_watched);
  if (finding->kind == TIDE_FOUND_REPLACED && owns)
    tide_rewind_end_hold(partition, finding->source);
  if (finding->kind == TIDE_FOUND_FORGOTTEN && partition->assigned) /* a late row may overwrite what is read now */
    tide_rewind_hold_all(partition, owns ? finding->source.sequence : partition->offsets.head, finding->until_us);
}

/* Calls @take with @what for the partition of @source. If the source is too old for its partition to be known, every
 * partition takes it. */
static void
apply_to_partition(const TideAssignments *assignments, TideSourceRef source,
                   void (*take)(TidePartition *partition, gconstpointer what, gint64 now_us), gconstpointer what,
                   gint64 now_us)
{
  GHashTableIter iter;
  gpointer each;
  TidePartition *partition = tide_assignments_find(assignments, source);
  if (partition != NULL) {
    take(partition, what, now_us);
    return;
  }
  g_hash_table_iter_init(&iter, assignments->partitions);
  while (g_hash_table_iter_next(&iter, NULL, &each))
    take(each, what, now_us);
}

void
tide_rewind_take_judgement(const TideAssignments *assignments, const TideBatch *batch, const TideJudgement *judgement,
                           gint64 now_us)
{
  gsize n_sources;
  const TideBatchSource *sources = tide_batch_sources(batch, &n_sources);
  for (gsize i = 0; judgement->doubt.until_us > 0 && i < n_sources; i++)
    apply_to_partition(assignments, sources[i].ref, take_doubt, &judgement->doubt, now_us);
  for (guint i = 0; i < judgement->n_findings; i++)
    apply_to_partition(assignments, judgement->findings[i].source, take_finding, &judgement->findings[i], now_us);
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

gboolean
tide_rewind_find_stale_rows(TidePartition *partition, const TideAccumulator *accumulator)
{
  /* A partition that lost rows to a cancelled batch does not wait: those rows are not sent. */
  gboolean is_due = partition->rewind.is_due && partition->rewind.cancelled_us == 0;
  if (!partition->assigned || (!is_due && !tide_partition_has_stale_rows(partition)))
    return FALSE;
  g_autoptr(GHashTable) others = g_hash_table_new(NULL, NULL); /* sources too old to be known may be of @partition */
  GHashTableIter iter;
  gpointer number, its;
  g_hash_table_iter_init(&iter, partition->assignment.all->partitions);
  while (g_hash_table_iter_next(&iter, &number, &its))
    if (its != partition ||
        (!is_due && tide_partition_owns(partition, (TideSourceRef){.assignment = GPOINTER_TO_UINT(number)})))
      g_hash_table_add(others, number);
  if (tide_accumulator_has_others(accumulator, others))
    return TRUE;
  partition->rewind.stale_to_offset = -1; /* no more can come */
  return FALSE;
}

/* ---- rewinding ---- */

void
tide_rewinds_init(TideRewinds *rewinds, const TideRewindsContext *context)
{
  *rewinds = (TideRewinds){.context = *context};
  for (guint i = 0; i < TIDE_REWIND_N_REASONS; i++)
    rewinds->rewinds[i] = tide_metrics_counter(
        context->pauses->context.metrics, "tidemark_kafka_rewinds_total",
        "Times a partition was read again from its committed offset, or from a message that waited for its schema",
        tide_rewind_kinds[i].label);
  rewinds->in_vain =
      tide_metrics_counter(context->pauses->context.metrics, "tidemark_kafka_rewinds_without_progress_total",
                           "Rewinds that made no more progress than the previous rewind", NULL);
}

/* Reports that @partition was rewound to the same offset as before. */
static void
report_in_vain(TideRewinds *rewinds, const TidePartition *partition, gint64 now_us)
{
  const TideRewind *rewind = &partition->rewind;
  if (rewind->n_in_vain == 0)
    return;
  tide_counter_inc(rewinds->in_vain);
  tide_log_fields(
      TIDE_LOG_WARNING, "rewind-in-vain",
      TIDE_LOG_FIELDS({"TOPIC", partition->topic}, {"PARTITION", tide_log_number(partition->partition).text},
                      {"SOURCE", partition->source}, {"OFFSET", tide_log_number(rewind->offset).text}),
      "topic '%s' partition %d was read again from offset %" G_GINT64_FORMAT
      " without progress; not reading it again for %" G_GINT64_FORMAT
      " s; if the group rebalances repeatedly, 'revoked' and 'partitions-lost' in the log show when",
      partition->topic, partition->partition, rewind->offset, (rewind->backs_off_until_us - now_us) / TIDE_US_PER_S);
}

/* Adds to @moves that the next message read of @partition is that at @offset. */
static void
note_move(TideRewinds *rewinds, TidePartition *partition, TideRewindReason reason, gint64 offset, GArray *moves)
{
  TideInputMove its = {partition->slot, offset};
  g_array_append_val(moves, its);
  partition->awaited.is_awaited = FALSE;
  partition->end.is_reached = FALSE;
  partition->commit.stored_offset = -1; /* tide_input_move() may forget it */
  tide_counter_inc(rewinds->rewinds[reason]);
  tide_log_fields(reason == TIDE_REWIND_SCHEMA ? TIDE_LOG_INFO : TIDE_LOG_NOTICE, "partition-rewound",
                  TIDE_LOG_FIELDS({"TOPIC", partition->topic},
                                  {"PARTITION", tide_log_number(partition->partition).text},
                                  {"SOURCE", partition->source}, {"OFFSET", tide_log_number(offset).text}),
                  "reading topic '%s' partition %d again from offset %" G_GINT64_FORMAT ", because %s",
                  partition->topic, partition->partition, offset, tide_rewind_kinds[reason].text);
}

/* Makes all moves in one call: without cooperative rebalancing each call assigns all partitions again. */
static void
make_moves(TideRewinds *rewinds, const GArray *moves)
{
  TidePauses *pauses = rewinds->context.pauses;
  tide_consumer_status_publish_halted(pauses->context.status, pauses->context.partitions);
  for (guint i = 0; i < moves->len; i++)
    tide_pauses_lift(pauses, &g_array_index(moves, TideInputMove, i).slot, 1);
  tide_input_move(rewinds->context.input, (const TideInputMove *)(gconstpointer)moves->data, moves->len);
  tide_pauses_apply_assigned(pauses); /* after the moves: a resume would undo them */
}

/* A run to the end does not wait forever; nothing is committed after the message. */
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
      g_strdup_printf(
          "topic '%s' partition %d is halted at offset %" G_GINT64_FORMAT
          ": cannot fetch its schema %u from the schema registry: %s; make the registry available, then run again",
          partition->topic, partition->partition, awaited->offset, awaited->id, trouble));
}

/* Continues at a message whose schema has arrived. Earlier messages stay in flight. */
static void
look_for_schema(TideRewinds *rewinds, TidePartition *partition, gint64 now_us, GArray *moves)
{
  const TideAvroSchema *schema;
  const char *why;
  const TideAwaitedSchema *awaited = &partition->awaited;
  if (awaited->schemas->find(awaited->schemas, awaited->id, &schema, &why) != TIDE_SCHEMA_AWAITED)
    note_move(rewinds, partition, TIDE_REWIND_SCHEMA, awaited->offset, moves);
  else
    halt_if_in_vain(rewinds, partition, now_us);
}

void
tide_rewinds_run(TideRewinds *rewinds, gint64 now_us)
{
  const TidePausesContext *context = &rewinds->context.pauses->context;
  g_autoptr(GArray) moves = g_array_new(FALSE, FALSE, sizeof(TideInputMove));
  for (guint i = 0; i < context->partitions->len; i++) {
    TidePartition *partition = tide_partition_at(context->partitions, i);
    TideRewindReason reason = tide_rewind_reason(&partition->rewind);
    if (tide_rewind_prepare(partition, now_us)) {
      tide_partition_rewind(partition, context->budget, now_us, rewinds->context.settle_us);
      note_move(rewinds, partition, reason, partition->commit.start_offset, moves);
      report_in_vain(rewinds, partition, now_us);
    } else if (partition->assigned && partition->awaited.is_awaited && partition->halt.text == NULL)
      look_for_schema(rewinds, partition, now_us, moves);
  }
  if (moves->len > 0)
    make_moves(rewinds, moves);
}
