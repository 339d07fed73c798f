/* The writers' connections: gateways that are unreachable, close idle connections, accept few, restart one by one, or
 * are slow. All is written each time, and what passes by itself leaves no line for an operator to read. */
#include "fault/pipeline/pipeline_fixture.h"
#include "util/clock.h"

#include <netinet/in.h>
#include <unistd.h>

#define SOON_US (200 * TIDE_US_PER_MS)

static guint64
metric_of(PipelineFixture *fixture, RunningPipeline *running, guint gateway, const char *name)
{
  g_autofree char *label = g_strdup_printf("gateway=\"%s\"", scripted_gateway_endpoint(fixture->gateways[gateway]));
  return tide_metrics_sum(running->metrics, name, label);
}

static guint64
connects(RunningPipeline *running, const char *reason)
{
  g_autofree char *label = g_strdup_printf("reason=\"%s\"", reason);
  return tide_metrics_sum(running->metrics, "tidemark_hbase_connects_total", label);
}

static guint64
puts_of(PipelineFixture *fixture, guint gateway)
{
  TideGatewayStats stats;
  scripted_gateway_stats(fixture->gateways[gateway], &stats);
  return stats.calls_by_method[TIDE_CALL_PUT_MULTIPLE];
}

/* Steps of the mixture, each of its own calls. */
static void
write_steps(PipelineFixture *fixture, guint first, guint n_steps)
{
  for (guint step = first; step < first + n_steps; step++) {
    pipeline_produce_mixture_from(fixture, step, 1);
    pipeline_fixture_wait_all_committed(fixture);
  }
}

/* Starts the pipeline, and sees it write the first 10 steps. */
static RunningPipeline *
start_writing(PipelineFixture *fixture, const RunningPipelineOptions *options)
{
  RunningPipeline *running = running_pipeline_start_with(fixture, options);
  write_steps(fixture, 0, 10);
  return running;
}

/* Each gateway's series tell what it was asked itself, and together they are the whole. */
static void
assert_counted_by_gateway(PipelineFixture *fixture, RunningPipeline *running)
{
  guint64 rows = 0;
  for (guint i = 0; i < 2; i++) {
    TideGatewayStats stats;
    scripted_gateway_stats(fixture->gateways[i], &stats);
    g_assert_cmpuint(metric_of(fixture, running, i, "tidemark_hbase_calls_total"), ==,
                     stats.calls_by_method[TIDE_CALL_PUT_MULTIPLE] + stats.calls_by_method[TIDE_CALL_MUTATE_ROW]);
    g_assert_cmpuint(metric_of(fixture, running, i, "tidemark_hbase_call_duration_seconds"), >, 0);
    guint64 of_this = metric_of(fixture, running, i, "tidemark_hbase_rows_written_total");
    g_assert_cmpuint(of_this, >, 0);
    rows += of_this;
  }
  g_assert_cmpuint(running_pipeline_sum(running, "tidemark_hbase_rows_written_total"), ==, rows);
}

/* ---- gateways that cannot be connected to ---- */

PIPELINE_TEST("/pipeline-connections/absence/D1-the-next-endpoint-is-used")
{
  TideGatewayOptions ipv6 = {.hbase = fixture->hbase, .host = "::1"};
  scripted_gateway_free(fixture->gateways[1]);
  fixture->gateways[1] = scripted_gateway_new(&ipv6);
  scripted_gateway_refuse(fixture->gateways[0]);
  g_autofree char *list =
      g_strdup_printf("\"no-such-host.invalid:9090\", \"%s\", \"%s\"", scripted_gateway_endpoint(fixture->gateways[0]),
                      scripted_gateway_endpoint(fixture->gateways[1]));
  RunningPipeline *running = start_writing(fixture, &(RunningPipelineOptions){.gateway_list = list});
  pipeline_assert_tables(fixture, 10);
  /* The one that refused comes back, and gets its share without anybody's doing. */
  scripted_gateway_start(fixture->gateways[0]);
  for (guint step = 10; puts_of(fixture, 0) == 0; step++) {
    g_assert_cmpuint(step, <, 4000);
    write_steps(fixture, step, 1);
  }
  assert_counted_by_gateway(fixture, running);
  running_pipeline_end(running);
}

/* A listening socket that nobody accepts from, with its queue full: what is sent to it is dropped, as by a firewall. */
typedef struct Blackhole {
  int listener;
  int fillers[4];
  guint16 port;
} Blackhole;

static void
open_blackhole(Blackhole *blackhole)
{
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t len = sizeof address;
  blackhole->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  g_assert_cmpint(bind(blackhole->listener, (struct sockaddr *)&address, len), ==, 0);
  g_assert_cmpint(listen(blackhole->listener, 0), ==, 0);
  g_assert_cmpint(getsockname(blackhole->listener, (struct sockaddr *)&address, &len), ==, 0);
  blackhole->port = ntohs(address.sin_port);
  for (guint i = 0; i < G_N_ELEMENTS(blackhole->fillers); i++) {
    blackhole->fillers[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    (void)!connect(blackhole->fillers[i], (struct sockaddr *)&address, len); /* the last ones are never taken */
  }
}

static void
close_blackhole(const Blackhole *blackhole)
{
  for (guint i = 0; i < G_N_ELEMENTS(blackhole->fillers); i++)
    close(blackhole->fillers[i]);
  close(blackhole->listener);
}

PIPELINE_TEST("/pipeline-connections/absence/D2-a-blackhole-delays-nobody")
{
  Blackhole blackhole;
  open_blackhole(&blackhole);
  g_autofree char *alone = g_strdup_printf("\"127.0.0.1:%u\"", blackhole.port);
  RunningPipeline *waiting = running_pipeline_start_with(fixture, &(RunningPipelineOptions){.gateway_list = alone});
  running_pipeline_wait_reason(waiting, "no answer within");
  running_pipeline_end(waiting);

  g_autofree char *list = g_strdup_printf("%s, \"%s\"", alone, scripted_gateway_endpoint(fixture->gateways[0]));
  RunningPipeline *running = start_writing(fixture, &(RunningPipelineOptions){.gateway_list = list});
  pipeline_assert_tables(fixture, 10);
  running_pipeline_end(running);
  close_blackhole(&blackhole);
}

/* Each wrong service is named while it is waited for; when it is put right, the daemon goes on by itself. */
PIPELINE_TEST("/pipeline-connections/absence/D12-wrong-service-is-named")
{
  static const struct {
    TidePersonality personality;
    const char *words;
  } services[] = {{TIDE_PERSONALITY_HTTP, "speaks HTTP, not plain Thrift"},
                  {TIDE_PERSONALITY_TLS, "speaks TLS, not plain Thrift"},
                  {TIDE_PERSONALITY_THRIFT1, "is a thrift1 gateway"}};
  scripted_gateway_set_personality(fixture->gateways[0], services[0].personality);
  RunningPipeline *running = running_pipeline_start(fixture, 1, NULL);
  for (guint i = 0; i < G_N_ELEMENTS(services); i++) {
    scripted_gateway_set_personality(fixture->gateways[0], services[i].personality);
    running_pipeline_wait_not_ready(running, services[i].words);
  }
  scripted_gateway_set_personality(fixture->gateways[0], TIDE_PERSONALITY_THRIFT2);
  write_steps(fixture, 0, 3);
  running_pipeline_end(running);
}

PIPELINE_TEST("/pipeline-connections/absence/D12-a-mode-that-is-not-the-fixed-one-is-named")
{
  static const char *const transports[] = {", transport: framed-binary", ", transport: unframed-compact"};
  for (guint i = 0; i < G_N_ELEMENTS(transports); i++) {
    RunningPipeline *running =
        running_pipeline_start_with(fixture, &(RunningPipelineOptions){.gateways = 1, .hbase = transports[i]});
    running_pipeline_wait_not_ready(running, "unframed binary Thrift, but 'hbase.transport' demands ");
    running_pipeline_wait_not_ready(running, ": set it to auto or unframed-binary");
    running_pipeline_end(running);
  }
}

/* ---- connections that end by themselves ---- */

PIPELINE_TEST("/pipeline-connections/ends/D6-idle-close-is-replaced-silently")
{
  TideGatewayOptions impatient = {.hbase = fixture->hbase, .idle_close_ms = 300};
  scripted_gateway_free(fixture->gateways[0]);
  fixture->gateways[0] = scripted_gateway_new(&impatient);
  RunningPipeline *running = start_writing(fixture, &(RunningPipelineOptions){.gateways = 1});
  LogCapture *capture = log_capture_start();
  for (guint step = 10; step < 13; step++) {
    g_assert_true(scripted_gateway_wait_open_connections(fixture->gateways[0], 0, pipeline_fixture_deadline_us()));
    write_steps(fixture, step, 1);
  }
  g_autofree char *lines = log_capture_end(capture);
  g_assert_cmpstr(lines, ==, "");
  g_assert_cmpuint(connects(running, "stale"), >=, 3);
  g_assert_cmpuint(connects(running, "broken"), ==, 0);
  g_assert_cmpuint(tide_metrics_sum(running->metrics, "tidemark_hbase_calls_total", "outcome=\"unknown\""), ==, 0);
  pipeline_assert_tables(fixture, 13);
  running_pipeline_end(running);
}

/* The peer is gone without a word: the ping of an idle connection gets no answer. */
PIPELINE_TEST("/pipeline-connections/ends/D7-half-open-connection-is-replaced-silently")
{
  RunningPipeline *running =
      start_writing(fixture, &(RunningPipelineOptions){.gateways = 1, .hbase = ", idle_ping: 1s"});
  LogCapture *capture = log_capture_start();
  TideScriptedFault silent = {.kind = TIDE_FAULT_SILENCE, .call = TIDE_CALL_GET_THRIFT_SERVER_TYPE, .max_hits = 1};
  guint id = scripted_gateway_add_fault(fixture->gateways[0], &silent);
  pipeline_fixture_wait_hits(fixture, id, 1);
  gint64 deadline_us = pipeline_fixture_deadline_us();
  while (connects(running, "broken") == 0)
    pipeline_fixture_wait_a_little(deadline_us, "the connection is replaced");
  write_steps(fixture, 10, 3);
  g_autofree char *lines = log_capture_end(capture);
  g_assert_cmpstr(lines, ==, "");
  pipeline_assert_tables(fixture, 13);
  running_pipeline_end(running);
}

/* Behind one name or balancer there may be many gateways: only new connections find the one that came back. */
PIPELINE_TEST("/pipeline-connections/ends/old-connections-are-replaced")
{
  RunningPipeline *running =
      start_writing(fixture, &(RunningPipelineOptions){.gateways = 1, .hbase = ", max_connection_age: 1s"});
  LogCapture *capture = log_capture_start();
  gint64 deadline_us = pipeline_fixture_deadline_us();
  guint step = 10;
  for (; connects(running, "aged") < 6; step++) {
    write_steps(fixture, step, 1);
    pipeline_fixture_wait_a_little(deadline_us, "connections grow old");
  }
  g_autofree char *lines = log_capture_end(capture);
  g_assert_cmpstr(lines, ==, "");
  g_assert_cmpuint(connects(running, "broken"), ==, 0);
  pipeline_assert_tables(fixture, step);
  running_pipeline_end(running);
}

/* What is old goes on where there is nothing new to be had, and is replaced as soon as there is. */
PIPELINE_TEST("/pipeline-connections/ends/old-connections-stay-while-none-can-be-made")
{
  RunningPipeline *running =
      start_writing(fixture, &(RunningPipelineOptions){.gateways = 1, .hbase = ", max_connection_age: 1s"});
  scripted_gateway_refuse(fixture->gateways[0]);
  guint64 aged = connects(running, "aged");
  gint64 all_are_old_us = tide_now_us() + 3 * TIDE_US_PER_S;
  guint step = 10;
  for (; tide_now_us() < all_are_old_us || metric_of(fixture, running, 0, "tidemark_gateway_up") == 1; step++)
    write_steps(fixture, step, 1);
  g_assert_cmpuint(connects(running, "aged"), <=, aged + 3); /* each may just have been under way */
  g_assert_cmpuint(connects(running, "broken"), ==, 0);
  aged = connects(running, "aged");
  scripted_gateway_start(fixture->gateways[0]);
  for (; connects(running, "aged") < aged + 3; step++)
    write_steps(fixture, step, 1);
  pipeline_assert_tables(fixture, step);
  running_pipeline_end(running);
}

/* One connection of three is taken. The writers learn it, and do not knock all the time. */
PIPELINE_TEST("/pipeline-connections/ends/D15-a-full-gateway-gets-fewer-connections")
{
  TideGatewayOptions full = {.hbase = fixture->hbase, .max_connections = 1};
  scripted_gateway_free(fixture->gateways[0]);
  fixture->gateways[0] = scripted_gateway_new(&full);
  RunningPipeline *running = start_writing(fixture, &(RunningPipelineOptions){.gateways = 1});
  LogCapture *capture = log_capture_start();
  write_steps(fixture, 10, 20);
  g_autofree char *lines = log_capture_end(capture);
  g_assert_null(strstr(lines, "cannot write"));
  g_assert_null(strstr(lines, "gateway unavailable"));
  pipeline_assert_tables(fixture, 30);
  guint64 closed = metric_of(fixture, running, 0, "tidemark_gateway_connections_dropped_total");
  g_assert_cmpuint(closed, >, 0);
  g_assert_cmpuint(closed, <=, 12); /* pauses of 1, 2, 4 ... s */
  g_assert_cmpuint(metric_of(fixture, running, 0, "tidemark_gateway_connections_allowed"), <=, 2);
  g_assert_cmpuint(metric_of(fixture, running, 0, "tidemark_gateway_up"), ==, 1);
  running_pipeline_end(running);
}

/* ---- restarts ---- */

/* Kills gateway @which while it has a call, lets the others take over, and starts it again. Returns: the next step. */
static guint
restart_under_load(PipelineFixture *fixture, guint which, guint step)
{
  TideScriptedFault slow = {.call = TIDE_CALL_PUT_MULTIPLE, .max_hits = 1, .delay_reply_ms = 10000};
  guint fault = scripted_gateway_add_fault(fixture->gateways[which], &slow);
  do
    pipeline_produce_mixture_from(fixture, step++, 1);
  while (!scripted_gateway_wait_fault_hits(fixture->gateways[which], fault, 1, tide_now_us() + SOON_US));
  scripted_gateway_kill(fixture->gateways[which]);
  pipeline_produce_mixture_from(fixture, step, 10);
  pipeline_fixture_wait_all_committed(fixture);
  scripted_gateway_start(fixture->gateways[which]);
  guint64 puts = puts_of(fixture, which);
  step += 10;
  for (; puts_of(fixture, which) == puts; step++)
    write_steps(fixture, step, 1);
  return step;
}

PIPELINE_TEST("/pipeline-connections/load/D16-rolling-restart-leaves-no-line")
{
  RunningPipeline *running = start_writing(fixture, &(RunningPipelineOptions){.gateways = FIXTURE_GATEWAYS});
  LogCapture *capture = log_capture_start();
  guint step = 10;
  for (guint i = 0; i < 2 * FIXTURE_GATEWAYS; i++)
    step = restart_under_load(fixture, i % FIXTURE_GATEWAYS, step);
  g_autofree char *lines = log_capture_end(capture);
  g_assert_cmpstr(lines, ==, "");
  g_assert_cmpuint(connects(running, "broken"), >=, 2 * FIXTURE_GATEWAYS); /* the calls that were cut */
  pipeline_assert_tables(fixture, step);
  running_pipeline_end(running);
}

/* It answers probes, and fails each call: its own trouble, as the other one shows. */
PIPELINE_TEST("/pipeline-connections/load/D16-a-gateway-that-fails-all-calls-has-its-circuit-opened")
{
  RunningPipeline *running = start_writing(fixture, &(RunningPipelineOptions){.gateways = FIXTURE_GATEWAYS});
  guint id = pipeline_fixture_fail_puts(fixture, NULL, NULL);
  guint step = 10;
  for (; metric_of(fixture, running, 0, "tidemark_gateway_breaker_opened_total") == 0; step++)
    write_steps(fixture, step, 1);
  guint64 hits = scripted_gateway_fault_hits(fixture->gateways[0], id);
  write_steps(fixture, step, 20);
  step += 20;
  /* Each open circuit ends with one call that fails. */
  g_assert_cmpuint(scripted_gateway_fault_hits(fixture->gateways[0], id), <=, hits + 8);
  scripted_gateway_clear_faults(fixture->gateways[0]);
  guint64 puts = puts_of(fixture, 0);
  for (; puts_of(fixture, 0) == puts; step++)
    write_steps(fixture, step, 1);
  pipeline_assert_tables(fixture, step);
  running_pipeline_end(running);
}

/* ---- load ---- */

PIPELINE_TEST("/pipeline-connections/load/D23-a-slow-gateway-loses-its-writers")
{
  RunningPipeline *running = start_writing(fixture, &(RunningPipelineOptions){.gateways = FIXTURE_GATEWAYS});
  TideScriptedFault slow = {.call = TIDE_CALL_PUT_MULTIPLE, .delay_reply_ms = 400};
  scripted_gateway_add_fault(fixture->gateways[0], &slow);
  guint step = 10;
  while (metric_of(fixture, running, 0, "tidemark_gateway_slow") == 0 ||
         metric_of(fixture, running, 0, "tidemark_gateway_connections") > 0) {
    g_assert_cmpuint(step, <, 4000);
    write_steps(fixture, step++, 1);
  }
  g_assert_cmpuint(metric_of(fixture, running, 1, "tidemark_gateway_slow"), ==, 0);
  guint64 slow_puts = puts_of(fixture, 0), fast_puts = puts_of(fixture, 1);
  write_steps(fixture, step, 30);
  g_assert_cmpuint(puts_of(fixture, 1) - fast_puts, >, 30);
  g_assert_cmpuint(puts_of(fixture, 0) - slow_puts, <=, 6);
  g_assert_cmpuint(metric_of(fixture, running, 0, "tidemark_gateway_connections"), <=, 1);
  pipeline_assert_tables(fixture, step + 30);
  running_pipeline_end(running);
}

/* The region server says that it does not serve the region any more; the map is read anew. */
static void
change_regions(PipelineFixture *fixture, RunningPipeline *running, guint64 n_regions)
{
  TideScriptedFault moving = {.kind = TIDE_FAULT_IO_ERROR,
                              .call = TIDE_CALL_PUT_MULTIPLE,
                              .table = "METRIC",
                              .max_hits = 3,
                              .message =
                                  "Failed 1 action: NotServingRegionException: 1 time, servers with issues: rs1"};
  scripted_gateway_add_fault(fixture->gateways[0], &moving);
  gint64 deadline_us = pipeline_fixture_deadline_us();
  while (tide_metrics_sum(running->metrics, "tidemark_table_regions", "table=\"METRIC\"") != n_regions)
    pipeline_fixture_wait_a_little(deadline_us, "the new regions are known");
}

PIPELINE_TEST("/pipeline-connections/regions/D19-regions-split-and-merge-under-way")
{
  RunningPipeline *running = start_writing(fixture, &(RunningPipelineOptions){.gateways = 1});
  pipeline_produce_mixture_from(fixture, 10, 20);
  fake_hbase_split_region(fixture->hbase, "METRIC", TIDE_BYTES_LITERAL("host2"), TRUE);
  fake_hbase_set_replicas(fixture->hbase, "CURRENT_METRIC", 3);
  fake_hbase_split_region(fixture->hbase, "METRIC", TIDE_BYTES_LITERAL("host7"), TRUE);
  pipeline_produce_mixture_from(fixture, 30, 10);
  change_regions(fixture, running, 4);
  write_steps(fixture, 40, 5);
  fake_hbase_merge_regions(fixture->hbase, "METRIC", TIDE_BYTES_LITERAL("host2"));
  pipeline_produce_mixture_from(fixture, 45, 10);
  change_regions(fixture, running, 3);
  write_steps(fixture, 55, 5);
  pipeline_assert_tables(fixture, 60);
  running_pipeline_end(running);
}

/* The region servers' clocks are ten years ahead of the readings, and nothing shows it. */
PIPELINE_TEST("/pipeline-connections/regions/D20-cells-carry-event-times")
{
  RunningPipeline *running = running_pipeline_start(fixture, 1, NULL);
  pipeline_fixture_produce(fixture, 0, "host1", G_GINT64_CONSTANT(1426535612045), "old");
  pipeline_fixture_produce(fixture, 0, "host1", G_GINT64_CONSTANT(1426535612044), "older");
  pipeline_fixture_wait_all_committed(fixture);
  g_autofree char *history = fake_hbase_dump(fixture->hbase, "METRIC", TRUE);
  g_autofree char *latest = fake_hbase_dump(fixture->hbase, "CURRENT_METRIC", FALSE);
  g_assert_cmpstr(history, ==,
                  "host1#1426535612044\tM:v\t1426535612044\tolder\nhost1#1426535612045\tM:v\t1426535612045\told\n");
  g_assert_cmpstr(latest, ==, "host1\tM:v\t1426535612045\told\n");
  running_pipeline_end(running);
}
