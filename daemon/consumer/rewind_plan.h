/* The plan of a partition's rewind (rewind.h): when and why it is due, which messages are held until then, and what is
 * known of messages that are read again.
 *
 * Threads: the owning consumer's only. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Why a partition is rewound. If there are several reasons, the last one counts. */
typedef enum TideRewindReason {
  TIDE_REWIND_CONFLICT,  /* an unanswered call may have overwritten a newer value of the same cell and time */
  TIDE_REWIND_OVERFLOW,  /* there was no room to remember which cells unanswered calls may overwrite */
  TIDE_REWIND_REFUSED,   /* HBase refused a row that several messages made, some of them its own */
  TIDE_REWIND_CANCELLED, /* batches shared with a revoked partition were cancelled */
  TIDE_REWIND_SCHEMA,    /* its next message waited for its schema */
  TIDE_REWIND_N_REASONS,
} TideRewindReason;

typedef struct TideRewindKind {
  const char *label; /* of the metric */
  const char *text;  /* follows "because " */
} TideRewindKind;
extern const TideRewindKind tide_rewind_kinds[TIDE_REWIND_N_REASONS];

/* A message that the committed offset must not pass, because an uncertain call may overwrite what it wrote. */
typedef struct TideHeldMessage {
  guint32 sequence;    /* of the message, or of an earlier one */
  guint32 n_contested; /* contested rows; 0: no longer held */
  gint64 offset;       /* -1: where the assignment begins, not known yet */
  gint64 timestamp_ms; /* record time; -1: none, or unknown */
  gint64 until_us;     /* when its first conflict allows a rewind */
} TideHeldMessage;

/* A kept dead letter, or other knowledge of a message that may be read again. */
typedef struct TideKeptLetter {
  gint64 offset;
  gint32 reading_index;             /* or one of the following */
#define TIDE_LETTER_OF_ALL (-1)     /* the whole message: none of it could be used */
#define TIDE_LETTER_OF_REFUSED (-2) /* the whole message: HBase refused a row */
#define TIDE_LETTER_CANCELLED (-3)  /* none is kept: it was cancelled by a rewind */
#define TIDE_LETTER_OF_HALT (-4)    /* none is kept: the message halted its partition, which was logged and counted */
  gboolean is_counted;              /* its message has ended and was counted for it */
} TideKeptLetter;

/* Messages that had ended and were counted before they were read again. */
typedef struct TideEndedRange {
  gint64 first_offset;
  gint64 end_offset; /* after the last */
} TideEndedRange;

/* The state of rewinding in one assignment. */
typedef struct TideRewind {
  GArray *held; /* owned (element-type TideHeldMessage), ordered by sequence, all before the overflows */
  /* Nothing from these messages on is committed while unremembered calls may overwrite it; until_us 0: unused.
   * Overflows after the first are merged into the second and do not delay it. */
  TideHeldMessage overflows[2];
  gint64 cancelled_us;    /* since when its rows are not sent; 0: they are */
  gint64 refused_us;      /* since when it must be read again for refused rows; 0: it need not */
  guint64 refused_acks;   /* acknowledgements that never come: of refused rows, and one for a message that halts it */
  gint64 spaced_until_us; /* not rewound earlier for uncertain writes */
  gboolean is_due;        /* the rewind is due and cannot be avoided; nothing is taken any longer */
  /* State of the last rewind; -1: none */
  gint64 read_to_offset;       /* messages before this were read: their rows may be in flight */
  gint64 stale_to_offset;      /* likewise, until no such row is in flight */
  gint64 acked_to_offset;      /* messages before this were acknowledged */
  gint64 offset;               /* of the first message read again */
  guint n_in_vain;             /* preceding rewinds in a row that began at the same offset */
  gint64 backs_off_until_us;   /* not rewound earlier, for any reason */
  guint32 n_letters_in_flight; /* its dead letters that may still be kept */
  GArray *kept_letters;        /* owned (element-type TideKeptLetter), sorted: of messages that may be read again */
  GArray *ended;               /* owned (element-type TideEndedRange), sorted: likewise */
} TideRewind;

/* Whether a rewind of the partition is planned. */
static inline gboolean
tide_rewind_is_pending(const TideRewind *rewind)
{
  return rewind->held->len > 0 || rewind->overflows[0].until_us > 0 || rewind->cancelled_us > 0 ||
         rewind->refused_us > 0 || rewind->is_due;
}

/* The first held message; NULL: none. */
static inline const TideHeldMessage *
tide_rewind_first_held(const TideRewind *rewind)
{
  const TideHeldMessage *first = rewind->held->len > 0 ? &g_array_index(rewind->held, TideHeldMessage, 0) : NULL;
  for (guint i = 0; i < G_N_ELEMENTS(rewind->overflows); i++)
    if (rewind->overflows[i].until_us > 0 && (first == NULL || rewind->overflows[i].offset < first->offset))
      first = &rewind->overflows[i];
  return first;
}

/* Whether the message at @offset was also read before a rewind. */
static inline gboolean
tide_rewind_is_reread(const TideRewind *rewind, gint64 offset)
{
  return offset < rewind->read_to_offset;
}

void tide_rewind_init(TideRewind *rewind);
void tide_rewind_clear(TideRewind *rewind);

/* When, and why, a planned rewind is due. */
gint64 tide_rewind_due_us(const TideRewind *rewind);
TideRewindReason tide_rewind_reason(const TideRewind *rewind);
/* How long the commit stays at @offset, and why; NULL: no rewind is planned, or @offset is -1 (unknown). (transfer
 * full) */
char *tide_rewind_describe(const TideRewind *rewind, gint64 offset, gint64 now_us);

/* Holds @message for one more row. Returns FALSE if too many are held. */
gboolean tide_rewind_add_held(TideRewind *rewind, const TideHeldMessage *message) G_GNUC_WARN_UNUSED_RESULT;
/* One row of message @sequence is no longer contested. */
void tide_rewind_remove_held(TideRewind *rewind, guint32 sequence);
/* Whether the message at @offset will be written again, with all messages from an overflow on. */
gboolean tide_rewind_covers(const TideRewind *rewind, gint64 offset);
/* Holds @message and all later ones. */
void tide_rewind_add_overflow(TideRewind *rewind, const TideHeldMessage *message);
/* Rewinds to @offset. Messages still held come again @shift sequences later. */
void tide_rewind_restart(TideRewind *rewind, gint64 offset, guint32 shift, gint64 now_us, gint64 settle_us);

/* The dead letter that was kept of the message at @offset before a rewind; NULL: none. A dead letter of the whole
 * message also covers its rejected readings, but not rows that HBase refuses, which may not have been sent then. */
const TideKeptLetter *tide_rewind_find_letter(const TideRewind *rewind, gint64 offset, gint32 reading_index);
/* The message at @offset has ended and was counted for its dead letters. */
void tide_rewind_count_letters(TideRewind *rewind, gint64 offset);
/* Returns FALSE if it is known already. */
gboolean tide_rewind_add_letter(TideRewind *rewind, gint64 offset, gint32 reading_index, gint64 committed_offset);
/* Whether the message at @offset had a dead letter, kept or not. */
gboolean tide_rewind_has_letter(const TideRewind *rewind, gint64 offset);
/* Forgets dead letters of committed messages, which are not read again. */
void tide_rewind_forget_letters(TideRewind *rewind, gint64 committed_offset);

/* Whether the message at @offset had ended when it was read before. */
gboolean tide_rewind_has_ended(const TideRewind *rewind, gint64 offset);
/* @ended: (transfer full): messages that had ended since the last rewind; those not reread since then remain.
 * @end_offset: end of what was read */
void tide_rewind_set_ended(TideRewind *rewind, GArray *ended, gint64 end_offset);
/* Memory to charge to the budget. */
gsize tide_rewind_memory_bytes(const TideRewind *rewind);

G_END_DECLS
