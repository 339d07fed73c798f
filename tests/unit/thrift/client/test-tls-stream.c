/* The TLS stream against servers that are as they should be, wrongly set up, or out to harm. */
#include "thrift/client/tls_stream.h"

#include "thrift/client/tls_context.h"
#include "unit/assert_bytes.h"
#include "unit/peak_memory.h"
#include "unit/test_case.h"
#include "unit/tls_link.h"

#include <linux/sockios.h>
#include <signal.h>
#include <sys/ioctl.h>

#define SHORT_MS 1000 /* for what must time out, but connects first */

/* ---- servers that answer ---- */

TEST("/tls-stream/calls-work-in-both-versions")
{
  const int versions[] = {TLS1_2_VERSION, TLS1_3_VERSION};
  for (gsize v = 0; v < G_N_ELEMENTS(versions); v++) {
    Answer answer = {.tls = {.identity = &world.server, .max_version = versions[v]}};
    g_autoptr(LoopbackServer) server = loopback_start(serve_tls, &answer);
    g_auto(Link) link = {0};
    g_autoptr(GError) error = NULL;
    g_assert_true(link_open(&link, server, (TideTlsSettings){.ca = world.authority_file}, &error));
    for (guint call = 0; call < 3; call++) {
      TideBytes reply;
      g_assert_true(tide_connection_is_ready(link.transport)); /* also while tickets of TLS 1.3 wait to be read */
      g_assert_true(exchange(&link, CALL, GENEROUS_MS, &reply, &error));
      g_assert_no_error(error);
      assert_bytes_equal(reply, REPLY);
    }
    g_assert_cmpuint(loopback_connections(server), ==, 1);
  }
}

/* By many parts, small and large, and more than the buffers hold. */
TEST("/tls-stream/D24-large-messages-arrive-whole")
{
  enum { N_PARTS = 500, SMALL_BYTES = 11, LARGE_BYTES = 40000 };
  gsize call_bytes = N_PARTS / 2 * (gsize)(SMALL_BYTES + LARGE_BYTES);
  Answer answer = {.tls = {.identity = &world.server}, .call_bytes = call_bytes, .reply_bytes = 20 << 20};
  g_autoptr(LoopbackServer) server = loopback_start(serve_tls, &answer);
  g_auto(Link) link = {0};
  g_autoptr(GError) error = NULL;
  g_autofree guint8 *bytes = g_malloc0(LARGE_BYTES);
  g_autofree TideBytes *parts = g_new0(TideBytes, N_PARTS);
  for (guint i = 0; i < N_PARTS; i++)
    parts[i] = tide_bytes(bytes, i % 2 == 0 ? SMALL_BYTES : LARGE_BYTES);
  TideBytes reply;
  g_assert_true(link_open(&link, server, (TideTlsSettings){.ca = world.authority_file}, &error));
  g_assert_true(tide_connection_send(link.transport, parts, N_PARTS, &error));
  g_assert_true(tide_connection_receive(link.transport, &reply, &error));
  g_assert_no_error(error);
  g_assert_cmpuint(reply.len, ==, (20 << 20) + REPLY.len + 7);
  g_assert_cmpint(reply.data[reply.len - 2], ==, 'x');
  g_assert_true(tide_connection_is_ready(link.transport));
}

TEST("/tls-stream/both-sides-show-certificates")
{
  const int versions[] = {TLS1_2_VERSION, TLS1_3_VERSION};
  for (gsize v = 0; v < G_N_ELEMENTS(versions); v++) {
    Answer answer = {.tls = {&world.server, &world.authority, versions[v]}};
    g_autoptr(LoopbackServer) server = loopback_start(serve_tls, &answer);
    g_autoptr(GError) error = error_of(server, as_client(world.client_file, world.client_key), GENEROUS_MS);
    g_assert_no_error(error);
  }
}

/* The ends of both certificates are told. */
TEST("/tls-stream/ends-of-certificates-are-told")
{
  TestIdentity brief = signed_by(&world.authority, "IP:127.0.0.1", -DAY_S, 3 * DAY_S);
  Answer answer = {.tls = {.identity = &brief, .client_authority = &world.authority}};
  LoopbackServer *server = loopback_start(serve_tls, &answer);
  Link link = {0};
  gint64 now_s = g_get_real_time() / G_USEC_PER_SEC;
  g_assert_true(link_open(&link, server, as_client(world.client_file, world.client_key), NULL));
  TideCertificateEnds ends = link.transport->ends;
  g_assert_cmpint(ABS(ends.peer_s - (now_s + 3 * DAY_S)), <, DAY_S / 24);
  g_assert_cmpint(ABS(ends.own_s - (now_s + 365 * DAY_S)), <, DAY_S / 24);
  link_close(&link);
  loopback_stop(server);
  test_identity_clear(&brief);
}

/* A certificate that was replaced counts from the next connection on. */
TEST("/tls-stream/files-are-read-for-each-connection")
{
  Answer answer = {.tls = {.identity = &world.server, .client_authority = &world.authority}};
  LoopbackServer *server = loopback_start(serve_tls, &answer);
  g_autofree char *certificate = test_identity_save(&world.stranger, FALSE, world.directory, "own.pem");
  g_autofree char *key = test_identity_save(&world.stranger, TRUE, world.directory, "own.key");
  g_autoptr(GError) before = error_of(server, as_client(certificate, key), GENEROUS_MS);
  g_assert_error(before, TIDE_ERROR, TIDE_ERROR_WRONG_SERVICE);
  g_free(test_identity_save(&world.client, FALSE, world.directory, "own.pem"));
  g_free(test_identity_save(&world.client, TRUE, world.directory, "own.key"));
  g_autoptr(GError) after = error_of(server, as_client(certificate, key), GENEROUS_MS);
  g_assert_no_error(after);
  loopback_stop(server);
  g_assert_cmpint(g_remove(certificate) + g_remove(key), ==, 0);
}

/* ---- what is wrongly set up ---- */

typedef struct WrongCase {
  const char *what;
  TestTls tls;
  TideTlsSettings settings;
  const char *part; /* of the sentence */
} WrongCase;

static void
check_wrong(const WrongCase *wrong)
{
  Answer answer = {.tls = wrong->tls};
  g_autoptr(LoopbackServer) server = loopback_start(serve_tls, &answer);
  g_test_message("%s", wrong->what);
  g_autoptr(GError) error = error_of(server, wrong->settings, GENEROUS_MS);
  assert_says(error, TIDE_ERROR_WRONG_SERVICE, wrong->part);
  g_assert_false(tide_error_outcome_unknown(error));
}

TEST("/tls-stream/D24-wrong-peers-are-named")
{
  TideTlsSettings known = {.ca = world.authority_file};
  TideTlsSettings by_name = {.ca = world.authority_file, .server_name = (char *)"gateway.example"};
  const WrongCase cases[] = {
      {"host", {&world.wrong_host}, known, "is for 'DNS:other.example, IP Address:127.0.0.2', not for '127.0.0.1'"},
      {"name", {&world.server}, by_name, "is for 'DNS:localhost, IP Address:127.0.0.1', not for 'gateway.example'"},
      {"authority", {&world.unknown}, known, "was signed by 'CN = other authority', which is not in 'hbase.tls.ca'"},
      {"the system's authorities", {&world.server}, {0}, "was signed by 'CN = test authority', which this system does"},
      {"expired", {&world.expired}, known, "has expired: 'CN = test' was valid until "},
      {"not yet", {&world.not_yet}, known, "is not valid before "},
      {"too old", {&world.server, NULL, TLS1_1_VERSION}, known, "does not support TLS 1.2 or later"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++)
    check_wrong(&cases[i]);
}

/* What a certificate may be for, and what we ask for. Neither half a label is open, nor an address a name. */
TEST("/tls-stream/names-are-compared-whole")
{
  static const struct {
    const char *names;
    const char *server_name; /* NULL: 127.0.0.1, as it is connected to */
    gboolean is_good;
  } cases[] = {
      {"DNS:*.example.com", "gw.example.com", TRUE},
      {"DNS:GW.example.com", "gw.EXAMPLE.com", TRUE},
      {"DNS:*.example.com", "a.gw.example.com", FALSE},
      {"DNS:*.example.com", "example.com", FALSE},
      {"DNS:g*.example.com", "gw.example.com", FALSE},
      {"DNS:127.0.0.1", NULL, FALSE},
      {"DNS:*.0.0.1", NULL, FALSE},
      {"IP:127.0.0.1", "localhost", FALSE},
      {"DNS:gw.example.com", "", FALSE},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    TestIdentity identity = signed_by(&world.authority, cases[i].names, 0, 0);
    Answer answer = {.tls = {.identity = &identity}};
    LoopbackServer *server = loopback_start(serve_tls, &answer);
    TideTlsSettings tls = {.ca = world.authority_file, .server_name = (char *)cases[i].server_name};
    g_autoptr(GError) error = error_of(server, tls, GENEROUS_MS);
    g_test_message("%s for %s", cases[i].names, cases[i].server_name);
    if (cases[i].is_good)
      g_assert_no_error(error);
    else
      g_assert_error(error, TIDE_ERROR, TIDE_ERROR_WRONG_SERVICE);
    loopback_stop(server);
    test_identity_clear(&identity);
  }
}

TEST("/tls-stream/D24-a-refusal-of-our-certificate-is-named")
{
  TideTlsSettings none = {.ca = world.authority_file};
  TideTlsSettings stranger = as_client(world.stranger_file, world.stranger_key);
  const WrongCase cases[] = {
      {"no certificate, 1.3", {&world.server, &world.authority, TLS1_3_VERSION}, none, "requires a client certificate"},
      {"no certificate, 1.2", {&world.server, &world.authority, TLS1_2_VERSION}, none, "requires a client certificate"},
      {"stranger, 1.3",
       {&world.server, &world.authority, TLS1_3_VERSION},
       stranger,
       "does not trust the issuer of tidemark's certificate"},
      {"stranger, 1.2",
       {&world.server, &world.authority, TLS1_2_VERSION},
       stranger,
       "does not trust the issuer of tidemark's certificate"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++)
    check_wrong(&cases[i]);
}

/* A request that is larger than the sockets' buffers breaks off when the server resets: what it said before counts. */
static void
serve_refusal(LoopbackServer *server, int fd, guint connection)
{
  const Answer *answer = server->data;
  g_assert_null(test_tls_accept(&answer->tls, fd));
  loopback_wait_readable(server, fd, GENEROUS_MS); /* it is sending: what is not read makes a reset of the close */
}

TEST("/tls-stream/D24-a-refusal-while-sending-is-named")
{
  Answer answer = {.tls = {&world.server, &world.authority, TLS1_3_VERSION}};
  g_autoptr(LoopbackServer) server = loopback_start(serve_refusal, &answer);
  g_auto(Link) link = {0};
  TideBytes reply;
  gsize len = 32 << 20;
  g_autofree guint8 *large = g_malloc0(len);
  g_autoptr(GError) error = NULL;
  g_assert_true(link_open(&link, server, (TideTlsSettings){.ca = world.authority_file}, &error));
  g_assert_false(exchange(&link, tide_bytes(large, len), GENEROUS_MS, &reply, &error));
  assert_says(error, TIDE_ERROR_WRONG_SERVICE, "requires a client certificate");
}

/* Answers some calls, and reads another. Then it wants to shake hands anew, which we refuse, and which it takes for the
 * end: 'handshake failure', as where a certificate of ours is missing. */
typedef struct ChangeOfMind {
  TestTls tls;
  guint answers;
} ChangeOfMind;

static void
serve_change_of_mind(LoopbackServer *server, int fd, guint connection)
{
  const ChangeOfMind *mind = server->data;
  guint8 byte;
  SSL *ssl = test_tls_accept(&mind->tls, fd);
  g_assert_nonnull(ssl);
  for (guint i = 0; i < mind->answers; i++)
    g_assert_true(read_exactly(ssl, CALL.len) && SSL_write(ssl, REPLY.data, (int)REPLY.len) > 0);
  g_assert_true(read_exactly(ssl, CALL.len));
  g_assert_cmpint(SSL_renegotiate(ssl), ==, 1);
  g_assert_cmpint(SSL_do_handshake(ssl), ==, 1); /* only asks for it */
  g_assert_cmpint(SSL_read(ssl, &byte, 1), <=, 0);
  loopback_wait_closed(server, fd);
  ERR_clear_error();
  SSL_free(ssl);
}

/* Whoever has read a request may have carried it out, whatever they say then. */
TEST("/tls-stream/a-refusal-behind-a-request-leaves-it-open")
{
  for (guint answers = 0; answers < 2; answers++) {
    ChangeOfMind mind = {{&world.server, NULL, TLS1_2_VERSION}, answers};
    g_autoptr(LoopbackServer) server = loopback_start(serve_change_of_mind, &mind);
    g_auto(Link) link = {0};
    TideBytes reply;
    g_autoptr(GError) error = NULL;
    g_assert_true(link_open(&link, server, (TideTlsSettings){.ca = world.authority_file}, &error));
    for (guint i = 0; i < answers; i++)
      g_assert_true(exchange(&link, CALL, GENEROUS_MS, &reply, &error));
    g_assert_false(exchange(&link, CALL, GENEROUS_MS, &reply, &error));
    g_assert_true(tide_error_outcome_unknown(error));
    assert_says(error, TIDE_ERROR_CONNECTION_LOST, "TLS alert 'handshake failure'");
  }
}

/* A line for each: "option: text". */
static void
add_fault(const char *option, const GError *error, gpointer text)
{
  g_assert_error(error, TIDE_ERROR, TIDE_ERROR_CONFIG);
  g_string_append_printf(text, "%s: %s\n", option, error->message);
}

TEST("/tls-stream/wrong-files-are-named")
{
  g_autofree char *nothing = g_build_filename(world.directory, "absent", NULL);
  const struct {
    TideTlsSettings settings;
    const char *parts[3]; /* one for each fault */
  } cases[] = {
      {{.ca = world.client_file}, {NULL}},
      {as_client(world.client_file, world.client_key), {NULL}},
      {{.ca = nothing}, {"ca: the file of authorities"}},
      {{.ca = world.client_key}, {"ca: "}},
      {as_client(nothing, world.client_key), {"certificate: the certificate"}},
      {as_client(world.client_key, world.client_key), {"it contains no PEM data of that kind"}},
      {as_client(world.client_file, nothing), {"key: cannot open the secret"}},
      {as_client(world.client_file, world.client_file), {"mode"}},
      {as_client(world.client_file, world.stranger_key), {"does not match the certificate"}},
      {as_client(nothing, nothing), {"certificate: ", "key: cannot open the secret"}},
      {{.ca = nothing, .certificate = nothing, .key.file = nothing}, {"ca: ", "certificate: ", "key: "}},
  };
  g_assert_cmpint(g_chmod(world.client_file, 0644), ==, 0);
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(GString) text = g_string_new(NULL);
    tide_tls_settings_check(&cases[i].settings, add_fault, text);
    const char *left = text->str;
    for (gsize part = 0; part < G_N_ELEMENTS(cases[i].parts) && cases[i].parts[part] != NULL; part++) {
      left = strstr(left, cases[i].parts[part]);
      g_assert_nonnull(left);
      left = strchr(left, '\n') + 1;
    }
    g_assert_cmpstr(left, ==, "");
  }
}

/* ---- what is no TLS, or a lie ---- */

typedef struct Lie {
  TideBytes bytes;
  gboolean then_close;
} Lie;

static void
serve_lie(LoopbackServer *server, int fd, guint connection)
{
  const Lie *lie = server->data;
  g_auto(TideBuffer) hello = {0};
  if (!loopback_read_more(server, fd, &hello))
    return;
  loopback_send(fd, lie->bytes.data, lie->bytes.len);
  if (!lie->then_close)
    loopback_wait_closed(server, fd);
}

TEST("/tls-stream/D24-what-is-no-tls-is-named")
{
  const struct {
    Lie lie;
    TideErrorCode code;
    const char *part;
  } cases[] = {
      {{TIDE_BYTES_LITERAL("HTTP/1.1 400 Bad Request\r\n\r\n"), FALSE},
       TIDE_ERROR_WRONG_SERVICE,
       "does not answer in TLS"},
      {{TIDE_BYTES_LITERAL("\x80\x01\0\x02\0\0\0\x04ping\0\0\0\x01\0"), FALSE},
       TIDE_ERROR_WRONG_SERVICE,
       "does not answer in TLS"},
      {{TIDE_BYTES_EMPTY, TRUE}, TIDE_ERROR_CONNECT, "it may be a plain port ('thrift://')"},
      {{TIDE_BYTES_LITERAL("\x16\x03\x03\xff\xff"), FALSE}, TIDE_ERROR_CONNECT, "broke"}, /* a record too large */
      {{TIDE_BYTES_LITERAL("\x16\x03\x03\x00\x04\x02\xff\xff\xff"), FALSE},
       TIDE_ERROR_CONNECT,
       "broke"}, /* a message */
      {{TIDE_BYTES_LITERAL("\x15\x03\x03\x00\x02\x02\x50"), FALSE}, TIDE_ERROR_CONNECT, "alert 'internal error'"},
      {{TIDE_BYTES_LITERAL("\x15\x03\x03\x00\x02\x02\x28"), FALSE},
       TIDE_ERROR_WRONG_SERVICE,
       "requires a client certificate"},
      {{TIDE_BYTES_LITERAL("\x16\x03\x03\x00\x80half"), TRUE}, TIDE_ERROR_CONNECT, "closed the connection"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(LoopbackServer) server = loopback_start(serve_lie, (gpointer)&cases[i].lie);
    g_autoptr(GError) error = error_of(server, (TideTlsSettings){.ca = world.authority_file}, GENEROUS_MS);
    assert_says(error, cases[i].code, cases[i].part);
  }
}

/* A byte each 20 ms of a message that never ends. */
static void
serve_drip(LoopbackServer *server, int fd, guint connection)
{
  struct pollfd peer = {.fd = fd, .events = POLLIN};
  g_auto(TideBuffer) hello = {0};
  if (!loopback_read_more(server, fd, &hello))
    return;
  for (gsize i = 0; poll(&peer, 1, 20) == 0; i++)
    loopback_send(fd, i < 5 ? &"\x16\x03\x03\x40\0"[i] : "x", 1);
}

TEST("/tls-stream/dripping-handshake-times-out")
{
  g_autoptr(LoopbackServer) server = loopback_start(serve_drip, NULL);
  g_autofree char *url = g_strdup_printf("thrift+tls://127.0.0.1:%u", server->endpoint->port);
  g_autoptr(TideEndpoint) endpoint = tide_endpoint_parse(url, NULL);
  g_autoptr(GCancellable) cancellable = g_cancellable_new();
  g_autoptr(TideConnection) transport =
      tide_connection_new(endpoint, TIDE_FRAMING_UNFRAMED, TIDE_WIRE_BINARY, cancellable);
  g_autoptr(GError) error = NULL;
  gint64 now_us = tide_now_us();
  tide_connection_begin_call(transport, now_us, now_us + SHORT_MS * TIDE_US_PER_MS);
  g_assert_false(tide_connection_connect(transport, &error));
  assert_says(error, TIDE_ERROR_CONNECT, " answer within"); /* or not even TCP's part was done in time */
  g_assert_cmpint(tide_now_us() - now_us, <, GENEROUS_MS * TIDE_US_PER_MS);
}

/* Empty records, tickets and alerts without end instead of an answer: the deadline ends it. */
typedef enum Flood { FLOOD_TICKETS, FLOOD_KEY_UPDATES, FLOOD_REPLY } Flood;

typedef struct Flooding {
  TestTls tls;
  Flood flood;
} Flooding;

/* OpenSSL takes no notice when a ticket cannot be sent. */
static gboolean
peer_is_there(int fd)
{
  guint8 byte;
  return recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && errno == EAGAIN;
}

static void
serve_flood(LoopbackServer *server, int fd, guint connection)
{
  const Flooding *flooding = server->data;
  static const guint8 begun[] = "\x80\x01\0\x02\0\0\0\x04ping\0\0\0\x01\x0b\0\0\x7f\0\0\0";
  SSL *ssl = test_tls_accept(&flooding->tls, fd);
  if (ssl == NULL)
    return;
  gboolean goes_on = read_exactly(ssl, CALL.len);
  if (flooding->flood == FLOOD_REPLY)
    goes_on = goes_on && SSL_write(ssl, begun, sizeof begun - 1) > 0;
  static const guint8 junk[16384];
  while (goes_on && flooding->flood != FLOOD_REPLY && peer_is_there(fd)) {
    if (flooding->flood == FLOOD_TICKETS)
      goes_on = SSL_new_session_ticket(ssl) == 1 && SSL_do_handshake(ssl) == 1;
    else
      goes_on = SSL_key_update(ssl, SSL_KEY_UPDATE_NOT_REQUESTED) == 1 && SSL_do_handshake(ssl) == 1;
  }
  while (goes_on && flooding->flood == FLOOD_REPLY)
    goes_on = SSL_write(ssl, junk, sizeof junk) > 0;
  ERR_clear_error();
  SSL_free(ssl);
}

TEST("/tls-stream/D24-floods-end-with-the-deadline")
{
  const struct {
    Flood flood;
    TideErrorCode code;
    const char *part;
  } cases[] = {
      {FLOOD_TICKETS, TIDE_ERROR_TIMEOUT, "did not answer within"},
      {FLOOD_KEY_UPDATES, TIDE_ERROR_TIMEOUT, "did not answer within"},
      {FLOOD_REPLY, TIDE_ERROR_PROTOCOL, "the limit is 64 MiB"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    Flooding flooding = {{&world.server, NULL, TLS1_3_VERSION}, cases[i].flood};
    g_autoptr(LoopbackServer) server = loopback_start(serve_flood, &flooding);
    guint64 before_bytes = peak_memory_begin();
    g_autoptr(GError) error = error_of(server, (TideTlsSettings){.ca = world.authority_file}, SHORT_MS);
    assert_says(error, cases[i].code, cases[i].part);
    assert_peak_memory_grew_less(before_bytes, 64u << 20);
  }
}

/* ---- between calls ---- */

/* Answers once, then says something, or closes. */
static void
serve_restless(LoopbackServer *server, int fd, guint connection)
{
  const Answer *answer = server->data;
  SSL *ssl = test_tls_accept(&answer->tls, fd);
  g_assert_nonnull(ssl);
  gboolean is_first = read_exactly(ssl, CALL.len);
  g_assert_true(is_first && SSL_write(ssl, REPLY.data, (int)REPLY.len) > 0);
  if (answer->reply_bytes > 0)
    SSL_write(ssl, "more", 4);
  else
    SSL_shutdown(ssl);
  loopback_wait_closed(server, fd);
  ERR_clear_error();
  SSL_free(ssl);
}

TEST("/tls-stream/D24-closed-or-unasked-for-is-not-ready")
{
  for (gsize unasked = 0; unasked < 2; unasked++) {
    Answer answer = {.tls = {.identity = &world.server}, .reply_bytes = unasked};
    g_autoptr(LoopbackServer) server = loopback_start(serve_restless, &answer);
    g_auto(Link) link = {0};
    TideBytes reply;
    g_assert_true(link_open(&link, server, (TideTlsSettings){.ca = world.authority_file}, NULL));
    g_assert_true(exchange(&link, CALL, GENEROUS_MS, &reply, NULL));
    gint64 deadline_us = tide_now_us() + GENEROUS_MS * TIDE_US_PER_MS;
    while (tide_connection_is_ready(link.transport)) /* what comes behind the reply takes a moment */
      g_assert_cmpint(tide_now_us(), <, deadline_us);
  }
}

/* Reads a call, and says goodbye in its answer's place. */
static void
serve_goodbye(LoopbackServer *server, int fd, guint connection)
{
  const Answer *answer = server->data;
  SSL *ssl = test_tls_accept(&answer->tls, fd);
  g_assert_nonnull(ssl);
  g_assert_true(read_exactly(ssl, CALL.len));
  SSL_shutdown(ssl);
  loopback_wait_closed(server, fd);
  ERR_clear_error();
  SSL_free(ssl);
}

TEST("/tls-stream/a-goodbye-behind-a-request-leaves-it-open")
{
  Answer answer = {.tls = {.identity = &world.server}};
  g_autoptr(LoopbackServer) server = loopback_start(serve_goodbye, &answer);
  g_autoptr(GError) error = error_of(server, (TideTlsSettings){.ca = world.authority_file}, GENEROUS_MS);
  assert_says(error, TIDE_ERROR_CONNECTION_LOST, "closed the connection before answering");
}

/* Begins to answer a call, and sends an alert in the middle of it. */
static void
serve_alert(LoopbackServer *server, int fd, guint connection)
{
  const Answer *answer = server->data;
  SSL *ssl = test_tls_accept(&answer->tls, fd);
  g_assert_nonnull(ssl);
  g_assert_true(read_exactly(ssl, CALL.len) && SSL_write(ssl, REPLY.data, (int)answer->reply_bytes) > 0);
  test_tls_alert(ssl);
  loopback_wait_closed(server, fd);
  SSL_free(ssl);
}

TEST("/tls-stream/D24-alert-in-a-reply")
{
  const int versions[] = {TLS1_2_VERSION, TLS1_3_VERSION};
  for (gsize i = 0; i < G_N_ELEMENTS(versions) * (REPLY.len - 1); i++) {
    Answer answer = {.tls = {&world.server, NULL, versions[i % G_N_ELEMENTS(versions)]},
                     .reply_bytes = 1 + i / G_N_ELEMENTS(versions)};
    g_autoptr(LoopbackServer) server = loopback_start(serve_alert, &answer);
    g_autoptr(GError) error = error_of(server, (TideTlsSettings){.ca = world.authority_file}, GENEROUS_MS);
    assert_says(error, TIDE_ERROR_CONNECTION_LOST, "ended the TLS connection: alert 'bad record mac'");
    g_assert_true(tide_error_outcome_unknown(error));
  }
}

/* Sends a ticket between two calls: told by one eventfd that the answer was read, it tells by the other when the ticket
 * has arrived. */
typedef struct Ticketing {
  TestTls tls;
  int read_fd, arrived_fd;
} Ticketing;

static void
serve_ticket(LoopbackServer *server, int fd, guint connection)
{
  const Ticketing *ticketing = server->data;
  eventfd_t one;
  int on_its_way;
  SSL *ssl = test_tls_accept(&ticketing->tls, fd);
  g_assert_nonnull(ssl);
  g_assert_true(read_exactly(ssl, CALL.len) && SSL_write(ssl, REPLY.data, (int)REPLY.len) > 0);
  g_assert_cmpint(eventfd_read(ticketing->read_fd, &one), ==, 0);
  g_assert_true(SSL_new_session_ticket(ssl) == 1 && SSL_do_handshake(ssl) == 1);
  do
    g_assert_cmpint(ioctl(fd, SIOCOUTQ, &on_its_way), ==, 0);
  while (on_its_way > 0); /* until the client's kernel has it */
  g_assert_cmpint(eventfd_write(ticketing->arrived_fd, 1), ==, 0);
  g_assert_true(read_exactly(ssl, CALL.len) && SSL_write(ssl, REPLY.data, (int)REPLY.len) > 0);
  loopback_wait_closed(server, fd);
  ERR_clear_error();
  SSL_free(ssl);
}

/* Which is nothing that nobody asked for. */
TEST("/tls-stream/a-ticket-between-calls-is-no-answer")
{
  Ticketing ticketing = {{&world.server, NULL, TLS1_3_VERSION}, eventfd(0, EFD_CLOEXEC), eventfd(0, EFD_CLOEXEC)};
  LoopbackServer *server = loopback_start(serve_ticket, &ticketing);
  Link link = {0};
  TideBytes reply;
  eventfd_t one;
  g_autoptr(GError) error = NULL;
  g_assert_true(link_open(&link, server, (TideTlsSettings){.ca = world.authority_file}, &error));
  g_assert_true(exchange(&link, CALL, GENEROUS_MS, &reply, &error));
  g_assert_cmpint(eventfd_write(ticketing.read_fd, 1), ==, 0);
  g_assert_cmpint(eventfd_read(ticketing.arrived_fd, &one), ==, 0);
  g_assert_true(tide_connection_is_ready(link.transport));
  g_assert_true(exchange(&link, CALL, GENEROUS_MS, &reply, &error));
  g_assert_no_error(error);
  link_close(&link);
  loopback_stop(server);
  close(ticketing.read_fd);
  close(ticketing.arrived_fd);
}

/* How many of @bytes, whole records, are before the last of them. */
static gsize
before_last_record(TideBytes bytes)
{
  gsize at = 0;
  for (;;) {
    gsize record_bytes = 5 + ((gsize)bytes.data[at + 3] << 8 | bytes.data[at + 4]);
    if (at + record_bytes >= bytes.len)
      return at;
    at += record_bytes;
  }
}

/* Answers, and begins to send a ticket in records so small that it takes several. */
static void
serve_half_a_ticket(LoopbackServer *server, int fd, guint connection)
{
  const Answer *answer = server->data;
  SSL *ssl = test_tls_accept(&answer->tls, fd);
  g_assert_nonnull(ssl);
  g_assert_true(read_exactly(ssl, CALL.len));
  g_assert_cmpint(SSL_set_max_send_fragment(ssl, 512), ==, 1);
  BIO *held = BIO_new(BIO_s_mem());
  SSL_set0_wbio(ssl, held);
  g_assert_cmpint(SSL_write(ssl, REPLY.data, (int)REPLY.len), >, 0);
  g_assert_true(SSL_new_session_ticket(ssl) == 1 && SSL_do_handshake(ssl) == 1);
  char *bytes = NULL;
  long len = BIO_get_mem_data(held, &bytes);
  loopback_send(fd, bytes, before_last_record(tide_bytes(bytes, (gsize)len)));
  loopback_wait_closed(server, fd);
  SSL_free(ssl);
}

/* No call can be sent before the other half has come: it is none that failed. */
TEST("/tls-stream/half-a-ticket-is-not-ready")
{
  Answer answer = {.tls = {&world.server, &world.authority, TLS1_3_VERSION}}; /* a ticket with our certificate */
  g_autoptr(LoopbackServer) server = loopback_start(serve_half_a_ticket, &answer);
  g_auto(Link) link = {0};
  TideBytes reply;
  g_assert_true(link_open(&link, server, as_client(world.client_file, world.client_key), NULL));
  g_assert_true(exchange(&link, CALL, GENEROUS_MS, &reply, NULL));
  gint64 deadline_us = tide_now_us() + GENEROUS_MS * TIDE_US_PER_MS;
  while (tide_connection_is_ready(link.transport)) /* until it has arrived */
    g_assert_cmpint(tide_now_us(), <, deadline_us);
}

static void
serve_handshake(LoopbackServer *server, int fd, guint connection)
{
  const Answer *answer = server->data;
  SSL_free(test_tls_accept(&answer->tls, fd));
}

/* As the server went away: an error, not the end of the process. */
TEST("/tls-stream/peer-that-went-away-is-no-sigpipe")
{
  Answer answer = {.tls = {.identity = &world.server}};
  LoopbackServer *server = loopback_start(serve_handshake, &answer);
  Link link = {0};
  g_autoptr(GError) error = NULL;
  g_assert_true(link_open(&link, server, (TideTlsSettings){.ca = world.authority_file}, &error));
  void (*before)(int) = signal(SIGPIPE, SIG_DFL); /* GIO sets it to SIG_IGN with its first socket */
  loopback_stop(server);
  TideBytes part = CALL;
  while (tide_connection_send(link.transport, &part, 1, &error))
    continue;
  g_assert_error(error, TIDE_ERROR, TIDE_ERROR_CONNECTION_LOST);
  signal(SIGPIPE, before);
  link_close(&link);
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  test_cases_add();
  signal(SIGPIPE, SIG_IGN); /* the test's servers write through OpenSSL */
  world_make();
  int result = g_test_run();
  world_end();
  return result;
}
