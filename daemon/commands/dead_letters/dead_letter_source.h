/* Reads the dead letters back, out of their topic or files, for `tidemark dead-letters`. Joins no group, takes no lock,
 * changes nothing. */
#pragma once

#include "config/config.h"
#include "model/dead_letter.h"
#include "util/error.h"

G_BEGIN_DECLS

/* Which dead letters; a member at its zero asks nothing. */
typedef struct TideDeadLetterFilter {
  const char *reason; /* borrowed, all */
  const char *table;
  const char *topic;  /* the original's */
  const char *source; /* the name of that topic's */
  gboolean one;       /* only that of partition and offset */
  gint32 partition;
  gint64 offset;
  gint64 from_ms; /* kept at or after, since the epoch */
  gint64 to_ms;   /* kept before */
} TideDeadLetterFilter;

/* Where they are. */
typedef struct TideDeadLetterLocation {
  const char *topic; /* borrowed; NULL: a file */
  const char *file;  /* borrowed */
} TideDeadLetterLocation;

/* @dead_letter: valid only inside the call. @kept_at_ms: -1: not known. Return FALSE to stop, with @error set for a
 * failure.
 */
typedef gboolean (*TideDeadLetterFunc)(const TideDeadLetter *dead_letter, gint64 kept_at_ms, gpointer data,
                                       GError **error);

typedef struct TideDeadLetterCounts {
  guint64 n_read;       /* dead letters and what is none */
  guint64 n_taken;      /* passed the filter */
  guint64 n_unreadable; /* records that are no dead letters, lines that cannot be read */
} TideDeadLetterCounts;

/**
 * tide_dead_letter_source_read: hand the dead letters at @location that @filter takes to @func: of files the oldest
 * first, of a topic each partition's in order; those that come while it reads are left out. Memory: one dead letter of
 * a file, a few MiB for each partition of a topic. Errors:
 * @func's; NOT_FOUND: no such topic or file; KAFKA: the brokers do not answer; IO.
 */
gboolean tide_dead_letter_source_read(const TideConfig *config, const TideDeadLetterLocation *location,
                                      const TideDeadLetterFilter *filter, TideDeadLetterFunc func, gpointer data,
                                      TideDeadLetterCounts *ret_counts, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Of a file that is not there: what may have become of it, and what lies beside it. (transfer full) */
char *tide_dead_letter_source_missing_text(const char *path);

/* ---- dead_letter_replay.c: sends the originals again, so that they go through the daemon's whole pipeline ---- */

typedef struct TideDeadLetterReplay TideDeadLetterReplay;

typedef struct TideDeadLetterReplayOptions {
  const char *topic;        /* borrowed: in place of the originals'; NULL: theirs */
  guint64 rate_per_s;       /* 0: as fast as it goes */
  gboolean dry_run;         /* sends nothing, counts */
  const volatile int *stop; /* borrowed: not 0 ends it */
} TideDeadLetterReplayOptions;

/* @config: borrowed. Errors: CONFIG; KAFKA: no broker answers; UNAVAILABLE: the topic that was chosen is missing. */
TideDeadLetterReplay *tide_dead_letter_replay_new(const TideKafkaConfig *config,
                                                  const TideDeadLetterReplayOptions *options,
                                                  GError **error) G_GNUC_WARN_UNUSED_RESULT;
void tide_dead_letter_replay_free(TideDeadLetterReplay *replay); /* NULL ok */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideDeadLetterReplay, tide_dead_letter_replay_free)

/* Each message once, however many dead letters it has. Memory: some 20 bytes for each. Errors: KAFKA: the message can
 * never be sent; UNAVAILABLE: its topic is missing; CANCELLED. Blocks: while the client's queue is full, and for the
 * rate.
 */
gboolean tide_dead_letter_replay_send(TideDeadLetterReplay *replay, const TideDeadLetter *dead_letter,
                                      GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Waits until the brokers have acknowledged all that was sent. Errors: UNAVAILABLE: they have not. */
gboolean tide_dead_letter_replay_finish(TideDeadLetterReplay *replay, GError **error) G_GNUC_WARN_UNUSED_RESULT;

typedef struct TideDeadLetterReplayCounts {
  guint64 n_sent;
  guint64 n_gone;     /* not sent: the dead letter has no original, only its row */
  guint64 n_repeated; /* not sent: another dead letter of the same message came before */
} TideDeadLetterReplayCounts;

TideDeadLetterReplayCounts tide_dead_letter_replay_counts(const TideDeadLetterReplay *replay);

G_END_DECLS
