/* How far a process that yields may use HBase, so that those who write at the same time hardly notice it. Pure
 * arithmetic without locks or threads; all times are monotonic.
 *
 * Bound. It is the number of calls that may be in flight, of all tables through all gateways: bounds of each of them
 * would add up, and the calls of one would be what others' calls take. Below one, a single call is, and a pause follows
 * each call: at a quarter, a call of 20 ms is followed by a pause of 60 ms. It begins at one and stays between an
 * eighth and the number of writers.
 *
 * Base. It is what calls take while this process has none in flight half of the time: what others meet without it. It
 * is measured at the beginning, and again after a minute, because others' load changes; where calls are slow, it lasts
 * four times as long as its measurement, at most ten minutes. Calls of one kind, which means of one table through one
 * gateway, are compared with each other only.
 *
 * Rounds. Eight calls that began in a round are judged together, since the time of one call is chance. They are slow if
 * they take a quarter longer than the base, and longer than the calls of the base differ by chance. After two slow
 * rounds in a row, the bound shrinks as much as the second was slower, and stays below where it was until the next
 * base: each attempt to return there would make others wait. After a round that is not slow, it grows by a quarter of a
 * call, or below one by half of itself.
 *
 * Refusals. A call that HBase refused for the moment, or left without an answer, halves the bound at once; those in
 * flight with it do not halve it again. Retries of a failing region do not count.
 *
 * Times are compared by their logarithms: a call that waits for a collection of garbage takes twenty times as long as
 * others, and must not decide for all.
 *
 * Sizes. A call of more rows than those of the base may take longer in proportion; one of fewer rows may take as long
 * as they, since the cost of a call may not depend on its rows at all. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The calls of one kind in the base; zeroed before its first call. */
typedef struct TideYieldKind {
  guint32 base; /* number of the base; of an earlier one, it counts nothing */
  guint32 n_calls;
  double log_us;   /* mean of the logarithms of their times */
  double log_rows; /* likewise, of their rows */
} TideYieldKind;

typedef struct TideYield {
  double bound;   /* calls in flight */
  double ceiling; /* of the bound, until the next base */
  guint32 max_calls;
  guint32 n_in_flight;
  gint64 not_before_us; /* end of the pause */
  gint64 halved_us;     /* by a call that was turned away */
  struct {
    guint32 number;
    guint32 n_calls;
    guint32 n_repeated; /* of these, those that were not the first of their kind */
    double squares;     /* of the differences from the means of their kinds */
    gint64 begin_us;
    gint64 end_us; /* 0: it is being measured */
  } base;
  struct {
    guint32 n_calls;
    double slower;     /* sum, each compared with the base of its kind, as logarithms */
    double base_share; /* sum of 1 / the calls of that base */
    gint64 begin_us;
    gboolean was_slow; /* the one before it */
  } round;
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
void tide_yield_end_call(TideYield *yield, TideYieldKind *kind, const TideYieldCall *call, gint64 now_us);

G_END_DECLS
