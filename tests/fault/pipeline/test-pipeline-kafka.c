/* The whole pipeline while Kafka fails or rebalances and an operator stops it: what is reported, and where reading
 * continues. */
#include "fault/pipeline/pipeline_fixture.h"
#include "util/clock.h"
#include "util/error.h"

/* ---- stop ---- */

/* The calls of a batch fail twice, and the third, which would be told of, is under way when the stop cuts it off: that
 * is the operator's doing, and nothing to read. */
PIPELINE_TEST("/pipeline-kafka/stop/call-that-is-cut-off-is-no-failure")
{
  TideScriptedFault failing = {.kind = TIDE_FAULT_IO_ERROR, .call = TIDE_CALL_PUT_MULTIPLE, .max_hits = 2};
  TideScriptedFault silent = {.kind = TIDE_FAULT_SILENCE, .call = TIDE_CALL_PUT_MULTIPLE};
  scripted_gateway_add_fault(fixture->gateways[0], &failing);
  guint id = scripted_gateway_add_fault(fixture->gateways[0], &silent);
  pipeline_fixture_produce(fixture, 0, "host1", G_GINT64_CONSTANT(1763700000000), "v");
  RunningPipeline *running = running_pipeline_start(
      fixture, 1, "tables: { METRIC: { key: [ { field: host } ], columns: { family: M, from: \"*\" } } }\n");
  pipeline_fixture_wait_hits(fixture, id, 1);
  LogCapture *capture = log_capture_start();
  g_assert_cmpint(running_pipeline_stop(running, 100), ==, TIDE_EXIT_TEMPFAIL);
  g_autofree char *lines = log_capture_end(capture);
  g_assert_null(strstr(lines, "cannot write"));
}

/* ---- the group ---- */

/* What was paused before a rebalance is fetched again after it: librdkafka must not remember the pause. */
PIPELINE_TEST("/pipeline-kafka/group/C7-pause-does-not-outlive-the-assignment")
{
  pipeline_fixture_produce_raw(fixture, 0, "this is not JSON");
  RunningPipeline *first = running_pipeline_start(fixture, 1, NULL);
  running_pipeline_wait_metric(first, "tidemark_messages_halted_total", 1);
  RunningPipeline *second = running_pipeline_start(fixture, 1, NULL);
  running_pipeline_wait_metric(first, "tidemark_kafka_rebalances_total", 2);
  running_pipeline_wait_metric(second, "tidemark_kafka_rebalances_total", 1);
  running_pipeline_end(second);
  /* Whoever had it meanwhile, the first has it again, reads the bad message again, and holds again. */
  running_pipeline_wait_metric(first, "tidemark_messages_halted_total", 2);
  running_pipeline_end(first);
}

/* ---- brokers ---- */

/* What was committed is no more in the topic: nothing is jumped over in silence. */
PIPELINE_TEST("/pipeline-kafka/brokers/C6-offset-out-of-range-is-said-and-holds-the-partition")
{
  pipeline_fixture_produce(fixture, 0, "host0", PIPELINE_BASE_MS, "v");
  RunningPipeline *first = running_pipeline_start(fixture, 1, NULL);
  pipeline_fixture_finish(fixture, first);

  /* The mock's partition keeps its newest 5 MiB. */
  g_autofree char *filler = g_strnfill(8000, 'x');
  for (guint i = 1; i < 1200; i++) {
    pipeline_fixture_produce(fixture, 0, "host0", PIPELINE_BASE_MS + i, filler);
    if (i % 100 == 0)
      pipeline_fixture_flush(fixture);
  }
  RunningPipeline *second = running_pipeline_start(fixture, 1, NULL);
  running_pipeline_wait_halted(second);
  g_assert_cmpuint(running_pipeline_sum(second, "tidemark_kafka_offset_out_of_range_total"), ==, 1);
  g_assert_cmpuint(running_pipeline_sum(second, "tidemark_messages_lost_total"), >, 0);
  running_pipeline_assert_reason(second, "messages 1 to ");
  running_pipeline_assert_reason(second, " were deleted before they were read");
  gint64 n_lost = (gint64)running_pipeline_sum(second, "tidemark_messages_lost_total");
  running_pipeline_end(second);
  /* The oldest message that is left, with a note that keeps the partition halted. */
  g_assert_cmpint(pipeline_fixture_committed(fixture, 0), ==, 1 + n_lost);
}

/* Until when, as long as the session may last; then for how long already. */
static gboolean
waits_for_a_dead_member(const TidePipelineState *state, gpointer data)
{
  if (state->reason == NULL)
    return FALSE;
  gboolean says_when = strstr(state->reason, "the group 'tidemark' keeps partitions for a member") != NULL &&
                       strstr(state->reason, " UTC at the latest") != NULL;
  return says_when || strstr(state->reason, "the group 'tidemark' has assigned no partitions for ") != NULL;
}

/* After a kill the group waits for the dead one's session; here its coordinator is slow to answer, which is the same to
 * a member. */
PIPELINE_TEST("/pipeline-kafka/group/U8-group-that-gives-out-nothing-is-told")
{
  pipeline_fixture_produce(fixture, 0, "host1", PIPELINE_BASE_MS, "v");
  mock_kafka_delay_request(fixture->kafka, 1, TIDE_KAFKA_JOIN_GROUP, RD_KAFKA_RESP_ERR_NO_ERROR, 5900);
  RunningPipeline *running = running_pipeline_start(fixture, 1, NULL);
  running_pipeline_wait(running, waits_for_a_dead_member, NULL);
  running_pipeline_wait_ready(running);
  pipeline_fixture_finish(fixture, running);
}
