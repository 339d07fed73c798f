/* Limits actions to a rate per second. Missed actions are made up for, up to a tenth of a second.
 *
 * Threads: under the lock of the containing object. Time is the caller's, monotonic. */
#pragma once

#include "util/clock.h"

G_BEGIN_DECLS

#define TIDE_PACE_CATCH_UP_US (TIDE_US_PER_S / 10)
#define TIDE_NS_PER_US G_GINT64_CONSTANT(1000)

typedef struct TidePace {
  guint64 per_s; /* 0: not limited */
  gint64 due_ns; /* when the next one is due */
} TidePace;

/* Returns how long the next action must wait; 0: it need not. */
static inline gint64
tide_pace_wait_us(const TidePace *pace, gint64 now_us)
{
  return pace->due_ns > now_us * TIDE_NS_PER_US ? pace->due_ns / TIDE_NS_PER_US - now_us + 1 : 0;
}

/* Counts @n actions. */
static inline void
tide_pace_add(TidePace *pace, guint64 n, gint64 now_us)
{
  if (pace->per_s > 0)
    pace->due_ns = MAX(pace->due_ns, (now_us - TIDE_PACE_CATCH_UP_US) * TIDE_NS_PER_US) +
                   (gint64)(n * (guint64)(TIDE_NS_PER_US * TIDE_US_PER_S) / pace->per_s);
}

/* Changes the rate. What was done before then delays the next action as it would have at the new rate. */
static inline void
tide_pace_set(TidePace *pace, guint64 per_s, gint64 now_us)
{
  gint64 ahead_ns = pace->due_ns - now_us * TIDE_NS_PER_US;
  if (per_s == pace->per_s)
    return;
  if (ahead_ns > 0)
    pace->due_ns -= ahead_ns - (per_s > 0 ? (gint64)((double)ahead_ns * (double)pace->per_s / (double)per_s) : 0);
  pace->per_s = per_s;
}

G_END_DECLS
