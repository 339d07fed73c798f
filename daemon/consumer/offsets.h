/* The contiguous mark of one partition: which messages are unfinished, and up to where an offset may be committed.
 *
 * Batches are per region and end in any order, so messages finish in any order. Only the end of the contiguous finished
 * run may ever be stored; one unfinished message holds the mark below it, whatever finished after. Messages are
 * counted, not offsets: offsets have gaps (compaction, transaction markers).
 *
 * Threads: the owning consumer's only. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct TideTrackedMessage {
  gint64 offset;
  guint32 remaining_rows; /* not yet acknowledged */
  guint32 n_readings;
  gint64 timestamp_ms; /* the record's own time; -1: it has none */
} TideTrackedMessage;

typedef struct TideOffsets {
  TideTrackedMessage *ring;    /* owned */
  guint32 capacity;            /* a power of two; 0 before the first message */
  guint32 head;                /* sequence of the oldest unfinished message */
  guint32 tail;                /* sequence of the next message; sequences wrap, the span is below 2^31 */
  guint32 unfinished;          /* messages; fewer than the span where later ones finished first */
  guint64 unfinished_readings; /* of those messages */
  guint64 awaited_acks;        /* of those messages */
  gint64 mark;                 /* offset to commit: one past the contiguous finished run; -1 before anything finished */
  gint64 end;                  /* no message lies between the last one that was fetched and this offset; -1: unknown */
  gint64 finished_ms;          /* record time of the first message that moved the mark since this was last set to -1 */
} TideOffsets;

void tide_offsets_init(TideOffsets *offsets);
void tide_offsets_clear(TideOffsets *offsets);

/**
 * tide_offsets_begin: a message was fetched.
 * @message: copied. Its offset is greater than every one before it; its remaining rows are how many acknowledgements
 *     will end it; 0: it is finished at once
 * Returns: its sequence, for tide_offsets_ack(). May grow the ring: see tide_offsets_memory_bytes().
 */
guint32 tide_offsets_begin(TideOffsets *offsets, const TideTrackedMessage *message);

/* @n_acks of message @sequence came in: one for each row that was acknowledged. @sequence must be unfinished and wait
 * for as many. Returns: the message when that finished it, until the next one begins; NULL while it waits for more. */
const TideTrackedMessage *tide_offsets_ack(TideOffsets *offsets, guint32 sequence, guint32 n_acks);

/* All up to @end was fetched; what lies behind the last message are the marks of transactions, so the mark moves there
 * as soon as all messages before are finished. */
void tide_offsets_reach_end(TideOffsets *offsets, gint64 end);

/* The message that was read last; NULL: none was. */
const TideTrackedMessage *tide_offsets_newest(const TideOffsets *offsets);

/* The oldest message that is not finished; NULL: all are. */
const TideTrackedMessage *tide_offsets_oldest(const TideOffsets *offsets);

/* Message @sequence, which must not be before the oldest unfinished one. Valid until the next one begins. */
const TideTrackedMessage *tide_offsets_find(const TideOffsets *offsets, guint32 sequence);
/* Where it stands in its partition. */
gint64 tide_offsets_offset_of(const TideOffsets *offsets, guint32 sequence);

/* Messages from the oldest unfinished to the newest fetched. What kafka.max_span_messages limits is
 * tide_partition_span(). */
static inline guint32
tide_offsets_span(const TideOffsets *offsets)
{
  return offsets->tail - offsets->head;
}

/* Gives memory back where the ring has room for four times as many messages as it should have, twice the span: it grew
 * for a span that is over. */
void tide_offsets_trim(TideOffsets *offsets);

gsize tide_offsets_memory_bytes(const TideOffsets *offsets);

G_END_DECLS
