/* Gets the ticket for a connection under a deadline, whatever the KDC does.
 *
 * Kerberos's library asks the KDC in calls that cannot be cancelled (54 s if the KDC accepts and never answers). So
 * each call runs in a thread of its own, tide-kerberos, and the caller waits for it until its deadline. Requests for
 * the same gateway, keytab, principal and cache share a ticket cache and run one at a time; others are not delayed. A
 * request abandoned before its turn ends at once, and one that the KDC blocks is freed when it ends. So each gateway
 * has at most one abandoned thread. */
#pragma once

#include "thrift/security/gss_context.h"

#include <gio/gio.h>

G_BEGIN_DECLS

/**
 * tide_kerberos_begin: create a context that has begun, under a deadline.
 * @deadline_us: monotonic
 * @cancellable: ends it early; may be NULL
 * Ownership: (transfer full). Errors: as tide_gss_context_begin(); also CONNECT when the deadline passed, CANCELLED.
 * Threads: any.
 */
TideGssContext *tide_kerberos_begin(const TideKerberosSituation *request, gint64 deadline_us, GCancellable *cancellable,
                                    GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Call when the gateway has refused the ticket of @context, which may be for a key that the gateway no longer has. The
 * next such request asks the KDC for a new ticket, at most once a minute. A cache of the operator's is left unchanged.
 * Threads: any. */
void tide_kerberos_forget(const TideGssContext *context);

/* Frees abandoned requests that have ended. Returns: how many still run. */
guint tide_kerberos_reap(void);

G_END_DECLS
