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

/**
 * tide_zone_utc_of_local: the moment at which @zone's clocks show @local_s (as if they were UTC).
 * Of a local time that happens twice, the first moment is taken.
 * Returns: FALSE for a local time that never happens: the hour (or day) that the clocks skip.
 */
gboolean tide_zone_utc_of_local(GTimeZone *zone, gint64 local_s, gint64 *ret_utc_s) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
