/* A ThriftTransport: whole messages under one deadline, by a message layer over a stream.
 *
 * Two ways through it, on one connection, one call at a time: send() and receive() with bytes that were encoded
 * elsewhere, and Thrift's own write(), flush() and read(), which the generated client calls. Either way a reply is
 * received whole before anybody reads of it. For read() it is found to be well formed, too, as is the first one.
 *
 * After any error of send(), receive() or connect() the transport is closed for good. Threads: one at a time;
 * @cancellable alone may be used from any. */
#pragma once

#include "thrift/client/stream.h"
#include "thrift/wire/wire.h"

#include <gio/gio.h>

G_BEGIN_DECLS

typedef struct TideTransport TideTransport;
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideTransport, g_object_unref)
GType tide_transport_get_type(void);
#define TIDE_TYPE_TRANSPORT (tide_transport_get_type())

/* Not connected yet. @endpoint: copied. @cancellable: a reference is taken. Ownership: (transfer full), g_object_unref.
 */
TideTransport *tide_transport_new(const TideEndpoint *endpoint, TideFraming framing, TideWireProtocol protocol,
                                  GCancellable *cancellable);

/* Starts a call (or a connect): all that follows has to end by @deadline_us. @started_us: what the milliseconds in
 * error texts count from. Both monotonic. */
void tide_transport_begin_call(TideTransport *transport, gint64 started_us, gint64 deadline_us);

/* Errors: CONNECT, CANCELLED: nothing was sent. */
gboolean tide_transport_connect(TideTransport *transport, GError **error) G_GNUC_WARN_UNUSED_RESULT;
void tide_transport_close(TideTransport *transport);
gboolean tide_transport_is_open(const TideTransport *transport);

/* TRUE when a call may be sent: connected, and the peer has neither closed nor sent anything that nobody asked for. */
gboolean tide_transport_is_ready(TideTransport *transport);

/* Of the certificates of both sides; while it is open. */
TideCertificateEnds tide_transport_certificate_ends(const TideTransport *transport);

/* What the message layer has agreed on with the peer, while it is open. (transfer full) (nullable) */
char *tide_transport_describe(const TideTransport *transport);

/* Sends @parts as one message; a frame's head is added. Errors: TOO_BIG (nothing was sent), TIMEOUT, CONNECTION_LOST,
 * CANCELLED. */
gboolean tide_transport_send(TideTransport *transport, const TideBytes *parts, gsize n_parts,
                             GError **error) G_GNUC_WARN_UNUSED_RESULT;

/**
 * tide_transport_receive: wait for a whole message.
 * @ret_message: borrowed, without its frame; valid until the next call is begun. In a frame its bytes may be any, for
 *     reply_reader.h to judge
 * Errors: TIMEOUT, CONNECTION_LOST, CANCELLED, PROTOCOL; WRONG_SERVICE when the bytes are HTTP's or TLS's; TOO_BIG when
 * the peer refuses the request for its size.
 */
gboolean tide_transport_receive(TideTransport *transport, TideBytes *ret_message,
                                GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
