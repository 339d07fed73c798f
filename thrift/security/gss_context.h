/* One side of a Kerberos authentication by GSSAPI, and the resulting keys: one for each connection.
 *
 * Credentials come from a keytab, without kinit, into a ticket cache in memory that outlives the connection, or from
 * the operator's ticket cache. Each connection acquires them again, which renews tickets about to expire. The
 * authentication fails unless the peer proves its identity, too.
 *
 * Threads: one at a time. */
#pragma once

#include "thrift/security/sasl_negotiation.h"

G_BEGIN_DECLS

/* The two parties of an authentication. All borrowed. */
typedef struct TideKerberosSituation {
  const char *peer;      /* the gateway, as the operator wrote it */
  const char *service;   /* 'hbase.sasl.service' */
  const char *host;      /* 'hbase.sasl.host' */
  const char *principal; /* tidemark's principal, actual or requested; NULL: that of the cache */
  const char *keytab;    /* its path; NULL: none */
  const char *cache;     /* the ticket cache's name; NULL: Kerberos's default, or, with a keytab, memory */
  gboolean answered;     /* the gateway's token was available: the KDC had done its part */
} TideKerberosSituation;

typedef struct TideGssContext TideGssContext;

/* Creates a context that has not begun. @request: copied. Ownership: (transfer full). */
TideGssContext *tide_gss_context_new(const TideKerberosSituation *request);
void tide_gss_context_free(TideGssContext *context); /* NULL ok */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideGssContext, tide_gss_context_free)

/**
 * tide_gss_context_begin: acquire credentials and the ticket for the gateway, and prepare the first token.
 * @memory_cache: the name of the cache for tickets if a keytab but no cache is configured
 * Blocks: for the KDC, for a minute and more if that hangs: only called by kerberos_ticket.c's thread.
 * Errors: CONFIG for an unusable keytab, CONNECT for all else; whole sentences.
 */
gboolean tide_gss_context_begin(TideGssContext *context, const char *memory_cache,
                                GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The first token to send. Borrowed. */
TideBytes tide_gss_context_first_token(const TideGssContext *context);

/* The memory cache that holds its tickets. Borrowed; NULL if they come from another cache. */
const char *tide_gss_context_memory_cache(const TideGssContext *context);

/* Our principal, once complete: NAME@REALM. Borrowed. */
const char *tide_gss_context_principal(const TideGssContext *context);

/* The functions expect a TideGssContext. step() never contacts the KDC; wrap() and unwrap() work once it is
 * complete. */
extern const TideSaslMechanism tide_gss_mechanism;

/* ---- kerberos_failure.c ---- */

/**
 * tide_kerberos_failure_text: explains a Kerberos failure to the operator: cause and next action.
 * @major, @minor: GSSAPI's status codes, @minor a code of Kerberos
 * @text: Kerberos's own text for @minor; may be empty
 * Ownership: (transfer full), g_free. Pure.
 */
char *tide_kerberos_failure_text(const TideKerberosSituation *situation, guint32 major, guint32 minor,
                                 const char *text) G_GNUC_WARN_UNUSED_RESULT;

/* The KDC did not answer for @waited_ms. */
char *tide_kerberos_silence_text(const TideKerberosSituation *situation, gint64 waited_ms) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
