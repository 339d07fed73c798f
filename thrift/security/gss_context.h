/* One side of a Kerberos authentication by GSSAPI, and the keys that come of it: one for each connection.
 *
 * Credentials come from a keytab, without kinit, into a ticket cache in memory that outlives the connection, or from a
 * ticket cache of the operator's. They are acquired anew for each connection, which renews what is about to expire. The
 * peer proves itself, too, or nothing comes of it.
 *
 * Threads: one at a time. */
#pragma once

#include "thrift/security/sasl_negotiation.h"

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

typedef struct TideGssContext TideGssContext;

/* Nothing is done yet. @request: copied. Ownership: (transfer full). */
TideGssContext *tide_gss_context_new(const TideKerberosSituation *request);
void tide_gss_context_free(TideGssContext *context); /* NULL ok */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideGssContext, tide_gss_context_free)

/**
 * tide_gss_context_begin: acquire credentials and the ticket for the gateway; then the first token is ready.
 * @memory_cache: the name under which tickets are kept where there is a keytab and no cache
 * Blocks: for the KDC, for a minute and more where it hangs: only to be called by kerberos_ticket.c's thread.
 * Errors: CONFIG for a keytab that cannot be used, CONNECT for all else; whole sentences.
 */
gboolean tide_gss_context_begin(TideGssContext *context, const char *memory_cache,
                                GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The token to begin with. Borrowed. */
TideBytes tide_gss_context_first_token(const TideGssContext *context);

/* The cache in memory that its tickets are from. Borrowed; NULL when they are from another. */
const char *tide_gss_context_memory_cache(const TideGssContext *context);

/* Who we are, once complete: NAME@REALM. Borrowed. */
const char *tide_gss_context_principal(const TideGssContext *context);

/* The functions take a TideGssContext. step() never asks the KDC; wrap() and unwrap() work once it is complete. */
extern const TideSaslMechanism tide_gss_mechanism;

/* ---- kerberos_failure.c ---- */

/**
 * tide_kerberos_failure_text: what a failure of Kerberos means for the operator: the cause and what to do.
 * @major, @minor: GSSAPI's status codes, @minor a code of Kerberos
 * @text: Kerberos's own text of @minor; may be empty
 * Ownership: (transfer full), g_free. Pure.
 */
char *tide_kerberos_failure_text(const TideKerberosSituation *situation, guint32 major, guint32 minor,
                                 const char *text) G_GNUC_WARN_UNUSED_RESULT;

/* The KDC said nothing for @waited_ms. */
char *tide_kerberos_silence_text(const TideKerberosSituation *situation, gint64 waited_ms) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
