/* Sends rows of a call, whole or by slices as its gateway is known to take, and remembers what was cut off.
 *
 * A framed gateway closes the connection on a frame above its limit, without a word. So when that befalls a batch
 * larger than the smallest limit there is, it is sent in halves from then on; a row that is cut off alone
 * TIDE_CUT_LIMIT times, while HBase acknowledges others, is too large. A proxy's limit may be smaller: so is a batch
 * halved that was cut off TIDE_CUT_LIMIT times (call_size.h), whatever is taken of others, for what resets it may have
 * looked at its bytes. Where a few large rows are most of what is too large, they are left out instead.
 *
 * A row that was left out so, or cut off alone, is sent alone behind all others: no call waits for it. Its batch is
 * sent again with pauses that double (lanes.h). Below the gateway's smallest limit it may have been under way while
 * something restarted, or a proxy's limit may be raised: it is sent again until it is taken.
 *
 * Threads: one writer's. */
#pragma once

#include "write/call_size.h"
#include "write/lanes.h"

G_BEGIN_DECLS

/* hbase.regionserver.thrift.framed.max_frame_size_in_mb is a whole number, and the call's head is a few hundred bytes.
 */
#define TIDE_FRAME_LIMIT_LEAST_BYTES (1024u * 1024u - 4096u)

/* Of a call so many rows at the most are set aside for their size. */
#define TIDE_MAX_ASIDE 16u

/* What one call to the gateway carries: rows of a TideCall, all but those known as poison or given up. */
typedef struct TideSentRows {
  const TideBytes *parts; /* their wire */
  gsize n_parts;
  gsize n_bytes;
  guint32 n_rows;
  const TideBatch *batch; /* where the first row is */
  guint32 row;
} TideSentRows;

/* Sends @rows as one call. @ret_text: (transfer full): what was wrong; untouched when OK. */
typedef TideFailure (*TideSendRowsFunc)(const TideSentRows *rows, gpointer data, char **ret_text);

/* Rows of the whole call, counted through its batches. */
typedef struct TideRowRange {
  guint32 first;
  guint32 end;
} TideRowRange;

typedef struct TideCallSlices {
  /* set at creation, then read-only */
  TideSendRowsFunc send;
  gpointer data; /* borrowed */
  TideCallSizes sizes;
  /* of the call that runs */
  TideCall *call; /* borrowed */
  guint32 gateway;
  gint64 now_us;
  guint32 first_rows[TIDE_CALL_MAX_BATCHES + 1]; /* a batch's first among all rows of the call; then their number */
  guint32 aside[TIDE_MAX_ASIDE];                 /* rows of the call that are left out for the time being */
  guint32 n_aside;
  guint32 n_poison;    /* rows that were marked as poison */
  guint32 cut_rows;    /* of a call that was cut off so often that half as many are sent from now on; 0: none was */
  TideRowRange range;  /* what was sent last ... */
  guint32 n_sent_rows; /* ... was so many rows by tide_call_slices_send() */
  TideFailure failure; /* the last */
  char *text;          /* owned: of the last failure */
  TideBuffer parts;    /* of TideBytes; memory, reused */
} TideCallSlices;

void tide_call_slices_init(TideCallSlices *slices, TideSendRowsFunc send, gpointer data);
void tide_call_slices_clear(TideCallSlices *slices);

/* @call goes through @gateway, an index. */
void tide_call_slices_begin(TideCallSlices *slices, TideCall *call, guint32 gateway, gint64 now_us);

static inline guint32
tide_call_slices_n_rows(const TideCallSlices *slices)
{
  return slices->first_rows[slices->call->n_batches];
}

/* Of row @at of the call: which of its batches it is of. */
guint32 tide_call_slices_batch_of_row(const TideCallSlices *slices, guint32 at);

/* The first of rows [@first, @end) of the call's batch @i that is poison, a suspect, cut off, set aside, or given up;
 * @end: none. */
guint32 tide_call_slices_next_left_out(const TideCallSlices *slices, guint32 i, guint32 first, guint32 end);

/* Sets rows of @range aside that are far larger than the others. What is set aside is up to the caller. */
void tide_call_slices_set_aside_large(TideCallSlices *slices, TideRowRange range);

/* The same of rows of more than @limit_bytes. */
void tide_call_slices_set_aside_above(TideCallSlices *slices, TideRowRange range, gsize limit_bytes);

/* So many rows of the call are sent at a time, as its gateway is known to take; a batch alone keeps that in mind. */
guint32 tide_call_slices_choose_step(const TideCallSlices *slices);

/* All of @range but what is done or left out, as one call. What failed stays in failure and text. */
TideOutcome tide_call_slices_send(TideCallSlices *slices, TideRowRange range);
/* Row @at of the call alone, also when it is left out or was sent. NOT_SENT: it was given up meanwhile. */
TideOutcome tide_call_slices_send_alone(TideCallSlices *slices, guint32 at);

/* @row of the call's batch @batch can never be written. */
void tide_call_slices_mark_poison(TideCallSlices *slices, guint32 batch, guint32 row, guint32 attempts,
                                  const char *text);

G_END_DECLS
