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

G_END_DECLS
