/* A gateway on loopback that answers each call as a test specifies, and its client. */
#pragma once

#include "loopback_server.h"
#include "reply_builder.h"
#include "thrift/client/hbase_client.h"
#include "thrift/wire/put_encoder.h"
#include "util/clock.h"
#include "util/error.h"

#define GENEROUS_MS 10000

typedef struct Gateway Gateway;

/* Builds the reply to a call, in the server's thread. Empty: no reply is sent. */
typedef TideBytes (*AnswerFunc)(Gateway *gateway, Oracle *oracle, const char *method, gint32 sequence_id);

struct Gateway {
  TideWireMode mode;
  AnswerFunc answer;
  guint hang_up_after; /* calls on one connection; 0: never */
  /* the server's thread; read after gateway_stop() */
  GString *methods; /* the names of the calls, each followed by a space */
  guint pages;      /* remaining pages of a scan */
  guint page_rows;  /* rows per page, whatever was requested; 0: two */
  guint asked_rows; /* by all requests of pages, in the binary protocol and fewer than 128 each */
  gboolean table_exists;
  LoopbackServer *server;
  _Atomic(TideHBaseClient *) client; /* set while the thread already runs */
};

static const TideWireMode modes[] = {
    {TIDE_FRAMING_UNFRAMED, TIDE_WIRE_BINARY},
    {TIDE_FRAMING_UNFRAMED, TIDE_WIRE_COMPACT},
    {TIDE_FRAMING_FRAMED, TIDE_WIRE_BINARY},
    {TIDE_FRAMING_FRAMED, TIDE_WIRE_COMPACT},
};

static inline void
serve_gateway(LoopbackServer *server, int fd, guint connection)
{
  Gateway *gateway = server->data;
  TideWireMessage head;
  g_auto(TideBuffer) call = {0};
  for (guint calls = 1; loopback_read_call(server, fd, gateway->mode.framing, gateway->mode.protocol, &call, &head);
       calls++) {
    g_autofree char *method = g_strndup((const char *)head.name.data, head.name.len);
    g_string_append_printf(gateway->methods, "%s ", method);
    if (g_str_equal(method, "getScannerRows"))
      gateway->asked_rows +=
          call.data[call.len - 2]; /* the last byte of its last field, before the end of the fields */
    TideBytes reply = gateway->answer(gateway, oracle_get(gateway->mode.protocol), method, head.sequence_id);
    if (reply.len > 0)
      loopback_send_message(fd, gateway->mode.framing, reply);
    if (calls == gateway->hang_up_after)
      return;
  }
}

/* @as: its state before the thread starts, because the thread sanitizer sees no order in socket traffic. */
static inline void
gateway_start(Gateway *gateway, Gateway as)
{
  as.methods = g_string_new(NULL);
  *gateway = as;
  gateway->server = loopback_start(serve_gateway, gateway);
  gateway->client = tide_hbase_client_new(gateway->server->endpoint, as.mode);
}

/* Frees everything, and checks that the calls were @methods. */
static inline void
gateway_stop(Gateway *gateway, const char *methods)
{
  loopback_stop(gateway->server); /* first: its thread may use the client */
  tide_hbase_client_free(gateway->client);
  g_assert_cmpstr(gateway->methods->str, ==, methods);
  g_string_free(gateway->methods, TRUE);
}

static inline gint64
in_ms(gint64 ms)
{
  return tide_now_us() + ms * TIDE_US_PER_MS;
}

static inline gboolean
put_one_row(TideHBaseClient *client, TideWireProtocol protocol, gint64 timeout_ms, GError **error)
{
  g_auto(TideBuffer) prefix = {0};
  g_auto(TideBuffer) put = {0};
  tide_column_prefix_append(protocol, &prefix, TIDE_BYTES_LITERAL("M"), TIDE_BYTES_LITERAL("q"));
  tide_put_head_append(protocol, &put, TIDE_BYTES_LITERAL("row"), 1);
  tide_cell_append(protocol, &put, tide_buffer_bytes(&prefix), TIDE_BYTES_LITERAL("v"), 1);
  tide_put_tail_append(protocol, &put, TIDE_PUT_NO_TIME, 0);
  TideBytes part = tide_buffer_bytes(&put);
  return tide_hbase_client_put_multiple(client, TIDE_BYTES_LITERAL("METRIC"), &part, 1, 1, in_ms(timeout_ms), error);
}

static inline TideBytes
answer_void(Gateway *gateway, Oracle *oracle, const char *method, gint32 sequence_id)
{
  reply_begin(oracle, method, T_REPLY, sequence_id);
  return reply_end(oracle);
}

static inline TideBytes
answer_unknown_method(Gateway *gateway, Oracle *oracle, const char *method, gint32 sequence_id)
{
  return reply_application_exception(oracle, method, sequence_id, "Invalid method name", 1);
}
