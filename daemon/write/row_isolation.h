/* Sends a call, and when a row of it can never be written, finds that row. Where HBase names it (named_row.h) it costs
 * one call alone, and the others go on without it. Else the call is halved, and the halves again, until rows stand
 * alone; the same bytes are sent each time, for rows of a batch stand one after the other. One bad row of n costs at
 * most 2 * log2(n) calls more, and all others are written. Before that, rows that are far larger than the others are
 * set aside, as it is their size that HBase refuses mostly: where these are the bad ones, each costs one call, and one
 * more shows that the others are good. Where HBase says above which size it refuses cells, rows of more are set aside
 * before all else.
 *
 * What is marked as poison: a row that was refused alone, with a text that says what is wrong with a row. Where the
 * text does not say whose fault it is, the row is a suspect: it is left out of the call and sent alone behind it, once
 * a round, again and again with pauses between. It is marked as poison when it was refused so TIDE_PROOF_LIMIT times,
 * each time with the same text while its region took other rows: so it is not the gateway's fault, nor the region's,
 * nor that of a moment. Such a text is believed for an hour: other rows that are refused with it need one round, by
 * turns with a row of their region that is taken. What is refused for its size, as by a proxy before the gateway, is
 * believed of that gateway alone: another one may take it.
 *
 * Where a region takes nothing else, nothing is said of its rows: it is held, which the lane's trouble tells, and one
 * row is marked as poison after TIDE_LONE_LIMIT rounds, if HBase acknowledges other rows. Of a gateway that refuses
 * everything no row is marked as poison.
 *
 * Threads: one writer's. */
#pragma once

#include "write/call_slices.h"

G_BEGIN_DECLS

/* With the pauses between them as configured by default these are two minutes, and one hour. */
#define TIDE_PROOF_LIMIT 12u
#define TIDE_LONE_LIMIT 360u

typedef struct TideIsolationCounts {
  guint32 bisections; /* calls sent to find bad rows */
  guint32 poison;     /* rows found */
  guint32 cut_rows;   /* of a call that was cut off so often that half as many are sent from now on; 0: none was */
} TideIsolationCounts;

typedef struct TideRowIsolation TideRowIsolation;

/* @data: borrowed. @round_us: rounds of a suspect that come sooner do not count. */
TideRowIsolation *tide_row_isolation_new(TideSendRowsFunc send, gpointer data, gint64 round_us);
void tide_row_isolation_free(TideRowIsolation *isolation); /* NULL ok */

/**
 * tide_row_isolation_send: sends all rows of @call that are neither known as poison nor given up.
 * @gateway: that it goes through, its index: what is known of sizes is known of that one
 * @now_us: monotonic, when the call was taken
 * @ret_text: (transfer full): why not; untouched when OK
 * Returns: OK when every row is acknowledged, entered as poison of its batch, or given up: TideBatch.is_left_out tells
 * of which batch nothing was left to send. Else what ended it: what is known by then is kept in the batches, which are
 * to be sent again. POISON is of a row that is suspected only.
 */
TideFailure tide_row_isolation_send(TideRowIsolation *isolation, TideCall *call, guint32 gateway, gint64 now_us,
                                    TideIsolationCounts *ret_counts, char **ret_text);

G_END_DECLS
