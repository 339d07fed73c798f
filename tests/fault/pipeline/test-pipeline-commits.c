/* What is committed when partitions are assigned and revoked, and how long the brokers may take to answer. */
#include "fault/pipeline/pipeline_fixture.h"
#include "util/clock.h"

#define BASE_MS G_GINT64_CONSTANT(1763700000000)
#define RARE_COMMITS ", commit_interval: 60s"

/* The mock refuses every commit while members join, where a broker takes those of the old generation: only cooperative
 * members give partitions up at another time. */
#define COOPERATIVE ", assignment: cooperative"

static void
produce(PipelineFixture *fixture, guint from, guint to)
{
  for (guint i = from; i < to; i++)
    pipeline_fixture_produce(fixture, (gint32)(i % FIXTURE_PARTITIONS), "host", BASE_MS + i, "value");
  pipeline_fixture_flush(fixture);
}

static RunningPipeline *
join(PipelineFixture *fixture, const char *kafka)
{
  return running_pipeline_start_with(fixture, &(RunningPipelineOptions){.gateways = 1, .kafka = kafka});
}

static gboolean
has_revoked(const TidePipelineState *state, gpointer data)
{
  const char *name = "tidemark_kafka_rebalances_total";
  return tide_metrics_sum(((RunningPipeline *)data)->metrics, name, "type=\"revoked\"") > 0;
}

/* M12: what was written is committed when its partition is handed over, however seldom it is otherwise: nothing is read
 * twice. */
static void
test_M12_clean_handover_repeats_nothing(PipelineFixture *fixture, gconstpointer data)
{
  RunningPipeline *first = join(fixture, RARE_COMMITS COOPERATIVE);
  produce(fixture, 0, 40);
  running_pipeline_wait_metric(first, "tidemark_messages_written_total", 40);
  RunningPipeline *second = join(fixture, RARE_COMMITS COOPERATIVE);
  running_pipeline_wait(first, has_revoked, first);
  produce(fixture, 40, 60);
  running_pipeline_wait_metric(second, "tidemark_messages_written_total", 10);
  running_pipeline_wait_metric(first, "tidemark_messages_written_total", 50);
  /* A commit that meets a rebalance is refused by the mock, and may cost a cooperative member its assignment: seldom,
   * and on a busy machine. Then the next owner reads again, and each says so. */
  if (tide_metrics_sum(first->metrics, "tidemark_kafka_rebalances_total", "type=\"lost\"") == 0 &&
      running_pipeline_sum(first, "tidemark_kafka_commit_failures_total") == 0)
    g_assert_cmpuint(running_pipeline_sum(first, "tidemark_messages_received_total") +
                         running_pipeline_sum(second, "tidemark_messages_received_total"),
                     ==, 60);
  running_pipeline_stop(second, 10000);
  running_pipeline_stop(first, 10000); /* the mock may refuse its commit, since the other one has left */
}

/* F7: a clean stop says so to the next owner, and librdkafka, which commits what is stored once more when partitions
 * are given up, does not say over it: the next owner would hold offsets for hbase.uncertain_timeout. */
static void
test_F7_clean_stop_leaves_a_closed_note(PipelineFixture *fixture, gconstpointer data)
{
  RunningPipeline *running = join(fixture, RARE_COMMITS);
  produce(fixture, 0, 40);
  running_pipeline_wait_metric(running, "tidemark_messages_written_total", 40);
  running_pipeline_end(running);
  for (gint32 i = 0; i < FIXTURE_PARTITIONS; i++) {
    gint64 deadline_us = pipeline_fixture_deadline_us();
    g_autofree char *note = mock_kafka_committed_note(fixture->kafka, FIXTURE_GROUP, FIXTURE_TOPIC, i, deadline_us);
    g_assert_true(g_str_has_prefix(note, "tidemark 1 closed"));
    g_assert_cmpint(pipeline_fixture_committed(fixture, i), ==, 20);
  }
}

/* F7: a partition of which an owner reads nothing is left as clean as it was found. */
static void
test_F7_idle_partition_is_left_with_a_closed_note(PipelineFixture *fixture, gconstpointer data)
{
  for (guint round = 0; round < 2; round++) { /* one that is new, and one that was left */
    RunningPipeline *running = join(fixture, RARE_COMMITS);
    running_pipeline_wait_ready(running);
    running_pipeline_end(running);
    for (gint32 i = 0; i < FIXTURE_PARTITIONS; i++) {
      gint64 deadline_us = pipeline_fixture_deadline_us();
      g_autofree char *note = mock_kafka_committed_note(fixture->kafka, FIXTURE_GROUP, FIXTURE_TOPIC, i, deadline_us);
      g_assert_true(g_str_has_prefix(note, "tidemark 1 closed"));
      g_assert_cmpint(pipeline_fixture_committed(fixture, i), ==, 0);
    }
  }
}

/* H5: what could not be committed when its partition went is not forgotten by a stop that follows. */
static void
test_H5_refused_commit_is_told_at_the_stop(PipelineFixture *fixture, gconstpointer data)
{
  RunningPipeline *running = join(fixture, RARE_COMMITS);
  produce(fixture, 0, 40);
  running_pipeline_wait_metric(running, "tidemark_messages_written_total", 40);
  mock_kafka_push_errors(fixture->kafka, TIDE_KAFKA_OFFSET_COMMIT, RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS, 100);
  mock_kafka_delay_request(fixture->kafka, 1, TIDE_KAFKA_JOIN_GROUP, RD_KAFKA_RESP_ERR_NO_ERROR, 20000);
  mock_kafka_push_errors(fixture->kafka, TIDE_KAFKA_HEARTBEAT, RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS, 1);
  running_pipeline_wait(running, has_revoked, running);
  running_pipeline_wait_metric(running, "tidemark_kafka_commit_failures_total", 1); /* behind the drain */
  mock_kafka_clear_errors(fixture->kafka, TIDE_KAFKA_OFFSET_COMMIT);
  g_assert_cmpint(running_pipeline_stop(running, 3000), ==, 75);
  g_assert_cmpint(pipeline_fixture_committed(fixture, 0), <=, 0);
}

#define MANY_PARTITIONS 14
#define SLOW_MS 3500

static gboolean
was_assigned(const TidePipelineState *state, gpointer data)
{
  g_assert_true(state->healthy);
  return tide_metrics_sum(((RunningPipeline *)data)->metrics, "tidemark_kafka_rebalances_total", NULL) > 0;
}

/* F11: each question about offsets is answered slowly. They are asked for all partitions at once, and the consumer is
 * not taken for dead between them: 14 of 3.5 s one after the other are 49 s, of which 30 are too many. */
static void
test_F11_slow_answers_do_not_add_up(PipelineFixture *fixture, gconstpointer data)
{
  mock_kafka_create_topic(fixture->kafka, "many", MANY_PARTITIONS);
  for (guint i = 0; i < 2 * MANY_PARTITIONS; i++)
    mock_kafka_delay_request(fixture->kafka, 1, TIDE_KAFKA_LIST_OFFSETS, RD_KAFKA_RESP_ERR_NO_ERROR, SLOW_MS);
  RunningPipeline *running = running_pipeline_start_with(
      fixture, &(RunningPipelineOptions){.gateways = 1, .topics = "many", .kafka = ", start: latest"});
  running_pipeline_wait(running, was_assigned, running);
  mock_kafka_clear_errors(fixture->kafka, TIDE_KAFKA_LIST_OFFSETS);
  running_pipeline_end(running);
}

#define ADD(path, func) pipeline_fixture_add("/pipeline-commits/" path, func)

int
main(int argc, char **argv)
{
  pipeline_fixture_init(&argc, &argv);
  ADD("handover/M12-clean-handover-repeats-nothing", test_M12_clean_handover_repeats_nothing);
  ADD("handover/F7-clean-stop-leaves-a-closed-note", test_F7_clean_stop_leaves_a_closed_note);
  ADD("revoke/F7-idle-partition-is-left-with-a-closed-note", test_F7_idle_partition_is_left_with_a_closed_note);
  ADD("revoke/H5-refused-commit-is-told-at-the-stop", test_H5_refused_commit_is_told_at_the_stop);
  ADD("questions/F11-slow-answers-do-not-add-up", test_F11_slow_answers_do_not_add_up);
  return g_test_run();
}
