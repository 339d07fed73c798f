/* How far a process that yields may use one gateway for one table, so that those who write at the same time hardly
 * notice it. Pure arithmetic without locks or threads; all times are monotonic.
 *
 * Bound. It is the number of calls that may be in flight. Below one, a single call is, and a pause follows each call:
 * at a quarter, a call of 20 ms is followed by a pause of 60 ms. It begins at one and stays between a sixteenth and the
 * number of writers.
 *
 * Base. It is what sixteen calls take while this process has none in flight half of the time: what others meet without
 * it. It is measured at the beginning and every minute, because others' load changes. Even if it contains others' load,
 * their calls take about a quarter longer than without this process.
 *
 * Rounds. Eight calls that began in a round are judged together, since the time of one call is chance. They are slow if
 * they take a quarter longer than the base, and longer than the calls of the base differ by chance. After two slow
 * rounds in a row, the bound shrinks as much as the second was slower, and stays below where it was until the next
 * base: each attempt to return there would make others wait. A call that HBase refused for the moment, or left without
 * an answer, halves it at once. Otherwise each round lets it grow by a quarter of a call, or by a quarter below one.
 * Calls from before the last change show nothing about it.
 *
 * Times are compared by their logarithms: a call that waits for a collection of garbage takes twenty times as long as
 * others, and must not decide for all.
 *
 * Sizes. A call of more rows than those of the base may take longer in proportion; one of fewer rows may take as long
 * as they, since the cost of a call may not depend on its rows at all. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Of acknowledged calls: the logarithms of their times in us. */
typedef struct TideYieldTimes {
  guint32 n_calls;
  guint64 n_rows;
  double sum;
  double sum_of_squares;
} TideYieldTimes;

typedef struct TideYield {
  double bound;   /* calls in flight */
  double ceiling; /* of the bound, until the next base */
  guint32 max_calls;
  guint32 n_in_flight;
  gint64 not_before_us; /* end of the pause */
  TideYieldTimes base;
  gboolean is_measured; /* the base is complete */
  gint64 measured_us;   /* when */
  TideYieldTimes round; /* the current one */
  gint64 round_us;      /* its beginning */
  gboolean was_slow;    /* the one before it */
} TideYield;

typedef struct TideYieldCall {
  gint64 start_us;
  guint32 n_rows;
  gboolean is_acknowledged;
  gboolean is_turned_away; /* refused for the moment, or without an answer; neither: shows nothing about load */
} TideYieldCall;

/* @max_calls: the number of writers */
void tide_yield_init(TideYield *yield, guint32 max_calls, gint64 now_us);

/* How long the next call must wait; 0: it need not; G_MAXINT64: until a call ends */
gint64 tide_yield_wait_us(const TideYield *yield, gint64 now_us);

void tide_yield_begin_call(TideYield *yield);
void tide_yield_end_call(TideYield *yield, const TideYieldCall *call, gint64 now_us);

G_END_DECLS
