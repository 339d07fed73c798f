/* One connection to a gateway: whole Thrift messages under one deadline, by a message layer over a stream.
 *
 * A layer defines how messages are encoded in a connection's bytes: unframed, framed, by SASL or by HTTP. It is a table
 * of functions, which tide_message_layer_of() chooses once per gateway; its callers do not know which it is. A layer
 * uses the connection exclusively, may use its fields, and makes every call under its limits. It keeps its own data in
 * connection->layer_state until its close().
 *
 * A reply is received completely before it is read; the first reply is also checked to be well formed. Any error of
 * connect(), send() or receive() closes the connection permanently. Threads: one at a time; only the cancellable may be
 * used from any thread. */
#pragma once

#include "thrift/client/stream.h"
#include "thrift/security/kerberos_ticket.h"
#include "thrift/wire/wire.h"

G_BEGIN_DECLS

/* Maximum size of a reply. Scans request pages by rows, so this limits the size of a page of large rows. */
#define TIDE_REPLY_MAX_BYTES (64u << 20)

/* Above this size a message's memory is freed once it is sent or read: an idle connection must not keep the memory of a
 * page of large rows. */
#define TIDE_KEPT_MESSAGE_BYTES (1u << 20)

static inline void
tide_message_buffer_reset(TideBuffer *message)
{
  if (message->capacity > TIDE_KEPT_MESSAGE_BYTES)
    tide_buffer_clear_memory(message);
  tide_buffer_reset(message);
}

typedef struct TideConnection TideConnection;

struct TideMessageLayer {
  const char *name; /* "framed", for messages */

  /* Opens the stream and negotiates with the peer. Errors: of any code; because no message was sent, the caller turns
   * those with an unknown outcome into CONNECT. */
  gboolean (*connect)(TideConnection *connection, GError **error);

  /* Sends @parts, @total_bytes in total, as one message. Errors: TIMEOUT, CONNECTION_LOST, CANCELLED, WRONG_SERVICE. */
  gboolean (*send)(TideConnection *connection, const TideBytes *parts, gsize n_parts, gsize total_bytes,
                   GError **error);

  /* Waits for one whole message of at most TIDE_REPLY_MAX_BYTES that passes tide_layer_check_message(), and borrows it
   * until the next send. Errors: as for send(), and PROTOCOL; WRONG_SERVICE if another service answered. */
  gboolean (*receive)(TideConnection *connection, TideBytes *ret_message, GError **error);

  /* TRUE when a message may be sent: the peer has neither closed the connection nor sent unexpected bytes. */
  gboolean (*is_ready)(TideConnection *connection);

  /* Describes for an operator what was negotiated and between whom. (transfer full) NULL: there is nothing to
   * describe. */
  char *(*describe)(const TideConnection *connection);

  /* Frees layer_state, also after a failed connect(). NULL: there is none. */
  void (*close)(TideConnection *connection);
};

struct TideConnection {
  /* set before use, then read-only */
  const TideMessageLayer *layer;
  TideEndpoint *endpoint; /* owned */
  TideWireProtocol protocol;
  /* of the current call */
  TideCallLimits limits; /* with a reference to the cancellable */
  /* of the connection */
  gboolean is_open;
  TideStream *stream;       /* owned; NULL while closed, and with a layer that has a transport of its own */
  gpointer layer_state;     /* owned by the layer */
  TideCertificateEnds ends; /* read by the layer's connect() */
  gboolean has_answered;    /* in our protocol, or with a ticket: the peer is the requested service */
  gboolean has_received;    /* a well-formed reply: the peer speaks our protocol */
  TideBuffer received;      /* bytes from the stream since the last send() */
  TideBytes message;        /* borrowed, mostly from received; empty until the whole reply has arrived */
  gsize sent_bytes;         /* of the last message */
};

/* Creates a connection that is not yet connected. @endpoint: copied. @cancellable: a reference is taken. */
TideConnection *tide_connection_new(const TideEndpoint *endpoint, TideFraming framing, TideWireProtocol protocol,
                                    GCancellable *cancellable);
void tide_connection_free(TideConnection *connection); /* closes; NULL ok */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideConnection, tide_connection_free)

/* Starts a call or a connect: everything that follows must end by @deadline_us. Error texts count milliseconds from
 * @started_us. Both are monotonic. */
void tide_connection_begin_call(TideConnection *connection, gint64 started_us, gint64 deadline_us);

/* Errors: CONNECT, CANCELLED: nothing was sent. */
gboolean tide_connection_connect(TideConnection *connection, GError **error) G_GNUC_WARN_UNUSED_RESULT;
void tide_connection_close(TideConnection *connection);

/* TRUE when a call may be sent: connected, and the peer has neither closed the connection nor sent unexpected bytes. */
gboolean tide_connection_is_ready(TideConnection *connection);

/* Describes what the layer has negotiated, while the connection is open. (transfer full) (nullable) */
char *tide_connection_describe(const TideConnection *connection);

/* Sends @parts as one message; adds the frame header. Errors: TOO_BIG (nothing was sent), TIMEOUT, CONNECTION_LOST,
 * CANCELLED. */
gboolean tide_connection_send(TideConnection *connection, const TideBytes *parts, gsize n_parts,
                              GError **error) G_GNUC_WARN_UNUSED_RESULT;

/**
 * tide_connection_receive: wait for a whole message.
 * @ret_message: borrowed, without its frame; valid until the next call begins. The content of a frame is not checked:
 *     reply_reader.h does that
 * Errors: TIMEOUT, CONNECTION_LOST, CANCELLED, PROTOCOL; WRONG_SERVICE when the bytes are HTTP or TLS; TOO_BIG when the
 * peer refuses the request because of its size.
 */
gboolean tide_connection_receive(TideConnection *connection, TideBytes *ret_message,
                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Returns TRUE and sets WRONG_SERVICE, with the option to change, if the peer's first bytes are HTTP or TLS. */
gboolean tide_service_is_foreign(const TideEndpoint *endpoint, TideBytes begun, GError **error);

/* ---- the layers ---- */

extern const TideMessageLayer tide_unframed_messages;
extern const TideMessageLayer tide_framed_messages;
extern const TideMessageLayer tide_sasl_messages;
extern const TideMessageLayer tide_http_messages; /* thrift/http */

/* Call once in main, before any thread. */
void tide_http_init(void);

const TideMessageLayer *tide_message_layer_of(const TideEndpoint *endpoint, TideFraming framing);

/* ---- building blocks of layers ---- */

#define TIDE_FRAME_HEAD_BYTES 4u

gboolean tide_layer_open_stream(TideConnection *connection, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Gets a ticket for the gateway's principal @service/@host, with the identity of 'hbase.kerberos'. Errors: also CONFIG,
 * for an unusable keytab. */
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

/* TRUE when @message is exactly one Thrift message. Only the first reply is parsed here: the readers of later ones
 * check them. @offset: start of @message in `received`. */
gboolean tide_layer_check_message(TideConnection *connection, TideBytes message, gsize offset, GError **error);

/* Always fails: the received bytes are no reply. WRONG_SERVICE if they are the first ones and belong to another
 * service, else PROTOCOL. @problem: string literal. */
gboolean tide_layer_refuse(TideConnection *connection, const char *problem, gsize offset, GError **error);

/* TRUE when `received` has been consumed and the stream is quiet. */
gboolean tide_layer_is_quiet(TideConnection *connection);

G_END_DECLS
