#define _GNU_SOURCE
#include "http/request_head.h"

#include "thrift/http/http_headers.h"

#include <arpa/inet.h>
#include <limits.h>
#include <unistd.h>

#define END "\r\n\r\n"

gsize
tide_request_head_len(TideBytes bytes)
{
  const guint8 *end = bytes.len > 0 ? memmem(bytes.data, bytes.len, END, strlen(END)) : NULL;
  return end != NULL ? (gsize)(end - bytes.data) + strlen(END) : 0;
}

/* Cuts the text before @separator, and the separator, off @rest; FALSE if there is no separator. */
static gboolean
cut(TideBytes *rest, const char *separator, TideBytes *ret_front)
{
  const guint8 *at = rest->len > 0 ? memmem(rest->data, rest->len, separator, strlen(separator)) : NULL;
  if (at == NULL)
    return FALSE;
  *ret_front = tide_bytes(rest->data, (gsize)(at - rest->data));
  gsize taken = ret_front->len + strlen(separator);
  *rest = tide_bytes_from(*rest, taken);
  return TRUE;
}

/* A method or the name of a header. */
static gboolean
is_token(TideBytes text)
{
  for (gsize i = 0; i < text.len; i++)
    if (!tide_http_is_name_byte(text.data[i]))
      return FALSE;
  return text.len > 0;
}

/* TRUE if there are no control bytes other than tabs. */
static gboolean
is_text(TideBytes text)
{
  for (gsize i = 0; i < text.len; i++)
    if ((text.data[i] < 0x20 && text.data[i] != '\t') || text.data[i] == 0x7f)
      return FALSE;
  return TRUE;
}

static TideBytes
trim(TideBytes text)
{
  while (text.len > 0 && (text.data[0] == ' ' || text.data[0] == '\t'))
    text = tide_bytes_from(text, 1);
  while (text.len > 0 && (text.data[text.len - 1] == ' ' || text.data[text.len - 1] == '\t'))
    text.len--;
  return text;
}

/* Cuts off "http://localhost", which requests to a proxy contain (RFC 9112, 3.2.2). */
static gboolean
cut_authority(TideBytes *target, TideBytes *ret_authority)
{
  static const char *const schemes[] = {"http://", "https://"};
  for (gsize i = 0; i < G_N_ELEMENTS(schemes); i++) {
    gsize begin = strlen(schemes[i]), end = begin;
    if (target->len < begin || g_ascii_strncasecmp((const char *)target->data, schemes[i], begin) != 0)
      continue;
    while (end < target->len && target->data[end] != '/' && target->data[end] != '?')
      end++;
    *ret_authority = tide_bytes(target->data + begin, end - begin);
    *target = tide_bytes_from(*target, end);
    return end > begin;
  }
  return TRUE;
}

/* "GET /metrics?x HTTP/1.1" */
static gboolean
parse_request_line(TideBytes line, TideRequestHead *head, TideBytes *ret_authority)
{
  TideBytes target, query;
  if (!cut(&line, " ", &head->method) || !cut(&line, " ", &target))
    return FALSE;
  if (!is_token(head->method) || !is_text(target) || !cut_authority(&target, ret_authority))
    return FALSE;
  if (ret_authority->data != NULL && (target.len == 0 || target.data[0] == '?'))
    target = TIDE_BYTES_LITERAL("/");
  if (target.len == 0 || target.data[0] != '/')
    return FALSE;
  if (line.len != strlen("HTTP/1.x") || memcmp(line.data, "HTTP/1.", 7) != 0 || !g_ascii_isdigit(line.data[7]))
    return FALSE;
  query = target;
  head->path = target;
  (void)cut(&query, "?", &head->path);
  return TRUE;
}

static gboolean
is_named(TideBytes name, const char *expected)
{
  return name.len == strlen(expected) && g_ascii_strncasecmp((const char *)name.data, expected, name.len) == 0;
}

static gboolean
parse_header(TideBytes line, TideRequestHead *head)
{
  TideBytes name;
  if (!cut(&line, ":", &name) || !is_token(name) || !is_text(line))
    return FALSE;
  TideBytes *value = is_named(name, "authorization") ? &head->authorization
                     : is_named(name, "host")        ? &head->host
                                                     : NULL;
  if (value == NULL)
    return TRUE;
  if (value->data != NULL)
    return FALSE;
  *value = trim(line);
  return TRUE;
}

gboolean
tide_request_head_parse(TideBytes bytes, TideRequestHead *ret_head)
{
  TideRequestHead head = {0};
  TideBytes line, authority = {0};
  if (!cut(&bytes, "\r\n", &line) || !parse_request_line(line, &head, &authority))
    return FALSE;
  while (cut(&bytes, "\r\n", &line) && line.len > 0)
    if (!parse_header(line, &head))
      return FALSE;
  if (authority.data != NULL)
    head.host = authority;
  *ret_head = head;
  return bytes.len == 0;
}

gboolean
tide_request_host_is_local(TideBytes host)
{
  char own[HOST_NAME_MAX + 1] = "";
  struct in6_addr address;
  g_autofree char *text = g_strndup((const char *)host.data, host.len);
  gboolean is_bracketed = text[0] == '[';
  char *end = strchr(text, is_bracketed ? ']' : ':');
  const char *behind = end != NULL ? end + (is_bracketed ? 1 : 0) : "";
  if (*behind != '\0' && (*behind != ':' || behind[1 + strspn(behind + 1, "0123456789")] != '\0'))
    return FALSE;
  if (end != NULL)
    *end = '\0';
  if (is_bracketed)
    return end != NULL && inet_pton(AF_INET6, text + 1, &address) == 1;
  if (inet_pton(AF_INET, text, &address) == 1 || g_ascii_strcasecmp(text, "localhost") == 0)
    return TRUE;
  return gethostname(own, sizeof own - 1) == 0 && *text != '\0' && g_ascii_strcasecmp(text, own) == 0;
}
