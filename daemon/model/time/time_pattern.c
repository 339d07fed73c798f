#include "model/time/time_pattern.h"

#include "util/error.h"

/* How many letters make one element. */
static const struct {
  gsize min_letters;
  gsize max_letters;
  gboolean may_vary; /* a single letter, without a zero in front, is one too, where that is allowed */
  const char *form;
} elements[TIDE_N_LEVELS] = {
    [TIDE_LEVEL_YEAR] = {4, 4, FALSE, "yyyy"},
    [TIDE_LEVEL_MONTH] = {2, 2, TRUE, "MM"},
    [TIDE_LEVEL_DAY] = {2, 2, TRUE, "dd"},
    [TIDE_LEVEL_HOUR] = {2, 2, TRUE, "HH"},
    [TIDE_LEVEL_MINUTE] = {2, 2, FALSE, "mm"},
    [TIDE_LEVEL_SECOND] = {2, 2, FALSE, "ss"},
    [TIDE_LEVEL_FRACTION] = {1, 9, FALSE, "S to SSSSSSSSS"},
};

gboolean
tide_time_pattern_next(TideTimePatternCursor *cursor, TideTimePatternPiece *ret_piece)
{
  const char *at = cursor->at;
  while (at[0] == '\'' && at[1] != '\'') {
    cursor->is_quoted = !cursor->is_quoted;
    at++;
  }
  cursor->at = at;
  if (*at == '\0')
    return FALSE;
  *ret_piece = (TideTimePatternPiece){.n_letters = 0, .byte = (guint8)*at};
  if (!cursor->is_quoted && g_ascii_isalpha(*at))
    ret_piece->n_letters = strspn(at, (const char[]){*at, '\0'});
  /* A quote is written twice. */
  cursor->at += ret_piece->n_letters > 0 ? ret_piece->n_letters : *at == '\'' ? 2 : 1;
  return TRUE;
}

static gboolean
check_element(const char *pattern, const TideTimePatternPiece *piece, gboolean variable, guint *named, GError **error)
{
  char letter = (char)piece->byte;
  const char *known = strchr(TIDE_TIME_LETTERS, letter);
  if (known == NULL) {
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_CONFIG,
                "time pattern '%s': no such letter '%c': use yyyy MM dd HH mm ss S, and put other letters into single "
                "quotes",
                pattern, letter);
    return FALSE;
  }
  gsize level = (gsize)(known - TIDE_TIME_LETTERS);
  gboolean may_vary = variable && elements[level].may_vary;
  if (!(may_vary && piece->n_letters == 1) &&
      (piece->n_letters < elements[level].min_letters || piece->n_letters > elements[level].max_letters)) {
    g_autofree char *letters = g_strnfill(MIN(piece->n_letters, 20), letter);
    g_autofree char *or_varying = may_vary ? g_strdup_printf(" or %c", letter) : g_strdup("");
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_CONFIG, "time pattern '%s': '%s' must be written %s%s", pattern, letters,
                elements[level].form, or_varying);
    return FALSE;
  }
  if (*named & (1u << level)) {
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_CONFIG, "time pattern '%s': '%c' stands in it twice", pattern, letter);
    return FALSE;
  }
  *named |= 1u << level;
  return TRUE;
}

gboolean
tide_time_pattern_scan(const char *pattern, gboolean variable, guint *ret_named, GError **error)
{
  TideTimePatternCursor cursor = {.at = pattern};
  TideTimePatternPiece piece;
  guint named = 0;
  while (tide_time_pattern_next(&cursor, &piece))
    if (piece.n_letters > 0 && !check_element(pattern, &piece, variable, &named, error))
      return FALSE;
  if (cursor.is_quoted) {
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_CONFIG, "time pattern '%s': a quote is not closed", pattern);
    return FALSE;
  }
  if (named == 0) {
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_CONFIG, "time pattern '%s': it names no part of a time, such as HH:mm:ss",
                pattern);
    return FALSE;
  }
  *ret_named = named;
  return TRUE;
}

gboolean
tide_time_pattern_check(const char *pattern, gboolean *ret_has_date, GError **error)
{
  guint named;
  if (!tide_time_pattern_scan(pattern, FALSE, &named, error))
    return FALSE;

  guint date = named & TIDE_NAMES_DATE;
  const char *fault = NULL;
  if (date != 0 && date != TIDE_NAMES_DATE)
    fault = "a date needs yyyy, MM and dd";
  else if ((named & TIDE_NAMES(MINUTE)) && !(named & TIDE_NAMES(HOUR)))
    fault = "mm (minutes) needs HH; months are MM";
  else if ((named & TIDE_NAMES(SECOND)) && !(named & TIDE_NAMES(MINUTE)))
    fault = "ss needs mm";
  else if ((named & TIDE_NAMES(FRACTION)) && !(named & TIDE_NAMES(SECOND)))
    fault = "S (parts of a second) needs ss";
  if (fault != NULL) {
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_CONFIG, "time pattern '%s': %s", pattern, fault);
    return FALSE;
  }
  *ret_has_date = date != 0;
  return TRUE;
}
