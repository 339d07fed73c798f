/* A proposal in progress: the guesses from the samples, and what the operator sets instead, by an option or an
 * answer. */
#pragma once

#include "commands/init/init_samples.h"
#include "commands/init/proposal.h"
#include "model/time/time_forms.h"

G_BEGIN_DECLS

/* ---- trial.c ---- */

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

/* ---- draft.c ---- */

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

/* ---- findings.c ---- */

/* Prints what was found in the samples on standard output: each field, its first value, and its use; rejected messages
 * on standard error. */
void tide_init_show_findings(const TideInitSamples *samples, const TideInitDraft *draft);

/* ---- questions.c ---- */

/* Settings from options, which are not asked for. */
typedef struct TideInitGiven {
  gboolean time, key, table, brokers, topic, gateways, dead_letters;
} TideInitGiven;

/* Whether an operator can answer: standard input and error are terminals. */
gboolean tide_init_can_ask(void);

/* Reports an invalid answer and repeats the question. Errors: CANCELLED when the input ends. */
gboolean tide_init_ask_all(TideInitDraft *draft, const TideInitGiven *given, GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
