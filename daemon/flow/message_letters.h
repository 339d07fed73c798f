/* The messages in flight that become dead letters, in whole or in part: what is known of them until they end. There are
 * few, so they stand beside the partition's offsets, by sequence, and cost the others nothing.
 *
 * A message of which HBase refused rows has one letter on its way at a time, and one that is kept in all: a refused row
 * waits while another of its message is on its way, and what is refused later finds the message dead already.
 *
 * Threads: the owning consumer's only. */
#pragma once

#include "flow/dead_letters.h"
#include "model/reject.h"

G_BEGIN_DECLS

/* Why a letter was written: one of TideRejectReason, or that HBase refused a row. */
#define TIDE_LETTER_REFUSED TIDE_REJECT_N_REASONS
#define TIDE_LETTER_N_REASONS (TIDE_REJECT_N_REASONS + 1)

/* The stable name: metric label, header of the letter. */
const char *tide_letter_reason_name(guint reason);

typedef struct TideMessageLetters {
  GHashTable *by_sequence; /* owned; NULL before the first */
  gsize waiting_bytes;     /* that jobs take which wait for another of their message */
} TideMessageLetters;

void tide_message_letters_clear(TideMessageLetters *letters); /* forgets all; stays usable; zeroed: empty */
gsize tide_message_letters_memory_bytes(const TideMessageLetters *letters);

/* @n_readings of message @sequence, or a message that has none, are rejected for @reason, and letters of them are on
 * their way; the first reason stays. */
void tide_message_letters_add_rejected(TideMessageLetters *letters, guint32 sequence, TideRejectReason reason,
                                       guint32 n_readings);

/* Rows of job->source's message were refused.
 * @job: (transfer full), for TIDE_LETTER_REASON_REFUSED
 * Returns: (transfer full) (nullable): what is to be submitted now: nothing while another is on its way, or when the
 *     message is dead already; @ret_n_acks: acknowledgements that this settles, 0 in the first case. */
TideLetterJob *tide_message_letters_add_refused(TideMessageLetters *letters, TideLetterJob *job,
                                                guint32 *ret_n_acks) G_GNUC_WARN_UNUSED_RESULT;

/* @job, of a message in flight, has come home.
 * Returns: (transfer full) (nullable): what is to be submitted next; @ret_n_acks: acknowledgements that this settles.
 */
TideLetterJob *tide_message_letters_came_home(TideMessageLetters *letters, const TideLetterJob *job,
                                              guint32 *ret_n_acks) G_GNUC_WARN_UNUSED_RESULT;

/* How a message ends. */
typedef struct TideLetterEnd {
  guint reason;       /* of the letters; one, where there are several */
  gboolean whole;     /* all of its readings, not only n_readings */
  guint32 n_readings; /* that ended in letters */
} TideLetterEnd;

/* Message @sequence is finished, and forgotten here. FALSE: it has no letter. */
gboolean tide_message_letters_end(TideMessageLetters *letters, guint32 sequence, TideLetterEnd *ret_end);

G_END_DECLS
