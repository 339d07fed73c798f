#include "consumer/handover.h"

#include "util/clock.h"

/* Whether every call with rows after the committed offset was answered or is reported as uncertain. */
static gboolean
is_all_answered(const TidePartition *partition, gint64 now_us)
{
  gboolean is_reported =
      !tide_rewind_is_pending(&partition->rewind) || tide_rewind_reason(&partition->rewind) == TIDE_REWIND_CONFLICT;
  return is_reported && !tide_partition_is_unfinished(partition) && partition->uncertain.repeated.until_us <= now_us;
}

gboolean
tide_handover_needs_note(const TidePartition *partition, gint64 now_us)
{
  return tide_partition_has_read_far(partition) || partition->uncertain.doubt.until_us > now_us ||
         partition->uncertain.inherited.until_us > now_us || partition->uncertain.repeated.until_us > now_us;
}

TideCommitNote
tide_handover_note(const TidePartition *partition, gboolean closing, const TideHandoverContext *context)
{
  gint64 now_us = context->now_us;
  TideCommitNote note = {.span_messages = context->span_messages, .tables_mark = context->tables_mark};
  note.is_closed = closing && is_all_answered(partition, now_us);
  /* The next owner must also know what earlier owners sent beyond this one's position. */
  const TideRepeated *repeated = &partition->uncertain.repeated;
  if (tide_partition_has_read_far(partition) ||
      (repeated->until_us > now_us && repeated->span_messages > context->span_messages))
    note.span_messages = G_MAXINT64;
  TideDoubt doubt = partition->uncertain.doubt;
  if (partition->uncertain.inherited.until_us > now_us)
    tide_doubt_add(&doubt, partition->uncertain.inherited, now_us);
  if (doubt.until_us > now_us) {
    note.until_ms = context->now_epoch_ms + (doubt.until_us - now_us) / TIDE_US_PER_MS + 1;
    note.time_ms = doubt.time_ms;
  }
  note.halt = partition->halt.note;
  if (note.halt.cause == TIDE_HALT_NONE && tide_partition_position(partition) == partition->commit.start_offset)
    note.start_ms = partition->commit.start_ms;
  return note;
}

/* Rows that the previous owner sent beyond its commit may still land if it left no note, or a note that it did not
 * close. */
static TideRepeated
repeated_of(const TideHandoverFrom *from, const TideHandoverContext *context)
{
  if (from->committed_offset < 0 || (from->note != NULL && from->note->is_closed))
    return (TideRepeated){0};
  guint64 span_messages = from->note != NULL ? from->note->span_messages : context->span_messages;
  return (TideRepeated){.until_us = context->now_us + context->settle_us,
                        .end_offset = from->end_offset >= 0 ? from->end_offset : G_MAXINT64,
                        .span_messages = span_messages,
                        .remaining_messages = span_messages};
}

void
tide_handover_take(TidePartition *partition, const TideHandoverFrom *from, const TideHandoverContext *context)
{
  gboolean is_new = from->committed_offset < 0;
  partition->location = (TidePartitionLocation){.is_located = TRUE};
  gboolean was_closed = from->note != NULL && from->note->is_closed;
  gboolean is_of_others = from->note != NULL && from->note->tables_mark != context->tables_mark;
  /* Whether the note's writer may have read less far than this instance. */
  gboolean is_shorter = from->note != NULL && from->note->span_messages < context->span_messages;
  partition->uncertain.repeated = repeated_of(from, context);
  /* The note's time is of its writer's clock, which may be behind this host's. Only the monotonic clock, counted from
   * now, shows when settle is over. */
  partition->uncertain.inherited = from->note != NULL && from->note->until_ms > 0
                                       ? (TideDoubt){context->now_us + context->settle_us, from->note->time_ms}
                                       : (TideDoubt){0};
  partition->assignment.all->inherited_until_us =
      MAX(partition->assignment.all->inherited_until_us, partition->uncertain.inherited.until_us);
  g_array_set_size(partition->commit.asked, 0);
  partition->commit = (TidePartitionCommit){.asked = partition->commit.asked,
                                            .start_offset = from->start_offset,
                                            .start_ms = is_new               ? context->now_epoch_ms
                                                        : from->note != NULL ? from->note->start_ms
                                                                             : 0,
                                            .offset = from->committed_offset,
                                            .stored_offset = -1,
                                            .is_closed = was_closed,
                                            .needs_opening = is_new || was_closed || is_of_others || is_shorter};
}
