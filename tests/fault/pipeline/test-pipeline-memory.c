/* The pipeline's memory: fetching stops at the budget, an unfinished message bounds the span after it, and a suspended
 * table uses no more than its share. */
#include "fault/pipeline/pipeline_fixture.h"

/* What the test has sent to the first @n_partitions, and what the daemon does with it. */
typedef struct Sending {
  PipelineFixture *fixture;
  RunningPipeline *running;
  gint32 n_partitions;
} Sending;

static gboolean
is_paused(const Sending *sending, gint32 partition)
{
  g_autofree char *label = g_strdup_printf("partition=\"%d\"", partition);
  return tide_metrics_sum(sending->running->metrics, "tidemark_kafka_paused", label) > 0;
}

static gboolean
all_are_paused(const Sending *sending)
{
  for (gint32 partition = 0; partition < sending->n_partitions; partition++)
    if (!is_paused(sending, partition))
      return FALSE;
  return TRUE;
}

/* Of each partition the daemon has taken nearly all that was sent, or it does not fetch it now. */
static gboolean
wants_more(const TidePipelineState *state, gpointer data)
{
  const Sending *sending = data;
  for (gint32 partition = 0; partition < sending->n_partitions; partition++) {
    g_autofree char *label = g_strdup_printf("partition=\"%d\"", partition);
    guint64 taken = tide_metrics_sum(sending->running->metrics, "tidemark_messages_received_total", label);
    if (!is_paused(sending, partition) && taken + 150 < (guint64)sending->fixture->produced[partition])
      return FALSE;
  }
  return TRUE;
}

/* Long readings to the first @n_partitions until all of these are paused: one may be before the others, at the share of
 * its table. */
static void
produce_until_paused(PipelineFixture *fixture, RunningPipeline *running, gint32 n_partitions)
{
  g_autofree char *filler = g_strnfill(8000, 'x');
  Sending sending = {fixture, running, n_partitions};
  /* A partition of the mock keeps its newest 5 MiB: produce no faster than the daemon takes. */
  for (guint step = 0; !all_are_paused(&sending); step++) {
    g_assert_cmpuint(step, <, 400);
    for (guint i = 0; i < 100; i++) {
      gint32 partition = (gint32)i % n_partitions;
      g_autofree char *name = g_strdup_printf("host%u", i % 8);
      if (!is_paused(&sending, partition))
        pipeline_fixture_produce(fixture, partition, name, PIPELINE_BASE_MS + step * 1000 + i, filler);
    }
    pipeline_fixture_flush(fixture);
    running_pipeline_wait(running, wants_more, &sending);
  }
}

PIPELINE_TEST("/pipeline-memory/budget/D22-stuck-hbase-pauses-at-the-budget-and-goes-on")
{
  guint id = pipeline_fixture_fail_puts(fixture, NULL, NULL);
  RunningPipeline *running = running_pipeline_start(fixture, 1, "limits: { memory: 16MiB, drain_timeout: 3s }\n");
  running_pipeline_wait_ready(running);
  produce_until_paused(fixture, running, FIXTURE_PARTITIONS);
  guint64 produced = (guint64)(fixture->produced[0] + fixture->produced[1]);
  scripted_gateway_clear_fault(fixture->gateways[0], id);
  pipeline_fixture_wait_all_committed(fixture);
  g_assert_cmpuint(fake_hbase_row_count(fixture->hbase, "METRIC"), ==, produced);
  running_pipeline_end(running);
}

PIPELINE_TEST("/pipeline-memory/budget/D9-hole-bounds-the-span-of-its-partition")
{
  guint id = pipeline_fixture_fail_puts(fixture, "METRIC", "host7");
  RunningPipeline *running = running_pipeline_start(fixture, 1, NULL);
  pipeline_fixture_produce(fixture, 0, "host7", PIPELINE_BASE_MS, "stuck");
  for (guint i = 0; i < 3000; i++)
    for (gint32 partition = 0; partition < FIXTURE_PARTITIONS; partition++)
      pipeline_fixture_produce(fixture, partition, partition == 0 ? "host1" : "host2", PIPELINE_BASE_MS + i, "v");
  pipeline_fixture_flush(fixture);
  /* The other partition is not held up by this one's hole. */
  pipeline_fixture_wait_committed(fixture, 1, 3000);
  running_pipeline_wait_metric(running, "tidemark_kafka_pauses_total", 1);
  g_assert_cmpint(pipeline_fixture_committed(fixture, 0), <=, 0);
  g_assert_cmpuint(tide_metrics_sum(running->metrics, "tidemark_messages_received_total", "partition=\"0\""), <, 3000);
  scripted_gateway_clear_fault(fixture->gateways[0], id);
  pipeline_fixture_wait_all_committed(fixture);
  g_assert_cmpuint(fake_hbase_row_count(fixture->hbase, "METRIC"), ==, 6001);
  running_pipeline_end(running);
}

/* The first partition's readings go to a table that takes none, the other's to one that works. */
PIPELINE_TEST("/pipeline-memory/share/stuck-table-stops-only-the-partitions-that-feed-it")
{
  guint id = pipeline_fixture_fail_puts(fixture, "METRIC", NULL);
  RunningPipeline *running =
      running_pipeline_start(fixture, 1,
                             "limits: { memory: 16MiB, drain_timeout: 3s }\n"
                             "tables:\n"
                             "  METRIC: { when: { field: other, present: false },"
                             " key: [ { field: host }, \"#\", { time: epoch_ms } ], columns: { family: M, from: v } }\n"
                             "  CURRENT_METRIC: { latest: merge, when: { field: other, present: true },"
                             " key: [ { field: host } ], columns: { family: M, from: other } }\n");
  running_pipeline_wait_ready(running);
  produce_until_paused(fixture, running, 1);
  guint64 used_bytes = running_pipeline_sum(running, "tidemark_memory_used_bytes");
  g_assert_cmpuint(used_bytes, <, 15u << 20);
  for (guint i = 0; i < 500; i++) {
    g_autofree char *payload =
        g_strdup_printf("{\"host\":\"host%u\",\"ts\":%" G_GINT64_FORMAT ",\"other\":%u}", i, PIPELINE_BASE_MS + i, i);
    pipeline_fixture_produce_raw(fixture, 1, payload);
  }
  pipeline_fixture_flush(fixture);
  pipeline_fixture_wait_committed(fixture, 1, 500);
  g_assert_cmpint(pipeline_fixture_committed(fixture, 0), <=, 0);
  scripted_gateway_clear_fault(fixture->gateways[0], id);
  pipeline_fixture_wait_all_committed(fixture);
  g_assert_cmpuint(fake_hbase_row_count(fixture->hbase, "METRIC"), ==, (guint64)fixture->produced[0]);
  g_assert_cmpuint(fake_hbase_row_count(fixture->hbase, "CURRENT_METRIC"), ==, 500);
  running_pipeline_end(running);
}

/* Behind a daemon that was killed, all is written and memory is in use all the same. */
PIPELINE_TEST("/pipeline-memory/share/what-is-in-doubt-is-told")
{
  for (guint i = 0; i < 10; i++)
    pipeline_fixture_produce(fixture, 0, "host1", PIPELINE_BASE_MS + i, "v");
  pipeline_fixture_flush(fixture);
  mock_kafka_commit(fixture->kafka, FIXTURE_GROUP, FIXTURE_TOPIC, 0, 0);
  RunningPipeline *running = running_pipeline_start_with(
      fixture, &(RunningPipelineOptions){.gateways = 1, .hbase = ", uncertain_timeout: 1h"});
  running_pipeline_wait_metric(running, "tidemark_messages_written_total", 10);
  {
    g_auto(TideStatus) status = {0};
    tide_pipeline_fill_status(running->pipeline, &status);
    g_assert_cmpint(status.memory.uncertain_bytes, >, 0);
    g_assert_cmpint(status.memory.uncertain_bytes, <=, status.memory.used_bytes);
  }
  running_pipeline_end(running);
}
