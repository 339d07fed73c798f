#include "util/listen_address.h"

#include "util/error.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/un.h>

gboolean
tide_listen_address_parse(const char *text, TideListenAddress *ret_address, GError **error)
{
  struct sockaddr_un unix_address = {.sun_family = AF_UNIX};
  struct sockaddr_in ipv4 = {.sin_family = AF_INET};
  struct sockaddr_in6 ipv6 = {.sin6_family = AF_INET6};
  const void *found = NULL;
  socklen_t found_bytes = 0;
  const char *path = g_str_has_prefix(text, "unix:") ? text + strlen("unix:") : NULL, *colon = strrchr(text, ':');
  guint64 port;
  if (path != NULL && path[0] == '/' && strlen(path) < sizeof unix_address.sun_path) {
    memcpy(unix_address.sun_path, path, strlen(path));
    found = &unix_address;
    found_bytes = sizeof unix_address;
  } else if (path == NULL && colon != NULL && strlen(colon + 1) <= 5 &&
             g_ascii_string_to_unsigned(colon + 1, 10, 0, G_MAXUINT16, &port, NULL)) {
    gsize host_len = (gsize)(colon - text);
    gboolean is_bracketed = host_len >= 2 && text[0] == '[' && text[host_len - 1] == ']';
    g_autofree char *host = is_bracketed ? g_strndup(text + 1, host_len - 2) : g_strndup(text, host_len);
    ipv4.sin_port = ipv6.sin6_port = htons((guint16)port);
    if (is_bracketed && inet_pton(AF_INET6, host, &ipv6.sin6_addr) == 1) {
      found = &ipv6;
      found_bytes = sizeof ipv6;
    } else if (!is_bracketed && inet_pton(AF_INET, host, &ipv4.sin_addr) == 1) {
      found = &ipv4;
      found_bytes = sizeof ipv4;
    }
  }
  gboolean is_off = strcmp(text, "off") == 0;
  if (found == NULL && !is_off)
    return tide_fail(error, TIDE_ERROR_CONFIG,
                     "cannot listen on '%s': write an IPv4 address and port such as '127.0.0.1:9464', an IPv6 one such "
                     "as '[::1]:9464', the absolute path of a Unix socket such as 'unix:/run/tidemark/http.socket' (up "
                     "to 107 bytes), or 'off'",
                     text);
  *ret_address = (TideListenAddress){.is_off = is_off, .address_bytes = found_bytes};
  if (found != NULL)
    memcpy(&ret_address->address, found, found_bytes);
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
