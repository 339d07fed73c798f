/* Runs the samples through the daemon's own mapping with a configuration; `init` judges the configuration by the
 * result. */
#pragma once

#include "commands/init/init_samples.h"
#include "commands/init/proposal.h"

G_BEGIN_DECLS

typedef struct TideInitTrial {
  const TideInitSample *taken; /* borrowed: the first that produces a row; NULL: none */
  guint n_rejected;            /* messages, and rejected readings of other messages */
  char *why;                   /* owned: the first reason; NULL: nothing was rejected */
  guint64 n_lost;              /* values of the history that another reading's value replaced */
  char *lost_row;              /* owned, printable: of the first; NULL: none */
  char *lost_column;           /* owned, likewise */
} TideInitTrial;

void tide_init_trial_clear(TideInitTrial *trial);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(TideInitTrial, tide_init_trial_clear)

/* @topic: of the samples. @now_ms: also the time of samples that are no records of a topic. */
void tide_init_try(const TideConfig *config, const TideInitSamples *samples, const char *topic, gint64 now_ms,
                   TideInitTrial *ret_trial);

/* Like tide_init_try() with the configuration that @proposal would be; arbitrary values replace its missing settings.
 * FALSE: the configuration would be invalid. */
gboolean tide_init_try_proposal(const TideInitProposal *proposal, const TideInitSamples *samples, gint64 now_ms,
                                TideInitTrial *ret_trial) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
