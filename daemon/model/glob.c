#include "model/glob.h"

/* The number of bytes of the character at @at. Each byte that is not UTF-8 counts as one character. */
static gsize
character_len(TideBytes text, gsize at)
{
  guint8 lead = text.data[at];
  gsize declared = lead >= 0xF8 ? 1 : lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
  gsize len = 1;
  while (len < declared && at + len < text.len && (text.data[at + len] & 0xC0) == 0x80)
    len++;
  return len;
}

/* Matches one element of the pattern, except a star, with the text at @at: the bytes of the pattern that it has, and of
 * the text that it matches. */
static gboolean
match_element(TideBytes pattern, gsize p, TideBytes text, gsize at, gsize *ret_pattern_len, gsize *ret_text_len)
{
  if (p >= pattern.len || at >= text.len)
    return FALSE;
  *ret_pattern_len = 1;
  *ret_text_len = 1;
  if (pattern.data[p] == '?') {
    *ret_text_len = character_len(text, at);
    return TRUE;
  }
  if (pattern.data[p] == '\\' && p + 1 < pattern.len) {
    *ret_pattern_len = 2;
    p++;
  }
  return pattern.data[p] == text.data[at];
}

/* Only the last star can need another try: each earlier one matches the shortest text, which leaves the most to the
 * rest. A star matches whole characters, so that no `?` after it meets half of one. */
gboolean
tide_glob_match_stars(TideBytes pattern, TideBytes text, TideGlobStars *ret_stars)
{
  gsize p = 0, at = 0, behind_star = 0, star_end = 0; /* the last star matches the text up to star_end */
  gboolean has_star = FALSE;
  ret_stars->n_stars = 0;
  while (p < pattern.len || at < text.len) {
    gsize pattern_len, text_len;
    if (p < pattern.len && pattern.data[p] == '*') {
      has_star = TRUE;
      behind_star = ++p;
      star_end = at;
      if (ret_stars->n_stars++ < TIDE_GLOB_MAX_STARS)
        ret_stars->texts[ret_stars->n_stars - 1] = tide_bytes(text.data + at, 0);
    } else if (match_element(pattern, p, text, at, &pattern_len, &text_len)) {
      p += pattern_len;
      at += text_len;
    } else if (has_star && star_end < text.len) {
      gsize len = character_len(text, star_end);
      if (ret_stars->n_stars <= TIDE_GLOB_MAX_STARS)
        ret_stars->texts[ret_stars->n_stars - 1].len += len;
      star_end += len;
      p = behind_star;
      at = star_end;
    } else {
      return FALSE;
    }
  }
  return TRUE;
}

gboolean
tide_glob_matches(TideBytes pattern, TideBytes text)
{
  TideGlobStars stars;
  return tide_glob_match_stars(pattern, text, &stars);
}

guint
tide_glob_n_stars(TideBytes text)
{
  guint n_stars = 0;
  for (gsize i = 0; i < text.len; i++) {
    n_stars += text.data[i] == '*' ? 1 : 0;
    i += text.data[i] == '\\' ? 1 : 0;
  }
  return n_stars;
}

void
tide_glob_append_renamed(TideBytes name, const TideGlobStars *stars, TideBuffer *out)
{
  guint star = 0;
  for (gsize i = 0; i < name.len; i++) {
    if (name.data[i] == '*' && star < MIN(stars->n_stars, TIDE_GLOB_MAX_STARS)) {
      tide_buffer_append_bytes(out, stars->texts[star++]);
      continue;
    }
    if (name.data[i] == '\\' && i + 1 < name.len)
      i++;
    tide_buffer_append_byte(out, name.data[i]);
  }
}

gboolean
tide_glob_is_pattern(TideBytes text)
{
  for (gsize i = 0; i < text.len; i++) {
    if (text.data[i] == '*' || text.data[i] == '?')
      return TRUE;
    if (text.data[i] == '\\')
      i++;
  }
  return FALSE;
}
