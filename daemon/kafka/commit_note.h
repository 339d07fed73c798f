/* What is committed beside an offset, as its metadata: what the owner of a partition that writes it may leave in doubt
 * to the next one (docs/internals.md: equal times), and why the partition is halted. Text, as kafka-consumer-groups and
 * others show it:
 *
 *   tidemark 1 running until=1763700001000 time=1763700000000 span=1000000
 *   tidemark 1 closed span=1000000 start=-10001
 *
 * Builds up to 312c0586 read no other words than these, so a halt is written as a negative start, in decimal: the
 * offset that was to be read next, then one digit for the cause. The second note above is of a partition that is halted
 * at offset 1000, for the first cause of TideHaltCause. For the same reason the tables that the writer delivers are a
 * negative until, before any other: in those builds it leaves nothing in doubt, and of two the last counts.
 *
 *   tidemark 1 running until=-305419896 until=1763700001000 time=1763700000000 span=1000000
 *
 * Pure functions. */
#pragma once

#include "util/bytes.h"

G_BEGIN_DECLS

/* Why a partition is halted. The numbers are committed: they never change. */
typedef enum TideHaltCause {
  TIDE_HALT_NONE = 0,
  TIDE_HALT_BEYOND_END = 1, /* its offset is beyond the log's end: the topic was recreated, or lost its newest messages
                             */
  TIDE_HALT_DELETED = 2,    /* messages were deleted before they were read (retention) */
  TIDE_HALT_TAKEN = 3,     /* a consumer of the group that is not tidemark committed beyond what tidemark had written */
  TIDE_HALT_RECREATED = 4, /* the committed offset vanished, or the log's begin or end went back */
  TIDE_HALT_MESSAGE = 5,   /* a message that can be neither written nor kept as a dead letter: it is read once more */
  TIDE_HALT_N_CAUSES,
} TideHaltCause;

/* The properties of a cause. An operator has to act for each. */
typedef struct TideHaltKind {
  const char *text;         /* to follow "halted: " */
  const char *prevention;   /* to follow the command that ends the halt; "" for none */
  gboolean is_of_offset;    /* the offset beside the note is not where tidemark had come to but the log's beginning, so
                             * that nothing is read before an operator decides */
  gboolean is_passed_there; /* past the halt, reading goes on at its offset and so many behind it; else at the log's
                             * beginning, for what was to be read next is gone */
  guint n_skipped;
} TideHaltKind;

extern const TideHaltKind tide_halt_kinds[TIDE_HALT_N_CAUSES];

typedef struct TideHaltNote {
  TideHaltCause cause;
  gint64 offset; /* that was to be read next; for MESSAGE that of the message */
} TideHaltNote;

typedef struct TideCommitNote {
  gboolean is_closed; /* nothing of a later offset was sent and not acknowledged: what the writer sends next begins with
                       * another note */
  gint64 until_ms;    /* wall clock: cells of earlier offsets may be overwritten up to then; 0: none may ... */
  gint64 time_ms;     /* ... and none of them is later than this event time */
  guint64 span_messages; /* of the messages from the offset on no more than this many were sent */
  gint64
      start_ms; /* wall clock: the group began here, and nothing was finished since; 0: it did not, or something was */
  TideHaltNote halt;   /* excludes start_ms */
  guint32 tables_mark; /* of those that its writer delivers: config/tables_mark.h; 0: it does not say */
} TideCommitNote;

/* Where reading goes on if what caused the halt is accepted. @committed: the log's beginning */
gint64 tide_halt_past(const TideHaltNote *halt, gint64 committed);

/* (transfer full) */
char *tide_commit_note_format(const TideCommitNote *note);

/* FALSE: @text is none of ours, or of another version. */
gboolean tide_commit_note_parse(TideBytes text, TideCommitNote *ret_note);

G_END_DECLS
