/* How far a process that yields may use one gateway for one table, so that those who write at the same time hardly
 * notice it. Pure arithmetic without locks or threads; all times are monotonic.
 *
 * Bound. It is the number of calls that may be in flight. Below one, a single call is, and a pause follows each call:
 * at a quarter, a call of 20 ms is followed by a pause of 60 ms. It begins at one and stays between a sixteenth and the
 * number of writers.
 *
 * Rounds. Four calls that began in a round are judged together, since the time of one call is chance. If they took
 * half as long again as the base, the bound shrinks as much as they were slower; a call that HBase refused for the
 * moment, or left without an answer, halves it at once. Otherwise it grows by half a call, or by half below one. Calls
 * from before the last change show nothing about it.
 *
 * Base. It is what calls take while this process has one in flight at most: what others meet without it. It is
 * measured anew every minute, in a round with at most one call in flight, because others' load changes; a faster round
 * replaces it meanwhile. Even if it contains others' load, their calls take at most about half as long again as
 * without this process.
 *
 * Sizes. A call of more rows than those of the base may take longer in proportion; one of fewer rows may take as long
 * as they, since the cost of a call may not depend on its rows at all. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct TideYield {
  double bound; /* calls in flight */
  guint32 n_in_flight;
  gint64 not_before_us; /* end of the pause */
  /* The base: an average call; of 0 us: it is being measured. */
  double base_us;
  double base_rows;
  gint64 measured_us; /* when it was last measured with one call in flight */
  /* The current round. */
  gint64 round_us; /* its beginning */
  guint32 n_calls; /* ended, of those that began in it */
  gint64 calls_us;
  guint64 calls_rows;
} TideYield;

typedef struct TideYieldCall {
  gint64 start_us;
  guint32 n_rows;
  gboolean is_acknowledged;
  gboolean is_turned_away; /* refused for the moment, or without an answer; neither: shows nothing about load */
} TideYieldCall;

void tide_yield_init(TideYield *yield, gint64 now_us);

/* How long the next call must wait; 0: it need not; G_MAXINT64: until a call ends */
gint64 tide_yield_wait_us(const TideYield *yield, gint64 now_us);

void tide_yield_begin_call(TideYield *yield);
/* @max_calls: the number of writers */
void tide_yield_end_call(TideYield *yield, const TideYieldCall *call, guint32 max_calls, gint64 now_us);

G_END_DECLS
