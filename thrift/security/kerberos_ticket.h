/* Gets the ticket for a connection under a deadline, whatever the KDC does.
 *
 * Kerberos's library asks the KDC in calls that nobody can end (54 s where it accepts and never answers). So each is
 * made by a thread of its own, tide-kerberos, and whoever needs the ticket waits for it until their deadline. Those who
 * want the same (gateway, keytab, principal, cache) share a ticket cache and take turns; others are not delayed. What
 * was given up before its turn ends at once, and what the KDC holds is freed when it ends: so there is at most one such
 * thread for each gateway, beside those that somebody waits for. */
#pragma once

#include "thrift/security/gss_context.h"

#include <gio/gio.h>

G_BEGIN_DECLS

/**
 * tide_kerberos_begin: a context that has begun, under a deadline.
 * @deadline_us: monotonic
 * @cancellable: ends it early; may be NULL
 * Ownership: (transfer full). Errors: as tide_gss_context_begin(); also CONNECT when the deadline passed, CANCELLED.
 * Threads: any.
 */
TideGssContext *tide_kerberos_begin(const TideKerberosSituation *request, gint64 deadline_us, GCancellable *cancellable,
                                    GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The gateway has refused the ticket of @context: it may be for a key that the gateway no longer has. Of those that
 * want the same the next asks the KDC for another, once a minute at most. A cache of the operator's stays as it is.
 * Threads: any. */
void tide_kerberos_forget(const TideGssContext *context);

/* Frees what was given up and has ended. Returns: how many have not. */
guint tide_kerberos_reap(void);

G_END_DECLS
