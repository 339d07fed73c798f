/* Thrift messages as a gateway takes them that was told nothing else: one after the other, or each in a frame. */
#include "thrift/client/message_layer.h"

#include "thrift/wire/wire_reader.h"
#include "util/error.h"

/* ---- unframed ---- */

static gboolean
send_unframed(TideConnection *connection, const TideBytes *parts, gsize n_parts, gsize total_bytes, GError **error)
{
  return tide_connection_send(connection, TIDE_BYTES_EMPTY, parts, n_parts, error);
}

static gboolean
receive_unframed(TideConnection *connection, TideBytes *ret_message, GError **error)
{
  TideMessageScanner scanner;
  tide_message_scanner_init(&scanner, connection->protocol, TIDE_REPLY_MAX_BYTES);
  for (;;) {
    if (!tide_connection_receive_more(connection, error))
      return FALSE;
    TideBytes begun = tide_buffer_bytes(&connection->received);
    switch (tide_message_scanner_feed(&scanner, begun)) {
    case TIDE_WIRE_OK:
      *ret_message = tide_bytes(begun.data, scanner.offset);
      return TRUE;
    case TIDE_WIRE_SHORT:
      break;
    case TIDE_WIRE_BAD:
      return tide_connection_refuse(connection, scanner.problem, scanner.offset, error);
    }
  }
}

const TideMessageLayer tide_unframed_messages = {
    .name = "unframed",
    .connect = tide_connection_open,
    .send = send_unframed,
    .receive = receive_unframed,
    .is_ready = tide_connection_is_quiet,
};

/* ---- framed ---- */

#define FRAME_HEAD_BYTES 4

/* hbase.regionserver.thrift.framed.max_frame_size_in_mb of a gateway left at its default; more and it hangs up. */
#define GATEWAY_FRAME_DEFAULT_BYTES (2u << 20)

/* A framed gateway says nothing when a frame is too large for it: says it in its place. Always fails. */
static gboolean
guess_reason(const TideConnection *connection, GError *failure, GError **error)
{
  if (connection->sent_bytes > GATEWAY_FRAME_DEFAULT_BYTES &&
      g_error_matches(failure, TIDE_ERROR, TIDE_ERROR_CONNECTION_LOST))
    g_prefix_error(&failure,
                   "the request of %" G_GSIZE_FORMAT " bytes may be more than the gateway's "
                   "'hbase.regionserver.thrift.framed.max_frame_size_in_mb': ",
                   connection->sent_bytes);
  g_propagate_error(error, failure);
  return FALSE;
}

static gboolean
send_framed(TideConnection *connection, const TideBytes *parts, gsize n_parts, gsize total_bytes, GError **error)
{
  guint32 frame_head = GUINT32_TO_BE((guint32)total_bytes);
  TideBytes head = tide_bytes(&frame_head, FRAME_HEAD_BYTES);
  GError *failure = NULL;
  return tide_connection_send(connection, head, parts, n_parts, &failure) || guess_reason(connection, failure, error);
}

static gboolean
receive_frame(TideConnection *connection, TideBytes *ret_message, GError **error)
{
  if (!tide_connection_receive_until(connection, FRAME_HEAD_BYTES, error))
    return FALSE;
  guint32 frame_head;
  memcpy(&frame_head, connection->received.data, FRAME_HEAD_BYTES);
  gsize frame_bytes = GUINT32_FROM_BE(frame_head);
  if (frame_bytes == 0 || frame_bytes > TIDE_REPLY_MAX_BYTES)
    return tide_connection_refuse(connection, "the length of the frame is out of range", 0, error);
  if (!tide_connection_receive_until(connection, FRAME_HEAD_BYTES + frame_bytes, error))
    return FALSE;
  *ret_message = tide_bytes(connection->received.data + FRAME_HEAD_BYTES, frame_bytes);
  return tide_connection_check_message(connection, *ret_message, FRAME_HEAD_BYTES, error);
}

static gboolean
receive_framed(TideConnection *connection, TideBytes *ret_message, GError **error)
{
  GError *failure = NULL;
  return receive_frame(connection, ret_message, &failure) || guess_reason(connection, failure, error);
}

const TideMessageLayer tide_framed_messages = {
    .name = "framed",
    .connect = tide_connection_open,
    .send = send_framed,
    .receive = receive_framed,
    .is_ready = tide_connection_is_quiet,
};
