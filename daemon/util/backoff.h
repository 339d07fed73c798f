/* Exponential backoff with jitter: the bound doubles with each failure, and the pause is random within its upper half,
 * so that clients of the same resource do not retry together. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

static inline gint64
tide_upper_half_us(gint64 bound_us)
{
  return bound_us / 2 + (gint64)(g_random_double() * (double)(bound_us / 2));
}

/* @n_failures: consecutive failures, from 1. The first pause is at most @min_us, the next ones up to twice the previous
 * bound, at most @max_us. */
static inline gint64
tide_backoff_us(guint32 n_failures, gint64 min_us, gint64 max_us)
{
  gint64 bound_us = min_us;
  for (guint32 i = 1; i < n_failures && bound_us < max_us; i++)
    bound_us *= 2;
  return tide_upper_half_us(MIN(bound_us, max_us));
}

G_END_DECLS
