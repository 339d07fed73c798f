#include "thrift/client/connection.h"

#include "thrift/client/tls_stream.h"
#include "thrift/wire/wire_reader.h"
#include "util/error.h"

/* Bytes requested per receive call: a put's reply arrives in one call, a page of a scan in a few. */
#define READ_AHEAD_BYTES (64u << 10)

/* Up to this many parts need no allocation; a batch has one part per chunk of its arena. */
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

TideConnection *
tide_connection_new(const TideEndpoint *endpoint, TideFraming framing, TideWireProtocol protocol,
                    GCancellable *cancellable)
{
  TideConnection *connection = g_new0(TideConnection, 1);
  connection->layer = tide_message_layer_of(endpoint, framing);
  connection->endpoint = tide_endpoint_copy(endpoint);
  connection->protocol = protocol;
  connection->limits.peer = connection->endpoint->text;
  connection->limits.cancellable = g_object_ref(cancellable);
  return connection;
}

void
tide_connection_free(TideConnection *connection)
{
  if (connection == NULL)
    return;
  tide_connection_close(connection);
  g_object_unref(connection->limits.cancellable);
  tide_endpoint_free(connection->endpoint);
  tide_buffer_clear_memory(&connection->received);
  g_free(connection);
}

void
tide_connection_begin_call(TideConnection *connection, gint64 started_us, gint64 deadline_us)
{
  connection->limits.started_us = started_us;
  connection->limits.deadline_us = deadline_us;
}

gboolean
tide_connection_connect(TideConnection *connection, GError **error)
{
  GError *failure = NULL;
  connection->is_open = connection->layer->connect(connection, &failure);
  if (connection->is_open)
    return TRUE;
  /* No call was sent, whatever failed: the outcome is known. */
  if (tide_error_outcome_unknown(failure) && !tide_error_is_cancelled(failure))
    failure->code = TIDE_ERROR_CONNECT;
  g_propagate_error(error, failure);
  tide_connection_close(connection);
  return FALSE;
}

static void
forget_reply(TideConnection *connection)
{
  tide_message_buffer_reset(&connection->received);
  connection->message = TIDE_BYTES_EMPTY;
}

void
tide_connection_close(TideConnection *connection)
{
  if (connection->layer->close != NULL)
    connection->layer->close(connection);
  g_clear_pointer(&connection->stream, tide_stream_free);
  connection->is_open = connection->has_answered = connection->has_received = FALSE;
  forget_reply(connection);
}

char *
tide_connection_describe(const TideConnection *connection)
{
  return connection->is_open && connection->layer->describe != NULL ? connection->layer->describe(connection) : NULL;
}

gboolean
tide_connection_is_ready(TideConnection *connection)
{
  return connection->is_open && connection->layer->is_ready(connection);
}

gboolean
tide_connection_send(TideConnection *connection, const TideBytes *parts, gsize n_parts, GError **error)
{
  forget_reply(connection);
  gsize total = 0;
  for (gsize i = 0; i < n_parts; i++)
    total += parts[i].len;
  if (total > G_MAXINT32) { /* the maximum of a frame header, and of Java */
    return tide_fail(error, TIDE_ERROR_TOO_BIG, "the request has %" G_GSIZE_FORMAT " bytes, too many for Thrift",
                     total);
  }
  if (!connection->is_open)
    return tide_fail(error, TIDE_ERROR_CONNECT, "the connection to gateway '%s' is closed", connection->limits.peer);
  connection->sent_bytes = total;
  if (connection->layer->send(connection, parts, n_parts, total, error))
    return TRUE;
  tide_connection_close(connection);
  return FALSE;
}

gboolean
tide_connection_receive(TideConnection *connection, TideBytes *ret_message, GError **error)
{
  if (!connection->is_open)
    return tide_fail(error, TIDE_ERROR_CONNECTION_LOST, "the connection to gateway '%s' is closed",
                     connection->limits.peer);
  if (!connection->layer->receive(connection, &connection->message, error)) {
    tide_connection_close(connection);
    return FALSE;
  }
  connection->has_answered = connection->has_received = TRUE;
  *ret_message = connection->message;
  return TRUE;
}

gboolean
tide_service_is_foreign(const TideEndpoint *endpoint, TideBytes begun, GError **error)
{
  const char *text = endpoint->text;
  const char *scheme_end = strstr(text, "://");
  const char *address = scheme_end != NULL ? scheme_end + strlen("://") : text;
  /* An alert record of TLS 1.0 to 1.3: a TLS server's answer to bytes that are no handshake. */
  gboolean is_tls_alert = begun.len >= 3 && begun.data[0] == 0x15 && begun.data[1] == 0x03 && begun.data[2] <= 0x04;
  if (tide_bytes_begin_with(begun, TIDE_BYTES_LITERAL("HTTP")))
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_WRONG_SERVICE,
                "'%s' speaks HTTP, not plain Thrift: it is another service's port, or a gateway set to HTTP; for such "
                "a gateway write '%s://%s' in 'hbase.gateways'",
                text, endpoint->stream == &tide_tls_stream ? "https" : "http", address);
  else if (is_tls_alert)
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_WRONG_SERVICE,
                "'%s' speaks TLS, not plain Thrift over TCP: if it is a gateway, write 'thrift+tls://%s' in "
                "'hbase.gateways', or 'https://%s' if it is set to HTTP",
                text, address, address);
  else
    return FALSE;
  return TRUE;
}

/* ---- building blocks of layers ---- */

gboolean
tide_layer_open_stream(TideConnection *connection, GError **error)
{
  connection->stream = tide_stream_open(connection->endpoint, &connection->limits, error);
  if (connection->stream == NULL)
    return FALSE;
  connection->ends = connection->stream->ends;
  return TRUE;
}

TideGssContext *
tide_layer_get_ticket(TideConnection *connection, const char *service, const char *host, GError **error)
{
  const TideKerberosSettings *settings = &connection->endpoint->settings->kerberos;
  g_autofree char *keytab = NULL;
  if (tide_secret_source_is_set(&settings->keytab)) {
    keytab = tide_secret_path(&settings->keytab, error);
    if (keytab == NULL)
      return NULL;
  }
  TideKerberosSituation request = {
      .peer = connection->limits.peer,
      .service = service,
      .host = host,
      .principal = settings->principal,
      .keytab = keytab,
      .cache = settings->cache,
  };
  return tide_kerberos_begin(&request, connection->limits.deadline_us, connection->limits.cancellable, error);
}

gboolean
tide_layer_send(TideConnection *connection, TideBytes head, const TideBytes *parts, gsize n_parts, GError **error)
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
tide_layer_receive_more(TideConnection *connection, GError **error)
{
  guint8 *room = tide_buffer_reserve(&connection->received, READ_AHEAD_BYTES);
  gsize room_bytes = connection->received.capacity - connection->received.len;
  gsize got = tide_stream_receive(connection->stream, room, room_bytes, &connection->limits, error);
  connection->received.len += got;
  return got > 0;
}

/* @bytes: the caller has checked the peer's size against a limit. */
static gboolean
receive_until(TideConnection *connection, gsize bytes, GError **error)
{
  while (connection->received.len < bytes) {
    if (!tide_layer_receive_more(connection, error))
      return FALSE;
  }
  return TRUE;
}

gboolean
tide_layer_receive_frame(TideConnection *connection, gsize limit_bytes, TideBytes *ret_frame, GError **error)
{
  if (!receive_until(connection, TIDE_FRAME_HEAD_BYTES, error))
    return FALSE;
  gsize frame_bytes = GUINT32_FROM_BE(tide_load_u32(connection->received.data));
  if (frame_bytes == 0 || frame_bytes > limit_bytes)
    return tide_layer_refuse(connection, "the length of the frame is out of range", 0, error);
  if (!receive_until(connection, TIDE_FRAME_HEAD_BYTES + frame_bytes, error))
    return FALSE;
  *ret_frame = tide_bytes(connection->received.data + TIDE_FRAME_HEAD_BYTES, frame_bytes);
  return TRUE;
}

gboolean
tide_layer_check_message(TideConnection *connection, TideBytes message, gsize offset, GError **error)
{
  if (connection->has_received)
    return TRUE;
  TideMessageScanner scanner;
  tide_message_scanner_init(&scanner, connection->protocol, message.len);
  TideWireStatus status = tide_message_scanner_feed(&scanner, message);
  if (status == TIDE_WIRE_BAD)
    return tide_layer_refuse(connection, scanner.problem, offset + scanner.offset, error);
  if (status == TIDE_WIRE_SHORT || scanner.offset != message.len)
    return tide_layer_refuse(connection, "the message does not fill its frame", offset + scanner.offset, error);
  return TRUE;
}

gboolean
tide_layer_refuse(TideConnection *connection, const char *problem, gsize offset, GError **error)
{
  TideBytes begun = tide_buffer_bytes(&connection->received);
  if (!connection->has_answered && tide_service_is_foreign(connection->endpoint, begun, error))
    return FALSE;
  return tide_fail(error, TIDE_ERROR_PROTOCOL,
                   "gateway '%s' sent an invalid %s %s reply: %s at byte %" G_GSIZE_FORMAT " (the limit is %u MiB)",
                   connection->limits.peer, connection->layer->name, tide_wire_protocol_name(connection->protocol),
                   problem, offset, TIDE_REPLY_MAX_BYTES >> 20);
}

gboolean
tide_layer_is_quiet(TideConnection *connection)
{
  const TideBuffer *received = &connection->received;
  const TideBytes *message = &connection->message;
  gsize used_bytes = message->len > 0 ? (gsize)(message->data - received->data) + message->len : 0;
  return received->len == used_bytes && tide_stream_is_quiet(connection->stream);
}
