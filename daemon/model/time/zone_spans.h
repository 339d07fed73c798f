/* The spans of time in which a zone's clocks keep one offset from UTC: quick to find, and with their bounds.
 *
 * Why not GLib's intervals directly: GLib searches all changes of a zone since 1900 from the first on (100 to 200 ns in
 * most zones, of which a key may need three for each reading), and does not say when an interval begins or ends.
 *
 * A zone's spans are found once, when it is first asked for (some ms), by its pointer, and kept with a reference until
 * the program ends: zones are those that a configuration names. They cover 1970 to 2200, beyond which no reading is
 * plausible; before and after, the first and the last offset hold. The rules are those of the machine's time zone
 * database as GLib reads it.
 *
 * Threads: any; a lock is taken only when a zone is new. Allocates: only then. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct TideZoneSpan {
  gint64 from_s; /* UTC: [from_s, to_s); the spans beside it have other offsets */
  gint64 to_s;
  gint64 offset_s; /* local minus UTC */
} TideZoneSpan;

/* The span that @utc_s is in. @zone: NULL is UTC, one span from G_MININT64 to G_MAXINT64. */
TideZoneSpan tide_zone_span_at(GTimeZone *zone, gint64 utc_s);

/* What @zone adds to UTC at @utc_s, seconds. */
gint64 tide_zone_offset_s(GTimeZone *zone, gint64 utc_s);

/* When a zone's clocks show one local time. */
typedef struct TideLocalMoments {
  guint n;         /* 2 where clocks are set back: they show it again; 0 where they skip it */
  gint64 utc_s[2]; /* ascending; with 0: the moment of the skip, and nothing */
} TideLocalMoments;

/* The moments at which @zone's clocks show @local_s (as if they were UTC). */
TideLocalMoments tide_zone_moments_of_local(GTimeZone *zone, gint64 local_s);

/* Whether @zone's clocks show any local time twice, at @from_s (UTC) or later. NULL: no. */
gboolean tide_zone_repeats(GTimeZone *zone, gint64 from_s);

G_END_DECLS
