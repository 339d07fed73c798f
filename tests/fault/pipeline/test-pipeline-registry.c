/* Avro with a schema registry in whole pipelines: only a partition whose message needs an unknown schema waits for it.
 */
#include "fault/pipeline/pipeline_fixture.h"
#include "unit/registry_double.h"

typedef struct Fixture {
  PipelineFixture pipeline;
  RegistryDouble registry;
  char *options; /* owned */
} Fixture;

static void
set_up(Fixture *fixture, gconstpointer data)
{
  pipeline_fixture_set_up_letters(&fixture->pipeline, data);
  registry_double_start(&fixture->registry);
  fixture->options =
      g_strdup_printf(TO_TOPIC "readings: { format: avro, registry: { url: \"http://127.0.0.1:%u/sub\" }, "
                               "time: { field: ts, format: epoch_s } }\n",
                      fixture->registry.port);
}

static void
tear_down(Fixture *fixture, gconstpointer data)
{
  registry_double_stop(&fixture->registry);
  pipeline_fixture_tear_down(&fixture->pipeline, data);
  g_free(fixture->options);
}

#define FIXTURE_TEST(path) TEST_WITH(Fixture, set_up, tear_down, path)

/* A message of the schema @id: host "hN", a time in seconds, and then @rest. */
static void
produce(Fixture *fixture, gint32 partition, guint8 id, guint8 n, TideBytes rest)
{
  guint8 bytes[64] = {0, 0, 0, 0, id, 4, 'h', (guint8)('0' + n), 0xC0, 0xB4, 0xFF, 0x91, 0x0D};
  memcpy(bytes + 13, rest.data, rest.len);
  TideMockMessage message = {
      .topic = FIXTURE_TOPIC, .partition = partition, .payload = tide_bytes(bytes, 13 + rest.len)};
  mock_kafka_produce(fixture->pipeline.kafka, &message);
  fixture->pipeline.produced[partition]++;
}

FIXTURE_TEST("/pipeline-registry/down/D26-at-the-start")
{
  registry_double_set_mode(&fixture->registry, REGISTRY_CUTS);
  for (guint8 i = 0; i < 6; i++)
    produce(fixture, i % FIXTURE_PARTITIONS, 1, i, TIDE_BYTES_LITERAL("\x02"));
  RunningPipeline *running = running_pipeline_start(&fixture->pipeline, 1, fixture->options);
  registry_double_wait_asked(&fixture->registry, 1, 1);
  g_assert_cmpuint(running_pipeline_sum(running, "tidemark_messages_written_total"), ==, 0);
  registry_double_set_mode(&fixture->registry, REGISTRY_UP);
  pipeline_fixture_wait_all_committed(&fixture->pipeline);
  g_assert_cmpuint(running_pipeline_sum(running, "tidemark_messages_written_total"), ==, 6);
  g_assert_cmpuint(running_pipeline_sum(running, "tidemark_messages_dead_lettered_total"), ==, 0);
  running_pipeline_end(running);
  g_assert_cmpuint(fake_hbase_row_count(fixture->pipeline.hbase, "METRIC"), ==, 6);
}

/* Nothing is committed of what waits, and the next start reads it. */
FIXTURE_TEST("/pipeline-registry/down/D26-stop")
{
  registry_double_set_mode(&fixture->registry, REGISTRY_HOLDS);
  for (guint8 i = 0; i < 6; i++)
    produce(fixture, i % FIXTURE_PARTITIONS, 1, i, TIDE_BYTES_LITERAL("\x02"));
  RunningPipeline *running = running_pipeline_start(&fixture->pipeline, 1, fixture->options);
  registry_double_wait_asked(&fixture->registry, 1, 1);
  running_pipeline_end(running);
  for (gint32 i = 0; i < FIXTURE_PARTITIONS; i++)
    g_assert_cmpint(pipeline_fixture_committed(&fixture->pipeline, i), <=, 0);
  registry_double_set_mode(&fixture->registry, REGISTRY_UP);
  running = running_pipeline_start(&fixture->pipeline, 1, fixture->options);
  pipeline_fixture_finish(&fixture->pipeline, running);
  g_assert_cmpuint(fake_hbase_row_count(fixture->pipeline.hbase, "METRIC"), ==, 6);
}

/* A run that is to end does so, and says that it could not read all. */
FIXTURE_TEST("/pipeline-registry/end/until-end-while-it-is-down")
{
  produce(fixture, 0, 1, 0, TIDE_BYTES_LITERAL("\x02"));
  produce(fixture, 1, 1, 1, TIDE_BYTES_LITERAL("\x02"));
  RunningPipeline *running = running_pipeline_start(&fixture->pipeline, 1, fixture->options);
  pipeline_fixture_finish(&fixture->pipeline, running);
  registry_double_set_mode(&fixture->registry, REGISTRY_CUTS);
  produce(fixture, 0, 1, 2, TIDE_BYTES_LITERAL("\x02"));
  running = running_pipeline_start_with(
      &fixture->pipeline, &(RunningPipelineOptions){.gateways = 1, .options = fixture->options, .until_end = TRUE});
  running_pipeline_wait_finished(running);
  running_pipeline_wait_halted(running);
  (void)running_pipeline_stop(running, 10000);
  g_assert_cmpint(pipeline_fixture_committed(&fixture->pipeline, 0), ==, 1);
  g_assert_cmpuint(fake_hbase_row_count(fixture->pipeline.hbase, "METRIC"), ==, 2);
}

/* A field is added, one is removed, one is widened: each by a schema that the registry does not tell at once. */
FIXTURE_TEST("/pipeline-registry/schemas/D26-change-while-it-is-down")
{
  produce(fixture, 0, 1, 0, TIDE_BYTES_LITERAL("\x02"));
  produce(fixture, 1, 1, 1, TIDE_BYTES_LITERAL("\x02"));
  RunningPipeline *running = running_pipeline_start(&fixture->pipeline, 1, fixture->options);
  pipeline_fixture_wait_all_committed(&fixture->pipeline);
  registry_double_set_mode(&fixture->registry, REGISTRY_FAILS);
  produce(fixture, 0, 2, 2, TIDE_BYTES_LITERAL("\x02x\x04"));
  produce(fixture, 0, 1, 3, TIDE_BYTES_LITERAL("\x02"));
  produce(fixture, 0, 3, 4, TIDE_BYTES_LITERAL("\x02y"));
  produce(fixture, 0, 4, 5, TIDE_BYTES_LITERAL("\x00\x00\x00\x00\x00\x00\xF8\x3F"));
  pipeline_fixture_flush(&fixture->pipeline);
  registry_double_wait_asked(&fixture->registry, 2, 1);
  /* The other partition goes on. */
  produce(fixture, 1, 1, 6, TIDE_BYTES_LITERAL("\x02"));
  pipeline_fixture_flush(&fixture->pipeline);
  running_pipeline_wait_metric(running, "tidemark_messages_written_total", 3);
  g_assert_cmpuint(running_pipeline_sum(running, "tidemark_messages_written_total"), ==, 3);
  registry_double_set_mode(&fixture->registry, REGISTRY_UP);
  pipeline_fixture_wait_all_committed(&fixture->pipeline);
  g_assert_cmpuint(running_pipeline_sum(running, "tidemark_messages_dead_lettered_total"), ==, 0);
  running_pipeline_end(running);
  g_assert_cmpuint(fake_hbase_row_count(fixture->pipeline.hbase, "METRIC"), ==, 7);
}

FIXTURE_TEST("/pipeline-registry/schemas/what-does-not-exist-is-a-dead-letter")
{
  produce(fixture, 0, 9, 0, TIDE_BYTES_LITERAL("\x02"));
  produce(fixture, 0, 1, 1, TIDE_BYTES_LITERAL("\x02"));
  produce(fixture, 0, 9, 2, TIDE_BYTES_LITERAL("\x02"));
  produce(fixture, 0, 5, 3, TIDE_BYTES_LITERAL("\x02"));
  pipeline_fixture_produce_raw(&fixture->pipeline, 1, "{}");
  produce(fixture, 1, 1, 4, TIDE_BYTES_LITERAL("\x02"));
  RunningPipeline *running = running_pipeline_start(&fixture->pipeline, 1, fixture->options);
  pipeline_fixture_wait_all_committed(&fixture->pipeline);
  g_assert_cmpuint(running_pipeline_sum(running, "tidemark_messages_dead_lettered_total"), ==, 4);
  g_assert_cmpuint(running_pipeline_sum(running, "tidemark_messages_written_total"), ==, 2);
  g_assert_cmpuint(registry_double_n_asked(&fixture->registry, 9), ==, 1);
  running_pipeline_end(running);
}

/* By a schema that uses types of others: a city, and a zone, which is the second one. */
FIXTURE_TEST("/pipeline-registry/schemas/D26-a-schema-refers-to-others")
{
  produce(fixture, 0, 7, 0, TIDE_BYTES_LITERAL("\x08Oslo\x02"));
  pipeline_fixture_flush(&fixture->pipeline);
  registry_double_set_mode(&fixture->registry, REGISTRY_NO_VERSION);
  RunningPipeline *running = running_pipeline_start(&fixture->pipeline, 1, fixture->options);
  registry_double_wait_asked(&fixture->registry, 7, 2);
  g_assert_cmpuint(running_pipeline_sum(running, "tidemark_messages_written_total"), ==, 0);
  registry_double_set_mode(&fixture->registry, REGISTRY_UP);
  pipeline_fixture_finish(&fixture->pipeline, running);
  g_autofree char *rows = fake_hbase_dump(fixture->pipeline.hbase, "METRIC", FALSE);
  g_assert_nonnull(strstr(rows, "\tM:site/city\t"));
  g_assert_nonnull(strstr(rows, "\tOslo\n"));
  g_assert_nonnull(strstr(rows, "\tS\n"));
}
