#include "rows/latest_window.h"

#include "util/clock.h"

/* Longer than a fetch, and than the pauses of the Kafka client between two; short enough that rows at the end of a
 * backlog are not delayed needlessly. */
#define HALVING_US (20 * TIDE_US_PER_MS)

/* Write durations are averaged over this time: several calls of a busy gateway. A step counts for at most STEP_US, so
 * that one hanging call delays no other rows. */
#define SMOOTHING_US (100 * TIDE_US_PER_MS)
#define STEP_US (20 * TIDE_US_PER_MS)

/* How many times as long as a write the window is. A lane of a latest table has one write in flight, so a window as
 * long as a write saves nothing. If writers cannot write every value, the window grows until they can: a larger number
 * makes latest values wait longer, and all other rows shorter. (4 instead of 2, a gateway of fixed service time at half
 * of its capacity: 20 % more at the median, up to 70 % more at the 99th percentile, with as many calls.) */
#define WRITES_PER_WINDOW 2

void
tide_latest_window_init(TideLatestWindow *window, gint64 min_us, gint64 max_us)
{
  *window = (TideLatestWindow){.min_us = min_us, .max_us = MAX(min_us, max_us), .us = min_us, .backlog_us = min_us};
}

void
tide_latest_window_set_bounds(TideLatestWindow *window, gint64 min_us, gint64 max_us)
{
  window->min_us = min_us;
  window->max_us = MAX(min_us, max_us);
}

/* Adapts to a backlog. */
static void
follow_lateness(TideLatestWindow *window, const TideLoadSigns *signs, gint64 now_us)
{
  gint64 wanted = signs->more ? CLAMP(signs->late_us / 2, window->min_us, window->max_us) : window->min_us;
  if (wanted >= window->backlog_us) {
    window->backlog_us = wanted;
    window->adapted_us = now_us;
  }
  while (window->backlog_us > wanted && now_us - window->adapted_us >= HALVING_US) {
    window->backlog_us = MAX(window->backlog_us / 2, wanted);
    window->adapted_us += HALVING_US;
  }
}

/* Adapts to busy writers. */
static void
follow_writes(TideLatestWindow *window, const TideLoadSigns *signs, gint64 now_us)
{
  window->is_following = signs->write_us >= 0;
  if (!window->is_following)
    return;
  double passed_us = (double)MIN(now_us - window->written_us, STEP_US);
  window->write_us += ((double)signs->write_us - window->write_us) * passed_us / (passed_us + SMOOTHING_US);
  window->written_us = now_us;
}

void
tide_latest_window_adapt(TideLatestWindow *window, const TideLoadSigns *signs, gint64 now_us)
{
  follow_lateness(window, signs, now_us);
  follow_writes(window, signs, now_us);
  gint64 busy_us = (gint64)(WRITES_PER_WINDOW * window->write_us);
  window->us = CLAMP(MAX(window->backlog_us, busy_us), window->min_us, window->max_us);
}

gint64
tide_latest_window_next_us(const TideLatestWindow *window)
{
  gint64 backlog_us = window->backlog_us > window->min_us ? window->adapted_us + HALVING_US : G_MAXINT64;
  gint64 writes_us = window->is_following && window->us > window->min_us ? window->written_us + STEP_US : G_MAXINT64;
  return MIN(backlog_us, writes_us);
}
