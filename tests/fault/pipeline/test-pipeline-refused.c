/* Rows that HBase refuses with a text that does not say why: they cost no other row of their region. */
#include "fault/pipeline/pipeline_fixture.h"
#include "write/suspects.h"

#define VAGUE                                                                                                          \
  "Failed 1 action: org.apache.hadoop.hbase.DoNotRetryIOException: a coprocessor's rule: 1 time, servers with "        \
  "issues: "                                                                                                           \
  "rs1,16020,1"

#define REFUSED_TEST(path) TEST_WITH(PipelineFixture, pipeline_fixture_set_up_letters, pipeline_fixture_tear_down, path)

#define LATEST_ONLY                                                                                                    \
  "tables:\n"                                                                                                          \
  "  CURRENT_METRIC: { latest: merge, key: [ { field: host } ], columns: { family: M, from: \"*\" } }\n"               \
  "batch: { latest_window: 1ms }\n"
#define HISTORY_ONLY                                                                                                   \
  "tables:\n"                                                                                                          \
  "  METRIC: { key: [ { field: host }, \"#\", { time: epoch_ms } ], columns: { family: M, from: \"*\" } }\n"

/* The gateway refuses each call with a row of a host that begins so. */
static guint
refuse(PipelineFixture *fixture, const char *host)
{
  TideScriptedFault rule = {.kind = TIDE_FAULT_IO_ERROR,
                            .call = TIDE_CALL_PUT_MULTIPLE,
                            .row_prefix = tide_bytes_of_string(host),
                            .message = VAGUE,
                            .can_retry = TIDE_CAN_RETRY_NO};
  return scripted_gateway_add_fault(fixture->gateways[0], &rule);
}

/* How often @fault had hit when @table had @n_rows; not more than @max. */
static guint64
hits_until_rows(PipelineFixture *fixture, guint fault, const char *table, guint64 n_rows, guint64 max)
{
  gint64 deadline_us = pipeline_fixture_deadline_us();
  guint64 hits = 0;
  while (fake_hbase_row_count(fixture->hbase, table) < n_rows && hits < max) {
    pipeline_fixture_wait_a_little(deadline_us, "the other rows are written");
    hits = scripted_gateway_fault_hits(fixture->gateways[0], fault);
  }
  g_test_message("%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT " rows after %" G_GUINT64_FORMAT " refusals",
                 fake_hbase_row_count(fixture->hbase, table), n_rows, hits);
  return hits;
}

static void
produce_others(PipelineFixture *fixture, guint n_hosts)
{
  for (guint i = 0; i < n_hosts; i++) {
    g_autofree char *host = g_strdup_printf("good%u", i);
    pipeline_fixture_produce(fixture, 1, host, PIPELINE_BASE_MS + i, "v");
  }
  pipeline_fixture_flush(fixture);
}

/* Rows of the same region that show that it works, until the bad message has its dead letter. */
static void
show_until_committed(PipelineFixture *fixture, const char *table, guint n_rows)
{
  for (guint i = 0; pipeline_fixture_committed(fixture, 0) < 1; i++) {
    g_autofree char *host = g_strdup_printf("c%u", i);
    pipeline_fixture_produce(fixture, 1, host, PIPELINE_BASE_MS + 1000 + i, "v");
    pipeline_fixture_flush(fixture);
    pipeline_fixture_wait_rows(fixture, table, n_rows + 1 + i);
  }
  pipeline_fixture_wait_all_committed(fixture);
}

/* A latest row that is refused alone, without another row in its batch: those that come later are written, show that
 * the region works, and so the message becomes a dead letter. */
REFUSED_TEST("/pipeline-refused/latest/lone-row-holds-no-other-of-its-region")
{
  guint fault = refuse(fixture, "bad");
  pipeline_fixture_produce(fixture, 0, "bad", PIPELINE_BASE_MS, "v");
  pipeline_fixture_flush(fixture);
  RunningPipeline *running = running_pipeline_start(fixture, 1, TO_TOPIC LATEST_ONLY);
  pipeline_fixture_wait_hits(fixture, fault, 2);
  produce_others(fixture, 10);
  g_assert_cmpuint(hits_until_rows(fixture, fault, "CURRENT_METRIC", 10, 5 * TIDE_SUSPECT_ROUNDS), <,
                   5 * TIDE_SUSPECT_ROUNDS);
  show_until_committed(fixture, "CURRENT_METRIC", 10);
  running_pipeline_end(running);
  pipeline_fixture_assert_only_letter(fixture, "0", "0");
}

/* The same beside a row that is accepted: others of the region are written before the rounds are over. */
REFUSED_TEST("/pipeline-refused/latest/row-that-is-tried-delays-no-other-of-its-region")
{
  guint fault = refuse(fixture, "bad");
  pipeline_fixture_produce(fixture, 0, "fine", PIPELINE_BASE_MS, "v");
  pipeline_fixture_produce(fixture, 0, "bad", PIPELINE_BASE_MS, "v");
  pipeline_fixture_flush(fixture);
  RunningPipeline *running = running_pipeline_start(fixture, 1, TO_TOPIC LATEST_ONLY);
  pipeline_fixture_wait_hits(fixture, fault, 2);
  produce_others(fixture, 10);
  g_assert_cmpuint(hits_until_rows(fixture, fault, "CURRENT_METRIC", 11, TIDE_SUSPECT_ROUNDS), <, TIDE_SUSPECT_ROUNDS);
  pipeline_fixture_wait_all_committed(fixture);
  running_pipeline_end(running);
  pipeline_fixture_assert_only_letter(fixture, "0", "1");
}

REFUSED_TEST("/pipeline-refused/history/lone-row-holds-no-other-of-its-region")
{
  guint fault = refuse(fixture, "bad");
  pipeline_fixture_produce(fixture, 0, "bad", PIPELINE_BASE_MS, "v");
  pipeline_fixture_flush(fixture);
  RunningPipeline *running = running_pipeline_start(fixture, 1, TO_TOPIC HISTORY_ONLY);
  pipeline_fixture_wait_hits(fixture, fault, 2);
  produce_others(fixture, 10);
  g_assert_cmpuint(hits_until_rows(fixture, fault, "METRIC", 10, 5 * TIDE_SUSPECT_ROUNDS), <, TIDE_SUSPECT_ROUNDS);
  show_until_committed(fixture, "METRIC", 10);
  running_pipeline_end(running);
  pipeline_fixture_assert_only_letter(fixture, "0", "0");
}

/* The region of a row that is tried is split: what comes for its halves does not wait for a row that waits for them. */
REFUSED_TEST("/pipeline-refused/history/split-region-does-not-wait-for-a-row-that-waits-for-it")
{
  guint fault = refuse(fixture, "bad");
  pipeline_fixture_produce(fixture, 0, "bad", PIPELINE_BASE_MS, "v");
  pipeline_fixture_flush(fixture);
  RunningPipeline *running = running_pipeline_start_with(
      fixture,
      &(RunningPipelineOptions){.gateways = 1, .options = TO_TOPIC HISTORY_ONLY, .hbase = ", region_refresh: 5s"});
  pipeline_fixture_wait_hits(fixture, fault, 2);
  fake_hbase_split_region(fixture->hbase, "METRIC", TIDE_BYTES_LITERAL("host0"), FALSE);
  TideGatewayStats stats;
  scripted_gateway_stats(fixture->gateways[0], &stats);
  guint64 n = stats.calls_by_method[TIDE_CALL_GET_ALL_REGION_LOCATIONS] + 2;
  g_assert_true(scripted_gateway_wait_calls(fixture->gateways[0], TIDE_CALL_GET_ALL_REGION_LOCATIONS, n,
                                            pipeline_fixture_deadline_us()));
  guint64 before = scripted_gateway_fault_hits(fixture->gateways[0], fault);
  produce_others(fixture, 10);
  g_assert_cmpuint(hits_until_rows(fixture, fault, "METRIC", 10, before + 5 * TIDE_SUSPECT_ROUNDS), <,
                   before + 5 * TIDE_SUSPECT_ROUNDS);
  running_pipeline_stop(running, 100);
}
