#include "rows/latest_window.h"

#include "util/clock.h"

/* Longer than what a fetch takes, and than the pauses that Kafka's client makes between two; short enough that the rows
 * of a backlog's end are not late by what nobody needs. */
#define HALVING_US (20 * TIDE_US_PER_MS)

void
tide_latest_window_init(TideLatestWindow *window, gint64 min_us, gint64 max_us)
{
  *window = (TideLatestWindow){.min_us = min_us, .max_us = MAX(min_us, max_us), .us = min_us};
}

void
tide_latest_window_set_bounds(TideLatestWindow *window, gint64 min_us, gint64 max_us)
{
  window->min_us = min_us;
  window->max_us = MAX(min_us, max_us);
}

static gint64
wanted_us(const TideLatestWindow *window, const TideLoadSigns *signs)
{
  if (signs->writers_are_behind)
    return window->max_us;
  return signs->more ? CLAMP(signs->late_us / 2, window->min_us, window->max_us) : window->min_us;
}

void
tide_latest_window_adapt(TideLatestWindow *window, const TideLoadSigns *signs, gint64 now_us)
{
  gint64 wanted = wanted_us(window, signs);
  if (wanted >= window->us) {
    window->us = wanted;
    window->adapted_us = now_us;
  }
  while (window->us > wanted && now_us - window->adapted_us >= HALVING_US) {
    window->us = MAX(window->us / 2, wanted);
    window->adapted_us += HALVING_US;
  }
}

gint64
tide_latest_window_next_us(const TideLatestWindow *window)
{
  return window->us > window->min_us ? window->adapted_us + HALVING_US : G_MAXINT64;
}
