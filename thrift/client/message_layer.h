/* How whole Thrift messages stand in a connection's bytes: unframed, or in frames. A layer is a table of functions,
 * chosen once for each gateway by tide_message_layer_of(); above it nobody knows which it is.
 *
 * A layer has a connection to itself, whose fields it may use, and makes no call but under its limits. What it makes of
 * its own hangs at connection->layer_state, until its close(). Threads: one at a time. */
#pragma once

#include "thrift/client/stream.h"
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

  /* Waits for one whole message of at most TIDE_REPLY_MAX_BYTES that is well formed, unless it is_walked_later, and
   * borrows it until the next send. Errors: as of send(), and PROTOCOL; WRONG_SERVICE where another service has
   * answered. */
  gboolean (*receive)(TideConnection *connection, TideBytes *ret_message, GError **error);

  /* TRUE when a message may be sent: the peer has neither closed nor sent anything that nobody asked for. */
  gboolean (*is_ready)(TideConnection *connection);

  /* What was agreed on with the peer, and between whom, for an operator; (transfer full). NULL: there is nothing to
   * say.
   */
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
  TideCallLimits limits;
  /* of the connection */
  TideStream *stream;       /* owned; NULL while closed, and with a layer that connects by other means */
  gpointer layer_state;     /* the layer's own */
  TideCertificateEnds ends; /* as its connect() learnt them */
  gboolean has_answered;    /* in our protocol, or by a ticket: it is the service that was wanted */
  gboolean is_walked_later; /* reply_reader.h checks all of the reply: receive() need not */
  TideBuffer received;      /* what the stream brought since the last send() */
  TideBytes message;        /* borrowed, mostly from received; empty until a whole reply is there */
  gsize sent_bytes;         /* of the last message */
};

extern const TideMessageLayer tide_unframed_messages;
extern const TideMessageLayer tide_framed_messages;
extern const TideMessageLayer tide_sasl_messages;
extern const TideMessageLayer tide_http_messages; /* thrift/http */

/* Call once in main, before any thread. */
void tide_http_init(void);

const TideMessageLayer *tide_message_layer_of(const TideEndpoint *endpoint, TideFraming framing);

/* ---- what layers over a stream are made of ---- */

/* Opens the stream. */
gboolean tide_connection_open(TideConnection *connection, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Sends @head, unless it is empty, and @parts, without joining them first. */
gboolean tide_connection_send(TideConnection *connection, TideBytes head, const TideBytes *parts, gsize n_parts,
                              GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Adds what the peer sends next to the end of received. */
gboolean tide_connection_receive_more(TideConnection *connection, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The same until there are @bytes. @bytes: bounded by the caller, who has checked what the peer says. */
gboolean tide_connection_receive_until(TideConnection *connection, gsize bytes,
                                       GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* TRUE when @message is one whole Thrift message, and nothing else, or whoever reads it finds out. @offset: where it
 * begins in what was received. */
gboolean tide_connection_check_message(TideConnection *connection, TideBytes message, gsize offset,
                                       GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Always fails: what was received is no reply; PROTOCOL, or WRONG_SERVICE when it is another service's, and the first
 * that came. @problem: string literal. */
gboolean tide_connection_refuse(TideConnection *connection, const char *problem, gsize offset, GError **error);

/* TRUE when nothing is left of what was received, and the stream is quiet. */
gboolean tide_connection_is_quiet(TideConnection *connection);

/* TRUE, and WRONG_SERVICE with what to configure, when what the peer sent first is HTTP's or TLS's. */
gboolean tide_service_is_foreign(const TideEndpoint *endpoint, TideBytes begun, GError **error);

G_END_DECLS
