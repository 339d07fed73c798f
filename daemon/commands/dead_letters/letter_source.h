/* Reads the dead letters back, out of their topic or files, for `tidemark dead-letters`. Joins no group, takes no lock,
 * changes nothing. */
#pragma once

#include "config/config.h"
#include "model/letter.h"

G_BEGIN_DECLS

/* Which letters; a member at its zero asks nothing. */
typedef struct TideLetterFilter {
  const char *reason; /* borrowed, all */
  const char *table;
  const char *topic; /* the original's */
  gboolean one;      /* only that of partition and offset */
  gint32 partition;
  gint64 offset;
  gint64 from_ms; /* kept at or after, since the epoch */
  gint64 to_ms;   /* kept before */
} TideLetterFilter;

/* Where they are. */
typedef struct TideLetterPlace {
  const char *topic; /* borrowed; NULL: a file */
  const char *file;  /* borrowed */
} TideLetterPlace;

/* @letter: valid only inside the call. @kept_at_ms: -1: not known. Return FALSE to stop, with @error set for a failure.
 */
typedef gboolean (*TideLetterFunc)(const TideLetter *letter, gint64 kept_at_ms, gpointer data, GError **error);

typedef struct TideLetterCounts {
  guint64 n_read;       /* letters and what is none */
  guint64 n_taken;      /* passed the filter */
  guint64 n_unreadable; /* records that are no letters, lines that cannot be read */
} TideLetterCounts;

/**
 * tide_letter_source_read: hand the letters at @place that @filter takes to @func: of files the oldest first, of a
 * topic each partition's in order; those that come while it reads are left out. Memory: one letter of a file, a few MiB
 * for each partition of a topic. Errors:
 * @func's; NOT_FOUND: no such topic or file; KAFKA: the brokers do not answer; IO.
 */
gboolean tide_letter_source_read(const TideConfig *config, const TideLetterPlace *place, const TideLetterFilter *filter,
                                 TideLetterFunc func, gpointer data, TideLetterCounts *ret_counts,
                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
