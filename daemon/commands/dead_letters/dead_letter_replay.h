/* Sends the originals of dead letters to their topic again, so that they go through the daemon's whole pipeline once
 * more: the same key, value, headers, time and partition, at a new offset. The dead letters stay where they are. */
#pragma once

#include "config/config.h"
#include "model/dead_letter.h"
#include "util/error.h"

G_BEGIN_DECLS

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
