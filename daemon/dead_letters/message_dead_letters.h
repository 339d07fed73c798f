/* State of messages in flight that become dead letters, as a whole or in part, until they end. They are few, so their
 * state is stored separately from the partition's offsets, by sequence, and costs other messages nothing.
 *
 * Acknowledgements: a mapped message needs one for each of its rows and one for each rejected reading (unless these are
 * skipped). A message that could not be mapped needs one. They arrive
 *   - for a row, including a share of a merged row, when its batch is completed;
 *   - for a rejected reading, or a message that could not be mapped, when its dead letter is kept;
 *   - for a row that HBase refuses, and for rows withheld because they follow it, when the message's dead letter is
 * kept. For a shared row none arrives: the message is read again. A message with refused rows has one dead letter in
 * total, which covers everything else of it that is refused meanwhile or later. Each message is thus counted down to 0
 * exactly once.
 *
 * Threads: the owning consumer's only. */
#pragma once

#include "dead_letters/dead_letter_queue.h"
#include "model/reject.h"

G_BEGIN_DECLS

/* Reasons of a dead letter: one of TideRejectReason, or a row refused by HBase. */
#define TIDE_DEAD_LETTER_REFUSED TIDE_REJECT_N_REASONS
#define TIDE_DEAD_LETTER_N_REASONS (TIDE_REJECT_N_REASONS + 1)

/* The stable name, for metric labels and the dead letter's header. */
const char *tide_dead_letter_reason_name(guint reason);

typedef struct TideMessageDeadLetters {
  GHashTable *by_sequence; /* owned; NULL before the first */
} TideMessageDeadLetters;

void
tide_message_dead_letters_clear(TideMessageDeadLetters *dead_letters); /* forgets all; remains usable; zeroed: empty */
gsize tide_message_dead_letters_memory_bytes(const TideMessageDeadLetters *dead_letters);

/* @n_readings of message @sequence, or the message if it has none, are rejected for @reason, and their dead letters are
 * in progress. The first reason remains. */
void tide_message_dead_letters_add_rejected(TideMessageDeadLetters *dead_letters, guint32 sequence,
                                            TideRejectReason reason, guint32 n_readings);

/* Whether message @sequence has a dead letter of any kind, in progress or kept. */
gboolean tide_message_dead_letters_has_any(const TideMessageDeadLetters *dead_letters, guint32 sequence);

/* HBase refused a row that only message @sequence made; @n_acks are missing for it. Returns TRUE if its dead letter
 * must be submitted now, which will provide them; FALSE: it has one. @ret_n_acks: acknowledgements provided at once
 * because that one is kept */
gboolean tide_message_dead_letters_add_refused(TideMessageDeadLetters *dead_letters, guint32 sequence, guint32 n_acks,
                                               guint32 *ret_n_acks) G_GNUC_WARN_UNUSED_RESULT;

/* The dead letter of @job, whose message is in flight, is kept. Returns the acknowledgements that this provides. */
guint32 tide_message_dead_letters_kept(TideMessageDeadLetters *dead_letters, const TideDeadLetterJob *job);

/* Message @sequence is read again after a rewind, and its dead letter for refused rows is kept, which acknowledges them
 * at once. @was_counted: whether the message was counted for it */
void tide_message_dead_letters_add_kept(TideMessageDeadLetters *dead_letters, guint32 sequence, gboolean was_counted);

/* The end of a message. */
typedef struct TideDeadLetterEnd {
  guint reason;         /* of its dead letters; one of them, if there are several */
  gboolean whole;       /* all of its readings, not only n_readings */
  guint32 n_readings;   /* that ended in dead letters */
  gboolean was_counted; /* at its end before a rewind: not counted again */
} TideDeadLetterEnd;

/* Message @sequence is finished and forgotten. Returns FALSE if it has no dead letter. */
gboolean tide_message_dead_letters_end(TideMessageDeadLetters *dead_letters, guint32 sequence,
                                       TideDeadLetterEnd *ret_end);

G_END_DECLS
