/* Guesses which fields of sample readings name the device, for the row key, and how the values of its first field
 * divide a table. Pure. */
#pragma once

#include "commands/init/field_survey.h"
#include "model/time/time_forms.h"

G_BEGIN_DECLS

/* More fields would make a key that is impractical to query. */
#define TIDE_KEY_GUESS_MAX_FIELDS 6u

/**
 * tide_guess_key_candidates: find the fields that can be in a key: short, single-line texts or whole numbers. A field
 * that some readings lack has a default in the key.
 * @times: (element-type TideTimeGuess): fields that are not candidates
 * A field scores higher if its name is a device's or an id, if it is text, and if its values repeat, like those of
 * devices and unlike those of messages. It scores lower with a name of a state or unit, or a value that is a state.
 * Returns: (transfer full) (element-type TideSurveyField): best first
 */
GPtrArray *tide_guess_key_candidates(const TideFieldSurvey *survey, const GArray *times);

/**
 * tide_guess_key: select the best candidate that every reading has, and after it those whose names also identify and
 * which either have one value in all samples, or repeat and separate more of them. Returns: (transfer full)
 * (element-type TideSurveyField): empty if no candidate is good enough to be proposed
 */
GPtrArray *tide_guess_key(const TideFieldSurvey *survey, const GPtrArray *candidates);

/**
 * tide_guess_key_addition: find the candidate that separates the most readings in addition to @used. A number is
 * considered only with a sufficient score, because it was probably measured.
 * @used: (element-type TideSurveyField): key and time; unchanged on return
 * Returns: (nullable): NULL: none separates more
 */
TideSurveyField *tide_guess_key_addition(const TideFieldSurvey *survey, GPtrArray *used, const GPtrArray *candidates);

/**
 * tide_guess_key_rival: find a field that could name the device as well as @key and separates more readings. It cannot
 * be excluded, because none of its values repeats. Fields with a name of a message, a state or a unit are not
 * considered.
 * @key: (element-type TideSurveyField)
 * Returns: (nullable): the best of @candidates
 */
const TideSurveyField *tide_guess_key_rival(const TideFieldSurvey *survey, const GPtrArray *key,
                                            const GPtrArray *candidates);

/* Fields outside @key that may also name the device, with names that have no known meaning; the samples do not show
 * that they do not.
 * @key: unchanged on return. (transfer full) (nullable): names in quotes */
char *tide_guess_key_unsure(const TideFieldSurvey *survey, GPtrArray *key, const GPtrArray *candidates);

/* Whether some of its values are not numbers, quoted or not. */
gboolean tide_key_field_is_text(const TideSurveyField *field);

/* A separator of the key's parts: a character that no sample value of @fields contains. NULL: each one occurs. */
const char *tide_guess_separator(const GPtrArray *fields);

/* ---- guess_splits.c ---- */

/**
 * tide_guess_splits: find points that divide the different values of @first into equal shares. The frequency of a value
 * is ignored, because a few messages do not show it reliably.
 * @first: of the key
 * @time: NULL: the record's; then the readings are used in their order
 * @ret_why: (transfer full): the reason for these points, or for none and what to do; a sentence for a comment
 * Returns: (transfer full), free with tide_splits_free(). (element-type TideBytes): empty if there are too few values,
 * or if they follow the time
 */
GArray *tide_guess_splits(const TideSurveyField *first, const TideSurveyField *time, const TideTimeForm *form,
                          char **ret_why);

G_END_DECLS
