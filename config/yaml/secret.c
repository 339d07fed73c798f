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

/* What the names of secrets have in common, misspelt ones and those of other programs too. */
static gboolean
sounds_secret(const char *name)
{
  static const char *const sounds[] = {"pas", "secret", "token", "jaas", "key.pem", "ssl.key", "oauthbearer.config"};
  g_autofree char *lower = g_ascii_strdown(name, -1);

  for (gsize i = 0; i < G_N_ELEMENTS(sounds); i++) {
    if (strstr(lower, sounds[i]) != NULL)
      return TRUE;
  }
  return FALSE;
}

char *
tide_secret_mask_addresses(const char *text)
{
  static const char begin[] = "://";
  GString *out = g_string_new(NULL);

  for (const char *at; (at = strstr(text, begin)) != NULL;) {
    at += strlen(begin);
    gsize len = strcspn(at, "/@ \"',\n");
    g_string_append_len(out, text, at - text);
    g_string_append(out, at[len] == '@' ? "***" : "");
    text = at[len] == '@' ? at + len : at;
  }
  g_string_append(out, text);
  return g_string_free(out, FALSE);
}

const char *
tide_secret_find_value(const char *line)
{
  const char *key = strstr(line, TIDE_SECRET_KEY_BEGINS);

  if (!sounds_secret(line))
    return key;
  for (const char *sign = strpbrk(line, ":="); sign != NULL; sign = strpbrk(sign + 1, ":=")) {
    const char *end = sign;
    while (end > line && (end[-1] == ' ' || end[-1] == '"' || end[-1] == '\''))
      end--;
    const char *start = end;
    while (start > line && is_name_char(start[-1]))
      start--;
    g_autofree char *name = g_strndup(start, (gsize)(end - start));
    if (sounds_secret(name))
      return sign[1] == ' ' ? sign + 2 : sign + 1;
  }
  return key;
}
