/* Where the history is split when it is created: at values of its key's first field, where the samples have enough of
 * them. Pure. */
#pragma once

#include "commands/init/field_survey.h"
#include "model/time/time_forms.h"

G_BEGIN_DECLS

/**
 * tide_guess_splits: points that part the different values of @first into equal shares, however often each comes: a
 * few messages say little of that.
 * @first: of the key
 * @time: NULL: the record's; then the readings are taken in their order
 * @ret_why: (transfer full): why these, or why none and what to do; a sentence for a comment
 * Returns: (transfer full), free with tide_splits_free(). (element-type TideBytes): empty where values are too few, or
 * move with the time
 */
GArray *tide_guess_splits(const TideSurveyField *first, const TideSurveyField *time, const TideTimeForm *form,
                          char **ret_why);

G_END_DECLS
