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
  /* Properties of later librdkafka releases will have such names. */
  return g_str_has_suffix(name, "password") || g_str_has_suffix(name, "passphrase") ||
         g_str_has_suffix(name, "secret") || g_str_has_suffix(name, "key.pem");
}

static const char *const sounds[] = {"pas",       "secret",    "token",        "jaas",
                                     "key.pem",   "ssl.key",   "http_users",   "apikey",
                                     "api.key",   "api_key",   "api-key",      "oauthbearer.config",
                                     "user.info", "user_info", "authorization"};

gboolean
tide_secret_sounds(const char *key, const char *parent)
{
  g_autofree char *lower = g_ascii_strdown(key, -1);

  if (g_strcmp0(parent, "tables") == 0) /* its keys are names of tables */
    return FALSE;
  for (gsize i = 0; i < G_N_ELEMENTS(sounds); i++) {
    if (strstr(lower, sounds[i]) != NULL)
      return TRUE;
  }
  return parent != NULL && g_str_has_suffix(parent, "tls") && strcmp(lower, "key") == 0;
}

const char *
tide_secret_find_name(const char *line)
{
  g_autofree char *lower = g_ascii_strdown(line, -1);
  const char *first = strstr(line, TIDE_SECRET_KEY_BEGINS);

  for (gsize i = 0; i < G_N_ELEMENTS(sounds); i++) {
    const char *found = strstr(lower, sounds[i]);
    if (found != NULL && (first == NULL || found - lower < first - line))
      first = line + (found - lower);
  }
  return first;
}

const char *
tide_secret_find_value(const char *line)
{
  const char *name = tide_secret_find_name(line);

  if (name == NULL || g_str_has_prefix(name, TIDE_SECRET_KEY_BEGINS))
    return name;
  while (g_ascii_isalnum(*name) || (*name != '\0' && strchr("._-", *name) != NULL))
    name++;
  gsize n_between = strspn(name, "\"' :=");
  return strcspn(name, " :=") < n_between ? name + n_between : tide_secret_find_value(name);
}

/* Appends the word @text. If it is or contains an address, *** replaces a user with a password, any user after "://",
 * and a query. Text between two "@" is never a host. */
static void
append_masked(GString *out, const char *text, gsize len)
{
  const char *scheme = g_strstr_len(text, (gssize)len, "://"), *end = text + len;
  const char *begin = scheme != NULL ? scheme + strlen("://") : text;
  const char *host = g_strrstr_len(begin, end - begin, "@");
  gboolean is_user = host != NULL && (memchr(begin, ':', (gsize)(host - begin)) != NULL ||
                                      (scheme != NULL && memchr(begin, '/', (gsize)(host - begin)) == NULL));

  g_string_append_len(out, text, begin - text);
  g_string_append(out, is_user ? "***" : "");
  begin = is_user ? host : begin;
  const char *query = scheme != NULL ? memchr(begin, '?', (gsize)(end - begin)) : NULL;
  gboolean is_query = query != NULL && query + 1 < end;
  g_string_append_len(out, begin, (is_query ? query + 1 : end) - begin);
  g_string_append(out, is_query ? "***" : "");
}

char *
tide_secret_mask_addresses(const char *text)
{
  static const char ends[] = " \"',\n";
  GString *out = g_string_new(NULL);

  while (*text != '\0') {
    gsize len = strcspn(text, ends), n_ends = strspn(text + len, ends);
    append_masked(out, text, len);
    g_string_append_len(out, text + len, (gssize)n_ends);
    text += len + n_ends;
  }
  return g_string_free(out, FALSE);
}

char *
tide_secret_mask(const char *value)
{
  const char *secret = tide_secret_find_value(value);
  GString *out = g_string_new(NULL);

  if (secret != NULL) {
    g_string_append_printf(out, "%.*s***", (int)(secret - value), value);
    return g_string_free(out, FALSE);
  }
  append_masked(out, value, strlen(value));
  g_autofree char *masked = g_string_free(out, FALSE);
  return tide_secret_mask_addresses(masked);
}
