#include "thrift/http/http_headers.h"

#include "util/error.h"

#include <string.h>

/* Requests have these already, or libcurl makes them. */
static const char *const own_names[] = {"Accept", "Authorization", "Connection", "Content-Length",    "Content-Type",
                                        "doAs",   "Expect",        "Host",       "Transfer-Encoding", "Upgrade"};

/* RFC 9110's tchar. */
static gboolean
is_name_byte(char byte)
{
  return g_ascii_isalnum(byte) || (byte != '\0' && strchr("!#$%&'*+-.^_`|~", byte) != NULL);
}

/* What is wrong with @line; NULL: it is a header. Static text */
static const char *
find_fault(const char *line)
{
  gsize name_len = 0;
  while (is_name_byte(line[name_len]))
    name_len++;
  if (name_len == 0 || line[name_len] != ':')
    return "is not of the form 'NAME: value'";
  const char *value = line + name_len + 1;
  if (value[strspn(value, " ")] == '\0')
    return "has no value";
  for (; *value != '\0'; value++)
    if (!g_ascii_isprint(*value))
      return "has a byte in its value that is no printable ASCII";
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

char **
tide_http_headers_read(const TideSecretSource *source, GError **error)
{
  char *text = tide_secret_read(source, error);
  if (text == NULL)
    return NULL;
  char **headers = g_new0(char *, TIDE_HTTP_HEADERS_MAX + 1);
  gsize n_headers = 0;
  guint number = 0;
  gboolean is_good = TRUE;
  for (char *line = text, *next; is_good && line != NULL; line = next) {
    next = strchr(line, '\n');
    if (next != NULL)
      *next++ = '\0';
    number++;
    gsize len = strlen(line);
    if (len > 0 && line[len - 1] == '\r')
      line[--len] = '\0';
    if (len == 0)
      continue;
    const char *fault = n_headers == TIDE_HTTP_HEADERS_MAX
                            ? "is one more than " G_STRINGIFY(TIDE_HTTP_HEADERS_MAX) " headers"
                            : find_fault(line);
    if (fault != NULL)
      is_good = tide_fail(error, TIDE_ERROR_CONFIG, "line %u of '%s' %s", number,
                          source->file != NULL ? source->file : source->credential, fault);
    else
      headers[n_headers++] = g_strdup(line);
  }
  tide_secret_free(text);
  if (is_good && n_headers == 0)
    is_good = tide_fail(error, TIDE_ERROR_CONFIG, "'%s' has no line with a header",
                        source->file != NULL ? source->file : source->credential);
  if (is_good)
    return headers;
  tide_http_headers_free(headers);
  return NULL;
}
