/* The whole pipeline with several sources: topics of two formats into one table and the latest table, and tables that
 * name their source. */
#include "fault/pipeline/pipeline_fixture.h"

#include <string.h>

#define BOARDS "boards"
#define LINES "telegraf.lines"
#define N_READINGS 20u

#define SOURCES                                                                                                        \
  "sources:\n"                                                                                                         \
  "  boards: { topics: [boards], readings: { time: { field: ts, format: epoch_ms }, on_bad_message: skip } }\n"        \
  "  lines:\n"                                                                                                         \
  "    topics: [\"^telegraf[.]\"]\n"                                                                                   \
  "    readings: { format: influx }\n"                                                                                 \
  "    when: { field: measurement, equals: cpu }\n"

static gint64
time_of(guint reading)
{
  return PIPELINE_BASE_MS + reading * 1000;
}

/* Even readings as JSON, odd ones as lines, of one host each; beside them what a source's conditions keep out. */
static void
produce_both(PipelineFixture *fixture, guint first, guint end)
{
  for (guint i = first; i < end; i++) {
    gint64 time_ms = time_of(i);
    g_autofree char *json = g_strdup_printf("{\"host\":\"host1\",\"ts\":%" G_GINT64_FORMAT ",\"v\":%u}", time_ms, i);
    g_autofree char *line = g_strdup_printf("cpu,host=host1 v=%u,ts=7 %" G_GINT64_FORMAT "000000\n"
                                            "mem,host=host1 v=1 %" G_GINT64_FORMAT "000000",
                                            i, time_ms, time_ms);
    mock_kafka_produce_text(fixture->kafka, i % 2 == 0 ? BOARDS : LINES, 0, i % 2 == 0 ? json : line);
  }
  pipeline_fixture_flush(fixture);
}

/* A cell of METRIC or of the like for each reading of the sources; @boards, @lines: those that it takes from. */
static char *
expected_rows(gboolean boards, gboolean lines)
{
  g_autoptr(GString) rows = g_string_new(NULL);
  for (guint i = 0; i < N_READINGS; i++) {
    g_autofree char *row = g_strdup_printf("host1#%" G_GINT64_FORMAT, time_of(i));
    if (i % 2 == 0 && boards)
      g_string_append_printf(rows, "%s\tM:v\t%" G_GINT64_FORMAT "\t%u\n", row, time_of(i), i);
    if (i % 2 == 1 && lines)
      g_string_append_printf(rows,
                             "%s\tM:measurement\t%" G_GINT64_FORMAT "\tcpu\n%s\tM:ts\t%" G_GINT64_FORMAT
                             "\t7\n%s\tM:v\t%" G_GINT64_FORMAT "\t%u\n",
                             row, time_of(i), row, time_of(i), row, time_of(i), i);
  }
  return g_strdup(rows->str);
}

static void
assert_table(PipelineFixture *fixture, const char *table, const char *expected)
{
  g_autofree char *found = fake_hbase_dump(fixture->hbase, table, FALSE);
  g_assert_cmpstr(found, ==, expected);
}

static RunningPipeline *
start(PipelineFixture *fixture, const char *options)
{
  mock_kafka_create_topic(fixture->kafka, BOARDS, 1);
  mock_kafka_create_topic(fixture->kafka, LINES, 1);
  return running_pipeline_start_with(fixture, &(RunningPipelineOptions){.gateways = 1, .options = options});
}

/* The document of /status names the source of each partition. */
static void
assert_sources_are_told(RunningPipeline *running)
{
  g_auto(TideStatus) status = {.ready = FALSE};
  tide_pipeline_fill_status(running->pipeline, &status);
  g_assert_cmpuint(status.partitions->len, ==, 2);
  for (guint i = 0; i < 2; i++) {
    const TidePartitionView *view = &g_array_index(status.partitions, TidePartitionView, i);
    g_assert_cmpstr(view->source, ==, strcmp(view->topic, BOARDS) == 0 ? "boards" : "lines");
  }
}

/* The time's field of one source is a measurement like others in the other. */
PIPELINE_TEST("/pipeline-sources/any/two-formats-meet-in-one-table-and-its-latest")
{
  RunningPipeline *running = start(fixture, SOURCES);
  produce_both(fixture, 0, N_READINGS);
  pipeline_fixture_wait_committed_of(fixture, BOARDS, 0, N_READINGS / 2);
  pipeline_fixture_wait_committed_of(fixture, LINES, 0, N_READINGS / 2);
  g_autofree char *rows = expected_rows(TRUE, TRUE);
  assert_table(fixture, "METRIC", rows);
  gint64 last = time_of(N_READINGS - 1);
  g_autofree char *latest =
      g_strdup_printf("host1\tM:measurement\t%" G_GINT64_FORMAT "\tcpu\nhost1\tM:ts\t%" G_GINT64_FORMAT
                      "\t7\nhost1\tM:v\t%" G_GINT64_FORMAT "\t%u\n",
                      last, last, last, N_READINGS - 1);
  assert_table(fixture, "CURRENT_METRIC", latest);
  assert_sources_are_told(running);
  g_assert_cmpuint(tide_metrics_sum(running->metrics, "tidemark_readings_unmatched_total", "telegraf.lines"), ==,
                   N_READINGS / 2);
  running_pipeline_end(running);
}

PIPELINE_TEST("/pipeline-sources/named/table-takes-from-the-source-that-it-names")
{
  scripted_gateway_create_table(fixture->gateways[0], "OF_BOARDS", "M", NULL);
  scripted_gateway_create_table(fixture->gateways[0], "OF_LINES", "M", NULL);
  RunningPipeline *running = start(
      fixture, SOURCES "tables:\n"
                       "  OF_BOARDS: { sources: boards, key: [ { field: host }, \"#\", { time: epoch_ms } ],"
                       " columns: { family: M, from: \"*\" } }\n"
                       "  OF_LINES: { sources: [lines], key: [ { field: host }, \"#\", { time: epoch_ms } ],"
                       " columns: { family: M, from: \"*\" } }\n"
                       "  METRIC: { sources: [boards, lines], key: [ { field: host }, \"#\", { time: epoch_ms } ],"
                       " columns: { family: M, from: \"*\" } }\n");
  produce_both(fixture, 0, N_READINGS);
  pipeline_fixture_wait_committed_of(fixture, BOARDS, 0, N_READINGS / 2);
  pipeline_fixture_wait_committed_of(fixture, LINES, 0, N_READINGS / 2);
  g_autofree char *boards = expected_rows(TRUE, FALSE), *lines = expected_rows(FALSE, TRUE);
  g_autofree char *both = expected_rows(TRUE, TRUE);
  assert_table(fixture, "OF_BOARDS", boards);
  assert_table(fixture, "OF_LINES", lines);
  assert_table(fixture, "METRIC", both);
  running_pipeline_end(running);
}

/* Each source's on_bad_message is its own: what is no line halts its partition (there is no place for a dead letter),
 * what is no JSON is passed over, and what comes behind it is written. */
PIPELINE_TEST("/pipeline-sources/policy/each-source-has-its-policy")
{
  RunningPipeline *running = start(fixture, SOURCES);
  mock_kafka_produce_text(fixture->kafka, BOARDS, 0, "cpu,host=host1 v=1 1426535612045000000");
  mock_kafka_produce_text(fixture->kafka, LINES, 0, "{\"host\":\"host1\",\"ts\":1426535612045,\"v\":1}");
  produce_both(fixture, 0, N_READINGS);
  pipeline_fixture_wait_committed_of(fixture, BOARDS, 0, 1 + N_READINGS / 2);
  running_pipeline_wait_halted(running);
  running_pipeline_wait_reason(running, "topic '" LINES "'");
  g_autofree char *rows = expected_rows(TRUE, FALSE);
  assert_table(fixture, "METRIC", rows);
  g_assert_cmpint(mock_kafka_committed(fixture->kafka, FIXTURE_GROUP, LINES, 0, pipeline_fixture_deadline_us()), <=, 0);
  (void)running_pipeline_stop(running, 10000);
}

static void
assert_dead_letter(const TideMockRecord *dead_letter, const char *source, const char *reason)
{
  letter_assert_header(dead_letter, TIDE_DEAD_LETTER_HEADER_SOURCE, source);
  letter_assert_header(dead_letter, TIDE_DEAD_LETTER_HEADER_REASON, reason);
}

static void
assert_holds(const char *text, const char *part)
{
  if (strstr(text, part) == NULL)
    g_error("'%s' was expected in:\n%s", part, text);
}

/* A line that is none, and a reading whose row HBase refuses. */
TEST_WITH(PipelineFixture, pipeline_fixture_set_up_refusing, pipeline_fixture_tear_down,
          "/pipeline-sources/policy/what-is-told-names-the-source")
{
  LogCapture *capture = log_capture_start();
  RunningPipeline *running = start(fixture, TO_TOPIC SOURCES);
  g_autofree char *oversized = pipeline_fixture_oversized();
  g_autofree char *json =
      g_strdup_printf("{\"host\":\"host1\",\"ts\":%" G_GINT64_FORMAT ",\"v\":\"%s\"}", PIPELINE_BASE_MS, oversized);
  mock_kafka_produce_text(fixture->kafka, LINES, 0, "no line");
  pipeline_fixture_flush(fixture);
  pipeline_fixture_wait_committed_of(fixture, LINES, 0, 1);
  mock_kafka_produce_text(fixture->kafka, BOARDS, 0, json);
  pipeline_fixture_flush(fixture);
  pipeline_fixture_wait_committed_of(fixture, BOARDS, 0, 1);
  g_autoptr(GPtrArray) kept = pipeline_fixture_read_letters(fixture);
  g_assert_cmpuint(kept->len, ==, 2);
  assert_dead_letter(g_ptr_array_index(kept, 0), "lines", "parse");
  assert_dead_letter(g_ptr_array_index(kept, 1), "boards", TIDE_DEAD_LETTER_REASON_REFUSED);
  g_autofree char *metrics = tide_metrics_render(running->metrics);
  assert_holds(metrics, "tidemark_messages_received_total{topic=\"" LINES "\",partition=\"0\",source=\"lines\"} 1\n");
  assert_holds(metrics, "tidemark_messages_dead_lettered_total{topic=\"" BOARDS
                        "\",partition=\"0\",source=\"boards\",reason=\"refused_by_hbase\"} 1\n");
  running_pipeline_end(running);
  g_autofree char *log = log_capture_end(capture);
  assert_holds(log, "TOPIC=" LINES " PARTITION=0 SOURCE=lines OFFSET=0 REASON=parse");
  assert_holds(log, "TOPIC=" BOARDS " PARTITION=0 SOURCE=boards OFFSET=0 TABLE=");
}
