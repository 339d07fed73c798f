/* Cuts a moment to the start of its slot: n minutes, day, week, month or year, in UTC or a named zone.
 *
 * Slots follow the zone's clocks, so the day on which clocks go forward is one hour shorter and the one on which they
 * go back one hour longer. A day begins with midnight by the clock: with the second one where clocks are set back from
 * after midnight to the day before, with the first moment of the day where they skip it. Weeks begin on Monday. Slots
 * of minutes are counted from midnight by the clock: a slot that the clocks begin twice is two slots, one for each time
 * (the hour, and each quarter of an hour, from 2 to 3 in Berlin); a longer one, of which they repeat a part only, is
 * one slot (0 to 6 o'clock is 7 hours long on that day, and 5 in spring). Every moment is in exactly one slot, slots do
 * not overlap, slots of minutes do not reach over the ends of days, and start(t) <= t < end(t).
 *
 * A zone's rules come from the machine's time zone database; which of them are used, and what the first use of a zone
 * costs, says zone_spans.h. */
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

/* "15m" "hour" "6h" "day" "week" "month" "year" ("1h", "1d" too). Errors: TIDE_ERROR_CONFIG with what is allowed:
 * minutes that divide the day. */
gboolean tide_time_cut_parse(const char *text, TideTimeCut *ret_cut, GError **error) G_GNUC_WARN_UNUSED_RESULT;
char *tide_time_cut_format(TideTimeCut cut); /* as parse reads it; "none". (transfer full) */

/* The slot [start, end) that @ns is in. @zone: NULL is UTC. @ns: not negative; a start before 1970 is cut off at 0.
 * Without a cut (TIDE_CUT_NONE), @ns alone. Threads: any. Allocates: nothing but at the first use of a zone. */
gint64 tide_time_cut_start_ns(TideTimeCut cut, GTimeZone *zone, gint64 ns);
gint64 tide_time_cut_end_ns(TideTimeCut cut, GTimeZone *zone, gint64 ns);

/* The longest that a slot can be in any zone, to know how many digits an offset needs: a day has 24 hours and the most
 * that any zone's clocks were set back since 1970, 3 hours. */
gint64 tide_time_cut_longest_ns(TideTimeCut cut);

/* Whether the zone's clocks are set at any time from 1970 on: local times can then be ambiguous. NULL: no. */
gboolean tide_zone_has_changes(GTimeZone *zone);

G_END_DECLS
