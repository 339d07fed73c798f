/* The spans of time in which a zone keeps one offset from UTC, with their bounds, for fast lookup.
 *
 * GLib's own intervals are too slow, and lack bounds: GLib searches all changes of a zone since 1900 (100 to 200 ns in
 * most zones, up to three times for a reading's key), and does not report when an interval begins or ends.
 *
 * A zone's spans are computed at its first use, which takes some ms, and kept with a reference to the zone until the
 * program ends; only zones of the configuration occur. They cover 1970 to 2200, since no reading outside is plausible;
 * before and after, the first and the last offset apply. The rules are those of the host's time zone database as GLib
 * reads it.
 *
 * Threads: any; a lock is taken only when a zone is new. Allocates: only then. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct TideZoneSpan {
  gint64 from_s; /* UTC: [from_s, to_s); adjacent spans have other offsets */
  gint64 to_s;
  gint64 offset_s; /* local minus UTC */
} TideZoneSpan;

/* The span that contains @utc_s. @zone: NULL is UTC, one span from G_MININT64 to G_MAXINT64. */
TideZoneSpan tide_zone_span_at(GTimeZone *zone, gint64 utc_s);

/* The offset of @zone from UTC at @utc_s. */
gint64 tide_zone_offset_s(GTimeZone *zone, gint64 utc_s);

/* The moments at which a zone's clocks show one local time. */
typedef struct TideLocalMoments {
  guint n;         /* 2 if clocks were set back and show it again; 0 if they skip it */
  gint64 utc_s[2]; /* ascending; if n is 0: the moment of the skip, and 0 */
} TideLocalMoments;

/* The moments at which @zone's clocks show @local_s (as if they were UTC). */
TideLocalMoments tide_zone_moments_of_local(GTimeZone *zone, gint64 local_s);

/* Whether @zone's clocks show any local time twice, at or after @from_s (UTC). NULL: no. */
gboolean tide_zone_repeats(GTimeZone *zone, gint64 from_s);

G_END_DECLS
