/* A proposal while it is made: what is guessed of the samples, and what the operator says instead, by an option or an
 * answer. */
#pragma once

#include "commands/init/init_samples.h"
#include "commands/init/proposal.h"
#include "commands/init/trial.h"
#include "model/time/time_forms.h"

G_BEGIN_DECLS

typedef struct TideInitDraft {
  const TideInitSamples *samples; /* borrowed */
  TideFieldSurvey *survey;        /* borrowed; what an option names of the record is added */
  gint64 now_ms;
  GArray *times;               /* owned (element-type TideTimeGuess), the best first */
  GPtrArray *candidates;       /* owned (element-type TideSurveyField): for the key, the best first */
  const TideSurveyField *time; /* borrowed; NULL: none yet, or the record's own */
  const TideTimeForm *form;    /* of its values; with time */
  gboolean needs_zone;         /* that time's texts say no offset from UTC */
  gboolean is_key_said;        /* by somebody, else it is guessed */
  TideInitProposal proposal;
} TideInitDraft;

/* @samples: borrowed */
void tide_init_draft_begin(TideInitDraft *draft, const TideInitSamples *samples, gint64 now_ms);
void tide_init_draft_clear(TideInitDraft *draft);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(TideInitDraft, tide_init_draft_clear)

/* The setters. @error says what to say instead, and @draft is as it was. Errors: DATA where the samples are at fault,
 * else USAGE. */

/* The best guess. */
gboolean tide_init_draft_guess_time(TideInitDraft *draft, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* A field, in the format that its values have; "$timestamp" is the record's own time. */
gboolean tide_init_draft_set_time(TideInitDraft *draft, const char *field, GError **error) G_GNUC_WARN_UNUSED_RESULT;

gboolean tide_init_draft_set_zone(TideInitDraft *draft, const char *zone, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* After the time. */
gboolean tide_init_draft_guess_key(TideInitDraft *draft, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Of a key that was guessed: whether it is no more than that, as the samples do not tell its readings apart, or cannot
 * tell whether another field names the thing. (transfer full) (nullable): why; @ret_remedy (transfer full): what to say
 * on the command line */
char *tide_init_draft_doubt_of_key(const TideInitDraft *draft, char **ret_remedy);

/* @names: (element-type utf8), of fields */
gboolean tide_init_draft_set_key(TideInitDraft *draft, const GPtrArray *names,
                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* How many different keys the samples have, without the time. */
guint tide_init_draft_n_things(const TideInitDraft *draft);

/* After the key, where no salt says it already. */
void tide_init_draft_guess_splits(TideInitDraft *draft);

/* What is probably not as it is meant; sentences without full stop. (transfer full) (element-type utf8) */
GPtrArray *tide_init_draft_notes(const TideInitDraft *draft);

G_END_DECLS
