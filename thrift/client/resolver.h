/* Looks up host names under a deadline. The system's resolver has no deadline (a dead name server blocks it for 30 s
 * and more) and cannot be stopped. So each lookup runs in a thread of its own, which is abandoned when the deadline
 * passes. The number of abandoned lookups is bounded; a numeric address needs no thread. */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* Maximum number of abandoned lookups that still wait for the name server. At this limit a new lookup fails at once. */
#define TIDE_RESOLVER_ABANDONED_MAX 16

/**
 * tide_resolver_lookup: the addresses of @host, IPv6 and IPv4, in the system's order of preference.
 * @deadline_us: monotonic, as tide_now_us()
 * @cancellable: ends the wait; may be NULL
 * Returns: (transfer full) (element-type GSocketAddress): at least one, or NULL.
 * Errors: CONNECT (no such host; no answer in time), CANCELLED. Threads: any. Locks: one of its own, briefly.
 */
GPtrArray *tide_resolver_lookup(const char *host, guint16 port, gint64 deadline_us, GCancellable *cancellable,
                                GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Frees the abandoned lookups that have ended. Every lookup does this first. Returns: how many still run. */
guint tide_resolver_reap(void);

G_END_DECLS
