/* What is committed beside an offset, as its metadata: what the owner of a partition that writes it may leave in doubt
 * to the next one (docs/internals.md: equal times). Text, as kafka-consumer-groups and others show it:
 *
 *   tidemark 1 running until=1763700001000 time=1763700000000 span=1000000
 *
 * Pure functions. */
#pragma once

#include "util/bytes.h"

G_BEGIN_DECLS

typedef struct TideCommitNote {
  gboolean is_closed; /* nothing of a later offset was sent and not acknowledged: what the writer sends next begins with
                       * another note */
  gint64 until_ms;    /* wall clock: cells of earlier offsets may be overwritten up to then; 0: none may ... */
  gint64 time_ms;     /* ... and none of them is later than this event time */
  guint64 span_messages; /* of the messages from the offset on no more than this many were sent */
  gint64
      start_ms; /* wall clock: the group began here, and nothing was finished since; 0: it did not, or something was */
} TideCommitNote;

/* (transfer full) */
char *tide_commit_note_format(const TideCommitNote *note);

/* FALSE: @text is none of ours, or of another version. */
gboolean tide_commit_note_parse(TideBytes text, TideCommitNote *ret_note);

G_END_DECLS
