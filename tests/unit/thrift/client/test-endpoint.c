#include "thrift/client/endpoint.h"

#include "thrift/client/connection.h"
#include "thrift/client/socket_stream.h"
#include "thrift/client/tls_stream.h"
#include "unit/test_case.h"
#include "util/error.h"

TEST("/endpoint/valid-forms-are-taken")
{
  struct {
    const char *text;
    const char *host;
    guint16 port;
    const char *unix_path;
  } cases[] = {
      {"127.0.0.1:9090", "127.0.0.1", 9090, NULL},
      {"hb1.example.com:19090", "hb1.example.com", 19090, NULL},
      {"hb_1-a", "hb_1-a", TIDE_GATEWAY_DEFAULT_PORT, NULL},
      {"h:1", "h", 1, NULL},
      {"h:65535", "h", 65535, NULL},
      {"[::1]:9090", "::1", 9090, NULL},
      {"[::1]", "::1", TIDE_GATEWAY_DEFAULT_PORT, NULL},
      {"[fe80::1%eth0]:9091", "fe80::1%eth0", 9091, NULL},
      {"unix:/run/hbase/thrift.sock", NULL, 0, "/run/hbase/thrift.sock"},
      {"thrift://h:9091", "h", 9091, NULL},
      {"thrift+tls://hb1.example.com:9091", "hb1.example.com", 9091, NULL},
      {"thrift+tls://[::1]:9091", "::1", 9091, NULL},
      {"thrift+tls://h", "h", TIDE_GATEWAY_DEFAULT_PORT, NULL},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(GError) error = NULL;
    g_autoptr(TideEndpoint) parsed = tide_endpoint_parse(cases[i].text, &error);
    g_assert_no_error(error);
    g_autoptr(TideEndpoint) endpoint = tide_endpoint_copy(parsed);
    g_assert_cmpstr(endpoint->host, ==, cases[i].host);
    g_assert_cmpuint(endpoint->port, ==, cases[i].port);
    g_assert_cmpstr(endpoint->unix_path, ==, cases[i].unix_path);
    g_assert_cmpstr(endpoint->text, ==, cases[i].text);
    g_assert_true(endpoint->stream == (strstr(cases[i].text, "+tls") != NULL ? &tide_tls_stream : &tide_socket_stream));
  }
}

TEST("/endpoint/http")
{
  static const struct {
    const char *text, *host, *path;
    guint16 port;
    gboolean is_tls;
  } cases[] = {
      {"http://h:9095/some/path", "h", "/some/path", 9095, FALSE},
      {"http://h:9095", "h", "/", 9095, FALSE},
      {"https://gw1.example.com", "gw1.example.com", "/", TIDE_GATEWAY_DEFAULT_PORT, TRUE},
      {"https://[::1]:9095/", "::1", "/", 9095, TRUE},
      {"http://h:9095/a:b/%20", "h", "/a:b/%20", 9095, FALSE},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(GError) error = NULL;
    g_autoptr(TideEndpoint) parsed = tide_endpoint_parse(cases[i].text, &error);
    g_assert_no_error(error);
    g_autoptr(TideEndpoint) endpoint = tide_endpoint_copy(parsed);
    g_assert_cmpstr(endpoint->host, ==, cases[i].host);
    g_assert_cmpstr(endpoint->path, ==, cases[i].path);
    g_assert_cmpuint(endpoint->port, ==, cases[i].port);
    g_assert_true(endpoint->messages == &tide_http_messages);
    g_assert_true(endpoint->stream == (cases[i].is_tls ? &tide_tls_stream : &tide_socket_stream));
  }
}

TEST("/endpoint/invalid-forms-are-named")
{
  struct {
    const char *text;
    const char *part;
  } cases[] = {
      {"", "the host is missing"},
      {":9090", "the host is missing"},
      {"h:", "from 1 to 65535"},
      {"h:0", "from 1 to 65535"},
      {"h:65536", "from 1 to 65535"},
      {"h:+1", "from 1 to 65535"},
      {"h:90 ", "from 1 to 65535"},
      {"h:thrift", "from 1 to 65535"},
      {"::1", "needs brackets"},
      {"::1:9090", "needs brackets"},
      {"[::1", "']' is missing"},
      {"[::1]9090", "from 1 to 65535"},
      {"[::1]:", "from 1 to 65535"},
      {"[]:9090", "no IPv6 address"},
      {"[host]:9090", "no IPv6 address"},
      {"[::1\n]:9090", "no IPv6 address"},
      {"a b:9090", "not a host name"},
      {"ftp://h:9090", "before '://' is unknown"},
      {"THRIFT://h:9090", "before '://' is unknown"},
      {"://h:9090", "before '://' is unknown"},
      {"thrift+tls://", "the host is missing"},
      {"thrift+tls://h:0", "from 1 to 65535"},
      {"thrift+tls://h:9090/", "not a host name"},
      {"thrift+tls://u@h:9090", "not a host name"},
      {"thrift+tls://unix:/path", "not a host name"},
      {"thrift+tls://::1:9090", "needs brackets"},
      {"http://", "the host is missing"},
      {"http:///path", "the host is missing"},
      {"https://u:p@h:9090/", "needs brackets"},
      {"https://u@h:9090/", "not a host name"},
      {"http://h:9090/a b", "character that is not allowed in URLs"},
      {"http://h:9090/a?b=c", "character that is not allowed in URLs"},
      {"http://h:9090/a#b", "character that is not allowed in URLs"},
      {"http://h:9090/a\r\nX: y", "character that is not allowed in URLs"},
      {"http://h\r\n:9090/", "not a host name"},
      {"h/x", "not a host name"},
      {"h\xc3\xa9:9090", "not a host name"},
      {"unix:", "must begin with '/'"},
      {"unix:relative", "must begin with '/'"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(GError) error = NULL;
    g_assert_null(tide_endpoint_parse(cases[i].text, &error));
    g_assert_error(error, TIDE_ERROR, TIDE_ERROR_CONFIG);
    if (strstr(error->message, cases[i].part) == NULL)
      g_error("'%s': expected '%s' in '%s'", cases[i].text, cases[i].part, error->message);
  }
}

TEST("/endpoint/unix-path-fits-the-kernel")
{
  for (gsize len = 107; len <= 108; len++) {
    g_autofree char *path = g_strnfill(len, 'p');
    path[0] = '/';
    g_autofree char *text = g_strconcat("unix:", path, NULL);
    g_autoptr(GError) error = NULL;
    g_autoptr(TideEndpoint) endpoint = tide_endpoint_parse(text, &error);
    g_assert_cmpint(endpoint != NULL, ==, len == 107);
    if (len == 108)
      g_assert_error(error, TIDE_ERROR, TIDE_ERROR_CONFIG);
  }
}
