#include "util/listen_address.h"

#include "util/error.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/un.h>

static gboolean
refuse(const char *text, GError **error)
{
  g_set_error(
      error, TIDE_ERROR, TIDE_ERROR_CONFIG,
      "cannot listen on '%s': write an IPv4 address and port such as '127.0.0.1:9464', an IPv6 one such as "
      "'[::1]:9464', the absolute path of a Unix socket as 'unix:/run/tidemark/http.socket' (up to 107 bytes), or "
      "'off'",
      text);
  return FALSE;
}

/* Decimal digits only, 0..65535. */
static gboolean
parse_port(const char *text, guint16 *ret_port)
{
  guint64 port;
  if (strlen(text) > 5 || !g_ascii_string_to_unsigned(text, 10, 0, G_MAXUINT16, &port, NULL))
    return FALSE;
  *ret_port = (guint16)port;
  return TRUE;
}

static void
fill_ipv4(TideListenAddress *address, struct in_addr host, guint16 port)
{
  struct sockaddr_in socket_address = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr = host};
  memcpy(&address->address, &socket_address, sizeof socket_address);
  address->address_bytes = sizeof socket_address;
}

static void
fill_ipv6(TideListenAddress *address, struct in6_addr host, guint16 port)
{
  struct sockaddr_in6 socket_address = {.sin6_family = AF_INET6, .sin6_port = htons(port), .sin6_addr = host};
  memcpy(&address->address, &socket_address, sizeof socket_address);
  address->address_bytes = sizeof socket_address;
}

/* "/run/x.socket" */
static gboolean
fill_unix(TideListenAddress *address, const char *path)
{
  struct sockaddr_un socket_address = {.sun_family = AF_UNIX};
  if (path[0] != '/' || strlen(path) >= sizeof socket_address.sun_path)
    return FALSE;
  memcpy(socket_address.sun_path, path, strlen(path));
  memcpy(&address->address, &socket_address, sizeof socket_address);
  address->address_bytes = sizeof socket_address;
  return TRUE;
}

gboolean
tide_listen_address_parse(const char *text, TideListenAddress *ret_address, GError **error)
{
  TideListenAddress address = {0};
  if (strcmp(text, "off") == 0) {
    address.is_off = TRUE;
    *ret_address = address;
    return TRUE;
  }
  if (g_str_has_prefix(text, "unix:")) {
    if (!fill_unix(&address, text + strlen("unix:")))
      return refuse(text, error);
    *ret_address = address;
    return TRUE;
  }

  guint16 port;
  const char *colon = strrchr(text, ':');
  if (colon == NULL || !parse_port(colon + 1, &port))
    return refuse(text, error);

  gsize host_len = (gsize)(colon - text);
  gboolean is_bracketed = host_len >= 2 && text[0] == '[' && text[host_len - 1] == ']';
  g_autofree char *host = is_bracketed ? g_strndup(text + 1, host_len - 2) : g_strndup(text, host_len);
  struct in_addr ipv4;
  struct in6_addr ipv6;
  if (is_bracketed && inet_pton(AF_INET6, host, &ipv6) == 1)
    fill_ipv6(&address, ipv6, port);
  else if (!is_bracketed && inet_pton(AF_INET, host, &ipv4) == 1)
    fill_ipv4(&address, ipv4, port);
  else
    return refuse(text, error);
  *ret_address = address;
  return TRUE;
}

gboolean
tide_listen_address_is_local(const TideListenAddress *address)
{
  if (address->is_off || address->address.ss_family == AF_UNIX)
    return TRUE;
  const struct sockaddr_in *ipv4 = (const void *)&address->address;
  const struct in6_addr *host = &((const struct sockaddr_in6 *)(const void *)&address->address)->sin6_addr;
  if (address->address.ss_family == AF_INET)
    return ntohl(ipv4->sin_addr.s_addr) >> 24 == 127;
  return IN6_IS_ADDR_LOOPBACK(host) || (IN6_IS_ADDR_V4MAPPED(host) && host->s6_addr[12] == 127);
}
