/* Which fields of sample readings name the thing that was measured, and so stand in the row key. Pure. */
#pragma once

#include "commands/init/field_survey.h"

G_BEGIN_DECLS

/* More would make a key that nobody can ask for. */
#define TIDE_KEY_GUESS_MAX_FIELDS 6u

/**
 * tide_guess_key_candidates: the fields that can stand in a key: as text or as a whole number, short and in one line.
 * What some readings lack has a default there.
 * @times: (element-type TideTimeGuess): fields that are no candidates
 * For a field speaks that its name is one of a thing or an id, that it is text, and that values come again, as those of
 * things do, and of messages do not; against it, a name of a state or unit, or
 * a value that is the word of a state.
 * Returns: (transfer full) (element-type TideSurveyField): the best first
 */
GPtrArray *tide_guess_key_candidates(const TideFieldSurvey *survey, const GArray *times);

/**
 * tide_guess_key: the best candidate that every reading has, and behind it those that identify, too, by their names,
 * and are the same in all samples, or are told apart by nothing before them. Returns: (transfer full) (element-type
 * TideSurveyField): empty when no candidate is good enough to be proposed
 */
GPtrArray *tide_guess_key(const TideFieldSurvey *survey, const GPtrArray *candidates);

/**
 * tide_guess_key_addition: the candidate that tells the most readings apart, behind what already does. Numbers do, too,
 * but as what was measured.
 * @used: (element-type TideSurveyField): key and time; as it was afterwards
 * Returns: (nullable): NULL: none tells more apart
 */
TideSurveyField *tide_guess_key_addition(const TideFieldSurvey *survey, GPtrArray *used, const GPtrArray *candidates);

/**
 * tide_guess_key_rival: what could name the thing as well as @key, and tells more of them apart: nothing says that it
 * does not, since none of its values comes twice. What is named as a message's, a state or a unit is none.
 * @key: (element-type TideSurveyField)
 * Returns: (nullable): the best of @candidates
 */
const TideSurveyField *tide_guess_key_rival(const TideFieldSurvey *survey, const GPtrArray *key,
                                            const GPtrArray *candidates);

/* What may name the thing, too, by a name that says nothing, and is not in @key: the samples do not show that it does
 * not.
 * @key: as it was afterwards. (transfer full) (nullable): names in quotes */
char *tide_guess_key_unsure(const TideFieldSurvey *survey, GPtrArray *key, const GPtrArray *candidates);

/* Whether not all its values are numbers, in quotes or not. */
gboolean tide_key_field_is_text(const TideSurveyField *field);

/* What stands between the parts: a character that no sample's value of @fields holds. NULL: each is held by some. */
const char *tide_guess_separator(const GPtrArray *fields);

G_END_DECLS
