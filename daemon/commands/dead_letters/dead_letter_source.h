/* Reads dead letters back from their topic or files, for `tidemark dead-letters`. Joins no group, takes no lock,
 * changes nothing. */
#pragma once

#include "config/config.h"
#include "model/dead_letter.h"
#include "util/error.h"

G_BEGIN_DECLS

/* Selects dead letters; members that are zero select all. */
typedef struct TideDeadLetterFilter {
  const char *reason; /* borrowed, all */
  const char *table;
  const char *topic;  /* the original's */
  const char *source; /* the name of that topic's source */
  gboolean one;       /* only that of partition and offset */
  gint32 partition;
  gint64 offset;
  gint64 from_ms; /* stored at or after, since the epoch */
  gint64 to_ms;   /* stored before */
} TideDeadLetterFilter;

/* The location of dead letters. */
typedef struct TideDeadLetterLocation {
  const char *topic; /* borrowed; NULL: a file */
  const char *file;  /* borrowed */
} TideDeadLetterLocation;

/* @dead_letter: valid only inside the call. @kept_at_ms: -1: unknown. Return FALSE to stop, with @error set on
 * failure. */
typedef gboolean (*TideDeadLetterFunc)(const TideDeadLetter *dead_letter, gint64 kept_at_ms, gpointer data,
                                       GError **error);

typedef struct TideDeadLetterCounts {
  guint64 n_read;       /* dead letters and other records */
  guint64 n_taken;      /* passed the filter */
  guint64 n_unreadable; /* records that are not dead letters, and unreadable lines */
} TideDeadLetterCounts;

/**
 * tide_dead_letter_source_read: pass the dead letters at @location that match @filter to @func: from files the oldest
 * first, from a topic in the order of each partition; those that arrive meanwhile are skipped. Memory: one dead letter
 * of a file, a few MiB per partition of a topic.
 * Errors: @func's; NOT_FOUND: no such topic or file; KAFKA: the brokers do not answer; IO.
 */
gboolean tide_dead_letter_source_read(const TideConfig *config, const TideDeadLetterLocation *location,
                                      const TideDeadLetterFilter *filter, TideDeadLetterFunc func, gpointer data,
                                      TideDeadLetterCounts *ret_counts, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Explains a missing file, and names moved files beside it. (transfer full) */
char *tide_dead_letter_source_missing_text(const char *path);

/* ---- dead_letter_replay.c: sends the original messages again, so that they pass through the daemon's whole pipeline
 *   ---- */

typedef struct TideDeadLetterReplay TideDeadLetterReplay;

typedef struct TideDeadLetterReplayOptions {
  const char *topic;        /* borrowed: instead of the originals'; NULL: theirs */
  guint64 rate_per_s;       /* 0: unlimited */
  gboolean dry_run;         /* only counts, sends nothing */
  const volatile int *stop; /* borrowed: not 0 ends it */
} TideDeadLetterReplayOptions;

/* @config: borrowed. Errors: CONFIG; KAFKA: no broker answers; UNAVAILABLE: the chosen topic is missing. */
TideDeadLetterReplay *tide_dead_letter_replay_new(const TideKafkaConfig *config,
                                                  const TideDeadLetterReplayOptions *options,
                                                  GError **error) G_GNUC_WARN_UNUSED_RESULT;
void tide_dead_letter_replay_free(TideDeadLetterReplay *replay); /* NULL ok */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideDeadLetterReplay, tide_dead_letter_replay_free)

/* Sends each message once, however many dead letters it has. Memory: some 20 bytes for each. Errors: KAFKA: the message
 * can never be sent; UNAVAILABLE: its topic is missing; CANCELLED. Blocks: while the client's queue is full, and for
 * the rate. */
gboolean tide_dead_letter_replay_send(TideDeadLetterReplay *replay, const TideDeadLetter *dead_letter,
                                      GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Waits until the brokers have acknowledged everything sent. Errors: UNAVAILABLE: they have not. */
gboolean tide_dead_letter_replay_finish(TideDeadLetterReplay *replay, GError **error) G_GNUC_WARN_UNUSED_RESULT;

typedef struct TideDeadLetterReplayCounts {
  guint64 n_sent;
  guint64 n_gone;     /* not sent: the dead letter has only its row, not the original */
  guint64 n_repeated; /* not sent: an earlier dead letter had the same message */
} TideDeadLetterReplayCounts;

TideDeadLetterReplayCounts tide_dead_letter_replay_counts(const TideDeadLetterReplay *replay);

G_END_DECLS
