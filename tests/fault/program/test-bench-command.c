/* `bench`, run as a user runs it. How fast it finds the path to be decides nothing here. */
#include "fault/program/run_program.h"

#include <glib/gstdio.h>

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
static const char msgpack_yaml[] = YAML("format: msgpack, time: { format: record }");

typedef struct Fixture {
  char *config_path; /* owned */
  ProgramDone done;  /* of the last run */
} Fixture;

static void
set_up(Fixture *fixture, gconstpointer yaml)
{
  fixture->config_path = write_config(yaml, "127.0.0.1:1");
}

static void
tear_down(Fixture *fixture, gconstpointer unused)
{
  g_unlink(fixture->config_path);
  g_free(fixture->config_path);
  program_done_clear(&fixture->done);
}

/* Returns: the exit code. @input: (nullable) */
static int
run(Fixture *fixture, const char *words, const char *input)
{
  program_done_clear(&fixture->done);
  fixture->done = run_program_with_input(fixture->config_path, words, input);
  return fixture->done.exit_code;
}

static void
test_synthetic_readings(Fixture *fixture, gconstpointer unused)
{
  g_assert_cmpint(run(fixture, "bench --readings 500 --metrics 3 --machines 50 --runs 2", NULL), ==, 0);
  assert_prints(fixture->done.output, "500 messages of ");
  assert_prints(fixture->done.output, " 500 readings,\n  2.00 rows and 6.00 cells a reading; binary\n");
  assert_prints(fixture->done.output, "medians of 2 runs\n");
  assert_prints(fixture->done.output, "\nSTAGE ");
  assert_prints(fixture->done.output, "\ndecode ");
  assert_prints(fixture->done.output, "\n  key, in map ");
  assert_prints(fixture->done.output, "\nall ");
  assert_silent(fixture->done.output, "ALLOCATIONS"); /* nobody counts them here */
}

static void
test_given_messages(Fixture *fixture, gconstpointer unused)
{
  const char *input = "{\"host\":\"h1\",\"ts\":1426535612045,\"cpu\":1}\n"
                      "{\"host\":\"h1\"}\n"
                      "{\"host\":\"h2\",\"ts\":1426535612045,\"cpu\":1}\n";
  g_assert_cmpint(run(fixture, "bench --messages - --readings 100 --runs 1 --format json", input), ==, 0);
  assert_prints(fixture->done.output, "\"messages\":100,\"different_messages\":2,\"rejected_messages\":1,");
  assert_prints(fixture->done.output, "{\"stage\":\"encode\",\"part_of\":\"append\",\"ns_per_reading\":");
  assert_prints(fixture->done.errors, "1 message would be rejected, and left out; the first one: ");
  g_assert_cmpint(run(fixture, "bench --messages /nonexistent/file", NULL), ==, 74);
  assert_prints(fixture->done.errors, "cannot open '/nonexistent/file': No such file or directory");
}

/* {"host": "h1", "cpu": 10}: its last byte is the one that ends a line elsewhere. */
static const char msgpack[] = "\x82\xa4host\xa2h1\xa3"
                              "cpu\x0a";

static void
test_a_binary_message_may_hold_line_breaks(Fixture *fixture, gconstpointer unused)
{
  g_autoptr(GError) error = NULL;
  g_autofree char *path = g_strconcat(fixture->config_path, ".msgpack", NULL);
  g_assert_true(g_file_set_contents(path, msgpack, sizeof msgpack - 1, &error));
  g_autofree char *words =
      g_strdup_printf("bench --messages %s --messages %s --readings 10 --runs 1 --format json", path, path);
  g_assert_cmpint(run(fixture, words, NULL), ==, 0);
  assert_prints(fixture->done.output, "\"messages\":10,\"different_messages\":2,\"rejected_messages\":0,");
  g_assert_cmpint(run(fixture, "explain --offline --timestamp 1426535612045", msgpack), ==, 0);
  assert_prints(fixture->done.output, "fields taken: host, cpu");
  g_unlink(path);
}

static void
test_only_some_stages(Fixture *fixture, gconstpointer unused)
{
  g_assert_cmpint(run(fixture, "bench --readings 100 --runs 1 --stage decode --stage ack", NULL), ==, 0);
  assert_prints(fixture->done.output, "\ndecode ");
  assert_prints(fixture->done.output, "\nack ");
  assert_silent(fixture->done.output, "\nmap ");
  g_assert_cmpint(run(fixture, "bench --stage mapp", NULL), ==, 64);
  assert_prints(fixture->done.errors,
                "'--stage' takes one of decode, map, key, append, encode, seal, ack, all; got 'mapp'");
}

static void
test_unusable_messages_are_told(Fixture *fixture, gconstpointer unused)
{
  g_assert_cmpint(run(fixture, "bench --messages - --readings 100", "{\"host\":\"h1\"}\n"), ==, 65);
  assert_prints(fixture->done.errors, "no message can be used; the first one: ");
  g_assert_cmpint(run(fixture, "bench --messages -", ""), ==, 65);
  assert_prints(fixture->done.errors, "there are no messages");
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
#define ADD(path, test) g_test_add("/bench-command/" path, Fixture, json_yaml, set_up, test, tear_down)
  ADD("synthetic-readings", test_synthetic_readings);
  ADD("given-messages", test_given_messages);
  g_test_add("/bench-command/a-binary-message-may-hold-line-breaks", Fixture, msgpack_yaml, set_up,
             test_a_binary_message_may_hold_line_breaks, tear_down);
  ADD("only-some-stages", test_only_some_stages);
  ADD("unusable-messages-are-told", test_unusable_messages_are_told);
  return g_test_run();
}
