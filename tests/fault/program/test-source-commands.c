/* The commands with several sources, run as a user runs them: each reads a message by the rules of its topic's source.
 */
#include "fault/gateway/scripted_gateway.h"
#include "fault/kafka/mock_kafka.h"
#include "fault/program/run_program.h"
#include "util/clock.h"

#include <glib/gstdio.h>

#define TIMEOUT_US (240 * TIDE_US_PER_S) /* far beyond what any step takes: only a failure waits so long */
#define BOARDS "boards"
#define LINES "telegraf.lines"
#define AT_MS "1426535612045"

typedef struct Fixture {
  TideMockKafka *kafka;
  TideScriptedGateway *gateway;
  char *config_path; /* owned */
  ProgramDone done;  /* of the last run */
} Fixture;

static void
set_up(Fixture *fixture, gconstpointer unused)
{
  fixture->kafka = mock_kafka_new(1);
  mock_kafka_create_topic(fixture->kafka, BOARDS, 1);
  mock_kafka_create_topic(fixture->kafka, LINES, 1);
  mock_kafka_create_topic(fixture->kafka, "letters", 1);
  fixture->gateway = scripted_gateway_new(NULL);
  scripted_gateway_create_table(fixture->gateway, "ALL", "M", NULL);
  scripted_gateway_create_table(fixture->gateway, "OF_LINES", "M", NULL);
  g_autofree char *yaml =
      g_strdup_printf("kafka: { brokers: \"%s\", group: g, threads: 1, session_timeout: 6s,"
                      " commit_interval: 100ms }\n"
                      "hbase: { gateways: [\"%%s\"] }\n"
                      "service: { http: off }\n"
                      "dead_letters: { topic: letters }\n"
                      "limits: { drain_timeout: 3s }\n"
                      "sources:\n"
                      "  boards: { topics: [boards], readings: { time: { field: ts, format: epoch_ms } } }\n"
                      "  lines: { topics: [\"^telegraf[.]\"], readings: { format: influx } }\n"
                      "tables:\n"
                      "  ALL: { key: [{ field: host }], latest: merge, columns: { family: M, from: v } }\n"
                      "  OF_LINES: { sources: lines, key: [{ field: host }, \"#\", { time: epoch_ms }],"
                      " columns: { family: M, from: v } }\n",
                      mock_kafka_brokers(fixture->kafka));
  fixture->config_path = write_config(yaml, scripted_gateway_endpoint(fixture->gateway));
  mock_kafka_produce_text(fixture->kafka, BOARDS, 0, "{\"host\":\"a\",\"ts\":" AT_MS ",\"v\":1}");
  mock_kafka_produce_text(fixture->kafka, LINES, 0, "cpu,host=b v=2 " AT_MS "000000");
  g_assert_true(mock_kafka_flush(fixture->kafka, tide_now_us() + TIMEOUT_US));
}

static void
tear_down(Fixture *fixture, gconstpointer unused)
{
  mock_kafka_free(fixture->kafka);
  scripted_gateway_free(fixture->gateway);
  g_unlink(fixture->config_path);
  g_free(fixture->config_path);
  program_done_clear(&fixture->done);
}

static int
run(Fixture *fixture, const char *words, const char *input)
{
  program_done_clear(&fixture->done);
  fixture->done = run_program_with_input(fixture->config_path, words, input);
  return fixture->done.exit_code;
}

static void
put(Fixture *fixture, const char *table, const char *row, const char *value)
{
  TideFakeCell cell = {.family = TIDE_BYTES_LITERAL("M"),
                       .qualifier = TIDE_BYTES_LITERAL("v"),
                       .value = tide_bytes_of_string(value),
                       .timestamp_ms = G_GINT64_CONSTANT(1426535612045)};
  TideFakeRow put = {.row = tide_bytes_of_string(row), .cells = &cell, .n_cells = 1};
  g_auto(TideFakeError) error = {0};
  g_assert_true(fake_hbase_put(scripted_gateway_hbase(fixture->gateway), table, &put, 1, (TideFakeOrigin){0}, NULL,
                               NULL, &error));
}

static void
test_verify_reads_each_topic_by_its_source(Fixture *fixture, gconstpointer unused)
{
  put(fixture, "ALL", "a", "1");
  put(fixture, "ALL", "b", "2");
  put(fixture, "OF_LINES", "b#" AT_MS, "2");
  g_assert_cmpint(run(fixture, "verify --to-end --topic " BOARDS " --topic " LINES, NULL), ==, 0);
  assert_prints(fixture->done.output, "all is right");
  put(fixture, "ALL", "b", "3");
  g_assert_cmpint(run(fixture, "verify --to-end --topic " BOARDS " --topic " LINES, NULL), ==, 1);
  assert_prints(fixture->done.output, "wrong");
}

static void
test_explain_asks_for_the_topic(Fixture *fixture, gconstpointer unused)
{
  g_assert_cmpint(run(fixture, "explain --offline", "cpu,host=b v=2 " AT_MS "000000"), ==, 64);
  assert_prints(fixture->done.errors, "has 2 sources, whose messages differ: say by '--topic'");
  g_assert_cmpint(run(fixture, "explain --offline --topic telegraf", "cpu,host=b v=2 " AT_MS "000000"), ==, 64);
  assert_prints(fixture->done.errors, "reads the topic 'telegraf'");
  g_assert_cmpint(run(fixture, "explain --offline --topic telegraf.x", "cpu,host=b v=2 " AT_MS "000000"), ==, 0);
  assert_prints(fixture->done.output, "source lines");
  assert_prints(fixture->done.output, "OF_LINES  b#" AT_MS);
  g_assert_cmpint(run(fixture, "explain --offline --topic boards", "cpu,host=b v=2 " AT_MS "000000"), ==, 65);
  assert_prints(fixture->done.output, "rejected as parse");
  g_assert_cmpint(run(fixture, "explain --offline --from-topic --topic " BOARDS, NULL), ==, 0);
  assert_prints(fixture->done.output, "source boards");
  assert_prints(fixture->done.output, "OF_LINES  not written: it takes nothing of the source 'boards'");
}

/* FILE holds @text. */
static int
simulate(Fixture *fixture, const char *topic, const char *text)
{
  g_autoptr(GError) error = NULL;
  g_autofree char *path = g_strdup_printf("%s.sample", fixture->config_path);
  g_assert_true(g_file_set_contents(path, text, -1, &error));
  g_autofree char *words = g_strdup_printf("simulate --readings 3 --topic %s --sample %s", topic, path);
  int code = run(fixture, words, NULL);
  g_unlink(path);
  return code;
}

static void
test_simulate_sends_what_the_source_takes(Fixture *fixture, gconstpointer unused)
{
  static const char json[] = "{\"host\":\"c\",\"ts\":" AT_MS ",\"v\":5}\n", line[] = "cpu,host=c v=5 " AT_MS "000000\n";
  g_assert_cmpint(simulate(fixture, BOARDS, json), ==, 0);
  g_assert_cmpint(mock_kafka_end_offset(fixture->kafka, BOARDS, 0, tide_now_us() + TIMEOUT_US), ==, 4);
  g_assert_cmpint(simulate(fixture, LINES, line), ==, 0);
  g_assert_cmpint(mock_kafka_end_offset(fixture->kafka, LINES, 0, tide_now_us() + TIMEOUT_US), ==, 4);
  g_assert_cmpint(simulate(fixture, LINES, json), ==, 65);
  assert_prints(fixture->done.errors, "is no message of the configuration");
  g_assert_cmpint(simulate(fixture, "other", json), ==, 64);
  assert_prints(fixture->done.errors, "reads the topic 'other'");
  /* All are good, and of other times: each is a row. */
  g_assert_cmpint(run(fixture, "run --until-end", NULL), ==, 0);
  g_assert_cmpuint(fake_hbase_row_count(scripted_gateway_hbase(fixture->gateway), "OF_LINES"), ==, 4);
  g_assert_cmpuint(fake_hbase_row_count(scripted_gateway_hbase(fixture->gateway), "ALL"), ==, 3);
}

/* In the topic, where it is listed, and where it is sent again to. */
static void
test_dead_letters_name_their_source(Fixture *fixture, gconstpointer unused)
{
  mock_kafka_produce_text(fixture->kafka, LINES, 0, "no line");
  mock_kafka_produce_text(fixture->kafka, BOARDS, 0, "no board");
  g_assert_true(mock_kafka_flush(fixture->kafka, tide_now_us() + TIMEOUT_US));
  g_assert_cmpint(run(fixture, "run --until-end", NULL), ==, 0);
  g_assert_cmpint(run(fixture, "dead-letters list --format json --source lines", NULL), ==, 0);
  assert_prints(fixture->done.output, "\"source\":\"lines\"");
  assert_silent(fixture->done.output, "\"source\":\"boards\"");
  g_assert_cmpint(run(fixture, "dead-letters list --source none", NULL), ==, 0);
  assert_silent(fixture->done.output, "parse");
  g_assert_cmpint(run(fixture, "dead-letters show " LINES "/0/1", NULL), ==, 0);
  assert_prints(fixture->done.output, "source     lines\n");
  g_assert_cmpint(run(fixture, "dead-letters replay --source lines", NULL), ==, 0);
  assert_prints(fixture->done.output, "1 message sent again\n");
  g_assert_cmpint(mock_kafka_end_offset(fixture->kafka, LINES, 0, tide_now_us() + TIMEOUT_US), ==, 3);
}

#define ADD(path, func) g_test_add("/source-commands/" path, Fixture, NULL, set_up, func, tear_down)

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  ADD("verify-reads-each-topic-by-its-source", test_verify_reads_each_topic_by_its_source);
  ADD("explain-asks-for-the-topic", test_explain_asks_for_the_topic);
  ADD("simulate-sends-what-the-source-takes", test_simulate_sends_what_the_source_takes);
  ADD("dead-letters-name-their-source", test_dead_letters_name_their_source);
  return g_test_run();
}
