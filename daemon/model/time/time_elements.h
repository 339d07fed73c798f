/* The elements of a date and a time of day, as shown by clocks and named by texts. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The elements of a date and time of day, largest first. A set of named elements has a bit for each: 1u << level. */
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
/* A text can also name its offset from UTC and the day of the week. */
#define TIDE_NAMES_OFFSET (1u << TIDE_N_LEVELS)
#define TIDE_NAMES_WEEKDAY (2u << TIDE_N_LEVELS)

typedef struct TideTimeElements {
  int values[TIDE_N_LEVELS]; /* the fraction is in nanoseconds; 0: not named */
  guint named;               /* TIDE_NAMES(...) */
  int fraction_digits;       /* of the fraction as named; 0: none */
  int offset_s;              /* local minus UTC; with TIDE_NAMES_OFFSET */
  gboolean was_cut;          /* the text is finer than nanoseconds */
} TideTimeElements;

/* The length of one step of @level: a year has 366 days, a month 31, a day 24 hours. The step of a fraction depends on
 * its digits. */
gint64 tide_time_level_ns(TideTimeLevel level, int fraction_digits);

/* All elements, and the offset, that the clocks of @zone (NULL: UTC) show at @ns. */
TideTimeElements tide_time_elements_at(GTimeZone *zone, gint64 ns);

/* Whether clocks can show each value. @ret_detail: otherwise the reason, a string literal. */
gboolean tide_time_elements_check(const TideTimeElements *elements, const char **ret_detail) G_GNUC_WARN_UNUSED_RESULT;

/* Checks that @named is a date, a time of day or both, without a gap between the largest and the smallest element of
 * each. Returns: NULL, or what is missing, a string literal. */
const char *tide_time_names_fault(guint named);

/* Whether @named has the year, and with each element all larger ones, so that it names a time by itself. */
static inline gboolean
tide_time_names_from_year(guint named)
{
  guint levels = named & (TIDE_NAMES_DATE | TIDE_NAMES_CLOCK);
  return (levels & TIDE_NAMES(YEAR)) && (levels & (levels + 1)) == 0;
}

/* Seconds of the date (1970-01-01 if none is named) and time of day, as if they were UTC. */
gint64 tide_time_elements_local_s(const TideTimeElements *elements);

/* The interval [from, to) in which the clocks of @zone show these elements. The year must be named, and every element
 * larger than a named one. FALSE: the date does not exist, the local time never occurs, or the interval is before 1970
 * or beyond what nanoseconds can count. A start before 1970 becomes 0. If the local time occurs twice, the interval
 * spans both. */
gboolean tide_time_elements_interval(const TideTimeElements *elements, GTimeZone *zone, gint64 *ret_from_ns,
                                     gint64 *ret_to_ns) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
