/* The gateways: their load, by a clock that is the test's; when certificates end; and a prober, against a gateway that
 * answers when it is let. */
#include "gateway/certificate_watch.h"
#include "gateway/gateway_load.h"
#include "gateway/gateways.h"
#include "thrift/client/hbase_client.h"
#include "unit/loopback_server.h"
#include "unit/probe_replies.h"
#include "unit/test_case.h"
#include "util/clock.h"

/* ---- load ---- */

#define N 3

/* Gateways that came up, with room for everybody, and a clock. */
typedef struct Fixture {
  TideGatewayLoad loads[N];
  TideGatewayLoads all;
  gint64 now_us;
} Fixture;

static void
set_up(Fixture *fixture, gconstpointer data)
{
  fixture->all = (TideGatewayLoads){.loads = fixture->loads, .n = N};
  fixture->now_us = 1000 * TIDE_US_PER_S;
  for (guint i = 0; i < N; i++) {
    tide_gateway_load_came_back(&fixture->loads[i], FALSE);
    fixture->loads[i].n_allowed = TIDE_GATEWAY_MAX_ALLOWED;
  }
}

/* A call of 100 rows through @index that took @ms; the clock goes on by as much. TRUE when the breaker should open. */
static gboolean
call(Fixture *fixture, guint index, TideCallEnd end, gint64 ms)
{
  TideCallMeasure measure = {.end = end, .n_rows = 100, .duration_us = ms * TIDE_US_PER_MS};
  fixture->now_us += measure.duration_us;
  return tide_gateway_loads_note_call(&fixture->all, index, &measure, fixture->now_us);
}

static void
write_calls(Fixture *fixture, guint index, guint n, gint64 ms)
{
  for (guint i = 0; i < n; i++)
    g_assert_false(call(fixture, index, TIDE_CALL_END_WRITTEN, ms));
}

static int
best(Fixture *fixture)
{
  return tide_gateway_loads_best(&fixture->all, TRUE, fixture->now_us);
}

/* Lets @n writers connect, one after the other. */
static void
connect_writers(Fixture *fixture, guint n)
{
  for (guint i = 0; i < n; i++) {
    int index = best(fixture);
    g_assert_cmpint(index, >=, 0);
    fixture->loads[index].n_connections++;
  }
}

/* Lets each writer that should move do so, looking every 250 ms. Returns: how many moved. */
static guint
move_writers(Fixture *fixture, gint64 for_us)
{
  guint moves = 0;
  for (gint64 end_us = fixture->now_us + for_us; fixture->now_us < end_us; fixture->now_us += 250 * TIDE_US_PER_MS)
    for (guint i = 0; i < N; i++) {
      int to = fixture->loads[i].n_connections == 0
                   ? -1
                   : tide_gateway_loads_move_to(&fixture->all, i, fixture->now_us - 3 * TIDE_US_PER_S, fixture->now_us);
      if (to < 0)
        continue;
      fixture->loads[i].n_connections--;
      fixture->loads[to].n_connections++;
      moves++;
    }
  return moves;
}

static void
assert_connections(const Fixture *fixture, guint first, guint second, guint third)
{
  g_assert_cmpuint(fixture->loads[0].n_connections, ==, first);
  g_assert_cmpuint(fixture->loads[1].n_connections, ==, second);
  g_assert_cmpuint(fixture->loads[2].n_connections, ==, third);
}

#define FIXTURE_TEST(path) TEST_WITH(Fixture, set_up, NULL, path)

FIXTURE_TEST("/gateway-load/alike-gateways-get-alike-many")
{
  connect_writers(fixture, 7);
  assert_connections(fixture, 3, 2, 2);
  write_calls(fixture, 0, 10, 5);
  write_calls(fixture, 1, 10, 9); /* not four times as long */
  write_calls(fixture, 2, 10, 15);
  g_assert_cmpuint(move_writers(fixture, 10 * TIDE_US_PER_S), ==, 0);
}

FIXTURE_TEST("/gateway-load/the-first-asked-is-not-always-the-same")
{
  fixture->all.first = 2;
  g_assert_cmpint(best(fixture), ==, 2);
}

FIXTURE_TEST("/gateway-load/writers-leave-a-slow-gateway")
{
  connect_writers(fixture, 9);
  write_calls(fixture, 0, 10, 5);
  write_calls(fixture, 1, 10, 5);
  write_calls(fixture, 2, 3, 2000);
  g_assert_true(fixture->loads[2].slow);
  g_assert_cmpuint(move_writers(fixture, 10 * TIDE_US_PER_S), ==, 3);
  g_assert_cmpuint(fixture->loads[2].n_connections, ==, 0);
}

/* Six times as slow: it keeps what it can do. */
FIXTURE_TEST("/gateway-load/a-slower-gateway-keeps-its-share")
{
  connect_writers(fixture, 30);
  write_calls(fixture, 0, 10, 50);
  write_calls(fixture, 1, 10, 50);
  write_calls(fixture, 2, 10, 300);
  guint moves = move_writers(fixture, 20 * TIDE_US_PER_S);
  assert_connections(fixture, 14, 14, 2);
  g_assert_cmpuint(moves, ==, 8);
  g_assert_cmpuint(move_writers(fixture, 20 * TIDE_US_PER_S), ==, 0);
}

FIXTURE_TEST("/gateway-load/one-pause-does-not-make-a-gateway-slow")
{
  connect_writers(fixture, 6);
  for (guint i = 0; i < N; i++)
    write_calls(fixture, i, 10, 5);
  write_calls(fixture, 2, 1, 2000);
  write_calls(fixture, 2, 20, 5);
  g_assert_false(fixture->loads[2].slow);
  g_assert_cmpuint(move_writers(fixture, 10 * TIDE_US_PER_S), ==, 0);
}

FIXTURE_TEST("/gateway-load/a-gateway-that-was-slow-is-tried-again-after-a-minute")
{
  connect_writers(fixture, 6);
  write_calls(fixture, 0, 10, 5);
  write_calls(fixture, 1, 10, 5);
  write_calls(fixture, 2, 3, 2000);
  g_assert_cmpuint(move_writers(fixture, 5 * TIDE_US_PER_S), ==, 2);
  g_assert_cmpuint(move_writers(fixture, 50 * TIDE_US_PER_S), ==, 0);
  fixture->loads[2].called_us -= 10 * TIDE_US_PER_S;
  g_assert_cmpuint(move_writers(fixture, TIDE_US_PER_S), ==, 2);
  /* Still slow: one call is enough. */
  write_calls(fixture, 0, 1, 5);
  write_calls(fixture, 2, 1, 2000);
  g_assert_true(fixture->loads[2].slow);
  g_assert_cmpuint(move_writers(fixture, 5 * TIDE_US_PER_S), ==, 2);
}

FIXTURE_TEST("/gateway-load/few-move-at-a-time-and-none-at-once")
{
  gint64 now_us = fixture->now_us;
  fixture->loads[0].n_connections = 12;
  g_assert_cmpint(tide_gateway_loads_move_to(&fixture->all, 0, now_us - 2 * TIDE_US_PER_S + 1, now_us), ==, -1);
  g_assert_cmpint(tide_gateway_loads_move_to(&fixture->all, 0, now_us - 2 * TIDE_US_PER_S, now_us), >, 0);
  g_assert_cmpint(tide_gateway_loads_move_to(&fixture->all, 0, 0, now_us + 249 * TIDE_US_PER_MS), ==, -1);
  g_assert_cmpint(tide_gateway_loads_move_to(&fixture->all, 0, 0, now_us + 250 * TIDE_US_PER_MS), >, 0);
  fixture->now_us += TIDE_US_PER_S;
  g_assert_cmpuint(move_writers(fixture, 10 * TIDE_US_PER_S), ==, 8);
  assert_connections(fixture, 4, 4, 4);
}

FIXTURE_TEST("/gateway-load/a-gateway-that-came-back-starts-slowly")
{
  TideGatewayLoad *load = &fixture->loads[1];
  load->usable = FALSE;
  connect_writers(fixture, 12);
  assert_connections(fixture, 6, 0, 6);
  tide_gateway_load_came_back(load, TRUE);
  g_assert_cmpuint(tide_gateway_load_allowed(load, fixture->now_us), ==, 1);
  for (guint expected = 1; expected <= 4; expected *= 2) {
    move_writers(fixture, 10 * TIDE_US_PER_S);
    g_assert_cmpuint(load->n_connections, ==, expected);
    write_calls(fixture, 1, expected, 5); /* a call of each */
  }
  assert_connections(fixture, 4, 4, 4);
}

FIXTURE_TEST("/gateway-load/a-full-gateway-gets-no-more-for-a-growing-pause")
{
  TideGatewayLoad *load = &fixture->loads[0];
  load->n_connections = 3; /* and the fourth was closed */
  for (gint64 pause_s = 1; pause_s <= 64; pause_s *= 2) {
    gint64 pause_us = MIN(pause_s, 60) * TIDE_US_PER_S;
    tide_gateway_load_closed_at_once(load, fixture->now_us);
    write_calls(fixture, 0, 1, 0);
    g_assert_cmpuint(tide_gateway_load_allowed(load, fixture->now_us + pause_us - 1), ==, 3);
    fixture->now_us += pause_us;
    g_assert_cmpuint(tide_gateway_load_allowed(load, fixture->now_us), ==, 4);
    g_assert_cmpuint(tide_gateway_load_allowed(load, fixture->now_us + 1), ==, 4);
    g_assert_cmpuint(tide_gateway_load_allowed(load, fixture->now_us + 60 * TIDE_US_PER_S), ==, 4); /* it is not used */
  }
}

/* As many bad rows as there may be: that they are named shows that the gateway works. */
FIXTURE_TEST("/gateway-load/bad-rows-open-no-breaker")
{
  for (guint i = 0; i < 20; i++) {
    g_assert_false(call(fixture, 0, TIDE_CALL_END_BAD_ROW, 5));
    write_calls(fixture, 1, 1, 5);
  }
  for (guint i = 0; i < 4; i++)
    g_assert_false(call(fixture, 0, TIDE_CALL_END_NO_ANSWER, 5));
  g_assert_false(call(fixture, 0, TIDE_CALL_END_BAD_ROW, 5));
  write_calls(fixture, 1, 1, 5);
  g_assert_false(call(fixture, 0, TIDE_CALL_END_NO_ANSWER, 5));
}

FIXTURE_TEST("/gateway-load/failing-calls-open-the-breaker-when-others-work")
{
  fixture->loads[1].n_connections = fixture->loads[2].n_connections = 1;
  for (guint i = 0; i < 20; i++) /* nobody works: it is not the gateway */
    g_assert_false(call(fixture, 0, TIDE_CALL_END_REFUSED, 5));
  write_calls(fixture, 0, 1, 5);
  for (guint i = 0; i < 4; i++) {
    g_assert_false(call(fixture, 0, TIDE_CALL_END_NO_ANSWER, 5));
    write_calls(fixture, 1, 1, 5);
  }
  g_assert_true(call(fixture, 0, TIDE_CALL_END_NO_ANSWER, 5));

  TideGatewayLoad *load = &fixture->loads[0];
  load->n_connections = 1;
  for (gint64 rest_s = 1; rest_s <= 512; rest_s *= 2) {
    g_assert_cmpint(tide_gateway_load_open_circuit(load, fixture->now_us), ==,
                    fixture->now_us + MIN(rest_s, 300) * TIDE_US_PER_S);
    g_assert_cmpint(best(fixture), !=, 0);
    g_assert_cmpint(tide_gateway_loads_move_to(&fixture->all, 0, fixture->now_us, fixture->now_us), >, 0);
    tide_gateway_load_came_back(load, TRUE); /* half open: the first failure opens it again */
    g_assert_true(call(fixture, 0, TIDE_CALL_END_NO_ANSWER, 5));
  }
  tide_gateway_load_came_back(load, TRUE);
  write_calls(fixture, 0, 1, 5);
  g_assert_false(call(fixture, 0, TIDE_CALL_END_NO_ANSWER, 5));
  g_assert_cmpint(tide_gateway_load_open_circuit(load, fixture->now_us), ==, fixture->now_us + TIDE_US_PER_S);
}

/* One that was away and answers probes again has to show that it takes calls. */
FIXTURE_TEST("/gateway-load/first-failure-after-an-outage-opens-the-breaker")
{
  fixture->loads[1].n_connections = 1;
  for (guint was_away = 0; was_away < 2; was_away++) {
    write_calls(fixture, 0, 1, 5);
    tide_gateway_load_came_back(&fixture->loads[0], was_away > 0);
    write_calls(fixture, 1, 1, 5);
    g_assert_cmpint(call(fixture, 0, TIDE_CALL_END_NO_ANSWER, 5), ==, was_away > 0);
  }
}

/* A lone writer would stay where nothing works, and never find out that another gateway does. */
FIXTURE_TEST("/gateway-load/K16-untried-gateway-opens-the-breaker")
{
  fixture->loads[0].n_connections = fixture->loads[1].n_connections = 1;
  fixture->loads[2].usable = FALSE;
  for (guint i = 0; i < 5; i++)
    g_assert_false(call(fixture, 0, TIDE_CALL_END_REFUSED, 5));
  fixture->loads[1].n_connections = 0;
  g_assert_true(call(fixture, 0, TIDE_CALL_END_REFUSED, 5));
  fixture->loads[1].called_us = fixture->now_us + 1; /* tried, in vain */
  g_assert_false(call(fixture, 0, TIDE_CALL_END_REFUSED, 5));
}

FIXTURE_TEST("/gateway-load/nobody-is-sent-to-what-is-not-usable")
{
  for (guint i = 0; i < N; i++)
    fixture->loads[i].usable = FALSE;
  g_assert_cmpint(best(fixture), ==, -1);
  fixture->loads[1].usable = TRUE;
  fixture->loads[1].n_allowed = fixture->loads[1].n_connections = 4;
  g_assert_cmpint(best(fixture), ==, -1);
  g_assert_cmpint(tide_gateway_loads_best(&fixture->all, FALSE, fixture->now_us), ==, 1);
}

/* ---- certificates ---- */

#define NOW_S G_GINT64_CONSTANT(1800000000) /* 2027-01-15 08:00 */
#define DAY_S 86400

TEST("/certificate-watch/an-end-that-is-near-is-told")
{
  const struct {
    gint64 end_s;
    const char *text;
  } cases[] = {
      {0, NULL},
      {NOW_S + 31 * DAY_S, NULL},
      {NOW_S + 30 * DAY_S, NULL},
      {NOW_S + 30 * DAY_S - 1, "expires in 29 days, on 2027-02-14"},
      {NOW_S + DAY_S / 2, "expires in 0 days, on 2027-01-15"},
      {NOW_S - DAY_S, "expired on 2027-01-14"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *warning = tide_certificate_warning(cases[i].end_s, NOW_S);
    g_assert_cmpstr(warning, ==, cases[i].text);
  }
}

/* What is known of connections is shown; of a plain one nothing is. */
TEST("/certificate-watch/ends-are-metrics")
{
  TideMetrics *metrics = tide_metrics_new();
  TideCertificateWatch watch;
  gint64 far_s = g_get_real_time() / G_USEC_PER_SEC + 400 * DAY_S;
  tide_certificate_watch_init(&watch, "thrift+tls://h:1", metrics);
  tide_certificate_watch_note(&watch, (TideCertificateEnds){0});
  g_autofree char *before = tide_metrics_render(metrics);
  g_assert_null(strstr(before, "end_timestamp_seconds{"));
  tide_certificate_watch_note(&watch, (TideCertificateEnds){.peer_s = far_s});
  g_autofree char *after = tide_metrics_render(metrics);
  g_autofree char *line = g_strdup_printf(
      "tidemark_gateway_certificate_expiry_timestamp_seconds{gateway=\"thrift+tls://h:1\"} %" G_GINT64_FORMAT "\n",
      far_s);
  g_assert_nonnull(strstr(after, line));
  g_assert_null(strstr(after, "tidemark_client_certificate_expiry_timestamp_seconds{"));
  tide_metrics_free(metrics);
}

/* ---- the prober ---- */

/* Answers a probe when it is let, by eventfds. */
typedef struct SlowGateway {
  int asked_fd, let_fd;
} SlowGateway;

static void
serve(LoopbackServer *server, int fd, guint connection)
{
  const SlowGateway *gateway = server->data;
  g_auto(TideBuffer) call = {0};
  if (!loopback_read_more(server, fd, &call))
    return;
  g_assert_cmpint(eventfd_write(gateway->asked_fd, 1), ==, 0);
  if (loopback_wait_readable(server, gateway->let_fd, -1))
    loopback_send(fd, TYPE_REPLY, sizeof TYPE_REPLY - 1);
  if (loopback_read_more(server, fd, &call))
    loopback_send(fd, CLUSTER_REPLY, sizeof CLUSTER_REPLY - 1);
  loopback_wait_closed(server, fd);
}

/* Nothing becomes of it, though it answers. */
TEST("/gateways/removed-while-it-is-probed")
{
  SlowGateway slow = {eventfd(0, EFD_CLOEXEC), eventfd(0, EFD_CLOEXEC)};
  LoopbackServer *server = loopback_start(serve, &slow);
  g_autoptr(TideEndpoint) other = tide_endpoint_parse("127.0.0.1:1", NULL);
  g_autoptr(GPtrArray) all = g_ptr_array_new(), left = g_ptr_array_new();
  g_ptr_array_add(all, server->endpoint);
  g_ptr_array_add(all, other);
  g_ptr_array_add(left, other);
  TideHBaseConfig config = {.gateways = all, .framing = TIDE_FRAMING_UNFRAMED, .protocol = TIDE_WIRE_BINARY};
  TideMetrics *metrics = tide_metrics_new();
  TideGateways *gateways = tide_gateways_new(&config, metrics);
  tide_gateways_start(gateways);
  eventfd_t one;
  g_assert_cmpint(eventfd_read(slow.asked_fd, &one), ==, 0);
  config.gateways = left;
  tide_gateways_take_list(gateways);
  g_assert_cmpint(eventfd_write(slow.let_fd, 1), ==, 0);
  loopback_await_hang_up(server); /* the probe has its answer, and closes */
  tide_gateways_stop(gateways);   /* when it is done with it */
  g_assert_cmpuint(tide_gateways_n_up(gateways), ==, 0);
  g_assert_cmpuint(tide_gateways_n(gateways), ==, 1);
  tide_gateways_free(gateways);
  tide_metrics_free(metrics);
  loopback_stop(server);
  close(slow.asked_fd);
  close(slow.let_fd);
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  test_cases_add();
  tide_hbase_client_init_types();
  return g_test_run();
}
