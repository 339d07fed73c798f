/* Whether, when and why a partition is to be rewound (rewind.h), and which of its messages are held until then: the
 * committed offset does not pass them, as something may yet land over what they wrote.
 *
 * Threads: the owning consumer's only. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Why a partition is rewound. Where there are several reasons, the last of these counts. */
typedef enum TideRewindReason {
  TIDE_REWIND_CONFLICT,  /* an unanswered call may have overwritten a newer value of the same cell and time */
  TIDE_REWIND_OVERFLOW,  /* there was no room to remember what unanswered calls may overwrite */
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

/* In the place of a number of cells: nothing ends it before the rewind. */
#define TIDE_HELD_IN_ANY_CASE G_MAXUINT32

/* A message that the committed offset must not pass. */
typedef struct TideHeldMessage {
  guint32 sequence;
  guint32 n_contested; /* cells, until none is; or TIDE_HELD_IN_ANY_CASE */
  gint64 offset;       /* -1: that where the assignment begins, which is not known yet */
  gint64 timestamp_ms; /* the record's own time; -1: it has none, or none is known */
  gint64 until_us;     /* when it may be rewound, by its first conflict */
} TideHeldMessage;

/* Of one partition, in one assignment. */
typedef struct TideRewind {
  GArray *held;             /* owned (element-type TideHeldMessage): in the order of sequences */
  gint64 overflow_until_us; /* something that is not remembered may land until then */
  gint64 cancelled_us;      /* since when rows of it are not sent any more; 0: they are */
  gboolean is_due;        /* its moment has come, and nothing is taken any more: so it is rewound, whatever holds it */
  gboolean is_noted;      /* the committed note says that it has read far ahead */
  gint64 spaced_until_us; /* not rewound again for a doubt before this ... */
  gint64 backed_off_us;   /* ... nor for anything before this */
  gint64 last_offset;     /* it was rewound to last; -1: never ... */
  guint n_in_place;       /* ... so many times without moving on */
  /* as of the last rewind; -1: there was none */
  gint64 read_to_offset;  /* messages before this were read, and what cannot be used of them is kept */
  gint64 acked_to_offset; /* messages before this were acknowledged */
  /* of its dead letters */
  guint32 n_letters_in_flight; /* that will be kept */
  GArray
      *refused_offsets; /* owned (element-type gint64), sorted: of messages that have one because HBase refused them */
} TideRewind;

void tide_rewind_init(TideRewind *rewind);
void tide_rewind_clear(TideRewind *rewind);
/* Another assignment. */
void tide_rewind_reset(TideRewind *rewind);

/* Whether @rewind's partition is to be rewound, now or later. */
static inline gboolean
tide_rewind_is_pending(const TideRewind *rewind)
{
  return rewind->held->len > 0 || rewind->cancelled_us > 0 || rewind->is_due;
}

/* The first message that is held; NULL: none is. */
static inline const TideHeldMessage *
tide_rewind_first_held(const TideRewind *rewind)
{
  return rewind->held->len > 0 ? &g_array_index(rewind->held, TideHeldMessage, 0) : NULL;
}

/* Of one that is pending: when, and why. */
gint64 tide_rewind_due_us(const TideRewind *rewind);
TideRewindReason tide_rewind_reason(const TideRewind *rewind);
/* How long what is committed stays at @offset, and why; NULL: none is pending. (transfer full) */
char *tide_rewind_describe(const TideRewind *rewind, gint64 offset, gint64 now_us);

/* @message is held; one that is held by itself already is so for one cell more. */
void tide_rewind_add_held(TideRewind *rewind, const TideHeldMessage *message);
/* One cell of message @sequence is contested no longer. */
void tide_rewind_remove_held(TideRewind *rewind, guint32 sequence);

G_END_DECLS
