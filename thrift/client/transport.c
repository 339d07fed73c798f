#include "thrift/client/transport.h"

#include "thrift/client/message_layer.h"
#include "util/error.h"

#include <thrift/c_glib/transport/thrift_transport.h>

/* Above this the reply's memory is given back when the next call begins: after a page of large rows an idle connection
 * must not hold on to it. */
#define KEPT_BUFFER_BYTES (1u << 20)

struct TideTransport {
  ThriftTransport parent;
  /* set before use, then read-only */
  GCancellable *cancellable; /* a reference */
  /* the calling thread's */
  TideConnection connection;
  gboolean is_open;
  gboolean has_received; /* a reply: that it was well formed says that the peer speaks our protocol */
  gsize message_read;    /* how much of the reply read() has handed out */
  TideBuffer written;    /* what write() was given since the last flush() */
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
  transport->connection = (TideConnection){
      .layer = tide_message_layer_of(endpoint, framing),
      .endpoint = tide_endpoint_copy(endpoint),
      .protocol = protocol,
  };
  transport->cancellable = g_object_ref(cancellable);
  tide_transport_begin_call(transport, 0, 0);
  return transport;
}

void
tide_transport_begin_call(TideTransport *transport, gint64 started_us, gint64 deadline_us)
{
  transport->connection.limits = (TideCallLimits){
      .peer = transport->connection.endpoint->text,
      .started_us = started_us,
      .deadline_us = deadline_us,
      .cancellable = transport->cancellable,
  };
  tide_buffer_reset(&transport->written);
}

/* Whatever went wrong while a connection was made: no call was sent, so its outcome is known. */
static void
make_connect_error(GError *failure)
{
  if (tide_error_outcome_unknown(failure) && !tide_error_is_cancelled(failure))
    failure->code = TIDE_ERROR_CONNECT;
}

gboolean
tide_transport_connect(TideTransport *transport, GError **error)
{
  TideConnection *connection = &transport->connection;
  GError *failure = NULL;
  transport->is_open = connection->layer->connect(connection, &failure);
  if (transport->is_open)
    return TRUE;
  make_connect_error(failure);
  g_propagate_error(error, failure);
  tide_transport_close(transport);
  return FALSE;
}

static void
forget_reply(TideTransport *transport)
{
  TideConnection *connection = &transport->connection;
  if (connection->received.capacity > KEPT_BUFFER_BYTES)
    tide_buffer_clear_memory(&connection->received);
  tide_buffer_reset(&connection->received);
  connection->message = TIDE_BYTES_EMPTY;
  transport->message_read = 0;
}

void
tide_transport_close(TideTransport *transport)
{
  TideConnection *connection = &transport->connection;
  if (connection->layer->close != NULL)
    connection->layer->close(connection);
  g_clear_pointer(&connection->stream, tide_stream_free);
  transport->is_open = FALSE;
  connection->has_answered = transport->has_received = FALSE;
  forget_reply(transport);
}

gboolean
tide_transport_is_open(const TideTransport *transport)
{
  return transport->is_open;
}

TideCertificateEnds
tide_transport_certificate_ends(const TideTransport *transport)
{
  return transport->connection.ends;
}

char *
tide_transport_describe(const TideTransport *transport)
{
  const TideConnection *connection = &transport->connection;
  return transport->is_open && connection->layer->describe != NULL ? connection->layer->describe(connection) : NULL;
}

gboolean
tide_transport_is_ready(TideTransport *transport)
{
  return transport->is_open && transport->connection.layer->is_ready(&transport->connection);
}

gboolean
tide_transport_send(TideTransport *transport, const TideBytes *parts, gsize n_parts, GError **error)
{
  TideConnection *connection = &transport->connection;
  forget_reply(transport);
  gsize total = 0;
  for (gsize i = 0; i < n_parts; i++)
    total += parts[i].len;
  if (total > G_MAXINT32) { /* what a frame's head, and Java, can count */
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_TOO_BIG, "a request of %" G_GSIZE_FORMAT " bytes is too large for Thrift",
                total);
    return FALSE;
  }
  if (!transport->is_open) {
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_CONNECT, "the connection to gateway '%s' is closed",
                connection->endpoint->text);
    return FALSE;
  }
  connection->sent_bytes = total;
  if (connection->layer->send(connection, parts, n_parts, total, error))
    return TRUE;
  tide_transport_close(transport);
  return FALSE;
}

static gboolean
receive(TideTransport *transport, gboolean is_walked_later, TideBytes *ret_message, GError **error)
{
  TideConnection *connection = &transport->connection;
  connection->is_walked_later = is_walked_later && transport->has_received;
  if (!transport->is_open) {
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_CONNECTION_LOST, "the connection to gateway '%s' is closed",
                connection->endpoint->text);
    return FALSE;
  }
  if (!connection->layer->receive(connection, &connection->message, error)) {
    tide_transport_close(transport);
    return FALSE;
  }
  connection->has_answered = transport->has_received = TRUE;
  *ret_message = connection->message;
  return TRUE;
}

gboolean
tide_transport_receive(TideTransport *transport, TideBytes *ret_message, GError **error)
{
  return receive(transport, TRUE, ret_message, error);
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
  TideBytes message = self->connection.message;
  if (message.len == 0 && !receive(self, FALSE, &message, error))
    return -1;
  gsize left = message.len - self->message_read;
  if (left < len) { /* a decoder that reads on where a well-formed message has ended */
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_PROTOCOL, "gateway '%s': a read past the end of the reply",
                self->connection.endpoint->text);
    return -1;
  }
  if (len > 0)
    memcpy(bytes, message.data + self->message_read, len);
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
  g_clear_pointer(&transport->connection.endpoint, tide_endpoint_free);
  tide_buffer_clear_memory(&transport->connection.received);
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
