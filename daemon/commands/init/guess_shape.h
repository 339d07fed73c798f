/* Guesses where the readings are in messages, and the steps for their fields: by signs in the survey, one at a time.
 * The caller verifies a guess by reading the samples with it. */
#pragma once

#include "commands/init/field_survey.h"

G_BEGIN_DECLS

/* Settings of `readings`, "NAME=YAML", one per line. */
typedef struct TideShapeGuess {
  char *settings; /* owned */
  char *instead;  /* owned: alternative settings, if the samples cannot be read with the first; NULL: none */
} TideShapeGuess;

void tide_shape_guess_clear(TideShapeGuess *guess);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(TideShapeGuess, tide_shape_guess_clear)

/**
 * tide_guess_shape: guess one more setting from the survey's fields that does not conflict with @given.
 * @unread: a message, if none could be read
 * @given: (element-type utf8): settings so far, "NAME=YAML"
 * @tried: (element-type utf8): earlier guesses that did not read the samples
 * FALSE: there are no more guesses.
 */
gboolean tide_guess_shape(const TideFieldSurvey *survey, TideBytes unread, const GPtrArray *given,
                          const GPtrArray *tried, TideShapeGuess *ret_guess);

/* The YAML of @name in @given; NULL: absent. */
const char *tide_shape_setting(const GPtrArray *given, const char *name);

/* Whether numbers of CSV have a decimal comma: the values of a field do, and no value has a decimal point. */
gboolean tide_guess_decimal_comma(const TideFieldSurvey *survey);

G_END_DECLS
