#include "consumer/offsets.h"

#define FIRST_CAPACITY 256u /* messages: 6 KiB, little for a quiet partition */

void
tide_offsets_init(TideOffsets *offsets)
{
  *offsets = (TideOffsets){.mark = -1, .end = -1, .finished_ms = -1};
}

void
tide_offsets_clear(TideOffsets *offsets)
{
  g_free(offsets->ring);
  tide_offsets_init(offsets);
}

static TideTrackedMessage *
tracked(const TideOffsets *offsets, guint32 sequence)
{
  return &offsets->ring[sequence & (offsets->capacity - 1)];
}

/* Copies the newest message even if it is finished. */
static void
change_capacity(TideOffsets *offsets, guint32 capacity)
{
  TideOffsets changed = *offsets;
  g_assert(capacity <= 1u << 31);
  changed.capacity = capacity;
  changed.ring = g_new(TideTrackedMessage, capacity);
  if (offsets->capacity > 0)
    *tracked(&changed, offsets->tail - 1) = *tracked(offsets, offsets->tail - 1);
  for (guint32 sequence = offsets->head; sequence != offsets->tail; sequence++)
    *tracked(&changed, sequence) = *tracked(offsets, sequence);
  g_free(offsets->ring);
  *offsets = changed;
}

static void
advance_mark(TideOffsets *offsets)
{
  while (offsets->head != offsets->tail && tracked(offsets, offsets->head)->remaining_rows == 0) {
    offsets->mark = tracked(offsets, offsets->head)->offset + 1;
    if (offsets->finished_ms < 0)
      offsets->finished_ms = tracked(offsets, offsets->head)->timestamp_ms;
    offsets->head++;
  }
  if (offsets->head == offsets->tail)
    offsets->mark = MAX(offsets->mark, offsets->end);
}

void
tide_offsets_reach_end(TideOffsets *offsets, gint64 end)
{
  offsets->end = end;
  advance_mark(offsets);
}

guint32
tide_offsets_begin(TideOffsets *offsets, const TideTrackedMessage *message)
{
  if (tide_offsets_span(offsets) == offsets->capacity)
    change_capacity(offsets, offsets->capacity == 0 ? FIRST_CAPACITY : offsets->capacity * 2);
  guint32 sequence = offsets->tail++;
  *tracked(offsets, sequence) = *message;
  if (message->remaining_rows == 0)
    advance_mark(offsets);
  else {
    offsets->unfinished++;
    offsets->unfinished_readings += message->n_readings;
    offsets->awaited_acks += message->remaining_rows;
  }
  return sequence;
}

const TideTrackedMessage *
tide_offsets_ack(TideOffsets *offsets, guint32 sequence, guint32 n_acks)
{
  g_assert(sequence - offsets->head < tide_offsets_span(offsets));
  TideTrackedMessage *message = tracked(offsets, sequence);
  g_assert(n_acks > 0 && message->remaining_rows >= n_acks);
  message->remaining_rows -= n_acks;
  offsets->awaited_acks -= n_acks;
  if (message->remaining_rows > 0)
    return NULL;
  offsets->unfinished--;
  offsets->unfinished_readings -= message->n_readings;
  if (sequence == offsets->head)
    advance_mark(offsets);
  return message;
}

const TideTrackedMessage *
tide_offsets_newest(const TideOffsets *offsets)
{
  return offsets->capacity > 0 ? tracked(offsets, offsets->tail - 1) : NULL;
}

const TideTrackedMessage *
tide_offsets_oldest(const TideOffsets *offsets)
{
  return offsets->head != offsets->tail ? tracked(offsets, offsets->head) : NULL;
}

const TideTrackedMessage *
tide_offsets_find(const TideOffsets *offsets, guint32 sequence)
{
  g_assert(sequence - offsets->head < tide_offsets_span(offsets));
  return tracked(offsets, sequence);
}

gint64
tide_offsets_offset_of(const TideOffsets *offsets, guint32 sequence)
{
  return tide_offsets_find(offsets, sequence)->offset;
}

void
tide_offsets_trim(TideOffsets *offsets)
{
  guint32 capacity = FIRST_CAPACITY;
  while (capacity / 2 < tide_offsets_span(offsets))
    capacity *= 2;
  if (capacity <= offsets->capacity / 4)
    change_capacity(offsets, capacity);
}

gsize
tide_offsets_memory_bytes(const TideOffsets *offsets)
{
  return offsets->capacity * sizeof *offsets->ring;
}
