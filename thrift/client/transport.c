#include "thrift/client/transport.h"

#include "thrift/client/stream_socket.h"
#include "thrift/wire/message_scanner.h"
#include "util/error.h"

#include <thrift/c_glib/transport/thrift_transport.h>

#define FRAME_HEAD_BYTES 4

/* One receive call asks for as much: a put's reply comes whole, a page of a scan in a few calls. */
#define READ_AHEAD_BYTES (64u << 10)

/* Above this the reply's memory is given back when the next call begins: after a page of large rows an idle connection
 * must not hold on to it. */
#define KEPT_BUFFER_BYTES (1u << 20)

/* hbase.regionserver.thrift.framed.max_frame_size_in_mb of a gateway left at its default; more and it hangs up. */
#define GATEWAY_FRAME_DEFAULT_BYTES (2u << 20)

/* As many parts take no memory of their own; a batch has one for each chunk of its arena. */
#define VECTORS_ON_STACK 64

struct TideTransport {
  ThriftTransport parent;
  /* set before use, then read-only */
  TideEndpoint *endpoint; /* owned */
  TideFraming framing;
  TideWireProtocol protocol;
  GCancellable *cancellable; /* a reference */
  /* the calling thread's */
  GSocket *socket; /* owned; NULL: closed */
  TideCallLimits limits;
  TideBuffer received;
  TideBytes message;  /* borrowed from received; empty until a whole reply is there */
  gsize message_read; /* how much of it read() has handed out */
  TideBuffer written; /* what write() was given since the last flush() */
  gsize sent_bytes;   /* of the last message */
};

typedef struct TideTransportClass {
  ThriftTransportClass parent_class;
} TideTransportClass;

G_DEFINE_TYPE(TideTransport, tide_transport, THRIFT_TYPE_TRANSPORT)

static TideTransport *
self_of(ThriftTransport *transport)
{
  return G_TYPE_CHECK_INSTANCE_CAST(transport, TIDE_TYPE_TRANSPORT, TideTransport);
}

TideTransport *
tide_transport_new(const TideEndpoint *endpoint, TideFraming framing, TideWireProtocol protocol,
                   GCancellable *cancellable)
{
  TideTransport *transport = g_object_new(TIDE_TYPE_TRANSPORT, NULL);
  transport->endpoint = tide_endpoint_copy(endpoint);
  transport->framing = framing;
  transport->protocol = protocol;
  transport->cancellable = g_object_ref(cancellable);
  tide_transport_begin_call(transport, 0, 0);
  return transport;
}

void
tide_transport_begin_call(TideTransport *transport, gint64 started_us, gint64 deadline_us)
{
  transport->limits = (TideCallLimits){
      .peer = transport->endpoint->text,
      .started_us = started_us,
      .deadline_us = deadline_us,
      .cancellable = transport->cancellable,
  };
  tide_buffer_reset(&transport->written);
}

gboolean
tide_transport_connect(TideTransport *transport, GError **error)
{
  transport->socket = tide_stream_connect(transport->endpoint, &transport->limits, error);
  return transport->socket != NULL;
}

static void
forget_reply(TideTransport *transport)
{
  if (transport->received.capacity > KEPT_BUFFER_BYTES)
    tide_buffer_clear_memory(&transport->received);
  tide_buffer_reset(&transport->received);
  transport->message = TIDE_BYTES_EMPTY;
  transport->message_read = 0;
}

void
tide_transport_close(TideTransport *transport)
{
  g_clear_object(&transport->socket); /* the last reference: closes it */
  forget_reply(transport);
}

gboolean
tide_transport_is_open(const TideTransport *transport)
{
  return transport->socket != NULL;
}

/* Bytes behind the last reply. */
static gsize
unasked_bytes(const TideTransport *transport)
{
  if (transport->message.len == 0)
    return transport->received.len;
  return transport->received.len - (gsize)(transport->message.data - transport->received.data) - transport->message.len;
}

gboolean
tide_transport_is_ready(const TideTransport *transport)
{
  return transport->socket != NULL && unasked_bytes(transport) == 0 && tide_stream_is_quiet(transport->socket);
}

/* ---- sending ---- */

/* Closes; always fails. A framed gateway says nothing when a frame is too large for it: say it in its place. */
static gboolean
give_up(TideTransport *transport, GError *failure, GError **error)
{
  if (transport->framing == TIDE_FRAMING_FRAMED && transport->sent_bytes > GATEWAY_FRAME_DEFAULT_BYTES &&
      g_error_matches(failure, TIDE_ERROR, TIDE_ERROR_CONNECTION_LOST))
    g_prefix_error(&failure,
                   "the request of %" G_GSIZE_FORMAT " bytes may be more than the gateway's "
                   "'hbase.regionserver.thrift.framed.max_frame_size_in_mb': ",
                   transport->sent_bytes);
  g_propagate_error(error, failure);
  tide_transport_close(transport);
  return FALSE;
}

gboolean
tide_transport_send(TideTransport *transport, const TideBytes *parts, gsize n_parts, GError **error)
{
  forget_reply(transport);
  gsize total = 0;
  for (gsize i = 0; i < n_parts; i++)
    total += parts[i].len;
  if (total > G_MAXINT32) { /* what a frame's head, and Java, can count */
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_TOO_BIG, "a request of %" G_GSIZE_FORMAT " bytes is too large for Thrift",
                total);
    return FALSE;
  }
  if (transport->socket == NULL) {
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_CONNECT, "the connection to gateway '%s' is closed",
                transport->endpoint->text);
    return FALSE;
  }

  GOutputVector on_stack[VECTORS_ON_STACK];
  g_autofree GOutputVector *on_heap = n_parts >= VECTORS_ON_STACK ? g_new(GOutputVector, n_parts + 1) : NULL;
  GOutputVector *vectors = on_heap != NULL ? on_heap : on_stack;
  gsize n_vectors = 0;
  guint32 frame_head = GUINT32_TO_BE((guint32)total);
  if (transport->framing == TIDE_FRAMING_FRAMED)
    vectors[n_vectors++] = (GOutputVector){&frame_head, FRAME_HEAD_BYTES};
  for (gsize i = 0; i < n_parts; i++) {
    if (parts[i].len > 0)
      vectors[n_vectors++] = (GOutputVector){parts[i].data, parts[i].len};
  }
  transport->sent_bytes = total;
  GError *failure = NULL;
  return tide_stream_send(transport->socket, vectors, n_vectors, &transport->limits, &failure) ||
         give_up(transport, failure, error);
}

/* ---- receiving ---- */

/* Adds what the peer sends next to the end of received. */
static gboolean
receive_more(TideTransport *transport, GError **error)
{
  guint8 *room = tide_buffer_reserve(&transport->received, READ_AHEAD_BYTES);
  gsize room_bytes = transport->received.capacity - transport->received.len;
  gsize got = tide_stream_receive(transport->socket, room, room_bytes, &transport->limits, error);
  transport->received.len += got;
  return got > 0;
}

gboolean
tide_transport_is_foreign(const char *peer, TideBytes begun, GError **error)
{
  const char *service = NULL;
  if (begun.len >= 4 && memcmp(begun.data, "HTTP", 4) == 0)
    service = "HTTP";
  else if (begun.len >= 3 && begun.data[0] == 0x15 && begun.data[1] == 0x03 && begun.data[2] <= 0x04)
    service = "TLS"; /* an alert record, version 3.0 to 3.4: what a TLS server says to what is no handshake */
  if (service != NULL)
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_WRONG_SERVICE,
                "'%s' speaks %s, not plain Thrift over TCP: it is another service's port, or a gateway set to %s", peer,
                service, service);
  return service != NULL;
}

/* Always fails: the bytes received are no Thrift message. @problem: string literal. */
static gboolean
refuse_reply(TideTransport *transport, const char *problem, gsize offset, GError **error)
{
  const char *peer = transport->endpoint->text;
  if (tide_transport_is_foreign(peer, tide_buffer_bytes(&transport->received), error))
    return FALSE;
  g_set_error(error, TIDE_ERROR, TIDE_ERROR_PROTOCOL,
              "gateway '%s' sent what is no %s %s reply: %s at byte %" G_GSIZE_FORMAT " (the limit is %u MiB)", peer,
              tide_framing_name(transport->framing), tide_wire_protocol_name(transport->protocol), problem, offset,
              TIDE_REPLY_MAX_BYTES >> 20);
  return FALSE;
}

static gboolean
receive_framed(TideTransport *transport, TideBytes *ret_message, GError **error)
{
  TideBuffer *received = &transport->received;
  while (received->len < FRAME_HEAD_BYTES) {
    if (!receive_more(transport, error))
      return FALSE;
  }
  guint32 frame_head;
  memcpy(&frame_head, received->data, FRAME_HEAD_BYTES);
  gsize frame_bytes = GUINT32_FROM_BE(frame_head);
  if (frame_bytes == 0 || frame_bytes > TIDE_REPLY_MAX_BYTES)
    return refuse_reply(transport, "the length of the frame is out of range", 0, error);
  while (received->len < FRAME_HEAD_BYTES + frame_bytes) {
    if (!receive_more(transport, error))
      return FALSE;
  }
  TideBytes message = tide_bytes(received->data + FRAME_HEAD_BYTES, frame_bytes);
  TideMessageScanner scanner;
  tide_message_scanner_init(&scanner, transport->protocol, frame_bytes);
  TideWireStatus status = tide_message_scanner_feed(&scanner, message);
  if (status == TIDE_WIRE_BAD)
    return refuse_reply(transport, scanner.problem, FRAME_HEAD_BYTES + scanner.offset, error);
  if (status == TIDE_WIRE_SHORT || scanner.offset != frame_bytes)
    return refuse_reply(transport, "the message does not fill its frame", FRAME_HEAD_BYTES + scanner.offset, error);
  *ret_message = message;
  return TRUE;
}

static gboolean
receive_unframed(TideTransport *transport, TideBytes *ret_message, GError **error)
{
  TideMessageScanner scanner;
  tide_message_scanner_init(&scanner, transport->protocol, TIDE_REPLY_MAX_BYTES);
  for (;;) {
    if (!receive_more(transport, error))
      return FALSE;
    TideBytes begun = tide_buffer_bytes(&transport->received);
    switch (tide_message_scanner_feed(&scanner, begun)) {
    case TIDE_WIRE_OK:
      *ret_message = tide_bytes(begun.data, scanner.offset);
      return TRUE;
    case TIDE_WIRE_SHORT:
      break;
    case TIDE_WIRE_BAD:
      return refuse_reply(transport, scanner.problem, scanner.offset, error);
    }
  }
}

gboolean
tide_transport_receive(TideTransport *transport, TideBytes *ret_message, GError **error)
{
  if (transport->socket == NULL) {
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_CONNECTION_LOST, "the connection to gateway '%s' is closed",
                transport->endpoint->text);
    return FALSE;
  }
  GError *failure = NULL;
  gboolean received = transport->framing == TIDE_FRAMING_FRAMED
                          ? receive_framed(transport, &transport->message, &failure)
                          : receive_unframed(transport, &transport->message, &failure);
  if (!received)
    return give_up(transport, failure, error);
  *ret_message = transport->message;
  return TRUE;
}

/* ---- Thrift's side ---- */

static gboolean
thrift_is_open(ThriftTransport *transport)
{
  return tide_transport_is_open(self_of(transport));
}

static gboolean
thrift_open(ThriftTransport *transport, GError **error)
{
  return tide_transport_is_open(self_of(transport)) || tide_transport_connect(self_of(transport), error);
}

static gboolean
thrift_close(ThriftTransport *transport, GError **error)
{
  tide_transport_close(self_of(transport));
  return TRUE;
}

static gboolean
thrift_write(ThriftTransport *transport, const gpointer bytes, const guint32 len, GError **error)
{
  tide_buffer_append(&self_of(transport)->written, bytes, len);
  return TRUE;
}

static gboolean
thrift_flush(ThriftTransport *transport, GError **error)
{
  TideTransport *self = self_of(transport);
  TideBytes part = tide_buffer_bytes(&self->written);
  gboolean sent = tide_transport_send(self, &part, 1, error);
  tide_buffer_reset(&self->written);
  return sent;
}

static gint32
thrift_read(ThriftTransport *transport, gpointer bytes, guint32 len, GError **error)
{
  TideTransport *self = self_of(transport);
  TideBytes message;
  if (self->message.len == 0 && !tide_transport_receive(self, &message, error))
    return -1;
  gsize left = self->message.len - self->message_read;
  if (left < len) { /* a decoder that reads on where a well-formed message has ended */
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_PROTOCOL, "gateway '%s': a read past the end of the reply",
                self->endpoint->text);
    return -1;
  }
  if (len > 0)
    memcpy(bytes, self->message.data + self->message_read, len);
  self->message_read += len;
  return (gint32)len;
}

static gboolean
thrift_nothing_to_do(ThriftTransport *transport, GError **error)
{
  return TRUE;
}

/* Thrift's own count of a message's bytes is not needed: the whole message is here, and its lengths were checked. */
static gboolean
thrift_size_is_known(ThriftTransport *transport, glong bytes, GError **error)
{
  return TRUE;
}

static void
tide_transport_init(TideTransport *transport)
{
}

static void
tide_transport_finalize(GObject *object)
{
  TideTransport *transport = G_TYPE_CHECK_INSTANCE_CAST(object, TIDE_TYPE_TRANSPORT, TideTransport);
  tide_transport_close(transport);
  g_clear_object(&transport->cancellable);
  g_clear_pointer(&transport->endpoint, tide_endpoint_free);
  tide_buffer_clear_memory(&transport->received);
  tide_buffer_clear_memory(&transport->written);
  /* Thrift's own transports forget this, and leak with each connection. */
  G_OBJECT_CLASS(tide_transport_parent_class)->finalize(object);
}

static void
tide_transport_class_init(TideTransportClass *class)
{
  G_OBJECT_CLASS(class)->finalize = tide_transport_finalize;
  ThriftTransportClass *thrift = THRIFT_TRANSPORT_CLASS(class);
  thrift->is_open = thrift_is_open;
  thrift->open = thrift_open;
  thrift->close = thrift_close;
  thrift->read = thrift_read;
  thrift->read_all = thrift_read;
  thrift->read_end = thrift_nothing_to_do;
  thrift->write = thrift_write;
  thrift->write_end = thrift_nothing_to_do;
  thrift->flush = thrift_flush;
  thrift->updateKnownMessageSize = thrift_size_is_known;
  thrift->checkReadBytesAvailable = thrift_size_is_known;
  thrift->resetConsumedMessageSize = thrift_size_is_known;
  thrift->countConsumedMessageBytes = thrift_size_is_known;
}
