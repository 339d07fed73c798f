/* `bench`, run as a user runs it. How fast it finds the path to be decides nothing here. */
#include "fault/program/program_scene.h"

#define YAML(readings)                                                                                                 \
  "kafka: { brokers: \"127.0.0.1:1\", group: g, topics: [t] }\n"                                                       \
  "hbase: { gateways: [\"%s\"] }\n"                                                                                    \
  "readings: { " readings " }\n"                                                                                       \
  "tables:\n"                                                                                                          \
  "  METRIC:\n"                                                                                                        \
  "    key: [ { field: host }, \"#\", { time: epoch_ms } ]\n"                                                          \
  "    columns: { family: M, from: \"*\" }\n"                                                                          \
  "  CURRENT:\n"                                                                                                       \
  "    latest: replace\n"                                                                                              \
  "    key: [ { field: host } ]\n"                                                                                     \
  "    columns: { family: M, from: \"*\" }\n"

static const char json_yaml[] = YAML("time: { field: ts, format: epoch_ms }");
/* Tables that say how long they keep rows, and how HBase stores them. */
static const char plan_yaml[] =
    "kafka: { brokers: \"127.0.0.1:1\", group: g, topics: [t] }\n"
    "hbase: { gateways: [\"%s\"] }\n"
    "limits: { memory: 32MiB }\n"
    "readings: { time: { field: ts, format: epoch_ms } }\n"
    "tables:\n"
    "  WEEK: { ttl: 7d, key: [ { field: host }, { time: epoch_ms } ], columns: { family: M, from: \"*\" } }\n"
    "  YEAR:\n"
    "    families: { M: { ttl: 365d, compression: gz } }\n"
    "    key: [ { field: host }, { time: epoch_ms } ]\n"
    "    columns: { family: M, from: \"*\" }\n";
static const char msgpack_yaml[] = YAML("format: msgpack, time: { format: record }");

static void
set_up(ProgramScene *fixture, gconstpointer yaml)
{
  fixture->config_path = write_config(yaml, "127.0.0.1:1");
}

PROGRAM_TEST_OF(json_yaml, "/bench-command/synthetic-readings")
{
  program_scene_prints(fixture, "bench --readings 500 --metrics 3 --devices 50 --runs 2", 0, "500 messages of ");
  assert_prints(fixture->done.output, " 500 readings,\n  2.00 rows and 6.00 cells per reading; binary\n");
  assert_prints(fixture->done.output, "medians of 2 runs\n");
  assert_prints(fixture->done.output, "\nSTAGE ");
  assert_prints(fixture->done.output, "\ndecode ");
  assert_prints(fixture->done.output, "\n  key, in map ");
  assert_prints(fixture->done.output, "\nall ");
  assert_silent(fixture->done.output, "ALLOCATIONS"); /* nobody counts them here */
}

PROGRAM_TEST_OF(json_yaml, "/bench-command/given-messages")
{
  const char *input = "{\"host\":\"h1\",\"ts\":1426535612045,\"cpu\":1}\n"
                      "{\"host\":\"h1\"}\n"
                      "{\"host\":\"h2\",\"ts\":1426535612045,\"cpu\":1}\n";
  program_scene_run_with_input(fixture, "bench --messages - --readings 100 --runs 1 --format json", input, 0);
  assert_prints(fixture->done.output, "\"messages\":100,\"different_messages\":2,\"rejected_messages\":1,");
  assert_prints(fixture->done.output, "{\"stage\":\"encode\",\"part_of\":\"append\",\"ns_per_reading\":");
  assert_prints(fixture->done.errors, "skipping 1 message that would be rejected; the first one: ");
  program_scene_tells(fixture, "bench --messages /nonexistent/file", 74,
                      "cannot open '/nonexistent/file': No such file or directory");
}

/* {"host": "h1", "cpu": 10}: its last byte is the one that ends a line elsewhere. */
static const char msgpack[] = "\x82\xa4host\xa2h1\xa3"
                              "cpu\x0a";

PROGRAM_TEST_OF(msgpack_yaml, "/bench-command/a-binary-message-may-hold-line-breaks")
{
  g_autoptr(GError) error = NULL;
  g_autofree char *path = g_strconcat(fixture->config_path, ".msgpack", NULL);
  g_assert_true(g_file_set_contents(path, msgpack, sizeof msgpack - 1, &error));
  g_autofree char *words =
      g_strdup_printf("bench --messages %s --messages %s --readings 10 --runs 1 --format json", path, path);
  program_scene_prints(fixture, words, 0, "\"messages\":10,\"different_messages\":2,\"rejected_messages\":0,");
  program_scene_run_with_input(fixture, "explain --offline --timestamp 1426535612045", msgpack, 0);
  assert_prints(fixture->done.output, "fields taken: host, cpu");
  g_unlink(path);
}

PROGRAM_TEST_OF(json_yaml, "/bench-command/only-some-stages")
{
  program_scene_prints(fixture, "bench --readings 100 --runs 1 --stage decode --stage ack", 0, "\ndecode ");
  assert_prints(fixture->done.output, "\nack ");
  assert_silent(fixture->done.output, "\nmap ");
  program_scene_run(fixture, "bench --stage mapp", 64);
  assert_prints(fixture->done.errors,
                "'--stage' must be one of decode, map, key, append, encode, seal, ack, all; got 'mapp'");
}

PROGRAM_TEST_OF(json_yaml, "/bench-command/unusable-messages-are-told")
{
  program_scene_run_with_input(fixture, "bench --messages - --readings 100", "{\"host\":\"h1\"}\n", 65);
  assert_prints(fixture->done.errors, "no message can be used; the first one: ");
  program_scene_run_with_input(fixture, "bench --messages -", "", 65);
  assert_prints(fixture->done.errors, "there are no messages");
}

/* What a plan is for is said once, and what nobody has said is told. */
PROGRAM_TEST_OF(json_yaml, "/bench-command/plan-tells-its-load")
{
  program_scene_tells(fixture, "bench --plan --interval 5s --readings 10 --runs 1", 0,
                      "planned for 1000 devices: set their number with '--devices'\n");
  program_scene_run(fixture, "bench --plan --interval 5s --devices 10 --readings 10 --runs 1", 0);
  assert_silent(fixture->done.errors, "planned for");
  program_scene_tells(fixture, "bench --plan --interval 5s --rows-per-day 5", 64,
                      "'--interval' and '--rows-per-day' both set the number of readings");
  program_scene_tells(fixture, "bench --plan", 64, "'--plan' needs the load: ");
}

/* Of a configuration the plan takes how long its tables keep rows, and says what else of it matters. */
PROGRAM_TEST_OF(plan_yaml, "/bench-command/plan-reads-the-configuration")
{
#define PLAN "bench --plan --interval 5s --devices 10 --readings 10 --runs 1"
  program_scene_prints(fixture, PLAN, 0, "7 to 365 days by ttl, 3 copies, ");
  assert_prints(fixture->done.output, "Note    families declare compression or encoding with an unknown result");
  assert_prints(fixture->done.output,
                "Note    limits.memory of the configuration is 32 MiB, but this plan needs 256 MiB: ");
  program_scene_prints(fixture, PLAN " --format json", 0,
                       "\"retention_s\":16070400,"); /* 186 days: as much is kept of both */
  program_scene_prints(fixture, PLAN " --retention 12d --stored 30%", 0, " 12 days, 3 copies, ");
  assert_silent(fixture->done.output, "Note    families");
  program_scene_tells(fixture, "bench --plan --interval 5s --readings 10 --runs 1 --format json", 0,
                      "planned for 1000 devices: ");
  assert_prints(fixture->done.output, "planned for 1000 devices: set their number with '--devices'\"],");
#undef PLAN
}
