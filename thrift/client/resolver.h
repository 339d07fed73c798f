/* Looks host names up under a deadline. The system's resolver has none (a dead name server holds it for 30 s and more)
 * and cannot be stopped, so each look-up runs in a thread of its own, which is left to itself when the deadline passes.
 * How many may be left so is bounded; a numeric address needs no thread. */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* Look-ups that were given up and still wait for the name server. With as many, a new one fails at once. */
#define TIDE_RESOLVER_ABANDONED_MAX 16

/**
 * tide_resolver_lookup: the addresses of @host, in the system's order of preference, IPv6 and IPv4.
 * @deadline_us: monotonic, as tide_now_us()
 * @cancellable: ends the wait; may be NULL
 * Returns: (transfer full) (element-type GSocketAddress): at least one, or NULL.
 * Errors: CONNECT (no such host; no answer in time), CANCELLED. Threads: any. Locks: one of its own, briefly.
 */
GPtrArray *tide_resolver_lookup(const char *host, guint16 port, gint64 deadline_us, GCancellable *cancellable,
                                GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Frees the abandoned look-ups that have ended meanwhile, as every look-up does first. Returns: how many still run. */
guint tide_resolver_reap(void);

G_END_DECLS
