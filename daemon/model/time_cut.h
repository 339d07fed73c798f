/* Cuts a moment to the start of its slot: n minutes, day, week, month or year, in UTC or a named zone.
 *
 * Slots follow the zone's clocks: a day begins at local midnight (or, where the clocks skip that, at the first moment of the
 * day), so the day on which clocks go forward is one hour shorter and the one on which they go back one hour longer; weeks
 * begin on Monday. Slots of minutes are counted from local midnight by the clock; an hour that the clocks show twice makes two
 * slots, one for each time. Every moment is in exactly one slot, slots do not overlap, and start(t) <= t < end(t).
 *
 * A zone's rules come from the machine's time zone database: GLib knows changes of clocks up to 2037. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef enum TideCutUnit {
  TIDE_CUT_NONE,
  TIDE_CUT_MINUTES, /* any number that divides the day */
  TIDE_CUT_DAY,
  TIDE_CUT_WEEK,
  TIDE_CUT_MONTH,
  TIDE_CUT_YEAR,
} TideCutUnit;

typedef struct TideTimeCut {
  TideCutUnit unit;
  guint32 minutes; /* with TIDE_CUT_MINUTES: 1 to 720; 60 is an hour */
} TideTimeCut;

/* "15m" "hour" "6h" "day" "week" "month" "year" ("1h", "1d" too). Errors: TIDE_ERROR_CONFIG with what is allowed: minutes that
 * divide the day. */
gboolean tide_time_cut_parse(const char *text, TideTimeCut *ret_cut, GError **error) G_GNUC_WARN_UNUSED_RESULT;
char *tide_time_cut_format(TideTimeCut cut); /* as parse reads it; "none". (transfer full) */

/* The slot [start, end) that @ns is in. @zone: NULL is UTC. @ns: not negative; a start before 1970 is cut off at 0.
 * Threads: any. Allocates: nothing. */
gint64 tide_time_cut_start_ns(TideTimeCut cut, GTimeZone *zone, gint64 ns);
gint64 tide_time_cut_end_ns(TideTimeCut cut, GTimeZone *zone, gint64 ns);

/* The longest that a slot can be in any zone (a day: 25 h ... generous: 26 h), to know how many digits an offset needs. */
gint64 tide_time_cut_longest_ns(TideTimeCut cut);

/* Whether the zone's clocks are ever set between 1970 and 2037: local times can then be ambiguous. NULL: no. */
gboolean tide_zone_has_changes(GTimeZone *zone);

G_END_DECLS
