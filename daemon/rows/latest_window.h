/* The coalescing window: how long rows of latest tables wait for newer values before they are sent.
 *
 * On a live stream with idle writers they wait a few milliseconds. During a backlog readings are late anyway; waiting
 * half that time again is harmless and saves most writes. Otherwise rows wait several times as long as a write
 * currently takes from sealing to acknowledgement. Overloaded writers lengthen the window, so each saved write speeds
 * up the others, and the wait stays in proportion to the general delay. Each consumer has one window for all its latest
 * tables.
 *
 * Threads: the owning consumer's only. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct TideLatestWindow {
  gint64 min_us;
  gint64 max_us;         /* at least min_us */
  gint64 us;             /* current length */
  gint64 backlog_us;     /* length required by the backlog */
  gint64 adapted_us;     /* when backlog_us last grew or was halved */
  double write_us;       /* smoothed duration of a write ... */
  gint64 written_us;     /* ... at this time */
  gboolean is_following; /* the last adaptation had a duration; otherwise the next completed write sets it */
} TideLatestWindow;

/* Observations of one round of a consumer. */
typedef struct TideLoadSigns {
  gboolean more;   /* more messages may be available at once */
  gint64 late_us;  /* age of the newest message read, by its record time; G_MAXINT64: none */
  gint64 write_us; /* average duration of completed writes; 0: none in flight; -1: unknown */
} TideLoadSigns;

void tide_latest_window_init(TideLatestWindow *window, gint64 min_us, gint64 max_us);

/* The length follows the new bounds with the next adaptations. */
void tide_latest_window_set_bounds(TideLatestWindow *window, gint64 min_us, gint64 max_us);

/* The backlog's part grows at once, and halves every 20 ms without one: hiccups of Kafka do not end a backlog. The
 * writers' part follows their duration smoothly, within a few tenths of a second. */
void tide_latest_window_adapt(TideLatestWindow *window, const TideLoadSigns *signs, gint64 now_us);

/* When to adapt again without other events; G_MAXINT64: the length is at its minimum. */
gint64 tide_latest_window_next_us(const TideLatestWindow *window);

G_END_DECLS
