#include "config/yaml/secret.h"

#include <string.h>

static const char *const secret_names[] = {
    "sasl.password",         "ssl.key.password",        "ssl.key.pem",
    "ssl.keystore.password", "sasl.oauthbearer.config", "sasl.oauthbearer.client.secret",
};

gboolean
tide_secret_is_name(const char *name)
{
  for (gsize i = 0; i < G_N_ELEMENTS(secret_names); i++) {
    if (strcmp(name, secret_names[i]) == 0)
      return TRUE;
  }
  /* What a later librdkafka adds will be called like this. */
  return g_str_has_suffix(name, "password") || g_str_has_suffix(name, "secret") || g_str_has_suffix(name, "key.pem");
}

static gboolean
is_name_char(char c)
{
  return g_ascii_isalnum(c) || c == '.' || c == '_' || c == '-';
}

/* Every name of a secret holds one of these: most lines are done with this look. */
static gboolean
may_name_secret(const char *line)
{
  return strstr(line, "password") != NULL || strstr(line, "secret") != NULL || strstr(line, "key.pem") != NULL ||
         strstr(line, "oauthbearer") != NULL;
}

const char *
tide_secret_find_value(const char *line)
{
  if (!may_name_secret(line))
    return NULL;
  for (const char *colon = strchr(line, ':'); colon != NULL; colon = strchr(colon + 1, ':')) {
    const char *end = colon;
    while (end > line && (end[-1] == ' ' || end[-1] == '"' || end[-1] == '\''))
      end--;
    const char *start = end;
    while (start > line && is_name_char(start[-1]))
      start--;
    g_autofree char *name = g_strndup(start, (gsize)(end - start));
    if (tide_secret_is_name(name))
      return colon[1] == ' ' ? colon + 2 : colon + 1;
  }
  return NULL;
}
