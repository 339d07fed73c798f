#include "write/yield.h"

#include "util/clock.h"
#include <math.h>

#define MIN_BOUND (1.0 / 8)

/* A base has this many calls beside the first of each kind, by which it is known how much they vary. It ends at the
 * second number at the latest: then hardly any two are of one kind, and no round counts as slow. */
#define BASE_CALLS 15
#define MAX_BASE_CALLS 128

#define ROUND_CALLS 8

/* Slow: this many times the base, at least. */
#define SLOW_TIMES (5.0 / 4)

/* And so many standard errors. Since these are estimated, chance exceeds them in one round of 200, and rarely in two
 * rounds in a row. */
#define SLOW_ERRORS 3

/* While the base is measured: with pauses as long as the calls, since even a single call in flight all the time makes
 * others wait, and then waits for them. */
#define MEASURING_BOUND 0.5

/* How long a base is used: so many times as long as it was measured, within these limits. */
#define BASE_LASTS_TIMES 4
#define MIN_BASE_LASTS_US (60 * TIDE_US_PER_S)
#define MAX_BASE_LASTS_US (600 * TIDE_US_PER_S)

/* For each round: in calls, or below one in parts of the bound. Every call beyond what the servers can do at once makes
 * others wait, and growing faster delays live calls more than it gains. */
#define GROWTH 0.25
#define GROWTH_BELOW_ONE 0.5

/* After a call that took until its timeout. */
#define MAX_PAUSE_US (10 * TIDE_US_PER_S)

static void
begin_round(TideYield *yield, gboolean was_slow, gint64 now_us)
{
  yield->round.n_calls = 0;
  yield->round.slower = yield->round.base_share = 0;
  yield->round.begin_us = now_us;
  yield->round.was_slow = was_slow;
}

static void
begin_base(TideYield *yield, gint64 now_us)
{
  yield->base.number++;
  yield->base.n_calls = yield->base.n_repeated = 0;
  yield->base.squares = 0;
  yield->base.begin_us = now_us;
  yield->base.end_us = 0;
  begin_round(yield, FALSE, now_us);
}

void
tide_yield_init(TideYield *yield, guint32 max_calls, gint64 now_us)
{
  *yield = (TideYield){.bound = 1, .ceiling = max_calls, .max_calls = max_calls, .halved_us = now_us};
  begin_base(yield, now_us);
}

static gboolean
is_measuring(const TideYield *yield)
{
  return yield->base.end_us == 0;
}

static double
allowed_calls(const TideYield *yield)
{
  return is_measuring(yield) ? MIN(yield->bound, MEASURING_BOUND) : yield->bound;
}

gint64
tide_yield_wait_us(const TideYield *yield, gint64 now_us)
{
  if (yield->n_in_flight >= MAX((guint32)allowed_calls(yield), 1))
    return G_MAXINT64;
  return MAX(yield->not_before_us - now_us, 0);
}

void
tide_yield_begin_call(TideYield *yield)
{
  yield->n_in_flight++;
}

static void
add_to_base(TideYield *yield, TideYieldKind *kind, double log_us, double log_rows, gint64 now_us)
{
  double before = log_us - kind->log_us;
  kind->n_calls++;
  kind->log_us += before / kind->n_calls;
  kind->log_rows += (log_rows - kind->log_rows) / kind->n_calls;
  yield->base.squares += before * (log_us - kind->log_us);
  yield->base.n_calls++;
  yield->base.n_repeated += kind->n_calls > 1 ? 1 : 0;
  if (yield->base.n_repeated < BASE_CALLS && yield->base.n_calls < MAX_BASE_CALLS)
    return;
  gint64 took_us = now_us - yield->base.begin_us;
  yield->base.end_us = now_us + CLAMP(BASE_LASTS_TIMES * took_us, MIN_BASE_LASTS_US, MAX_BASE_LASTS_US);
  yield->ceiling = yield->max_calls;
  begin_round(yield, FALSE, now_us);
}

/* Whether the round took longer than a round may by chance. */
static gboolean
is_slow(const TideYield *yield)
{
  if (yield->base.n_repeated < BASE_CALLS)
    return FALSE;
  double variance = yield->base.squares / yield->base.n_repeated;
  double error = sqrt(variance * (yield->round.base_share / ROUND_CALLS + 1.0 / ROUND_CALLS));
  return yield->round.slower / ROUND_CALLS > MAX(log(SLOW_TIMES), SLOW_ERRORS * error);
}

static void
judge_round(TideYield *yield, gint64 now_us)
{
  double step = yield->bound < 1 ? yield->bound * GROWTH_BELOW_ONE : GROWTH;
  gboolean slow = is_slow(yield);
  if (slow && yield->round.was_slow) {
    yield->ceiling = MAX(yield->bound - step, MIN_BOUND);
    double shrunk = yield->bound * exp(-yield->round.slower / ROUND_CALLS);
    yield->bound = CLAMP(shrunk, MIN_BOUND, yield->ceiling);
  } else if (!slow) {
    yield->bound = MIN(yield->bound + step, yield->ceiling);
  }
  begin_round(yield, slow && !yield->round.was_slow, now_us);
}

static void
add_to_round(TideYield *yield, const TideYieldKind *kind, double log_us, double log_rows, gint64 now_us)
{
  if (kind->n_calls == 0)
    return; /* the base has none of its kind */
  yield->round.slower += log_us - kind->log_us - MAX(log_rows - kind->log_rows, 0);
  yield->round.base_share += 1.0 / kind->n_calls;
  if (++yield->round.n_calls == ROUND_CALLS)
    judge_round(yield, now_us);
}

static void
end_acknowledged_call(TideYield *yield, TideYieldKind *kind, const TideYieldCall *call, gint64 now_us)
{
  double log_us = log((double)MAX(now_us - call->start_us, 1)), log_rows = log(MAX(call->n_rows, 1));
  if (kind->base != yield->base.number)
    *kind = (TideYieldKind){.base = yield->base.number};
  if (is_measuring(yield))
    add_to_base(yield, kind, log_us, log_rows, now_us);
  else
    add_to_round(yield, kind, log_us, log_rows, now_us);
  if (!is_measuring(yield) && now_us >= yield->base.end_us)
    begin_base(yield, now_us);
}

void
tide_yield_end_call(TideYield *yield, TideYieldKind *kind, const TideYieldCall *call, gint64 now_us)
{
  yield->n_in_flight--;
  if (call->is_turned_away && call->start_us >= yield->halved_us) {
    yield->bound = MAX(yield->bound / 2, MIN_BOUND);
    yield->halved_us = now_us;
  }
  if (call->is_acknowledged && call->start_us >= yield->round.begin_us)
    end_acknowledged_call(yield, kind, call, now_us);
  double allowed = allowed_calls(yield);
  if (allowed < 1 && (call->is_turned_away || call->is_acknowledged)) {
    double pause_us = (double)MAX(now_us - call->start_us, 0) * (1 / allowed - 1);
    yield->not_before_us = now_us + (gint64)MIN(pause_us, MAX_PAUSE_US);
  }
}
