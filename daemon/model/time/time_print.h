/* Prints moments by a pattern, and reads them back: yyyyMMdd, yyyyMMddHHmmssSSS, HHmm, ...
 *
 * Elements: yyyy MM dd HH mm ss, S to SSSSSSSSS (a fraction), each of fixed width; and, only where @variable is asked
 * for (in qualifiers), d and M and H without a zero in front. Letters meant as such stand in single quotes, a quote is
 * written twice; all other characters stand for themselves. As in time_pattern.c, but no element needs the larger ones
 * beside it: HHmm is a pattern. */
#pragma once

#include "model/time/time_pattern.h"
#include "util/bytes.h"

G_BEGIN_DECLS

/* A compiled pattern, read-only. */
typedef struct TideTimePrint {
  char *pattern;                /* owned */
  TideTimePatternPiece *pieces; /* owned */
  gsize n_pieces;
  guint named;               /* TIDE_NAMES(...) */
  int fraction_digits;       /* 0: no fraction */
  guint32 width_bytes;       /* 0: varies */
  guint32 longest_bytes;     /* what it may append */
  TideTimeLevel first_level; /* the largest and the smallest element named */
  TideTimeLevel last_level;
  gboolean descends; /* each element is the next smaller one than that before it: where the larger ones are equal, texts
                      * of fixed width sort as their times do (where clocks go back, times of day do not, whatever the
                      * pattern: tide_zone_has_changes()) */
} TideTimePrint;

/* Errors: TIDE_ERROR_CONFIG: an unknown letter, a number of letters that is none of the above, an element twice, no
 * element. */
TideTimePrint *tide_time_print_compile(const char *pattern, gboolean variable,
                                       GError **error) G_GNUC_WARN_UNUSED_RESULT;
void tide_time_print_free(TideTimePrint *print);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideTimePrint, tide_time_print_free)

/* Whether a text names a time by itself: the year, and with each element all that are larger: yyyy, yyyyMM, ddMMyyyy.
 */
gboolean tide_time_print_has_date(const TideTimePrint *print);
/* What one step of its smallest element is by the calendar: a year has 366 days, a month 31, a day 24 hours. */
gint64 tide_time_print_resolution_ns(const TideTimePrint *print);

/* Appends what the clocks of @zone (NULL: UTC) show at @ns. Threads: any. Allocates: only by growing @out. */
void tide_time_print_append(const TideTimePrint *print, GTimeZone *zone, gint64 ns, TideBuffer *out);

/* The calendar values that a text names, by level; those that it does not name are -1. A fraction is in nanoseconds. */
typedef struct TideTimeElements {
  int values[TIDE_N_LEVELS];
  int fraction_digits; /* named of the nanoseconds; 0: none */
} TideTimeElements;

/* What the clocks of @zone (NULL: UTC) show at @ns, all of it. */
TideTimeElements tide_time_elements_at(GTimeZone *zone, gint64 ns);

/* Reads @text, which must be a text of the pattern (fixed width only) with values in their ranges. */
gboolean tide_time_print_read(const TideTimePrint *print, TideBytes text,
                              TideTimeElements *ret_elements) G_GNUC_WARN_UNUSED_RESULT;

/* The times that show these elements on the clocks of @zone: [from, to), a year, month, day, hour, ... long. The year
 * must be named, and every element larger than a named one. FALSE for a date that does not exist, a local time that
 * never happens, and times before 1970 (or so late that nanoseconds cannot count them); what begins before 1970 is cut
 * off at 0. Of one that happens twice: from the first's start to the second's end. */
gboolean tide_time_elements_interval(const TideTimeElements *elements, GTimeZone *zone, gint64 *ret_from_ns,
                                     gint64 *ret_to_ns) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
