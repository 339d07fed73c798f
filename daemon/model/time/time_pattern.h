/* Time patterns: one language in which times are read and printed, after Java's DateTimeFormatter.
 *
 * Runs of letters are elements, of the table in time_pattern.c: yyyy, MM, MMM, ... Letters meant as such stand in
 * single quotes, a quote is written twice; [ and ] enclose what may be absent; all other characters stand for
 * themselves. The same compiled pattern reads and prints, so that whatever is read can be printed as well.
 *
 * In keys, names of tables and qualifiers only elements of fixed width are allowed whose texts can be read back and
 * sorted: yyyy MM dd HH mm ss and S; in qualifiers M, d and H, too. There, no element needs the larger ones beside it.
 */
#pragma once

#include "model/time/time_elements.h"
#include "util/bytes.h"

G_BEGIN_DECLS

/* What a pattern is for: which elements it may have. Bits, for the table of elements. */
typedef enum TidePatternUse {
  TIDE_PATTERN_TEXT = 1 << 0,      /* texts of readings */
  TIDE_PATTERN_KEY = 1 << 1,       /* keys, and names of tables */
  TIDE_PATTERN_QUALIFIER = 1 << 2, /* and other parts that are only printed */
} TidePatternUse;

typedef struct TideTimePiece TideTimePiece;

/* A compiled pattern, read-only. */
typedef struct TideTimePattern {
  char *text;            /* owned */
  TideTimePiece *pieces; /* owned */
  gsize n_pieces;
  guint named;               /* TIDE_NAMES(...), of optional parts as well */
  guint always_named;        /* those outside of optional parts */
  int fraction_digits;       /* of the fraction that is printed; 0: none, or one of any length */
  guint32 width_bytes;       /* 0: varies */
  guint32 longest_bytes;     /* what it may print */
  TideTimeLevel first_level; /* the largest and the smallest element named */
  TideTimeLevel last_level;
  gboolean descends; /* each element is the next smaller one than that before it: where the larger ones are equal, texts
                      * of fixed width sort as their times do (where clocks go back, times of day do not, whatever the
                      * pattern: tide_zone_has_changes()) */
} TideTimePattern;

/* Errors: TIDE_ERROR_CONFIG: an unknown letter, a number of letters that is no element, an element twice or none, an
 * element without what it needs beside it, a number of varying width in front of another digit. */
TideTimePattern *tide_time_pattern_compile(const char *text, TidePatternUse use,
                                           GError **error) G_GNUC_WARN_UNUSED_RESULT;
void tide_time_pattern_free(TideTimePattern *pattern); /* NULL ok */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideTimePattern, tide_time_pattern_free)

/* What one step of its smallest element is by the calendar. */
gint64 tide_time_pattern_resolution_ns(const TideTimePattern *pattern);

/* Appends what the clocks of @zone (NULL: UTC) show at @ns; of optional parts that name the same, the first. Threads:
 * any. Allocates: only by growing @out. */
void tide_time_pattern_print(const TideTimePattern *pattern, GTimeZone *zone, gint64 ns, TideBuffer *out);

/* Reads @text, all of which must be a text of the pattern, with values that clocks can show. @ret_detail: on a fault: a
 * string literal. Threads: any. Allocates: nothing. */
gboolean tide_time_pattern_read(const TideTimePattern *pattern, TideBytes text, TideTimeElements *ret_elements,
                                const char **ret_detail) G_GNUC_WARN_UNUSED_RESULT;

/* The place in a text that is read from left to right. */
typedef struct TideTimeCursor {
  TideBytes text;
  gsize at;
} TideTimeCursor;

/* A number of so many digits. FALSE: there are fewer. */
static inline gboolean
tide_time_take_number(TideTimeCursor *cursor, gsize n_digits, int *ret_number)
{
  if (cursor->text.len - cursor->at < n_digits)
    return FALSE;
  int number = 0;
  for (gsize i = 0; i < n_digits; i++) {
    guint8 byte = cursor->text.data[cursor->at + i];
    if (byte < '0' || byte > '9')
      return FALSE;
    number = number * 10 + (byte - '0');
  }
  cursor->at += n_digits;
  *ret_number = number;
  return TRUE;
}

static inline gboolean
tide_time_take_byte(TideTimeCursor *cursor, guint8 byte)
{
  if (cursor->at >= cursor->text.len || cursor->text.data[cursor->at] != byte)
    return FALSE;
  cursor->at++;
  return TRUE;
}

/* The digits behind the point, as many as there are but @n_left for what follows; those behind the ninth are cut. */
gboolean tide_time_take_fraction(TideTimeCursor *cursor, gsize n_left, TideTimeElements *elements);

/* An offset from UTC in any form of ISO 8601, or behind a space: Z, +02, +0200, +02:00. */
gboolean tide_time_take_offset(TideTimeCursor *cursor, TideTimeElements *elements);

G_END_DECLS
