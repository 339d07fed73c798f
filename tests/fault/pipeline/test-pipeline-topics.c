/* The whole pipeline with topics that are missing, recreated, extended, truncated, damaged, or have gaps. No offset is
 * jumped over in silence. */
#include "fault/kafka/raw_batch.h"
#include "fault/pipeline/pipeline_fixture.h"
#include "util/clock.h"

#define OTHER_TOPIC "metrics-of-others"

static RunningPipeline *
start(PipelineFixture *fixture, const char *kafka, const char *topics)
{
  return running_pipeline_start_with(fixture,
                                     &(RunningPipelineOptions){.gateways = 1, .kafka = kafka, .topics = topics});
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

/* What comes to be when the group is at work is read from its first message, also where the group began at the end. */
PIPELINE_TEST("/pipeline-topics/new/C5-what-appears-later-is-read-from-its-first-message")
{
  pipeline_fixture_produce(fixture, 0, "host0", PIPELINE_BASE_MS, "before the group");
  pipeline_fixture_flush(fixture);
  RunningPipeline *running =
      start(fixture, ", start: latest, librdkafka: { topic.metadata.refresh.interval.ms: 500 }", "\"^metrics.*\"");
  running_pipeline_wait_ready(running);
  pipeline_fixture_wait_committed(fixture, 0, 1);
  pipeline_fixture_produce(fixture, 0, "host1", PIPELINE_BASE_MS, "of the group");
  pipeline_fixture_flush(fixture);
  pipeline_fixture_wait_committed(fixture, 0, 2);
  mock_kafka_create_topic(fixture->kafka, OTHER_TOPIC, 1);
  produce_to(fixture, OTHER_TOPIC, "host2", 10);
  pipeline_fixture_wait_committed_of(fixture, OTHER_TOPIC, 0, 10);
  g_assert_cmpuint(fake_hbase_row_count(fixture->hbase, "METRIC"), ==, 11);
  running_pipeline_end(running);
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

static const char eager[] = ", on_lost_offsets: continue",
                  cooperative[] = ", on_lost_offsets: continue, assignment: cooperative";

static void
test_lost_messages_are_counted_and_passed_where_wanted(PipelineFixture *fixture, gconstpointer kafka)
{
  pipeline_fixture_produce(fixture, 0, "host0", PIPELINE_BASE_MS, "v");
  pipeline_fixture_produce(fixture, 1, "host1", PIPELINE_BASE_MS, "v");
  pipeline_fixture_flush(fixture);
  mock_kafka_commit(fixture->kafka, FIXTURE_GROUP, FIXTURE_TOPIC, 0, 1);
  outrun(fixture);
  RunningPipeline *running = start(fixture, kafka, NULL);
  pipeline_fixture_wait_committed(fixture, 0, 1200);
  pipeline_fixture_wait_committed(fixture, 1, 1); /* the other partition went on where it was */
  guint64 lost = running_pipeline_sum(running, "tidemark_messages_lost_total");
  g_assert_cmpuint(lost, >, 0);
  g_assert_cmpuint(tide_metrics_sum(running->metrics, "tidemark_messages_received_total", "partition=\"0\""), ==,
                   1199 - lost);
  g_assert_cmpuint(fake_hbase_row_count(fixture->hbase, "METRIC"), ==, 1199 - lost + 1);
  running_pipeline_end(running);
}

PIPELINE_TEST_OF(eager, "/pipeline-topics/range/C6-lost-messages-are-counted-and-passed-where-wanted")
{
  test_lost_messages_are_counted_and_passed_where_wanted(fixture, data);
}

PIPELINE_TEST_OF(cooperative, "/pipeline-topics/range/C6-lost-messages-are-passed-by-a-cooperative-member")
{
  test_lost_messages_are_counted_and_passed_where_wanted(fixture, data);
}

/* ---- damaged, and with holes ---- */

static const TideRawBatch batch = {.payloads = {"{\"host\":\"host1\",\"ts\":1763700000000,\"v\":\"1\"}",
                                                "{\"host\":\"host1\",\"ts\":1763700001000,\"v\":\"2\"}"},
                                   .deltas = {1, 3},
                                   .n_offsets = 5};

/* librdkafka would go on behind it: the good message that follows must not move the offset over it. */
PIPELINE_TEST("/pipeline-topics/bytes/C14-damaged-batch-holds-its-partition")
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
  pipeline_fixture_wait_committed(fixture, 0, 1);
  pipeline_fixture_wait_committed(fixture, 1, 1);
  g_assert_cmpuint(running_pipeline_sum(running, "tidemark_kafka_corrupt_fetches_total"), ==, 1);
  running_pipeline_end(running);
  g_assert_cmpint(pipeline_fixture_committed(fixture, 0), ==, 1);
  g_assert_cmpuint(fake_hbase_row_count(fixture->hbase, "METRIC"), ==, 2);
}

/* As a broker leaves a batch that it has compacted: offsets 1 and 3 of five. */
PIPELINE_TEST("/pipeline-topics/bytes/C15-holes-in-the-offsets-do-not-hold-the-mark")
{
  raw_batch_produce(mock_kafka_brokers(fixture->kafka), FIXTURE_TOPIC, 0, &batch);
  RunningPipeline *running = start(fixture, NULL, NULL);
  pipeline_fixture_wait_committed(fixture, 0, 4);
  pipeline_fixture_produce(fixture, 0, "host0", PIPELINE_BASE_MS, "behind");
  pipeline_fixture_flush(fixture);
  pipeline_fixture_wait_committed(fixture, 0, 6);
  g_assert_cmpuint(running_pipeline_sum(running, "tidemark_messages_received_total"), ==, 3);
  g_assert_cmpuint(fake_hbase_row_count(fixture->hbase, "METRIC"), ==, 3);
  running_pipeline_end(running);
}

/* ---- several, and forbidden ---- */

/* One topic has far more than the other; what the other gets meanwhile does not wait for the end of that. */
PIPELINE_TEST("/pipeline-topics/several/C18-busy-topic-does-not-starve-another")
{
  mock_kafka_create_topic(fixture->kafka, OTHER_TOPIC, 1);
  TideScriptedFault slow = {.call = TIDE_CALL_PUT_MULTIPLE, .delay_reply_ms = 20};
  scripted_gateway_add_fault(fixture->gateways[0], &slow);
  for (guint i = 0; i < 6000; i++)
    pipeline_fixture_produce(fixture, 0, "host1", PIPELINE_BASE_MS + i, "v");
  produce_to(fixture, OTHER_TOPIC, "host2", 100);
  RunningPipeline *running = start(fixture, ", librdkafka: { fetch.wait.max.ms: 10 }", FIXTURE_TOPIC ", " OTHER_TOPIC);
  pipeline_fixture_wait_committed_of(fixture, OTHER_TOPIC, 0, 100);
  g_assert_cmpint(pipeline_fixture_committed(fixture, 0), <, 6000);
  pipeline_fixture_wait_committed(fixture, 0, 6000);
  running_pipeline_end(running);
}

PIPELINE_TEST("/pipeline-topics/several/C12-denied-topic-is-named-and-read-when-allowed")
{
  if (!mock_kafka_can_deny_topics()) {
    g_test_skip(MOCK_KAFKA_DENIED_TOPIC_CRASHES);
    return;
  }
  mock_kafka_set_topic_error(fixture->kafka, FIXTURE_TOPIC, RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED);
  RunningPipeline *running =
      start(fixture, ", librdkafka: { topic.metadata.refresh.interval.ms: 500, sasl.username: meter }", NULL);
  running_pipeline_wait_reason(running, "user 'meter' may not read topic 'metrics': grant Read, for example with "
                                        "kafka-acls --add --allow-principal User:meter --operation Read");
  TidePipelineState state = tide_pipeline_state(running->pipeline);
  g_assert_cmpint(state.fatal_exit, ==, 0);
  tide_pipeline_state_clear(&state);
  mock_kafka_set_topic_error(fixture->kafka, FIXTURE_TOPIC, RD_KAFKA_RESP_ERR_NO_ERROR);
  pipeline_produce_mixture(fixture, 10);
  pipeline_fixture_finish(fixture, running);
}

/* One broker has all partitions and denies them with one answer. A message shows that its own topic may be read again,
 * in all partitions, and nothing about the other topic. */
PIPELINE_TEST("/pipeline-topics/several/C12-topic-that-is-still-denied-is-named")
{
  mock_kafka_create_topic(fixture->kafka, OTHER_TOPIC, 1);
  produce_to(fixture, OTHER_TOPIC, "host2", 10);
  RunningPipeline *running = start(fixture, NULL, FIXTURE_TOPIC ", " OTHER_TOPIC);
  pipeline_fixture_wait_committed_of(fixture, OTHER_TOPIC, 0, 10);
  running_pipeline_wait_ready(running);
  mock_kafka_push_errors(fixture->kafka, TIDE_KAFKA_FETCH, RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED, 1000);
  running_pipeline_wait_not_ready(running, "may not read topic");
  mock_kafka_clear_errors(fixture->kafka, TIDE_KAFKA_FETCH);
  produce_to(fixture, FIXTURE_TOPIC, "host1", 10);
  pipeline_fixture_wait_committed(fixture, 0, 10);
  running_pipeline_wait_not_ready(running, "may not read topic '" OTHER_TOPIC "'");
  produce_to(fixture, OTHER_TOPIC, "host3", 10);
  running_pipeline_wait_ready(running);
  running_pipeline_end(running);
}
