#include "thrift/client/tls_failure.h"

#include "util/error.h"

#include <openssl/err.h>
#include <openssl/x509v3.h>

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BIO, BIO_free_all)

const char *
tide_tls_server_name(const TideEndpoint *endpoint)
{
  const char *name = endpoint->settings != NULL ? endpoint->settings->tls.server_name : NULL;
  return name != NULL ? name : endpoint->host;
}

gboolean
tide_tls_expect_name(X509_VERIFY_PARAM *param, const char *name)
{
  if (g_hostname_is_ip_address(name))
    return X509_VERIFY_PARAM_set1_ip_asc(param, name) == 1;
  X509_VERIFY_PARAM_set_hostflags(param, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  return X509_VERIFY_PARAM_set1_host(param, name, 0) == 1;
}

void
tide_tls_refusal_note(TideTlsRefusal *refusal, int is_good, X509_STORE_CTX *store)
{
  X509 *certificate = X509_STORE_CTX_get_current_cert(store);
  if (is_good || refusal->reason != X509_V_OK)
    return;
  refusal->reason = X509_STORE_CTX_get_error(store);
  if (certificate != NULL && X509_up_ref(certificate) == 1)
    refusal->certificate = certificate;
}

static const TideTlsSettings *
settings_of(const TideEndpoint *endpoint)
{
  static const TideTlsSettings nothing = {0};
  return endpoint->settings != NULL ? &endpoint->settings->tls : &nothing;
}

static GError *wrong(const char *format, ...) G_GNUC_PRINTF(1, 2);

static GError *
wrong(const char *format, ...)
{
  va_list args;
  va_start(args, format);
  GError *error = g_error_new_valist(TIDE_ERROR, TIDE_ERROR_WRONG_SERVICE, format, args);
  va_end(args);
  return error;
}

/* ---- texts from certificates ---- */

/* Returns the text printed into @memory, with non-ASCII bytes replaced. (transfer full) */
static char *
text_of(BIO *memory)
{
  char *bytes = NULL;
  long len = BIO_get_mem_data(memory, &bytes);
  char *text = g_strndup(bytes, len > 0 ? (gsize)len : 0);
  for (char *at = text; *at != '\0'; at++)
    if (!g_ascii_isprint(*at))
      *at = '?';
  return text;
}

/* (transfer full) */
static char *
name_text(const X509_NAME *name)
{
  g_autoptr(BIO) memory = BIO_new(BIO_s_mem());
  X509_NAME_print_ex(memory, name, 0, XN_FLAG_ONELINE & ~ASN1_STRFLGS_ESC_MSB);
  return text_of(memory);
}

/* (transfer full) */
static char *
time_text(const ASN1_TIME *time)
{
  g_autoptr(BIO) memory = BIO_new(BIO_s_mem());
  ASN1_TIME_print(memory, time);
  return text_of(memory);
}

/* Returns "DNS:a.example, IP Address:10.0.0.1", or the subject. (transfer full) */
static char *
names_text(const X509 *certificate)
{
  int index = X509_get_ext_by_NID(certificate, NID_subject_alt_name, -1);
  if (index < 0)
    return name_text(X509_get_subject_name(certificate));
  g_autoptr(BIO) memory = BIO_new(BIO_s_mem());
  X509V3_EXT_print(memory, X509_get_ext(certificate, index), 0, 0);
  return text_of(memory);
}

/* ---- rejected by us ---- */

static GError *
explain_issuer(const TideEndpoint *endpoint, const X509 *certificate)
{
  g_autofree char *issuer = name_text(X509_get_issuer_name(certificate));
  const char *ca = settings_of(endpoint)->ca;
  if (ca != NULL)
    return wrong("the certificate of gateway '%s' was signed by '%s', which is not in 'hbase.tls.ca' ('%s'): add that "
                 "authority's certificate",
                 endpoint->text, issuer, ca);
  return wrong("the certificate of gateway '%s' was signed by '%s', which this system does not trust: set "
               "'hbase.tls.ca' to a file with that authority's certificate",
               endpoint->text, issuer);
}

static GError *
explain_refusal(const TideEndpoint *endpoint, const TideTlsRefusal *refusal)
{
  const X509 *certificate = refusal->certificate;
  switch (refusal->reason) {
  case X509_V_ERR_HOSTNAME_MISMATCH:
  case X509_V_ERR_IP_ADDRESS_MISMATCH: {
    g_autofree char *names = names_text(certificate);
    return wrong("the certificate of gateway '%s' is for '%s', not for '%s': use a name of the certificate in "
                 "'hbase.gateways', or set 'hbase.tls.server_name' to it",
                 endpoint->text, names, tide_tls_server_name(endpoint));
  }
  case X509_V_ERR_CERT_HAS_EXPIRED: {
    g_autofree char *subject = name_text(X509_get_subject_name(certificate));
    g_autofree char *end = time_text(X509_get0_notAfter(certificate));
    return wrong("the certificate of gateway '%s' has expired: '%s' was valid until %s; renew it on the gateway",
                 endpoint->text, subject, end);
  }
  case X509_V_ERR_CERT_NOT_YET_VALID: {
    g_autofree char *begin = time_text(X509_get0_notBefore(certificate));
    return wrong("the certificate of gateway '%s' is not valid before %s: compare the clocks of both machines",
                 endpoint->text, begin);
  }
  case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
  case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
  case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
  case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
  case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    return explain_issuer(endpoint, certificate);
  default:
    return wrong("the certificate of gateway '%s' was rejected: %s", endpoint->text,
                 X509_verify_cert_error_string(refusal->reason));
  }
}

/* ---- refused by the peer ---- */

/* OpenSSL 3.0 has no text for this alert. */
static const char *
alert_words(int alert)
{
  return alert == SSL_AD_CERTIFICATE_REQUIRED ? "certificate required" : SSL_alert_desc_string_long(alert);
}

static GError *
explain_alert_about_us(const TideEndpoint *endpoint, int alert)
{
  const char *certificate = settings_of(endpoint)->certificate;
  const char *words = alert_words(alert);
  if (certificate == NULL)
    return wrong(
        "gateway '%s' requires a client certificate (TLS alert '%s'): set 'hbase.tls.certificate' and 'hbase.tls.key'",
        endpoint->text, words);
  switch (alert) {
  case SSL_AD_UNKNOWN_CA:
    return wrong("gateway '%s' does not trust the issuer of tidemark's certificate '%s' (TLS alert '%s'): use a "
                 "certificate from an authority that the gateway trusts",
                 endpoint->text, certificate, words);
  case SSL_AD_CERTIFICATE_EXPIRED:
    return wrong("gateway '%s' reports that tidemark's certificate '%s' has expired: renew it", endpoint->text,
                 certificate);
  case SSL_AD_DECRYPT_ERROR:
    return wrong("gateway '%s' reports that tidemark's key does not match its certificate '%s' (TLS alert '%s')",
                 endpoint->text, certificate, words);
  default:
    return wrong("gateway '%s' refuses tidemark's certificate '%s' (TLS alert '%s')", endpoint->text, certificate,
                 words);
  }
}

static GError *
explain_alert(const TideEndpoint *endpoint, int alert)
{
  switch (alert) {
  case SSL_AD_HANDSHAKE_FAILURE: /* TLS 1.2 has no alert of its own for a missing certificate */
  case SSL_AD_BAD_CERTIFICATE:
  case SSL_AD_UNSUPPORTED_CERTIFICATE:
  case SSL_AD_CERTIFICATE_REVOKED:
  case SSL_AD_CERTIFICATE_EXPIRED:
  case SSL_AD_CERTIFICATE_UNKNOWN:
  case SSL_AD_UNKNOWN_CA:
  case SSL_AD_ACCESS_DENIED:
  case SSL_AD_DECRYPT_ERROR:
  case SSL_AD_CERTIFICATE_REQUIRED:
    return explain_alert_about_us(endpoint, alert);
  case SSL_AD_PROTOCOL_VERSION:
    return wrong("gateway '%s' does not support TLS 1.2 or later, which tidemark requires", endpoint->text);
  case SSL_AD_UNRECOGNIZED_NAME:
    return wrong("gateway '%s' does not know the name '%s': set 'hbase.tls.server_name' to the gateway's own name",
                 endpoint->text, tide_tls_server_name(endpoint));
  default:
    return g_error_new(TIDE_ERROR, TIDE_ERROR_CONNECTION_LOST, "gateway '%s' ended the TLS connection: alert '%s'",
                       endpoint->text, alert_words(alert));
  }
}

GError *
tide_tls_failure_take(const TideEndpoint *endpoint, const TideTlsRefusal *refusal, TideBytes peer_began)
{
  unsigned long code = ERR_peek_error();
  int reason = ERR_GET_REASON(code);
  const char *words = ERR_reason_error_string(code);
  gboolean is_ssl = ERR_GET_LIB(code) == ERR_LIB_SSL;
  ERR_clear_error();
  if (refusal->reason != X509_V_OK && refusal->certificate != NULL)
    return explain_refusal(endpoint, refusal);
  if (is_ssl && reason > SSL_AD_REASON_OFFSET && reason <= SSL_AD_REASON_OFFSET + 255)
    return explain_alert(endpoint, reason - SSL_AD_REASON_OFFSET);
  if (is_ssl && (reason == SSL_R_UNSUPPORTED_PROTOCOL || reason == SSL_R_VERSION_TOO_LOW))
    return explain_alert(endpoint, SSL_AD_PROTOCOL_VERSION);
  gboolean may_be_tls =
      peer_began.len < 2 || (peer_began.data[0] >= 0x14 && peer_began.data[0] <= 0x17 && peer_began.data[1] == 0x03);
  if (!may_be_tls)
    return wrong("gateway '%s' does not answer in TLS: it is a plain port, or another service's", endpoint->text);
  return g_error_new(TIDE_ERROR, TIDE_ERROR_CONNECTION_LOST, "the TLS connection to gateway '%s' broke: %s",
                     endpoint->text, words != NULL ? words : "the received bytes cannot be read");
}
