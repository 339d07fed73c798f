/* Days in the proleptic Gregorian calendar, and times in RFC 3339 format: plain arithmetic. Allocates nothing and reads
 * no clock, so that replays give the same results. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define TIDE_SECONDS_PER_DAY G_GINT64_CONSTANT(86400)

gboolean tide_date_is_valid(int year, int month, int day); /* month and day from 1 */

/* Days since 1970-01-01, which is 0; negative before. The date must be valid. */
gint64 tide_days_of_date(int year, int month, int day);

/* The inverse. */
void tide_date_of_days(gint64 days, int *ret_year, int *ret_month, int *ret_day);

/* The day of a time in seconds: rounded down, also before 1970. */
gint64 tide_day_of_seconds(gint64 seconds);

#define TIDE_ISO_TIME_BYTES 25 /* "2026-11-21T04:45:00.123Z" and a NUL */

/* Fills @text, in UTC and with milliseconds, and returns it. A time outside the years 1 to 9999 is printed as a
 * number. */
const char *tide_iso_time_print(gint64 epoch_ms, char text[TIDE_ISO_TIME_BYTES]);

G_END_DECLS
