/* When a writer's connection is replaced: two scripted gateways, and this test as the only writer. */
#include "fault/gateway/scripted_gateway.h"
#include "gateway/writer_connection.h"
#include "unit/load_text.h"
#include "unit/test_case.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/log.h"

#define TIMEOUT_US (240 * TIDE_US_PER_S) /* only a failure waits so long */
#define N 2

typedef struct Fixture {
  TideScriptedGateway *scripted[N];
  TideConfig *config;
  TideMetrics *metrics;
  TideGateways *gateways;
  TideWriterConnection connection;
} Fixture;

static void
set_up(Fixture *fixture, gconstpointer data)
{
  for (guint i = 0; i < N; i++)
    fixture->scripted[i] = scripted_gateway_new(NULL);
  g_autofree char *text =
      g_strdup_printf("kafka: { brokers: [\"127.0.0.1:1\"], group: g, topics: [t] }\n"
                      "hbase: { gateways: [\"%s\", \"%s\"] }\n"
                      "readings: { format: json, time: { field: ts, format: epoch_ms } }\n"
                      "tables: { T: { key: [ { field: host } ], columns: { family: M, from: \"*\" } } }\n",
                      scripted_gateway_endpoint(fixture->scripted[0]), scripted_gateway_endpoint(fixture->scripted[1]));
  fixture->config = load_text(text);
  fixture->metrics = tide_metrics_new();
  fixture->gateways = tide_gateways_new(&fixture->config->hbase, fixture->metrics);
  tide_writer_connection_init(&fixture->connection, &fixture->config->hbase, fixture->gateways, fixture->metrics);
  tide_gateways_start(fixture->gateways);
}

static void
tear_down(Fixture *fixture, gconstpointer data)
{
  tide_writer_connection_close(&fixture->connection);
  tide_writer_connection_clear(&fixture->connection);
  tide_gateways_stop(fixture->gateways);
  tide_gateways_free(fixture->gateways);
  tide_metrics_free(fixture->metrics);
  tide_config_free(fixture->config);
  for (guint i = 0; i < N; i++)
    scripted_gateway_free(fixture->scripted[i]);
}

#define FIXTURE_TEST(path) TEST_WITH(Fixture, set_up, tear_down, path)

static guint64
connects(const Fixture *fixture, const char *reason)
{
  g_autofree char *label = g_strdup_printf("reason=\"%s\"", reason);
  return tide_metrics_sum(fixture->metrics, "tidemark_hbase_connects_total", label);
}

static void
note_refused_call(Fixture *fixture, const char *text)
{
  g_autoptr(GError) error = g_error_new_literal(TIDE_ERROR, TIDE_ERROR_GATEWAY, text);
  tide_writer_connection_note_call(&fixture->connection, 1, tide_now_us(), error);
}

static void
note_failed_call(Fixture *fixture)
{
  note_refused_call(fixture, "the gateway cannot do this");
}

/* Another writer's call through the other gateway, as soon as that is up: each may have one connection at first. */
static void
note_written_call_elsewhere(Fixture *fixture)
{
  TideGatewayLink link;
  TideCallMeasure written = {.end = TIDE_CALL_END_WRITTEN, .n_rows = 1, .duration_us = TIDE_US_PER_MS};
  g_assert_true(tide_gateways_open_link(fixture->gateways, tide_now_us() + TIMEOUT_US, &link));
  g_assert_true(link.gateway != fixture->connection.link.gateway);
  tide_gateways_note_call(fixture->gateways, &link, &written);
  tide_gateways_close_link(fixture->gateways, &link, FALSE);
}

static void
ping(Fixture *fixture)
{
  g_autoptr(GError) error = NULL;
  TideHBaseClient *client = tide_writer_connection_begin(&fixture->connection);
  gboolean answered = tide_hbase_client_ping(client, tide_now_us() + TIMEOUT_US, &error);
  g_assert_no_error(error);
  g_assert_true(answered);
  tide_writer_connection_end(&fixture->connection);
}

/* Connects, and lets all calls fail until the circuit is open. As the gateway takes no new connections, it stays so.
 * Returns: which it is. */
static guint
connect_where_the_circuit_opens(Fixture *fixture)
{
  g_assert_true(tide_writer_connection_open(&fixture->connection, tide_now_us() + TIMEOUT_US));
  ping(fixture); /* accepted, too: else it would be reset with the listener */
  guint own = tide_gateway_index(fixture->connection.link.gateway);
  scripted_gateway_refuse(fixture->scripted[own]);
  note_failed_call(fixture);
  note_written_call_elsewhere(fixture);
  while (tide_metrics_sum(fixture->metrics, "tidemark_gateway_breaker_opened_total", NULL) == 0)
    note_failed_call(fixture);
  return own;
}

/* K11: a call that a region server refuses for its size says as little of the gateway as a bad row does. */
FIXTURE_TEST("/writer-connection/K11-too-large-call")
{
  static const char text[] =
      "the gateway refused 'putMultiple': Failed 12 actions: RPC data length of 1200911 received "
      "from 10.0.0.1 is greater than max allowed 1000000: 12 times, servers with issues: null";
  g_assert_true(tide_writer_connection_open(&fixture->connection, tide_now_us() + TIMEOUT_US));
  note_refused_call(fixture, text);
  note_written_call_elsewhere(fixture);
  for (guint i = 0; i < 20; i++)
    note_refused_call(fixture, text);
  g_assert_cmpuint(tide_metrics_sum(fixture->metrics, "tidemark_gateway_breaker_opened_total", NULL), ==, 0);
}

/* A connection that is cut before it carried an answer was not wanted, though it looks like one that grew stale: while
 * others work, its gateway is full. */
FIXTURE_TEST("/writer-connection/cut-before-an-answer-tells-of-a-full-gateway")
{
  TideGatewayLink other;
  TideCallMeasure written = {.end = TIDE_CALL_END_WRITTEN, .n_rows = 1, .duration_us = TIDE_US_PER_MS};
  gint64 deadline_us = tide_now_us() + TIMEOUT_US;
  g_assert_true(tide_gateways_open_link(fixture->gateways, deadline_us, &other));
  tide_gateways_note_call(fixture->gateways, &other, &written);
  guint own = tide_gateway_index(other.gateway);
  scripted_gateway_kill(fixture->scripted[1 - own]);
  g_assert_true(tide_writer_connection_open(&fixture->connection, deadline_us));
  g_assert_true(fixture->connection.link.gateway == other.gateway);
  ping(fixture); /* accepted, too */
  gint64 opened_us = fixture->connection.link.opened_us;
  scripted_gateway_reset_connections(fixture->scripted[own]);
  while (fixture->connection.link.opened_us == opened_us) {
    g_assert_cmpint(tide_now_us(), <, deadline_us);
    (void)tide_writer_connection_open(&fixture->connection, 0);
  }
  if (tide_now_us() - opened_us < 3 * TIDE_US_PER_S) /* else it counts as cut by a gateway that died */
    g_assert_cmpuint(tide_metrics_sum(fixture->metrics, "tidemark_gateway_connections_dropped_total", NULL), ==, 1);
  tide_gateways_close_link(fixture->gateways, &other, FALSE);
}

FIXTURE_TEST("/writer-connection/moves")
{
  guint own = connect_where_the_circuit_opens(fixture);
  tide_writer_connection_settle(&fixture->connection);
  g_assert_nonnull(fixture->connection.link.gateway);
  g_assert_cmpuint(tide_gateway_index(fixture->connection.link.gateway), ==, 1 - own);
  g_assert_cmpuint(connects(fixture, "moved"), ==, 1);
  g_assert_cmpuint(tide_metrics_sum(fixture->metrics, "tidemark_gateway_connections", NULL), ==, 1);
  g_assert_true(scripted_gateway_wait_open_connections(fixture->scripted[own], 0, tide_now_us() + TIMEOUT_US));
}

/* The gateway that should have the writer takes no connections, which nobody knew: calls go on by the old one, until
 * there is a new one. */
FIXTURE_TEST("/writer-connection/stays-where-it-cannot-move")
{
  guint own = connect_where_the_circuit_opens(fixture);
  const TideHBaseClient *client = fixture->connection.link.client;
  scripted_gateway_refuse(fixture->scripted[1 - own]);
  tide_writer_connection_settle(&fixture->connection);
  g_assert_true(fixture->connection.link.client == client);
  g_assert_cmpuint(tide_metrics_sum(fixture->metrics, "tidemark_gateway_connections", NULL), ==, 1);
  ping(fixture);
  g_assert_true(fixture->connection.link.client == client);
  g_assert_cmpuint(connects(fixture, "first"), ==, 1);
  g_assert_cmpuint(connects(fixture, "moved"), ==, 0);
  scripted_gateway_start(fixture->scripted[1 - own]);
  TideWireProtocol protocol;
  g_assert_true(tide_gateways_wait_up(fixture->gateways, tide_now_us() + TIMEOUT_US, &protocol));
  tide_writer_connection_settle(&fixture->connection);
  g_assert_cmpuint(tide_gateway_index(fixture->connection.link.gateway), ==, 1 - own);
  g_assert_cmpuint(connects(fixture, "moved"), ==, 1);
}

/* Two that are idle alike, of which the gateway forgets one: a call over it gets no answer. */
FIXTURE_TEST("/writer-connection/D7-K16-idle-loss-is-told-and-pinged-before")
{
  TideWriterConnection *connection = &fixture->connection;
  g_assert_true(tide_writer_connection_open(connection, tide_now_us() + TIMEOUT_US));
  g_assert_cmpint(tide_gateways_ping_after_us(fixture->gateways, &connection->link), ==, 30 * TIDE_US_PER_S);
  TideScriptedGateway *own = fixture->scripted[tide_gateway_index(connection->link.gateway)];
  TideScriptedFault silent = {.kind = TIDE_FAULT_SILENCE, .call = TIDE_CALL_GET_THRIFT_SERVER_TYPE, .max_hits = 1};
  scripted_gateway_add_fault(own, &silent);
  g_autoptr(GError) error = NULL;
  gint64 start_us = tide_now_us();
  connection->last_used_us = start_us - 14 * TIDE_US_PER_S;
  TideHBaseClient *client = tide_writer_connection_begin(connection);
  g_assert_false(tide_hbase_client_ping(client, start_us + 100 * TIDE_US_PER_MS, &error));
  tide_writer_connection_end(connection);
  tide_writer_connection_note_call(connection, 1, start_us, error);
  g_assert_true(g_str_has_suffix(error->message, ", after the connection was idle for 14 s"));
  g_assert_cmpint(tide_gateways_ping_after_us(fixture->gateways, &connection->link), ==, 7 * TIDE_US_PER_S);
  tide_writer_connection_settle(connection);
  g_assert_null(connection->link.gateway);

  /* The next connection to it is pinged before it would be forgotten, and not all the time. */
  scripted_gateway_kill(fixture->scripted[own == fixture->scripted[0] ? 1 : 0]);
  g_assert_true(tide_writer_connection_open(connection, tide_now_us() + TIMEOUT_US));
  g_assert_cmpstr(tide_writer_connection_gateway_name(connection), ==, scripted_gateway_endpoint(own));
  gint64 used_us = connection->last_used_us = tide_now_us() - 5 * TIDE_US_PER_S;
  tide_writer_connection_keep_alive(connection);
  g_assert_cmpint(connection->last_used_us, ==, used_us);
  used_us = connection->last_used_us = tide_now_us() - 8 * TIDE_US_PER_S;
  tide_writer_connection_keep_alive(connection);
  g_assert_cmpint(connection->last_used_us, >, used_us);

  /* A ping that is lost tells the same, and a loss that is no news makes it no later; there is an end to it. */
  static const gint64 idle_s[] = {8, 20, 5};
  static const gint64 wanted_us[] = {4 * TIDE_US_PER_S, 4 * TIDE_US_PER_S, 5 * TIDE_US_PER_S / 2};
  TideScriptedFault closing = {
      .kind = TIDE_FAULT_CLOSE_BEFORE_REPLY, .call = TIDE_CALL_GET_THRIFT_SERVER_TYPE, .max_hits = 1};
  for (guint i = 0; i < G_N_ELEMENTS(idle_s); i++) {
    g_assert_true(tide_writer_connection_open(connection, tide_now_us() + TIMEOUT_US));
    TideGatewayLink link = connection->link;
    scripted_gateway_add_fault(own, &closing);
    connection->last_used_us = tide_now_us() - idle_s[i] * TIDE_US_PER_S;
    tide_writer_connection_keep_alive(connection);
    g_assert_null(connection->link.gateway);
    g_assert_cmpint(tide_gateways_ping_after_us(fixture->gateways, &link) / 10000, ==, wanted_us[i] / 10000);
  }
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  tide_log_init(TIDE_LOG_FORMAT_TEXT, g_getenv("TIDE_TEST_VERBOSE") != NULL ? TIDE_LOG_DEBUG : TIDE_LOG_CRIT);
  tide_hbase_client_init_types();
  test_cases_add();
  return g_test_run();
}
