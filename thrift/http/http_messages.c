/* Thrift messages over HTTP: each is the body of a POST, and its reply is the body of the answer. There is no framing,
 * and gateways support only the binary protocol here. */
#include "thrift/client/connection.h"
#include "thrift/client/socket_stream.h"
#include "thrift/client/tls_context.h"
#include "thrift/client/tls_failure.h"
#include "thrift/client/tls_stream.h"
#include "thrift/http/http_exchange.h"
#include "thrift/http/http_headers.h"
#include "thrift/http/http_refusal.h"
#include "util/error.h"

#include <openssl/err.h>

void
tide_http_init(void)
{
  (void)curl_global_init(CURL_GLOBAL_DEFAULT);
}

/* libcurl does the handshake, but trust, identity and error texts are the same as in tls_stream.h. */
typedef struct HttpTls {
  const TideEndpoint *endpoint; /* borrowed */
  TideTlsRefusal refusal;
  int alert; /* the alert with which the peer ended the connection; -1: none */
  gboolean has_shaken_hands;
  gboolean has_answered;
  GError *failure; /* owned: a problem with our own files */
  TideCertificateEnds ends;
} HttpTls;

typedef struct HttpState {
  TideHttpExchange *exchange; /* owned */
  char *host;                 /* owned; in requests, and the name required in the certificate */
  gboolean is_tls;
  HttpTls tls;
  TideGssContext *kerberos; /* owned; of the current request; NULL: it is not authenticated */
  char *principal;          /* owned; the gateway's expected principal */
  char **headers;           /* owned; the operator's own; NULL: none */
} HttpState;

/* ---- TLS ---- */

/* Records problems of the peer's chain, and when its certificate expires. */
static int
check_certificate(int is_good, X509_STORE_CTX *store)
{
  SSL *ssl = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx());
  HttpTls *tls = SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl));
  if (X509_STORE_CTX_get_error_depth(store) == 0)
    tls->ends.peer_s = tide_tls_certificate_end_s(X509_STORE_CTX_get_current_cert(store));
  tide_tls_refusal_note(&tls->refusal, is_good, store);
  return is_good;
}

static void
note_alert(const SSL *ssl, int where, int value)
{
  HttpTls *tls = SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl));
  if ((where & SSL_CB_READ) != 0 && (where & SSL_CB_ALERT) != 0 && value >> 8 == SSL3_AL_FATAL)
    tls->alert = value & 0xff;
  if ((where & SSL_CB_HANDSHAKE_DONE) != 0)
    tls->has_shaken_hands = TRUE;
}

static CURLcode
set_up_tls(gpointer ssl_context, gpointer data)
{
  HttpTls *tls = data;
  const TideLinkSettings *settings = tls->endpoint->settings;
  g_clear_error(&tls->failure);
  if (!tide_tls_context_set_up(ssl_context, settings != NULL ? &settings->tls : NULL, &tls->failure))
    return CURLE_SSL_CERTPROBLEM;
  SSL_CTX_set_app_data((SSL_CTX *)ssl_context, tls);
  SSL_CTX_set_verify(ssl_context, SSL_VERIFY_PEER, check_certificate);
  SSL_CTX_set_info_callback(ssl_context, note_alert);
  tls->ends.own_s = tide_tls_certificate_end_s(SSL_CTX_get0_certificate(ssl_context));
  /* libcurl checks the name, too, but after the handshake and with a shorter error text. */
  return tide_tls_expect_name(SSL_CTX_get0_param(ssl_context), tide_tls_server_name(tls->endpoint))
             ? CURLE_OK
             : CURLE_SSL_CONNECT_ERROR;
}

/* Explains a connection that ended without a reason from either side. */
static void
explain_silent_end(const HttpTls *tls, GError **failure)
{
  const TideLinkSettings *settings = tls->endpoint->settings;
  gboolean has_certificate = settings != NULL && settings->tls.certificate != NULL;
  gboolean was_not_sent = g_error_matches(*failure, TIDE_ERROR, TIDE_ERROR_CONNECT);
  gboolean is_cut = was_not_sent || g_error_matches(*failure, TIDE_ERROR, TIDE_ERROR_CONNECTION_LOST);
  if (was_not_sent && strstr((*failure)->message, "wrong version number") != NULL) {
    /* OpenSSL mistakes bytes that are not TLS for an unknown version. */
    g_clear_error(failure);
    g_set_error(failure, TIDE_ERROR, TIDE_ERROR_WRONG_SERVICE,
                "gateway '%s' does not answer in TLS: it is a plain port ('http://'), or another service's",
                tls->endpoint->text);
  } else if (is_cut && tls->has_shaken_hands && !tls->has_answered && !has_certificate) {
    /* In TLS 1.3 a peer that requires our certificate reports it after the handshake, and its alert is lost if it
     * closes too soon. */
    g_prefix_error(failure, "it closed the connection right after the TLS handshake, like a gateway that requires a "
                            "client certificate ('hbase.tls.certificate'): ");
  } else if (was_not_sent && !tls->has_shaken_hands) {
    /* A plain gateway cannot parse a handshake, and closes or does not answer. */
    g_prefix_error(failure, "there was no TLS handshake, so it may be a plain port ('thrift://', 'http://'): ");
  }
}

/* Replaces @failure by the configuration change needed, if TLS has found one. */
static void
explain_tls(HttpTls *tls, GError **failure)
{
  if (tls->failure != NULL) {
    g_clear_error(failure);
    g_set_error(failure, TIDE_ERROR, TIDE_ERROR_WRONG_SERVICE, "gateway '%s': %s", tls->endpoint->text,
                tls->failure->message);
    return;
  }
  if (tls->refusal.reason == X509_V_OK && tls->alert < 0) {
    explain_silent_end(tls, failure);
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

/* ---- the connection ---- */

static void
close_http(TideConnection *connection)
{
  HttpState *state = g_steal_pointer(&connection->layer_state);
  if (state == NULL)
    return;
  tide_http_exchange_free(state->exchange);
  X509_free(state->tls.refusal.certificate);
  g_clear_error(&state->tls.failure);
  tide_gss_context_free(state->kerberos);
  tide_http_headers_free(state->headers);
  g_free(state->principal);
  g_free(state->host);
  g_free(state);
}

static const char *
do_as_of(const TideConnection *connection)
{
  const TideLinkSettings *settings = connection->endpoint->settings;
  return settings != NULL ? settings->http.do_as : NULL;
}

/* Read for each connection, so that a changed secret takes effect with the next one. */
static gboolean
read_headers(const TideEndpoint *endpoint, char ***ret_headers, GError **error)
{
  *ret_headers = NULL;
  if (endpoint->settings == NULL || !tide_secret_source_is_set(&endpoint->settings->http.headers))
    return TRUE;
  g_autoptr(GError) failure = NULL;
  *ret_headers = tide_http_headers_read(&endpoint->settings->http.headers, &failure);
  return *ret_headers != NULL || tide_fail(error, TIDE_ERROR_WRONG_SERVICE, "gateway '%s': 'hbase.http.headers': %s",
                                           endpoint->text, failure->message);
}

/* The TLS handshake happens with the first request: nothing is sent before it is complete. */
static gboolean
connect_http(TideConnection *connection, GError **error)
{
  const TideEndpoint *endpoint = connection->endpoint;
  char **headers;
  if (!read_headers(endpoint, &headers, error))
    return FALSE;
  GSocket *socket = tide_socket_connect(endpoint, &connection->limits, error);
  if (socket == NULL) {
    tide_http_headers_free(headers);
    return FALSE;
  }
  HttpState *state = g_new0(HttpState, 1);
  connection->layer_state = state;
  state->headers = headers;
  state->is_tls = endpoint->stream == &tide_tls_stream;
  state->host = g_strdup(state->is_tls ? tide_tls_server_name(endpoint) : endpoint->host);
  state->host[strcspn(state->host, "%")] = '\0'; /* an interface has no meaning for the peer */
  state->tls = (HttpTls){.endpoint = endpoint, .alert = -1};
  TideHttpTarget target = {.scheme = state->is_tls ? "https" : "http",
                           .host = state->host,
                           .port = endpoint->port,
                           .path = endpoint->path,
                           .set_up_tls = state->is_tls ? set_up_tls : NULL,
                           .data = &state->tls};
  state->exchange = tide_http_exchange_new(&target, socket, &connection->received, TIDE_REPLY_MAX_BYTES);
  return TRUE;
}

/* Always fails. */
static gboolean
give_up(TideConnection *connection, GError *failure, GError **error)
{
  HttpState *state = connection->layer_state;
  explain_tls(&state->tls, &failure);
  g_propagate_error(error, failure);
  return FALSE;
}

/* ---- authentication ---- */

/* Creates a ticket for this request only: gateways accept none twice. It is a plain Kerberos token without SPNEGO's
 * wrapping, which gateways accept as well. (transfer full): the header; NULL on error, which leaves nothing to send. */
static char *
authorize(TideConnection *connection, GError **error)
{
  HttpState *state = connection->layer_state;
  const char *set_host = connection->endpoint->settings->http.host;
  const char *host = set_host != NULL ? set_host : state->host;
  g_clear_pointer(&state->kerberos, tide_gss_context_free);
  g_free(state->principal);
  state->principal = g_strconcat("HTTP/", host, NULL);
  GError *failure = NULL;
  state->kerberos = tide_layer_get_ticket(connection, "HTTP", host, &failure);
  if (state->kerberos == NULL) {
    if (g_error_matches(failure, TIDE_ERROR, TIDE_ERROR_CONFIG)) /* as persistent as a problem with the gateway */
      failure->code = TIDE_ERROR_WRONG_SERVICE;
    g_propagate_error(error, failure);
    return NULL;
  }
  TideBytes token = tide_gss_context_first_token(state->kerberos);
  g_autofree char *text = g_base64_encode(token.data, token.len);
  return g_strconcat("Authorization: Negotiate ", text, NULL);
}

/* Verifies the gateway's part of the authentication: only the real gateway can read the ticket. */
static gboolean
check_proof(TideConnection *connection, const char *negotiate, GError **error)
{
  HttpState *state = connection->layer_state;
  if (state->kerberos == NULL)
    return TRUE;
  gsize len = 0;
  g_autofree guint8 *token = negotiate != NULL ? g_base64_decode(negotiate, &len) : NULL;
  gboolean is_complete = FALSE;
  g_auto(TideBuffer) nothing = {0};
  g_autoptr(GError) failure = NULL;
  if (len > 0 && tide_gss_mechanism.step(state->kerberos, tide_bytes(token, len), &nothing, &is_complete, &failure) &&
      is_complete)
    return TRUE;
  return tide_fail(error, TIDE_ERROR_PROTOCOL, "gateway '%s' did not prove that it is '%s': %s",
                   connection->endpoint->text, state->principal,
                   failure != NULL ? failure->message : "it answered without a token");
}

/* ---- messages ---- */

static gboolean
send_http(TideConnection *connection, const TideBytes *parts, gsize n_parts, gsize total_bytes, GError **error)
{
  HttpState *state = connection->layer_state;
  const char *do_as = do_as_of(connection);
  g_autofree char *do_as_header = do_as != NULL ? g_strconcat("doAs: ", do_as, NULL) : NULL;
  /* Jetty describes an error only to clients that accept plain text. */
  const char *headers[5 + TIDE_HTTP_HEADERS_MAX] = {"Content-Type: application/x-thrift",
                                                    "Accept: application/x-thrift, text/plain;q=0.5"};
  gsize n_headers = 2;
  g_autofree char *authorization = NULL;
  const TideLinkSettings *settings = connection->endpoint->settings;
  if (settings != NULL && tide_kerberos_settings_are_set(&settings->kerberos)) {
    authorization = authorize(connection, error);
    if (authorization == NULL)
      return FALSE;
    headers[n_headers++] = authorization;
  }
  if (do_as_header != NULL)
    headers[n_headers++] = do_as_header;
  for (char **header = state->headers; header != NULL && *header != NULL; header++)
    headers[n_headers++] = *header;
  TideHttpRequest request = {.parts = parts, .n_parts = n_parts, .total_bytes = total_bytes, .headers = headers};
  GError *failure = NULL;
  return tide_http_exchange_send(state->exchange, &request, &connection->limits, &failure) ||
         give_up(connection, failure, error);
}

/* Always fails. */
static gboolean
refuse_status(TideConnection *connection, guint status, GError **error)
{
  const HttpState *state = connection->layer_state;
  TideHttpRefusal refusal = {.peer = connection->endpoint->text,
                             .status = status,
                             .page = tide_buffer_bytes(&connection->received),
                             .request_bytes = connection->sent_bytes,
                             .principal = state->kerberos != NULL ? state->principal : NULL,
                             .do_as = do_as_of(connection)};
  if (status == 401 && state->kerberos != NULL)
    tide_kerberos_forget(state->kerberos);
  tide_http_refusal_explain(&refusal, error);
  return FALSE;
}

static gboolean
receive_http(TideConnection *connection, TideBytes *ret_message, GError **error)
{
  HttpState *state = connection->layer_state;
  TideHttpAnswer answer;
  GError *failure = NULL;
  if (!tide_http_exchange_receive(state->exchange, &connection->limits, &answer, &failure))
    return give_up(connection, failure, error);
  connection->ends = state->tls.ends;
  state->tls.has_answered = TRUE;
  if (answer.status != 200)
    return refuse_status(connection, answer.status, error);
  if (!check_proof(connection, answer.negotiate, error))
    return FALSE;
  *ret_message = tide_buffer_bytes(&connection->received);
  return tide_layer_check_message(connection, *ret_message, 0, error);
}

static gboolean
is_http_ready(TideConnection *connection)
{
  return tide_http_exchange_is_ready(((HttpState *)connection->layer_state)->exchange);
}

static char *
describe_http(const TideConnection *connection)
{
  const HttpState *state = connection->layer_state;
  const char *do_as = do_as_of(connection);
  g_autofree char *on_behalf = do_as != NULL ? g_strdup_printf(" on behalf of '%s'", do_as) : g_strdup("");
  return state->kerberos == NULL
             ? NULL
             : g_strdup_printf("SPNEGO, we are '%s'%s, it is '%s'", tide_gss_context_principal(state->kerberos),
                               on_behalf, state->principal);
}

const TideMessageLayer tide_http_messages = {
    .name = "HTTP",
    .connect = connect_http,
    .send = send_http,
    .receive = receive_http,
    .is_ready = is_http_ready,
    .describe = describe_http,
    .close = close_http,
};
