/* One connection to a gateway: whole Thrift messages under one deadline, by a message layer over a stream.
 *
 * A layer is how messages stand in a connection's bytes: unframed, in frames, behind SASL or over HTTP. It is a table
 * of functions, chosen once for each gateway by tide_message_layer_of(); above it nobody knows which it is. It has the
 * connection to itself, whose fields it may use, and makes no call but under its limits. What it makes of its own hangs
 * at connection->layer_state, until its close().
 *
 * A reply is received whole before anybody reads of it; the first one is found to be well formed, too. After any error
 * of connect(), send() or receive() the connection is closed for good. Threads: one at a time; the cancellable alone
 * may be used from any. */
#pragma once

#include "thrift/client/stream.h"
#include "thrift/security/kerberos_ticket.h"
#include "thrift/wire/wire.h"

G_BEGIN_DECLS

/* No reply is longer; a page of a scan is asked for in rows, so this bounds what a page of large rows may take. */
#define TIDE_REPLY_MAX_BYTES (64u << 20)

typedef struct TideConnection TideConnection;

struct TideMessageLayer {
  const char *name; /* "framed", for texts */

  /* Opens the stream, and agrees with the peer on what follows. Errors: of any code; as no message was sent, the caller
   * makes CONNECT of those that leave that open. */
  gboolean (*connect)(TideConnection *connection, GError **error);

  /* Sends @parts, @total_bytes together, as one message. Errors: TIMEOUT, CONNECTION_LOST, CANCELLED, WRONG_SERVICE. */
  gboolean (*send)(TideConnection *connection, const TideBytes *parts, gsize n_parts, gsize total_bytes,
                   GError **error);

  /* Waits for one whole message of at most TIDE_REPLY_MAX_BYTES, which tide_layer_check_message() accepts, and borrows
   * it until the next send. Errors: as of send(), and PROTOCOL; WRONG_SERVICE where another service has answered. */
  gboolean (*receive)(TideConnection *connection, TideBytes *ret_message, GError **error);

  /* TRUE when a message may be sent: the peer has neither closed nor sent anything that nobody asked for. */
  gboolean (*is_ready)(TideConnection *connection);

  /* What was agreed on with the peer, and between whom, for an operator; (transfer full). NULL: there is nothing to
   * say. */
  char *(*describe)(const TideConnection *connection);

  /* Frees layer_state, also after a connect() that failed half way. NULL: there is none. */
  void (*close)(TideConnection *connection);
};

struct TideConnection {
  /* set before use, then read-only */
  const TideMessageLayer *layer;
  TideEndpoint *endpoint; /* owned */
  TideWireProtocol protocol;
  /* of the call under way */
  TideCallLimits limits; /* with a reference to the cancellable */
  /* of the connection */
  gboolean is_open;
  TideStream *stream;       /* owned; NULL while closed, and with a layer that connects by other means */
  gpointer layer_state;     /* the layer's own */
  TideCertificateEnds ends; /* as the layer's connect() learnt them */
  gboolean has_answered;    /* in our protocol, or by a ticket: it is the service that was wanted */
  gboolean has_received;    /* a reply: that it was well formed says that the peer speaks our protocol */
  TideBuffer received;      /* what the stream brought since the last send() */
  TideBytes message;        /* borrowed, mostly from received; empty until a whole reply is there */
  gsize sent_bytes;         /* of the last message */
};

/* Not connected yet. @endpoint: copied. @cancellable: a reference is taken. */
TideConnection *tide_connection_new(const TideEndpoint *endpoint, TideFraming framing, TideWireProtocol protocol,
                                    GCancellable *cancellable);
void tide_connection_free(TideConnection *connection); /* closes; NULL ok */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideConnection, tide_connection_free)

/* Starts a call (or a connect): all that follows has to end by @deadline_us. @started_us: what the milliseconds in
 * error texts count from. Both monotonic. */
void tide_connection_begin_call(TideConnection *connection, gint64 started_us, gint64 deadline_us);

/* Errors: CONNECT, CANCELLED: nothing was sent. */
gboolean tide_connection_connect(TideConnection *connection, GError **error) G_GNUC_WARN_UNUSED_RESULT;
void tide_connection_close(TideConnection *connection);

/* TRUE when a call may be sent: connected, and the peer has neither closed nor sent anything that nobody asked for. */
gboolean tide_connection_is_ready(TideConnection *connection);

/* What the layer has agreed on with the peer, while it is open. (transfer full) (nullable) */
char *tide_connection_describe(const TideConnection *connection);

/* Sends @parts as one message; a frame's head is added. Errors: TOO_BIG (nothing was sent), TIMEOUT, CONNECTION_LOST,
 * CANCELLED. */
gboolean tide_connection_send(TideConnection *connection, const TideBytes *parts, gsize n_parts,
                              GError **error) G_GNUC_WARN_UNUSED_RESULT;

/**
 * tide_connection_receive: wait for a whole message.
 * @ret_message: borrowed, without its frame; valid until the next call is begun. In a frame its bytes may be any, for
 *     reply_reader.h to judge
 * Errors: TIMEOUT, CONNECTION_LOST, CANCELLED, PROTOCOL; WRONG_SERVICE when the bytes are HTTP's or TLS's; TOO_BIG when
 * the peer refuses the request for its size.
 */
gboolean tide_connection_receive(TideConnection *connection, TideBytes *ret_message,
                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* TRUE, and WRONG_SERVICE with what to configure, when what the peer sent first is HTTP's or TLS's. */
gboolean tide_service_is_foreign(const TideEndpoint *endpoint, TideBytes begun, GError **error);

/* ---- the layers ---- */

extern const TideMessageLayer tide_unframed_messages;
extern const TideMessageLayer tide_framed_messages;
extern const TideMessageLayer tide_sasl_messages;
extern const TideMessageLayer tide_http_messages; /* thrift/http */

/* Call once in main, before any thread. */
void tide_http_init(void);

const TideMessageLayer *tide_message_layer_of(const TideEndpoint *endpoint, TideFraming framing);

/* ---- what layers are made of ---- */

#define TIDE_FRAME_HEAD_BYTES 4u

/* Opens the stream. */
gboolean tide_layer_open_stream(TideConnection *connection, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Gets a ticket for the gateway's principal @service/@host, as 'hbase.kerberos' says who we are. Errors: also CONFIG,
 * for a keytab that cannot be used. */
TideGssContext *tide_layer_get_ticket(TideConnection *connection, const char *service, const char *host,
                                      GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Sends @head, unless it is empty, and @parts, without joining them first. */
gboolean tide_layer_send(TideConnection *connection, TideBytes head, const TideBytes *parts, gsize n_parts,
                         GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Appends the peer's next bytes to `received`. */
gboolean tide_layer_receive_more(TideConnection *connection, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Receives a frame of at most @limit_bytes. @ret_frame: borrowed from `received`, without its head. */
gboolean tide_layer_receive_frame(TideConnection *connection, gsize limit_bytes, TideBytes *ret_frame,
                                  GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* TRUE when @message is one whole Thrift message, and nothing else. Only the first reply is walked over: later ones are
 * checked by whoever reads them. @offset: where it begins in `received`. */
gboolean tide_layer_check_message(TideConnection *connection, TideBytes message, gsize offset, GError **error);

/* Always fails: what was received is no reply; PROTOCOL, or WRONG_SERVICE when it is another service's, and the first
 * that came. @problem: string literal. */
gboolean tide_layer_refuse(TideConnection *connection, const char *problem, gsize offset, GError **error);

/* TRUE when nothing is left of what was received, and the stream is quiet. */
gboolean tide_layer_is_quiet(TideConnection *connection);

G_END_DECLS
