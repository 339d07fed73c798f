/* Detects that the wall clock was set, by comparing it with the boot clock, which cannot be set.
 *
 * Threads: one at a time. */
#pragma once

#include "util/clock.h"

G_BEGIN_DECLS

/* Smaller steps are slewing, or the time between two reads. */
#define TIDE_CLOCK_JUMP_MIN_US (TIDE_US_PER_S / 2)

/* Initialise with zeroes. */
typedef struct TideClockWatch {
  gint64 ahead_us; /* of the wall clock over the boot clock, at the last check */
  gboolean has_looked;
} TideClockWatch;

/* Returns how far the wall clock was set since the last check, in microseconds: negative if it was set back, 0 if it
 * was not set, and 0 at the first check. @boot_us: CLOCK_BOOTTIME, which, like the wall clock, continues while the
 * machine is suspended */
gint64 tide_clock_watch_compare(TideClockWatch *watch, gint64 wall_us, gint64 boot_us);

/* The same with the current time of both clocks. */
gint64 tide_clock_watch_look(TideClockWatch *watch);

G_END_DECLS
