#include "thrift/security/sasl_refusal.h"

#include "util/error.h"

/* A gateway's text is a sentence of Java's; more is cut. */
#define TEXT_MAX_BYTES 300u

/* What the gateway's words mean. They come from its Java's SASL; measured with HBase 2.6.1 and Java 17. */
static const struct {
  const char *words;
  const char *meaning; /* with the target as its only argument */
} refusals[] = {
    {"GSS initiate failed",
     "it could not use the ticket for '%s': 'hbase.sasl.service' and 'hbase.sasl.host' must be the two parts of its "
     "'hbase.thrift.kerberos.principal', and its keytab must hold the newest key of it"},
    {"Failure to initialize security context",
     "it has no key for its own host name: the host in its 'hbase.thrift.kerberos.principal' (here '%s') must be what "
     "its machine calls itself; the gateway's configuration or host name is to be mended"},
    {"Problem with callback handler",
     "it took the ticket for '%s', and not the user or the layer of protection: look for 'not authorized' in its log"},
    {"Unsupported mechanism type",
     "it takes other mechanisms than Kerberos (GSSAPI) for '%s': it is no HBase gateway with "
     "'hbase.thrift.security.qop'"},
};

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
static char *
meaning_of(const char *text, const char *target)
{
  for (gsize i = 0; i < G_N_ELEMENTS(refusals); i++) {
    if (strstr(text, refusals[i].words) != NULL)
      return g_strdup_printf(refusals[i].meaning, target);
  }
  return g_strdup("its log says more");
}
#pragma GCC diagnostic pop

void
tide_sasl_set_refused(const char *peer, const char *target, TideBytes text, GError **error)
{
  g_autofree char *shown = tide_bytes_printable(tide_bytes(text.data, MIN(text.len, TEXT_MAX_BYTES)));
  g_autofree char *meaning = meaning_of(shown, target);
  g_set_error(error, TIDE_ERROR, TIDE_ERROR_CONNECT, "gateway '%s' refused to authenticate ('%s'): %s", peer, shown,
              meaning);
}

static const char *
service_of(TideBytes begun)
{
  if (tide_bytes_begin_with(begun, TIDE_BYTES_LITERAL("HTTP")))
    return "HTTP";
  if (begun.len >= 2 && begun.data[0] == 0x15 && begun.data[1] == 0x03)
    return "TLS"; /* an alert record: what a TLS server says to what is no handshake */
  return NULL;
}

void
tide_sasl_set_foreign(const char *peer, TideBytes begun, GError **error)
{
  const char *service = service_of(begun);
  if (service != NULL)
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_WRONG_SERVICE,
                "'%s' answers the SASL negotiation in %s: give the gateway as %s", peer, service,
                service[0] == 'H' ? "http://HOST:PORT/, without 'sasl:'" : "thrift+tls://HOST:PORT or https://");
  else
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_WRONG_SERVICE,
                "'%s' answers the SASL negotiation with other bytes: it is no HBase gateway with "
                "'hbase.thrift.security.qop'; remove 'sasl:' for one without",
                peer);
}

void
tide_sasl_set_silent(const char *peer, gint64 waited_ms, GError **error)
{
  if (waited_ms >= 0)
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_CONNECT,
                "gateway '%s' gave no answer to the SASL negotiation within %" G_GINT64_FORMAT
                " ms: one that is starting or overloaded is as silent, and one without 'hbase.thrift.security.qop': "
                "remove 'sasl:' for that",
                peer, waited_ms);
  else
    g_set_error(
        error, TIDE_ERROR, TIDE_ERROR_CONNECT,
        "gateway '%s' closed the connection on the SASL negotiation: a proxy with no gateway behind it does so, "
        "TLS before one (write 'thrift+tls://HOST:PORT'), and a framed one, which has no SASL (remove 'sasl:')",
        peer);
}

gboolean
tide_sasl_is_answer(const char *peer, TideBytes begun, GError **error)
{
  /* BAD, and a text below 64 KiB: its length begins with two bytes of 0 */
  if (begun.len < 5 || begun.data[0] != TIDE_SASL_CODE_BAD || begun.data[1] != 0 || begun.data[2] != 0)
    return FALSE;
  g_set_error(error, TIDE_ERROR, TIDE_ERROR_WRONG_SERVICE,
              "gateway '%s' wants Kerberos (SASL): set 'hbase.sasl.service' to the first part of its "
              "'hbase.thrift.kerberos.principal', and 'hbase.kerberos.keytab'",
              peer);
  return TRUE;
}
