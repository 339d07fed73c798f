/* Patterns of names and values: `*` matches any bytes, also none, `?` one UTF-8 character, and everything else itself;
 * a backslash escapes the next byte. The whole text must match. Each byte that is not UTF-8 counts as one character. */
#pragma once

#include "util/bytes.h"

G_BEGIN_DECLS

/* Time: at most pattern length times text length. Allocates: nothing. */
gboolean tide_glob_matches(TideBytes pattern, TideBytes text);

#define TIDE_GLOB_MAX_STARS 8

/* The texts that match the stars of a pattern: each the shortest possible, from the left. */
typedef struct TideGlobStars {
  TideBytes texts[TIDE_GLOB_MAX_STARS]; /* of the first stars, within the text */
  guint n_stars;                        /* of the pattern */
} TideGlobStars;

/* The same, and the texts of its stars. @ret_stars: valid only if it matches */
gboolean tide_glob_match_stars(TideBytes pattern, TideBytes text, TideGlobStars *ret_stars);

/* The number of stars in @text that are not escaped. */
guint tide_glob_n_stars(TideBytes text);

/* Appends @name, with each star replaced by the text of the pattern's star with the same number; a backslash escapes
 * the next byte. */
void tide_glob_append_renamed(TideBytes name, const TideGlobStars *stars, TideBuffer *out);

/* Whether @text has a `*` or `?` that is not escaped. */
gboolean tide_glob_is_pattern(TideBytes text);

G_END_DECLS
