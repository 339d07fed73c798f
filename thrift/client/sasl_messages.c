/* Thrift messages behind SASL: authenticated by Kerberos, then each in a frame, and in the frame as the gateway's layer
 * of protection wants it: plain (auth), signed (auth-int) or encrypted (auth-conf). One message is one frame, however
 * large: that is what gateways send and take, whatever maximum they announce. */
#include "thrift/client/message_layer.h"

#include "thrift/security/kerberos_ticket.h"
#include "thrift/security/sasl_refusal.h"
#include "util/clock.h"
#include "util/error.h"

#define FRAME_HEAD_BYTES 4u

/* What wrapping adds: 28 bytes (auth-int) or 60 (auth-conf) with the keys of today. */
#define WRAPPING_MAX_BYTES 1024u

/* Above this the memory of a wrapped request is given back once it was sent, as a reply's is. */
#define KEPT_BUFFER_BYTES (1u << 20)

typedef struct SaslState {
  TideGssContext *context; /* owned */
  TideSaslNegotiation negotiation;
  char *target;       /* owned; "hbase/gw1.example.com" */
  TideBuffer outward; /* what is to be sent next */
} SaslState;

static void
close_sasl(TideConnection *connection)
{
  SaslState *state = g_steal_pointer(&connection->layer_state);
  if (state == NULL)
    return;
  tide_gss_context_free(state->context);
  tide_buffer_clear_memory(&state->outward);
  g_free(state->target);
  g_free(state);
}

/* ---- the negotiation ---- */

static gboolean
send_outward(TideConnection *connection, GError **error)
{
  SaslState *state = connection->layer_state;
  if (state->outward.len == 0)
    return TRUE;
  TideBytes part = tide_buffer_bytes(&state->outward);
  gboolean sent = tide_connection_send(connection, TIDE_BYTES_EMPTY, &part, 1, error);
  if (state->outward.capacity > KEPT_BUFFER_BYTES)
    tide_buffer_clear_memory(&state->outward);
  tide_buffer_reset(&state->outward);
  return sent;
}

/* The peer has not said a byte: what that means. Always fails. */
static gboolean
explain_silence(const TideConnection *connection, GError *failure, GError **error)
{
  const TideCallLimits *limits = &connection->limits;
  if (g_error_matches(failure, TIDE_ERROR, TIDE_ERROR_TIMEOUT))
    tide_sasl_set_silent(limits->peer, (limits->deadline_us - limits->started_us) / TIDE_US_PER_MS, error);
  else if (g_error_matches(failure, TIDE_ERROR, TIDE_ERROR_CONNECTION_LOST))
    tide_sasl_set_silent(limits->peer, -1, error);
  else
    g_propagate_error(error, g_steal_pointer(&failure));
  g_clear_error(&failure);
  return FALSE;
}

static gboolean
receive_answer(TideConnection *connection, gboolean has_answered, GError **error)
{
  GError *failure = NULL;
  if (tide_connection_receive_more(connection, &failure))
    return TRUE;
  if (!has_answered)
    return explain_silence(connection, failure, error);
  g_propagate_error(error, failure);
  return FALSE;
}

static void
drop_received(TideConnection *connection, gsize bytes)
{
  TideBuffer *received = &connection->received;
  if (bytes == 0) /* nothing was received yet, and there is no memory */
    return;
  memmove(received->data, received->data + bytes, received->len - bytes);
  received->len -= bytes;
}

/* Up to the end of the negotiation, and of what the peer has to say: the next word is ours. */
static gboolean
negotiate(TideConnection *connection, GError **error)
{
  SaslState *state = connection->layer_state;
  tide_sasl_negotiation_start(&state->negotiation, tide_gss_context_first_token(state->context), &state->outward);
  gboolean has_answered = FALSE;
  for (;;) {
    gsize used;
    TideSaslStatus status = tide_sasl_negotiation_feed(&state->negotiation, connection->received.data,
                                                       connection->received.len, &used, &state->outward, error);
    if (status == TIDE_SASL_FAILED) {
      if (state->negotiation.is_refused)
        tide_kerberos_forget(state->context);
      return FALSE;
    }
    drop_received(connection, used);
    if (status == TIDE_SASL_DONE)
      return connection->received.len == 0 ||
             tide_connection_refuse(connection, "more than the negotiation's end", 0, error);
    if (status == TIDE_SASL_GO_ON)
      continue;
    if (!send_outward(connection, error) || !receive_answer(connection, has_answered, error))
      return FALSE;
    has_answered = TRUE;
  }
}

/* The ticket. Errors: also CONFIG, for a keytab that cannot be used. */
static gboolean
begin_authentication(TideConnection *connection, SaslState *state, GError **error)
{
  const TideEndpoint *endpoint = connection->endpoint;
  const TideLinkSettings *settings = endpoint->settings;
  g_autofree char *keytab = NULL;
  if (tide_secret_source_is_set(&settings->kerberos.keytab)) {
    keytab = tide_secret_path(&settings->kerberos.keytab, error);
    if (keytab == NULL)
      return FALSE;
  }
  TideKerberosSituation request = {
      .peer = endpoint->text,
      .service = settings->sasl.service,
      .host = settings->sasl.host != NULL ? settings->sasl.host : endpoint->host,
      .principal = settings->kerberos.principal,
      .keytab = keytab,
      .cache = settings->kerberos.cache,
  };
  state->target = g_strdup_printf("%s/%s", request.service, request.host);
  state->context = tide_kerberos_begin(&request, connection->limits.deadline_us, connection->limits.cancellable, error);
  state->negotiation = (TideSaslNegotiation){
      .mechanism = &tide_gss_mechanism,
      .context = state->context,
      .wanted = settings->sasl.qop,
      .peer = endpoint->text,
      .target = state->target,
  };
  return state->context != NULL;
}

static gboolean
connect_sasl(TideConnection *connection, GError **error)
{
  if (!tide_connection_open(connection, error))
    return FALSE;
  SaslState *state = g_new0(SaslState, 1);
  connection->layer_state = state;
  connection->has_answered = begin_authentication(connection, state, error) && negotiate(connection, error);
  return connection->has_answered;
}

/* ---- messages ---- */

static gboolean
send_sasl(TideConnection *connection, const TideBytes *parts, gsize n_parts, gsize total_bytes, GError **error)
{
  SaslState *state = connection->layer_state;
  TideSaslLayer layer = state->negotiation.layer;
  guint32 frame_head = GUINT32_TO_BE((guint32)total_bytes);
  TideBytes head = tide_bytes(&frame_head, FRAME_HEAD_BYTES);
  if (layer == TIDE_SASL_AUTH)
    return tide_connection_send(connection, head, parts, n_parts, error);
  tide_buffer_append_bytes(&state->outward, head);
  if (!tide_gss_mechanism.wrap(state->context, layer == TIDE_SASL_AUTH_CONF, parts, n_parts, &state->outward, error))
    return FALSE;
  frame_head = GUINT32_TO_BE((guint32)(state->outward.len - FRAME_HEAD_BYTES));
  memcpy(state->outward.data, &frame_head, FRAME_HEAD_BYTES);
  return send_outward(connection, error);
}

/* Takes what wraps the message off. Of the token only the message stays in received, so that nothing seems left over.
 */
static gboolean
unwrap(TideConnection *connection, TideBytes token, TideBytes *ret_message, GError **error)
{
  SaslState *state = connection->layer_state;
  TideBuffer *received = &connection->received;
  gsize token_offset = (gsize)(token.data - received->data);
  gboolean encrypted = state->negotiation.layer == TIDE_SASL_AUTH_CONF;
  if (!tide_gss_mechanism.unwrap(state->context, encrypted, received->data + token_offset, token.len, ret_message,
                                 error))
    return FALSE;
  if (received->len == token_offset + token.len)
    received->len = (gsize)(ret_message->data - received->data) + ret_message->len;
  return TRUE;
}

static gboolean
receive_sasl(TideConnection *connection, TideBytes *ret_message, GError **error)
{
  const SaslState *state = connection->layer_state;
  gboolean is_wrapped = state->negotiation.layer != TIDE_SASL_AUTH;
  if (!tide_connection_receive_until(connection, FRAME_HEAD_BYTES, error))
    return FALSE;
  gsize frame_bytes = GUINT32_FROM_BE(tide_load_u32(connection->received.data));
  if (frame_bytes == 0 || frame_bytes > TIDE_REPLY_MAX_BYTES + (is_wrapped ? WRAPPING_MAX_BYTES : 0))
    return tide_connection_refuse(connection, "the length of the frame is out of range", 0, error);
  if (!tide_connection_receive_until(connection, FRAME_HEAD_BYTES + frame_bytes, error))
    return FALSE;
  TideBytes message = tide_bytes(connection->received.data + FRAME_HEAD_BYTES, frame_bytes);
  if (is_wrapped && !unwrap(connection, message, &message, error))
    return FALSE;
  *ret_message = message;
  return tide_connection_check_message(connection, message, FRAME_HEAD_BYTES, error);
}

static char *
describe_sasl(const TideConnection *connection)
{
  const SaslState *state = connection->layer_state;
  return g_strdup_printf("%s, we are '%s', it is '%s'", tide_sasl_layer_name(state->negotiation.layer),
                         tide_gss_context_principal(state->context), state->target);
}

const TideMessageLayer tide_sasl_messages = {
    .name = "SASL",
    .connect = connect_sasl,
    .send = send_sasl,
    .receive = receive_sasl,
    .is_ready = tide_connection_is_quiet,
    .describe = describe_sasl,
    .close = close_sasl,
};
