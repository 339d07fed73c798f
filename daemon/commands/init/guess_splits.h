/* Guesses the split points of a new history table: values of its key's first field, if the samples have enough of them.
 * Pure. */
#pragma once

#include "commands/init/field_survey.h"
#include "model/time/time_forms.h"

G_BEGIN_DECLS

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
