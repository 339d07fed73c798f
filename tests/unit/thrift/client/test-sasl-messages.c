/* Messages behind SASL, against a gateway in the process with a realm of the test's own: one that keeps the rules, and
 * one that lies. */
#include "thrift/client/connection.h"

#include "thrift/security/kerberos_ticket.h"
#include "unit/assert_bytes.h"
#include "unit/kdc.h"
#include "unit/peak_memory.h"
#include "unit/sasl_gateway.h"
#include "unit/test_case.h"
#include "util/clock.h"
#include "util/error.h"

#define GENEROUS_MS 20000           /* for what must succeed: only a broken test waits as long */
#define SHORT_MS 300                /* for what must time out */
#define MEMORY_MAX_BYTES (8u << 20) /* of a call, whatever is announced */

static Kdc kdc;
static char *gateway_keytab, *client_keytab;
static TideLinkSettings settings;

static const TideSaslLayer layers[] = {TIDE_SASL_AUTH, TIDE_SASL_AUTH_INT, TIDE_SASL_AUTH_CONF};

static void
begin_call(TideConnection *transport, gint64 timeout_ms)
{
  gint64 now_us = tide_now_us();
  tide_connection_begin_call(transport, now_us, now_us + timeout_ms * TIDE_US_PER_MS);
}

static TideConnection *
transport_to(const LoopbackServer *server)
{
  g_autoptr(TideEndpoint) endpoint = tide_endpoint_copy(server->endpoint);
  endpoint->settings = &settings;
  g_autoptr(GCancellable) cancellable = g_cancellable_new();
  return tide_connection_new(endpoint, TIDE_FRAMING_UNFRAMED, TIDE_WIRE_BINARY, cancellable);
}

static gboolean
connect_within(TideConnection *transport, gint64 timeout_ms, GError **error)
{
  begin_call(transport, timeout_ms);
  return tide_connection_connect(transport, error);
}

static gboolean
exchange(TideConnection *transport, TideBytes request, gint64 timeout_ms, TideBytes *ret_reply, GError **error)
{
  begin_call(transport, timeout_ms);
  return tide_connection_send(transport, &request, 1, error) && tide_connection_receive(transport, ret_reply, error);
}

static SaslGateway
gateway_with(TideSaslLayer layer, SaslLie lie)
{
  return (SaslGateway){.keytab = gateway_keytab, .layer = (guint8)layer, .lie = lie};
}

/* Calls small and large, there and back, on one connection. */
TEST("/sasl-messages/calls-small-and-large")
{
  g_autofree guint8 *large = g_malloc0(3 << 20);
  memcpy(large, SASL_GATEWAY_CALL.data, SASL_GATEWAY_CALL.len);
  const TideBytes requests[] = {SASL_GATEWAY_CALL, tide_bytes(large, 3 << 20), SASL_GATEWAY_CALL};
  for (gsize i = 0; i < G_N_ELEMENTS(layers); i++) {
    SaslGateway gateway = gateway_with(layers[i], SASL_HONEST);
    LoopbackServer *server = loopback_start(sasl_gateway_serve, &gateway);
    g_autoptr(TideConnection) transport = transport_to(server);
    g_autoptr(GError) error = NULL;
    g_assert_true(connect_within(transport, GENEROUS_MS, &error));
    g_assert_no_error(error);
    g_autofree char *link = tide_connection_describe(transport);
    g_autofree char *expected = g_strdup_printf("%s, we are 'tidemark@" KDC_REALM "', it is 'thrift/localhost'",
                                                tide_sasl_layer_name(layers[i]));
    g_assert_cmpstr(link, ==, expected);
    for (gsize c = 0; c < G_N_ELEMENTS(requests); c++) {
      TideBytes reply;
      g_assert_true(tide_connection_is_ready(transport));
      g_assert_true(exchange(transport, requests[c], GENEROUS_MS, &reply, &error));
      g_assert_no_error(error);
      assert_bytes_equal(reply, SASL_GATEWAY_REPLY);
      g_assert_true(tide_connection_is_ready(transport));
    }
    g_assert_cmpuint(loopback_connections(server), ==, 1);
    loopback_stop(server);
    g_assert_cmpuint(atomic_load(&gateway.calls), ==, G_N_ELEMENTS(requests));
  }
}

TEST("/sasl-messages/replies-beyond-what-was-announced")
{
  for (gsize i = 0; i < G_N_ELEMENTS(layers); i++) {
    SaslGateway gateway = gateway_with(layers[i], SASL_HONEST);
    gateway.reply_bytes = 18 << 20; /* more than was ever announced */
    g_autoptr(LoopbackServer) server = loopback_start(sasl_gateway_serve, &gateway);
    g_autoptr(TideConnection) transport = transport_to(server);
    g_autoptr(GError) error = NULL;
    g_assert_true(connect_within(transport, GENEROUS_MS, &error));
    for (guint call = 0; call < 2; call++) {
      TideBytes reply;
      g_assert_true(exchange(transport, SASL_GATEWAY_CALL, GENEROUS_MS, &reply, &error));
      g_assert_no_error(error);
      g_assert_cmpuint(reply.len, ==, SASL_GATEWAY_REPLY.len + 7 + gateway.reply_bytes);
    }
  }
}

static const struct FailedConnect {
  const char *name;
  SaslLie lie;
  gint64 timeout_ms;
  int code;
  const char *text; /* with "PEER" for the gateway, and no digits */
} connects[] = {
    {"silence", SASL_SILENT, SHORT_MS, TIDE_ERROR_CONNECT,
     "gateway 'PEER' did not answer the SASL negotiation within  ms: it is starting or overloaded, or it has no "
     "'hbase.thrift.security.qop': then remove 'sasl:'"},
    {"hang-up", SASL_HANGS_UP, GENEROUS_MS, TIDE_ERROR_CONNECT,
     "gateway 'PEER' closed the connection during the SASL negotiation: it is a proxy without a running gateway, it "
     "expects TLS (write 'thrift+tls://HOST:PORT'), or it is framed, without SASL (remove 'sasl:')"},
    {"silence-in-the-middle", SASL_SILENT_AFTER_TOKEN, SHORT_MS, TIDE_ERROR_CONNECT,
     "gateway 'PEER' did not answer within  ms"},
    {"more-than-its-end", SASL_TALKATIVE, GENEROUS_MS, TIDE_ERROR_CONNECT,
     "gateway 'PEER' sent an invalid SASL binary reply: bytes after the end of the negotiation at byte  (the limit is  "
     "MiB)"},
};

/* @text: with the milliseconds and limits cut out. Ownership: (transfer full). */
static char *
shape_of(const LoopbackServer *server, const char *text)
{
  GString *shape = g_string_new(NULL);
  const char *peer = server->endpoint->text;
  for (const char *at = text; *at != '\0'; at++) {
    if (g_str_has_prefix(at, peer)) {
      g_string_append(shape, "PEER");
      at += strlen(peer) - 1;
    } else if (!g_ascii_isdigit(*at))
      g_string_append_c(shape, *at);
  }
  return g_string_free(shape, FALSE);
}

TEST_EACH("/sasl-messages/connect/", connects)
{
  const struct FailedConnect *it = data;
  SaslGateway gateway = gateway_with(TIDE_SASL_AUTH_CONF, it->lie);
  g_autoptr(LoopbackServer) server = loopback_start(sasl_gateway_serve, &gateway);
  g_autoptr(TideConnection) transport = transport_to(server);
  g_autoptr(GError) error = NULL;
  g_assert_false(connect_within(transport, it->timeout_ms, &error));
  g_assert_error(error, TIDE_ERROR, it->code);
  g_autofree char *shape = shape_of(server, error->message);
  g_assert_cmpstr(shape, ==, it->text);
  g_assert_false(transport->is_open);
}

static const struct FailedReply {
  const char *name;
  TideSaslLayer layer;
  SaslLie lie;
  int code;
  const char *text; /* a part */
} replies[] = {
    {"too-long", TIDE_SASL_AUTH, SASL_REPLY_TOO_LONG, TIDE_ERROR_PROTOCOL, "the length of the frame is out of range"},
    {"too-long-wrapped", TIDE_SASL_AUTH_CONF, SASL_REPLY_TOO_LONG, TIDE_ERROR_PROTOCOL,
     "the length of the frame is out of range"},
    {"empty", TIDE_SASL_AUTH, SASL_REPLY_EMPTY, TIDE_ERROR_PROTOCOL, "the length of the frame is out of range"},
    {"empty-wrapped", TIDE_SASL_AUTH_INT, SASL_REPLY_EMPTY, TIDE_ERROR_PROTOCOL,
     "the length of the frame is out of range"},
    {"cut", TIDE_SASL_AUTH, SASL_REPLY_CUT, TIDE_ERROR_PROTOCOL, "exceeds the end"},
    {"cut-signed", TIDE_SASL_AUTH_INT, SASL_REPLY_CUT, TIDE_ERROR_PROTOCOL, "was changed in transit"},
    {"cut-encrypted", TIDE_SASL_AUTH_CONF, SASL_REPLY_CUT, TIDE_ERROR_PROTOCOL, "was changed in transit"},
    {"changed-signed", TIDE_SASL_AUTH_INT, SASL_REPLY_CHANGED, TIDE_ERROR_PROTOCOL, "was changed in transit"},
    {"changed-encrypted", TIDE_SASL_AUTH_CONF, SASL_REPLY_CHANGED, TIDE_ERROR_PROTOCOL, "was changed in transit"},
    {"unsigned", TIDE_SASL_AUTH_INT, SASL_REPLY_CLEAR, TIDE_ERROR_PROTOCOL, "is not wrapped"},
    {"unencrypted", TIDE_SASL_AUTH_CONF, SASL_REPLY_CLEAR, TIDE_ERROR_PROTOCOL, "is not wrapped"},
    /* it has proven who it is, and read the call: whose words these are, and what became of it, nobody knows */
    {"http", TIDE_SASL_AUTH_CONF, SASL_REPLY_HTTP, TIDE_ERROR_PROTOCOL, "the length of the frame is out of range"},
    {"slow", TIDE_SASL_AUTH_CONF, SASL_REPLY_SLOW, TIDE_ERROR_TIMEOUT, "did not answer within"},
};

TEST_EACH("/sasl-messages/reply/", replies)
{
  const struct FailedReply *it = data;
  guint64 before_bytes = peak_memory_begin();
  SaslGateway gateway = gateway_with(it->layer, it->lie);
  gateway.reply_bytes = it->lie == SASL_REPLY_SLOW ? 1 << 20 : 0;
  LoopbackServer *server = loopback_start(sasl_gateway_serve, &gateway);
  g_autoptr(TideConnection) transport = transport_to(server);
  g_autoptr(GError) error = NULL;
  g_assert_true(connect_within(transport, GENEROUS_MS, &error));
  TideBytes reply;
  gint64 timeout_ms = it->lie == SASL_REPLY_SLOW ? SHORT_MS : GENEROUS_MS;
  g_assert_false(exchange(transport, SASL_GATEWAY_CALL, timeout_ms, &reply, &error));
  g_assert_error(error, TIDE_ERROR, it->code);
  if (strstr(error->message, it->text) == NULL)
    g_error("got \"%s\"", error->message);
  g_assert_false(transport->is_open);
  loopback_stop(server);
  assert_peak_memory_grew_less(before_bytes, MEMORY_MAX_BYTES);
}

/* A second reply that nobody asked for, the same frame again: never taken for the next call's. */
TEST("/sasl-messages/a-second-reply-is-noticed")
{
  for (gsize i = 0; i < G_N_ELEMENTS(layers); i++) {
    SaslGateway gateway = gateway_with(layers[i], SASL_REPLY_TWICE);
    g_autoptr(LoopbackServer) server = loopback_start(sasl_gateway_serve, &gateway);
    g_autoptr(TideConnection) transport = transport_to(server);
    g_assert_true(connect_within(transport, GENEROUS_MS, NULL));
    TideBytes reply;
    g_assert_true(exchange(transport, SASL_GATEWAY_CALL, GENEROUS_MS, &reply, NULL));
    assert_bytes_equal(reply, SASL_GATEWAY_REPLY);
    while (tide_connection_is_ready(transport)) /* until it has arrived */
      g_thread_yield();
  }
}

/* The settings that are wrong for this gateway, each with its sentence. */
static void
assert_refused(TideSaslLayer offered, const char *expected)
{
  SaslGateway gateway = gateway_with(offered, SASL_HONEST);
  g_autoptr(LoopbackServer) server = loopback_start(sasl_gateway_serve, &gateway);
  g_autoptr(TideConnection) transport = transport_to(server);
  g_autoptr(GError) error = NULL;
  g_assert_false(connect_within(transport, GENEROUS_MS, &error));
  g_assert_error(error, TIDE_ERROR, TIDE_ERROR_CONNECT);
  if (strstr(error->message, expected) == NULL)
    g_error("got \"%s\"", error->message);
}

TEST("/sasl-messages/D21-wrong-settings")
{
  TideLinkSettings right = settings;
  settings.sasl.qop = TIDE_SASL_AUTH;
  assert_refused(TIDE_SASL_AUTH_CONF,
                 "requires 'auth-conf' ('hbase.thrift.security.qop'), but 'hbase.sasl.qop' is 'auth'");
  settings = right;
  settings.sasl.service = (char *)"other"; /* which the KDC knows, and this gateway is not */
  assert_refused(TIDE_SASL_AUTH, "refused to authenticate ('GSS initiate failed')");
  settings = right;
  settings.sasl.host = NULL; /* 127.0.0.1 */
  assert_refused(TIDE_SASL_AUTH, "the KDC does not know 'thrift/127.0.0.1': set 'hbase.sasl.host'");
  settings = right;
}

/* A gateway that has a new key alone does not take the ticket for its old one. That counts once, not until the ticket
 * ends. */
TEST("/sasl-messages/a-new-key-of-the-gateway-is-found")
{
  SaslGateway gateway = gateway_with(TIDE_SASL_AUTH_CONF, SASL_HONEST);
  for (guint i = 0; i < 3; i++) {
    g_autofree char *newer = i == 1 ? kdc_add(&kdc, "thrift/localhost", "gateway-newer") : NULL;
    if (newer != NULL) {
      g_free(gateway_keytab);
      gateway.keytab = gateway_keytab = g_steal_pointer(&newer);
    }
    g_autoptr(LoopbackServer) server = loopback_start(sasl_gateway_serve, &gateway);
    g_autoptr(TideConnection) transport = transport_to(server);
    g_autoptr(GError) error = NULL;
    gboolean is_connected = connect_within(transport, GENEROUS_MS, &error);
    if (i == 1)
      g_assert_error(error, TIDE_ERROR, TIDE_ERROR_CONNECT);
    else
      g_assert_no_error(error);
    g_assert_cmpint(is_connected, ==, i != 1);
  }
}

typedef struct Waiting {
  TideConnection *transport;
  GError *error;
  _Atomic gboolean has_ended;
} Waiting;

static void
connect_meanwhile(gpointer data)
{
  Waiting *waiting = data;
  g_assert_false(connect_within(waiting->transport, 2 * GENEROUS_MS, &waiting->error));
  atomic_store(&waiting->has_ended, TRUE);
}

static void
assert_call(TideConnection *transport)
{
  TideBytes reply;
  g_autoptr(GError) error = NULL;
  g_assert_true(exchange(transport, SASL_GATEWAY_CALL, GENEROUS_MS, &reply, &error));
  g_assert_no_error(error);
}

/* While the KDC hangs for the ticket of one gateway, calls to another go on, and so do new connections to it. */
TEST("/sasl-messages/D21-kdc-hangs-for-another-gateway")
{
  SaslGateway gateway = gateway_with(TIDE_SASL_AUTH_CONF, SASL_HONEST);
  g_autoptr(LoopbackServer) server = loopback_start(sasl_gateway_serve, &gateway);
  LoopbackServer *other_server = loopback_start(sasl_gateway_serve, &gateway);
  TideConnection *running = transport_to(server);
  g_assert_true(connect_within(running, GENEROUS_MS, NULL));

  kdc_hang(&kdc);
  TideLinkSettings other = settings;
  other.sasl.host = (char *)"vm";
  g_autoptr(TideEndpoint) endpoint = tide_endpoint_copy(other_server->endpoint);
  endpoint->settings = &other;
  g_autoptr(GCancellable) cancellable = g_cancellable_new();
  GPollFD held; /* as the client does: its descriptor is there before the thread that writes to it, and after */
  g_assert_true(g_cancellable_make_pollfd(cancellable, &held));
  Waiting waiting = {.transport = tide_connection_new(endpoint, TIDE_FRAMING_UNFRAMED, TIDE_WIRE_BINARY, cancellable)};
  TideThread *thread = tide_thread_start("test-connect", connect_meanwhile, &waiting);
  struct pollfd asked = {.fd = kdc.hang_fd, .events = POLLIN};
  g_assert_cmpint(poll(&asked, 1, GENEROUS_MS), ==, 1);
  for (guint i = 0; i < 20; i++)
    assert_call(running);
  tide_connection_free(running);
  g_autoptr(TideConnection) later = transport_to(server);
  g_assert_true(connect_within(later, GENEROUS_MS, NULL));
  assert_call(later);
  g_assert_false(waiting.has_ended);

  g_cancellable_cancel(cancellable);
  tide_thread_join(thread);
  g_cancellable_release_fd(cancellable);
  g_assert_error(waiting.error, TIDE_ERROR, TIDE_ERROR_CANCELLED);
  g_clear_error(&waiting.error);
  tide_connection_free(waiting.transport);
  kdc_stop_hanging(&kdc);
  while (tide_kerberos_reap() > 0)
    g_thread_yield();
  kdc_start(&kdc);
  loopback_stop(other_server);
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  test_cases_add();
  if (!kdc_is_installed()) {
    g_print("1..0 # SKIP krb5-kdc and krb5-admin-server are not installed\n");
    return 0;
  }
  kdc_create(&kdc);
  gateway_keytab = kdc_add(&kdc, "thrift/localhost", "gateway");
  client_keytab = kdc_add(&kdc, "tidemark", "client");
  g_free(kdc_add(&kdc, "other/localhost", "other"));
  settings = (TideLinkSettings){.sasl = {.service = (char *)"thrift", .host = (char *)"localhost"},
                                .kerberos = {.keytab = {.file = client_keytab}}};
  int status = g_test_run();
  kdc_destroy(&kdc);
  g_free(gateway_keytab);
  g_free(client_keytab);
  return status;
}
