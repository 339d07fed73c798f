/* What a time pattern is made of, for those who read by one (time_text.c) and those who print by one (time_print.c):
 * letters, whose runs are elements; bytes that stand for themselves; single quotes around letters meant as such; a
 * quote written twice. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The elements of a date and clock, from the largest on. What a pattern names is a bit for each: 1u << level. */
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

/* What each level is. */
typedef struct TideTimeLevelTraits {
  char letter;
  gsize min_letters; /* how many letters make one element */
  gsize max_letters;
  gboolean may_vary; /* a single letter, without a zero in front, is one too, where that is allowed */
  const char *form;
  gint64 longest_s; /* a year has 366 days, a month 31; of a fraction: 0 */
  int least;        /* its values */
  int most;
} TideTimeLevelTraits;
extern const TideTimeLevelTraits tide_time_levels[TIDE_N_LEVELS];

#define TIDE_NAMES(level) (1u << TIDE_LEVEL_##level)
#define TIDE_NAMES_DATE (TIDE_NAMES(YEAR) | TIDE_NAMES(MONTH) | TIDE_NAMES(DAY))
#define TIDE_NAMES_CLOCK (TIDE_NAMES(HOUR) | TIDE_NAMES(MINUTE) | TIDE_NAMES(SECOND) | TIDE_NAMES(FRACTION))

typedef struct TideTimePatternPiece {
  guint8 byte;         /* the letter, or the byte that stands for itself */
  gsize n_letters;     /* 0: it stands for itself */
  TideTimeLevel level; /* of the letter: set where a pattern is compiled (time_print.c) */
} TideTimePatternPiece;

/* A walk through a pattern begins at its first character, outside of quotes. */
typedef struct TideTimePatternCursor {
  const char *at;
  gboolean is_quoted;
} TideTimePatternCursor;

/* FALSE at the end of the pattern. Threads: any. Allocates: nothing. */
gboolean tide_time_pattern_next(TideTimePatternCursor *cursor, TideTimePatternPiece *ret_piece);

/**
 * tide_time_pattern_scan: which elements @pattern names, at least one, none twice.
 * @variable: M, d and H alone, without a zero in front, are elements too
 * Errors: TIDE_ERROR_CONFIG.
 */
gboolean tide_time_pattern_scan(const char *pattern, gboolean variable, guint *ret_named,
                                GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Whether @pattern is one we can read; for the configuration. Elements: yyyy MM dd HH mm ss and S (1 to 9 of them,
 * digits of the second's fraction); letters meant as such stand in single quotes ('T'), a quote is written twice. No
 * element may be missing between the largest and the smallest one of date and time. Errors: TIDE_ERROR_CONFIG.
 * @ret_has_date: it names year, month and day. */
gboolean tide_time_pattern_check(const char *pattern, gboolean *ret_has_date, GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
