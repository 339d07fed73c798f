/* The whole pipeline with brokers that disappear, move, are slow, refuse commits or are unreachable: it recovers
 * automatically when they do, and a stop is bounded meanwhile. */
#include "fault/pipeline/pipeline_fixture.h"
#include "util/clock.h"
#include "util/error.h"

static void
set_up_three(PipelineFixture *fixture, gconstpointer data)
{
  pipeline_fixture_set_up_brokers(fixture, 3);
}

#define THREE_BROKERS_TEST(path) TEST_WITH(PipelineFixture, set_up_three, pipeline_fixture_tear_down, path)

/* ---- gone, and moved ---- */

static gboolean
is_past(const TidePipelineState *state, gpointer data)
{
  g_assert_cmpint(state->fatal_exit, ==, 0);
  g_assert_true(state->healthy);
  return tide_now_us() >= *(const gint64 *)data;
}

/* Longer than the session: brokers that come back know nothing of this member any more. */
PIPELINE_TEST("/pipeline-brokers/gone/C2-lost-brokers-are-outlasted")
{
  RunningPipeline *running = running_pipeline_start(fixture, 1, NULL);
  pipeline_produce_mixture(fixture, 20);
  pipeline_fixture_wait_all_committed(fixture);
  mock_kafka_set_broker_up(fixture->kafka, -1, FALSE);
  gint64 until_us = tide_now_us() + 7 * TIDE_US_PER_S;
  running_pipeline_wait(running, is_past, &until_us);
  mock_kafka_set_broker_up(fixture->kafka, -1, TRUE);
  pipeline_produce_mixture_from(fixture, 20, 20);
  pipeline_fixture_finish_mixture(fixture, running, 40);
}

THREE_BROKERS_TEST("/pipeline-brokers/moved/C3-moved-leaders-and-coordinator-are-followed")
{
  mock_kafka_set_coordinator(fixture->kafka, FIXTURE_GROUP, 1);
  RunningPipeline *running = running_pipeline_start(fixture, 1, NULL);
  for (guint step = 0; step < 3; step++) {
    for (gint32 partition = 0; partition < FIXTURE_PARTITIONS; partition++)
      mock_kafka_set_leader(fixture->kafka, FIXTURE_TOPIC, partition, (gint32)((step + (guint)partition) % 3 + 1));
    mock_kafka_set_coordinator(fixture->kafka, FIXTURE_GROUP, (gint32)(step % 3 + 1));
    pipeline_produce_mixture_from(fixture, step * 10, 10);
    pipeline_fixture_wait_all_committed(fixture);
  }
  pipeline_assert_tables(fixture, 30);
  g_assert_cmpuint(running_pipeline_sum(running, "tidemark_kafka_halted_partitions"), ==, 0);
  running_pipeline_end(running);
}

/* The leader of one partition does not answer: the others are read all the same. */
static void
test_leader_that_does_not_answer_holds_no_other(PipelineFixture *fixture, gconstpointer kafka)
{
  for (guint i = 0; i < 20; i++)
    pipeline_fixture_produce(fixture, (gint32)(i % FIXTURE_PARTITIONS), "host1",
                             G_GINT64_CONSTANT(1763700000000) + (gint64)i, "v");
  pipeline_fixture_flush(fixture);
  mock_kafka_commit(fixture->kafka, FIXTURE_GROUP, FIXTURE_TOPIC, 1, 4);
  mock_kafka_set_coordinator(fixture->kafka, FIXTURE_GROUP, 1);
  mock_kafka_set_leader(fixture->kafka, FIXTURE_TOPIC, 0, 2);
  mock_kafka_set_leader(fixture->kafka, FIXTURE_TOPIC, 1, 3);
  mock_kafka_set_broker_up(fixture->kafka, 3, FALSE);
  RunningPipeline *running =
      running_pipeline_start_with(fixture, &(RunningPipelineOptions){.gateways = 1, .kafka = kafka});
  g_assert_true(mock_kafka_wait_committed(fixture->kafka, FIXTURE_GROUP, FIXTURE_TOPIC, 0, 10,
                                          tide_now_us() + 60 * TIDE_US_PER_S));
  running_pipeline_wait_reason(running, "is unknown: ");
  mock_kafka_set_broker_up(fixture->kafka, 3, TRUE);
  pipeline_fixture_wait_all_committed(fixture);
  running_pipeline_wait_ready(running);
  g_assert_cmpuint(fake_hbase_row_count(fixture->hbase, "METRIC"), ==, 16);
  running_pipeline_end(running);
}

THREE_BROKERS_TEST("/pipeline-brokers/gone/C1-leader-that-does-not-answer-holds-no-other")
{
  test_leader_that_does_not_answer_holds_no_other(fixture, data);
}

TEST_OF(PipelineFixture, ", assignment: cooperative", set_up_three, pipeline_fixture_tear_down,
        "/pipeline-brokers/gone/C1-leader-that-does-not-answer-holds-no-other-cooperative")
{
  test_leader_that_does_not_answer_holds_no_other(fixture, data);
}

/* The mock does not throttle: what throttling does to a client, answers that come late, does the same. */
PIPELINE_TEST("/pipeline-brokers/moved/C17-slow-answers-cost-lag-only")
{
  mock_kafka_set_round_trip_ms(fixture->kafka, -1, 300);
  pipeline_produce_mixture(fixture, 40);
  RunningPipeline *running = running_pipeline_start(fixture, 1, NULL);
  pipeline_fixture_wait_all_committed(fixture);
  pipeline_assert_tables(fixture, 40);
  g_assert_cmpuint(running_pipeline_sum(running, "tidemark_kafka_rebalances_total"), ==, 1);
  mock_kafka_set_round_trip_ms(fixture->kafka, -1, 0);
  running_pipeline_end(running);
}

/* ---- commits ---- */

PIPELINE_TEST("/pipeline-brokers/commits/C10-commits-refused-for-the-group-are-tried-again")
{
  mock_kafka_push_errors(fixture->kafka, TIDE_KAFKA_OFFSET_COMMIT, RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS, 2);
  mock_kafka_push_errors(fixture->kafka, TIDE_KAFKA_OFFSET_COMMIT, RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION, 2);
  mock_kafka_push_errors(fixture->kafka, TIDE_KAFKA_OFFSET_COMMIT, RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT, 2);
  mock_kafka_push_errors(fixture->kafka, TIDE_KAFKA_OFFSET_COMMIT, RD_KAFKA_RESP_ERR_NOT_COORDINATOR, 2);
  pipeline_produce_mixture(fixture, 20);
  RunningPipeline *running = running_pipeline_start(fixture, 1, NULL);
  running_pipeline_wait_metric(running, "tidemark_kafka_commit_failures_total", 2);
  pipeline_produce_mixture_from(fixture, 20, 20);
  pipeline_fixture_finish_mixture(fixture, running, 40);
}

/* While a call's outcome is unknown, offsets are committed by us and not by librdkafka, which tries its own again. */
PIPELINE_TEST("/pipeline-brokers/commits/C10-refused-commit-with-a-note-is-tried-again")
{
  TideScriptedFault silent = {.kind = TIDE_FAULT_SILENCE, .call = TIDE_CALL_PUT_MULTIPLE, .max_hits = 1};
  RunningPipeline *running = running_pipeline_start_with(
      fixture, &(RunningPipelineOptions){.gateways = 1, .hbase = ", uncertain_timeout: 1h"});
  running_pipeline_wait_ready(running);
  scripted_gateway_add_fault(fixture->gateways[0], &silent);
  mock_kafka_push_errors(fixture->kafka, TIDE_KAFKA_OFFSET_COMMIT, RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED, 1);
  pipeline_fixture_produce(fixture, 0, "host1", G_GINT64_CONSTANT(1763700000000), "v");
  pipeline_fixture_flush(fixture);
  running_pipeline_wait_metric(running, "tidemark_kafka_commit_failures_total", 1);
  pipeline_fixture_finish(fixture, running);
}

PIPELINE_TEST("/pipeline-brokers/commits/C19-stop-whose-commit-is-refused-is-bounded")
{
  RunningPipeline *running = running_pipeline_start(fixture, 1, NULL);
  running_pipeline_wait_ready(running);
  mock_kafka_push_errors(fixture->kafka, TIDE_KAFKA_OFFSET_COMMIT, RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS, 1000);
  pipeline_produce_mixture(fixture, 20);
  running_pipeline_wait_metric(running, "tidemark_messages_written_total", 1);
  gint64 before_us = tide_now_us();
  g_assert_cmpint(running_pipeline_stop(running, 1000), ==, TIDE_EXIT_TEMPFAIL);
  g_assert_cmpint(tide_now_us() - before_us, <, 10 * TIDE_US_PER_S);
  mock_kafka_clear_errors(fixture->kafka, TIDE_KAFKA_OFFSET_COMMIT);
  RunningPipeline *again = running_pipeline_start(fixture, 1, NULL);
  pipeline_fixture_finish_mixture(fixture, again, 20);
}

/* ---- what the client says ---- */

PIPELINE_TEST("/pipeline-brokers/client/C20-fenced-client-is-fatal-and-lost-brokers-are-not")
{
  RunningPipeline *running =
      running_pipeline_start_with(fixture, &(RunningPipelineOptions){.gateways = 1, .kafka = ", instance: one"});
  running_pipeline_wait_ready(running);
  mock_kafka_set_broker_up(fixture->kafka, -1, FALSE);
  gint64 until_us = tide_now_us() + 2 * TIDE_US_PER_S;
  running_pipeline_wait(running, is_past, &until_us);
  mock_kafka_set_broker_up(fixture->kafka, -1, TRUE);
  mock_kafka_push_errors(fixture->kafka, TIDE_KAFKA_HEARTBEAT, RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID, 1);
  mock_kafka_push_errors(fixture->kafka, TIDE_KAFKA_JOIN_GROUP, RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID, 1);
  running_pipeline_wait_fatal(running);
  TidePipelineState state = tide_pipeline_state(running->pipeline);
  g_assert_cmpint(state.fatal_exit, ==, TIDE_EXIT_TEMPFAIL);
  tide_pipeline_state_clear(&state);
  running_pipeline_stop(running, 1000);
}

/* Each wrong setting is told by its own words, and no password is among them. */
PIPELINE_TEST("/pipeline-brokers/client/C13-refusals-are-told-apart")
{
  static const struct {
    const char *kafka;
    const char *text;
  } cases[] = {
      {", librdkafka: { security.protocol: ssl }", "SSL handshake failed"},
      {", librdkafka: { security.protocol: sasl_plaintext, sasl.mechanism: PLAIN, sasl.username: meter,"
       " sasl.password: canary }",
       "SASL"},
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    RunningPipeline *running =
        running_pipeline_start_with(fixture, &(RunningPipelineOptions){.gateways = 1, .kafka = cases[i].kafka});
    running_pipeline_wait_reason(running, cases[i].text);
    TidePipelineState state = tide_pipeline_state(running->pipeline);
    g_assert_null(strstr(state.reason, "canary"));
    g_assert_cmpint(state.fatal_exit, ==, 0);
    tide_pipeline_state_clear(&state);
    running_pipeline_stop(running, 1000);
  }
}
