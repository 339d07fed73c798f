/* tidemark's own client and a scripted gateway that has the table "T" with the families M and N. */
#pragma once

#include "fault/gateway/scripted_gateway.h"
#include "thrift/client/hbase_client.h"
#include "thrift/wire/put_encoder.h"
#include "util/clock.h"
#include "util/error.h"

#define TIMEOUT_MS 10000 /* far beyond what any step takes: only a failure waits so long */
#define SHORT_MS 200     /* how long a call waits for a reply that never comes */
#define TABLE TIDE_BYTES_LITERAL("T")

static const TideWireMode modes[] = {
    {TIDE_FRAMING_UNFRAMED, TIDE_WIRE_BINARY},
    {TIDE_FRAMING_UNFRAMED, TIDE_WIRE_COMPACT},
    {TIDE_FRAMING_FRAMED, TIDE_WIRE_BINARY},
    {TIDE_FRAMING_FRAMED, TIDE_WIRE_COMPACT},
};

static inline gint64
in_ms(gint64 ms)
{
  return tide_now_us() + ms * TIDE_US_PER_MS;
}

static inline gint64
timeout(void)
{
  return in_ms(TIMEOUT_MS);
}

static inline void
assert_ok(gboolean ok, GError **error)
{
  g_assert_no_error(*error);
  g_assert_true(ok);
}

static inline TideScriptedGateway *
gateway_in_mode(TideWireMode mode)
{
  TideScriptedGateway *gateway = scripted_gateway_new(&(TideGatewayOptions){
      .framed = mode.framing == TIDE_FRAMING_FRAMED, .compact = mode.protocol == TIDE_WIRE_COMPACT});
  scripted_gateway_create_table(gateway, "T", "M,N", NULL);
  return gateway;
}

/* A gateway in a mode, a client of it, and what its calls fail with. */
typedef struct ClientScene {
  TideScriptedGateway *gateway; /* owned */
  TideHBaseClient *client;      /* owned */
  GError *error;                /* owned */
} ClientScene;

static inline ClientScene
scene_in_mode(TideWireMode mode)
{
  g_autoptr(GError) error = NULL;
  TideScriptedGateway *gateway = gateway_in_mode(mode);
  g_autoptr(TideEndpoint) endpoint = tide_endpoint_parse(scripted_gateway_endpoint(gateway), &error);
  g_assert_no_error(error);
  return (ClientScene){.gateway = gateway, .client = tide_hbase_client_new(endpoint, mode)};
}

static inline void
client_scene_clear(ClientScene *scene)
{
  tide_hbase_client_free(scene->client);
  scripted_gateway_free(scene->gateway);
  g_clear_error(&scene->error);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(ClientScene, client_scene_clear)

static inline void
append_cell(TideWireProtocol protocol, TideBuffer *out, TideBytes family, TideBytes qualifier, TideBytes value,
            gint64 timestamp_ms)
{
  g_auto(TideBuffer) prefix = {0};
  tide_column_prefix_append(protocol, &prefix, family, qualifier);
  tide_cell_append(protocol, out, tide_buffer_bytes(&prefix), value, timestamp_ms);
}

/* One put of one cell M:q. */
static inline gboolean
put_one(ClientScene *at, const char *row, const char *value, gint64 deadline_us)
{
  g_auto(TideBuffer) put = {0};
  TideWireProtocol protocol = tide_hbase_client_mode(at->client).protocol;
  tide_put_head_append(protocol, &put, tide_bytes_of_string(row), 1);
  append_cell(protocol, &put, TIDE_BYTES_LITERAL("M"), TIDE_BYTES_LITERAL("q"), tide_bytes_of_string(value), 1000);
  tide_put_tail_append(protocol, &put, TIDE_PUT_NO_TIME, 0);
  TideBytes part = tide_buffer_bytes(&put);
  return tide_hbase_client_put_multiple(at->client, TABLE, &part, 1, 1, deadline_us, &at->error);
}

/* The next call works. */
static inline void
assert_put_one(ClientScene *at, const char *row, const char *value)
{
  g_clear_error(&at->error);
  assert_ok(put_one(at, row, value, timeout()), &at->error);
}
