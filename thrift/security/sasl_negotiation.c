#include "thrift/security/sasl_negotiation.h"

#include "thrift/security/sasl_refusal.h"
#include "util/error.h"

#define HEAD_BYTES 5u

/* Kerberos takes one token of the gateway's; what goes on for longer is no negotiation. */
#define TOKENS_MAX 4u

/* What we say we take in one message, the most that the 24 bits can say. The gateway ignores it (it announces 65536
 * itself, and takes and sends megabytes in one). */
#define OWN_MAX_BYTES 0xffffffu

#define OFFER_BYTES 4u

static const TideSaslLayer strongest_first[] = {TIDE_SASL_AUTH_CONF, TIDE_SASL_AUTH_INT, TIDE_SASL_AUTH};

static const struct {
  const char *name;
  TideSaslLayer layer;
} layer_names[] = {
    {"auto", TIDE_SASL_AUTO},
    {"auth", TIDE_SASL_AUTH},
    {"auth-int", TIDE_SASL_AUTH_INT},
    {"auth-conf", TIDE_SASL_AUTH_CONF},
};

const char *
tide_sasl_layer_name(TideSaslLayer layer)
{
  for (gsize i = 0; i < G_N_ELEMENTS(layer_names); i++) {
    if (layer_names[i].layer == layer)
      return layer_names[i].name;
  }
  return "?";
}

gboolean
tide_sasl_layer_parse(const char *text, TideSaslLayer *ret_layer)
{
  for (gsize i = 0; i < G_N_ELEMENTS(layer_names); i++) {
    if (strcmp(layer_names[i].name, text) == 0) {
      *ret_layer = layer_names[i].layer;
      return TRUE;
    }
  }
  return FALSE;
}

static guint32
read_u32(const guint8 *at)
{
  return GUINT32_FROM_BE(tide_load_u32(at));
}

static void
append_message(TideBuffer *out, TideSaslCode code, TideBytes payload)
{
  guint32 length = GUINT32_TO_BE((guint32)payload.len);
  tide_buffer_append_byte(out, (guint8)code);
  tide_buffer_append(out, &length, sizeof length);
  tide_buffer_append_bytes(out, payload);
}

void
tide_sasl_negotiation_start(TideSaslNegotiation *negotiation, TideBytes token, TideBuffer *out)
{
  append_message(out, TIDE_SASL_CODE_START, TIDE_BYTES_LITERAL("GSSAPI"));
  append_message(out, TIDE_SASL_CODE_OK, token);
}

/* Always fails. @problem: string literal, the end of "the gateway ...". */
static gboolean
set_protocol_error(const TideSaslNegotiation *negotiation, const char *problem, GError **error)
{
  g_set_error(error, TIDE_ERROR, TIDE_ERROR_CONNECT, "gateway '%s' broke the rules of SASL: it %s", negotiation->peer,
              problem);
  return FALSE;
}

static gboolean
take_token(TideSaslNegotiation *negotiation, TideBytes token, TideBuffer *out, GError **error)
{
  if (++negotiation->n_tokens > TOKENS_MAX)
    return set_protocol_error(negotiation, "asks for ever more tokens", error);
  g_auto(TideBuffer) answer = {0};
  if (!negotiation->mechanism->step(negotiation->context, token, &answer, &negotiation->is_proven, error))
    return FALSE;
  append_message(out, TIDE_SASL_CODE_OK, tide_buffer_bytes(&answer)); /* an empty one asks for the offer */
  return TRUE;
}

/* Always fails. */
static gboolean
set_no_layer(const TideSaslNegotiation *negotiation, guint offered, GError **error)
{
  g_autoptr(GString) names = g_string_new(NULL);
  for (gsize i = 0; i < G_N_ELEMENTS(strongest_first); i++) {
    if ((offered & strongest_first[i]) != 0)
      g_string_append_printf(names, "%s'%s'", names->len > 0 ? " or " : "", tide_sasl_layer_name(strongest_first[i]));
  }
  if (names->len == 0)
    return set_protocol_error(negotiation, "offers no layer of protection that SASL knows", error);
  g_set_error(
      error, TIDE_ERROR, TIDE_ERROR_CONNECT,
      "gateway '%s' requires %s ('hbase.thrift.security.qop'), and 'hbase.sasl.qop' is '%s': set it to auto, or "
      "change the gateway",
      negotiation->peer, names->str, tide_sasl_layer_name(negotiation->wanted));
  return FALSE;
}

static gboolean
choose_layer(TideSaslNegotiation *negotiation, guint offered, GError **error)
{
  guint possible = offered & negotiation->mechanism->layers(negotiation->context);
  if (negotiation->wanted != TIDE_SASL_AUTO)
    possible &= negotiation->wanted;
  for (gsize i = 0; i < G_N_ELEMENTS(strongest_first); i++) {
    if ((possible & strongest_first[i]) != 0) {
      negotiation->layer = strongest_first[i];
      return TRUE;
    }
  }
  return set_no_layer(negotiation, offered, error);
}

static gboolean
take_offer(TideSaslNegotiation *negotiation, guint8 *token, gsize len, TideBuffer *out, GError **error)
{
  TideBytes offer;
  if (!negotiation->mechanism->unwrap(negotiation->context, FALSE, token, len, &offer, error))
    return FALSE;
  if (offer.len != OFFER_BYTES)
    return set_protocol_error(negotiation, "offers layers of protection in other than 4 bytes", error);
  if (!choose_layer(negotiation, offer.data[0], error))
    return FALSE;
  guint32 own_max_bytes = negotiation->layer == TIDE_SASL_AUTH ? 0 : OWN_MAX_BYTES;
  guint32 choice = GUINT32_TO_BE((guint32)negotiation->layer << 24 | own_max_bytes);
  TideBytes part = tide_bytes(&choice, sizeof choice); /* no authorization id behind it: we act as who we are */
  g_auto(TideBuffer) wrapped = {0};
  if (!negotiation->mechanism->wrap(negotiation->context, FALSE, &part, 1, &wrapped, error))
    return FALSE;
  append_message(out, TIDE_SASL_CODE_OK, tide_buffer_bytes(&wrapped));
  negotiation->has_chosen = TRUE;
  return TRUE;
}

static gboolean
take_ok(TideSaslNegotiation *negotiation, guint8 *payload, gsize len, TideBuffer *out, GError **error)
{
  if (negotiation->has_chosen)
    return set_protocol_error(negotiation, "goes on after the layer was chosen", error);
  if (negotiation->is_proven)
    return take_offer(negotiation, payload, len, out, error);
  return take_token(negotiation, tide_bytes(payload, len), out, error);
}

static TideSaslStatus
take_message(TideSaslNegotiation *negotiation, TideSaslCode code, guint8 *payload, gsize len, TideBuffer *out,
             GError **error)
{
  switch (code) {
  case TIDE_SASL_CODE_OK:
    return take_ok(negotiation, payload, len, out, error) ? TIDE_SASL_GO_ON : TIDE_SASL_FAILED;
  case TIDE_SASL_CODE_COMPLETE:
    if (negotiation->has_chosen)
      return TIDE_SASL_DONE;
    (void)set_protocol_error(negotiation, "says that all is settled before it has proven who it is", error);
    return TIDE_SASL_FAILED;
  case TIDE_SASL_CODE_BAD:
  case TIDE_SASL_CODE_ERROR:
    negotiation->is_refused = !negotiation->is_proven;
    tide_sasl_set_refused(negotiation->peer, negotiation->target, tide_bytes(payload, len), error);
    return TIDE_SASL_FAILED;
  case TIDE_SASL_CODE_START:
    break;
  }
  (void)set_protocol_error(negotiation, "begins a negotiation of its own", error);
  return TIDE_SASL_FAILED;
}

TideSaslStatus
tide_sasl_negotiation_feed(TideSaslNegotiation *negotiation, guint8 *received, gsize len, gsize *ret_used,
                           TideBuffer *out, GError **error)
{
  *ret_used = 0;
  if (len < HEAD_BYTES)
    return TIDE_SASL_MORE;
  guint8 code = received[0];
  if (code < TIDE_SASL_CODE_START || code > TIDE_SASL_CODE_COMPLETE) {
    tide_sasl_set_foreign(negotiation->peer, tide_bytes(received, len), error);
    return TIDE_SASL_FAILED;
  }
  gsize payload_bytes = read_u32(received + 1);
  if (payload_bytes > TIDE_SASL_MESSAGE_MAX_BYTES) {
    (void)set_protocol_error(negotiation, "announces a message that is too long", error);
    return TIDE_SASL_FAILED;
  }
  if (len - HEAD_BYTES < payload_bytes)
    return TIDE_SASL_MORE;
  *ret_used = HEAD_BYTES + payload_bytes;
  return take_message(negotiation, (TideSaslCode)code, received + HEAD_BYTES, payload_bytes, out, error);
}
