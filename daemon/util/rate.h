/* The rate per second over the last five to ten seconds: two windows of five, one of which is being filled.
 *
 * Threads: under the lock of the containing object. Time is the caller's, monotonic. Zero-initialised: no events. */
#pragma once

#include "util/clock.h"

G_BEGIN_DECLS

#define TIDE_RATE_WINDOW_US (5 * TIDE_US_PER_S)

typedef struct TideRate {
  gint64 begin_us; /* of the current window */
  guint64 n;       /* events in it */
  guint64 n_before;
} TideRate;

/* Returns: TRUE when a new window began. */
static inline gboolean
tide_rate_add(TideRate *rate, guint64 n, gint64 now_us)
{
  gint64 passed_us = now_us - rate->begin_us;
  if (passed_us >= 2 * TIDE_RATE_WINDOW_US)
    *rate = (TideRate){.begin_us = now_us};
  else if (passed_us >= TIDE_RATE_WINDOW_US)
    *rate = (TideRate){.begin_us = rate->begin_us + TIDE_RATE_WINDOW_US, .n_before = rate->n};
  rate->n += n;
  return passed_us >= TIDE_RATE_WINDOW_US;
}

static inline double
tide_rate_a_second(TideRate rate, gint64 now_us)
{
  (void)tide_rate_add(&rate, 0, now_us);
  double seconds = (double)(TIDE_RATE_WINDOW_US + now_us - rate.begin_us) / TIDE_US_PER_S;
  return (double)(rate.n + rate.n_before) / seconds;
}

G_END_DECLS
