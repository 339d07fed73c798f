/* The coalescing window: how long rows of latest tables wait for newer values before they are sent.
 *
 * On a live stream with idle writers they wait a few milliseconds. When readings are late already (a backlog is read),
 * half of that again is nothing to anybody, and saves most of the writes; when writers are behind, each write that is
 * saved lets the others go sooner. Each consumer has one window, for all its latest tables.
 *
 * Threads: the owning consumer's only. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct TideLatestWindow {
  gint64 min_us;
  gint64 max_us; /* not below min_us */
  gint64 us;     /* now */
  gint64 adapted_us;
} TideLatestWindow;

/* What one round of a consumer has seen. */
typedef struct TideLoadSigns {
  gboolean more;               /* there may be more messages to read at once */
  gint64 late_us;              /* how old the newest message read is, by its record's time; G_MAXINT64: it has none */
  gboolean writers_are_behind; /* several calls wait for a writer */
} TideLoadSigns;

void tide_latest_window_init(TideLatestWindow *window, gint64 min_us, gint64 max_us);

/* It comes to be within them as it is adapted. */
void tide_latest_window_set_bounds(TideLatestWindow *window, gint64 min_us, gint64 max_us);

/* Grows at once, and halves each 20 ms while nothing keeps it up: hiccups of Kafka are no end of a backlog. */
void tide_latest_window_adapt(TideLatestWindow *window, const TideLoadSigns *signs, gint64 now_us);

/* When to adapt again at the latest, though nothing happens; G_MAXINT64: it is at its least. */
gint64 tide_latest_window_next_us(const TideLatestWindow *window);

G_END_DECLS
