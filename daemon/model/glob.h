/* Patterns of names and values: `*` stands for any bytes, also none, `?` for one character (of UTF-8), all else for
 * itself; a backslash takes the next byte as it is. The whole text must match. Bytes that are no UTF-8 count as one
 * character each. */
#pragma once

#include "util/bytes.h"

G_BEGIN_DECLS

/* Time: at most pattern length times text length. Allocates: nothing. */
gboolean tide_glob_matches(TideBytes pattern, TideBytes text);

/* TRUE when @text has a `*` or `?` that stands for others: no backslash before it. */
gboolean tide_glob_is_pattern(TideBytes text);

G_END_DECLS
