#include "service/clock_watch.h"

#include <time.h>

/* Maximum time between the two reads of the boot clock around one of the wall clock: an interrupted thread would
 * otherwise see a jump. */
#define READ_US (10 * TIDE_US_PER_MS)

gint64
tide_clock_watch_compare(TideClockWatch *watch, gint64 wall_us, gint64 boot_us)
{
  gint64 ahead_us = wall_us - boot_us, jump_us = watch->has_looked ? ahead_us - watch->ahead_us : 0;
  *watch = (TideClockWatch){.ahead_us = ahead_us, .has_looked = TRUE};
  return ABS(jump_us) >= TIDE_CLOCK_JUMP_MIN_US ? jump_us : 0;
}

static gint64
read_clock(clockid_t clock)
{
  struct timespec at = {0};
  (void)clock_gettime(clock, &at);
  return at.tv_sec * TIDE_US_PER_S + at.tv_nsec / 1000;
}

gint64
tide_clock_watch_look(TideClockWatch *watch)
{
  gint64 before_us, wall_us;
  do {
    before_us = read_clock(CLOCK_BOOTTIME);
    wall_us = read_clock(CLOCK_REALTIME);
  } while (read_clock(CLOCK_BOOTTIME) - before_us > READ_US);
  return tide_clock_watch_compare(watch, wall_us, before_us);
}
