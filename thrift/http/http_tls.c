#include "thrift/http/http_tls.h"

#include "thrift/client/tls_context.h"
#include "util/error.h"

#include <openssl/err.h>
#include <openssl/x509v3.h>

void
tide_http_tls_init(TideHttpTls *tls, const TideEndpoint *endpoint)
{
  *tls = (TideHttpTls){.endpoint = endpoint, .alert = -1};
}

void
tide_http_tls_clear(TideHttpTls *tls)
{
  X509_free(tls->refusal.certificate);
  g_clear_error(&tls->failure);
}

/* Keeps what is wrong with the peer's chain, and when its certificate ends. */
static int
check_certificate(int is_good, X509_STORE_CTX *store)
{
  SSL *ssl = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx());
  TideHttpTls *tls = SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl));
  X509 *certificate = X509_STORE_CTX_get_current_cert(store);
  if (X509_STORE_CTX_get_error_depth(store) == 0)
    tls->ends.peer_s = tide_tls_certificate_end_s(certificate);
  if (!is_good && tls->refusal.reason == X509_V_OK) {
    tls->refusal.reason = X509_STORE_CTX_get_error(store);
    if (certificate != NULL && X509_up_ref(certificate) == 1)
      tls->refusal.certificate = certificate;
  }
  return is_good;
}

static void
note_alert(const SSL *ssl, int where, int value)
{
  TideHttpTls *tls = SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl));
  if ((where & SSL_CB_READ) != 0 && (where & SSL_CB_ALERT) != 0 && value >> 8 == SSL3_AL_FATAL)
    tls->alert = value & 0xff;
  if ((where & SSL_CB_HANDSHAKE_DONE) != 0)
    tls->has_shaken_hands = TRUE;
}

/* libcurl checks the name, too, but after the handshake, and has fewer words for it. */
static gboolean
expect_name(SSL_CTX *context, const char *name)
{
  X509_VERIFY_PARAM *param = SSL_CTX_get0_param(context);
  if (g_hostname_is_ip_address(name))
    return X509_VERIFY_PARAM_set1_ip_asc(param, name) == 1;
  X509_VERIFY_PARAM_set_hostflags(param, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  return X509_VERIFY_PARAM_set1_host(param, name, 0) == 1;
}

CURLcode
tide_http_tls_set_up(gpointer ssl_context, gpointer data)
{
  TideHttpTls *tls = data;
  const TideLinkSettings *settings = tls->endpoint->settings;
  g_clear_error(&tls->failure);
  if (!tide_tls_context_set_up(ssl_context, settings != NULL ? &settings->tls : NULL, &tls->failure))
    return CURLE_SSL_CERTPROBLEM;
  SSL_CTX_set_app_data((SSL_CTX *)ssl_context, tls);
  SSL_CTX_set_verify(ssl_context, SSL_VERIFY_PEER, check_certificate);
  SSL_CTX_set_info_callback(ssl_context, note_alert);
  tls->ends.own_s = tide_tls_certificate_end_s(SSL_CTX_get0_certificate(ssl_context));
  return expect_name(ssl_context, tide_tls_server_name(tls->endpoint)) ? CURLE_OK : CURLE_SSL_CONNECT_ERROR;
}

/* OpenSSL takes what is no TLS for a version that it does not know. */
static void
explain_plain_port(const TideHttpTls *tls, GError **failure)
{
  if (!g_error_matches(*failure, TIDE_ERROR, TIDE_ERROR_CONNECT) ||
      strstr((*failure)->message, "wrong version number") == NULL)
    return;
  g_clear_error(failure);
  g_set_error(failure, TIDE_ERROR, TIDE_ERROR_WRONG_SERVICE,
              "gateway '%s' does not answer in TLS: it is a plain port ('http://'), or another service's",
              tls->endpoint->text);
}

/* A plain gateway makes nothing of a handshake, and hangs up or is silent. In TLS 1.3 a peer that misses our
 * certificate says so behind it, and what it says is lost where it closes too soon. */
static void
explain_hang_up(const TideHttpTls *tls, GError *failure)
{
  const TideLinkSettings *settings = tls->endpoint->settings;
  gboolean has_certificate = settings != NULL && settings->tls.certificate != NULL;
  gboolean is_cut = g_error_matches(failure, TIDE_ERROR, TIDE_ERROR_CONNECT) ||
                    g_error_matches(failure, TIDE_ERROR, TIDE_ERROR_CONNECTION_LOST);
  if (is_cut && tls->has_shaken_hands && !tls->has_answered && !has_certificate)
    g_prefix_error(&failure,
                   "it hung up right after the TLS handshake, as one does that asks for a certificate of ours "
                   "('hbase.tls.certificate'): ");
  else if (g_error_matches(failure, TIDE_ERROR, TIDE_ERROR_CONNECT) && !tls->has_shaken_hands)
    g_prefix_error(&failure, "there was no TLS handshake, so it may be a plain port ('thrift://', 'http://'): ");
}

void
tide_http_tls_explain(TideHttpTls *tls, GError **failure)
{
  if (tls->failure != NULL) {
    g_clear_error(failure);
    g_set_error(failure, TIDE_ERROR, TIDE_ERROR_WRONG_SERVICE, "gateway '%s': %s", tls->endpoint->text,
                tls->failure->message);
    return;
  }
  if (tls->refusal.reason == X509_V_OK && tls->alert < 0) {
    explain_plain_port(tls, failure);
    explain_hang_up(tls, *failure);
    return;
  }
  /* libcurl has taken the error from OpenSSL's queue. */
  ERR_clear_error();
  if (tls->alert >= 0)
    ERR_raise(ERR_LIB_SSL, SSL_AD_REASON_OFFSET + tls->alert);
  GError *found = tide_tls_failure_take(tls->endpoint, &tls->refusal, TIDE_BYTES_EMPTY);
  if (g_error_matches(found, TIDE_ERROR, TIDE_ERROR_WRONG_SERVICE)) {
    g_clear_error(failure);
    *failure = g_steal_pointer(&found);
  }
  g_clear_error(&found);
}
