/* A proposal in progress: the guesses from the samples, and what the operator sets instead, by an option or an
 * answer. */
#pragma once

#include "commands/init/init_samples.h"
#include "commands/init/proposal.h"
#include "commands/init/trial.h"
#include "model/time/time_forms.h"

G_BEGIN_DECLS

typedef struct TideInitDraft {
  const TideInitSamples *samples; /* borrowed */
  TideFieldSurvey *survey;        /* borrowed; fields of the record that an option names are added */
  gint64 now_ms;
  GArray *times;               /* owned (element-type TideTimeGuess), best first */
  GPtrArray *candidates;       /* owned (element-type TideSurveyField): for the key, best first */
  const TideSurveyField *time; /* borrowed; NULL: none yet, or the record's own time */
  const TideTimeForm *form;    /* format of its values; with time */
  gboolean needs_zone;         /* the time's texts have no offset from UTC */
  gboolean is_key_said;        /* the operator set the key; else it is a guess */
  TideInitProposal proposal;
} TideInitDraft;

/* @samples: borrowed */
void tide_init_draft_begin(TideInitDraft *draft, const TideInitSamples *samples, gint64 now_ms);
void tide_init_draft_clear(TideInitDraft *draft);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(TideInitDraft, tide_init_draft_clear)

/* The setters. @error contains the remedy, and @draft is unchanged on failure. Errors: DATA if the samples are at
 * fault, else USAGE. */

/* Sets the best guess. */
gboolean tide_init_draft_guess_time(TideInitDraft *draft, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Sets a field, with the detected format of its values; "$timestamp" is the record's own time. */
gboolean tide_init_draft_set_time(TideInitDraft *draft, const char *field, GError **error) G_GNUC_WARN_UNUSED_RESULT;

gboolean tide_init_draft_set_zone(TideInitDraft *draft, const char *zone, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Call after the time is set. */
gboolean tide_init_draft_guess_key(TideInitDraft *draft, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Checks a guessed key: returns the reason why it is doubtful, because it does not separate the samples' readings, or
 * because another field could also name the device. (transfer full) (nullable); @ret_remedy (transfer full): the
 * options to use instead */
char *tide_init_draft_doubt_of_key(const TideInitDraft *draft, char **ret_remedy);

/* @names: (element-type utf8), of fields */
gboolean tide_init_draft_set_key(TideInitDraft *draft, const GPtrArray *names,
                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The number of different keys in the samples, without the time. */
guint tide_init_draft_n_things(const TideInitDraft *draft);

/* Call after the key is set; does nothing with a salt. */
void tide_init_draft_guess_splits(TideInitDraft *draft);

/* Probable mistakes; sentences without full stop. (transfer full) (element-type utf8) */
GPtrArray *tide_init_draft_notes(const TideInitDraft *draft);

G_END_DECLS
