/* Non-blocking stream sockets under one deadline: connect, send and receive for the whole of a call.
 *
 * g_socket_set_timeout() counts whole seconds for each operation, so a peer that sends a byte a second never trips it.
 * Here each wait gets what is left until the call's deadline. GIO sends with MSG_NOSIGNAL: a peer that went away is an
 * error, not a SIGPIPE. */
#pragma once

#include "thrift/client/endpoint.h"

#include <gio/gio.h>

G_BEGIN_DECLS

/* One call's frame; every text names the peer and the milliseconds since started_us. */
typedef struct TideCallLimits {
  const char *peer; /* borrowed: the endpoint's text */
  gint64 started_us;
  gint64 deadline_us;
  GCancellable *cancellable; /* borrowed; may be NULL */
} TideCallLimits;

/**
 * tide_stream_connect: look up the host, and try each of its addresses until one accepts.
 * An address that does not answer may use up only its share of the time, so that the next ones are tried, too.
 * Returns: (transfer full): connected, non-blocking, with TCP_NODELAY and keepalive.
 * Errors: CONNECT, also when the deadline passed: nothing was sent; CANCELLED.
 */
GSocket *tide_stream_connect(const TideEndpoint *endpoint, const TideCallLimits *limits,
                             GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Sends all of @vectors with as few system calls as the kernel takes them in; changes @vectors.
 * Errors: TIMEOUT, CONNECTION_LOST, CANCELLED; how much was sent is not known then. */
gboolean tide_stream_send(GSocket *socket, GOutputVector *vectors, gsize n_vectors, const TideCallLimits *limits,
                          GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Waits for bytes, and takes what is there, up to @size. 0 on error: TIMEOUT, CONNECTION_LOST (also when the peer
 * closed), CANCELLED. */
gsize tide_stream_receive(GSocket *socket, guint8 *buffer, gsize size, const TideCallLimits *limits,
                          GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* TRUE when the connection stands and nothing waits to be read: between two calls anything else is wrong. */
gboolean tide_stream_is_quiet(GSocket *socket);

G_END_DECLS
