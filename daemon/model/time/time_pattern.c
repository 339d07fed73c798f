#include "model/time/time_pattern.h"

#include "util/error.h"

#define DAY_S (24 * 60 * 60)

const TideTimeLevelTraits tide_time_levels[] = {
    [TIDE_LEVEL_YEAR] = {'y', 4, 4, FALSE, "yyyy", 366 * DAY_S, 0, 9999},
    [TIDE_LEVEL_MONTH] = {'M', 2, 2, TRUE, "MM", 31 * DAY_S, 1, 12},
    [TIDE_LEVEL_DAY] = {'d', 2, 2, TRUE, "dd", DAY_S, 1, 31},
    [TIDE_LEVEL_HOUR] = {'H', 2, 2, TRUE, "HH", 60 * 60, 0, 23},
    [TIDE_LEVEL_MINUTE] = {'m', 2, 2, FALSE, "mm", 60, 0, 59},
    [TIDE_LEVEL_SECOND] = {'s', 2, 2, FALSE, "ss", 1, 0, 59},
    [TIDE_LEVEL_FRACTION] = {'S', 1, 9, FALSE, "S to SSSSSSSSS", 0, 0, G_MAXINT},
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
  gsize level = 0;
  while (level < TIDE_N_LEVELS && tide_time_levels[level].letter != letter)
    level++;
  if (level == TIDE_N_LEVELS)
    return tide_fail(
        error, TIDE_ERROR_CONFIG,
        "time pattern '%s': no such letter '%c': use yyyy MM dd HH mm ss S, and put other letters into single "
        "quotes",
        pattern, letter);
  const TideTimeLevelTraits *element = &tide_time_levels[level];
  gboolean may_vary = variable && element->may_vary;
  if (!(may_vary && piece->n_letters == 1) &&
      (piece->n_letters < element->min_letters || piece->n_letters > element->max_letters)) {
    g_autofree char *letters = g_strnfill(MIN(piece->n_letters, 20), letter);
    g_autofree char *or_varying = may_vary ? g_strdup_printf(" or %c", letter) : g_strdup("");
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_CONFIG, "time pattern '%s': '%s' must be written %s%s", pattern, letters,
                element->form, or_varying);
    return FALSE;
  }
  if (*named & (1u << level))
    return tide_fail(error, TIDE_ERROR_CONFIG, "time pattern '%s': '%c' stands in it twice", pattern, letter);
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
  if (cursor.is_quoted)
    return tide_fail(error, TIDE_ERROR_CONFIG, "time pattern '%s': a quote is not closed", pattern);
  if (named == 0)
    return tide_fail(error, TIDE_ERROR_CONFIG, "time pattern '%s': it names no part of a time, such as HH:mm:ss",
                     pattern);
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
  if (fault != NULL)
    return tide_fail(error, TIDE_ERROR_CONFIG, "time pattern '%s': %s", pattern, fault);
  *ret_has_date = date != 0;
  return TRUE;
}
