/* What a failure of Kerberos means for the operator: a sentence that names the cause and what to do, from the codes. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Who wanted to be whom, towards whom. All borrowed. */
typedef struct TideKerberosSituation {
  const char *peer;      /* the gateway, as the operator wrote it */
  const char *service;   /* 'hbase.sasl.service' */
  const char *host;      /* 'hbase.sasl.host' */
  const char *principal; /* who we are, or asked to be; NULL: whoever the cache has */
  const char *keytab;    /* its path; NULL: none */
  const char *cache;     /* the ticket cache's name; NULL: Kerberos's default, or, with a keytab, memory */
  gboolean answered;     /* the gateway's token was at hand: the KDC had its part behind it */
} TideKerberosSituation;

/**
 * tide_kerberos_failure_text: the sentence.
 * @major, @minor: GSSAPI's status codes, @minor a code of Kerberos
 * @text: Kerberos's own text of @minor; may be empty
 * Ownership: (transfer full), g_free. Pure.
 */
char *tide_kerberos_failure_text(const TideKerberosSituation *situation, guint32 major, guint32 minor,
                                 const char *text) G_GNUC_WARN_UNUSED_RESULT;

/* The KDC said nothing for @waited_ms. */
char *tide_kerberos_silence_text(const TideKerberosSituation *situation, gint64 waited_ms) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
