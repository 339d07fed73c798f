/* Decides which rows of a call to send, so that a row that cannot be written does not affect others: a refused call is
 * halved until all good rows are written and each bad row is isolated.
 *
 *     tide_bisect_begin(bisect, call, now_us);
 *     while (tide_bisect_next(bisect, &sent))
 *       tide_bisect_note(bisect, how sending it ended, text, now_us);
 *     failure = tide_bisect_end(bisect, now_us, &counts, &text);
 *
 * One bad row of n takes at most 2 * log2(n) calls. These calls are halved:
 * - a refused call, at once; if it was refused for its size, both halves may be accepted;
 * - a call that was cut off or got no answer, after the second failure. The batch's next calls send the halves, since
 *   the connection is lost, and each piece may fail twice again.
 *
 * A row that was refused alone is poison if the refusal names the row as the cause. Otherwise it is a suspect: it is
 * retried alone, after the others, with doubling pauses. It is poison after TIDE_SUSPECT_ROUNDS rounds in which its
 * region worked. The batch shows that in each round with a row that was written before, the control row. For a batch
 * without one, the lanes report when the region last accepted another row (tide_lanes_worked_us()): after the suspect's
 * first refusal, or at any time if no other rows are expected. Until then the row waits, so no row of a region that
 * refuses everything becomes poison. If a batch accepts nothing, the search stops after three rows refused alone; the
 * next call starts elsewhere.
 *
 * A row that gets no answer alone is a suspect too, but becomes poison only above the smallest limit that a framed
 * gateway can have. A smaller row may be written by a later call, or after a proxy's limit is raised.
 *
 * Threads: one writer's. */
#pragma once

#include "write/lanes.h"
#include "write/suspects.h"

G_BEGIN_DECLS

/* hbase.regionserver.thrift.framed.max_frame_size_in_mb is an integer, and the call's header has a few hundred
 * bytes. */
#define TIDE_FRAME_LIMIT_LEAST_BYTES (1024u * 1024u - 4096u)

/* One call to the gateway: several puts, or one mutated row. */
typedef struct TideBisectCall {
  const TideBytes *parts; /* wire bytes; borrowed until the next call */
  gsize n_parts;
  gsize n_bytes;
  guint32 n_rows;
  const TideBatch *batch; /* contains the first row */
  guint32 row;
} TideBisectCall;

typedef struct TideBisectCounts {
  guint32 bisections; /* calls sent to find bad rows */
  guint32 poison;     /* rows found to be poison */
} TideBisectCounts;

typedef struct TideBisect TideBisect;

typedef struct TideBisectOptions {
  TideSuspects *suspects; /* borrowed: the lanes' */
  gint64 retry_min_us;    /* pause between the rounds of a suspect */
  gint64 retry_max_us;
} TideBisectOptions;

TideBisect *tide_bisect_new(const TideBisectOptions *options);
void tide_bisect_free(TideBisect *bisect); /* NULL ok */

/* @call: as the lanes gave it out; borrowed until tide_bisect_end(). @now_us: monotonic, here and below */
void tide_bisect_begin(TideBisect *bisect, TideCall *call, gint64 now_us);

/* Chooses the next call. Returns FALSE if nothing of @call is left to send. */
gboolean tide_bisect_next(TideBisect *bisect, TideBisectCall *ret_call);

/* Records the call's result. @text: the failure; NULL if OK */
void tide_bisect_note(TideBisect *bisect, TideFailure failure, const char *text, gint64 now_us);

/**
 * tide_bisect_end: records the results in the batches, and in the call what its size contributed.
 * @ret_text: (transfer full): why rows are not written; unchanged if all are written or poison
 * Returns: the result for batches that have waiting rows or have failed: POISON if a batch accepted no row, otherwise
 * the failure that ended the call. OK: no such batch, although suspects may be left. SUSPEND is never replaced.
 */
TideFailure tide_bisect_end(TideBisect *bisect, gint64 now_us, TideBisectCounts *ret_counts, char **ret_text);

G_END_DECLS
