/* Notices that the wall clock was set, by comparing it with a clock that nobody sets.
 *
 * Threads: one at a time. */
#pragma once

#include "util/clock.h"

G_BEGIN_DECLS

/* A smaller step is slewing, or the time between two reads. */
#define TIDE_CLOCK_JUMP_MIN_US (TIDE_US_PER_S / 2)

/* Begins as zeroes. */
typedef struct TideClockWatch {
  gint64 ahead_us; /* of the wall clock, at the last look */
  gboolean has_looked;
} TideClockWatch;

/* How far the wall clock was set since the last look, in microseconds: below 0 when it was set back, 0 when it was not
 * set, and at the first look. @boot_us: CLOCK_BOOTTIME, which goes on while the machine is suspended as the wall clock
 * does */
gint64 tide_clock_watch_compare(TideClockWatch *watch, gint64 wall_us, gint64 boot_us);

/* The same, with the two clocks as they are now. */
gint64 tide_clock_watch_look(TideClockWatch *watch);

G_END_DECLS
