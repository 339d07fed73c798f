/* Says what to send of a call so that a row that can never be written costs no other row: what is refused is halved
 * until the rest is written and each bad row stands alone.
 *
 *     tide_bisect_begin(bisect, call, now_us);
 *     while (tide_bisect_next(bisect, &sent))
 *       tide_bisect_note(bisect, how sending it ended, text, now_us);
 *     failure = tide_bisect_end(bisect, now_us, &counts, &text);
 *
 * One bad row of n costs 2 * log2(n) calls at most. What is halved:
 * - a call that was refused, at once; if for its size, both halves may be accepted;
 * - a call that was cut off or got no answer, after the second time; the halves are sent by the next calls of its
 *   batch, as the connection is lost, and each piece has its own two times.
 *
 * A row that was refused alone is poison if the text says what is wrong with it. Otherwise it is a suspect: it is sent
 * alone, after the others, with pauses that double, and is poison after TIDE_SUSPECT_ROUNDS rounds in which its region
 * was seen to work. Its batch shows that in each round by a row that was written before, the control row. For a batch
 * without one, the lanes say when the region accepted another row last (tide_lanes_worked_us()): after the row was
 * refused first, or, where no others come any more, at any time. Until then the row waits. So nothing of a region that
 * refuses everything is poison. Where nothing else of a batch was accepted, three rows refused alone end the search
 * until its next call, which begins it elsewhere.
 *
 * A row that gets no answer alone is a suspect, too, but is poison only if it is larger than the least limit that a
 * framed gateway can have: a smaller one may be written by a later call, or once a proxy's limit is raised.
 *
 * Threads: one writer's. */
#pragma once

#include "write/lanes.h"
#include "write/suspects.h"

G_BEGIN_DECLS

/* hbase.regionserver.thrift.framed.max_frame_size_in_mb is a whole number, and the call's head is a few hundred bytes.
 */
#define TIDE_FRAME_LIMIT_LEAST_BYTES (1024u * 1024u - 4096u)

/* What one call to the gateway carries: puts together, or a mutated row alone. */
typedef struct TideBisectCall {
  const TideBytes *parts; /* their wire; borrowed until the next call */
  gsize n_parts;
  gsize n_bytes;
  guint32 n_rows;
  const TideBatch *batch; /* where the first row is */
  guint32 row;
} TideBisectCall;

typedef struct TideBisectCounts {
  guint32 bisections; /* calls sent to find bad rows */
  guint32 poison;     /* rows found */
} TideBisectCounts;

typedef struct TideBisect TideBisect;

typedef struct TideBisectOptions {
  TideSuspects *suspects; /* borrowed: the lanes' */
  gint64 retry_min_us;    /* pauses between the rounds of a suspect */
  gint64 retry_max_us;
} TideBisectOptions;

TideBisect *tide_bisect_new(const TideBisectOptions *options);
void tide_bisect_free(TideBisect *bisect); /* NULL ok */

/* @call: borrowed until the end. @now_us: monotonic, as everywhere here. */
void tide_bisect_begin(TideBisect *bisect, TideCall *call, gint64 now_us);

/* What is to be sent next. FALSE: nothing of the call. */
gboolean tide_bisect_next(TideBisect *bisect, TideBisectCall *ret_call);

/* How that ended. @text: what was wrong; NULL when OK. */
void tide_bisect_note(TideBisect *bisect, TideFailure failure, const char *text, gint64 now_us);

/**
 * tide_bisect_end: says in the batches what became of their rows, and in the call what its size had to do with it.
 * @ret_text: (transfer full): why not all is written; untouched when all is, or is poison
 * Returns: how it ended for those batches that have waiting rows left, or have failed: POISON where a batch accepted
 * nothing, else what ended the call early. OK: there are none, but suspects may be left. SUSPEND stays what it is.
 */
TideFailure tide_bisect_end(TideBisect *bisect, gint64 now_us, TideBisectCounts *ret_counts, char **ret_text);

G_END_DECLS
