/* What the gateways remember of writers' connections: a scripted gateway that dies and comes back, and no writers but
 * this test. */
#include "fault/gateway/scripted_gateway.h"
#include "gateway/gateways.h"
#include "unit/load_text.h"
#include "util/clock.h"
#include "util/log.h"

#define TIMEOUT_US (240 * TIDE_US_PER_S) /* only a failure waits so long */

typedef struct Fixture {
  TideScriptedGateway *gateway;
  TideConfig *config;
  TideMetrics *metrics;
  TideGateways *gateways;
} Fixture;

static void
set_up(Fixture *fixture, gconstpointer data)
{
  fixture->gateway = scripted_gateway_new(NULL);
  g_autofree char *text = g_strdup_printf("kafka: { brokers: [\"127.0.0.1:1\"], group: g, topics: [t] }\n"
                                          "hbase: { gateways: [\"%s\"] }\n"
                                          "readings: { format: json, time: { field: ts, format: epoch_ms } }\n"
                                          "tables: { T: { key: [ { field: host } ], columns: { family: M, from: \"*\" "
                                          "} } }\n",
                                          scripted_gateway_endpoint(fixture->gateway));
  fixture->config = load_text(text);
  fixture->metrics = tide_metrics_new();
  fixture->gateways = tide_gateways_new(&fixture->config->hbase, fixture->metrics);
  tide_gateways_start(fixture->gateways);
}

static void
tear_down(Fixture *fixture, gconstpointer data)
{
  tide_gateways_stop(fixture->gateways);
  tide_gateways_free(fixture->gateways);
  tide_metrics_free(fixture->metrics);
  tide_config_free(fixture->config);
  scripted_gateway_free(fixture->gateway);
}

static void
wait_up(Fixture *fixture)
{
  TideWireProtocol protocol;
  g_assert_true(tide_gateways_wait_up(fixture->gateways, tide_now_us() + TIMEOUT_US, &protocol));
}

static guint64
sum(const Fixture *fixture, const char *metric)
{
  return tide_metrics_sum(fixture->metrics, metric, NULL);
}

static TideGatewayLink
open_link(Fixture *fixture)
{
  TideGatewayLink link;
  g_assert_true(tide_gateways_open_link(fixture->gateways, tide_now_us() + TIMEOUT_US, &link));
  return link;
}

/* A connection that carried an answer tells that its gateway lives, as long as it is open: what is cut after that is
 * cut by a gateway that has died, not by one that is full. */
static void
test_closed_connection_proves_nothing(Fixture *fixture, gconstpointer data)
{
  wait_up(fixture);
  TideGatewayLink first = open_link(fixture);
  TideCallMeasure written = {.end = TIDE_CALL_END_WRITTEN, .n_rows = 1, .duration_us = TIDE_US_PER_MS};
  tide_gateways_note_call(fixture->gateways, &first, &written);
  tide_gateways_close_link(fixture->gateways, &first, FALSE);
  TideGatewayLink second = open_link(fixture);
  scripted_gateway_kill(fixture->gateway);
  tide_gateways_close_link(fixture->gateways, &second, TRUE);
  g_assert_cmpuint(tide_gateways_n_up(fixture->gateways), ==, 0);
  g_assert_cmpuint(sum(fixture, "tidemark_gateway_closed_at_once_total"), ==, 0);
}

/* A writer that is refused has no connection, and takes the place of none. */
static void
test_refused_connection_takes_no_place(Fixture *fixture, gconstpointer data)
{
  TideGatewayLink link;
  for (guint i = 0; i < 3; i++) {
    wait_up(fixture);
    scripted_gateway_refuse(fixture->gateway);
    g_assert_false(tide_gateways_open_link(fixture->gateways, 0, &link));
    g_assert_cmpuint(tide_gateways_n_up(fixture->gateways), ==, 0);
    g_assert_cmpuint(sum(fixture, "tidemark_gateway_connections"), ==, 0);
    scripted_gateway_start(fixture->gateway);
  }
  link = open_link(fixture);
  g_assert_cmpuint(sum(fixture, "tidemark_gateway_connections"), ==, 1);
  tide_gateways_close_link(fixture->gateways, &link, FALSE);
}

#define ADD(path, func) g_test_add("/gateways/" path, Fixture, NULL, set_up, func, tear_down)

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  tide_log_init(TIDE_LOG_FORMAT_TEXT, g_getenv("TIDE_TEST_VERBOSE") != NULL ? TIDE_LOG_DEBUG : TIDE_LOG_CRIT);
  tide_hbase_client_init_types();
  ADD("closed-connection-proves-nothing", test_closed_connection_proves_nothing);
  ADD("refused-connection-takes-no-place", test_refused_connection_takes_no_place);
  return g_test_run();
}
