#include "model/time_pattern.h"

#include "model/time_spec.h"
#include "util/error.h"

/* The letters that a pattern knows, and how many of each make one element; the order is that of the bits. */
static const struct {
  char letter;
  gsize min_letters;
  gsize max_letters;
  gboolean may_vary; /* a single letter, without a zero in front, is one too, where that is allowed */
  const char *form;
} elements[] = {
    {'y', 4, 4, FALSE, "yyyy"},
    {'M', 2, 2, TRUE, "MM"},
    {'d', 2, 2, TRUE, "dd"},
    {'H', 2, 2, TRUE, "HH"},
    {'m', 2, 2, FALSE, "mm"},
    {'s', 2, 2, FALSE, "ss"},
    {'S', 1, 9, FALSE, "S to SSSSSSSSS"},
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
  for (gsize i = 0; i < G_N_ELEMENTS(elements); i++) {
    if (elements[i].letter != letter)
      continue;
    gboolean varies = variable && elements[i].may_vary && piece->n_letters == 1;
    if (!varies && (piece->n_letters < elements[i].min_letters || piece->n_letters > elements[i].max_letters)) {
      g_autofree char *letters = g_strnfill(MIN(piece->n_letters, 20), letter);
      g_autofree char *or_varying = variable && elements[i].may_vary ? g_strdup_printf(" or %c", letter) : g_strdup("");
      g_set_error(error, TIDE_ERROR, TIDE_ERROR_CONFIG, "time pattern '%s': '%s' must be written %s%s", pattern,
                  letters, elements[i].form, or_varying);
      return FALSE;
    }
    if (*named & (1u << i)) {
      g_set_error(error, TIDE_ERROR, TIDE_ERROR_CONFIG, "time pattern '%s': '%c' stands in it twice", pattern, letter);
      return FALSE;
    }
    *named |= 1u << i;
    return TRUE;
  }
  g_set_error(error, TIDE_ERROR, TIDE_ERROR_CONFIG,
              "time pattern '%s': no such letter '%c': use yyyy MM dd HH mm ss S, and put other letters into single "
              "quotes",
              pattern, letter);
  return FALSE;
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

  guint date = named & (TIDE_TIME_NAMES_YEAR | TIDE_TIME_NAMES_MONTH | TIDE_TIME_NAMES_DAY);
  const char *fault = NULL;
  if (date != 0 && date != (TIDE_TIME_NAMES_YEAR | TIDE_TIME_NAMES_MONTH | TIDE_TIME_NAMES_DAY))
    fault = "a date needs yyyy, MM and dd";
  else if ((named & TIDE_TIME_NAMES_MINUTE) && !(named & TIDE_TIME_NAMES_HOUR))
    fault = "mm (minutes) needs HH; months are MM";
  else if ((named & TIDE_TIME_NAMES_SECOND) && !(named & TIDE_TIME_NAMES_MINUTE))
    fault = "ss needs mm";
  else if ((named & TIDE_TIME_NAMES_FRACTION) && !(named & TIDE_TIME_NAMES_SECOND))
    fault = "S (parts of a second) needs ss";
  if (fault != NULL) {
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_CONFIG, "time pattern '%s': %s", pattern, fault);
    return FALSE;
  }
  *ret_has_date = date != 0;
  return TRUE;
}
