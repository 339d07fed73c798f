/* Days and zones by plain arithmetic: the proleptic Gregorian calendar, UTC and named zones (by zone_spans.h).
 * Allocates nothing, reads no clock, so that every reading decides the same at every replay. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define TIDE_SECONDS_PER_DAY G_GINT64_CONSTANT(86400)

gboolean tide_date_is_valid(int year, int month, int day); /* month and day from 1 */

/* Days since 1970-01-01, which is 0; negative before. The date must be valid. */
gint64 tide_days_of_date(int year, int month, int day);

/* The inverse. */
void tide_date_of_days(gint64 days, int *ret_year, int *ret_month, int *ret_day);

/* The day of a moment given in seconds: rounded towards the past, also before 1970. */
gint64 tide_day_of_seconds(gint64 seconds);

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
