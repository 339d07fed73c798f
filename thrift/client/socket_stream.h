/* A plain socket, TCP or Unix. Only this file connects and passes bytes to the kernel.
 *
 * g_socket_set_timeout() counts whole seconds per operation, so a peer that sends a byte a second never triggers it.
 * Here each wait gets the time left until the call's deadline. GIO sends with MSG_NOSIGNAL: a closed peer is an error,
 * not a SIGPIPE. */
#pragma once

#include "thrift/client/stream.h"

G_BEGIN_DECLS

extern const TideStreamKind tide_socket_stream;

/**
 * tide_socket_connect: look up the host, and try each of its addresses until one accepts. An address that does not
 * answer uses only its share of the time, so that the next ones are tried, too.
 * Returns: (transfer full): connected, non-blocking, with TCP_NODELAY and keepalive.
 * Errors: CONNECT, also when the deadline passed: nothing was sent; CANCELLED.
 */
GSocket *tide_socket_connect(const TideEndpoint *endpoint, const TideCallLimits *limits,
                             GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* FALSE: the process or the machine has too few file descriptors left for another connection. GLib aborts the process
 * when it finds none for a cancellable's wake-up, so check here before creating one. Another thread may use up the rest
 * after the check: it therefore asks for more than needed, and an abort costs repeated work but no data. Errors:
 * CONNECT. Threads: any. */
gboolean tide_socket_check_descriptors(GError **error);

G_END_DECLS
