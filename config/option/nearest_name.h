/* The known name that a mistyped one most likely stands for. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/**
 * tide_nearest_name: the one of @names that @name can be turned into with the fewest insertions, deletions, changes and
 * swaps of neighbours.
 * @names: NULL-terminated
 * Returns: (transfer none) (nullable): NULL when none is near enough (a third of its letters, and at most 3) to be meant.
 */
const char *tide_nearest_name(const char *name, const char *const *names);

G_END_DECLS
