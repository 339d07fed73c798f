#include "model/table/dated_table.h"

/* Position in a pattern of time_pattern.h. */
typedef struct PatternWalk {
  const char *at;
  gboolean in_pattern; /* between the braces */
  gboolean in_quotes;
} PatternWalk;

/* Skips what produces no character: braces, and single quotes that are not doubled. */
static void
skip_marks(PatternWalk *walk)
{
  for (;; walk->at++) {
    if (!walk->in_quotes && *walk->at == TIDE_DATED_NAME_OPEN)
      walk->in_pattern = TRUE;
    else if (!walk->in_quotes && *walk->at == TIDE_DATED_NAME_CLOSE)
      walk->in_pattern = FALSE;
    else if (walk->in_pattern && *walk->at == '\'')
      walk->in_quotes = !walk->in_quotes;
    else
      return;
  }
}

gboolean
tide_dated_table_matches(const TideTable *declared, const char *name)
{
  if (!tide_table_is_template(declared))
    return FALSE;
  PatternWalk walk = {.at = declared->name};
  for (;; walk.at++, name++) {
    skip_marks(&walk);
    gboolean is_digit = walk.in_pattern && !walk.in_quotes && g_ascii_isalpha(*walk.at);
    if (is_digit ? !g_ascii_isdigit(*name) : *name != *walk.at)
      return FALSE;
    if (*name == '\0')
      return TRUE;
  }
}

#define COPY_DIGITS 8 /* yyyyMMdd */

gboolean
tide_dated_table_is_copy(const TideTable *declared, const char *name)
{
  gsize len = strlen(declared->name);
  if (strncmp(name, declared->name, len) != 0 || name[len] != '_')
    return FALSE;
  const char *digits = name + len + 1;
  return strlen(digits) == COPY_DIGITS && strspn(digits, "0123456789") == COPY_DIGITS;
}

TideTable *
tide_dated_table_new(const TideTable *declared, TideBytes name, guint32 index)
{
  TideTable *instance = g_new(TideTable, 1);
  *instance = *declared;
  instance->name = g_strndup((const char *)name.data, name.len);
  instance->index = index;
  instance->declared = declared;
  instance->dated_name = NULL;
  return instance;
}

void
tide_dated_table_free(TideTable *instance)
{
  if (instance == NULL)
    return;
  g_free(instance->name);
  g_free(instance);
}
