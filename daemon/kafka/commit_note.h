/* The metadata committed with an offset. It describes what the owner of a partition may leave uncertain to the next one
 * (docs/internals.md: equal times), and why the partition is halted. It is text, as kafka-consumer-groups and other
 * tools show it:
 *
 *   tidemark 1 running until=1763700001000 time=1763700000000 span=1000000
 *   tidemark 1 closed span=1000000 start=-10001
 *
 * Builds up to 312c0586 accept only these words. A halt is therefore written as a negative start, in decimal: the
 * offset to be read next, then one digit for the cause. The second note above is of a partition halted at offset 1000,
 * for the first cause of TideHaltCause. For the same reason the mark of the writer's tables is a negative until, before
 * any other. Those builds read it as nothing uncertain, and of two the last counts.
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
  TIDE_HALT_RECREATED = 4, /* the committed offset vanished, or the log's begin or end moved back */
  TIDE_HALT_MESSAGE = 5,   /* a message can be neither written nor kept as a dead letter: it is read again */
  TIDE_HALT_N_CAUSES,
} TideHaltCause;

/* The properties of a cause. An operator has to act for each. */
typedef struct TideHaltKind {
  const char *text;       /* follows "halted: " */
  const char *prevention; /* follows the command that ends the halt; "" for none */
  gboolean is_of_offset;  /* the committed offset is the log's beginning, not the position of tidemark: nothing is read
                             before an operator decides */
  gboolean is_passed_there; /* past the halt, reading resumes n_skipped messages after its offset; otherwise at the
                               log's beginning, because the messages to be read next are gone */
  guint n_skipped;
} TideHaltKind;

extern const TideHaltKind tide_halt_kinds[TIDE_HALT_N_CAUSES];

typedef struct TideHaltNote {
  TideHaltCause cause;
  gint64 offset; /* to be read next; for MESSAGE that of the message */
} TideHaltNote;

typedef struct TideCommitNote {
  gboolean is_closed; /* everything sent from later offsets was acknowledged: the writer's next rows start with another
                         note */
  gint64 until_ms;    /* wall clock: until then, cells of earlier offsets may be overwritten; 0: none may ... */
  gint64 time_ms;     /* ... and none of them is later than this event time */
  guint64 span_messages; /* at most this many messages were sent from the offset on */
  gint64 start_ms;       /* wall clock: the group began here and finished no message since; 0: otherwise */
  TideHaltNote halt;     /* excludes start_ms */
  guint32 tables_mark;   /* of the tables that its writer delivers: config/tables_mark.h; 0: unknown */
} TideCommitNote;

/* Where reading resumes if the cause of the halt is accepted. @committed: the log's beginning */
gint64 tide_halt_past(const TideHaltNote *halt, gint64 committed);

/* (transfer full) */
char *tide_commit_note_format(const TideCommitNote *note);

/* FALSE: @text is not a note, or of another version. */
gboolean tide_commit_note_parse(TideBytes text, TideCommitNote *ret_note);

G_END_DECLS
