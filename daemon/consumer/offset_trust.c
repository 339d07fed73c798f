#include "consumer/offset_trust.h"

static TideOffsetVerdict
read_at(gint64 offset, TideOffsetEvent event, gint64 from_offset, gint64 to_offset)
{
  return (TideOffsetVerdict){
      .offset = offset, .event = event, .from_offset = from_offset, .to_offset = MAX(to_offset, from_offset)};
}

static TideOffsetVerdict
halt_at(TideHaltCause cause, gint64 offset, gint64 to_offset)
{
  return (TideOffsetVerdict){
      .offset = TIDE_INPUT_HALTED, .halt = {cause, offset}, .from_offset = offset, .to_offset = MAX(to_offset, offset)};
}

/* Nothing is committed. */
static TideOffsetVerdict
judge_uncommitted(const TideOffsetFacts *facts)
{
  const TideInputLog *log = facts->log;
  if (facts->was_group_started || log->group_has_begun)
    return read_at(log->begin_offset, TIDE_OFFSET_GONE, log->begin_offset, log->start_offset);
  return read_at(log->start_offset, TIDE_OFFSET_BEGINS, log->begin_offset, log->start_offset);
}

/* @offset is the committed one, and the log may hold it. */
static TideOffsetVerdict
judge_committed(const TideOffsetFacts *facts, gint64 offset)
{
  if (facts->own_offset >= 0 && offset > MAX(facts->own_offset, facts->own_reached_offset)) {
    if (facts->was_stranger_seen)
      return halt_at(TIDE_HALT_TAKEN, facts->own_offset, offset);
    if (facts->note == NULL)
      return read_at(offset, TIDE_OFFSET_JUMPS, facts->own_offset, offset);
  }
  if (offset < facts->own_offset)
    return read_at(offset, TIDE_OFFSET_GOES_BACK, offset, facts->own_offset);
  return read_at(offset, facts->note != NULL ? TIDE_OFFSET_PLAIN : TIDE_OFFSET_UNSIGNED, offset, offset);
}

TideOffsetVerdict
tide_offset_judge(const TideOffsetFacts *facts, gint64 now_us)
{
  const TideInputLog *log = facts->log;
  gboolean was_reading = log->wanted_offset >= 0;
  gint64 offset = was_reading ? log->wanted_offset : log->committed_offset;
  const TideHaltNote *noted = facts->note != NULL && !was_reading ? &facts->note->halt : NULL;
  if (noted != NULL && tide_halt_kinds[noted->cause].is_of_offset &&
      !(noted->cause == TIDE_HALT_DELETED && facts->continues_after_deletion))
    return (TideOffsetVerdict){.offset = TIDE_INPUT_HALTED, .halt = *noted, .is_noted = TRUE};
  gint64 next_offset = was_reading || facts->own_offset < 0 ? offset : facts->own_offset;
  /* Brokers keep the offsets of a group with members as long as the topic exists. */
  gboolean has_vanished = facts->own_offset >= 0 && log->committed_offset < 0;
  if ((facts->was_log_replaced || has_vanished) && next_offset >= 0)
    return halt_at(TIDE_HALT_RECREATED, next_offset, offset);
  if (offset < 0)
    return judge_uncommitted(facts);
  if (offset < log->begin_offset)
    return facts->continues_after_deletion ? read_at(log->begin_offset, TIDE_OFFSET_DELETED, offset, log->begin_offset)
                                           : halt_at(TIDE_HALT_DELETED, offset, log->begin_offset);
  /* Only the fetch, which knows the log's end, compares a committed offset with the end. The end known here is that of
   * finished transactions. */
  if (!was_reading)
    return judge_committed(facts, offset);
  if (offset <= log->end_offset)
    return read_at(offset, TIDE_OFFSET_READ_AGAIN, offset, offset);
  if (facts->beyond_end_us == 0 || now_us - facts->beyond_end_us < TIDE_BEYOND_END_US)
    return (TideOffsetVerdict){.offset = TIDE_INPUT_ASK_AGAIN};
  return halt_at(TIDE_HALT_BEYOND_END, offset, offset);
}
