/* A gateway behind SASL, in the test's process: negotiates by gss_acceptor.h, then answers each call with a void reply,
 * or does as its lie says. For tests only. */
#pragma once

#include "unit/gss_acceptor.h"
#include "unit/loopback_server.h"

/* To "ping", sequence id 1, in the binary protocol. */
#define SASL_GATEWAY_CALL TIDE_BYTES_LITERAL("\x80\x01\0\x01\0\0\0\x04ping\0\0\0\x01\0")
#define SASL_GATEWAY_REPLY TIDE_BYTES_LITERAL("\x80\x01\0\x02\0\0\0\x04ping\0\0\0\x01\0")

typedef enum SaslLie {
  SASL_HONEST,
  SASL_SILENT,   /* takes the opening, as a plain gateway does */
  SASL_HANGS_UP, /* on the opening, as a framed gateway does */
  SASL_SILENT_AFTER_TOKEN,
  SASL_TALKATIVE,      /* goes on behind the negotiation's end */
  SASL_REPLY_TOO_LONG, /* a frame of 2 GiB is announced */
  SASL_REPLY_EMPTY,
  SASL_REPLY_CUT, /* the last byte of what was wrapped is missing */
  SASL_REPLY_CHANGED,
  SASL_REPLY_CLEAR, /* neither signed nor encrypted */
  SASL_REPLY_SLOW,  /* a byte at a time, each behind the other's arrival */
  SASL_REPLY_HTTP,  /* in the place of a frame */
  SASL_REPLY_TWICE, /* the same frame again */
} SaslLie;

typedef struct SaslGateway {
  const char *keytab;
  guint8 layer; /* offered */
  SaslLie lie;
  gsize reply_bytes; /* 0: the small reply; else one with a string of as many */
  atomic_uint calls; /* that were as expected */
} SaslGateway;

/* Reads until a whole message of the negotiation is there. FALSE when the client went away. */
static inline gboolean
sasl_gateway_read(LoopbackServer *server, int fd, TideBuffer *received, gsize *at, guint8 *ret_code,
                  TideBytes *ret_payload)
{
  for (;;) {
    TideBytes left = tide_bytes(received->data + *at, received->len - *at);
    if (sasl_take(&left, ret_code, ret_payload)) {
      *at = received->len - left.len;
      return TRUE;
    }
    if (!loopback_read_more(server, fd, received))
      return FALSE;
  }
}

static inline void
sasl_gateway_send(int fd, guint8 code, TideBytes payload)
{
  g_auto(TideBuffer) message = {0};
  sasl_append(&message, code, payload);
  loopback_send(fd, message.data, message.len);
}

/* FALSE: the connection is to be closed. */
static inline gboolean
sasl_gateway_negotiate(LoopbackServer *server, int fd, GssAcceptor *acceptor)
{
  SaslGateway *gateway = server->data;
  g_auto(TideBuffer) received = {0}, token = {0}, offer = {0}, choice = {0};
  gsize at = 0;
  guint8 code;
  TideBytes payload;
  if (!sasl_gateway_read(server, fd, &received, &at, &code, &payload) ||
      !sasl_gateway_read(server, fd, &received, &at, &code, &payload))
    return FALSE;
  if (gateway->lie == SASL_HANGS_UP)
    return FALSE;
  if (gateway->lie == SASL_SILENT) {
    loopback_wait_closed(server, fd);
    return FALSE;
  }
  if (!gss_acceptor_step(acceptor, payload, &token)) {
    sasl_gateway_send(fd, 3, TIDE_BYTES_LITERAL("GSS initiate failed"));
    return FALSE;
  }
  sasl_gateway_send(fd, 2, tide_buffer_bytes(&token));
  if (!sasl_gateway_read(server, fd, &received, &at, &code, &payload))
    return FALSE;
  if (gateway->lie == SASL_SILENT_AFTER_TOKEN) {
    loopback_wait_closed(server, fd);
    return FALSE;
  }
  const guint8 layers[] = {gateway->layer, 1, 0, 0};
  gss_acceptor_wrap(acceptor, FALSE, tide_bytes(layers, sizeof layers), &offer);
  sasl_gateway_send(fd, 2, tide_buffer_bytes(&offer));
  if (!sasl_gateway_read(server, fd, &received, &at, &code, &payload))
    return FALSE;
  g_assert_true(gss_acceptor_unwrap(acceptor, FALSE, payload, &choice));
  g_assert_cmpuint(choice.data[0], ==, gateway->layer);
  if (gateway->lie == SASL_TALKATIVE)
    loopback_send(fd, "\5\0\0\0\0more", 9);
  else
    sasl_gateway_send(fd, 5, TIDE_BYTES_EMPTY);
  return TRUE;
}

static inline void
sasl_gateway_send_slowly(LoopbackServer *server, int fd, TideBytes bytes)
{
  for (gsize i = 0; i < bytes.len && !loopback_wait_readable(server, fd, 1); i++)
    loopback_send(fd, bytes.data + i, 1);
}

static inline void
sasl_gateway_reply(LoopbackServer *server, int fd, GssAcceptor *acceptor)
{
  const SaslGateway *gateway = server->data;
  g_auto(TideBuffer) reply = {0}, frame = {0};
  loopback_append_reply(&reply, SASL_GATEWAY_REPLY, gateway->reply_bytes);
  tide_buffer_append(&frame, "\0\0\0\0", 4);
  if (gateway->layer == TIDE_SASL_AUTH || gateway->lie == SASL_REPLY_CLEAR)
    tide_buffer_append_bytes(&frame, tide_buffer_bytes(&reply));
  else
    gss_acceptor_wrap(acceptor, gateway->layer == TIDE_SASL_AUTH_CONF, tide_buffer_bytes(&reply), &frame);
  if (gateway->lie == SASL_REPLY_CUT)
    frame.len--;
  if (gateway->lie == SASL_REPLY_CHANGED)
    frame.data[frame.len / 2] ^= 1;
  if (gateway->lie == SASL_REPLY_EMPTY)
    frame.len = 4;
  guint32 head = htonl(gateway->lie == SASL_REPLY_TOO_LONG ? 0x80000000u : (guint32)(frame.len - 4));
  memcpy(frame.data, &head, sizeof head);
  if (gateway->lie == SASL_REPLY_HTTP)
    loopback_send(fd, "HTTP/1.1 200 OK\r\n\r\n", 19);
  else if (gateway->lie == SASL_REPLY_SLOW)
    sasl_gateway_send_slowly(server, fd, tide_buffer_bytes(&frame));
  else
    loopback_send(fd, frame.data, frame.len);
  if (gateway->lie == SASL_REPLY_TWICE)
    loopback_send(fd, frame.data, frame.len);
}

static inline gboolean
sasl_gateway_read_call(LoopbackServer *server, int fd, TideBuffer *frame)
{
  tide_buffer_reset(frame);
  while (frame->len < 4 || frame->len - 4 < GUINT32_FROM_BE(tide_load_u32(frame->data))) {
    if (!loopback_read_more(server, fd, frame))
      return FALSE;
  }
  return TRUE;
}

static inline void
sasl_gateway_serve(LoopbackServer *server, int fd, guint connection)
{
  SaslGateway *gateway = server->data;
  GssAcceptor acceptor;
  gss_acceptor_open(&acceptor, gateway->keytab);
  g_auto(TideBuffer) frame = {0};
  if (sasl_gateway_negotiate(server, fd, &acceptor)) {
    while (sasl_gateway_read_call(server, fd, &frame)) {
      TideBytes token = tide_bytes(frame.data + 4, frame.len - 4);
      g_auto(TideBuffer) call = {0};
      if (gateway->layer == TIDE_SASL_AUTH)
        tide_buffer_append_bytes(&call, token);
      else
        g_assert_true(gss_acceptor_unwrap(&acceptor, gateway->layer == TIDE_SASL_AUTH_CONF, token, &call));
      if (call.len >= SASL_GATEWAY_CALL.len &&
          tide_memory_equal(call.data, SASL_GATEWAY_CALL.data, SASL_GATEWAY_CALL.len - 1))
        atomic_fetch_add(&gateway->calls, 1);
      sasl_gateway_reply(server, fd, &acceptor);
    }
  }
  gss_acceptor_close(&acceptor);
}
