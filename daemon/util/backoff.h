/* Exponential backoff with jitter: the pause doubles with each failure, and is drawn evenly from its upper half, so
 * that those who wait for the same thing do not retry together. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

static inline gint64
tide_upper_half_us(gint64 bound_us)
{
  return bound_us / 2 + (gint64)(g_random_double() * (double)(bound_us / 2));
}

/* After @n_failures in a row, the first of which is 1: drawn from @min_us at the most, then twice that, up to @max_us.
 */
static inline gint64
tide_backoff_us(guint32 n_failures, gint64 min_us, gint64 max_us)
{
  gint64 bound_us = min_us;
  for (guint32 i = 1; i < n_failures && bound_us < max_us; i++)
    bound_us *= 2;
  return tide_upper_half_us(MIN(bound_us, max_us));
}

G_END_DECLS
