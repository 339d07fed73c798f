/* A date and a time of day in parts, as clocks show them and texts name them. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The elements of a date and clock, from the largest on. What a pattern or text names is a bit for each: 1u << level.
 */
typedef enum TideTimeLevel {
  TIDE_LEVEL_YEAR,
  TIDE_LEVEL_MONTH,
  TIDE_LEVEL_DAY,
  TIDE_LEVEL_HOUR,
  TIDE_LEVEL_MINUTE,
  TIDE_LEVEL_SECOND,
  TIDE_LEVEL_FRACTION,
  TIDE_N_LEVELS,
} TideTimeLevel;

#define TIDE_NAMES(level) (1u << TIDE_LEVEL_##level)
#define TIDE_NAMES_DATE (TIDE_NAMES(YEAR) | TIDE_NAMES(MONTH) | TIDE_NAMES(DAY))
#define TIDE_NAMES_CLOCK (TIDE_NAMES(HOUR) | TIDE_NAMES(MINUTE) | TIDE_NAMES(SECOND) | TIDE_NAMES(FRACTION))
/* What a text can name besides: its offset from UTC, the day of the week. */
#define TIDE_NAMES_OFFSET (1u << TIDE_N_LEVELS)
#define TIDE_NAMES_WEEKDAY (2u << TIDE_N_LEVELS)

typedef struct TideTimeElements {
  int values[TIDE_N_LEVELS]; /* a fraction is in nanoseconds; 0 where it is not named */
  guint named;               /* TIDE_NAMES(...) */
  int fraction_digits;       /* named of the nanoseconds; 0: none */
  int offset_s;              /* local minus UTC; with TIDE_NAMES_OFFSET */
  gboolean was_cut;          /* the text is finer than nanoseconds */
} TideTimeElements;

/* What one step of @level is by the calendar: a year has 366 days, a month 31, a day 24 hours. Of a fraction: of its
 * digits. */
gint64 tide_time_level_ns(TideTimeLevel level, int fraction_digits);

/* What the clocks of @zone (NULL: UTC) show at @ns: all of it, and their offset. */
TideTimeElements tide_time_elements_at(GTimeZone *zone, gint64 ns);

/* Whether each value is one that clocks can show. @ret_detail: on a fault: a string literal. */
gboolean tide_time_elements_check(const TideTimeElements *elements, const char **ret_detail) G_GNUC_WARN_UNUSED_RESULT;

/* Whether @named is a date, a time of day or both, without a gap between the largest and the smallest element of each;
 * NULL, or what is missing: a string literal. */
const char *tide_time_names_fault(guint named);

/* Whether @named is the year, and with each element all that are larger: then it names a time by itself. */
static inline gboolean
tide_time_names_from_year(guint named)
{
  guint levels = named & (TIDE_NAMES_DATE | TIDE_NAMES_CLOCK);
  return (levels & TIDE_NAMES(YEAR)) && (levels & (levels + 1)) == 0;
}

/* Seconds of the date (1970-01-01 where none is named) and time of day as if they were UTC. */
gint64 tide_time_elements_local_s(const TideTimeElements *elements);

/* The times that show these elements on the clocks of @zone: [from, to), a year, month, day, hour, ... long. The year
 * must be named, and every element larger than a named one. FALSE for a date that does not exist, a local time that
 * never happens, and times before 1970 (or so late that nanoseconds cannot count them); what begins before 1970 is cut
 * off at 0. Of one that happens twice: from the first's start to the second's end. */
gboolean tide_time_elements_interval(const TideTimeElements *elements, GTimeZone *zone, gint64 *ret_from_ns,
                                     gint64 *ret_to_ns) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
