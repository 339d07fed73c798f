/* The whole pipeline while its gateways fail: after each fault, nothing is missing or wrong; the content is compared as
 * text, cell by cell, with that of an undisturbed run. */
#include "fault/pipeline/pipeline_fixture.h"

/* ---- faults of gateways ---- */

typedef struct GatewayCase {
  const char *name;
  TideScriptedFault fault;
} GatewayCase;

static const GatewayCase gateway_cases[] = {
    {"D3-accepts-but-never-answers", {.kind = TIDE_FAULT_SILENCE, .call = TIDE_CALL_PUT_MULTIPLE, .max_hits = 3}},
    {"D4-answers-a-byte-at-a-time",
     {.call = TIDE_CALL_PUT_MULTIPLE, .max_hits = 3, .drip_bytes = 1, .drip_interval_ms = 1000}},
    {"D5-closes-mid-request",
     {.kind = TIDE_FAULT_CLOSE_MID_REQUEST,
      .call = TIDE_CALL_PUT_MULTIPLE,
      .cut_bytes = 40,
      .every = 3,
      .max_hits = 8}},
    {"D5-closes-before-the-reply",
     {.kind = TIDE_FAULT_CLOSE_BEFORE_REPLY, .call = TIDE_CALL_PUT_MULTIPLE, .every = 3, .max_hits = 8}},
    {"D5-closes-mid-reply",
     {.kind = TIDE_FAULT_CLOSE_MID_REPLY, .call = TIDE_CALL_PUT_MULTIPLE, .cut_bytes = 5, .every = 3, .max_hits = 8}},
    {"D5-resets",
     {.kind = TIDE_FAULT_CLOSE_BEFORE_REPLY, .call = TIDE_CALL_PUT_MULTIPLE, .reset = TRUE, .every = 3, .max_hits = 8}},
    {"D5-closes-on-accept", {.kind = TIDE_FAULT_CLOSE_ON_ACCEPT, .skip_calls = 2, .every = 2, .max_hits = 4}},
    {"D9-region-is-moving",
     {.kind = TIDE_FAULT_IO_ERROR,
      .call = TIDE_CALL_PUT_MULTIPLE,
      .table = "METRIC",
      .row_prefix = TIDE_BYTES_LITERAL("host6"),
      .max_hits = 10,
      .message = "Failed 1 action: NotServingRegionException: 1 time, servers with issues: rs1"}},
    {"D10-can-retry-is-not-believed",
     {.kind = TIDE_FAULT_IO_ERROR,
      .call = TIDE_CALL_PUT_MULTIPLE,
      .can_retry = TIDE_CAN_RETRY_NO,
      .every = 2,
      .max_hits = 10}},
    {"D10-can-retry-is-absent",
     {.kind = TIDE_FAULT_IO_ERROR,
      .call = TIDE_CALL_PUT_MULTIPLE,
      .can_retry = TIDE_CAN_RETRY_ABSENT,
      .every = 2,
      .max_hits = 10}},
    {"D13-garbage", {.kind = TIDE_FAULT_GARBAGE, .call = TIDE_CALL_PUT_MULTIPLE, .every = 3, .max_hits = 6}},
    {"D13-wrong-name", {.kind = TIDE_FAULT_WRONG_NAME, .call = TIDE_CALL_PUT_MULTIPLE, .every = 3, .max_hits = 6}},
    {"D13-wrong-sequence-id",
     {.kind = TIDE_FAULT_WRONG_SEQUENCE_ID, .call = TIDE_CALL_PUT_MULTIPLE, .every = 3, .max_hits = 6}},
    {"D14-internal-error",
     {.kind = TIDE_FAULT_APPLICATION_ERROR, .call = TIDE_CALL_PUT_MULTIPLE, .every = 3, .max_hits = 6}},
    {"D17-abandoned-calls-land-later",
     {.call = TIDE_CALL_PUT_MULTIPLE, .delay_apply_ms = 1500, .lands_after_kill = TRUE, .max_hits = 3}},
    {"D18-applied-in-part-then-an-error",
     {.kind = TIDE_FAULT_IO_ERROR,
      .call = TIDE_CALL_PUT_MULTIPLE,
      .apply = TIDE_APPLY_FIRST,
      .apply_rows = 3,
      .every = 2,
      .max_hits = 10}},
};

/* The fault strikes while 80 steps come in; then the tables must be as if it had not, and every offset committed. */
static void
test_gateway_fault(PipelineFixture *fixture, gconstpointer data)
{
  const GatewayCase *at = data;
  guint ids[FIXTURE_GATEWAYS];
  for (guint i = 0; i < FIXTURE_GATEWAYS; i++)
    ids[i] = scripted_gateway_add_fault(fixture->gateways[i], &at->fault);
  pipeline_produce_mixture(fixture, 40);
  RunningPipeline *running = running_pipeline_start(fixture, FIXTURE_GATEWAYS, NULL);
  guint64 hits = 0;
  pipeline_fixture_wait_all_committed(fixture);
  for (guint step = 40; step < 80; step += 10) { /* in pieces, so that there are many calls */
    pipeline_produce_mixture_from(fixture, step, 10);
    pipeline_fixture_wait_all_committed(fixture);
  }
  for (guint i = 0; i < FIXTURE_GATEWAYS; i++)
    hits += scripted_gateway_fault_hits(fixture->gateways[i], ids[i]);
  g_assert_cmpuint(hits, >, 0);
  pipeline_assert_tables(fixture, 80);
  running_pipeline_end(running);
  pipeline_assert_tables(fixture, 80);
}

/* ---- gateways that are not there ---- */

PIPELINE_TEST("/pipeline-gateways/absence/D1-no-gateway-is-waited-for")
{
  scripted_gateway_kill(fixture->gateways[0]);
  pipeline_produce_mixture(fixture, 20);
  RunningPipeline *running = running_pipeline_start(fixture, 1, NULL);
  running_pipeline_wait_not_ready(running, "no gateway is usable");
  running_pipeline_assert_not_ready(running);
  scripted_gateway_start(fixture->gateways[0]);
  pipeline_fixture_finish_mixture(fixture, running, 20);
}

/* ---- trouble that lasts ---- */

/* A region that keeps failing is an operator's business after 30 s: not ready, with table, region, row key and the
 * gateway's words. It is never given up: when HBase is repaired, the rows are written without anybody's doing. */
PIPELINE_TEST("/pipeline-gateways/trouble/D9-lasting-trouble-is-named-and-ends-by-itself")
{
  TideScriptedFault failing = {.kind = TIDE_FAULT_IO_ERROR,
                               .call = TIDE_CALL_PUT_MULTIPLE,
                               .table = "METRIC",
                               .row_prefix = TIDE_BYTES_LITERAL("host6"),
                               .message = "region server is unhappy: its disk is full"};
  guint id = scripted_gateway_add_fault(fixture->gateways[0], &failing);
  pipeline_fixture_produce(fixture, 0, "host6", PIPELINE_BASE_MS, "stuck");
  pipeline_fixture_produce(fixture, 0, "host1", PIPELINE_BASE_MS, "free");
  RunningPipeline *running = running_pipeline_start(fixture, 1, NULL);
  pipeline_fixture_wait_rows(fixture, "METRIC", 1);
  running_pipeline_wait_not_ready(running, "its disk is full");
  running_pipeline_assert_reason(running, "table 'METRIC'");
  running_pipeline_assert_reason(running, "first row key 'host6#");
  TidePipelineState state = tide_pipeline_state(running->pipeline);
  g_assert_false(state.ready);
  g_assert_true(state.healthy); /* a restart would not help */
  g_assert_nonnull(strstr(state.reason, "region from 'host5'"));
  tide_pipeline_state_clear(&state);
  g_assert_cmpuint(fake_hbase_row_count(fixture->hbase, "METRIC"), ==, 1);
  scripted_gateway_clear_fault(fixture->gateways[0], id);
  pipeline_fixture_wait_all_committed(fixture);
  running_pipeline_wait_ready(running);
  g_assert_cmpuint(fake_hbase_row_count(fixture->hbase, "METRIC"), ==, 2);
  running_pipeline_end(running);
}

int
main(int argc, char **argv)
{
  pipeline_fixture_init(&argc, &argv);
  for (guint i = 0; i < G_N_ELEMENTS(gateway_cases); i++) {
    g_autofree char *path = g_strdup_printf("/pipeline-gateways/faults-%u/%s",
                                            i * 4 / (guint)G_N_ELEMENTS(gateway_cases) + 1, gateway_cases[i].name);
    pipeline_fixture_add_with(path, &gateway_cases[i], test_gateway_fault);
  }
  test_cases_add();
  return g_test_run();
}
