/* Patterns of names and values: `*` stands for any bytes, also none, `?` for one character (of UTF-8), all else for
 * itself; a backslash takes the next byte as it is. The whole text must match. Bytes that are no UTF-8 count as one
 * character each. */
#pragma once

#include "util/bytes.h"

G_BEGIN_DECLS

/* Time: at most pattern length times text length. Allocates: nothing. */
gboolean tide_glob_matches(TideBytes pattern, TideBytes text);

#define TIDE_GLOB_MAX_STARS 8

/* What the stars of a pattern stand for in a text that matches: each as little as it can, from the left. */
typedef struct TideGlobStars {
  TideBytes texts[TIDE_GLOB_MAX_STARS]; /* of the first ones, in the text */
  guint n_stars;                        /* of the pattern */
} TideGlobStars;

/* The same, and what its stars stand for. @ret_stars: whether it matches or not, n_stars is right if it does */
gboolean tide_glob_match_stars(TideBytes pattern, TideBytes text, TideGlobStars *ret_stars);

/* How many stars of @text stand for others. */
guint tide_glob_n_stars(TideBytes text);

/* Appends @name with each of its stars replaced by what the pattern's star of the same number stands for; a backslash
 * takes the next byte as it is. */
void tide_glob_append_renamed(TideBytes name, const TideGlobStars *stars, TideBuffer *out);

/* TRUE when @text has a `*` or `?` that stands for others: no backslash before it. */
gboolean tide_glob_is_pattern(TideBytes text);

G_END_DECLS
