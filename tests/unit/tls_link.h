/* One connection over TLS from our side, and a server that answers it. For tests only. */
#pragma once

#include "thrift/client/connection.h"
#include "unit/tls_world.h"
#include "util/clock.h"
#include "util/error.h"

#define GENEROUS_MS 10000 /* for what must succeed: only a broken test waits as long */

#define CALL TIDE_BYTES_LITERAL("\x80\x01\0\x01\0\0\0\x04ping\0\0\0\x01\0")
#define REPLY TIDE_BYTES_LITERAL("\x80\x01\0\x02\0\0\0\x04ping\0\0\0\x01\0")

/* ---- our side ---- */

/* Of one connection to a TLS port. */
typedef struct Link {
  TideLinkSettings settings;
  TideEndpoint *endpoint;    /* owned */
  TideConnection *transport; /* owned */
} Link;

static inline gboolean
link_open(Link *link, const LoopbackServer *server, TideTlsSettings tls, GError **error)
{
  g_autofree char *url = g_strdup_printf("thrift+tls://127.0.0.1:%u", server->endpoint->port);
  g_autoptr(GCancellable) cancellable = g_cancellable_new();
  link->settings.tls = tls;
  link->endpoint = tide_endpoint_parse(url, NULL);
  link->endpoint->settings = &link->settings;
  link->transport = tide_connection_new(link->endpoint, TIDE_FRAMING_UNFRAMED, TIDE_WIRE_BINARY, cancellable);
  gint64 now_us = tide_now_us();
  tide_connection_begin_call(link->transport, now_us, now_us + GENEROUS_MS * TIDE_US_PER_MS);
  return tide_connection_connect(link->transport, error);
}

static inline void
link_close(Link *link)
{
  tide_connection_free(link->transport);
  tide_endpoint_free(link->endpoint);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Link, link_close)

static inline gboolean
exchange(Link *link, TideBytes call, gint64 timeout_ms, TideBytes *ret_reply, GError **error)
{
  gint64 now_us = tide_now_us();
  tide_connection_begin_call(link->transport, now_us, now_us + timeout_ms * TIDE_US_PER_MS);
  return tide_connection_send(link->transport, &call, 1, error) &&
         tide_connection_receive(link->transport, ret_reply, error);
}

/* The first error of a connection and a call; NULL when both went well. */
static inline GError *
error_of(LoopbackServer *server, TideTlsSettings tls, gint64 timeout_ms)
{
  Link link = {0};
  TideBytes reply;
  GError *error = NULL;
  if (link_open(&link, server, tls, &error))
    (void)!exchange(&link, CALL, timeout_ms, &reply, &error);
  if (error != NULL) {
    g_assert_false(link.transport->is_open);
    g_assert_nonnull(strstr(error->message, link.endpoint->text)); /* every text names the peer */
  }
  link_close(&link);
  return error;
}

static inline void
assert_says(const GError *error, TideErrorCode code, const char *part)
{
  g_assert_error(error, TIDE_ERROR, (gint)code);
  if (strstr(error->message, part) == NULL)
    g_error("expected '%s' in '%s'", part, error->message);
}

/* ---- servers that answer ---- */

typedef struct Answer {
  TestTls tls;
  gsize call_bytes;  /* of each call; 0: those of CALL */
  gsize reply_bytes; /* 0: the small void reply; else one with a string of as many */
} Answer;

static inline gboolean
read_exactly(SSL *ssl, gsize len)
{
  g_autofree guint8 *bytes = g_malloc(65536);
  while (len > 0) {
    int got = SSL_read(ssl, bytes, (int)MIN(len, 65536));
    if (got <= 0)
      return FALSE;
    len -= (gsize)got;
  }
  return TRUE;
}

static inline void
serve_tls(LoopbackServer *server, int fd, guint connection)
{
  const Answer *answer = server->data;
  SSL *ssl = test_tls_accept(&answer->tls, fd);
  g_auto(TideBuffer) reply = {0};
  loopback_append_reply(&reply, REPLY, answer->reply_bytes);
  if (ssl == NULL) {
    loopback_wait_closed(server, fd); /* else the alert would be lost with what was not read */
    return;
  }
  while (read_exactly(ssl, answer->call_bytes != 0 ? answer->call_bytes : CALL.len))
    if (SSL_write(ssl, reply.data, (int)reply.len) <= 0)
      break;
  ERR_clear_error();
  SSL_free(ssl);
}
