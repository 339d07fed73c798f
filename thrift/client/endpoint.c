#include "thrift/client/endpoint.h"

#include "thrift/client/connection.h"
#include "thrift/client/socket_stream.h"
#include "thrift/client/tls_stream.h"
#include "util/error.h"

#include <string.h>
#include <sys/un.h>

#define UNIX_PREFIX "unix:"
#define HOST_MAX_BYTES 253 /* a domain name's limit, RFC 1035 */
#define EXPECTED                                                                                                       \
  "expected 'host:port', '[IPv6 address]:port' or 'unix:/path', optionally after 'thrift://', 'thrift+tls://', "       \
  "'http://' or 'https://'"

/* The schemes: the part before "://". */
static const struct {
  const char *name;
  const TideStreamKind *stream;
  const TideMessageLayer *messages;
} schemes[] = {
    {"thrift", &tide_socket_stream, NULL},
    {"thrift+tls", &tide_tls_stream, NULL},
    {"http", &tide_socket_stream, &tide_http_messages},
    {"https", &tide_tls_stream, &tide_http_messages},
};

static gboolean
refuse(const char *text, const char *problem, GError **error)
{
  return tide_fail(error, TIDE_ERROR_CONFIG, "gateway '%s': %s; " EXPECTED, text, problem);
}

static gboolean
parse_port(const char *digits, guint16 *ret_port)
{
  guint64 port;
  if (!g_ascii_string_to_unsigned(digits, 10, 1, G_MAXUINT16, &port, NULL))
    return FALSE;
  *ret_port = (guint16)port;
  return TRUE;
}

/* Letters, digits and the other characters of names and addresses; @extra: ':' and '%' inside brackets. */
static gboolean
is_host(const char *host, gsize len, const char *extra)
{
  for (gsize i = 0; i < len; i++) {
    if (!g_ascii_isalnum(host[i]) && strchr("-._", host[i]) == NULL && strchr(extra, host[i]) == NULL)
      return FALSE;
  }
  return len > 0 && len <= HOST_MAX_BYTES;
}

static gboolean
parse_bracketed(TideEndpoint *endpoint, const char *address, GError **error)
{
  const char *host = address + 1;
  const char *end = strchr(host, ']');
  if (end == NULL)
    return refuse(endpoint->text, "']' is missing", error);
  if (!is_host(host, (gsize)(end - host), ":%") || memchr(host, ':', (gsize)(end - host)) == NULL)
    return refuse(endpoint->text, "the brackets contain no IPv6 address", error);
  endpoint->host = g_strndup(host, (gsize)(end - host));
  if (end[1] == '\0')
    return TRUE;
  if (end[1] != ':' || !parse_port(end + 2, &endpoint->port))
    return refuse(endpoint->text, "the port must be a number from 1 to 65535", error);
  return TRUE;
}

static gboolean
parse_host(TideEndpoint *endpoint, const char *address, GError **error)
{
  const char *text = endpoint->text;
  const char *colon = strchr(address, ':');
  gsize host_len = colon != NULL ? (gsize)(colon - address) : strlen(address);
  if (strchr(address, '/') != NULL)
    return refuse(text, "this is not a host name", error);
  if (colon != NULL && strchr(colon + 1, ':') != NULL)
    return refuse(text, "an IPv6 address needs brackets", error);
  if (!is_host(address, host_len, ""))
    return refuse(text, host_len == 0 ? "the host is missing" : "this is not a host name", error);
  endpoint->host = g_strndup(address, host_len);
  if (colon != NULL && !parse_port(colon + 1, &endpoint->port))
    return refuse(text, "the port must be a number from 1 to 65535", error);
  return TRUE;
}

static gboolean
parse_address(TideEndpoint *endpoint, const char *address, GError **error)
{
  endpoint->port = TIDE_GATEWAY_DEFAULT_PORT;
  return address[0] == '[' ? parse_bracketed(endpoint, address, error) : parse_host(endpoint, address, error);
}

static gboolean
parse_http(TideEndpoint *endpoint, const char *address, GError **error)
{
  gsize len = strcspn(address, "/");
  const char *path = address + len;
  g_autofree char *authority = g_strndup(address, len);
  if (!parse_address(endpoint, authority, error))
    return FALSE;
  for (const char *at = path; *at != '\0'; at++) {
    if (!g_ascii_isgraph(*at) || strchr("?#\"\\<>^`{|}", *at) != NULL)
      return refuse(endpoint->text, "the path has a character that is not allowed in URLs", error);
  }
  endpoint->path = g_strdup(path[0] != '\0' ? path : "/");
  return TRUE;
}

static gboolean
parse_url(TideEndpoint *endpoint, const char *colon, GError **error)
{
  gsize len = (gsize)(colon - endpoint->text);
  for (gsize i = 0; i < G_N_ELEMENTS(schemes); i++) {
    if (strlen(schemes[i].name) == len && memcmp(schemes[i].name, endpoint->text, len) == 0) {
      const char *address = colon + strlen("://");
      endpoint->stream = schemes[i].stream;
      endpoint->messages = schemes[i].messages;
      return endpoint->messages != NULL ? parse_http(endpoint, address, error)
                                        : parse_address(endpoint, address, error);
    }
  }
  return refuse(endpoint->text, "the scheme before '://' is unknown", error);
}

TideEndpoint *
tide_endpoint_parse(const char *text, GError **error)
{
  g_autoptr(TideEndpoint) endpoint = g_new0(TideEndpoint, 1);
  const char *colon = strstr(text, "://");
  gboolean parsed;
  endpoint->text = g_strdup(text);
  endpoint->stream = &tide_socket_stream;
  if (g_str_has_prefix(text, UNIX_PREFIX)) {
    struct sockaddr_un address;
    endpoint->unix_path = g_strdup(text + strlen(UNIX_PREFIX));
    if (endpoint->unix_path[0] != '/')
      parsed = refuse(text, "the path of a Unix socket must begin with '/'", error);
    else
      parsed = strlen(endpoint->unix_path) < sizeof address.sun_path ||
               refuse(text, "the path of a Unix socket may have at most 107 bytes", error);
  } else if (colon != NULL) {
    parsed = parse_url(endpoint, endpoint->text + (colon - text), error);
  } else {
    parsed = parse_address(endpoint, endpoint->text, error);
  }
  return parsed ? g_steal_pointer(&endpoint) : NULL;
}

TideEndpoint *
tide_endpoint_copy(const TideEndpoint *endpoint)
{
  TideEndpoint *copy = g_memdup2(endpoint, sizeof *endpoint);
  copy->host = g_strdup(endpoint->host);
  copy->unix_path = g_strdup(endpoint->unix_path);
  copy->path = g_strdup(endpoint->path);
  copy->text = g_strdup(endpoint->text);
  return copy;
}

void
tide_endpoint_free(TideEndpoint *endpoint)
{
  if (endpoint == NULL)
    return;
  g_free(endpoint->host);
  g_free(endpoint->unix_path);
  g_free(endpoint->path);
  g_free(endpoint->text);
  g_free(endpoint);
}
