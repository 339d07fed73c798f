/* The contiguous mark of one partition: which messages are unfinished, and up to which offset may be committed.
 *
 * Batches are per region and end in any order, so messages finish in any order. Only the end of the contiguous finished
 * run may be stored: one unfinished message keeps the mark below it. Messages are counted, not offsets, because offsets
 * have gaps (compaction, transaction markers).
 *
 * Threads: the owning consumer's only. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct TideTrackedMessage {
  gint64 offset;
  guint32 remaining_rows; /* not yet acknowledged */
  guint32 n_readings;
  gint64 timestamp_ms; /* record time; -1: none */
} TideTrackedMessage;

typedef struct TideOffsets {
  TideTrackedMessage *ring;    /* owned */
  guint32 capacity;            /* a power of two; 0 before the first message */
  guint32 head;                /* sequence of the oldest unfinished message */
  guint32 tail;                /* sequence of the next message; sequences wrap, the span is below 2^31 */
  guint32 unfinished;          /* messages; fewer than the span if later ones finished first */
  guint64 unfinished_readings; /* of those messages */
  guint64 awaited_acks;        /* of those messages */
  gint64 mark;                 /* offset to commit: one past the contiguous finished run; -1 before anything finished */
  gint64 end;                  /* no message is between the last one fetched and this offset; -1: unknown */
  gint64 finished_ms;          /* record time of the first message that moved the mark since this was last set to -1 */
} TideOffsets;

void tide_offsets_init(TideOffsets *offsets);
void tide_offsets_clear(TideOffsets *offsets);

/**
 * tide_offsets_begin: adds a fetched message.
 * @message: copied. Its offset is greater than those of all earlier ones. It finishes after remaining_rows
 *     acknowledgements; with 0, at once
 * Returns: its sequence, for tide_offsets_ack(). May grow the ring: see tide_offsets_memory_bytes().
 */
guint32 tide_offsets_begin(TideOffsets *offsets, const TideTrackedMessage *message);

/* Adds @n_acks acknowledgements, one per row, to message @sequence, which must be waiting for at least as many. Returns
 * the message if it is finished, valid until the next one begins; otherwise NULL. */
const TideTrackedMessage *tide_offsets_ack(TideOffsets *offsets, guint32 sequence, guint32 n_acks);

/* Everything up to @end was fetched. Only transaction markers follow the last message, so the mark moves to @end when
 * all messages are finished. */
void tide_offsets_reach_end(TideOffsets *offsets, gint64 end);

/* The last message read; NULL: none. */
const TideTrackedMessage *tide_offsets_newest(const TideOffsets *offsets);

/* The oldest unfinished message; NULL: none. */
const TideTrackedMessage *tide_offsets_oldest(const TideOffsets *offsets);

/* Message @sequence, which must not be before the oldest unfinished one. Valid until the next one begins. */
const TideTrackedMessage *tide_offsets_find(const TideOffsets *offsets, guint32 sequence);
/* Its offset in the partition. */
gint64 tide_offsets_offset_of(const TideOffsets *offsets, guint32 sequence);

/* Messages from the oldest unfinished to the newest fetched. kafka.max_span_messages limits tide_partition_span()
 * instead. */
static inline guint32
tide_offsets_span(const TideOffsets *offsets)
{
  return offsets->tail - offsets->head;
}

/* Shrinks a ring that grew for a long span: one of more than four times its desired capacity, which is twice the
 * span. */
void tide_offsets_trim(TideOffsets *offsets);

gsize tide_offsets_memory_bytes(const TideOffsets *offsets);

G_END_DECLS
