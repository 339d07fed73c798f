#include "thrift/http/http_headers.h"

#include "util/error.h"

/* Headers that requests or libcurl set themselves. */
static const char *const own_names[] = {"Accept", "Authorization", "Connection", "Content-Length",    "Content-Type",
                                        "doAs",   "Expect",        "Host",       "Transfer-Encoding", "Upgrade"};

/* Returns the problem of @line; NULL: it is a valid header. Static text. */
static const char *
find_fault(const char *line)
{
  gsize name_len = 0;
  while (tide_http_is_name_byte((guint8)line[name_len]))
    name_len++;
  if (name_len == 0 || line[name_len] != ':')
    return "is not of the form 'NAME: value'";
  const char *value = line + name_len + 1;
  if (value[strspn(value, " ")] == '\0')
    return "has no value";
  for (; *value != '\0'; value++)
    if (!g_ascii_isprint(*value))
      return "has a non-printable or non-ASCII byte in its value";
  for (gsize i = 0; i < G_N_ELEMENTS(own_names); i++)
    if (strlen(own_names[i]) == name_len && g_ascii_strncasecmp(line, own_names[i], name_len) == 0)
      return "names a header that requests to gateways set themselves";
  return NULL;
}

void
tide_http_headers_free(char **headers)
{
  for (char **header = headers; header != NULL && *header != NULL; header++)
    tide_secret_free(*header);
  g_free(headers);
}

/* Keeps the headers in @lines and strips their line ends. FALSE: a line is no header, or there is none. @name: the
 * source of the lines. */
static gboolean
keep_headers(char **lines, const char *name, GError **error)
{
  gsize n_headers = 0;
  for (gsize i = 0; lines[i] != NULL; i++) {
    char *line = lines[i];
    gsize len = strlen(line);
    if (len > 0 && line[len - 1] == '\r')
      line[--len] = '\0';
    if (len == 0)
      continue;
    const char *fault = n_headers == TIDE_HTTP_HEADERS_MAX
                            ? "is one more than " G_STRINGIFY(TIDE_HTTP_HEADERS_MAX) " headers"
                            : find_fault(line);
    if (fault != NULL)
      return tide_fail(error, TIDE_ERROR_CONFIG, "line %" G_GSIZE_FORMAT " of '%s' %s", i + 1, name, fault);
    lines[i] = lines[n_headers];
    lines[n_headers++] = line;
  }
  for (gsize i = n_headers; lines[i] != NULL; i++)
    g_clear_pointer(&lines[i], g_free); /* they are empty */
  return n_headers > 0 || tide_fail(error, TIDE_ERROR_CONFIG, "'%s' contains no header line", name);
}

char **
tide_http_headers_read(const TideSecretSource *source, GError **error)
{
  char *text = tide_secret_read(source, error);
  if (text == NULL)
    return NULL;
  char **lines = g_strsplit(text, "\n", -1);
  tide_secret_free(text);
  if (keep_headers(lines, source->file != NULL ? source->file : source->credential, error))
    return lines;
  tide_http_headers_free(lines);
  return NULL;
}
