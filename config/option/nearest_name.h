/* The known name that a mistyped one probably means. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/**
 * tide_nearest_name: the one of @names that is closest to @name, counted in insertions, deletions, changes and swaps of
 * neighbours. @names: NULL-terminated Returns: (transfer none) (nullable): NULL if none is within a third of its
 * letters, and at most 3.
 */
const char *tide_nearest_name(const char *name, const char *const *names);

G_END_DECLS
