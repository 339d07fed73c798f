#include "thrift/client/message_layer.h"

#include "thrift/client/tls_stream.h"
#include "thrift/wire/wire_reader.h"
#include "util/error.h"

/* One receive call asks for as much: a put's reply comes whole, a page of a scan in a few calls. */
#define READ_AHEAD_BYTES (64u << 10)

/* As many parts take no memory of their own; a batch has one for each chunk of its arena. */
#define VECTORS_ON_STACK 64

const TideMessageLayer *
tide_message_layer_of(const TideEndpoint *endpoint, TideFraming framing)
{
  if (endpoint->messages != NULL)
    return endpoint->messages;
  if (tide_endpoint_has_sasl(endpoint))
    return &tide_sasl_messages;
  return framing == TIDE_FRAMING_FRAMED ? &tide_framed_messages : &tide_unframed_messages;
}

gboolean
tide_connection_open(TideConnection *connection, GError **error)
{
  connection->stream = tide_stream_open(connection->endpoint, &connection->limits, error);
  if (connection->stream == NULL)
    return FALSE;
  connection->ends = connection->stream->ends;
  return TRUE;
}

gboolean
tide_connection_send(TideConnection *connection, TideBytes head, const TideBytes *parts, gsize n_parts, GError **error)
{
  GOutputVector on_stack[VECTORS_ON_STACK];
  g_autofree GOutputVector *on_heap = n_parts >= VECTORS_ON_STACK ? g_new(GOutputVector, n_parts + 1) : NULL;
  GOutputVector *vectors = on_heap != NULL ? on_heap : on_stack;
  gsize n_vectors = 0;
  if (head.len > 0)
    vectors[n_vectors++] = (GOutputVector){head.data, head.len};
  for (gsize i = 0; i < n_parts; i++) {
    if (parts[i].len > 0)
      vectors[n_vectors++] = (GOutputVector){parts[i].data, parts[i].len};
  }
  return tide_stream_send(connection->stream, vectors, n_vectors, &connection->limits, error);
}

gboolean
tide_connection_receive_more(TideConnection *connection, GError **error)
{
  guint8 *room = tide_buffer_reserve(&connection->received, READ_AHEAD_BYTES);
  gsize room_bytes = connection->received.capacity - connection->received.len;
  gsize got = tide_stream_receive(connection->stream, room, room_bytes, &connection->limits, error);
  connection->received.len += got;
  return got > 0;
}

gboolean
tide_connection_receive_until(TideConnection *connection, gsize bytes, GError **error)
{
  while (connection->received.len < bytes) {
    if (!tide_connection_receive_more(connection, error))
      return FALSE;
  }
  return TRUE;
}

gboolean
tide_connection_check_message(TideConnection *connection, TideBytes message, gsize offset, GError **error)
{
  if (connection->is_walked_later)
    return TRUE;
  TideMessageScanner scanner;
  tide_message_scanner_init(&scanner, connection->protocol, message.len);
  TideWireStatus status = tide_message_scanner_feed(&scanner, message);
  if (status == TIDE_WIRE_BAD)
    return tide_connection_refuse(connection, scanner.problem, offset + scanner.offset, error);
  if (status == TIDE_WIRE_SHORT || scanner.offset != message.len)
    return tide_connection_refuse(connection, "the message does not fill its frame", offset + scanner.offset, error);
  return TRUE;
}

/* A record of TLS 1.0 to 1.3 that is an alert: what a TLS server says to what is no handshake. */
static gboolean
is_tls_alert(TideBytes begun)
{
  return begun.len >= 3 && begun.data[0] == 0x15 && begun.data[1] == 0x03 && begun.data[2] <= 0x04;
}

gboolean
tide_service_is_foreign(const TideEndpoint *endpoint, TideBytes begun, GError **error)
{
  const char *text = endpoint->text;
  const char *scheme_end = strstr(text, "://");
  const char *address = scheme_end != NULL ? scheme_end + strlen("://") : text;
  if (tide_bytes_begin_with(begun, TIDE_BYTES_LITERAL("HTTP")))
    g_set_error(
        error, TIDE_ERROR, TIDE_ERROR_WRONG_SERVICE,
        "'%s' speaks HTTP, not plain Thrift: it is another service's port, or a gateway set to HTTP, and then to "
        "be written as '%s://%s' in 'hbase.gateways'",
        text, endpoint->stream == &tide_tls_stream ? "https" : "http", address);
  else if (is_tls_alert(begun))
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_WRONG_SERVICE,
                "'%s' speaks TLS, not plain Thrift over TCP: where a gateway is behind it, write 'thrift+tls://%s' in "
                "'hbase.gateways', or 'https://%s' if it is set to HTTP",
                text, address, address);
  else
    return FALSE;
  return TRUE;
}

gboolean
tide_connection_refuse(TideConnection *connection, const char *problem, gsize offset, GError **error)
{
  const char *peer = connection->endpoint->text;
  TideBytes begun = tide_buffer_bytes(&connection->received);
  if (!connection->has_answered && tide_service_is_foreign(connection->endpoint, begun, error))
    return FALSE;
  g_set_error(error, TIDE_ERROR, TIDE_ERROR_PROTOCOL,
              "gateway '%s' sent what is no %s %s reply: %s at byte %" G_GSIZE_FORMAT " (the limit is %u MiB)", peer,
              connection->layer->name, tide_wire_protocol_name(connection->protocol), problem, offset,
              TIDE_REPLY_MAX_BYTES >> 20);
  return FALSE;
}

/* Bytes behind the last reply. */
static gsize
unasked_bytes(const TideConnection *connection)
{
  const TideBuffer *received = &connection->received;
  const TideBytes *message = &connection->message;
  if (message->len == 0)
    return received->len;
  return received->len - (gsize)(message->data - received->data) - message->len;
}

gboolean
tide_connection_is_quiet(TideConnection *connection)
{
  return unasked_bytes(connection) == 0 && tide_stream_is_quiet(connection->stream);
}
