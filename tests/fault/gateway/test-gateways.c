/* The gateways' knowledge of writers' connections: a scripted gateway stops and returns, and this test is the only
 * writer. */
#include "fault/gateway/scripted_gateway.h"
#include "fault/pipeline/pipeline_fixture.h"
#include "gateway/gateways_private.h"
#include "unit/load_text.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/lock.h"
#include "util/log.h"

#include <glib/gstdio.h>

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

#define FIXTURE_TEST(path) TEST_WITH(Fixture, set_up, tear_down, path)

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
FIXTURE_TEST("/gateways/closed-connection-proves-nothing")
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
  g_assert_cmpuint(sum(fixture, "tidemark_gateway_connections_dropped_total"), ==, 0);
}

/* A writer that is refused has no connection, and takes the place of none. */
FIXTURE_TEST("/gateways/refused-connection-takes-no-place")
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

/* As after an upgrade or a change of its configuration. */
FIXTURE_TEST("/gateways/one-that-comes-back-in-another-mode-is-used")
{
  wait_up(fixture);
  TideGatewayOptions framed = {.port = scripted_gateway_port(fixture->gateway), .framed = TRUE};
  TideGatewayLink link = open_link(fixture);
  scripted_gateway_free(fixture->gateway);
  tide_gateways_close_link(fixture->gateways, &link, TRUE);
  fixture->gateway = scripted_gateway_new(&framed);
  wait_up(fixture);
}

/* ---- K6: of which cluster ---- */

#define OTHER_CLUSTER "7be3f4c1-0d2e-4b6a-8f15-93a0c2d4e6b8"

typedef struct Clusters {
  TideScriptedGateway *gateways[2];
  char *directory; /* owned: $STATE_DIRECTORY */
  TideConfig *config;
  TideMetrics *metrics;
  TideGateways *list;
} Clusters;

static void
set_up_clusters(Clusters *clusters, gconstpointer data)
{
  for (guint i = 0; i < G_N_ELEMENTS(clusters->gateways); i++)
    clusters->gateways[i] = scripted_gateway_new(NULL);
  clusters->directory = g_dir_make_tmp("tidemark-clusters-XXXXXX", NULL);
  g_assert_nonnull(clusters->directory);
  g_setenv("STATE_DIRECTORY", clusters->directory, TRUE);
  g_autofree char *text = g_strdup_printf("kafka: { brokers: [\"127.0.0.1:1\"], group: g, topics: [t] }\n"
                                          "hbase: { gateways: [\"%s\", \"%s\"] }\n"
                                          "readings: { format: json, time: { field: ts, format: epoch_ms } }\n"
                                          "tables: { T: { key: [ { field: host } ], columns: { family: M, from: \"*\" "
                                          "} } }\n",
                                          scripted_gateway_endpoint(clusters->gateways[0]),
                                          scripted_gateway_endpoint(clusters->gateways[1]));
  clusters->config = load_text(text);
  clusters->metrics = tide_metrics_new();
  clusters->list = tide_gateways_new(&clusters->config->hbase, clusters->metrics);
}

static void
tear_down_clusters(Clusters *clusters, gconstpointer data)
{
  tide_gateways_stop(clusters->list);
  tide_gateways_free(clusters->list);
  tide_metrics_free(clusters->metrics);
  tide_config_free(clusters->config);
  for (guint i = 0; i < G_N_ELEMENTS(clusters->gateways); i++)
    scripted_gateway_free(clusters->gateways[i]);
  g_autofree char *path = g_build_filename(clusters->directory, "cluster", NULL);
  g_unlink(path);
  g_rmdir(clusters->directory);
  g_free(clusters->directory);
  g_unsetenv("STATE_DIRECTORY");
}

#define CLUSTERS_TEST(path) TEST_WITH(Clusters, set_up_clusters, tear_down_clusters, path)

static void
be_of_cluster(const Clusters *clusters, guint index, const char *cluster)
{
  fake_hbase_set_cluster(scripted_gateway_hbase(clusters->gateways[index]), cluster);
}

static void
remember(const Clusters *clusters, const char *cluster)
{
  g_autofree char *path = g_build_filename(clusters->directory, "cluster", NULL);
  g_assert_true(g_file_set_contents(path, cluster, -1, NULL));
}

static char *
remembered(const Clusters *clusters)
{
  g_autofree char *path = g_build_filename(clusters->directory, "cluster", NULL);
  char *text = NULL;
  (void)g_file_get_contents(path, &text, NULL, NULL);
  return text;
}

/* How many gateways are in @state, and what is said of the last of them. (transfer full) */
static guint
count_states(const Clusters *clusters, const char *state, char **ret_error_text)
{
  guint n = 0;
  g_autoptr(GArray) views = tide_gateways_view(clusters->list);
  for (guint i = 0; i < views->len; i++) {
    const TideGatewayView *view = &g_array_index(views, TideGatewayView, i);
    if (strcmp(view->state, state) != 0)
      continue;
    n++;
    if (ret_error_text != NULL) {
      g_free(*ret_error_text);
      *ret_error_text = g_strdup(view->error_text);
    }
  }
  return n;
}

static guint64
sum_of(const Clusters *clusters, const char *metric)
{
  return tide_metrics_sum(clusters->metrics, metric, NULL);
}

/* Probers and gateways tell nobody what they did: a look now and then. */
static void
look_again_soon(void)
{
  static TideMutex lock = {PTHREAD_MUTEX_INITIALIZER};
  TideCond never;
  tide_cond_init(&never);
  tide_mutex_lock(&lock);
  tide_cond_wait_until(&never, &lock, tide_now_us() + TIDE_US_PER_MS);
  tide_mutex_unlock(&lock);
  tide_cond_clear(&never);
}

static void
wait_for_states(const Clusters *clusters, const char *state, guint n)
{
  gint64 deadline_us = tide_now_us() + TIMEOUT_US;
  while (count_states(clusters, state, NULL) != n && tide_now_us() < deadline_us)
    look_again_soon();
  g_assert_cmpuint(count_states(clusters, state, NULL), ==, n);
}

static void
assert_told_once(const char *lines, const char *text)
{
  const char *told = strstr(lines, text);
  g_assert_nonnull(told);
  g_assert_null(strstr(told + 1, text));
}

CLUSTERS_TEST("/gateways/D28-K6-gateways-of-two-clusters")
{
  g_autofree char *error_text = NULL;
  be_of_cluster(fixture, 1, OTHER_CLUSTER);
  tide_gateways_start(fixture->list);
  wait_for_states(fixture, "up", 1);
  wait_for_states(fixture, "wrong_cluster", 1);
  g_assert_cmpuint(tide_gateways_n_up(fixture->list), ==, 1);
  g_assert_cmpuint(tide_metrics_sum(fixture->metrics, "tidemark_gateway_wrong_cluster", NULL), ==, 1);
  (void)count_states(fixture, "wrong_cluster", &error_text);
  g_assert_nonnull(strstr(error_text, FAKE_CLUSTER));
  g_assert_nonnull(strstr(error_text, OTHER_CLUSTER));
  g_assert_nonnull(strstr(error_text, "--accept-cluster-change"));
  /* Every connection is to the one that was found first. */
  g_autofree char *kept = remembered(fixture);
  guint chosen = g_str_has_prefix(kept, FAKE_CLUSTER) ? 0 : 1;
  for (guint i = 0; i < 4; i++) {
    TideHBaseClient *client = NULL;
    TideGateway *gateway = tide_gateways_connect(fixture->list, tide_now_us() + TIMEOUT_US, &client);
    g_assert_cmpstr(tide_gateway_name(gateway), ==, scripted_gateway_endpoint(fixture->gateways[chosen]));
    tide_gateways_release(fixture->list, gateway, client, FALSE);
  }
  /* It is used as soon as it is of the same. */
  be_of_cluster(fixture, 1 - chosen, chosen == 0 ? FAKE_CLUSTER : OTHER_CLUSTER);
  wait_for_states(fixture, "up", 2);
  g_assert_cmpuint(tide_metrics_sum(fixture->metrics, "tidemark_gateway_wrong_cluster", NULL), ==, 0);
}

CLUSTERS_TEST("/gateways/D28-K6-cluster-is-remembered")
{
  remember(fixture, OTHER_CLUSTER "\n");
  tide_gateways_start(fixture->list);
  wait_for_states(fixture, "wrong_cluster", 2);
  TideWireProtocol protocol;
  g_assert_false(tide_gateways_wait_up(fixture->list, 0, &protocol));
  g_autofree char *kept = remembered(fixture);
  g_assert_cmpstr(kept, ==, OTHER_CLUSTER "\n");
}

CLUSTERS_TEST("/gateways/D28-K6-accepted-cluster-is-remembered")
{
  remember(fixture, OTHER_CLUSTER "\n");
  tide_gateways_accept_cluster_change(fixture->list);
  tide_gateways_start(fixture->list);
  wait_for_states(fixture, "up", 2);
  g_autofree char *kept = remembered(fixture);
  g_assert_cmpstr(kept, ==, FAKE_CLUSTER "\n");
}

/* Whichever is asked first: what is meant nobody knows, so rows go where they went. Of those that are away nobody asks.
 */
CLUSTERS_TEST("/gateways/D28-K6-change-to-two-clusters-is-refused")
{
  remember(fixture, "0e6c9a14-52d7-4c0b-b1d3-7f8a90b1c2d3\n");
  be_of_cluster(fixture, 1, OTHER_CLUSTER);
  tide_gateways_accept_cluster_change(fixture->list);
  LogCapture *capture = log_capture_start();
  tide_gateways_start(fixture->list);
  wait_for_states(fixture, "wrong_cluster", 2);
  g_autofree char *lines = log_capture_end(capture);
  assert_told_once(lines, "--accept-cluster-change rejected");
  g_assert_true(tide_gateways_are_refused(fixture->list));
  g_autofree char *kept = remembered(fixture);
  g_assert_cmpstr(kept, ==, "0e6c9a14-52d7-4c0b-b1d3-7f8a90b1c2d3\n");
}

CLUSTERS_TEST("/gateways/D28-K6-change-is-accepted-while-one-is-away")
{
  remember(fixture, OTHER_CLUSTER "\n");
  scripted_gateway_refuse(fixture->gateways[1]);
  tide_gateways_accept_cluster_change(fixture->list);
  tide_gateways_start(fixture->list);
  wait_for_states(fixture, "up", 1);
  g_autofree char *kept = remembered(fixture);
  g_assert_cmpstr(kept, ==, FAKE_CLUSTER "\n");
}

/* Whoever stops the daemon while one has not answered yet has accepted nothing. */
CLUSTERS_TEST("/gateways/D28-K6-change-is-not-accepted-by-a-stop")
{
  remember(fixture, OTHER_CLUSTER "\n");
  TideScriptedFault silent = {.kind = TIDE_FAULT_SILENCE};
  (void)scripted_gateway_add_fault(fixture->gateways[1], &silent);
  tide_gateways_accept_cluster_change(fixture->list);
  tide_gateways_start(fixture->list);
  gint64 deadline_us = tide_now_us() + TIMEOUT_US;
  tide_mutex_lock(&fixture->list->lock);
  while (fixture->list->gateways[0].first_probe.reported_cluster == NULL && tide_now_us() < deadline_us)
    tide_cond_wait_until(&fixture->list->changed, &fixture->list->lock, deadline_us);
  g_assert_nonnull(fixture->list->gateways[0].first_probe.reported_cluster);
  tide_mutex_unlock(&fixture->list->lock);
  tide_gateways_stop(fixture->list);
  tide_gateways_free(fixture->list);
  g_autofree char *kept = remembered(fixture);
  g_assert_cmpstr(kept, ==, OTHER_CLUSTER "\n");
  fixture->list = tide_gateways_new(&fixture->config->hbase, fixture->metrics);
}

/* What the file says cannot be told: nothing is written on the chance that it says the same. */
CLUSTERS_TEST("/gateways/D28-K6-unreadable-memory-is-waited-for")
{
  g_autofree char *error_text = NULL;
  g_autofree char *path = g_build_filename(fixture->directory, "cluster", NULL);
  g_assert_cmpint(g_mkdir(path, 0700), ==, 0);
  tide_gateways_start(fixture->list);
  gint64 deadline_us = tide_now_us() + TIMEOUT_US;
  while ((error_text == NULL || strstr(error_text, "which cluster") == NULL) && tide_now_us() < deadline_us)
    (void)count_states(fixture, "down", &error_text);
  g_assert_nonnull(strstr(error_text, "which cluster"));
  g_assert_cmpuint(tide_gateways_n_up(fixture->list), ==, 0);
  g_assert_cmpint(g_rmdir(path), ==, 0);
  wait_for_states(fixture, "up", 2);
}

/* One that does not know the call is used as before. */
CLUSTERS_TEST("/gateways/D28-K6-gateway-without-the-call-is-used")
{
  scripted_gateway_set_personality(fixture->gateways[1], TIDE_PERSONALITY_OLD_THRIFT2);
  be_of_cluster(fixture, 1, OTHER_CLUSTER);
  tide_gateways_start(fixture->list);
  wait_for_states(fixture, "up", 2);
}

/* As one says that connected to HBase while ZooKeeper was away. */
CLUSTERS_TEST("/gateways/D28-K6-stand-in-is-no-cluster")
{
  be_of_cluster(fixture, 0, "default-cluster");
  be_of_cluster(fixture, 1, "default-cluster");
  tide_gateways_start(fixture->list);
  wait_for_states(fixture, "up", 2);
  g_autofree char *kept = remembered(fixture);
  g_assert_cmpstr(kept, ==, NULL);
}

static gboolean
ignore_row(const TideResultRow *row, gpointer data)
{
  return TRUE;
}

/* A call through @link that failed so. */
static void
fail_call(Clusters *clusters, TideGatewayLink *link, const char *text)
{
  TideCallMeasure failed = {.end = TIDE_CALL_END_REFUSED, .error_text = text, .n_rows = 1, .duration_us = 1};
  tide_gateways_note_call(clusters->list, link, &failed);
}

/* The pause after its circuit opened is over. */
static void
end_rest(Clusters *clusters, TideGateway *gateway)
{
  tide_mutex_lock(&clusters->list->lock);
  gateway->circuit_open_until_us = 0;
  tide_cond_broadcast(&clusters->list->changed);
  while (gateway->state != GATEWAY_UP)
    tide_cond_wait(&clusters->list->changed, &clusters->list->lock);
  tide_mutex_unlock(&clusters->list->lock);
}

/* It answers each probe and fails each call. That is told once, with the last error, and lasts until a call is taken,
 * whatever probes say. */
CLUSTERS_TEST("/gateways/K16-failing-calls-are-told-once")
{
  tide_gateways_start(fixture->list);
  wait_for_states(fixture, "up", 2);
  TideGatewayLink failing, working;
  g_assert_true(tide_gateways_open_link(fixture->list, tide_now_us() + TIMEOUT_US, &failing));
  g_assert_true(tide_gateways_open_link(fixture->list, tide_now_us() + TIMEOUT_US, &working));
  g_assert_true(failing.gateway != working.gateway);
  tide_mutex_lock(&fixture->list->lock);
  tide_gateway_load_of(failing.gateway)->circuit_open_us = TIDE_GATEWAY_LASTING_US / 2; /* it has been so for a while */
  tide_mutex_unlock(&fixture->list->lock);
  TideCallMeasure written = {.end = TIDE_CALL_END_WRITTEN, .n_rows = 1, .duration_us = 1};
  LogCapture *capture = log_capture_start();
  tide_log_set_level(TIDE_LOG_NOTICE);
  do {
    fail_call(fixture, &failing, "out of order");
    tide_gateways_note_call(fixture->list, &working, &written);
  } while (sum_of(fixture, "tidemark_gateway_breaker_opened_total") == 0);
  for (guint64 n = 1; n < 5; n++) {
    g_autofree char *error_text = NULL;
    end_rest(fixture, failing.gateway);
    g_assert_cmpuint(count_states(fixture, "circuit_open", &error_text), ==, 1);
    g_assert_nonnull(strstr(error_text, "out of order"));
    g_assert_cmpuint(sum_of(fixture, "tidemark_gateway_up"), ==, 1);
    fail_call(fixture, &failing, "out of order");
    g_assert_cmpuint(sum_of(fixture, "tidemark_gateway_breaker_opened_total"), ==, n + 1);
  }
  /* Another writer's call, of the time before: the rest is over at once. */
  tide_gateways_note_call(fixture->list, &failing, &written);
  wait_for_states(fixture, "up", 2);
  g_autofree char *lines = log_capture_end(capture);
  assert_told_once(lines, "out of order");
  assert_told_once(lines, "is up");
  g_assert_cmpuint(sum_of(fixture, "tidemark_gateway_up"), ==, 2);
  tide_gateways_close_link(fixture->list, &failing, FALSE);
  tide_gateways_close_link(fixture->list, &working, FALSE);
}

/* The gateway is never found down: only its idle connections end, and its name leads elsewhere from then on. */
CLUSTERS_TEST("/gateways/D28-K6-name-that-moves-is-noticed")
{
  scripted_gateway_refuse(fixture->gateways[1]);
  tide_gateways_start(fixture->list);
  TideGatewayLink link;
  g_assert_true(tide_gateways_open_link(fixture->list, tide_now_us() + TIMEOUT_US, &link));
  scripted_gateway_create_table(fixture->gateways[0], "T", "M", NULL);
  g_autoptr(GError) error = NULL;
  gint64 deadline_us = tide_now_us() + TIMEOUT_US;
  g_assert_true(tide_hbase_client_get(link.client, TIDE_BYTES_LITERAL("T"), TIDE_BYTES_LITERAL("r"), deadline_us,
                                      ignore_row, NULL, NULL, &error));
  g_assert_no_error(error);
  be_of_cluster(fixture, 0, OTHER_CLUSTER);
  scripted_gateway_reset_connections(fixture->gateways[0]);
  while (tide_hbase_client_is_ready(link.client) && tide_now_us() < deadline_us)
    look_again_soon();
  g_assert_false(tide_hbase_client_get(link.client, TIDE_BYTES_LITERAL("T"), TIDE_BYTES_LITERAL("r"), deadline_us,
                                       ignore_row, NULL, NULL, &error));
  g_assert_error(error, TIDE_ERROR, TIDE_ERROR_CONNECT); /* so that it is known that no row was sent */
  g_assert_nonnull(strstr(error->message, OTHER_CLUSTER));
  tide_gateways_close_link(fixture->list, &link, TRUE);
  wait_for_states(fixture, "wrong_cluster", 1);
  TideGatewayStats stats;
  scripted_gateway_stats(fixture->gateways[0], &stats);
  g_assert_cmpuint(stats.calls_by_method[TIDE_CALL_GET], ==, 1);
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
