/* The SASL negotiation with a hostile gateway. The first byte chooses what is wanted (bits 0 and 1), what the mechanism
 * has keys for (bits 2 to 4) and the size of the pieces (the rest); what follows is what the gateway sends. The
 * mechanism is made up: a token that begins with "P" proves the peer, one with "F" is refused, and "W" stands before
 * what is wrapped. */
#include "thrift/security/sasl_negotiation.h"

#include <stdint.h>

/* What we may be made to send: the opening, an answer to each of a few tokens, the choice. */
#define SENT_MAX_BYTES 200u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static gboolean
fake_step(gpointer context, TideBytes token, TideBuffer *out, gboolean *ret_complete, GError **error)
{
  if (token.len > 0 && token.data[0] == 'F') {
    g_set_error_literal(error, g_quark_from_static_string("fuzz"), 0, "refused");
    return FALSE;
  }
  *ret_complete = token.len > 0 && token.data[0] == 'P';
  tide_buffer_append(out, "next", *ret_complete ? 0 : 4);
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
  for (gsize i = 0; i < n_parts; i++)
    tide_buffer_append_bytes(out, parts[i]);
  return TRUE;
}

static gboolean
fake_unwrap(gpointer context, gboolean encrypted, guint8 *token, gsize len, TideBytes *ret_plain, GError **error)
{
  if (len == 0 || token[0] != 'W') {
    g_set_error_literal(error, g_quark_from_static_string("fuzz"), 0, "forged");
    return FALSE;
  }
  token[0] = 0; /* it may change what it is given */
  *ret_plain = tide_bytes(token + 1, len - 1);
  return TRUE;
}

static const TideSaslMechanism mechanism = {fake_step, fake_layers, fake_wrap, fake_unwrap};
static const TideSaslLayer wishes[] = {TIDE_SASL_AUTO, TIDE_SASL_AUTH, TIDE_SASL_AUTH_INT, TIDE_SASL_AUTH_CONF};

/* Returns: the layer; 0 when it came to none. @ret_used: how far the negotiation went. */
static TideSaslLayer
negotiate(guint8 choice, TideBytes server, gsize step, gsize *ret_used)
{
  guint keys = (choice >> 2 & 7u) | TIDE_SASL_AUTH;
  TideSaslNegotiation negotiation = {
      .mechanism = &mechanism, .context = &keys, .wanted = wishes[choice & 3], .peer = "gw:9090", .target = "hbase/gw"};
  g_auto(TideBuffer) received = {0}, sent = {0};
  tide_buffer_append_bytes(&received, server);
  tide_sasl_negotiation_start(&negotiation, TIDE_BYTES_LITERAL("token"), &sent);
  TideSaslStatus status = TIDE_SASL_MORE;
  gsize have = 0, used = 0;
  g_autoptr(GError) error = NULL;
  while (status == TIDE_SASL_GO_ON || (status == TIDE_SASL_MORE && have < server.len)) {
    if (status == TIDE_SASL_MORE)
      have = MIN(have + step, server.len);
    gsize message_bytes;
    status = tide_sasl_negotiation_feed(&negotiation, received.data + used, have - used, &message_bytes, &sent, &error);
    g_assert(message_bytes <= have - used && (status != TIDE_SASL_MORE || message_bytes == 0));
    g_assert(status != TIDE_SASL_GO_ON || message_bytes > 0);
    g_assert((status == TIDE_SASL_FAILED) == (error != NULL));
    used += message_bytes;
  }
  g_assert(sent.len <= SENT_MAX_BYTES);
  *ret_used = used;
  if (status != TIDE_SASL_DONE)
    return TIDE_SASL_AUTO;
  g_assert(negotiation.is_proven && negotiation.has_chosen);
  g_assert((negotiation.layer & keys) != 0 && (negotiation.layer & (negotiation.layer - 1)) == 0);
  g_assert(negotiation.wanted == TIDE_SASL_AUTO || negotiation.wanted == negotiation.layer);
  return negotiation.layer;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  if (size < 1)
    return 0;
  TideBytes server = tide_bytes(data + 1, size - 1);
  gsize whole_used, pieces_used;
  TideSaslLayer whole = negotiate(data[0], server, server.len + 1, &whole_used);
  TideSaslLayer pieces = negotiate(data[0], server, 1 + (data[0] >> 5), &pieces_used);
  g_assert(whole == pieces && whole_used == pieces_used);
  return 0;
}
