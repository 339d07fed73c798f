/* Where in the messages the readings are, and what is made of their fields: by the signs of the survey, one at a time.
 * Whether a guess is right, the samples show that are read by it. */
#pragma once

#include "commands/init/field_survey.h"

G_BEGIN_DECLS

/* Settings of `readings`, "NAME=YAML", one a line. */
typedef struct TideShapeGuess {
  char *settings; /* owned */
  char *instead;  /* owned: those for when the samples are not read by these; NULL: none */
} TideShapeGuess;

void tide_shape_guess_clear(TideShapeGuess *guess);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(TideShapeGuess, tide_shape_guess_clear)

/**
 * tide_guess_shape: what the survey's fields show of the messages' shape, and is not in the way of what is said.
 * @unread: a message, where none could be read
 * @given: (element-type utf8): settings so far, "NAME=YAML"
 * @tried: (element-type utf8): settings that were guessed already, and did not read the samples
 * FALSE: nothing more.
 */
gboolean tide_guess_shape(const TideFieldSurvey *survey, TideBytes unread, const GPtrArray *given,
                          const GPtrArray *tried, TideShapeGuess *ret_guess);

/* The YAML of @name among @given; NULL: it is not there. */
const char *tide_shape_setting(const GPtrArray *given, const char *name);

G_END_DECLS

/* Whether numbers of CSV have a comma before their fraction: those of a field have, and none has a point. */
gboolean tide_guess_decimal_comma(const TideFieldSurvey *survey);
