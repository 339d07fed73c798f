/* What becomes of the samples by a configuration: they go through the daemon's own mapping, and what it says is what
 * `init` judges. */
#pragma once

#include "commands/init/init_samples.h"
#include "commands/init/proposal.h"

G_BEGIN_DECLS

typedef struct TideInitTrial {
  const TideInitSample *taken; /* borrowed: the first that makes a row; NULL: none does */
  guint n_rejected;            /* messages, and readings that are left out of theirs */
  char *why;                   /* owned: of the first; NULL: none was rejected */
  guint64 n_lost;              /* values of the history that another reading's took the place of */
  char *lost_row;              /* owned, printable: of the first; NULL: none was */
  char *lost_column;           /* owned: the same */
} TideInitTrial;

void tide_init_trial_clear(TideInitTrial *trial);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(TideInitTrial, tide_init_trial_clear)

/* @topic: that the samples are of. @now_ms: also the time of those that are no records of a topic. */
void tide_init_try(const TideConfig *config, const TideInitSamples *samples, const char *topic, gint64 now_ms,
                   TideInitTrial *ret_trial);

/* The same by the configuration that @proposal would be; what it does not say yet is taken to be anything. FALSE: it
 * would be none. */
gboolean tide_init_try_proposal(const TideInitProposal *proposal, const TideInitSamples *samples, gint64 now_ms,
                                TideInitTrial *ret_trial) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
