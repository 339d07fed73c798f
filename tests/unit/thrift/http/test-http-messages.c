/* Calls over HTTP and HTTPS, from the address to the reply, against a server with one answer, or a probe's two. */
#include "thrift/client/connection.h"
#include "thrift/client/gateway_probe.h"
#include "thrift/client/hbase_client.h"
#include "thrift/http/http_headers.h"
#include "unit/kdc.h"
#include "unit/probe_replies.h"
#include "unit/test_case.h"
#include "unit/tls_world.h"
#include "util/clock.h"
#include "util/error.h"

#include <signal.h>

#define GENEROUS_MS 10000
#define SHORT_MS 150 /* for what must time out */

typedef struct Server {
  const TestTls *tls; /* NULL: plain */
  const char *head;   /* of its answer */
  TideBytes body;
  gboolean goes_on;    /* with the second question of a probe */
  gsize sent_bytes;    /* of the answer, before a TLS alert; 0: all of it */
  TideBuffer received; /* the last request; of the server's thread until it is stopped */
} Server;

/* Once its thread has ended. */
static void
server_clear(Server *server)
{
  tide_buffer_clear_memory(&server->received);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Server, server_clear)

static gboolean
read_more(LoopbackServer *loopback, int fd, SSL *ssl, TideBuffer *into)
{
  if (ssl == NULL)
    return loopback_read_more(loopback, fd, into);
  int got = SSL_read(ssl, tide_buffer_reserve(into, 65536), 65536);
  into->len += got > 0 ? (gsize)got : 0;
  return got > 0;
}

/* Whether a request with a whole message is there: its last byte is the end of the arguments. */
static gboolean
is_request(const TideBuffer *received)
{
  const char *begin = (const char *)received->data;
  const char *body = received->len > 0 ? g_strstr_len(begin, (gssize)received->len, "\r\n\r\n") : NULL;
  return body != NULL && received->len - (gsize)(body - begin) > 4 && received->data[received->len - 1] == 0;
}

static void
answer(const Server *server, int fd, SSL *ssl, TideBytes body)
{
  g_autofree char *head = g_strdup_printf("%s\r\nContent-Length: %" G_GSIZE_FORMAT "\r\n\r\n", server->head, body.len);
  g_auto(TideBuffer) text = {0};
  tide_buffer_append(&text, head, strlen(head));
  tide_buffer_append_bytes(&text, body);
  if (ssl == NULL)
    loopback_send(fd, text.data, text.len);
  else
    (void)SSL_write(ssl, text.data, (int)(server->sent_bytes > 0 ? server->sent_bytes : text.len));
  if (server->sent_bytes > 0)
    test_tls_alert(ssl);
}

static void
serve(LoopbackServer *loopback, int fd, guint connection)
{
  Server *server = loopback->data;
  SSL *ssl = server->tls != NULL ? test_tls_accept(server->tls, fd) : NULL;
  if (server->tls != NULL && ssl == NULL)
    return;
  TideBytes body = server->body;
  tide_buffer_reset(&server->received);
  while (read_more(loopback, fd, ssl, &server->received))
    if (is_request(&server->received)) {
      answer(server, fd, ssl, body);
      body = TIDE_BYTES_LITERAL(CLUSTER_REPLY);
      if (!server->goes_on)
        break;
      tide_buffer_reset(&server->received);
    }
  loopback_wait_closed(loopback, fd);
  SSL_free(ssl);
}

/* "http://127.0.0.1:PORT/gw" */
static TideEndpoint *
endpoint_of(const LoopbackServer *server, const TideLinkSettings *settings, const char *scheme, const char *host)
{
  g_autofree char *text = g_strdup_printf("%s://%s:%u/gw", scheme, host, server->endpoint->port);
  TideEndpoint *endpoint = tide_endpoint_parse(text, NULL);
  g_assert_nonnull(endpoint);
  endpoint->settings = settings;
  return endpoint;
}

static gboolean
call_once(const TideEndpoint *endpoint, GError **error)
{
  TideWireMode mode = {TIDE_FRAMING_UNFRAMED, TIDE_WIRE_BINARY};
  g_autoptr(TideHBaseClient) client = tide_hbase_client_new(endpoint, mode);
  return tide_hbase_client_ping(client, tide_now_us() + GENEROUS_MS * TIDE_US_PER_MS, error);
}

#define OK_HEAD "HTTP/1.1 200 OK\r\nContent-Type: application/x-thrift"

TEST("/http-messages/call")
{
  g_auto(Server) server = {.head = OK_HEAD, .body = tide_bytes(TYPE_REPLY, sizeof TYPE_REPLY - 1)};
  g_autoptr(LoopbackServer) loopback = loopback_start(serve, &server);
  TideLinkSettings settings = {.http.do_as = (char *)"other"};
  g_autoptr(TideEndpoint) endpoint = endpoint_of(loopback, &settings, "http", "127.0.0.1");
  g_autoptr(GError) error = NULL;
  gboolean answered = call_once(endpoint, &error);
  g_assert_no_error(error);
  g_assert_true(answered);
  loopback_stop(g_steal_pointer(&loopback));
  g_autofree char *request = g_strndup((const char *)server.received.data, server.received.len);
  g_assert_true(g_str_has_prefix(request, "POST /gw HTTP/1.1\r\n"));
  g_assert_nonnull(strstr(request, "\r\nAccept: application/x-thrift, text/plain;q=0.5\r\n"));
  g_assert_nonnull(strstr(request, "\r\ndoAs: other\r\n"));
  g_assert_null(strstr(request, "Authorization"));
}

#define SECRET "ACCESSKEYID: tidemark\r\n\nACCESSSIGNATURE: s3cret"

/* A secret of a proxy's, read for each connection. */
TEST("/http-messages/headers-of-the-operator")
{
  g_auto(Server) server = {.head = OK_HEAD, .body = tide_bytes(TYPE_REPLY, sizeof TYPE_REPLY - 1)};
  g_autoptr(LoopbackServer) loopback = loopback_start(serve, &server);
  g_autofree char *path = g_build_filename(g_get_tmp_dir(), "tidemark-test-http-headers", NULL);
  g_assert_true(g_file_set_contents_full(path, SECRET "\n", -1, G_FILE_SET_CONTENTS_NONE, 0600, NULL));
  TideLinkSettings settings = {.http = {.do_as = (char *)"other", .headers.file = path}};
  g_autoptr(TideEndpoint) endpoint = endpoint_of(loopback, &settings, "http", "127.0.0.1");
  g_autoptr(GError) error = NULL;
  gboolean answered = call_once(endpoint, &error);
  g_assert_no_error(error);
  g_assert_true(answered);
  loopback_stop(g_steal_pointer(&loopback));
  g_autofree char *request = g_strndup((const char *)server.received.data, server.received.len);
  g_assert_nonnull(strstr(request, "\r\ndoAs: other\r\n"));
  g_assert_nonnull(strstr(request, "\r\nACCESSKEYID: tidemark\r\n"));
  g_assert_nonnull(strstr(request, "\r\nACCESSSIGNATURE: s3cret\r\n"));
  g_assert_cmpint(g_unlink(path), ==, 0);
  g_assert_false(call_once(endpoint, &error));
  g_assert_error(error, TIDE_ERROR, TIDE_ERROR_WRONG_SERVICE);
  g_assert_nonnull(strstr(error->message, "'hbase.http.headers': "));
}

TEST("/http-messages/headers-that-are-none")
{
  static const struct {
    const char *text, *fault;
  } cases[] = {
      {"\r\n\r\n", "contains no header line"},
      {"A: 1\nno header", "line 2 of "},
      {": s3cret", "is not of the form 'NAME: value'"},
      {"A B: s3cret", "is not of the form 'NAME: value'"},
      {"A:  ", "has no value"},
      {"A: s3cret\tb", "has a non-printable or non-ASCII byte in its value"},
      {"A: s3cr\xc3\xa9t", "has a non-printable or non-ASCII byte in its value"},
      {"content-length: 3", "names a header that requests to gateways set themselves"},
      {"Authorization: s3cret", "names a header that requests to gateways set themselves"},
      {"A:1\nA:2\nA:3\nA:4\nA:5\nA:6\nA:7\nA:8\nA:9\nA:10\nA:11\nA:12\nA:13\nA:14\nA:15\nA:16\nA:17", "line 17 of "},
  };
  g_autofree char *path = g_build_filename(g_get_tmp_dir(), "tidemark-test-bad-http-headers", NULL);
  const TideSecretSource source = {.file = path};
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(GError) error = NULL;
    g_assert_true(g_file_set_contents_full(path, cases[i].text, -1, G_FILE_SET_CONTENTS_CONSISTENT, 0600, NULL));
    g_assert_null(tide_http_headers_read(&source, &error));
    g_assert_error(error, TIDE_ERROR, TIDE_ERROR_CONFIG);
    g_assert_nonnull(strstr(error->message, cases[i].fault));
    g_assert_null(strstr(error->message, "s3c"));
  }
  g_assert_cmpint(g_unlink(path), ==, 0);
}

typedef struct Bad {
  const char *head;
  TideBytes body;
  int code;
} Bad;

/* What is no reply leaves open whether the call was carried out, unless the status says that it was not. */
TEST("/http-messages/what-is-no-reply")
{
  const Bad cases[] = {
      {OK_HEAD, TIDE_BYTES_EMPTY, TIDE_ERROR_PROTOCOL},
      {OK_HEAD, TIDE_BYTES_LITERAL("<html>"), TIDE_ERROR_PROTOCOL},
      {OK_HEAD, tide_bytes(TYPE_REPLY, sizeof TYPE_REPLY - 2), TIDE_ERROR_PROTOCOL},
      {OK_HEAD, tide_bytes(TYPE_REPLY, sizeof TYPE_REPLY), TIDE_ERROR_PROTOCOL},
      {"HTTP/1.1 401 No", TIDE_BYTES_LITERAL("MESSAGE: who?\n"), TIDE_ERROR_WRONG_SERVICE},
      {"HTTP/1.1 413 No", TIDE_BYTES_LITERAL("<html>"), TIDE_ERROR_TOO_BIG},
      {"HTTP/1.1 500 No", TIDE_BYTES_LITERAL("MESSAGE: oh\n"), TIDE_ERROR_SERVER_FAILED},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_auto(Server) server = {.head = cases[i].head, .body = cases[i].body};
    g_autoptr(LoopbackServer) loopback = loopback_start(serve, &server);
    g_autoptr(TideEndpoint) endpoint = endpoint_of(loopback, NULL, "http", "127.0.0.1");
    g_autoptr(GError) error = NULL;
    g_assert_false(call_once(endpoint, &error));
    g_assert_error(error, TIDE_ERROR, cases[i].code);
  }
}

/* The probe finds the one mode that there is. */
TEST("/http-messages/probe")
{
  g_auto(Server) server = {.head = OK_HEAD, .body = tide_bytes(TYPE_REPLY, sizeof TYPE_REPLY - 1), .goes_on = TRUE};
  g_autoptr(LoopbackServer) loopback = loopback_start(serve, &server);
  g_autoptr(TideEndpoint) endpoint = endpoint_of(loopback, NULL, "http", "127.0.0.1");
  g_autoptr(GError) error = NULL;
  TideWireMode mode = {TIDE_FRAMING_FRAMED, TIDE_WIRE_COMPACT};
  TideProbeRequest request = {-1, -1};
  gboolean found = tide_gateway_probe(endpoint, request, GENEROUS_MS, NULL, &mode, NULL, &error);
  g_assert_no_error(error);
  g_assert_true(found);
  g_assert_cmpint(mode.framing, ==, TIDE_FRAMING_UNFRAMED);
  g_assert_cmpint(mode.protocol, ==, TIDE_WIRE_BINARY);
  g_assert_cmpstr(tide_message_layer_of(endpoint, mode.framing)->name, ==, "HTTP");
  request.protocol = TIDE_WIRE_COMPACT;
  g_assert_false(tide_gateway_probe(endpoint, request, GENEROUS_MS, NULL, &mode, NULL, &error));
  g_assert_error(error, TIDE_ERROR, TIDE_ERROR_WRONG_SERVICE);
  g_assert_nonnull(strstr(error->message, "therefore the binary protocol, but 'hbase.transport' demands compact"));
}

static void
serve_silence(LoopbackServer *server, int fd, guint connection)
{
  loopback_wait_closed(server, fd);
}

static void
serve_hang_up(LoopbackServer *server, int fd, guint connection)
{
  g_auto(TideBuffer) received = {0};
  (void)loopback_read_more(server, fd, &received);
}

/* A proxy whose gateway is away: it does not hang up. */
static void
serve_bad_gateway(LoopbackServer *server, int fd, guint connection)
{
  g_auto(TideBuffer) received = {0};
  static const char answer[] = "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n";
  if (loopback_read_more(server, fd, &received))
    loopback_send(fd, answer, strlen(answer));
}

TEST("/http-messages/probe-of-a-proxy-without-gateway")
{
  g_autoptr(LoopbackServer) loopback = loopback_start(serve_bad_gateway, NULL);
  g_autoptr(TideEndpoint) endpoint = endpoint_of(loopback, NULL, "http", "127.0.0.1");
  g_autoptr(GError) error = NULL;
  TideWireMode mode;
  g_assert_false(tide_gateway_probe(endpoint, (TideProbeRequest){-1, -1}, SHORT_MS, NULL, &mode, NULL, &error));
  g_assert_error(error, TIDE_ERROR, TIDE_ERROR_CONNECT);
  g_assert_nonnull(strstr(error->message, "or a proxy before it, failed: HTTP status 502"));
  g_assert_null(strstr(error->message, "hangs up"));
}

/* A port where no HTTP is spoken, each in the way of one that is likely: what it may be is said. */
TEST("/http-messages/probe-of-another-port")
{
  const struct {
    LoopbackScript serve;
    const char *scheme, *part;
  } cases[] = {
      {serve_silence, "http", "it does not answer HTTP, like a gateway that requires Kerberos by SASL"},
      {serve_hang_up, "http", "it closes HTTP connections, like a gateway set to plain Thrift or one that expects TLS"},
      {serve_silence, "https", "there was no TLS handshake, so it may be a plain port"},
      {serve_hang_up, "https", "there was no TLS handshake, so it may be a plain port"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(LoopbackServer) loopback = loopback_start(cases[i].serve, NULL);
    g_autoptr(TideEndpoint) endpoint = endpoint_of(loopback, NULL, cases[i].scheme, "127.0.0.1");
    g_autoptr(GError) error = NULL;
    TideWireMode mode;
    g_assert_false(tide_gateway_probe(endpoint, (TideProbeRequest){-1, -1}, SHORT_MS, NULL, &mode, NULL, &error));
    if (strstr(error->message, cases[i].part) == NULL)
      g_error("'%s' does not say '%s'", error->message, cases[i].part);
  }
}

/* ---- SPNEGO ---- */

/* A ticket that is refused may be for a key that the gateway no longer has: another is got, but not one for each call.
 */
static void
test_refused_ticket(gconstpointer data)
{
  const Kdc *kdc = data;
  g_autofree char *keytab = kdc_add(kdc, "tidemark", "client");
  g_free(kdc_add(kdc, "HTTP/localhost", "gateway"));
  g_auto(Server) server = {.head = "HTTP/1.1 401 No", .body = TIDE_BYTES_LITERAL("MESSAGE: no\n")};
  g_autoptr(LoopbackServer) loopback = loopback_start(serve, &server);
  TideLinkSettings settings = {.kerberos.keytab.file = keytab, .http.host = (char *)"localhost"};
  g_autoptr(TideEndpoint) endpoint = endpoint_of(loopback, &settings, "http", "127.0.0.1");
  for (guint i = 0; i < 4; i++) {
    g_autoptr(GError) error = NULL;
    g_assert_false(call_once(endpoint, &error));
    g_assert_error(error, TIDE_ERROR, TIDE_ERROR_WRONG_SERVICE);
    g_assert_nonnull(strstr(error->message, "refuses tidemark's Kerberos ticket for 'HTTP/localhost'"));
    g_assert_cmpuint(kdc_n_logins(kdc), ==, i == 0 ? 1u : 2u);
  }
}

/* ---- HTTPS ---- */

/* @says: NULL: the call succeeds. */
static void
check_https(const TestTls *tls, const TideTlsSettings *settings, const char *says)
{
  g_auto(Server) server = {.tls = tls, .head = OK_HEAD, .body = tide_bytes(TYPE_REPLY, sizeof TYPE_REPLY - 1)};
  g_autoptr(LoopbackServer) loopback = loopback_start(serve, &server);
  TideLinkSettings link = {.tls = *settings};
  g_autoptr(TideEndpoint) endpoint = endpoint_of(loopback, &link, "https", "127.0.0.1");
  g_autoptr(GError) error = NULL;
  gboolean answered = call_once(endpoint, &error);
  if (says == NULL) {
    g_assert_no_error(error);
    g_assert_true(answered);
  } else {
    /* A peer may close before its words are read: it is known then that nothing was sent, or else not. */
    gboolean is_cut = strstr(error->message, "right after the TLS handshake") != NULL;
    if (!is_cut)
      g_assert_error(error, TIDE_ERROR, TIDE_ERROR_WRONG_SERVICE);
    if (strstr(error->message, says) == NULL)
      g_error("'%s' does not say '%s'", error->message, says);
  }
}

TEST("/http-messages/D25-https")
{
  TestTls good = {.identity = &world.server}, expired = {.identity = &world.expired};
  TestTls mutual = {.identity = &world.server, .client_authority = &world.authority};
  TestTls mutual_1_2 = mutual;
  mutual_1_2.max_version = TLS1_2_VERSION;
  TestTls old = {.identity = &world.server, .max_version = TLS1_1_VERSION};
  TideTlsSettings trusting = {.ca = world.authority_file};
  TideTlsSettings named = {.ca = world.authority_file, .server_name = (char *)"localhost"};
  TideTlsSettings misnamed = {.ca = world.authority_file, .server_name = (char *)"other.example"};
  TideTlsSettings strange = {.ca = world.other_authority_file};
  TideTlsSettings ours = as_client(world.client_file, world.client_key);
  TideTlsSettings lost = {.ca = (char *)"/no/such/ca.pem"};
  check_https(&good, &trusting, NULL);
  check_https(&good, &named, NULL);
  check_https(&mutual, &ours, NULL);
  check_https(&good, &misnamed, "not for 'other.example'");
  check_https(&good, &strange, "was signed by 'CN = test authority', which is not in 'hbase.tls.ca'");
  check_https(&good, &(TideTlsSettings){0}, "which this system does not trust");
  check_https(&good, &lost, "'/no/such/ca.pem' cannot be used");
  check_https(&expired, &trusting, "has expired");
  check_https(&mutual, &trusting, "requires a client certificate");
  check_https(&mutual_1_2, &trusting, "requires a client certificate");
  check_https(&old, &trusting, "TLS");
}

/* An alert in the answer's place, in its head and in its body: the call may have been carried out. */
TEST("/http-messages/D25-alert-in-a-reply")
{
  const int versions[] = {TLS1_2_VERSION, TLS1_3_VERSION};
  const gsize sent[] = {1, 20, strlen(OK_HEAD "\r\nContent-Length: 40\r\n\r\n") + 10};
  for (gsize i = 0; i < G_N_ELEMENTS(versions) * G_N_ELEMENTS(sent); i++) {
    TestTls tls = {.identity = &world.server, .max_version = versions[i % G_N_ELEMENTS(versions)]};
    g_auto(Server) server = {.tls = &tls,
                             .head = OK_HEAD,
                             .body = tide_bytes(TYPE_REPLY, sizeof TYPE_REPLY - 1),
                             .sent_bytes = sent[i / G_N_ELEMENTS(versions)]};
    g_autoptr(LoopbackServer) loopback = loopback_start(serve, &server);
    TideLinkSettings link = {.tls.ca = world.authority_file};
    g_autoptr(TideEndpoint) endpoint = endpoint_of(loopback, &link, "https", "127.0.0.1");
    g_autoptr(GError) error = NULL;
    g_assert_false(call_once(endpoint, &error));
    g_test_message("%s", error->message);
    g_assert_error(error, TIDE_ERROR, TIDE_ERROR_CONNECTION_LOST);
    g_assert_true(tide_error_outcome_unknown(error));
    g_assert_nonnull(strstr(error->message, "bad record mac"));
    g_assert_cmpuint(loopback_connections(loopback), ==, 1); /* nothing was sent twice */
  }
}

int
main(int argc, char **argv)
{
  signal(SIGPIPE, SIG_IGN);
  tide_hbase_client_init_types();
  g_test_init(&argc, &argv, NULL);
  test_cases_add();
  world_make();
  Kdc kdc;
  gboolean has_kdc = kdc_is_installed();
  if (has_kdc) {
    kdc_create(&kdc);
    g_test_add_data_func("/http-messages/refused-ticket", &kdc, test_refused_ticket);
  }
  int status = g_test_run();
  if (has_kdc)
    kdc_destroy(&kdc);
  world_end();
  return status;
}
