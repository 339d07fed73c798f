/* Sends the originals of dead letters to their topic again, so that they go through the daemon's whole pipeline once
 * more: the same key, value, headers, time and partition, at a new offset. The letters stay where they are. */
#pragma once

#include "config/config.h"
#include "model/letter.h"
#include "util/error.h"

G_BEGIN_DECLS

typedef struct TideLetterReplay TideLetterReplay;

typedef struct TideLetterReplayOptions {
  const char *topic;        /* borrowed: in place of the originals'; NULL: theirs */
  guint64 rate_per_s;       /* 0: as fast as it goes */
  gboolean dry_run;         /* sends nothing, counts */
  const volatile int *stop; /* borrowed: not 0 ends it */
} TideLetterReplayOptions;

/* @config: borrowed. Errors: CONFIG; UNAVAILABLE: no broker answers. */
TideLetterReplay *tide_letter_replay_new(const TideKafkaConfig *config, const TideLetterReplayOptions *options,
                                         GError **error) G_GNUC_WARN_UNUSED_RESULT;
void tide_letter_replay_free(TideLetterReplay *replay); /* NULL ok */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideLetterReplay, tide_letter_replay_free)

/* Each message once, however many letters it has. Memory: some 20 bytes for each. Errors: KAFKA: the message can never
 * be sent; CANCELLED. Blocks: while the client's queue is full, and for the rate.
 */
gboolean tide_letter_replay_send(TideLetterReplay *replay, const TideLetter *letter,
                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Waits until the brokers have acknowledged all that was sent. Errors: UNAVAILABLE: they have not. */
gboolean tide_letter_replay_finish(TideLetterReplay *replay, GError **error) G_GNUC_WARN_UNUSED_RESULT;

typedef struct TideLetterReplayCounts {
  guint64 n_sent;
  guint64 n_gone;     /* not sent: the letter has no original, only its row */
  guint64 n_repeated; /* not sent: another letter of the same message came before */
} TideLetterReplayCounts;

TideLetterReplayCounts tide_letter_replay_counts(const TideLetterReplay *replay);

G_END_DECLS
