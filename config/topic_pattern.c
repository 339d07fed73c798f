#include "config/topic_pattern.h"

#include <regex.h>
#include <string.h>

static int
compile(const char *pattern, regex_t *ret_compiled)
{
  return regcomp(ret_compiled, pattern, REG_EXTENDED | REG_NOSUB);
}

char *
tide_topic_pattern_problem(const char *wanted)
{
  regex_t compiled;
  char reason[128];
  if (wanted[0] != '^')
    return NULL;
  int result = compile(wanted, &compiled);
  if (result != 0)
    regerror(result, &compiled, reason, sizeof reason);
  else
    regfree(&compiled);
  return result != 0 ? g_strdup(reason) : NULL;
}

gboolean
tide_topic_pattern_matches(const char *wanted, const char *name)
{
  regex_t compiled;
  if (wanted[0] != '^')
    return strcmp(wanted, name) == 0;
  if (compile(wanted, &compiled) != 0)
    return FALSE;
  gboolean matches = regexec(&compiled, name, 0, NULL, 0) == 0;
  regfree(&compiled);
  return matches;
}

gboolean
tide_topic_pattern_any_matches(char *const *wanted, const char *name)
{
  for (; *wanted != NULL; wanted++)
    if (tide_topic_pattern_matches(*wanted, name))
      return TRUE;
  return FALSE;
}
