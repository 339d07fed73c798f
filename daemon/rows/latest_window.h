/* The coalescing window: how long rows of latest tables wait for newer values before they are sent.
 *
 * On a live stream with idle writers they wait a few milliseconds. When readings are late already (a backlog is read),
 * half of that again is nothing to anybody, and saves most of the writes. Otherwise they wait a few times as long as a
 * write takes now, from its sealing to its acknowledgement: where writers are behind that is longer, so that each write
 * that is saved lets the others go sooner, and the wait stays in proportion to what everybody waits anyway. Each
 * consumer has one window, for all its latest tables.
 *
 * Threads: the owning consumer's only. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct TideLatestWindow {
  gint64 min_us;
  gint64 max_us;         /* not below min_us */
  gint64 us;             /* now */
  gint64 backlog_us;     /* what lateness asks for */
  gint64 adapted_us;     /* when that last grew or was halved */
  double write_us;       /* what a write takes, smoothed ... */
  gint64 written_us;     /* ... as of then */
  gboolean is_following; /* that was of the last adapting: else the next write that completes tells */
} TideLatestWindow;

/* What one round of a consumer has seen. */
typedef struct TideLoadSigns {
  gboolean more;   /* there may be more messages to read at once */
  gint64 late_us;  /* how old the newest message read is, by its record's time; G_MAXINT64: it has none */
  gint64 write_us; /* what the writes that completed took, on average, 0 when none is under way; -1: not known */
} TideLoadSigns;

void tide_latest_window_init(TideLatestWindow *window, gint64 min_us, gint64 max_us);

/* It comes to be within them as it is adapted. */
void tide_latest_window_set_bounds(TideLatestWindow *window, gint64 min_us, gint64 max_us);

/* What lateness asks for grows at once, and halves each 20 ms while nothing keeps it up: hiccups of Kafka are no end of
 * a backlog. What writes ask for follows them smoothly, up and down alike, in some tenths of a second. */
void tide_latest_window_adapt(TideLatestWindow *window, const TideLoadSigns *signs, gint64 now_us);

/* When to adapt again at the latest, though nothing happens; G_MAXINT64: it is at its least. */
gint64 tide_latest_window_next_us(const TideLatestWindow *window);

G_END_DECLS
