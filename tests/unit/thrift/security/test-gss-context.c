/* Kerberos against a realm of the test's own: the client's side of this project, the gateway's of the library. */
#include "thrift/security/gss_context.h"

#include "thrift/security/kerberos_ticket.h"
#include "unit/assert_bytes.h"
#include "unit/gss_acceptor.h"
#include "unit/kdc.h"
#include "unit/test_case.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/lock.h"

/* Below the 54 s for which Kerberos waits for a KDC that hangs: whoever waits behind it fails. */
#define GENEROUS_US (30 * TIDE_US_PER_S)

static Kdc kdc;
static char *gateway_keytab, *client_keytab, *other_keytab, *short_keytab;

static TideKerberosSituation
request_with(const char *keytab)
{
  return (TideKerberosSituation){.peer = "gw:9090", .service = "thrift", .host = "localhost", .keytab = keytab};
}

static TideGssContext *
begin(const TideKerberosSituation *request, GError **error)
{
  return tide_kerberos_begin(request, tide_now_us() + GENEROUS_US, NULL, error);
}

static TideGssContext *
begin_well(const TideKerberosSituation *request)
{
  g_autoptr(GError) error = NULL;
  TideGssContext *context = begin(request, &error);
  g_assert_no_error(error);
  g_assert_nonnull(context);
  return context;
}

static void
assert_begin_fails(const TideKerberosSituation *request, int code, const char *expected)
{
  g_autoptr(GError) error = NULL;
  g_assert_null(begin(request, &error));
  g_assert_error(error, TIDE_ERROR, code);
  g_assert_cmpstr(error->message, ==, expected);
}

/* ---- the whole way ---- */

typedef struct Gateway {
  GssAcceptor acceptor;
  guint8 offered; /* the layers' bits */
  guint8 chosen;
  guint n_tokens;
} Gateway;

/* Answers one message of the client. */
static void
gateway_answer(Gateway *gateway, guint8 code, TideBytes payload, TideBuffer *out)
{
  g_auto(TideBuffer) token = {0};
  if (code == 1) {
    assert_bytes_equal(payload, TIDE_BYTES_LITERAL("GSSAPI"));
    return;
  }
  g_assert_cmpint(code, ==, 2);
  if (!gateway->acceptor.is_complete) {
    g_assert_true(gss_acceptor_step(&gateway->acceptor, payload, &token));
    sasl_append(out, 2, tide_buffer_bytes(&token));
  } else if (payload.len == 0) {
    const guint8 offer[] = {gateway->offered, 1, 0, 0};
    gss_acceptor_wrap(&gateway->acceptor, FALSE, tide_bytes(offer, sizeof offer), &token);
    sasl_append(out, 2, tide_buffer_bytes(&token));
  } else {
    g_assert_true(gss_acceptor_unwrap(&gateway->acceptor, FALSE, payload, &token));
    g_assert_cmpuint(token.len, ==, 4); /* no authorization id */
    gateway->chosen = token.data[0];
    sasl_append(out, 5, TIDE_BYTES_EMPTY);
  }
}

static void
negotiate(TideSaslNegotiation *negotiation, Gateway *gateway)
{
  g_auto(TideBuffer) sent = {0}, received = {0};
  tide_sasl_negotiation_start(negotiation, tide_gss_context_first_token(negotiation->context), &sent);
  for (TideSaslStatus status = TIDE_SASL_GO_ON; status != TIDE_SASL_DONE;) {
    TideBytes left = tide_buffer_bytes(&sent), payload;
    guint8 code;
    tide_buffer_reset(&received);
    while (sasl_take(&left, &code, &payload))
      gateway_answer(gateway, code, payload, &received);
    g_assert_cmpuint(left.len, ==, 0);
    tide_buffer_reset(&sent);
    gsize used;
    g_autoptr(GError) error = NULL;
    status = tide_sasl_negotiation_feed(negotiation, received.data, received.len, &used, &sent, &error);
    g_assert_no_error(error);
    g_assert_cmpint(status, !=, TIDE_SASL_MORE);
    g_assert_cmpuint(used, ==, received.len);
  }
}

static void
exchange(TideGssContext *context, GssAcceptor *acceptor, gboolean encrypt, gsize bytes)
{
  g_autofree guint8 *plain = g_malloc0(bytes + 1);
  for (gsize i = 0; i < bytes; i++)
    plain[i] = (guint8)(i * 7);
  const TideBytes parts[] = {tide_bytes(plain, bytes / 3), tide_bytes(plain + bytes / 3, bytes - bytes / 3)};
  g_auto(TideBuffer) token = {0}, arrived = {0}, answer = {0};
  g_assert_true(tide_gss_mechanism.wrap(context, encrypt, parts, G_N_ELEMENTS(parts), &token, NULL));
  g_assert_cmpuint(token.len, ==, bytes + (encrypt ? 60 : 28));
  g_assert_true(gss_acceptor_unwrap(acceptor, encrypt, tide_buffer_bytes(&token), &arrived));
  assert_bytes_equal(tide_buffer_bytes(&arrived), tide_bytes(plain, bytes));
  gss_acceptor_wrap(acceptor, encrypt, tide_bytes(plain, bytes), &answer);
  TideBytes read;
  g_autoptr(GError) error = NULL;
  g_assert_true(tide_gss_mechanism.unwrap(context, encrypt, answer.data, answer.len, &read, &error));
  assert_bytes_equal(read, tide_bytes(plain, bytes));
}

TEST("/gss-context/every-layer-there-and-back")
{
  static const struct {
    guint8 offered;
    TideSaslLayer wanted, layer;
  } cases[] = {
      {1, TIDE_SASL_AUTO, TIDE_SASL_AUTH},      {2, TIDE_SASL_AUTO, TIDE_SASL_AUTH_INT},
      {4, TIDE_SASL_AUTO, TIDE_SASL_AUTH_CONF}, {7, TIDE_SASL_AUTO, TIDE_SASL_AUTH_CONF},
      {7, TIDE_SASL_AUTH, TIDE_SASL_AUTH},      {3, TIDE_SASL_AUTO, TIDE_SASL_AUTH_INT},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    TideKerberosSituation request = request_with(client_keytab);
    g_autoptr(TideGssContext) context = begin_well(&request);
    TideSaslNegotiation negotiation = {.mechanism = &tide_gss_mechanism,
                                       .context = context,
                                       .wanted = cases[i].wanted,
                                       .peer = "gw:9090",
                                       .target = "thrift/localhost"};
    Gateway gateway = {.offered = cases[i].offered};
    gss_acceptor_open(&gateway.acceptor, gateway_keytab);
    negotiate(&negotiation, &gateway);
    g_assert_cmpint(negotiation.layer, ==, cases[i].layer);
    g_assert_cmpint(gateway.chosen, ==, cases[i].layer);
    g_assert_cmpstr(tide_gss_context_principal(context), ==, "tidemark@" KDC_REALM);
    if (negotiation.layer != TIDE_SASL_AUTH) {
      gboolean encrypt = negotiation.layer == TIDE_SASL_AUTH_CONF;
      exchange(context, &gateway.acceptor, encrypt, 0);
      exchange(context, &gateway.acceptor, encrypt, 1);
      exchange(context, &gateway.acceptor, encrypt, 3 << 20);
    }
    gss_acceptor_close(&gateway.acceptor);
  }
}

/* ---- what goes wrong ---- */

static void
assert_fails_with_keytab(const char *keytab, const char *principal, const char *format)
{
  TideKerberosSituation request = request_with(keytab);
  request.principal = principal;
  g_auto(GStrv) parts = g_strsplit(format, "KEYTAB", -1);
  g_autofree char *expected = g_strjoinv(keytab, parts);
  gboolean by_kerberos = g_str_has_prefix(expected, "cannot authenticate");
  assert_begin_fails(&request, by_kerberos ? TIDE_ERROR_CONNECT : TIDE_ERROR_CONFIG, expected);
}

TEST("/gss-context/keytab-is-looked-into-first")
{
  g_autofree char *missing = kdc_path(&kdc, "missing.keytab"), *odd = kdc_path(&kdc, "odd.keytab");
  assert_fails_with_keytab(missing, NULL, "cannot read the keytab 'KEYTAB': No such file or directory");
  assert_fails_with_keytab(client_keytab, "nobody",
                           "the keytab 'KEYTAB' has no key of the principal 'nobody@TEST.REALM', but of "
                           "'tidemark@TEST.REALM': set 'hbase.kerberos.principal' to one of these, or remove it");
  assert_fails_with_keytab(client_keytab, "a@b@c",
                           "cannot use the principal 'a@b@c': Malformed representation of principal; give it as "
                           "NAME@REALM");
  kdc_write(&kdc, "odd.keytab", "no keytab");
  assert_fails_with_keytab(odd, NULL,
                           "cannot read the keytab 'KEYTAB': Unsupported key table format version number; 'klist -k "
                           "KEYTAB' lists the keys of a valid one");
}

/* "ktadd" made new keys after this keytab, or the principal was taken away. */
TEST("/gss-context/D21-stale-keytab")
{
  g_autofree char *stale = kdc_add(&kdc, "stale", "stale");
  kdc_admin("cpw -randkey stale\n");
  assert_fails_with_keytab(
      stale, NULL,
      "cannot authenticate to gateway 'gw:9090' by Kerberos: the key of 'stale@TEST.REALM' in the "
      "keytab 'KEYTAB' differs from the KDC's: each 'ktadd' creates new keys, so fetch the newest keytab "
      "('Decrypt integrity check failed')");
  kdc_admin("delprinc -force stale\n");
  assert_fails_with_keytab(stale, NULL,
                           "cannot authenticate to gateway 'gw:9090' by Kerberos: the KDC does not know "
                           "'stale@TEST.REALM', which is in the keytab 'KEYTAB': ask the KDC's administrator "
                           "('Client 'stale@TEST.REALM' not found in Kerberos database')");
}

TEST("/gss-context/service-unknown")
{
  TideKerberosSituation request = request_with(client_keytab);
  request.host = "vm";
  assert_begin_fails(
      &request, TIDE_ERROR_CONNECT,
      "cannot authenticate to gateway 'gw:9090' by Kerberos: the KDC does not know 'thrift/vm': set "
      "'hbase.sasl.service' and 'hbase.sasl.host' to the two parts of the gateway's principal, as in its "
      "'hbase.thrift.kerberos.principal' ('Server thrift/vm@TEST.REALM not found in Kerberos database')");
  request.host = "127.0.0.1";
  assert_begin_fails(
      &request, TIDE_ERROR_CONNECT,
      "cannot authenticate to gateway 'gw:9090' by Kerberos: the KDC does not know 'thrift/127.0.0.1': set "
      "'hbase.sasl.host' to the gateway's name instead of its address, and 'hbase.sasl.service', as in its "
      "'hbase.thrift.kerberos.principal' ('Server thrift/127.0.0.1@TEST.REALM not found in Kerberos database')");
}

TEST("/gss-context/no-ticket")
{
  TideKerberosSituation request = request_with(NULL);
  g_autofree char *expected = g_strdup_printf(
      "cannot authenticate to gateway 'gw:9090' by Kerberos: there is no ticket in the default ticket "
      "cache: set 'hbase.kerberos.keytab', which needs no kinit, or run kinit ('No Kerberos credentials "
      "available (default cache: FILE:%s/default.cache)')",
      kdc.folder);
  assert_begin_fails(&request, TIDE_ERROR_CONNECT, expected);
  request.cache = "FILE:/nowhere/cache";
  assert_begin_fails(&request, TIDE_ERROR_CONNECT,
                     "cannot authenticate to gateway 'gw:9090' by Kerberos: there is no ticket in the ticket cache "
                     "'FILE:/nowhere/cache': set 'hbase.kerberos.keytab', which needs no kinit, or run kinit ('No "
                     "credentials cache found')");
}

/* With the keytab a ticket that has expired is got anew; with the cache alone, that it has is said. */
TEST("/gss-context/D21-expired-and-renewed")
{
  g_autofree char *path = kdc_path(&kdc, "short.cache"), *cache = g_strconcat("FILE:", path, NULL);
  TideKerberosSituation with_both = request_with(short_keytab), with_cache = request_with(NULL);
  with_both.cache = with_cache.cache = cache;
  g_autoptr(TideGssContext) first G_GNUC_UNUSED = begin_well(&with_both);
  g_autoptr(TideGssContext) valid G_GNUC_UNUSED = begin_well(&with_cache);
  g_autoptr(GError) error = NULL;
  while (error == NULL) { /* it expires after seconds */
    g_autoptr(TideGssContext) again G_GNUC_UNUSED = begin(&with_cache, &error);
    g_thread_yield();
  }
  g_assert_error(error, TIDE_ERROR, TIDE_ERROR_CONNECT);
  g_autofree char *expected = g_strdup_printf(
      "cannot authenticate to gateway 'gw:9090' by Kerberos: the ticket has expired in the ticket cache '%s': set "
      "'hbase.kerberos.keytab', which needs no kinit, or run kinit ('Ticket expired')",
      cache);
  g_assert_cmpstr(error->message, ==, expected);
  g_autoptr(TideGssContext) renewed G_GNUC_UNUSED = begin_well(&with_both);
  g_autoptr(TideGssContext) valid_again G_GNUC_UNUSED = begin_well(&with_cache);
}

/* ---- a peer that lies ---- */

/* Up to where the client waits for the gateway's token. */
static TideGssContext *
begin_towards(GssAcceptor *acceptor, TideBuffer *answer)
{
  TideKerberosSituation request = request_with(client_keytab);
  TideGssContext *context = begin_well(&request);
  gss_acceptor_open(acceptor, gateway_keytab);
  g_assert_true(gss_acceptor_step(acceptor, tide_gss_context_first_token(context), answer));
  return context;
}

TEST("/gss-context/forged-answer")
{
  for (gsize flipped = 0; flipped < 3; flipped++) {
    GssAcceptor acceptor;
    g_auto(TideBuffer) answer = {0}, out = {0};
    g_autoptr(TideGssContext) context = begin_towards(&acceptor, &answer);
    answer.data[answer.len - 1 - flipped * 30] ^= 1;
    gboolean complete = FALSE;
    g_autoptr(GError) error = NULL;
    TideBytes token = flipped == 2 ? TIDE_BYTES_EMPTY : tide_buffer_bytes(&answer);
    g_assert_false(tide_gss_mechanism.step(context, token, &out, &complete, &error));
    g_assert_false(complete);
    g_assert_error(error, TIDE_ERROR, TIDE_ERROR_CONNECT);
    g_assert_nonnull(
        strstr(error->message, "it could not prove that it is 'thrift/localhost': another service answers"));
    gss_acceptor_close(&acceptor);
  }
}

static void
assert_unwrap_fails(TideGssContext *context, gboolean encrypted, TideBuffer *token, const char *expected)
{
  TideBytes plain;
  g_autoptr(GError) error = NULL;
  g_assert_false(tide_gss_mechanism.unwrap(context, encrypted, token->data, token->len, &plain, &error));
  g_assert_error(error, TIDE_ERROR, TIDE_ERROR_PROTOCOL);
  g_assert_nonnull(strstr(error->message, expected));
}

/* Changed, cut, repeated, left out, or not encrypted where that was agreed on. */
TEST("/gss-context/forged-messages")
{
  GssAcceptor acceptor;
  g_auto(TideBuffer) answer = {0}, out = {0}, first = {0}, second = {0}, third = {0}, copy = {0};
  g_autoptr(TideGssContext) context = begin_towards(&acceptor, &answer);
  gboolean complete = FALSE;
  g_assert_true(tide_gss_mechanism.step(context, tide_buffer_bytes(&answer), &out, &complete, NULL));
  g_assert_true(complete);
  gss_acceptor_wrap(&acceptor, TRUE, TIDE_BYTES_LITERAL("first"), &first);
  gss_acceptor_wrap(&acceptor, FALSE, TIDE_BYTES_LITERAL("second"), &second);
  gss_acceptor_wrap(&acceptor, TRUE, TIDE_BYTES_LITERAL("third"), &third);

  for (gsize len = 0; len < first.len; len++) {
    tide_buffer_reset(&copy);
    tide_buffer_append(&copy, first.data, len);
    assert_unwrap_fails(context, TRUE, &copy, "its message was changed in transit, or is not wrapped");
  }
  for (gsize at = 0; at < first.len; at++) {
    tide_buffer_reset(&copy);
    tide_buffer_append_bytes(&copy, tide_buffer_bytes(&first));
    copy.data[at] ^= 0x40;
    assert_unwrap_fails(context, TRUE, &copy, "its message was changed in transit, or is not wrapped");
  }
  tide_buffer_reset(&copy);
  tide_buffer_append_bytes(&copy, tide_buffer_bytes(&first));
  TideBytes plain;
  g_assert_true(tide_gss_mechanism.unwrap(context, TRUE, first.data, first.len, &plain, NULL));
  assert_bytes_equal(plain, TIDE_BYTES_LITERAL("first"));
  assert_unwrap_fails(context, TRUE, &copy, "is out of sequence");
  assert_unwrap_fails(context, TRUE, &third, "is out of sequence");
  gss_acceptor_close(&acceptor);
}

TEST("/gss-context/unencrypted-message")
{
  GssAcceptor acceptor;
  g_auto(TideBuffer) answer = {0}, out = {0}, message = {0};
  g_autoptr(TideGssContext) context = begin_towards(&acceptor, &answer);
  gboolean complete = FALSE;
  g_assert_true(tide_gss_mechanism.step(context, tide_buffer_bytes(&answer), &out, &complete, NULL));
  gss_acceptor_wrap(&acceptor, FALSE, TIDE_BYTES_LITERAL("clear"), &message);
  assert_unwrap_fails(context, TRUE, &message, "it sent a message without the negotiated encryption");
  gss_acceptor_close(&acceptor);
}

/* ---- a KDC in trouble ---- */

/* What is in a cache needs no KDC; all else says that there is none. */
TEST("/gss-context/D21-kdc-down")
{
  TideKerberosSituation known = request_with(client_keytab), unknown = request_with(other_keytab);
  g_autoptr(TideGssContext) before G_GNUC_UNUSED = begin_well(&known);
  kdc_stop(&kdc);
  g_autoptr(TideGssContext) cached G_GNUC_UNUSED = begin_well(&known);
  assert_begin_fails(&unknown, TIDE_ERROR_CONNECT,
                     "cannot authenticate to gateway 'gw:9090' by Kerberos: no KDC answers: it is down, or krb5.conf "
                     "names another host or port ('Cannot contact any KDC for realm 'TEST.REALM'')");
  kdc_start(&kdc);
  g_autoptr(TideGssContext) after G_GNUC_UNUSED = begin_well(&unknown);
}

static void
cancel_meanwhile(gpointer cancellable)
{
  g_cancellable_cancel(cancellable);
}

/* Whoever waits leaves at their deadline, or when cancelled; others are served meanwhile; what was given up is freed
 * once the KDC lets go. */
TEST("/gss-context/D21-kdc-hangs")
{
  TideKerberosSituation known = request_with(client_keytab), waiting = known;
  waiting.host = "vm"; /* another gateway: nothing of it is cached */
  g_autoptr(TideGssContext) before G_GNUC_UNUSED = begin_well(&known);
  kdc_hang(&kdc);
  for (guint i = 0; i < 6; i++) {
    g_autoptr(GError) error = NULL;
    gint64 started_us = tide_now_us();
    g_assert_null(tide_kerberos_begin(&waiting, started_us + 50 * TIDE_US_PER_MS, NULL, &error));
    g_assert_error(error, TIDE_ERROR, TIDE_ERROR_CONNECT);
    g_assert_nonnull(strstr(error->message, "the KDC did not answer within "));
    g_assert_cmpint(tide_now_us() - started_us, <, 20 * TIDE_US_PER_S);
    g_autoptr(TideGssContext) served G_GNUC_UNUSED = begin_well(&known);
  }
  g_autoptr(GCancellable) cancellable = g_cancellable_new();
  GPollFD held; /* as the client does: its descriptor is there before the thread that writes to it, and after */
  g_assert_true(g_cancellable_make_pollfd(cancellable, &held));
  TideThread *thread = tide_thread_start("test-cancel", cancel_meanwhile, cancellable);
  g_autoptr(GError) error = NULL;
  g_assert_null(tide_kerberos_begin(&waiting, tide_now_us() + GENEROUS_US, cancellable, &error));
  g_assert_error(error, TIDE_ERROR, TIDE_ERROR_CANCELLED);
  tide_thread_join(thread);
  g_cancellable_release_fd(cancellable);

  while (tide_kerberos_reap() > 1) /* one is with the KDC; those that waited for their turn end by themselves */
    g_thread_yield();
  g_assert_cmpuint(tide_kerberos_reap(), ==, 1);
  kdc_stop_hanging(&kdc);
  while (tide_kerberos_reap() > 0)
    g_thread_yield();
  kdc_start(&kdc);
  TideKerberosSituation late = request_with(other_keytab);
  g_autoptr(TideGssContext) after G_GNUC_UNUSED = begin_well(&late);
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
  other_keytab = kdc_add(&kdc, "hbase/localhost", "other");
  short_keytab = kdc_add(&kdc, "short", "short");
  kdc_admin("modprinc -maxlife 3s short\n");
  int status = g_test_run();
  kdc_destroy(&kdc);
  g_free(gateway_keytab);
  g_free(client_keytab);
  g_free(other_keytab);
  g_free(short_keytab);
  return status;
}
