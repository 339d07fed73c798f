/* The two clocks: monotonic and wall. Timers, deadlines and ages use the monotonic clock; the wall clock appears only
 * in the log and as "now" in output for people. Functions that depend on the time have it as a parameter, so that tests
 * control it. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define TIDE_US_PER_MS G_GINT64_CONSTANT(1000)
#define TIDE_US_PER_S G_GINT64_CONSTANT(1000000)

/* Monotonic, microseconds. */
static inline gint64
tide_now_us(void)
{
  return g_get_monotonic_time();
}

/* Wall clock, milliseconds since 1970-01-01T00:00:00Z. */
static inline gint64
tide_wall_clock_epoch_ms(void)
{
  return g_get_real_time() / TIDE_US_PER_MS;
}

G_END_DECLS
