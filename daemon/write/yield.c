#include "write/yield.h"

#include "util/clock.h"

#define MIN_BOUND (1.0 / 16)

#define ROUND_CALLS 4

/* Slow: this many times the base, and a little more, since calls of about a millisecond vary that much on a busy
 * machine. */
#define SLOW_TIMES (4.0 / 3)
#define SLOW_MORE_US (1 * TIDE_US_PER_MS)

/* While the base is measured: with pauses as long as the calls, since even a single call in flight all the time makes
 * others wait, and then waits for them. */
#define MEASURING_BOUND 0.5

#define BASE_LASTS_US (60 * TIDE_US_PER_S)

/* For each round: of one call, or below one of the bound. Every call beyond what the servers can do at once makes
 * others wait, and growing faster delays live calls more than it gains. */
#define GROWTH 0.25

/* After a call that took until its timeout. */
#define MAX_PAUSE_US (10 * TIDE_US_PER_S)

static void
begin_round(TideYield *yield, gint64 now_us)
{
  yield->round_us = now_us;
  yield->n_calls = 0;
  yield->calls_us = 0;
  yield->calls_rows = 0;
  if (now_us - yield->measured_us >= BASE_LASTS_US)
    yield->base_us = 0;
}

void
tide_yield_init(TideYield *yield, guint32 max_calls, gint64 now_us)
{
  *yield = (TideYield){.bound = 1, .max_calls = max_calls, .measured_us = now_us, .round_us = now_us};
}

static double
allowed_calls(const TideYield *yield)
{
  gboolean is_measuring = yield->base_us <= 0;
  return is_measuring ? MIN(yield->bound, MEASURING_BOUND) : yield->bound;
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

/* Ends the round of ROUND_CALLS calls. */
static void
judge_round(TideYield *yield, gint64 now_us)
{
  double call_us = MAX((double)yield->calls_us / ROUND_CALLS, 1), call_rows = (double)yield->calls_rows / ROUND_CALLS;
  gboolean was_measured = yield->base_us <= 0;
  double expected_us = yield->base_us * MAX(call_rows / MAX(yield->base_rows, 1), 1);
  if (was_measured)
    yield->measured_us = now_us;
  else if (call_us > expected_us * SLOW_TIMES + SLOW_MORE_US)
    yield->bound = MAX(yield->bound * expected_us / call_us, MIN_BOUND);
  else
    yield->bound = MIN(yield->bound + MIN(yield->bound, 1) * GROWTH, yield->max_calls);
  if (was_measured || call_us * yield->base_rows < yield->base_us * call_rows) {
    yield->base_us = call_us;
    yield->base_rows = call_rows;
  }
  begin_round(yield, now_us);
}

void
tide_yield_end_call(TideYield *yield, const TideYieldCall *call, gint64 now_us)
{
  gint64 took_us = MAX(now_us - call->start_us, 0);
  gboolean is_of_round = call->start_us >= yield->round_us;
  yield->n_in_flight--;
  if (call->is_turned_away && is_of_round) {
    yield->bound = MAX(yield->bound / 2, MIN_BOUND);
    begin_round(yield, now_us);
  } else if (call->is_acknowledged && is_of_round) {
    yield->calls_us += took_us;
    yield->calls_rows += call->n_rows;
    if (++yield->n_calls == ROUND_CALLS)
      judge_round(yield, now_us);
  }
  double allowed = allowed_calls(yield);
  if (allowed < 1 && (call->is_turned_away || call->is_acknowledged)) {
    double pause_us = (double)took_us * (1 / allowed - 1);
    yield->not_before_us = now_us + (gint64)MIN(pause_us, MAX_PAUSE_US);
  }
}
