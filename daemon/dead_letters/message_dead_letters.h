/* The messages in flight that become dead letters, in whole or in part: what is known of them until they end. There are
 * few, so they stand beside the partition's offsets, by sequence, and cost the others nothing.
 *
 * The rule of acknowledgements. A message that was mapped is owed one for each row that it made and one for each
 * reading of it that was rejected (unless those are passed over); one that could not be mapped is owed one. They come
 *   - for a row, when its batch is completed: it was written; with it, the message's part of a merged row;
 *   - for a rejected reading, or the message that could not be mapped, when its dead letter is kept;
 *   - for a row that HBase refuses, and for those that follow it and so are never sent: when the dead letter of the
 *     message is kept. For a row that others share none comes: the message is read again. A message of which HBase
 *     refused rows has one dead letter in all; whatever else of it is refused meanwhile or later is settled with that.
 * So each is counted down to 0 exactly once, and ends.
 *
 * Threads: the owning consumer's only. */
#pragma once

#include "dead_letters/dead_letter_queue.h"
#include "model/reject.h"

G_BEGIN_DECLS

/* Why a dead letter was written: one of TideRejectReason, or that HBase refused a row. */
#define TIDE_DEAD_LETTER_REFUSED TIDE_REJECT_N_REASONS
#define TIDE_DEAD_LETTER_N_REASONS (TIDE_REJECT_N_REASONS + 1)

/* The stable name: metric label, header of the dead letter. */
const char *tide_dead_letter_reason_name(guint reason);

typedef struct TideMessageDeadLetters {
  GHashTable *by_sequence; /* owned; NULL before the first */
} TideMessageDeadLetters;

void
tide_message_dead_letters_clear(TideMessageDeadLetters *dead_letters); /* forgets all; stays usable; zeroed: empty */
gsize tide_message_dead_letters_memory_bytes(const TideMessageDeadLetters *dead_letters);

/* @n_readings of message @sequence, or a message that has none, are rejected for @reason, and dead letters of them are
 * on their way; the first reason stays. */
void tide_message_dead_letters_add_rejected(TideMessageDeadLetters *dead_letters, guint32 sequence,
                                            TideRejectReason reason, guint32 n_readings);

/* Whether message @sequence has a dead letter on its way, or kept, of whatever kind. */
gboolean tide_message_dead_letters_has_any(const TideMessageDeadLetters *dead_letters, guint32 sequence);

/* A row of message @sequence, and of no other, was refused, for which @n_acks are owed.
 * Returns: TRUE when its dead letter is to be submitted now, which settles them; FALSE: there is one. @ret_n_acks: what
 * is settled at once, because that one is kept. */
gboolean tide_message_dead_letters_add_refused(TideMessageDeadLetters *dead_letters, guint32 sequence, guint32 n_acks,
                                               guint32 *ret_n_acks) G_GNUC_WARN_UNUSED_RESULT;

/* The dead letter of @job, of a message in flight, is kept. Returns: the acknowledgements that this settles. */
guint32 tide_message_dead_letters_kept(TideMessageDeadLetters *dead_letters, const TideDeadLetterJob *job);

/* Message @sequence is read again after a rewind, and its dead letter for refused rows is kept: they are settled with
 * it, at once. @was_counted: the message, for that */
void tide_message_dead_letters_add_kept(TideMessageDeadLetters *dead_letters, guint32 sequence, gboolean was_counted);

/* How a message ends. */
typedef struct TideDeadLetterEnd {
  guint reason;         /* of the dead letters; one, where there are several */
  gboolean whole;       /* all of its readings, not only n_readings */
  guint32 n_readings;   /* that ended in dead letters */
  gboolean was_counted; /* as it ended before a rewind: it counts no more */
} TideDeadLetterEnd;

/* Message @sequence is finished, and forgotten here. FALSE: it has no dead letter. */
gboolean tide_message_dead_letters_end(TideMessageDeadLetters *dead_letters, guint32 sequence,
                                       TideDeadLetterEnd *ret_end);

G_END_DECLS
