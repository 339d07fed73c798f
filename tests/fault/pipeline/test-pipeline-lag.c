/* The pipeline's lag, compared at each moment with the broker's own offsets: the group's committed offset and the end
 * of the partition. And the topics that are missing. */
#include "fault/pipeline/pipeline_fixture.h"
#include "util/clock.h"

#define LAG "tidemark_kafka_consumer_lag{topic=\"" FIXTURE_TOPIC "\",partition=\"%d\"} "
#define LAG_SECONDS "tidemark_kafka_consumer_lag_seconds{topic=\"" FIXTURE_TOPIC "\",partition=\"%d\"} "

#define STORED_OFFSET "tidemark_kafka_stored_offset{topic=\"" FIXTURE_TOPIC "\",partition=\"%d\"} "
#define COMMITTED_OFFSET "tidemark_kafka_committed_offset{topic=\"" FIXTURE_TOPIC "\",partition=\"%d\"} "

#define HOUR_MS (3600 * G_GINT64_CONSTANT(1000))

/* The value of the series that @format names; -1: it has none. */
static double
series_of(const RunningPipeline *running, const char *format, gint32 partition)
{
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
  g_autofree char *name = g_strdup_printf(format, partition);
#pragma GCC diagnostic pop
  g_autofree char *text = tide_metrics_render(running->metrics);
  const char *at = strstr(text, name);
  return at != NULL ? g_ascii_strtod(at + strlen(name), NULL) : -1;
}

static double
lag_of(const RunningPipeline *running, gint32 partition)
{
  return series_of(running, LAG, partition);
}

/* As Kafka's own tool counts it; nothing committed is from the begin, which is 0 here. */
static double
lag_of_broker(PipelineFixture *fixture, gint32 partition)
{
  gint64 deadline_us = pipeline_fixture_deadline_us();
  gint64 committed = pipeline_fixture_committed(fixture, partition);
  gint64 end = mock_kafka_end_offset(fixture->kafka, FIXTURE_TOPIC, partition, deadline_us);
  return (double)(end - MAX(committed, 0));
}

/* Until both partitions' series are what the broker says, which is above 0 for the first. */
static void
wait_lag_agrees(PipelineFixture *fixture, const RunningPipeline *running)
{
  gint64 deadline_us = pipeline_fixture_deadline_us();
  for (gint32 i = 0; i < FIXTURE_PARTITIONS; i++)
    while (lag_of(running, i) != lag_of_broker(fixture, i))
      pipeline_fixture_wait_a_little(deadline_us, "the lag is what the broker says");
  g_assert_cmpfloat(lag_of(running, 0), >, 0);
}

static void
wait_no_lag(const RunningPipeline *running, gint32 partition)
{
  gint64 deadline_us = pipeline_fixture_deadline_us();
  while (lag_of(running, partition) >= 0 || series_of(running, LAG_SECONDS, partition) >= 0)
    pipeline_fixture_wait_a_little(deadline_us, "the lag's series is gone");
}

static void
produce(PipelineFixture *fixture, guint n)
{
  for (guint i = 0; i < n; i++)
    for (gint32 partition = 0; partition < FIXTURE_PARTITIONS; partition++)
      pipeline_fixture_produce(fixture, partition, partition == 0 ? "host1" : "host7",
                               PIPELINE_BASE_MS + fixture->produced[partition], "v");
  pipeline_fixture_flush(fixture);
}

/* With the record's own time. */
static void
produce_at(PipelineFixture *fixture, const char *payload, gint64 timestamp_ms)
{
  mock_kafka_produce(fixture->kafka, &(TideMockMessage){.topic = FIXTURE_TOPIC,
                                                        .payload = tide_bytes_of_string(payload),
                                                        .timestamp_ms = timestamp_ms});
  fixture->produced[0]++;
  pipeline_fixture_flush(fixture);
}

static guint
add_stuck(PipelineFixture *fixture)
{
  return pipeline_fixture_fail_puts(fixture, NULL, NULL);
}

/* From the committed offset on, before this process has stored one: the first value that is shown is the right one. */
PIPELINE_TEST("/pipeline-lag/lag/U2-while-starting")
{
  add_stuck(fixture);
  produce(fixture, 150);
  mock_kafka_commit(fixture->kafka, FIXTURE_GROUP, FIXTURE_TOPIC, 0, 50);
  RunningPipeline *running = running_pipeline_start(fixture, 1, NULL);
  gint64 deadline_us = pipeline_fixture_deadline_us();
  while (lag_of(running, 0) < 0)
    pipeline_fixture_wait_a_little(deadline_us, "the lag is shown");
  g_assert_cmpfloat(lag_of(running, 0), ==, 100);
  wait_lag_agrees(fixture, running);
  g_assert_cmpfloat(lag_of(running, 1), ==, 150);
  running_pipeline_wait_status(running, "lag 250 messages, ");
  running_pipeline_wait_status(running, "(all read, not committed yet), in flight ");
  g_assert_cmpint(running_pipeline_stop(running, 0), ==, 75);
}

PIPELINE_TEST("/pipeline-lag/lag/U2-while-paused")
{
  add_stuck(fixture);
  RunningPipeline *running = running_pipeline_start(fixture, 1, NULL);
  produce(fixture, 3000); /* more than kafka.max_span_messages */
  running_pipeline_wait_status(running, "paused 2");
  wait_lag_agrees(fixture, running);
  produce(fixture, 500); /* nobody fetches them */
  wait_lag_agrees(fixture, running);
  g_assert_cmpfloat(lag_of(running, 1), ==, 3500);
  g_assert_cmpint(running_pipeline_stop(running, 0), ==, 75);
}

/* The age is that of the message that halts the partition. */
PIPELINE_TEST("/pipeline-lag/lag/U2-while-halted")
{
  RunningPipeline *running = running_pipeline_start(
      fixture, 1, "readings: { format: json, time: { field: ts, format: epoch_ms }, on_bad_message: stop }\n");
  produce(fixture, 20);
  pipeline_fixture_wait_all_committed(fixture);
  produce_at(fixture, "no reading", tide_wall_clock_epoch_ms() - HOUR_MS);
  produce(fixture, 30);
  running_pipeline_wait_halted(running);
  wait_lag_agrees(fixture, running);
  g_assert_cmpfloat(lag_of(running, 0), ==, 31);
  produce(fixture, 30);
  wait_lag_agrees(fixture, running);
  gint64 deadline_us = pipeline_fixture_deadline_us();
  while (series_of(running, LAG_SECONDS, 0) < 3600)
    pipeline_fixture_wait_a_little(deadline_us, "the age of the message that halts its partition");
  g_assert_cmpfloat(series_of(running, LAG_SECONDS, 0), <, 3600 + 600);
  (void)running_pipeline_stop(running, 10000);
}

static void
wait_lag_seconds(const RunningPipeline *running, double from, double below, const char *what)
{
  gint64 deadline_us = pipeline_fixture_deadline_us();
  for (double lag = -1; lag < from || lag >= below; lag = series_of(running, LAG_SECONDS, 0))
    pipeline_fixture_wait_a_little(deadline_us, what);
}

/* All is written, and the brokers refuse to commit it: the age is that of the first message, not of the newest. */
PIPELINE_TEST("/pipeline-lag/lag-2/K9-while-commits-are-refused")
{
  static const char reading[] = "{\"host\":\"h\",\"ts\":1763700000000,\"v\":1}";
  RunningPipeline *running = running_pipeline_start(fixture, 1, NULL);
  produce(fixture, 10);
  pipeline_fixture_wait_all_committed(fixture);
  mock_kafka_push_errors(fixture->kafka, TIDE_KAFKA_OFFSET_COMMIT, RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS, 1000);
  produce_at(fixture, reading, tide_wall_clock_epoch_ms() - 2 * HOUR_MS);
  running_pipeline_wait_metric(running, "tidemark_kafka_commit_failures_total", 1);
  produce_at(fixture, reading, tide_wall_clock_epoch_ms() - HOUR_MS);
  running_pipeline_wait_metric(running, "tidemark_messages_written_total", 22);
  wait_lag_agrees(fixture, running);
  wait_lag_seconds(running, 7200, 7200 + 600, "the age of the oldest message that is not committed");
  gint64 deadline_us = pipeline_fixture_deadline_us();
  while (series_of(running, STORED_OFFSET, 0) != 12 || series_of(running, COMMITTED_OFFSET, 0) != 10)
    pipeline_fixture_wait_a_little(deadline_us, "what is finished and not committed");
  mock_kafka_clear_errors(fixture->kafka, TIDE_KAFKA_OFFSET_COMMIT);
  pipeline_fixture_wait_all_committed(fixture);
  wait_lag_seconds(running, 0, 1, "nothing is behind");
  /* A commit that librdkafka repeats after it was refused, and that succeeds after a newer message is finished, leaves
   * the age of the oldest one until the next commit: this is that commit. */
  produce(fixture, 10);
  pipeline_fixture_wait_all_committed(fixture);
  wait_lag_seconds(running, 0, 1, "nothing is behind");
  /* What was committed is no concern of what comes then. */
  mock_kafka_push_errors(fixture->kafka, TIDE_KAFKA_OFFSET_COMMIT, RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS, 1000);
  produce_at(fixture, reading, tide_wall_clock_epoch_ms() - HOUR_MS);
  wait_lag_seconds(running, 3600, 3600 + 600, "the age of what came then");
  mock_kafka_clear_errors(fixture->kafka, TIDE_KAFKA_OFFSET_COMMIT);
  running_pipeline_end(running);
}

/* Nobody knows what came in meanwhile: no number is better than an old one. */
PIPELINE_TEST("/pipeline-lag/lag-2/U2-while-cut-off-from-brokers")
{
  add_stuck(fixture);
  RunningPipeline *running = running_pipeline_start(fixture, 1, NULL);
  produce(fixture, 40);
  running_pipeline_wait_ready(running);
  wait_lag_agrees(fixture, running);
  mock_kafka_set_broker_up(fixture->kafka, -1, FALSE);
  for (gint32 i = 0; i < FIXTURE_PARTITIONS; i++)
    wait_no_lag(running, i);
  /* At last the group's session is over, too, and with it the partitions: that is no lag of 0. */
  running_pipeline_wait_status(running, "0 partitions, lag unknown, ");
  mock_kafka_set_broker_up(fixture->kafka, -1, TRUE);
  wait_lag_agrees(fixture, running);
  (void)running_pipeline_stop(running, 0);
}

/* The brokers keep the group going, but do not say what is committed: an old number is no answer. The partitions stay,
 * so that nothing else takes the series away. */
PIPELINE_TEST("/pipeline-lag/lag-2/U2-while-questions-are-refused")
{
  add_stuck(fixture);
  RunningPipeline *running = running_pipeline_start(fixture, 1, NULL);
  produce(fixture, 40);
  running_pipeline_wait_ready(running);
  wait_lag_agrees(fixture, running);
  mock_kafka_push_errors(fixture->kafka, TIDE_KAFKA_LIST_OFFSETS, RD_KAFKA_RESP_ERR_UNSUPPORTED_FOR_MESSAGE_FORMAT,
                         1000);
  for (gint32 i = 0; i < FIXTURE_PARTITIONS; i++)
    wait_no_lag(running, i);
  running_pipeline_wait_status(running, "2 partitions, lag unknown, ");
  mock_kafka_clear_errors(fixture->kafka, TIDE_KAFKA_LIST_OFFSETS);
  wait_lag_agrees(fixture, running);
  (void)running_pipeline_stop(running, 0);
}

static guint32
n_shown(const RunningPipeline *running)
{
  return (lag_of(running, 0) >= 0 ? 1u : 0u) + (lag_of(running, 1) >= 0 ? 1u : 0u);
}

/* Each partition is shown by who has it, and by nobody else. */
PIPELINE_TEST("/pipeline-lag/lag-2/U2-after-a-revoke")
{
  add_stuck(fixture);
  RunningPipeline *first = running_pipeline_start(fixture, 1, NULL);
  produce(fixture, 20);
  running_pipeline_wait_ready(first);
  wait_lag_agrees(fixture, first);
  RunningPipeline *second = running_pipeline_start(fixture, 1, NULL);
  gint64 deadline_us = pipeline_fixture_deadline_us();
  while (n_shown(first) != 1 || n_shown(second) != 1)
    pipeline_fixture_wait_a_little(deadline_us, "each has one partition");
  gint32 moved = lag_of(second, 0) >= 0 ? 0 : 1;
  g_assert_cmpfloat(lag_of(first, moved), <, 0);
  g_assert_cmpfloat(series_of(first, LAG_SECONDS, moved), <, 0);
  g_assert_cmpfloat(lag_of(second, moved), ==, 20);
  (void)running_pipeline_stop(second, 0);
  /* While it joins again its coordinator answers nothing else, and leaving takes longer than a stop waits. */
  deadline_us = pipeline_fixture_deadline_us();
  while (n_shown(first) != 2)
    pipeline_fixture_wait_a_little(deadline_us, "the first has both again");
  (void)running_pipeline_stop(first, 0);
}

/* ---- topics ---- */

/* The other topic is read, but what the operator asked for is not all there. */
PIPELINE_TEST("/pipeline-lag/topics/C4-U7-one-missing-topic-of-two")
{
  mock_kafka_set_topic_error(fixture->kafka, "nosuch", RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART);
  RunningPipeline *running = running_pipeline_start_with(
      fixture, &(RunningPipelineOptions){.gateways = 1,
                                         .topics = FIXTURE_TOPIC ", nosuch",
                                         .kafka = ", librdkafka: "
                                                  "{ topic.metadata.refresh.interval.ms: 500 }"});
  produce(fixture, 10);
  pipeline_fixture_wait_all_committed(fixture);
  running_pipeline_wait_not_ready(
      running, "the topic 'nosuch' does not exist: create it with 'kafka-topics.sh --create', or remove it "
               "from kafka.topics; other topics are read");
  g_assert_cmpuint(running_pipeline_sum(running, "tidemark_kafka_topics_missing"), ==, 1);
  mock_kafka_set_topic_error(fixture->kafka, "nosuch", RD_KAFKA_RESP_ERR_NO_ERROR);
  running_pipeline_wait_ready(running);
  g_assert_cmpuint(running_pipeline_sum(running, "tidemark_kafka_topics_missing"), ==, 0);
  running_pipeline_end(running);
}
