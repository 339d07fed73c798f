#define _GNU_SOURCE /* memmem */
/* The probe against gateways of every mode, and against every port that is none. */
#include "thrift/client/gateway_probe.h"

#include "unit/reply_builder.h"
#include "unit/test_case.h"
#include "unit/tls_server.h"
#include "util/clock.h"
#include "util/error.h"

#define PROBE_MS 150 /* what a silent port costs, up to five times */

static const TideProbeRequest any = {-1, -1};

static const TideWireMode modes[] = {
    {TIDE_FRAMING_UNFRAMED, TIDE_WIRE_BINARY},
    {TIDE_FRAMING_UNFRAMED, TIDE_WIRE_COMPACT},
    {TIDE_FRAMING_FRAMED, TIDE_WIRE_BINARY},
    {TIDE_FRAMING_FRAMED, TIDE_WIRE_COMPACT},
};

typedef enum GatewayKind {
  THRIFT2,
  THRIFT1,
  OLD_THRIFT2, /* does not know getThriftServerType */
  OLD_THRIFT1,
} GatewayKind;

typedef struct Gateway {
  TideWireMode mode;
  GatewayKind kind;
} Gateway;

static TideBytes
answer(const Gateway *gateway, const char *method, gint32 sequence_id)
{
  Oracle *oracle = oracle_get(gateway->mode.protocol);
  gboolean type_known = gateway->kind == THRIFT2 || gateway->kind == THRIFT1;
  if (g_str_equal(method, "getThriftServerType") && type_known) {
    ThriftProtocol *to = reply_begin(oracle, method, T_REPLY, sequence_id);
    reply_field(to, T_I32, 0);
    require_written(thrift_protocol_write_i32(to, gateway->kind == THRIFT2 ? 2 : 1, NULL));
    return reply_end(oracle);
  }
  if (g_str_equal(method, "exists") && gateway->kind == OLD_THRIFT2) {
    ThriftProtocol *to = reply_begin(oracle, method, T_REPLY, sequence_id);
    reply_write_exception(to, 1, "tidemark_probe", 1);
    return reply_end(oracle);
  }
  return reply_application_exception(oracle, method, sequence_id, "Invalid method name", 1);
}

/* Whether the Java gateway of this mode would hang up, or wait for ever, on a call that begins as @begun does. */
static gboolean
understands(const Gateway *gateway, TideBytes begun)
{
  gsize skip = gateway->mode.framing == TIDE_FRAMING_FRAMED ? 4 : 0;
  guint8 first = gateway->mode.protocol == TIDE_WIRE_BINARY ? 0x80 : 0x82;
  return (skip == 0 || begun.data[0] == 0) && begun.len > skip && begun.data[skip] == first;
}

static void
serve_gateway(LoopbackServer *server, int fd, guint connection)
{
  const Gateway *gateway = server->data;
  g_auto(TideBuffer) call = {0};
  guint8 begun[5];
  if (!loopback_wait_readable(server, fd, -1))
    return;
  gssize len = recv(fd, begun, sizeof begun, MSG_PEEK | MSG_WAITALL);
  if (len < (gssize)sizeof begun)
    return;
  if (!understands(gateway, tide_bytes(begun, sizeof begun))) {
    /* an unframed binary gateway takes a frame's length for that of a name, and waits for it */
    gboolean waits =
        gateway->mode.framing == TIDE_FRAMING_UNFRAMED && gateway->mode.protocol == TIDE_WIRE_BINARY && begun[0] == 0;
    if (waits)
      loopback_wait_closed(server, fd);
    return;
  }
  TideWireMessage head;
  while (loopback_read_call(server, fd, gateway->mode.framing, gateway->mode.protocol, &call, &head)) {
    g_autofree char *method = g_strndup((const char *)head.name.data, head.name.len);
    loopback_send_message(fd, gateway->mode.framing, answer(gateway, method, head.sequence_id));
  }
}

TEST("/probe/each-mode-is-found")
{
  for (gsize i = 0; i < G_N_ELEMENTS(modes); i++) {
    for (guint kind = THRIFT2; kind <= OLD_THRIFT2; kind += OLD_THRIFT2 - THRIFT2) {
      Gateway gateway = {modes[i], (GatewayKind)kind};
      LoopbackServer *server = loopback_start(serve_gateway, &gateway);
      TideWireMode found;
      g_autoptr(GError) error = NULL;
      g_assert_true(tide_gateway_probe(server->endpoint, any, 5000, NULL, &found, NULL, &error));
      g_assert_no_error(error);
      g_assert_cmpint(found.framing, ==, modes[i].framing);
      g_assert_cmpint(found.protocol, ==, modes[i].protocol);

      TideProbeRequest request = {(int)modes[i].framing, (int)modes[i].protocol};
      guint before = loopback_connections(server);
      g_assert_true(tide_gateway_probe(server->endpoint, request, 5000, NULL, &found, NULL, &error));
      g_assert_cmpuint(loopback_connections(server), ==, before + 1); /* nothing to find out */
      loopback_stop(server);
    }
  }
}

static void
check_refused(LoopbackServer *server, TideProbeRequest request, TideErrorCode code, const char *part)
{
  TideWireMode found = modes[0];
  g_autoptr(GError) error = NULL;
  g_assert_false(tide_gateway_probe(server->endpoint, request, PROBE_MS, NULL, &found, NULL, &error));
  g_assert_error(error, TIDE_ERROR, (gint)code);
  if (strstr(error->message, part) == NULL)
    g_error("expected '%s' in '%s'", part, error->message);
  g_assert_nonnull(strstr(error->message, server->endpoint->text));
  g_assert_null(strchr(error->message, '\n')); /* one sentence */
  loopback_stop(server);
}

TEST("/probe/thrift1-is-refused-by-name")
{
  for (guint kind = THRIFT1; kind <= OLD_THRIFT1; kind += OLD_THRIFT1 - THRIFT1) {
    for (gsize i = 0; i < G_N_ELEMENTS(modes); i++) {
      Gateway gateway = {modes[i], (GatewayKind)kind};
      check_refused(loopback_start(serve_gateway, &gateway), any, TIDE_ERROR_WRONG_SERVICE, "is a thrift1 gateway");
    }
  }
}

TEST("/probe/other-mode-than-fixed-is-named")
{
  Gateway gateway = {modes[0], THRIFT2};
  check_refused(loopback_start(serve_gateway, &gateway), (TideProbeRequest){TIDE_FRAMING_FRAMED, TIDE_WIRE_BINARY},
                TIDE_ERROR_WRONG_SERVICE,
                "speaks unframed binary Thrift, but 'hbase.transport' demands framed-binary: set it to auto or "
                "unframed-binary");
  check_refused(loopback_start(serve_gateway, &gateway), (TideProbeRequest){-1, TIDE_WIRE_COMPACT},
                TIDE_ERROR_WRONG_SERVICE, "demands any-compact: set it to auto or unframed-binary");
  gateway.mode = modes[3];
  check_refused(loopback_start(serve_gateway, &gateway), (TideProbeRequest){TIDE_FRAMING_UNFRAMED, TIDE_WIRE_BINARY},
                TIDE_ERROR_WRONG_SERVICE, "demands unframed-binary: set it to auto or framed-compact");
}

/* ---- ports of other services ---- */

/* What a service says to the first bytes, before it closes; NULL: nothing. */
static void
serve_greeting(LoopbackServer *server, int fd, guint connection)
{
  const TideBytes *greeting = server->data;
  g_auto(TideBuffer) call = {0};
  if (!loopback_read_more(server, fd, &call))
    return;
  loopback_send(fd, greeting->data, greeting->len);
}

TEST("/probe/http-that-answers-at-once-is-named")
{
  TideBytes greeting = TIDE_BYTES_LITERAL("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n");
  check_refused(loopback_start(serve_greeting, &greeting), any, TIDE_ERROR_WRONG_SERVICE, "speaks HTTP");
}

/* Reads a line before it answers: none comes with Thrift's bytes. */
static void
serve_http_lines(LoopbackServer *server, int fd, guint connection)
{
  g_auto(TideBuffer) request = {0};
  do {
    if (!loopback_read_more(server, fd, &request))
      return;
  } while (memmem(request.data, request.len, "\n", 1) == NULL);
  loopback_send(fd, "HTTP/1.0 404 Not Found\r\n\r\n", 26);
}

TEST("/probe/http-that-waits-for-a-line-is-named")
{
  check_refused(loopback_start(serve_http_lines, NULL), any, TIDE_ERROR_WRONG_SERVICE, "speaks HTTP");
}

TEST("/probe/tls-is-named")
{
  TideBytes alert = TIDE_BYTES_LITERAL("\x15\x03\x03\0\x02\x02\x46");
  check_refused(loopback_start(serve_greeting, &alert), any, TIDE_ERROR_WRONG_SERVICE, "speaks TLS");
}

/* As a proxy with OpenSSL does: without a word for what does not begin as TLS. */
static void
serve_tls_alone(LoopbackServer *server, int fd, guint connection)
{
  const TestTls *tls = server->data;
  SSL_free(test_tls_accept(tls, fd));
}

TEST("/probe/tls-that-hangs-up-is-named")
{
  TestIdentity identity = test_identity_new(&(TestIdentityWish){.name = "test"});
  TestTls tls = {.identity = &identity};
  check_refused(loopback_start(serve_tls_alone, &tls), any, TIDE_ERROR_WRONG_SERVICE, "write 'thrift+tls://127.0.0.1:");
  test_identity_clear(&identity);
}

/* As libthrift does: silent to all but the negotiation, of which it knows one mechanism. */
static void
serve_sasl(LoopbackServer *server, int fd, guint connection)
{
  g_auto(TideBuffer) received = {0};
  while (received.len < 5 || received.data[0] != 1 || received.data[1] != 0) {
    if (!loopback_read_more(server, fd, &received))
      return;
  }
  loopback_send(fd, "\3\0\0\0\x1cUnsupported mechanism type ?", 33);
  loopback_wait_closed(server, fd);
}

TEST("/probe/sasl-is-named")
{
  check_refused(loopback_start(serve_sasl, NULL), any, TIDE_ERROR_WRONG_SERVICE,
                "requires Kerberos (SASL): set 'hbase.sasl.service'");
}

TEST("/probe/another-service-is-named")
{
  TideBytes banner = TIDE_BYTES_LITERAL("SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n");
  check_refused(loopback_start(serve_greeting, &banner), any, TIDE_ERROR_WRONG_SERVICE,
                "answers, but not in Thrift: it is another service's port");
}

TEST("/probe/proxy-with-nothing-behind-is-no-connection")
{
  TideBytes nothing = TIDE_BYTES_EMPTY;
  check_refused(loopback_start(serve_greeting, &nothing), any, TIDE_ERROR_CONNECT,
                "closes them in every mode of Thrift");
}

static void
serve_silence(LoopbackServer *server, int fd, guint connection)
{
  loopback_wait_closed(server, fd);
}

TEST("/probe/silent-port-times-out")
{
  check_refused(loopback_start(serve_silence, NULL), any, TIDE_ERROR_TIMEOUT, "did not answer within 150 ms");
}

TEST("/probe/closed-port-is-named")
{
  int fd = -1;
  g_autoptr(TideEndpoint) endpoint = loopback_listen("127.0.0.1", 1, &fd);
  close(fd);
  TideWireMode found;
  g_autoptr(GError) error = NULL;
  g_assert_false(tide_gateway_probe(endpoint, any, PROBE_MS, NULL, &found, NULL, &error));
  g_assert_error(error, TIDE_ERROR, TIDE_ERROR_CONNECT);
  g_assert_nonnull(strstr(error->message, "connection refused"));
}

/* ---- cancel ---- */

static void
serve_cancel(LoopbackServer *server, int fd, guint connection)
{
  g_auto(TideBuffer) call = {0};
  if (loopback_read_more(server, fd, &call))
    g_cancellable_cancel(server->data);
  loopback_wait_closed(server, fd);
}

TEST("/probe/cancel-ends-it")
{
  g_autoptr(GCancellable) cancellable = g_cancellable_new();
  LoopbackServer *server = loopback_start(serve_cancel, cancellable);
  TideWireMode found;
  g_autoptr(GError) error = NULL;
  g_assert_false(tide_gateway_probe(server->endpoint, any, 60000, cancellable, &found, NULL, &error));
  g_assert_error(error, TIDE_ERROR, TIDE_ERROR_CANCELLED);
  g_assert_cmpuint(loopback_connections(server), ==, 1);
  loopback_stop(server);
}

int
main(int argc, char **argv)
{
  tide_hbase_client_init_types();
  g_test_init(&argc, &argv, NULL);
  test_cases_add();
  return g_test_run();
}
