/* Whether, when and why a partition is to be rewound (rewind.h), which of its messages are held until then, and what is
 * kept of those that are read again.
 *
 * Threads: the owning consumer's only. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Why a partition is rewound. Where there are several reasons, the last of these counts. */
typedef enum TideRewindReason {
  TIDE_REWIND_CONFLICT,  /* an unanswered call may have overwritten a newer value of the same cell and time */
  TIDE_REWIND_OVERFLOW,  /* there was no room to remember what unanswered calls may overwrite */
  TIDE_REWIND_REFUSED,   /* HBase refused a row that several messages made, of which some are its own */
  TIDE_REWIND_CANCELLED, /* batches that it shared with a partition that was taken away were cancelled */
  TIDE_REWIND_SCHEMA,    /* its next message waited for its schema */
  TIDE_REWIND_N_REASONS,
} TideRewindReason;

/* What each reason is. */
typedef struct TideRewindKind {
  const char *label; /* of the metric */
  const char *text;  /* to follow "because " */
} TideRewindKind;
extern const TideRewindKind tide_rewind_kinds[TIDE_REWIND_N_REASONS];

/* A message that the committed offset must not pass, as something may yet land over what it wrote. */
typedef struct TideHeldMessage {
  guint32 sequence;    /* or of one before it */
  guint32 n_contested; /* rows, until none is */
  gint64 offset;       /* -1: that where the assignment begins, which is not known yet */
  gint64 timestamp_ms; /* the record's own time; -1: it has none, or none is known */
  gint64 until_us;     /* when it may be rewound, by its first conflict */
} TideHeldMessage;

/* A dead letter that is kept, or what else is known of a message that may be read again. */
typedef struct TideKeptLetter {
  gint64 offset;
  gint32 reading_index;             /* or one of these */
#define TIDE_LETTER_OF_ALL (-1)     /* of its message: nothing of it could be used */
#define TIDE_LETTER_OF_REFUSED (-2) /* of all of it, since HBase refused a row */
#define TIDE_LETTER_GIVEN_UP (-3)   /* none is kept: it was on its way before a rewind */
#define TIDE_LETTER_OF_HALT (-4)    /* none is kept: it has halted its partition, which was told and counted */
  gboolean is_counted;              /* its message has ended since, and was counted for it */
} TideKeptLetter;

/* Messages that had ended, and were counted, before they were read again. */
typedef struct TideEndedRange {
  gint64 first_offset;
  gint64 end_offset; /* behind the last */
} TideEndedRange;

/* Whether, when and from where it is rewound (rewind.h), in one assignment. */
typedef struct TideRewind {
  GArray *held; /* owned (element-type TideHeldMessage): in the order of sequences, all before the overflows */
  /* From these on nothing is committed in any case while something may land: it is not remembered, or what it landed
   * over is not; until_us 0: not so. What ends later than the first is of the second, and does not move its moment. */
  TideHeldMessage overflows[2];
  gint64 cancelled_us;    /* since when rows of it are not sent any more; 0: they are */
  gint64 refused_us;      /* since when it is to be read again for refused rows; 0: it is not */
  guint64 refused_acks;   /* that never come, of refused rows: those, and one that halts it */
  gint64 spaced_until_us; /* not rewound again for a doubt before this */
  gboolean is_due;        /* its moment has come, and nothing is taken any more: so it is rewound, whatever holds it */
  /* as of the last rewind; -1: there was none */
  gint64 read_to_offset;       /* messages before this were read: rows of them may be on their way */
  gint64 stale_to_offset;      /* the same, until it is known that none is */
  gint64 acked_to_offset;      /* messages before this were acknowledged */
  gint64 offset;               /* of the first that was read again */
  guint n_in_vain;             /* rewinds in a row before it that began at that offset, too */
  gint64 backs_off_until_us;   /* not rewound again before this, if so, whatever the reason */
  guint32 n_letters_in_flight; /* its dead letters that may yet be kept */
  GArray *kept_letters;        /* owned (element-type TideKeptLetter), sorted: of messages that may be read again */
  GArray *ended;               /* owned (element-type TideEndedRange), sorted: likewise */
} TideRewind;

/* Whether @rewind's partition is to be rewound, now or later. */
static inline gboolean
tide_rewind_is_pending(const TideRewind *rewind)
{
  return rewind->held->len > 0 || rewind->overflows[0].until_us > 0 || rewind->cancelled_us > 0 ||
         rewind->refused_us > 0 || rewind->is_due;
}

/* The first message that is held; NULL: none is. */
static inline const TideHeldMessage *
tide_rewind_first_held(const TideRewind *rewind)
{
  const TideHeldMessage *first = rewind->held->len > 0 ? &g_array_index(rewind->held, TideHeldMessage, 0) : NULL;
  for (guint i = 0; i < G_N_ELEMENTS(rewind->overflows); i++)
    if (rewind->overflows[i].until_us > 0 && (first == NULL || rewind->overflows[i].offset < first->offset))
      first = &rewind->overflows[i];
  return first;
}

/* Whether the message at @offset was read before a rewind, too. */
static inline gboolean
tide_rewind_is_reread(const TideRewind *rewind, gint64 offset)
{
  return offset < rewind->read_to_offset;
}

void tide_rewind_init(TideRewind *rewind);
void tide_rewind_clear(TideRewind *rewind);

/* Of one that is pending: when it is due, and why. */
gint64 tide_rewind_due_us(const TideRewind *rewind);
TideRewindReason tide_rewind_reason(const TideRewind *rewind);
/* How long what is committed stays at @offset, and why; NULL: none is pending, or @offset is -1: not known.
 * (transfer full) */
char *tide_rewind_describe(const TideRewind *rewind, gint64 offset, gint64 now_us);

/* @message is held for one row more; FALSE: there are too many. */
gboolean tide_rewind_add_held(TideRewind *rewind, const TideHeldMessage *message) G_GNUC_WARN_UNUSED_RESULT;
/* One row of message @sequence is contested no longer. */
void tide_rewind_remove_held(TideRewind *rewind, guint32 sequence);
/* Whether the message at @offset is written once more in any case, with all that comes after an overflow. */
gboolean tide_rewind_covers(const TideRewind *rewind, gint64 offset);
/* @message and all that comes after it are held in any case. */
void tide_rewind_add_overflow(TideRewind *rewind, const TideHeldMessage *message);
/* It is rewound to @offset: what may still land by then is held on, and comes again @shift sequences later. */
void tide_rewind_restart(TideRewind *rewind, gint64 offset, guint32 shift, gint64 now_us, gint64 settle_us);

/* The dead letter of the message at @offset, which was read before a rewind, that was kept then; NULL: none was. One of
 * the whole message counts for what is rejected of it, too; but what HBase refuses may not have been sent then. */
const TideKeptLetter *tide_rewind_find_letter(const TideRewind *rewind, gint64 offset, gint32 reading_index);
/* The message at @offset has ended, as one of those with dead letters. */
void tide_rewind_count_letters(TideRewind *rewind, gint64 offset);
/* FALSE: it is there already. */
gboolean tide_rewind_add_letter(TideRewind *rewind, gint64 offset, gint32 reading_index, gint64 committed_offset);
/* Whether the message at @offset has had a dead letter, kept or not. */
gboolean tide_rewind_has_letter(const TideRewind *rewind, gint64 offset);
/* What is committed is not read again. */
void tide_rewind_forget_letters(TideRewind *rewind, gint64 committed_offset);

/* Whether the message at @offset had ended as it was read before. */
gboolean tide_rewind_has_ended(const TideRewind *rewind, gint64 offset);
/* @ended: (transfer full): what had ended of all that was read since the last rewind; what has not been read again
 * since then stays. @end_offset: behind that */
void tide_rewind_set_ended(TideRewind *rewind, GArray *ended, gint64 end_offset);
/* What all this takes, for the budget. */
gsize tide_rewind_memory_bytes(const TideRewind *rewind);

G_END_DECLS
