/* Thrift messages over HTTP: each is the body of a POST, and its reply the body of the answer. There is no framing, and
 * gateways know only the binary protocol here. */
#include "thrift/client/connection.h"
#include "thrift/client/socket_stream.h"
#include "thrift/client/tls_stream.h"
#include "thrift/http/http_exchange.h"
#include "thrift/http/http_refusal.h"
#include "thrift/http/http_tls.h"
#include "thrift/security/kerberos_ticket.h"
#include "util/error.h"

void
tide_http_init(void)
{
  (void)curl_global_init(CURL_GLOBAL_DEFAULT);
}

typedef struct HttpState {
  TideHttpExchange *exchange; /* owned */
  char *host;                 /* owned; in requests, and what a certificate must be for */
  gboolean is_tls;
  TideHttpTls tls;
  TideGssContext *kerberos; /* owned; of the request under way; NULL: it is not authenticated */
  char *principal;          /* owned; the gateway's, as we think */
} HttpState;

static void
close_http(TideConnection *connection)
{
  HttpState *state = g_steal_pointer(&connection->layer_state);
  if (state == NULL)
    return;
  tide_http_exchange_free(state->exchange);
  tide_http_tls_clear(&state->tls);
  tide_gss_context_free(state->kerberos);
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

/* The TLS handshake comes with the first request: until that is over nothing was sent. */
static gboolean
connect_http(TideConnection *connection, GError **error)
{
  const TideEndpoint *endpoint = connection->endpoint;
  GSocket *socket = tide_socket_connect(endpoint, &connection->limits, error);
  if (socket == NULL)
    return FALSE;
  HttpState *state = g_new0(HttpState, 1);
  connection->layer_state = state;
  state->is_tls = endpoint->stream == &tide_tls_stream;
  state->host = g_strdup(state->is_tls ? tide_tls_server_name(endpoint) : endpoint->host);
  state->host[strcspn(state->host, "%")] = '\0'; /* an interface means nothing to the peer */
  tide_http_tls_init(&state->tls, endpoint);
  TideHttpTarget target = {.scheme = state->is_tls ? "https" : "http",
                           .host = state->host,
                           .port = endpoint->port,
                           .path = endpoint->path,
                           .set_up_tls = state->is_tls ? tide_http_tls_set_up : NULL,
                           .data = &state->tls};
  state->exchange = tide_http_exchange_new(&target, socket, &connection->received, TIDE_REPLY_MAX_BYTES);
  return TRUE;
}

/* Always fails. */
static gboolean
give_up(TideConnection *connection, GError *failure, GError **error)
{
  HttpState *state = connection->layer_state;
  tide_http_tls_explain(&state->tls, &failure);
  g_propagate_error(error, failure);
  return FALSE;
}

/* ---- who we are ---- */

static gboolean
wants_kerberos(const TideLinkSettings *settings)
{
  return settings != NULL && tide_kerberos_settings_are_set(&settings->kerberos);
}

/* A ticket for this request alone: gateways take none twice. It is Kerberos's own, without SPNEGO's wrapping, which
 * they take as well. (transfer full): the header; NULL on error, of which none was sent. */
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
    if (g_error_matches(failure, TIDE_ERROR, TIDE_ERROR_CONFIG)) /* as lasting as what is wrong with the gateway */
      failure->code = TIDE_ERROR_WRONG_SERVICE;
    g_propagate_error(error, failure);
    return NULL;
  }
  TideBytes token = tide_gss_context_first_token(state->kerberos);
  g_autofree char *text = g_base64_encode(token.data, token.len);
  return g_strconcat("Authorization: Negotiate ", text, NULL);
}

/* The gateway's side of it: who else could have read the ticket? */
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
  g_set_error(error, TIDE_ERROR, TIDE_ERROR_PROTOCOL, "gateway '%s' does not prove that it is '%s': %s",
              connection->endpoint->text, state->principal,
              failure != NULL ? failure->message : "it answers without a token");
  return FALSE;
}

/* ---- messages ---- */

static gboolean
send_http(TideConnection *connection, const TideBytes *parts, gsize n_parts, gsize total_bytes, GError **error)
{
  HttpState *state = connection->layer_state;
  const char *do_as = do_as_of(connection);
  g_autofree char *do_as_header = do_as != NULL ? g_strconcat("doAs: ", do_as, NULL) : NULL;
  /* Jetty has words for what is wrong only where plain text is wanted. */
  const char *headers[5] = {"Content-Type: application/x-thrift", "Accept: application/x-thrift, text/plain;q=0.5"};
  gsize n_headers = 2;
  g_autofree char *authorization = NULL;
  if (wants_kerberos(connection->endpoint->settings)) {
    authorization = authorize(connection, error);
    if (authorization == NULL)
      return FALSE;
    headers[n_headers++] = authorization;
  }
  if (do_as_header != NULL)
    headers[n_headers++] = do_as_header;
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
  HttpState *state = connection->layer_state;
  return tide_http_exchange_is_ready(state->exchange);
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
