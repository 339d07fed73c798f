/* What may still be overwritten by calls that were abandoned, as a bound: cells up to an event time, until a moment. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct TideDoubt {
  gint64 until_us; /* monotonic; in the past: there is none */
  gint64 time_ms;  /* no cell in doubt is later */
} TideDoubt;

static inline void
tide_doubt_add(TideDoubt *doubt, TideDoubt more, gint64 now_us)
{
  if (doubt->until_us <= now_us) {
    *doubt = more;
    return;
  }
  doubt->until_us = MAX(doubt->until_us, more.until_us);
  doubt->time_ms = MAX(doubt->time_ms, more.time_ms);
}

G_END_DECLS
