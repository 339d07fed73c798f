#define _GNU_SOURCE
#include "http/request_head.h"

#define END "\r\n\r\n"

gsize
tide_request_head_len(TideBytes bytes)
{
  const guint8 *end = bytes.len > 0 ? memmem(bytes.data, bytes.len, END, strlen(END)) : NULL;
  return end != NULL ? (gsize)(end - bytes.data) + strlen(END) : 0;
}

/* Cuts what is in front of @separator off @rest, and the separator; FALSE where there is none. */
static gboolean
cut(TideBytes *rest, const char *separator, TideBytes *ret_front)
{
  const guint8 *at = rest->len > 0 ? memmem(rest->data, rest->len, separator, strlen(separator)) : NULL;
  if (at == NULL)
    return FALSE;
  *ret_front = tide_bytes(rest->data, (gsize)(at - rest->data));
  gsize taken = ret_front->len + strlen(separator);
  *rest = tide_bytes(rest->data + taken, rest->len - taken);
  return TRUE;
}

/* RFC 9110's tchar: what methods and names of headers are made of. */
static gboolean
is_token(TideBytes text)
{
  for (gsize i = 0; i < text.len; i++)
    if (!g_ascii_isalnum(text.data[i]) && memchr("!#$%&'*+-.^_`|~", text.data[i], 15) == NULL)
      return FALSE;
  return text.len > 0;
}

/* No control bytes but tabs. */
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
    text = tide_bytes(text.data + 1, text.len - 1);
  while (text.len > 0 && (text.data[text.len - 1] == ' ' || text.data[text.len - 1] == '\t'))
    text.len--;
  return text;
}

/* "GET /metrics?x HTTP/1.1" */
static gboolean
parse_request_line(TideBytes line, TideRequestHead *head)
{
  TideBytes target, query;
  if (!cut(&line, " ", &head->method) || !cut(&line, " ", &target))
    return FALSE;
  if (!is_token(head->method) || target.len == 0 || target.data[0] != '/' || !is_text(target))
    return FALSE;
  if (line.len != strlen("HTTP/1.x") || memcmp(line.data, "HTTP/1.", 7) != 0 || !g_ascii_isdigit(line.data[7]))
    return FALSE;
  query = target;
  head->path = target;
  (void)cut(&query, "?", &head->path);
  return TRUE;
}

static gboolean
parse_header(TideBytes line, TideRequestHead *head)
{
  static const char authorization[] = "authorization";
  TideBytes name;
  if (!cut(&line, ":", &name) || !is_token(name) || !is_text(line))
    return FALSE;
  if (name.len != strlen(authorization) || g_ascii_strncasecmp((const char *)name.data, authorization, name.len) != 0)
    return TRUE;
  if (head->authorization.data != NULL)
    return FALSE;
  head->authorization = trim(line);
  return TRUE;
}

gboolean
tide_request_head_parse(TideBytes bytes, TideRequestHead *ret_head)
{
  TideRequestHead head = {0};
  TideBytes line;
  if (!cut(&bytes, "\r\n", &line) || !parse_request_line(line, &head))
    return FALSE;
  while (cut(&bytes, "\r\n", &line) && line.len > 0)
    if (!parse_header(line, &head))
      return FALSE;
  *ret_head = head;
  return bytes.len == 0;
}
