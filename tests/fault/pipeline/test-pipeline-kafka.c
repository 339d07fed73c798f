/* The whole pipeline between a Kafka that fails or rebalances and an operator who stops it: every offset is committed
 * only when it may be, and what is handed back is read again. */
#include "fault/pipeline/log_capture.h"
#include "fault/pipeline/pipeline_mixture.h"
#include "util/clock.h"
#include "util/error.h"

/* ---- stop ---- */

static void
test_stop_drains_and_loses_nothing(PipelineFixture *fixture, gconstpointer data)
{
  TideScriptedFault slow = {.call = TIDE_CALL_PUT_MULTIPLE, .delay_reply_ms = 50};
  scripted_gateway_add_fault(fixture->gateways[0], &slow);
  for (guint start = 0; start < 4; start++) {
    RunningPipeline *running = running_pipeline_start(fixture, 1, NULL);
    running_pipeline_wait_ready(running);
    pipeline_produce_mixture(fixture, 20 * (start + 1));
    g_assert_true(scripted_gateway_wait_calls(fixture->gateways[0], TIDE_CALL_PUT_MULTIPLE, start + 1,
                                              pipeline_fixture_deadline_us()));
    g_assert_cmpint(running_pipeline_stop(running, 20000), ==, 0);
  }
  RunningPipeline *last = running_pipeline_start(fixture, 1, NULL);
  pipeline_fixture_wait_all_committed(fixture);
  pipeline_assert_tables(fixture, 80);
  g_assert_cmpint(running_pipeline_stop(last, 10000), ==, 0);
}

static void
test_stop_while_hbase_is_stuck_is_bounded_and_says_so(PipelineFixture *fixture, gconstpointer data)
{
  TideScriptedFault failing = {.kind = TIDE_FAULT_IO_ERROR, .call = TIDE_CALL_PUT_MULTIPLE};
  guint id = scripted_gateway_add_fault(fixture->gateways[0], &failing);
  pipeline_produce_mixture(fixture, 20);
  RunningPipeline *running = running_pipeline_start(fixture, 1, NULL);
  g_assert_true(scripted_gateway_wait_fault_hits(fixture->gateways[0], id, 2, pipeline_fixture_deadline_us()));
  gint64 before_us = tide_now_us();
  g_assert_cmpint(running_pipeline_stop(running, 500), ==, TIDE_EXIT_TEMPFAIL);
  g_assert_cmpint(tide_now_us() - before_us, <, 30 * TIDE_US_PER_S);
  for (gint32 i = 0; i < FIXTURE_PARTITIONS; i++)
    g_assert_cmpint(
        mock_kafka_committed(fixture->kafka, FIXTURE_GROUP, FIXTURE_TOPIC, i, pipeline_fixture_deadline_us()), <=, 0);
  scripted_gateway_clear_fault(fixture->gateways[0], id);
  RunningPipeline *again = running_pipeline_start(fixture, 1, NULL);
  pipeline_fixture_wait_all_committed(fixture);
  pipeline_assert_tables(fixture, 20);
  g_assert_cmpint(running_pipeline_stop(again, 10000), ==, 0);
}

/* The calls of a batch fail twice, and the third, which would be told of, is under way when the stop cuts it off: that
 * is the operator's doing, and nothing to read. */
static void
test_call_that_a_stop_cuts_off_is_no_failure(PipelineFixture *fixture, gconstpointer data)
{
  TideScriptedFault failing = {.kind = TIDE_FAULT_IO_ERROR, .call = TIDE_CALL_PUT_MULTIPLE, .max_hits = 2};
  TideScriptedFault silent = {.kind = TIDE_FAULT_SILENCE, .call = TIDE_CALL_PUT_MULTIPLE};
  scripted_gateway_add_fault(fixture->gateways[0], &failing);
  guint id = scripted_gateway_add_fault(fixture->gateways[0], &silent);
  pipeline_fixture_produce(fixture, 0, "host1", G_GINT64_CONSTANT(1763700000000), "v");
  pipeline_fixture_flush(fixture);
  RunningPipeline *running = running_pipeline_start(
      fixture, 1, "tables: { METRIC: { key: [ { field: host } ], columns: { family: M, from: \"*\" } } }\n");
  g_assert_true(scripted_gateway_wait_fault_hits(fixture->gateways[0], id, 1, pipeline_fixture_deadline_us()));
  LogCapture *capture = log_capture_start();
  g_assert_cmpint(running_pipeline_stop(running, 100), ==, TIDE_EXIT_TEMPFAIL);
  g_autofree char *lines = log_capture_end(capture);
  g_assert_null(strstr(lines, "cannot write"));
}

/* ---- the group ---- */

static void
test_second_daemon_takes_its_share_and_gives_it_back(PipelineFixture *fixture, gconstpointer data)
{
  RunningPipeline *first = running_pipeline_start(fixture, 1, NULL);
  running_pipeline_wait_ready(first);
  pipeline_produce_mixture(fixture, 40);
  RunningPipeline *second = running_pipeline_start(fixture, FIXTURE_GATEWAYS, NULL);
  running_pipeline_wait_ready(second);
  pipeline_produce_mixture(fixture, 80);
  pipeline_fixture_wait_all_committed(fixture);
  g_assert_cmpuint(tide_metrics_sum(second->metrics, "tidemark_messages_written_total", NULL), >, 0);
  g_assert_cmpint(running_pipeline_stop(second, 10000), ==, 0);
  pipeline_produce_mixture(fixture, 80);
  pipeline_fixture_wait_all_committed(fixture);
  pipeline_assert_tables(fixture, 80);
  running_pipeline_assert_accounting_balances(first);
  g_assert_cmpint(running_pipeline_stop(first, 10000), ==, 0);
}

/* What was paused before a rebalance is fetched again after it: librdkafka must not remember the pause. */
static void
test_pause_does_not_outlive_the_assignment(PipelineFixture *fixture, gconstpointer data)
{
  pipeline_fixture_produce_raw(fixture, 0, "this is not JSON");
  pipeline_fixture_flush(fixture);
  RunningPipeline *first = running_pipeline_start(fixture, 1, NULL);
  running_pipeline_wait_metric(first, "tidemark_messages_held_total", 1);
  RunningPipeline *second = running_pipeline_start(fixture, 1, NULL);
  running_pipeline_wait_metric(first, "tidemark_kafka_rebalances_total", 2);
  running_pipeline_wait_metric(second, "tidemark_kafka_rebalances_total", 1);
  g_assert_cmpint(running_pipeline_stop(second, 10000), ==, 0);
  /* Whoever had it meanwhile, the first has it again, reads the bad message again, and holds again. */
  running_pipeline_wait_metric(first, "tidemark_messages_held_total", 2);
  g_assert_cmpint(running_pipeline_stop(first, 10000), ==, 0);
}

static void
test_lost_assignment_commits_nothing_and_is_read_again(PipelineFixture *fixture, gconstpointer data)
{
  TideScriptedFault failing = {.kind = TIDE_FAULT_IO_ERROR, .call = TIDE_CALL_PUT_MULTIPLE};
  guint id = scripted_gateway_add_fault(fixture->gateways[0], &failing);
  pipeline_produce_mixture(fixture, 20);
  RunningPipeline *running = running_pipeline_start(fixture, 1, NULL);
  g_assert_true(scripted_gateway_wait_fault_hits(fixture->gateways[0], id, 1, pipeline_fixture_deadline_us()));
  mock_kafka_push_errors(fixture->kafka, TIDE_KAFKA_HEARTBEAT, RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID, 1);
  running_pipeline_wait_metric(running, "tidemark_messages_handed_back_total", 1);
  scripted_gateway_clear_fault(fixture->gateways[0], id);
  pipeline_fixture_wait_all_committed(fixture);
  pipeline_assert_tables(fixture, 20);
  g_assert_cmpint(running_pipeline_stop(running, 10000), ==, 0);
}

/* ---- brokers ---- */

static void
test_brokers_down_at_the_start_are_waited_for(PipelineFixture *fixture, gconstpointer data)
{
  pipeline_produce_mixture(fixture, 20);
  mock_kafka_set_broker_up(fixture->kafka, -1, FALSE);
  RunningPipeline *running = running_pipeline_start(fixture, 1, NULL);
  running_pipeline_wait_metric(running, "tidemark_hbase_connects_total", 1);
  TidePipelineState state = tide_pipeline_state(running->pipeline);
  g_assert_false(state.ready);
  tide_pipeline_state_clear(&state);
  mock_kafka_set_broker_up(fixture->kafka, -1, TRUE);
  pipeline_fixture_wait_all_committed(fixture);
  pipeline_assert_tables(fixture, 20);
  g_assert_cmpint(running_pipeline_stop(running, 10000), ==, 0);
}

/* What was committed is no more in the topic: nothing is jumped over in silence. */
static void
test_offset_out_of_range_is_said_and_holds_the_partition(PipelineFixture *fixture, gconstpointer data)
{
  pipeline_fixture_produce(fixture, 0, "host0", PIPELINE_BASE_MS, "v");
  RunningPipeline *first = running_pipeline_start(fixture, 1, NULL);
  pipeline_fixture_wait_all_committed(fixture);
  g_assert_cmpint(running_pipeline_stop(first, 10000), ==, 0);

  /* The mock's partition keeps its newest 5 MiB. */
  g_autofree char *filler = g_strnfill(8000, 'x');
  for (guint i = 1; i < 1200; i++) {
    pipeline_fixture_produce(fixture, 0, "host0", PIPELINE_BASE_MS + i, filler);
    if (i % 100 == 0)
      pipeline_fixture_flush(fixture);
  }
  pipeline_fixture_flush(fixture);
  RunningPipeline *second = running_pipeline_start(fixture, 1, NULL);
  running_pipeline_wait_halted(second);
  g_assert_cmpuint(tide_metrics_sum(second->metrics, "tidemark_kafka_offset_out_of_range_total", NULL), ==, 1);
  g_assert_cmpuint(tide_metrics_sum(second->metrics, "tidemark_messages_lost_total", NULL), >, 0);
  TidePipelineState state = tide_pipeline_state(second->pipeline);
  g_assert_nonnull(strstr(state.reason, "messages 1 to "));
  g_assert_nonnull(strstr(state.reason, " were deleted before they were read"));
  tide_pipeline_state_clear(&state);
  gint64 n_lost = (gint64)tide_metrics_sum(second->metrics, "tidemark_messages_lost_total", NULL);
  g_assert_cmpint(running_pipeline_stop(second, 10000), ==, 0);
  /* The oldest message that is left, with a note that keeps the partition halted. */
  g_assert_cmpint(mock_kafka_committed(fixture->kafka, FIXTURE_GROUP, FIXTURE_TOPIC, 0, pipeline_fixture_deadline_us()),
                  ==, 1 + n_lost);
}

static void
test_refused_commits_are_tried_again(PipelineFixture *fixture, gconstpointer data)
{
  mock_kafka_push_errors(fixture->kafka, TIDE_KAFKA_OFFSET_COMMIT, RD_KAFKA_RESP_ERR_NOT_COORDINATOR, 3);
  pipeline_produce_mixture(fixture, 20);
  RunningPipeline *running = running_pipeline_start(fixture, 1, NULL);
  pipeline_fixture_wait_all_committed(fixture);
  pipeline_assert_tables(fixture, 20);
  g_assert_cmpint(running_pipeline_stop(running, 10000), ==, 0);
}

#define ADD(path, func)                                                                                                \
  g_test_add("/pipeline-kafka/" path, PipelineFixture, NULL, pipeline_fixture_set_up, func, pipeline_fixture_tear_down)

/* Until when, as long as the session may last; then for how long already. */
static gboolean
waits_for_a_dead_member(const TidePipelineState *state, gpointer data)
{
  if (state->reason == NULL)
    return FALSE;
  gboolean says_when = strstr(state->reason, "the group 'tidemark' keeps partitions for a member") != NULL &&
                       strstr(state->reason, " UTC at the latest") != NULL;
  return says_when || strstr(state->reason, "the group 'tidemark' has given out no partitions for ") != NULL;
}

/* After a kill the group waits for the dead one's session; here its coordinator is slow to answer, which is the same to
 * a member. */
static void
test_group_that_gives_out_nothing_is_told(PipelineFixture *fixture, gconstpointer data)
{
  pipeline_fixture_produce(fixture, 0, "host1", PIPELINE_BASE_MS, "v");
  mock_kafka_delay_request(fixture->kafka, 1, TIDE_KAFKA_JOIN_GROUP, RD_KAFKA_RESP_ERR_NO_ERROR, 5900);
  RunningPipeline *running = running_pipeline_start(fixture, 1, NULL);
  running_pipeline_wait(running, waits_for_a_dead_member, NULL);
  running_pipeline_wait_ready(running);
  pipeline_fixture_wait_all_committed(fixture);
  g_assert_cmpint(running_pipeline_stop(running, 10000), ==, 0);
}

int
main(int argc, char **argv)
{
  pipeline_fixture_init(&argc, &argv);
  ADD("stop/E2-stop-drains-and-loses-nothing", test_stop_drains_and_loses_nothing);
  ADD("stop/E2-stop-while-hbase-is-stuck-is-bounded-and-says-so",
      test_stop_while_hbase_is_stuck_is_bounded_and_says_so);
  ADD("stop/call-that-is-cut-off-is-no-failure", test_call_that_a_stop_cuts_off_is_no_failure);
  ADD("group/C7-second-daemon-takes-its-share-and-gives-it-back", test_second_daemon_takes_its_share_and_gives_it_back);
  ADD("group/C7-pause-does-not-outlive-the-assignment", test_pause_does_not_outlive_the_assignment);
  ADD("group/C8-lost-assignment-commits-nothing-and-is-read-again",
      test_lost_assignment_commits_nothing_and_is_read_again);
  ADD("group/U8-group-that-gives-out-nothing-is-told", test_group_that_gives_out_nothing_is_told);
  ADD("brokers/C1-brokers-down-at-the-start-are-waited-for", test_brokers_down_at_the_start_are_waited_for);
  ADD("brokers/C6-offset-out-of-range-is-said-and-holds-the-partition",
      test_offset_out_of_range_is_said_and_holds_the_partition);
  ADD("brokers/C10-refused-commits-are-tried-again", test_refused_commits_are_tried_again);
  return g_test_run();
}
