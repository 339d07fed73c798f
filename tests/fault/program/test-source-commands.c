/* Commands with several sources: each message is read by the rules of its topic's source. */
#include "fault/program/program_scene.h"

#define BOARDS "boards"
#define LINES "telegraf.lines"
#define AT_MS "1426535612045"

static void
set_up(ProgramScene *fixture, gconstpointer unused)
{
  program_scene_begin_kafka(fixture, BOARDS, 1);
  mock_kafka_create_topic(fixture->kafka, LINES, 1);
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
}

PROGRAM_TEST("/source-commands/verify-reads-each-topic-by-its-source")
{
  program_scene_put(fixture, "ALL", "a", "v", G_GINT64_CONSTANT(1426535612045), "1");
  program_scene_put(fixture, "ALL", "b", "v", G_GINT64_CONSTANT(1426535612045), "2");
  program_scene_put(fixture, "OF_LINES", "b#" AT_MS, "v", G_GINT64_CONSTANT(1426535612045), "2");
  program_scene_prints(fixture, "verify --to-end --topic " BOARDS " --topic " LINES, 0, "all is right");
  program_scene_put(fixture, "ALL", "b", "v", G_GINT64_CONSTANT(1426535612045), "3");
  program_scene_prints(fixture, "verify --to-end --topic " BOARDS " --topic " LINES, 1, "wrong");
}

PROGRAM_TEST("/source-commands/explain-asks-for-the-topic")
{
  program_scene_run_with_input(fixture, "explain --offline", "cpu,host=b v=2 " AT_MS "000000", 64);
  assert_prints(fixture->done.errors, "has 2 sources with different formats: name the topic with '--topic'");
  program_scene_run_with_input(fixture, "explain --offline --topic telegraf", "cpu,host=b v=2 " AT_MS "000000", 64);
  assert_prints(fixture->done.errors, "reads the topic 'telegraf'");
  program_scene_run_with_input(fixture, "explain --offline --topic telegraf.x", "cpu,host=b v=2 " AT_MS "000000", 0);
  assert_prints(fixture->done.output, "source lines");
  assert_prints(fixture->done.output, "OF_LINES  b#" AT_MS);
  program_scene_run_with_input(fixture, "explain --offline --topic boards", "cpu,host=b v=2 " AT_MS "000000", 65);
  assert_prints(fixture->done.output, "rejected as parse");
  program_scene_prints(fixture, "explain --offline --from-topic --topic " BOARDS, 0, "source boards");
  assert_prints(fixture->done.output, "OF_LINES  not written: it accepts nothing from the source 'boards'");
}

/* FILE holds @text. */
static int
simulate(ProgramScene *fixture, const char *topic, const char *text)
{
  g_autoptr(GError) error = NULL;
  g_autofree char *path = g_strdup_printf("%s.sample", fixture->config_path);
  g_assert_true(g_file_set_contents(path, text, -1, &error));
  g_autofree char *words = g_strdup_printf("simulate --readings 3 --topic %s --sample %s", topic, path);
  int code = program_scene_try(fixture, words, NULL);
  g_unlink(path);
  return code;
}

PROGRAM_TEST("/source-commands/simulate-sends-what-the-source-takes")
{
  static const char json[] = "{\"host\":\"c\",\"ts\":" AT_MS ",\"v\":5}\n", line[] = "cpu,host=c v=5 " AT_MS "000000\n";
  g_assert_cmpint(simulate(fixture, BOARDS, json), ==, 0);
  g_assert_cmpint(mock_kafka_end_offset(fixture->kafka, BOARDS, 0, tide_now_us() + TIMEOUT_US), ==, 4);
  g_assert_cmpint(simulate(fixture, LINES, line), ==, 0);
  g_assert_cmpint(mock_kafka_end_offset(fixture->kafka, LINES, 0, tide_now_us() + TIMEOUT_US), ==, 4);
  g_assert_cmpint(simulate(fixture, LINES, json), ==, 65);
  assert_prints(fixture->done.errors, "is not a message of the configuration");
  g_assert_cmpint(simulate(fixture, "other", json), ==, 64);
  assert_prints(fixture->done.errors, "reads the topic 'other'");
  /* All are good, and of other times: each is a row. */
  program_scene_run(fixture, "run --until-end", 0);
  g_assert_cmpuint(fake_hbase_row_count(scripted_gateway_hbase(fixture->gateway), "OF_LINES"), ==, 4);
  g_assert_cmpuint(fake_hbase_row_count(scripted_gateway_hbase(fixture->gateway), "ALL"), ==, 3);
}

/* In the topic, where it is listed, and where it is sent again to. */
PROGRAM_TEST("/source-commands/dead-letters-name-their-source")
{
  mock_kafka_produce_text(fixture->kafka, LINES, 0, "no line");
  mock_kafka_produce_text(fixture->kafka, BOARDS, 0, "no board");
  program_scene_run(fixture, "run --until-end", 0);
  program_scene_prints(fixture, "dead-letters list --format json --source lines", 0, "\"source\":\"lines\"");
  assert_silent(fixture->done.output, "\"source\":\"boards\"");
  program_scene_run(fixture, "dead-letters list --source none", 0);
  assert_silent(fixture->done.output, "parse");
  program_scene_prints(fixture, "dead-letters show " LINES "/0/1", 0, "source     lines\n");
  program_scene_prints(fixture, "dead-letters replay --source lines", 0, "1 message sent again\n");
  g_assert_cmpint(mock_kafka_end_offset(fixture->kafka, LINES, 0, tide_now_us() + TIMEOUT_US), ==, 3);
}
