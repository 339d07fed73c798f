/* A plain socket, TCP or Unix: the only file that connects, and that hands bytes to the kernel.
 *
 * g_socket_set_timeout() counts whole seconds for each operation, so a peer that sends a byte a second never trips it.
 * Here each wait gets what is left until the call's deadline. GIO sends with MSG_NOSIGNAL: a peer that went away is an
 * error, not a SIGPIPE. */
#pragma once

#include "thrift/client/stream.h"

G_BEGIN_DECLS

extern const TideStreamKind tide_socket_stream;

/**
 * tide_socket_connect: look up the host, and try each of its addresses until one accepts.
 * An address that does not answer may use up only its share of the time, so that the next ones are tried, too.
 * Returns: (transfer full): connected, non-blocking, with TCP_NODELAY and keepalive.
 * Errors: CONNECT, also when the deadline passed: nothing was sent; CANCELLED.
 */
GSocket *tide_socket_connect(const TideEndpoint *endpoint, const TideCallLimits *limits,
                             GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* FALSE: the process or the machine has too few file descriptors left for one more connection. GLib ends the process
 * when it finds none for a cancellable's wake-up, so whoever makes one asks here first. Between the answer and the use
 * another thread may take what was left: the check asks for more than is needed, and an end there costs repeated work,
 * no data. Errors: CONNECT. Threads: any. */
gboolean tide_socket_check_descriptors(GError **error);

G_END_DECLS
