/* Thrift messages without authentication, either unframed or framed. */
#include "thrift/client/connection.h"

#include "thrift/wire/wire_reader.h"
#include "util/error.h"

/* ---- unframed ---- */

static gboolean
send_unframed(TideConnection *connection, const TideBytes *parts, gsize n_parts, gsize total_bytes, GError **error)
{
  return tide_layer_send(connection, TIDE_BYTES_EMPTY, parts, n_parts, error);
}

static gboolean
receive_unframed(TideConnection *connection, TideBytes *ret_message, GError **error)
{
  TideMessageScanner scanner;
  tide_message_scanner_init(&scanner, connection->protocol, TIDE_REPLY_MAX_BYTES);
  for (;;) {
    if (!tide_layer_receive_more(connection, error))
      return FALSE;
    TideBytes begun = tide_buffer_bytes(&connection->received);
    switch (tide_message_scanner_feed(&scanner, begun)) {
    case TIDE_WIRE_OK:
      *ret_message = tide_bytes(begun.data, scanner.offset);
      return TRUE;
    case TIDE_WIRE_SHORT:
      break;
    case TIDE_WIRE_BAD:
      return tide_layer_refuse(connection, scanner.problem, scanner.offset, error);
    }
  }
}

const TideMessageLayer tide_unframed_messages = {
    .name = "unframed",
    .connect = tide_layer_open_stream,
    .send = send_unframed,
    .receive = receive_unframed,
    .is_ready = tide_layer_is_quiet,
};

/* ---- framed ---- */

/* Default of hbase.regionserver.thrift.framed.max_frame_size_in_mb; the gateway closes the connection on a larger
 * frame. */
#define GATEWAY_FRAME_DEFAULT_BYTES (2u << 20)

/* A framed gateway does not report that a frame is too large: adds that as the possible cause. Always fails. */
static gboolean
guess_reason(const TideConnection *connection, GError *failure, GError **error)
{
  if (connection->sent_bytes > GATEWAY_FRAME_DEFAULT_BYTES &&
      g_error_matches(failure, TIDE_ERROR, TIDE_ERROR_CONNECTION_LOST))
    g_prefix_error(&failure,
                   "the request of %" G_GSIZE_FORMAT
                   " bytes may exceed the gateway's 'hbase.regionserver.thrift.framed.max_frame_size_in_mb': ",
                   connection->sent_bytes);
  g_propagate_error(error, failure);
  return FALSE;
}

static gboolean
send_framed(TideConnection *connection, const TideBytes *parts, gsize n_parts, gsize total_bytes, GError **error)
{
  guint32 frame_head = GUINT32_TO_BE((guint32)total_bytes);
  TideBytes head = tide_bytes(&frame_head, TIDE_FRAME_HEAD_BYTES);
  GError *failure = NULL;
  return tide_layer_send(connection, head, parts, n_parts, &failure) || guess_reason(connection, failure, error);
}

static gboolean
receive_framed(TideConnection *connection, TideBytes *ret_message, GError **error)
{
  GError *failure = NULL;
  return (tide_layer_receive_frame(connection, TIDE_REPLY_MAX_BYTES, ret_message, &failure) &&
          tide_layer_check_message(connection, *ret_message, TIDE_FRAME_HEAD_BYTES, &failure)) ||
         guess_reason(connection, failure, error);
}

const TideMessageLayer tide_framed_messages = {
    .name = "framed",
    .connect = tide_layer_open_stream,
    .send = send_framed,
    .receive = receive_framed,
    .is_ready = tide_layer_is_quiet,
};
