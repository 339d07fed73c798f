/* Checks the patterns of time_text.h when the configuration is loaded, so that reading by one cannot go wrong
 * later. */
#include "model/time_spec.h"
#include "util/error.h"

/* The letters that a pattern knows, and how many of each make one element. */
static const struct {
  char letter;
  gsize min_letters;
  gsize max_letters;
  const char *form;
} elements[] = {
    {'y', 4, 4, "yyyy"},
    {'M', 2, 2, "MM"},
    {'d', 2, 2, "dd"},
    {'H', 2, 2, "HH"},
    {'m', 2, 2, "mm"},
    {'s', 2, 2, "ss"},
    {'S', 1, 9, "S to SSSSSSSSS"},
};

/* Bits of what was named, in the order of elements. */
enum { YEAR = 1, MONTH = 2, DAY = 4, HOUR = 8, MINUTE = 16, SECOND = 32, FRACTION = 64 };

static gboolean
check_element(const char *pattern, const char *at, gsize n_letters, guint *named, GError **error)
{
  for (gsize i = 0; i < G_N_ELEMENTS(elements); i++) {
    if (elements[i].letter != *at)
      continue;
    if (n_letters < elements[i].min_letters || n_letters > elements[i].max_letters) {
      g_set_error(error, TIDE_ERROR, TIDE_ERROR_CONFIG, "time pattern '%s': '%.*s' must be written %s", pattern,
                  (int)MIN(n_letters, 20), at, elements[i].form);
      return FALSE;
    }
    if (*named & (1u << i)) {
      g_set_error(error, TIDE_ERROR, TIDE_ERROR_CONFIG, "time pattern '%s': '%c' stands in it twice", pattern, *at);
      return FALSE;
    }
    *named |= 1u << i;
    return TRUE;
  }
  g_set_error(error, TIDE_ERROR, TIDE_ERROR_CONFIG,
              "time pattern '%s': no such letter '%c': use yyyy MM dd HH mm ss S, and put other letters into single "
              "quotes",
              pattern, *at);
  return FALSE;
}

static gboolean
scan_elements(const char *pattern, guint *ret_named, GError **error)
{
  gboolean is_quoted = FALSE;
  *ret_named = 0;
  for (const char *at = pattern; *at != '\0';) {
    if (*at == '\'' && at[1] != '\'') {
      is_quoted = !is_quoted;
      at++;
    } else if (!is_quoted && g_ascii_isalpha(*at)) {
      gsize n_letters = strspn(at, (const char[]){*at, '\0'});
      if (!check_element(pattern, at, n_letters, ret_named, error))
        return FALSE;
      at += n_letters;
    } else {
      at += *at == '\'' ? 2 : 1;
    }
  }
  if (is_quoted) {
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_CONFIG, "time pattern '%s': a quote is not closed", pattern);
    return FALSE;
  }
  return TRUE;
}

gboolean
tide_time_pattern_check(const char *pattern, gboolean *ret_has_date, GError **error)
{
  guint named;
  if (!scan_elements(pattern, &named, error))
    return FALSE;

  guint date = named & (YEAR | MONTH | DAY);
  const char *fault = NULL;
  if (named == 0)
    fault = "it names no part of a time, such as HH:mm:ss";
  else if (date != 0 && date != (YEAR | MONTH | DAY))
    fault = "a date needs yyyy, MM and dd";
  else if ((named & MINUTE) && !(named & HOUR))
    fault = "mm (minutes) needs HH; months are MM";
  else if ((named & SECOND) && !(named & MINUTE))
    fault = "ss needs mm";
  else if ((named & FRACTION) && !(named & SECOND))
    fault = "S (parts of a second) needs ss";
  if (fault != NULL) {
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_CONFIG, "time pattern '%s': %s", pattern, fault);
    return FALSE;
  }
  *ret_has_date = date != 0;
  return TRUE;
}
