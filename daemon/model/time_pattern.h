/* What a time pattern is made of, for those who read by one (time_text.c) and those who print by one (time_print.c):
 * letters, whose runs are elements; bytes that stand for themselves; single quotes around letters meant as such; a
 * quote written twice. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Which elements a pattern names: bits, from the largest. */
enum {
  TIDE_TIME_NAMES_YEAR = 1,
  TIDE_TIME_NAMES_MONTH = 2,
  TIDE_TIME_NAMES_DAY = 4,
  TIDE_TIME_NAMES_HOUR = 8,
  TIDE_TIME_NAMES_MINUTE = 16,
  TIDE_TIME_NAMES_SECOND = 32,
  TIDE_TIME_NAMES_FRACTION = 64,
};

typedef struct TideTimePatternPiece {
  guint8 byte;     /* the letter, or the byte that stands for itself */
  gsize n_letters; /* 0: it stands for itself */
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

G_END_DECLS
