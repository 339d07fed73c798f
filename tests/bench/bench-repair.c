/* Measures the cost of repairing rows already sent, between a mock Kafka and a scripted gateway: rows written again,
 * and seconds until everything is committed.
 *
 * bench-repair [TURNS]
 *
 * A line of JSON for each turn and case. */
#include "fault/pipeline/pipeline_fixture.h"
#include "util/clock.h"

#define TABLE                                                                                                          \
  "tables:\n"                                                                                                          \
  "  METRIC: { key: [ { field: host }, \"#\", { time: epoch_ms } ], columns: { family: M, from: \"*\" } }\n"

#define WIDE_TOPIC "wide"
#define WIDE_PARTITIONS 6

static void
print(const char *name, guint64 n_written, guint64 n_messages, gint64 since_us)
{
  g_print("{\"case\": \"%s\", \"messages\": %" G_GUINT64_FORMAT ", \"rows_again\": %" G_GUINT64_FORMAT
          ", \"seconds\": %.2f}\n",
          name, n_messages, n_written - MIN(n_written, n_messages), (double)(tide_now_us() - since_us) / 1e6);
}

/* ---- a conflict after an abandoned call ---- */

#define SETTLE ", uncertain_timeout: 8s"
#define READINGS 1000u
#define CONFLICTS 100u
#define STREAM_READINGS_PER_S 200u
#define STREAM_S 12u

static void
produce(PipelineFixture *fixture, guint first, guint n, guint step, const char *value)
{
  for (guint i = first; i < first + n; i++)
    pipeline_fixture_produce(fixture, 0, "host1", PIPELINE_BASE_MS + (gint64)i * step, value);
  pipeline_fixture_flush(fixture);
}

/* Other values come for cells of calls that were given up, and a stream goes on behind them. */
static void
measure_conflict(void)
{
  PipelineFixture fixture = {0};
  pipeline_fixture_set_up(&fixture, NULL);
  TideScriptedFault abandoned = {
      .call = TIDE_CALL_PUT_MULTIPLE, .delay_apply_ms = 2500, .lands_after_kill = TRUE, .max_hits = 1};
  guint id = scripted_gateway_add_fault(fixture.gateways[0], &abandoned);
  produce(&fixture, 0, READINGS, 1, "first");
  RunningPipeline *running = running_pipeline_start_with(
      &fixture, &(RunningPipelineOptions){
                    .gateways = 1, .hbase = SETTLE, .kafka = ", max_span_messages: 100000", .options = TABLE});
  pipeline_fixture_wait_hits(&fixture, id, 1);
  running_pipeline_wait_metric(running, "tidemark_messages_received_total", READINGS);
  gint64 since_us = tide_now_us();
  produce(&fixture, 0, CONFLICTS, READINGS / CONFLICTS, "second");
  for (guint i = 0; i < STREAM_S * 10; i++) {
    gint64 at_us = since_us + (gint64)(i + 1) * TIDE_US_PER_S / 10;
    produce(&fixture, READINGS + i * STREAM_READINGS_PER_S / 10, STREAM_READINGS_PER_S / 10, 1, "later");
    running_pipeline_wait_until(running, at_us);
  }
  pipeline_fixture_wait_all_committed(&fixture);
  print("conflict", running_pipeline_sum(running, "tidemark_hbase_rows_written_total"), (guint64)fixture.produced[0],
        since_us);
  running_pipeline_end(running);
  pipeline_fixture_tear_down(&fixture, NULL);
}

/* ---- partitions that are taken away with a full backlog ---- */

#define BACKLOG 12000u

/* A second member takes half of the partitions, and what is on its way to a slow gateway cannot be drained in time. */
static void
measure_lost(void)
{
  PipelineFixture fixture = {0};
  pipeline_fixture_set_up(&fixture, NULL);
  mock_kafka_create_topic(fixture.kafka, WIDE_TOPIC, WIDE_PARTITIONS);
  for (guint i = 0; i < BACKLOG; i++) {
    g_autofree char *payload = g_strdup_printf("{\"host\":\"host%u\",\"ts\":%" G_GINT64_FORMAT ",\"v\":\"%u\"}", i % 10,
                                               PIPELINE_BASE_MS + i, i);
    mock_kafka_produce_text(fixture.kafka, WIDE_TOPIC, (gint32)(i % WIDE_PARTITIONS), payload);
  }
  pipeline_fixture_flush(&fixture);
  TideScriptedFault slow = {.call = TIDE_CALL_PUT_MULTIPLE, .delay_reply_ms = 400};
  guint id = scripted_gateway_add_fault(fixture.gateways[0], &slow);
  RunningPipelineOptions options = {.gateways = 1,
                                    .topics = WIDE_TOPIC,
                                    .kafka =
                                        ", session_timeout: 10s, assignment: cooperative, max_span_messages: 100000",
                                    .options = TABLE "batch: { max_rows: 100 }\nlimits: { drain_timeout: 1s }\n"};
  RunningPipeline *first = running_pipeline_start_with(&fixture, &options);
  running_pipeline_wait_metric(first, "tidemark_messages_received_total", BACKLOG / 2);
  gint64 since_us = tide_now_us();
  RunningPipeline *second = running_pipeline_start_with(&fixture, &options);
  running_pipeline_wait_metric(second, "tidemark_messages_received_total", 1);
  scripted_gateway_clear_fault(fixture.gateways[0], id);
  for (gint32 i = 0; i < WIDE_PARTITIONS; i++)
    g_assert_true(mock_kafka_wait_committed(fixture.kafka, FIXTURE_GROUP, WIDE_TOPIC, i, BACKLOG / WIDE_PARTITIONS,
                                            pipeline_fixture_deadline_us()));
  print("lost",
        running_pipeline_sum(first, "tidemark_hbase_rows_written_total") +
            running_pipeline_sum(second, "tidemark_hbase_rows_written_total"),
        BACKLOG, since_us);
  running_pipeline_end(second);
  running_pipeline_end(first);
  pipeline_fixture_tear_down(&fixture, NULL);
}

int
main(int argc, char **argv)
{
  pipeline_fixture_init(&argc, &argv);
  guint64 n_turns = argc > 1 ? g_ascii_strtoull(argv[1], NULL, 10) : 1;
  for (guint64 i = 0; i < n_turns; i++) {
    if (g_getenv("ONLY_LOST") == NULL)
      measure_conflict();
    measure_lost();
  }
  return 0;
}
