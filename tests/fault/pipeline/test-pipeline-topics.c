/* The whole pipeline and what becomes of its topics: missing, made anew, larger, shortened, damaged, with holes. No
 * offset is jumped over in silence. */
#include "fault/kafka/raw_batch.h"
#include "fault/pipeline/pipeline_mixture.h"
#include "util/clock.h"

#define OTHER_TOPIC "metrics-of-others"

static RunningPipeline *
start(PipelineFixture *fixture, const char *kafka, const char *topics)
{
  return running_pipeline_start_with(fixture,
                                     &(RunningPipelineOptions){.gateways = 1, .kafka = kafka, .topics = topics});
}

static gboolean
says(const TidePipelineState *state, gpointer data)
{
  return state->reason != NULL && strstr(state->reason, data) != NULL;
}

static gint64
committed(PipelineFixture *fixture, const char *topic, gint32 partition)
{
  return mock_kafka_committed(fixture->kafka, FIXTURE_GROUP, topic, partition, pipeline_fixture_deadline_us());
}

static void
wait_committed(PipelineFixture *fixture, const char *topic, gint32 partition, gint64 offset)
{
  g_assert_true(mock_kafka_wait_committed(fixture->kafka, FIXTURE_GROUP, topic, partition, offset,
                                          pipeline_fixture_deadline_us()));
}

static void
produce_to(PipelineFixture *fixture, const char *topic, const char *host, guint n)
{
  for (guint i = 0; i < n; i++) {
    g_autofree char *payload =
        g_strdup_printf("{\"host\":\"%s\",\"ts\":%" G_GINT64_FORMAT ",\"v\":\"v\"}", host, PIPELINE_BASE_MS + i);
    mock_kafka_produce_text(fixture->kafka, topic, 0, payload);
  }
  pipeline_fixture_flush(fixture);
}

/* ---- missing and new ---- */

static void
test_missing_topic_is_named_and_waited_for(PipelineFixture *fixture, gconstpointer data)
{
  mock_kafka_set_topic_error(fixture->kafka, OTHER_TOPIC, RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART);
  RunningPipeline *running = start(fixture, ", librdkafka: { topic.metadata.refresh.interval.ms: 500 }", OTHER_TOPIC);
  running_pipeline_wait(running, says, (gpointer) "Subscribed topic not available: " OTHER_TOPIC);
  mock_kafka_set_topic_error(fixture->kafka, OTHER_TOPIC, RD_KAFKA_RESP_ERR_NO_ERROR);
  produce_to(fixture, OTHER_TOPIC, "host1", 10);
  running_pipeline_wait_metric(running, "tidemark_messages_written_total", 10);
  g_assert_cmpint(running_pipeline_stop(running, 10000), ==, 0);
}

/* The topic was deleted and made anew: what was committed lies behind its end. */
static void
test_offset_behind_the_end_holds(PipelineFixture *fixture, gconstpointer kafka)
{
  pipeline_fixture_produce(fixture, 0, "host0", PIPELINE_BASE_MS, "v");
  pipeline_fixture_flush(fixture);
  mock_kafka_commit(fixture->kafka, FIXTURE_GROUP, FIXTURE_TOPIC, 0, 500);
  RunningPipeline *running = start(fixture, kafka, NULL);
  running_pipeline_wait_halted(running);
  TidePipelineState state = tide_pipeline_state(running->pipeline);
  g_assert_nonnull(strstr(state.reason, "offset 500 is to be read next, but the partition ends at 1"));
  tide_pipeline_state_clear(&state);
  g_assert_cmpuint(tide_metrics_sum(running->metrics, "tidemark_messages_lost_total", NULL), ==, 0);
  g_assert_cmpint(running_pipeline_stop(running, 10000), ==, 0);
  g_assert_cmpint(committed(fixture, FIXTURE_TOPIC, 0), ==, 0); /* whoever does not know of the halt skips nothing */
}

/* What comes to be when the group is at work is read from its first message, also where the group began at the end. */
static void
test_partitions_that_appear_later_are_read_from_their_first_message(PipelineFixture *fixture, gconstpointer data)
{
  pipeline_fixture_produce(fixture, 0, "host0", PIPELINE_BASE_MS, "before the group");
  pipeline_fixture_flush(fixture);
  RunningPipeline *running =
      start(fixture, ", start: latest, librdkafka: { topic.metadata.refresh.interval.ms: 500 }", "\"^metrics.*\"");
  running_pipeline_wait_ready(running);
  wait_committed(fixture, FIXTURE_TOPIC, 0, 1);
  pipeline_fixture_produce(fixture, 0, "host1", PIPELINE_BASE_MS, "of the group");
  pipeline_fixture_flush(fixture);
  wait_committed(fixture, FIXTURE_TOPIC, 0, 2);
  mock_kafka_create_topic(fixture->kafka, OTHER_TOPIC, 1);
  produce_to(fixture, OTHER_TOPIC, "host2", 10);
  wait_committed(fixture, OTHER_TOPIC, 0, 10);
  g_assert_cmpuint(fake_hbase_row_count(fixture->hbase, "METRIC"), ==, 11);
  g_assert_cmpint(running_pipeline_stop(running, 10000), ==, 0);
}

/* ---- shortened ---- */

/* Both partitions lose what was next; the mock keeps 5 MiB of each. */
static void
outrun(PipelineFixture *fixture)
{
  g_autofree char *filler = g_strnfill(8000, 'x');
  for (guint i = 1; i < 1200; i++) {
    pipeline_fixture_produce(fixture, 0, "host0", PIPELINE_BASE_MS + i, filler);
    if (i % 100 == 0)
      pipeline_fixture_flush(fixture);
  }
  pipeline_fixture_flush(fixture);
}

static void
test_lost_messages_are_counted_and_passed_where_wanted(PipelineFixture *fixture, gconstpointer kafka)
{
  pipeline_fixture_produce(fixture, 0, "host0", PIPELINE_BASE_MS, "v");
  pipeline_fixture_produce(fixture, 1, "host1", PIPELINE_BASE_MS, "v");
  pipeline_fixture_flush(fixture);
  mock_kafka_commit(fixture->kafka, FIXTURE_GROUP, FIXTURE_TOPIC, 0, 1);
  outrun(fixture);
  RunningPipeline *running = start(fixture, kafka, NULL);
  wait_committed(fixture, FIXTURE_TOPIC, 0, 1200);
  wait_committed(fixture, FIXTURE_TOPIC, 1, 1); /* the other partition went on where it was */
  guint64 lost = tide_metrics_sum(running->metrics, "tidemark_messages_lost_total", NULL);
  g_assert_cmpuint(lost, >, 0);
  g_assert_cmpuint(tide_metrics_sum(running->metrics, "tidemark_messages_received_total", "partition=\"0\""), ==,
                   1199 - lost);
  g_assert_cmpuint(fake_hbase_row_count(fixture->hbase, "METRIC"), ==, 1199 - lost + 1);
  g_assert_cmpint(running_pipeline_stop(running, 10000), ==, 0);
}

/* ---- damaged, and with holes ---- */

static const TideRawBatch batch = {.payloads = {"{\"host\":\"host1\",\"ts\":1763700000000,\"v\":\"1\"}",
                                                "{\"host\":\"host1\",\"ts\":1763700001000,\"v\":\"2\"}"},
                                   .deltas = {1, 3},
                                   .n_offsets = 5};

/* librdkafka would go on behind it: the good message that follows must not move the offset over it. */
static void
test_damaged_batch_holds_its_partition(PipelineFixture *fixture, gconstpointer data)
{
  TideRawBatch damaged = batch;
  damaged.damaged = TRUE;
  pipeline_fixture_produce(fixture, 0, "host0", PIPELINE_BASE_MS, "before");
  pipeline_fixture_flush(fixture);
  raw_batch_produce(mock_kafka_brokers(fixture->kafka), FIXTURE_TOPIC, 0, &damaged);
  pipeline_fixture_produce(fixture, 0, "host0", PIPELINE_BASE_MS + 1, "behind");
  pipeline_fixture_produce(fixture, 1, "host2", PIPELINE_BASE_MS, "other");
  pipeline_fixture_flush(fixture);
  RunningPipeline *running = start(fixture, NULL, NULL);
  running_pipeline_wait_halted(running);
  wait_committed(fixture, FIXTURE_TOPIC, 0, 1);
  wait_committed(fixture, FIXTURE_TOPIC, 1, 1);
  g_assert_cmpuint(tide_metrics_sum(running->metrics, "tidemark_kafka_damaged_total", NULL), ==, 1);
  g_assert_cmpint(running_pipeline_stop(running, 10000), ==, 0);
  g_assert_cmpint(committed(fixture, FIXTURE_TOPIC, 0), ==, 1);
  g_assert_cmpuint(fake_hbase_row_count(fixture->hbase, "METRIC"), ==, 2);
}

/* As a broker leaves a batch that it has compacted: offsets 1 and 3 of five. */
static void
test_holes_in_the_offsets_do_not_hold_the_mark(PipelineFixture *fixture, gconstpointer data)
{
  raw_batch_produce(mock_kafka_brokers(fixture->kafka), FIXTURE_TOPIC, 0, &batch);
  RunningPipeline *running = start(fixture, NULL, NULL);
  wait_committed(fixture, FIXTURE_TOPIC, 0, 4);
  pipeline_fixture_produce(fixture, 0, "host0", PIPELINE_BASE_MS, "behind");
  pipeline_fixture_flush(fixture);
  wait_committed(fixture, FIXTURE_TOPIC, 0, 6);
  g_assert_cmpuint(tide_metrics_sum(running->metrics, "tidemark_messages_received_total", NULL), ==, 3);
  g_assert_cmpuint(fake_hbase_row_count(fixture->hbase, "METRIC"), ==, 3);
  g_assert_cmpint(running_pipeline_stop(running, 10000), ==, 0);
}

/* ---- several, and forbidden ---- */

/* One topic has far more than the other; what the other gets meanwhile does not wait for the end of that. */
static void
test_busy_topic_does_not_starve_another(PipelineFixture *fixture, gconstpointer data)
{
  mock_kafka_create_topic(fixture->kafka, OTHER_TOPIC, 1);
  TideScriptedFault slow = {.call = TIDE_CALL_PUT_MULTIPLE, .delay_reply_ms = 20};
  scripted_gateway_add_fault(fixture->gateways[0], &slow);
  for (guint i = 0; i < 6000; i++)
    pipeline_fixture_produce(fixture, 0, "host1", PIPELINE_BASE_MS + i, "v");
  produce_to(fixture, OTHER_TOPIC, "host2", 100);
  RunningPipeline *running = start(fixture, ", librdkafka: { fetch.wait.max.ms: 10 }", FIXTURE_TOPIC ", " OTHER_TOPIC);
  wait_committed(fixture, OTHER_TOPIC, 0, 100);
  g_assert_cmpint(committed(fixture, FIXTURE_TOPIC, 0), <, 6000);
  wait_committed(fixture, FIXTURE_TOPIC, 0, 6000);
  g_assert_cmpint(running_pipeline_stop(running, 10000), ==, 0);
}

static void
test_denied_topic_is_named_and_read_when_allowed(PipelineFixture *fixture, gconstpointer data)
{
  if (!mock_kafka_can_deny_topics()) {
    g_test_skip(MOCK_KAFKA_DENIED_TOPIC_CRASHES);
    return;
  }
  mock_kafka_set_topic_error(fixture->kafka, FIXTURE_TOPIC, RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED);
  RunningPipeline *running =
      start(fixture, ", librdkafka: { topic.metadata.refresh.interval.ms: 500, sasl.username: meter }", NULL);
  running_pipeline_wait(running, says,
                        (gpointer) "user 'meter' may not read topic 'metrics': grant Read, as by "
                                   "kafka-acls --add --allow-principal User:meter --operation Read");
  TidePipelineState state = tide_pipeline_state(running->pipeline);
  g_assert_cmpint(state.fatal_exit, ==, 0);
  tide_pipeline_state_clear(&state);
  mock_kafka_set_topic_error(fixture->kafka, FIXTURE_TOPIC, RD_KAFKA_RESP_ERR_NO_ERROR);
  pipeline_produce_mixture(fixture, 10);
  pipeline_fixture_wait_all_committed(fixture);
  g_assert_cmpint(running_pipeline_stop(running, 10000), ==, 0);
}

#define ADD(path, kafka, func)                                                                                         \
  g_test_add("/pipeline-topics/" path, PipelineFixture, kafka, pipeline_fixture_set_up, func,                          \
             pipeline_fixture_tear_down)

int
main(int argc, char **argv)
{
  const char *eager = ", on_lost_offsets: continue",
             *cooperative = ", on_lost_offsets: continue, assignment: cooperative";
  pipeline_fixture_init(&argc, &argv);
  ADD("new/C4-missing-topic-is-named-and-waited-for", NULL, test_missing_topic_is_named_and_waited_for);
  ADD("new/C5-what-appears-later-is-read-from-its-first-message", NULL,
      test_partitions_that_appear_later_are_read_from_their_first_message);
  ADD("range/C4-offset-behind-the-end-holds", eager, test_offset_behind_the_end_holds);
  ADD("range/C6-lost-messages-are-counted-and-passed-where-wanted", eager,
      test_lost_messages_are_counted_and_passed_where_wanted);
  ADD("range/C6-lost-messages-are-passed-by-a-cooperative-member", cooperative,
      test_lost_messages_are_counted_and_passed_where_wanted);
  ADD("bytes/C14-damaged-batch-holds-its-partition", NULL, test_damaged_batch_holds_its_partition);
  ADD("bytes/C15-holes-in-the-offsets-do-not-hold-the-mark", NULL, test_holes_in_the_offsets_do_not_hold_the_mark);
  ADD("several/C18-busy-topic-does-not-starve-another", NULL, test_busy_topic_does_not_starve_another);
  ADD("several/C12-denied-topic-is-named-and-read-when-allowed", NULL,
      test_denied_topic_is_named_and_read_when_allowed);
  return g_test_run();
}
