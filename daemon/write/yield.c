#include "write/yield.h"

#include "util/clock.h"
#include <math.h>

#define MIN_BOUND (1.0 / 16)

/* How many calls a base and a round have. The time of one call is chance, and a base is used for a minute. */
#define BASE_CALLS 16
#define ROUND_CALLS 8

/* Slow: this many times the base, at least. */
#define SLOW_TIMES (5.0 / 4)

/* And so many standard errors: chance exceeds them in one round of seven hundred. */
#define SLOW_ERRORS 3

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
  yield->round = (TideYieldTimes){0};
  if (now_us - yield->measured_us >= BASE_LASTS_US) {
    yield->is_measured = FALSE;
    yield->base = (TideYieldTimes){0};
  }
}

void
tide_yield_init(TideYield *yield, guint32 max_calls, gint64 now_us)
{
  *yield =
      (TideYield){.bound = 1, .ceiling = max_calls, .max_calls = max_calls, .measured_us = now_us, .round_us = now_us};
}

static double
allowed_calls(const TideYield *yield)
{
  return yield->is_measured ? yield->bound : MIN(yield->bound, MEASURING_BOUND);
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
add_call(TideYieldTimes *times, double log_us, guint32 n_rows)
{
  times->n_calls++;
  times->n_rows += n_rows;
  times->sum += log_us;
  times->sum_of_squares += log_us * log_us;
}

static double
mean_of(const TideYieldTimes *times)
{
  return times->sum / times->n_calls;
}

/* How much slower than the base a round may be without being slow, as a logarithm. A round varies as the base did. */
static double
margin_of(const TideYieldTimes *base)
{
  double variance = MAX(base->sum_of_squares / base->n_calls - mean_of(base) * mean_of(base), 0);
  double error = sqrt(variance * (1.0 / BASE_CALLS + 1.0 / ROUND_CALLS));
  return MAX(log(SLOW_TIMES), SLOW_ERRORS * error);
}

static void
judge_round(TideYield *yield)
{
  double step = MIN(yield->bound, 1) * GROWTH;
  double slower = mean_of(&yield->round) - mean_of(&yield->base);
  gboolean is_slow = slower > margin_of(&yield->base);
  if (is_slow && yield->was_slow) {
    yield->ceiling = MAX(yield->bound - step, MIN_BOUND);
    yield->bound = MAX(yield->bound * exp(-slower), MIN_BOUND);
  } else if (!is_slow) {
    yield->bound = MIN(yield->bound + step, yield->ceiling);
  }
  yield->was_slow = is_slow && !yield->was_slow;
}

static void
end_acknowledged_call(TideYield *yield, gint64 took_us, guint32 n_rows, gint64 now_us)
{
  double log_us = log((double)MAX(took_us, 1));
  if (yield->is_measured) {
    double base_rows = MAX((double)yield->base.n_rows / BASE_CALLS, 1);
    add_call(&yield->round, log_us - log(MAX(n_rows / base_rows, 1)), n_rows);
    if (yield->round.n_calls < ROUND_CALLS)
      return;
    judge_round(yield);
  } else {
    add_call(&yield->base, log_us, n_rows);
    if (yield->base.n_calls < BASE_CALLS)
      return;
    yield->is_measured = TRUE;
    yield->measured_us = now_us;
    yield->ceiling = yield->max_calls;
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
    end_acknowledged_call(yield, took_us, call->n_rows, now_us);
  }
  double allowed = allowed_calls(yield);
  if (allowed < 1 && (call->is_turned_away || call->is_acknowledged)) {
    double pause_us = (double)took_us * (1 / allowed - 1);
    yield->not_before_us = now_us + (gint64)MIN(pause_us, MAX_PAUSE_US);
  }
}
