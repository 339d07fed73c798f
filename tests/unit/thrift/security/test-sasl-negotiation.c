/* The negotiation with gateways that keep the rules, refuse, and lie. The mechanism is made up: it is proven when it
 * was told "proof", and a wrapped message is "W" or, encrypted, "E" before the plain one. */
#include "thrift/security/sasl_negotiation.h"

#include "unit/assert_bytes.h"
#include "unit/gss_acceptor.h"
#include "unit/test_case.h"
#include "util/error.h"

static gboolean
fake_step(gpointer context, TideBytes token, TideBuffer *out, gboolean *ret_complete, GError **error)
{
  if (tide_bytes_equal(token, TIDE_BYTES_LITERAL("forged"))) {
    g_set_error_literal(error, TIDE_ERROR, TIDE_ERROR_CONNECT, "the token is forged");
    return FALSE;
  }
  *ret_complete = tide_bytes_equal(token, TIDE_BYTES_LITERAL("proof"));
  if (!*ret_complete)
    tide_buffer_append(out, "more", 4);
  return TRUE;
}

static guint
fake_layers(gpointer context)
{
  return *(guint *)context;
}

static gboolean
fake_wrap(gpointer context, gboolean encrypt, const TideBytes *parts, gsize n_parts, TideBuffer *out, GError **error)
{
  tide_buffer_append(out, encrypt ? "E" : "W", 1);
  for (gsize i = 0; i < n_parts; i++)
    tide_buffer_append_bytes(out, parts[i]);
  return TRUE;
}

static gboolean
fake_unwrap(gpointer context, gboolean encrypted, guint8 *token, gsize len, TideBytes *ret_plain, GError **error)
{
  if (len == 0 || token[0] != (encrypted ? 'E' : 'W')) {
    g_set_error_literal(error, TIDE_ERROR, TIDE_ERROR_PROTOCOL, "changed on the way");
    return FALSE;
  }
  *ret_plain = tide_bytes(token + 1, len - 1);
  return TRUE;
}

static const TideSaslMechanism fake_mechanism = {fake_step, fake_layers, fake_wrap, fake_unwrap};
static guint all_layers = TIDE_SASL_AUTH | TIDE_SASL_AUTH_INT | TIDE_SASL_AUTH_CONF;

static TideSaslNegotiation
new_negotiation(TideSaslLayer wanted)
{
  return (TideSaslNegotiation){
      .mechanism = &fake_mechanism, .context = &all_layers, .wanted = wanted, .peer = "gw:9090", .target = "hbase/gw"};
}

/* Feeds all of @bytes in pieces of @step, until it ends. What was sent is appended to @out. */
static TideSaslStatus
feed(TideSaslNegotiation *negotiation, TideBytes bytes, gsize step, TideBuffer *out, GError **error)
{
  g_auto(TideBuffer) waiting = {0};
  TideSaslStatus status = TIDE_SASL_MORE;
  for (gsize fed = 0; fed < bytes.len && status != TIDE_SASL_DONE && status != TIDE_SASL_FAILED;) {
    gsize n = MIN(step, bytes.len - fed);
    tide_buffer_append(&waiting, bytes.data + fed, n);
    fed += n;
    do {
      gsize used;
      status = tide_sasl_negotiation_feed(negotiation, waiting.data, waiting.len, &used, out, error);
      g_assert_cmpuint(used, <=, waiting.len);
      g_assert_true((used == 0) == (status == TIDE_SASL_MORE) || status == TIDE_SASL_FAILED);
      memmove(waiting.data, waiting.data + used, waiting.len - used);
      waiting.len -= used;
    } while (status == TIDE_SASL_GO_ON);
  }
  return status;
}

static void
append_offer(TideBuffer *server, guint8 bits)
{
  const guint8 offer[] = {'W', bits, 1, 0, 0};
  sasl_append(server, 2, tide_bytes(offer, sizeof offer));
}

TEST("/sasl-negotiation/opening-and-first-token-go-together")
{
  TideSaslNegotiation negotiation = new_negotiation(TIDE_SASL_AUTO);
  g_auto(TideBuffer) out = {0};
  tide_sasl_negotiation_start(&negotiation, TIDE_BYTES_LITERAL("token"), &out);
  assert_bytes_equal(tide_buffer_bytes(&out), TIDE_BYTES_LITERAL("\1\0\0\0\6GSSAPI\2\0\0\0\5token"));
}

/* Byte by byte, in sevens, and at once: the same. */
TEST("/sasl-negotiation/strongest-offered-or-the-one-wanted")
{
  static const struct {
    guint8 offered;
    TideSaslLayer wanted, layer;
    const char *choice; /* 4 bytes */
  } cases[] = {
      {1, TIDE_SASL_AUTO, TIDE_SASL_AUTH, "\1\0\0\0"},
      {2, TIDE_SASL_AUTO, TIDE_SASL_AUTH_INT, "\2\xff\xff\xff"},
      {4, TIDE_SASL_AUTO, TIDE_SASL_AUTH_CONF, "\4\xff\xff\xff"},
      {7, TIDE_SASL_AUTO, TIDE_SASL_AUTH_CONF, "\4\xff\xff\xff"},
      {0xff, TIDE_SASL_AUTH_INT, TIDE_SASL_AUTH_INT, "\2\xff\xff\xff"},
      {7, TIDE_SASL_AUTH, TIDE_SASL_AUTH, "\1\0\0\0"},
  };
  static const gsize steps[] = {1, 7, 1000};
  for (gsize i = 0; i < G_N_ELEMENTS(cases) * G_N_ELEMENTS(steps); i++) {
    gsize c = i % G_N_ELEMENTS(cases);
    TideSaslNegotiation negotiation = new_negotiation(cases[c].wanted);
    g_auto(TideBuffer) server = {0}, out = {0}, expected = {0}, choice = {0};
    sasl_append(&server, 2, TIDE_BYTES_LITERAL("half"));
    sasl_append(&server, 2, TIDE_BYTES_LITERAL("proof"));
    append_offer(&server, cases[c].offered);
    sasl_append(&server, 5, TIDE_BYTES_EMPTY);
    g_autoptr(GError) error = NULL;
    TideSaslStatus status =
        feed(&negotiation, tide_buffer_bytes(&server), steps[i / G_N_ELEMENTS(cases)], &out, &error);
    g_assert_no_error(error);
    g_assert_cmpint(status, ==, TIDE_SASL_DONE);
    g_assert_cmpint(negotiation.layer, ==, cases[c].layer);
    sasl_append(&expected, 2, TIDE_BYTES_LITERAL("more"));
    sasl_append(&expected, 2, TIDE_BYTES_EMPTY);
    tide_buffer_append(&choice, "W", 1);
    tide_buffer_append(&choice, cases[c].choice, 4);
    sasl_append(&expected, 2, tide_buffer_bytes(&choice));
    assert_bytes_equal(tide_buffer_bytes(&out), tide_buffer_bytes(&expected));
  }
}

static const struct Failure {
  const char *name;
  TideBytes server; /* what it sends */
  TideSaslLayer wanted;
  int code;
  const char *text;
} failures[] = {
    {"ticket-refused", TIDE_BYTES_LITERAL("\3\0\0\0\x13GSS initiate failed"), TIDE_SASL_AUTO, TIDE_ERROR_CONNECT,
     "gateway 'gw:9090' refused to authenticate ('GSS initiate failed'): it could not use the ticket for 'hbase/gw': "
     "'hbase.sasl.service' and 'hbase.sasl.host' must be the two parts of its 'hbase.thrift.kerberos.principal', and "
     "its keytab must hold the newest key of it"},
    {"gateway-host-wrong",
     TIDE_BYTES_LITERAL("\3\0\0\0\x27"
                        "Failure to initialize security context."),
     TIDE_SASL_AUTO, TIDE_ERROR_CONNECT,
     "gateway 'gw:9090' refused to authenticate ('Failure to initialize security context.'): it has no key for its own "
     "host name: the host in its 'hbase.thrift.kerberos.principal' (here 'hbase/gw') must be the host name of its "
     "machine; fix the gateway's configuration or host name"},
    {"user-refused", TIDE_BYTES_LITERAL("\3\0\0\0\x1dProblem with callback handler"), TIDE_SASL_AUTO,
     TIDE_ERROR_CONNECT,
     "gateway 'gw:9090' refused to authenticate ('Problem with callback handler'): it accepted the ticket for "
     "'hbase/gw', "
     "but not the user or the layer of protection: look for 'not authorized' in its log"},
    {"mechanism-refused", TIDE_BYTES_LITERAL("\3\0\0\0\x21Unsupported mechanism type GSSAPI"), TIDE_SASL_AUTO,
     TIDE_ERROR_CONNECT,
     "gateway 'gw:9090' refused to authenticate ('Unsupported mechanism type GSSAPI'): it does not support Kerberos "
     "(GSSAPI) for 'hbase/gw': it is not an HBase gateway with 'hbase.thrift.security.qop'"},
    {"unknown-words", TIDE_BYTES_LITERAL("\4\0\0\0\5a\0b\n\xff"), TIDE_SASL_AUTO, TIDE_ERROR_CONNECT,
     "gateway 'gw:9090' refused to authenticate ('a\\x00b\\x0A\\xFF'): see its log"},
    {"http", TIDE_BYTES_LITERAL("HTTP/1.1 400 Bad Request"), TIDE_SASL_AUTO, TIDE_ERROR_WRONG_SERVICE,
     "'gw:9090' answers the SASL negotiation in HTTP: write the gateway as http://HOST:PORT/, without 'sasl:'"},
    {"tls", TIDE_BYTES_LITERAL("\x15\x03\x03\0\2\2\x46"), TIDE_SASL_AUTO, TIDE_ERROR_WRONG_SERVICE,
     "'gw:9090' answers the SASL negotiation in TLS: write the gateway as thrift+tls://HOST:PORT or https://"},
    {"other-bytes", TIDE_BYTES_LITERAL("220 mail ESMTP"), TIDE_SASL_AUTO, TIDE_ERROR_WRONG_SERVICE,
     "'gw:9090' answers the SASL negotiation with other bytes: it is not an HBase gateway with "
     "'hbase.thrift.security.qop'; if it has no SASL, remove 'sasl:'"},
    {"early-complete", TIDE_BYTES_LITERAL("\5\0\0\0\0"), TIDE_SASL_AUTO, TIDE_ERROR_CONNECT,
     "gateway 'gw:9090' violated the SASL protocol: it reports completion before it has proven its identity"},
    {"complete-before-the-layer", TIDE_BYTES_LITERAL("\2\0\0\0\5proof\5\0\0\0\0"), TIDE_SASL_AUTO, TIDE_ERROR_CONNECT,
     "gateway 'gw:9090' violated the SASL protocol: it reports completion before it has proven its identity"},
    {"goes-on-for-ever", TIDE_BYTES_LITERAL("\2\0\0\0\0\2\0\0\0\0\2\0\0\0\0\2\0\0\0\0\2\0\0\0\0"), TIDE_SASL_AUTO,
     TIDE_ERROR_CONNECT, "gateway 'gw:9090' violated the SASL protocol: it requests more and more tokens"},
    {"goes-on-after-the-choice", TIDE_BYTES_LITERAL("\2\0\0\0\5proof\2\0\0\0\5W\1\0\0\0\2\0\0\0\0"), TIDE_SASL_AUTO,
     TIDE_ERROR_CONNECT, "gateway 'gw:9090' violated the SASL protocol: it continues after the layer was chosen"},
    {"start-of-its-own", TIDE_BYTES_LITERAL("\1\0\0\0\6GSSAPI"), TIDE_SASL_AUTO, TIDE_ERROR_CONNECT,
     "gateway 'gw:9090' violated the SASL protocol: it starts a negotiation of its own"},
    {"oversized", TIDE_BYTES_LITERAL("\2\0\1\0\1"), TIDE_SASL_AUTO, TIDE_ERROR_CONNECT,
     "gateway 'gw:9090' violated the SASL protocol: it announces a message that is too long"},
    {"oversized-refusal", TIDE_BYTES_LITERAL("\3\xff\xff\xff\xff"), TIDE_SASL_AUTO, TIDE_ERROR_CONNECT,
     "gateway 'gw:9090' violated the SASL protocol: it announces a message that is too long"},
    {"forged-token", TIDE_BYTES_LITERAL("\2\0\0\0\6forged"), TIDE_SASL_AUTO, TIDE_ERROR_CONNECT, "the token is forged"},
    {"truncated-wrap", TIDE_BYTES_LITERAL("\2\0\0\0\5proof\2\0\0\0\0"), TIDE_SASL_AUTO, TIDE_ERROR_PROTOCOL,
     "changed on the way"},
    {"short-offer", TIDE_BYTES_LITERAL("\2\0\0\0\5proof\2\0\0\0\4W\1\0\0"), TIDE_SASL_AUTO, TIDE_ERROR_CONNECT,
     "gateway 'gw:9090' violated the SASL protocol: it offers layers of protection in other than 4 bytes"},
    {"no-known-layer", TIDE_BYTES_LITERAL("\2\0\0\0\5proof\2\0\0\0\5W\xf8\1\0\0"), TIDE_SASL_AUTO, TIDE_ERROR_CONNECT,
     "gateway 'gw:9090' violated the SASL protocol: it offers no known layer of protection"},
    {"stronger-layer-required", TIDE_BYTES_LITERAL("\2\0\0\0\5proof\2\0\0\0\5W\4\1\0\0"), TIDE_SASL_AUTH,
     TIDE_ERROR_CONNECT,
     "gateway 'gw:9090' requires 'auth-conf' ('hbase.thrift.security.qop'), but 'hbase.sasl.qop' is 'auth': set it to "
     "auto, or change the gateway"},
    {"weaker-layers-offered", TIDE_BYTES_LITERAL("\2\0\0\0\5proof\2\0\0\0\5W\3\1\0\0"), TIDE_SASL_AUTH_CONF,
     TIDE_ERROR_CONNECT,
     "gateway 'gw:9090' requires 'auth-int' or 'auth' ('hbase.thrift.security.qop'), but 'hbase.sasl.qop' is "
     "'auth-conf': set it to auto, or change the gateway"},
};

TEST_EACH("/sasl-negotiation/failure/", failures)
{
  const struct Failure *it = data;
  for (gsize step = 1; step <= 64; step *= 8) {
    TideSaslNegotiation negotiation = new_negotiation(it->wanted);
    g_auto(TideBuffer) out = {0};
    g_autoptr(GError) error = NULL;
    g_assert_cmpint(feed(&negotiation, it->server, step, &out, &error), ==, TIDE_SASL_FAILED);
    g_assert_error(error, TIDE_ERROR, it->code);
    g_assert_cmpstr(error->message, ==, it->text);
  }
}

/* A gateway's words are cut, and never more than one message of them is kept. */
TEST("/sasl-negotiation/long-refusal-is-cut")
{
  g_auto(TideBuffer) server = {0}, out = {0};
  g_autofree char *words = g_strnfill(TIDE_SASL_MESSAGE_MAX_BYTES, 'x');
  sasl_append(&server, 4, tide_bytes_of_string(words));
  TideSaslNegotiation negotiation = new_negotiation(TIDE_SASL_AUTO);
  g_autoptr(GError) error = NULL;
  g_assert_cmpint(feed(&negotiation, tide_buffer_bytes(&server), 4096, &out, &error), ==, TIDE_SASL_FAILED);
  g_assert_error(error, TIDE_ERROR, TIDE_ERROR_CONNECT);
  g_assert_cmpuint(strlen(error->message), <, 500);
}

/* A layer that the keys cannot keep is not chosen, though it is offered. */
TEST("/sasl-negotiation/layer-without-keys-is-not-chosen")
{
  guint without_encryption = TIDE_SASL_AUTH | TIDE_SASL_AUTH_INT;
  TideSaslNegotiation negotiation = new_negotiation(TIDE_SASL_AUTO);
  negotiation.context = &without_encryption;
  g_auto(TideBuffer) server = {0}, out = {0};
  sasl_append(&server, 2, TIDE_BYTES_LITERAL("proof"));
  append_offer(&server, 7);
  sasl_append(&server, 5, TIDE_BYTES_EMPTY);
  g_assert_cmpint(feed(&negotiation, tide_buffer_bytes(&server), 100, &out, NULL), ==, TIDE_SASL_DONE);
  g_assert_cmpint(negotiation.layer, ==, TIDE_SASL_AUTH_INT);
}

TEST("/sasl-negotiation/layers-have-names")
{
  static const char *const names[] = {"auto", "auth", "auth-int", "auth-conf"};
  for (gsize i = 0; i < G_N_ELEMENTS(names); i++) {
    TideSaslLayer layer;
    g_assert_true(tide_sasl_layer_parse(names[i], &layer));
    g_assert_cmpstr(tide_sasl_layer_name(layer), ==, names[i]);
  }
  TideSaslLayer layer = TIDE_SASL_AUTH;
  g_assert_false(tide_sasl_layer_parse("privacy", &layer));
  g_assert_cmpint(layer, ==, TIDE_SASL_AUTH);
}
