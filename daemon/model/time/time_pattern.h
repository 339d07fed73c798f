/* Time patterns: one language for reading and printing times, after Java's DateTimeFormatter.
 *
 * Runs of letters are elements, listed in time_pattern.c: yyyy, MM, MMM, ... Literal letters are in single quotes, and
 * a quote is doubled. [ and ] enclose an optional part. All other characters are literal. The same compiled pattern
 * reads and prints.
 *
 * Keys, names of tables and qualifiers allow only elements of fixed width that can be read back and sorted: yyyy MM dd
 * HH mm ss and S; qualifiers also allow M, d and H. There, an element does not need the larger ones next to it. */
#pragma once

#include "model/time/time_elements.h"
#include "util/bytes.h"

G_BEGIN_DECLS

/* The use of a pattern, which determines the allowed elements. Bits, for the table of elements. */
typedef enum TidePatternUse {
  TIDE_PATTERN_TEXT = 1 << 0,      /* texts of readings */
  TIDE_PATTERN_KEY = 1 << 1,       /* keys, and names of tables */
  TIDE_PATTERN_QUALIFIER = 1 << 2, /* also other parts that are only printed */
} TidePatternUse;

typedef struct TideTimePiece TideTimePiece;

/* A compiled pattern, read-only. */
typedef struct TideTimePattern {
  char *text;            /* owned */
  TideTimePiece *pieces; /* owned */
  gsize n_pieces;
  guint named;               /* TIDE_NAMES(...), including those in optional parts */
  guint always_named;        /* those outside optional parts */
  int fraction_digits;       /* of the printed fraction; 0: no fraction, or one of any length */
  guint32 width_bytes;       /* 0: varies */
  guint32 longest_bytes;     /* the longest text it prints */
  TideTimeLevel first_level; /* the largest and the smallest element named */
  TideTimeLevel last_level;
  gboolean descends; /* each element is the next smaller one after the previous, so texts of fixed width with equal
                      * larger elements sort like their times; except, for any pattern, local times when clocks go back
                      * (tide_zone_has_changes()) */
} TideTimePattern;

/* Errors: TIDE_ERROR_CONFIG: an unknown letter or number of letters, an element twice, no element, an element without
 * another that it needs, a number of varying width before another digit. */
TideTimePattern *tide_time_pattern_compile(const char *text, TidePatternUse use,
                                           GError **error) G_GNUC_WARN_UNUSED_RESULT;
void tide_time_pattern_free(TideTimePattern *pattern); /* NULL ok */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideTimePattern, tide_time_pattern_free)

/* The length of one step of its smallest element. */
gint64 tide_time_pattern_resolution_ns(const TideTimePattern *pattern);

/* Appends the time @ns on the clocks of @zone (NULL: UTC). Of optional parts that name the same elements, only the
 * first is printed. Threads: any. Allocates: only by growing @out. */
void tide_time_pattern_print(const TideTimePattern *pattern, GTimeZone *zone, gint64 ns, TideBuffer *out);

/* Reads @text, which must match the whole pattern and have values that clocks can show. @ret_detail: otherwise the
 * reason, a string literal. Threads: any. Allocates: nothing. */
gboolean tide_time_pattern_read(const TideTimePattern *pattern, TideBytes text, TideTimeElements *ret_elements,
                                const char **ret_detail) G_GNUC_WARN_UNUSED_RESULT;

/* A position in a text that is read from left to right. */
typedef struct TideTimeCursor {
  TideBytes text;
  gsize at;
} TideTimeCursor;

/* Reads a number of @n_digits digits. FALSE: there are fewer. */
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

/* Reads the digits after the point, except @n_left for what follows. Those after the ninth are cut. */
gboolean tide_time_take_fraction(TideTimeCursor *cursor, gsize n_left, TideTimeElements *elements);

/* Reads an offset from UTC in any form of ISO 8601 (Z, +02, +0200, +02:00), possibly after a space. */
gboolean tide_time_take_offset(TideTimeCursor *cursor, TideTimeElements *elements);

G_END_DECLS
