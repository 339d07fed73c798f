/* What statuses other than 200 mean: the pages of Jetty in a gateway of HBase 2.6.1, and of others. */
#include "thrift/http/http_refusal.h"

#include "unit/test_case.h"
#include "util/error.h"

#define PAGE(status, message)                                                                                          \
  "HTTP ERROR " #status " " message "\nURI: /\nSTATUS: " #status "\nMESSAGE: " message "\nSERVLET: TServlet\n"

#define SAFE_TOKEN "YIICzgYGKwYBBQUCoII-wjCCAr6gDTALBgkqhkiG_xIBAgKiggKrBIICp2"
#define TOKEN "YIICcQYJKoZIhvcSAQICAQBuggJgMIICXKADAgEFoQMCAQ6i+/wDBQAgAAAAo4IBfg=="

typedef struct Case {
  guint status;
  const char *page;
  const char *principal; /* of the ticket; NULL: there was none */
  int code;
  const char *says;
} Case;

static const Case cases[] = {
    {401, PAGE(401, "Authentication required"), NULL, TIDE_ERROR_WRONG_SERVICE,
     "requires authentication (HTTP status 401: Authentication required): set 'hbase.kerberos'"},
    {401, PAGE(401, "Authentication Error: java.lang.reflect.UndeclaredThrowableException"), "HTTP/gw1",
     TIDE_ERROR_WRONG_SERVICE, "refuses tidemark's Kerberos ticket for 'HTTP/gw1'"},
    {403, "", NULL, TIDE_ERROR_WRONG_SERVICE, "denies access (HTTP status 403)"},
    {404, "<html>not here</html>", NULL, TIDE_ERROR_WRONG_SERVICE, "check port and path"},
    {405, "", NULL, TIDE_ERROR_WRONG_SERVICE, "check port and path"},
    {413, "", NULL, TIDE_ERROR_TOO_BIG,
     "refuses a request of 1234 bytes (HTTP status 413): raise its limit (nginx: 'client_max_body_size')"},
    {414, "", NULL, TIDE_ERROR_WRONG_SERVICE, "header as long as tidemark's (HTTP status 414)"},
    {431, "", "HTTP/gw1", TIDE_ERROR_WRONG_SERVICE, "(nginx: 'large_client_header_buffers')"},
    {302, "", NULL, TIDE_ERROR_WRONG_SERVICE, "does not follow redirects"},
    {500, PAGE(500, "User: tidemark is not allowed to impersonate other"), "HTTP/gw1", TIDE_ERROR_WRONG_SERVICE,
     "does not allow tidemark to write as 'other' (HTTP status 500: User: tidemark is not allowed to impersonate "
     "other): set 'hadoop.proxyuser.USER.hosts' and 'hadoop.proxyuser.USER.users' in its core-site.xml, with the short "
     "name of tidemark's principal for USER"},
    {500, PAGE(500, "Support for proxyuser is not configured"), "HTTP/gw1", TIDE_ERROR_WRONG_SERVICE,
     "set 'hbase.thrift.support.proxyuser' on the gateway"},
    {500, PAGE(500, "Something else"), NULL, TIDE_ERROR_SERVER_FAILED, "failed: HTTP status 500: Something else"},
    {503, "", NULL, TIDE_ERROR_SERVER_FAILED, "or a proxy before it, failed: HTTP status 503"},
    {204, "", NULL, TIDE_ERROR_SERVER_FAILED, "HTTP status 204"},
    /* What it says is shown as far as it can be, and not without end. */
    {500, "MESSAGE: a\x1b[31m\xff", NULL, TIDE_ERROR_SERVER_FAILED, "HTTP status 500: a\\x1B[31m\\xFF"},
    {500, "MESSAGE:", NULL, TIDE_ERROR_SERVER_FAILED, "failed: HTTP status 500"},
    /* A ticket of ours that it quotes is not; names are. */
    {500, "MESSAGE: no 'Negotiate " TOKEN "' here, " TOKEN, NULL, TIDE_ERROR_SERVER_FAILED,
     "HTTP status 500: no 'Negotiate ***' here, ***"},
    {500, "MESSAGE: no '" SAFE_TOKEN "' here, %2B" TOKEN "\\/" TOKEN, NULL, TIDE_ERROR_SERVER_FAILED,
     "HTTP status 500: no '***' here, ***"},
    {500, "MESSAGE: java.lang.reflect.UndeclaredThrowableException in /a/b/c", NULL, TIDE_ERROR_SERVER_FAILED,
     "HTTP status 500: java.lang.reflect.UndeclaredThrowableException in /a/b/c"},
};

TEST("/http-refusal/D25-statuses")
{
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    TideHttpRefusal refusal = {.peer = "http://gw1:9090/",
                               .status = cases[i].status,
                               .page = tide_bytes_of_string(cases[i].page),
                               .request_bytes = 1234,
                               .principal = cases[i].principal,
                               .do_as = "other"};
    g_autoptr(GError) error = NULL;
    tide_http_refusal_explain(&refusal, &error);
    g_assert_error(error, TIDE_ERROR, cases[i].code);
    g_assert_nonnull(strstr(error->message, "'http://gw1:9090/'"));
    if (strstr(error->message, cases[i].says) == NULL)
      g_error("'%s' does not say '%s'", error->message, cases[i].says);
  }
}

TEST("/http-refusal/long-page")
{
  g_autofree char *page = g_strnfill(60000, '.');
  memcpy(page, "MESSAGE: ", 9);
  TideHttpRefusal refusal = {.peer = "gw", .status = 500, .page = tide_bytes_of_string(page)};
  g_autoptr(GError) error = NULL;
  tide_http_refusal_explain(&refusal, &error);
  g_assert_cmpuint(strlen(error->message), <, 400);
}
