/* Thrift messages over SASL: authenticated by Kerberos, then each in a frame, plain (auth), signed (auth-int) or
 * encrypted (auth-conf), as the gateway's layer of protection requires. One message is one frame, however large:
 * gateways send and accept that, whatever maximum they announce. */
#include "thrift/client/connection.h"

#include "util/clock.h"
#include "util/error.h"

/* Overhead of wrapping: 28 bytes (auth-int) or 60 (auth-conf) with today's key types. */
#define WRAPPING_MAX_BYTES 1024u

typedef struct SaslState {
  TideGssContext *context; /* owned */
  TideSaslNegotiation negotiation;
  char *target;       /* owned; "hbase/gw1.example.com" */
  TideBuffer outward; /* the next bytes to send */
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
  gboolean sent = tide_layer_send(connection, TIDE_BYTES_EMPTY, &part, 1, error);
  tide_message_buffer_reset(&state->outward);
  return sent;
}

/* A peer that never answers the negotiation may have no SASL. */
static gboolean
receive_answer(TideConnection *connection, gboolean has_answered, GError **error)
{
  const TideCallLimits *limits = &connection->limits;
  g_autoptr(GError) failure = NULL;
  if (tide_layer_receive_more(connection, &failure))
    return TRUE;
  if (!has_answered && g_error_matches(failure, TIDE_ERROR, TIDE_ERROR_TIMEOUT))
    tide_sasl_set_silent(limits->peer, (limits->deadline_us - limits->started_us) / TIDE_US_PER_MS, error);
  else if (!has_answered && g_error_matches(failure, TIDE_ERROR, TIDE_ERROR_CONNECTION_LOST))
    tide_sasl_set_silent(limits->peer, -1, error);
  else
    g_propagate_error(error, g_steal_pointer(&failure));
  return FALSE;
}

/* Completes the negotiation; the next message is the client's. */
static gboolean
negotiate(TideConnection *connection, GError **error)
{
  SaslState *state = connection->layer_state;
  TideBuffer *received = &connection->received;
  tide_sasl_negotiation_start(&state->negotiation, tide_gss_context_first_token(state->context), &state->outward);
  gboolean has_answered = FALSE;
  for (;;) {
    gsize used;
    TideSaslStatus status =
        tide_sasl_negotiation_feed(&state->negotiation, received->data, received->len, &used, &state->outward, error);
    if (status == TIDE_SASL_FAILED) {
      if (state->negotiation.is_refused)
        tide_kerberos_forget(state->context);
      return FALSE;
    }
    if (used > 0) {
      memmove(received->data, received->data + used, received->len - used);
      received->len -= used;
    }
    if (status == TIDE_SASL_DONE)
      return received->len == 0 || tide_layer_refuse(connection, "bytes after the end of the negotiation", 0, error);
    if (status == TIDE_SASL_GO_ON)
      continue;
    if (!send_outward(connection, error) || !receive_answer(connection, has_answered, error))
      return FALSE;
    has_answered = TRUE;
  }
}

static gboolean
connect_sasl(TideConnection *connection, GError **error)
{
  if (!tide_layer_open_stream(connection, error))
    return FALSE;
  SaslState *state = g_new0(SaslState, 1);
  connection->layer_state = state;
  const TideEndpoint *endpoint = connection->endpoint;
  const TideSaslSettings *settings = &endpoint->settings->sasl;
  const char *host = settings->host != NULL ? settings->host : endpoint->host;
  state->target = g_strdup_printf("%s/%s", settings->service, host);
  state->context = tide_layer_get_ticket(connection, settings->service, host, error);
  state->negotiation = (TideSaslNegotiation){
      .mechanism = &tide_gss_mechanism,
      .context = state->context,
      .wanted = settings->qop,
      .peer = endpoint->text,
      .target = state->target,
  };
  connection->has_answered = state->context != NULL && negotiate(connection, error);
  return connection->has_answered;
}

/* ---- messages ---- */

static gboolean
send_sasl(TideConnection *connection, const TideBytes *parts, gsize n_parts, gsize total_bytes, GError **error)
{
  SaslState *state = connection->layer_state;
  TideSaslLayer layer = state->negotiation.layer;
  guint32 frame_head = GUINT32_TO_BE((guint32)total_bytes);
  TideBytes head = tide_bytes(&frame_head, TIDE_FRAME_HEAD_BYTES);
  if (layer == TIDE_SASL_AUTH)
    return tide_layer_send(connection, head, parts, n_parts, error);
  tide_buffer_append_bytes(&state->outward, head);
  if (!tide_gss_mechanism.wrap(state->context, layer == TIDE_SASL_AUTH_CONF, parts, n_parts, &state->outward, error))
    return FALSE;
  frame_head = GUINT32_TO_BE((guint32)(state->outward.len - TIDE_FRAME_HEAD_BYTES));
  memcpy(state->outward.data, &frame_head, TIDE_FRAME_HEAD_BYTES);
  return send_outward(connection, error);
}

static gboolean
receive_sasl(TideConnection *connection, TideBytes *ret_message, GError **error)
{
  const SaslState *state = connection->layer_state;
  TideBuffer *received = &connection->received;
  TideSaslLayer layer = state->negotiation.layer;
  TideBytes frame;
  gsize limit_bytes = TIDE_REPLY_MAX_BYTES + (layer != TIDE_SASL_AUTH ? WRAPPING_MAX_BYTES : 0);
  if (!tide_layer_receive_frame(connection, limit_bytes, &frame, error))
    return FALSE;
  *ret_message = frame;
  if (layer != TIDE_SASL_AUTH) {
    guint8 *token = received->data + TIDE_FRAME_HEAD_BYTES;
    if (!tide_gss_mechanism.unwrap(state->context, layer == TIDE_SASL_AUTH_CONF, token, frame.len, ret_message, error))
      return FALSE;
    /* Only the message of the token stays in received, so that no bytes seem left over. */
    if (received->len == TIDE_FRAME_HEAD_BYTES + frame.len)
      received->len = (gsize)(ret_message->data - received->data) + ret_message->len;
  }
  return tide_layer_check_message(connection, *ret_message, TIDE_FRAME_HEAD_BYTES, error);
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
    .is_ready = tide_layer_is_quiet,
    .describe = describe_sasl,
    .close = close_sasl,
};
