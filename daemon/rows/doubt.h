/* A bound for cells that abandoned calls may still overwrite: cells up to an event time, until a moment. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct TideDoubt {
  gint64 until_us; /* monotonic; in the past: no cell is uncertain */
  gint64 time_ms;  /* the latest time of an uncertain cell */
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
