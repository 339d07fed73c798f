#include "thrift/security/sasl_negotiation.h"

#include "util/error.h"

#define HEAD_BYTES 5u

/* Kerberos needs one token from the gateway; a longer exchange is not a valid negotiation. */
#define TOKENS_MAX 4u

/* The announced message size: the maximum of 24 bits. The gateway ignores it (it announces 65536 itself, but
 * sends and accepts megabytes in one message). */
#define OWN_MAX_BYTES 0xffffffu

#define OFFER_BYTES 4u

/* A gateway's text is one Java sentence; more is truncated. */
#define TEXT_MAX_BYTES 300u

/* The status byte of a negotiation message. */
enum { CODE_START = 1, CODE_OK = 2, CODE_BAD = 3, CODE_ERROR = 4, CODE_COMPLETE = 5 };

static const struct {
  const char *name;
  TideSaslLayer layer;
} layers[] = {
    /* the strongest first */
    {"auth-conf", TIDE_SASL_AUTH_CONF},
    {"auth-int", TIDE_SASL_AUTH_INT},
    {"auth", TIDE_SASL_AUTH},
    {"auto", TIDE_SASL_AUTO}, /* not a bit of an offer */
};

const char *
tide_sasl_layer_name(TideSaslLayer layer)
{
  for (gsize i = 0; i < G_N_ELEMENTS(layers); i++) {
    if (layers[i].layer == layer)
      return layers[i].name;
  }
  return "?";
}

gboolean
tide_sasl_layer_parse(const char *text, TideSaslLayer *ret_layer)
{
  for (gsize i = 0; i < G_N_ELEMENTS(layers); i++) {
    if (strcmp(layers[i].name, text) == 0) {
      *ret_layer = layers[i].layer;
      return TRUE;
    }
  }
  return FALSE;
}

static void
append_message(TideBuffer *out, guint8 code, TideBytes payload)
{
  guint32 length = GUINT32_TO_BE((guint32)payload.len);
  tide_buffer_append_byte(out, code);
  tide_buffer_append(out, &length, sizeof length);
  tide_buffer_append_bytes(out, payload);
}

void
tide_sasl_negotiation_start(TideSaslNegotiation *negotiation, TideBytes token, TideBuffer *out)
{
  append_message(out, CODE_START, TIDE_BYTES_LITERAL("GSSAPI"));
  append_message(out, CODE_OK, token);
}

/* Meanings of the gateway's texts, which come from Java's SASL; measured with HBase 2.6.1 and Java 17. */
static const struct {
  const char *words;
  const char *meaning; /* with the target as its only argument */
} refusals[] = {
    {"GSS initiate failed",
     "it could not use the ticket for '%s': 'hbase.sasl.service' and 'hbase.sasl.host' must be the two parts of its "
     "'hbase.thrift.kerberos.principal', and its keytab must hold the newest key of it"},
    {"Failure to initialize security context",
     "it has no key for its own host name: the host in its 'hbase.thrift.kerberos.principal' (here '%s') must be the "
     "host name of its machine; fix the gateway's configuration or host name"},
    {"Problem with callback handler", "it accepted the ticket for '%s', but not the user or the layer of protection: "
                                      "look for 'not authorized' in its log"},
    {"Unsupported mechanism type",
     "it does not support Kerberos (GSSAPI) for '%s': it is not an HBase gateway with 'hbase.thrift.security.qop'"},
};

/* The gateway sent BAD or ERROR, with @text. Always fails. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
static gboolean
set_refused(const TideSaslNegotiation *negotiation, TideBytes text, GError **error)
{
  g_autofree char *shown = tide_bytes_printable(tide_bytes(text.data, MIN(text.len, TEXT_MAX_BYTES)));
  g_autofree char *meaning = NULL;
  for (gsize i = 0; i < G_N_ELEMENTS(refusals) && meaning == NULL; i++) {
    if (strstr(shown, refusals[i].words) != NULL)
      meaning = g_strdup_printf(refusals[i].meaning, negotiation->target);
  }
  return tide_fail(error, TIDE_ERROR_CONNECT, "gateway '%s' refused to authenticate ('%s'): %s", negotiation->peer,
                   shown, meaning != NULL ? meaning : "see its log");
}
#pragma GCC diagnostic pop

/* @begun: the bytes received instead of an answer. Always fails. */
static gboolean
set_foreign(const char *peer, TideBytes begun, GError **error)
{
  if (tide_bytes_begin_with(begun, TIDE_BYTES_LITERAL("HTTP")))
    return tide_fail(
        error, TIDE_ERROR_WRONG_SERVICE,
        "'%s' answers the SASL negotiation in HTTP: write the gateway as http://HOST:PORT/, without 'sasl:'", peer);
  if (begun.len >= 2 && begun.data[0] == 0x15 &&
      begun.data[1] == 0x03) /* a TLS server's alert for bytes that are no handshake */
    return tide_fail(
        error, TIDE_ERROR_WRONG_SERVICE,
        "'%s' answers the SASL negotiation in TLS: write the gateway as thrift+tls://HOST:PORT or https://", peer);
  return tide_fail(error, TIDE_ERROR_WRONG_SERVICE,
                   "'%s' answers the SASL negotiation with other bytes: it is not an HBase gateway with "
                   "'hbase.thrift.security.qop'; if it has no SASL, remove 'sasl:'",
                   peer);
}

/* Always fails. @problem: string literal that continues "the gateway ...". */
static gboolean
set_protocol_error(const TideSaslNegotiation *negotiation, const char *problem, GError **error)
{
  return tide_fail(error, TIDE_ERROR_CONNECT, "gateway '%s' violated the SASL protocol: it %s", negotiation->peer,
                   problem);
}

/* Always fails. */
static gboolean
set_no_layer(const TideSaslNegotiation *negotiation, guint offered, GError **error)
{
  g_autoptr(GString) names = g_string_new(NULL);
  for (gsize i = 0; i < G_N_ELEMENTS(layers); i++)
    if ((offered & layers[i].layer) != 0)
      g_string_append_printf(names, "%s'%s'", names->len > 0 ? " or " : "", layers[i].name);
  if (names->len == 0)
    return set_protocol_error(negotiation, "offers no known layer of protection", error);
  return tide_fail(error, TIDE_ERROR_CONNECT,
                   "gateway '%s' requires %s ('hbase.thrift.security.qop'), but 'hbase.sasl.qop' is '%s': set it to "
                   "auto, or change the gateway",
                   negotiation->peer, names->str, tide_sasl_layer_name(negotiation->wanted));
}

static gboolean
take_offer(TideSaslNegotiation *negotiation, guint8 *token, gsize len, TideBuffer *out, GError **error)
{
  TideBytes offer;
  if (!negotiation->mechanism->unwrap(negotiation->context, FALSE, token, len, &offer, error))
    return FALSE;
  if (offer.len != OFFER_BYTES)
    return set_protocol_error(negotiation, "offers layers of protection in other than 4 bytes", error);
  guint possible = offer.data[0] & negotiation->mechanism->layers(negotiation->context);
  if (negotiation->wanted != TIDE_SASL_AUTO)
    possible &= negotiation->wanted;
  gsize chosen = 0;
  while (chosen < G_N_ELEMENTS(layers) && (possible & layers[chosen].layer) == 0)
    chosen++;
  if (chosen == G_N_ELEMENTS(layers))
    return set_no_layer(negotiation, offer.data[0], error);
  negotiation->layer = layers[chosen].layer;
  guint32 own_max_bytes = negotiation->layer == TIDE_SASL_AUTH ? 0 : OWN_MAX_BYTES;
  guint32 choice = GUINT32_TO_BE((guint32)negotiation->layer << 24 | own_max_bytes);
  TideBytes part = tide_bytes(&choice, sizeof choice); /* no authorization id follows: tidemark acts as itself */
  g_auto(TideBuffer) wrapped = {0};
  if (!negotiation->mechanism->wrap(negotiation->context, FALSE, &part, 1, &wrapped, error))
    return FALSE;
  append_message(out, CODE_OK, tide_buffer_bytes(&wrapped));
  negotiation->has_chosen = TRUE;
  return TRUE;
}

static gboolean
take_ok(TideSaslNegotiation *negotiation, guint8 *payload, gsize len, TideBuffer *out, GError **error)
{
  if (negotiation->has_chosen)
    return set_protocol_error(negotiation, "continues after the layer was chosen", error);
  if (negotiation->is_proven)
    return take_offer(negotiation, payload, len, out, error);
  if (++negotiation->n_tokens > TOKENS_MAX)
    return set_protocol_error(negotiation, "requests more and more tokens", error);
  g_auto(TideBuffer) answer = {0};
  if (!negotiation->mechanism->step(negotiation->context, tide_bytes(payload, len), &answer, &negotiation->is_proven,
                                    error))
    return FALSE;
  append_message(out, CODE_OK, tide_buffer_bytes(&answer)); /* an empty one requests the offer */
  return TRUE;
}

static gboolean
take_message(TideSaslNegotiation *negotiation, guint8 code, guint8 *payload, gsize len, TideBuffer *out, GError **error)
{
  switch (code) {
  case CODE_OK:
    return take_ok(negotiation, payload, len, out, error);
  case CODE_COMPLETE:
    return negotiation->has_chosen ||
           set_protocol_error(negotiation, "reports completion before it has proven its identity", error);
  case CODE_BAD:
  case CODE_ERROR:
    negotiation->is_refused = !negotiation->is_proven;
    return set_refused(negotiation, tide_bytes(payload, len), error);
  default:
    return set_protocol_error(negotiation, "starts a negotiation of its own", error);
  }
}

TideSaslStatus
tide_sasl_negotiation_feed(TideSaslNegotiation *negotiation, guint8 *received, gsize len, gsize *ret_used,
                           TideBuffer *out, GError **error)
{
  *ret_used = 0;
  if (len < HEAD_BYTES)
    return TIDE_SASL_MORE;
  guint8 code = received[0];
  if (code < CODE_START || code > CODE_COMPLETE) {
    (void)set_foreign(negotiation->peer, tide_bytes(received, len), error);
    return TIDE_SASL_FAILED;
  }
  gsize payload_bytes = GUINT32_FROM_BE(tide_load_u32(received + 1));
  if (payload_bytes > TIDE_SASL_MESSAGE_MAX_BYTES) {
    (void)set_protocol_error(negotiation, "announces a message that is too long", error);
    return TIDE_SASL_FAILED;
  }
  if (len - HEAD_BYTES < payload_bytes)
    return TIDE_SASL_MORE;
  *ret_used = HEAD_BYTES + payload_bytes;
  if (!take_message(negotiation, code, received + HEAD_BYTES, payload_bytes, out, error))
    return TIDE_SASL_FAILED;
  return code == CODE_COMPLETE ? TIDE_SASL_DONE : TIDE_SASL_GO_ON;
}

void
tide_sasl_set_silent(const char *peer, gint64 waited_ms, GError **error)
{
  if (waited_ms >= 0)
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_CONNECT,
                "gateway '%s' did not answer the SASL negotiation within %" G_GINT64_FORMAT
                " ms: it is starting or overloaded, or it has no 'hbase.thrift.security.qop': then remove 'sasl:'",
                peer, waited_ms);
  else
    g_set_error(
        error, TIDE_ERROR, TIDE_ERROR_CONNECT,
        "gateway '%s' closed the connection during the SASL negotiation: it is a proxy without a running gateway, it "
        "expects TLS (write 'thrift+tls://HOST:PORT'), or it is framed, without SASL (remove 'sasl:')",
        peer);
}

gboolean
tide_sasl_is_answer(const char *peer, TideBytes begun, GError **error)
{
  /* BAD, and a text below 64 KiB: its length begins with two zero bytes */
  if (begun.len < 5 || begun.data[0] != CODE_BAD || begun.data[1] != 0 || begun.data[2] != 0)
    return FALSE;
  g_set_error(error, TIDE_ERROR, TIDE_ERROR_WRONG_SERVICE,
              "gateway '%s' requires Kerberos (SASL): set 'hbase.sasl.service' to the first part of its "
              "'hbase.thrift.kerberos.principal', and 'hbase.kerberos.keytab'",
              peer);
  return TRUE;
}
