/* One side of a Kerberos authentication by GSSAPI, and the keys that come of it: one for each connection.
 *
 * Credentials come from a keytab, without kinit, into a ticket cache in memory that outlives the connection, or from a
 * ticket cache of the operator's. They are acquired anew for each connection, which renews what is about to expire. The
 * peer proves itself, too, or nothing comes of it.
 *
 * Threads: one at a time. */
#pragma once

#include "thrift/security/kerberos_failure.h"
#include "thrift/security/sasl_negotiation.h"

G_BEGIN_DECLS

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

G_END_DECLS
