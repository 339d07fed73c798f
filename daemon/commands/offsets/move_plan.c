#include "commands/offsets/move_plan.h"

#include "commands/cli/time_argument.h"
#include "util/error.h"

gboolean
tide_move_target_parse(const char *text, gint64 now_epoch_ms, TideMoveTarget *ret_target, GError **error)
{
  static const struct {
    const char *name;
    TideMoveTo to;
  } names[] = {{"beginning", TIDE_MOVE_BEGINNING}, {"end", TIDE_MOVE_END}, {"past-halt", TIDE_MOVE_PAST_HALT}};
  guint64 offset;
  if (text == NULL)
    return tide_fail(error, TIDE_ERROR_USAGE,
                     "the target is missing: '--to beginning', 'end', an offset, a time, or 'past-halt'");
  for (gsize i = 0; i < G_N_ELEMENTS(names); i++)
    if (strcmp(text, names[i].name) == 0) {
      *ret_target = (TideMoveTarget){.to = names[i].to};
      return TRUE;
    }
  if (g_ascii_string_to_unsigned(text, 10, 0, G_MAXINT64, &offset, NULL)) {
    *ret_target = (TideMoveTarget){TIDE_MOVE_OFFSET, (gint64)offset};
    return TRUE;
  }
  ret_target->to = TIDE_MOVE_TIME;
  return tide_time_option_parse_ms("to", text, now_epoch_ms, &ret_target->value, error);
}

gboolean
tide_move_note_of(const TideTopicPart *part, TideCommitNote *ret_note)
{
  if (part->committed >= 0 && part->note != NULL && tide_commit_note_parse(tide_bytes_of_string(part->note), ret_note))
    return TRUE;
  *ret_note = (TideCommitNote){0}; /* the part that could be read may be anything */
  return FALSE;
}

/* At the new offset, the next owner must treat as uncertain at least what it would have treated so at the old offset
 * (docs/internals.md: equal times).
 *
 * A closed note, and its limits for earlier offsets (until, time), hold wherever reading continues: no other call can
 * still take effect, and the limit is one of event times. A running note, or none, means that messages of the range
 * [low, high + span) may have been sent, and may still take effect. The next owner treats the cells of the messages
 * that it reads again as uncertain, counted from its start: so a move back extends the span by its distance. A move
 * forward skips messages with unknown cells, so until every call of the old owner has succeeded or failed, everything
 * is written twice, as if every event time were uncertain. */
static TideCommitNote
moved_note(const TideTopicPart *part, const TideCommitNote *old, gint64 to, const TideMoveContext *context)
{
  TideCommitNote note = old != NULL ? *old : (TideCommitNote){.span_messages = context->span_messages};
  note.halt = (TideHaltNote){0};
  note.start_ms = 0;
  if (note.is_closed || part->committed < 0)
    return note;
  gint64 low = part->committed, high = part->committed;
  if (old != NULL && tide_halt_kinds[old->halt.cause].is_of_offset) {
    /* The committed offset is the log's beginning; the old owner had reached the halt's offset. */
    low = MIN(low, old->halt.offset);
    high = MAX(high, old->halt.offset);
  }
  if (to < high)
    note.span_messages = MIN(note.span_messages, (guint64)(G_MAXINT64 - (high - to))) + (guint64)(high - to);
  if (to > low) {
    note.until_ms = MAX(note.until_ms, context->now_epoch_ms + context->settle_ms);
    note.time_ms = G_MAXINT64;
  }
  return note;
}

/* The log may have lost more of its beginning since the halt. */
static gboolean
find_past_halt(const TideTopicPart *part, const TideHaltNote *halt, gint64 *ret_to, GError **error)
{
  if (halt->cause == TIDE_HALT_MESSAGE && part->committed < halt->offset)
    return tide_fail(
        error, TIDE_ERROR_DATA,
        "topic '%s' partition %d is halted at offset %" G_GINT64_FORMAT ", but the messages from %" G_GINT64_FORMAT
        " on are not written yet: start the daemon, and move the offset when '%d' of 'tidemark offsets show' has "
        "reached that offset",
        part->topic, part->partition, halt->offset, part->committed, part->partition);
  *ret_to = tide_halt_past(halt, MAX(part->committed, part->first));
  if (*ret_to >= part->first && *ret_to <= part->last)
    return TRUE;
  return tide_fail(error, TIDE_ERROR_DATA,
                   "topic '%s' partition %d would continue at offset %" G_GINT64_FORMAT
                   ", which is not in its log (%" G_GINT64_FORMAT " to %" G_GINT64_FORMAT
                   "): choose '--to beginning', 'end' or an offset",
                   part->topic, part->partition, *ret_to, part->first, part->last);
}

gboolean
tide_move_plan(const TideMoveTarget *target, const TideTopicPart *part, const TideMoveContext *context,
               TideMove *ret_move, GError **error)
{
  TideCommitNote old;
  gboolean has_note = tide_move_note_of(part, &old);
  *ret_move = (TideMove){.kind = TIDE_MOVE_NOT_HALTED};
  switch (target->to) {
  case TIDE_MOVE_BEGINNING:
    ret_move->to = part->first;
    break;
  case TIDE_MOVE_END:
    ret_move->to = part->last;
    break;
  case TIDE_MOVE_TIME:
    ret_move->to = part->begin;
    break;
  case TIDE_MOVE_OFFSET:
    ret_move->to = target->value;
    if (target->value < part->first || target->value > part->last)
      return tide_fail(error, TIDE_ERROR_USAGE,
                       "'--to %" G_GINT64_FORMAT
                       "' is not in the log of topic '%s' partition %d: it must be from %" G_GINT64_FORMAT
                       " to %" G_GINT64_FORMAT,
                       target->value, part->topic, part->partition, part->first, part->last);
    break;
  case TIDE_MOVE_PAST_HALT:
    if (old.halt.cause == TIDE_HALT_NONE)
      return TRUE;
    if (!find_past_halt(part, &old.halt, &ret_move->to, error))
      return FALSE;
    break;
  }
  gboolean is_there = ret_move->to == part->committed && old.halt.cause == TIDE_HALT_NONE;
  ret_move->kind = is_there ? TIDE_MOVE_UNCHANGED : TIDE_MOVE_MOVES;
  ret_move->note = moved_note(part, has_note ? &old : NULL, ret_move->to, context);
  return TRUE;
}
