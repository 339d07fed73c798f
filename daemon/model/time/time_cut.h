/* Cuts a moment to the start of its slot: n minutes, a day, a week, a month or a year, in UTC or a named zone.
 *
 * Slots follow the zone's clocks, so a day is an hour shorter when clocks go forward and an hour longer when they go
 * back. A day begins at local midnight: at the second midnight if clocks are set back across it, at the first moment of
 * the day if they skip it. Weeks begin on Monday. Slots of minutes are counted from local midnight. A slot whose start
 * occurs twice is two slots, one for each time (in Berlin the hour from 2 to 3, and each quarter of it). A longer slot
 * that is repeated only in part is one slot (0 to 6 o'clock has 7 hours on that day, and 5 in spring). Every moment is
 * in exactly one slot, slots do not overlap, slots of minutes do not cross the ends of days, and start(t) <= t <
 * end(t).
 *
 * A zone's rules come from the host's time zone database; see zone_spans.h for their range and the cost of a zone's
 * first use. */
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

/* "15m" "hour" "6h" "day" "week" "month" "year" ("1h", "1d" too). Errors: TIDE_ERROR_CONFIG, naming what is allowed. */
gboolean tide_time_cut_parse(const char *text, TideTimeCut *ret_cut, GError **error) G_GNUC_WARN_UNUSED_RESULT;
char *tide_time_cut_format(TideTimeCut cut); /* in the form that parse reads, or "none". (transfer full) */

/* The slot [start, end) that contains @ns, which must not be negative; a start before 1970 becomes 0. With
 * TIDE_CUT_NONE, the slot is @ns alone. @zone: NULL is UTC. Threads: any. Allocates: only at the first use of a zone.
 */
gint64 tide_time_cut_start_ns(TideTimeCut cut, GTimeZone *zone, gint64 ns);
gint64 tide_time_cut_end_ns(TideTimeCut cut, GTimeZone *zone, gint64 ns);

/* The length of the longest slot in any zone, which determines the digits of an offset: a day has 24 hours plus the
 * largest step back of any zone since 1970, 3 hours. */
gint64 tide_time_cut_longest_ns(TideTimeCut cut);

/* Whether the zone's offset changes at any time since 1970, so that local times can be ambiguous. NULL: no. */
gboolean tide_zone_has_changes(GTimeZone *zone);

G_END_DECLS
