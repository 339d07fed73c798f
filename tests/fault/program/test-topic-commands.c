/* The commands that read a topic, against a Kafka cluster inside the test. */
#include "fault/program/program_scene.h"

#define TIME_MS G_GINT64_CONSTANT(1426535612045)
#define N_READINGS 4000u

static const char yaml[] = "kafka: { brokers: \"%s\", group: g, topics: [metrics] }\n"
                           "hbase: { gateways: [\"127.0.0.1:1\"] }\n"
                           "readings: { time: { field: ts, format: epoch_ms } }\n"
                           "tables:\n"
                           "  METRIC:\n"
                           "    key: [ { field: host }, \"#\", { time: epoch_ms } ]\n"
                           "    columns: { family: M, from: \"*\" }\n"
                           "  MOVING:\n"
                           "    key: [ { time: epoch_ms }, \"#\", { field: host } ]\n"
                           "    columns: { family: M, from: \"*\" }\n"
                           "  FIXED:\n"
                           "    key: [ { field: host }, \"#\", { time: epoch_ms } ]\n"
                           "    columns: { family: M, from: \"*\" }\n"
                           "    splits: [\"m\"]\n";

static void
set_up(ProgramScene *fixture, gconstpointer unused)
{
  program_scene_begin_kafka(fixture, "metrics", 2);
  fixture->config_path = write_config(yaml, mock_kafka_brokers(fixture->kafka));
}

/* Hosts a000 to z999, each letter as often. */
static void
produce_readings(ProgramScene *fixture, guint n)
{
  for (guint i = 0; i < n; i++) {
    g_autofree char *payload = g_strdup_printf("{\"host\":\"%c%03u\",\"ts\":%" G_GINT64_FORMAT ",\"cpu\":%u}",
                                               (char)('a' + i % 26), i * 7919 % 1000, TIME_MS + i, i);
    mock_kafka_produce_text(fixture->kafka, "metrics", (gint32)(i % 2), payload);
  }
}

PROGRAM_TEST("/topic-commands/sample-divides-free-text")
{
  produce_readings(fixture, N_READINGS);
  program_scene_tells(fixture, "tables create METRIC FIXED --dry-run --sample 4000 --regions 4", 0,
                      "METRIC: 3 split points out of 4,000 keys\n");
  /* A quarter of the alphabet each, within what a sample leaves to chance. */
  const char *points = strstr(fixture->done.output, "SPLITS => ['");
  g_assert_nonnull(points);
  static const char *const around[] = {"fgh", "mno", "stu"};
  g_auto(GStrv) parts = g_strsplit(points + strlen("SPLITS => ['"), "'", 6);
  for (guint i = 0; i < G_N_ELEMENTS(around); i++)
    g_assert_nonnull(strchr(around[i], parts[2 * i][0]));
  assert_prints(fixture->done.output, "SPLITS => ['m']\n"); /* what is declared stays */
  g_assert_cmpint(mock_kafka_committed(fixture->kafka, "g", "metrics", 0, tide_now_us() + TIMEOUT_US), ==, -1);
}

PROGRAM_TEST("/topic-commands/sample-warns-of-what-makes-it-doubtful")
{
  produce_readings(fixture, 200);
  mock_kafka_produce_text(fixture->kafka, "metrics", 0, "{\"host\":\"no time\"}");
  program_scene_tells(fixture, "tables create MOVING --dry-run --sample 1000 --regions 4", 0,
                      "warning: the keys of 'MOVING' grow with the time: all new rows will be in its last");
  assert_prints(fixture->done.errors, "warning: few keys: for 4 regions, sample at least 400 keys\n");
  assert_prints(fixture->done.errors, "note: 1 of 201 messages would be rejected, the first one: ");
}

PROGRAM_TEST("/topic-commands/sample-of-nothing-is-refused")
{
  program_scene_tells(fixture, "tables create METRIC --dry-run --sample 1000 --regions 4", 65,
                      "topic 'metrics' has no messages to sample");
  program_scene_tells(fixture, "tables create METRIC --dry-run --sample 1000", 64,
                      "set the number of regions with '--regions N'");
}

PROGRAM_TEST("/topic-commands/explain-takes-the-newest-of-each-partition")
{
  produce_readings(fixture, 20);
  program_scene_prints(fixture, "explain --offline --from-topic --count 4", 0, "partition 0, offset 8, reading 1 of 1");
  assert_prints(fixture->done.output, "partition 0, offset 9, reading 1 of 1");
  assert_prints(fixture->done.output, "partition 1, offset 9, reading 1 of 1");
  g_assert_null(strstr(fixture->done.output, "offset 7"));
  program_scene_prints(fixture, "explain --offline --from-topic --count 2 -f json", 0,
                       "{\"partition\":1,\"offset\":9,\"reading\":0,\"table\":\"METRIC\"");
  g_assert_cmpint(mock_kafka_committed(fixture->kafka, "g", "metrics", 0, tide_now_us() + TIMEOUT_US), ==, -1);
}

static guint
count_records(ProgramScene *fixture)
{
  g_autoptr(GPtrArray) records = mock_kafka_read_topic(fixture->kafka, "metrics", 2, tide_now_us() + TIMEOUT_US);
  return records->len;
}

PROGRAM_TEST("/topic-commands/U6/simulate-is-told-where-to")
{
  program_scene_tells(fixture, "simulate --readings 5", 64, "synthetic readings would be sent to 'metrics'");
  assert_prints(fixture->done.errors, "'--topic'");
  g_assert_cmpuint(count_records(fixture), ==, 0);
  program_scene_run(fixture, "simulate --readings 5 --yes", 0);
  program_scene_run(fixture, "simulate --readings 5 --topic metrics", 0);
  g_assert_cmpuint(count_records(fixture), ==, 10);
}

/* It is asked for before anything is sent: librdkafka would wait half a minute for it, or have the brokers make it. */
PROGRAM_TEST("/topic-commands/U6/simulate-needs-its-topic")
{
  program_scene_tells(fixture, "simulate --readings 5 --topic nosuch", 69,
                      "the topic 'nosuch' does not exist at '127.0.0.1:");
  assert_prints(
      fixture->done.errors,
      "create it, for example with 'kafka-topics.sh --create', or name another topic; nothing was sent to it");
  g_assert_cmpstr(fixture->done.output, ==, "");
  mock_kafka_set_topic_error(fixture->kafka, "metrics", RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART);
  program_scene_tells(fixture, "simulate --readings 5 --yes", 69, "the topic 'metrics' does not exist at ");
}

/* As docs/commands.md has it. */
PROGRAM_TEST("/topic-commands/U6/explain-needs-its-topic")
{
  program_scene_tells(fixture, "explain --offline --from-topic --topic nosuch", 69, "topic 'nosuch' does not exist");
}

PROGRAM_TEST("/topic-commands/U6/simulate-counts-what-was-acknowledged")
{
  mock_kafka_push_errors(fixture->kafka, TIDE_KAFKA_PRODUCE, RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED, 50);
  program_scene_run(fixture, "simulate --readings 5 --topic metrics", 69);
  g_assert_true(g_str_has_prefix(fixture->done.output, "0 of 5 messages in "));
  assert_prints(fixture->done.errors, "only 0 of 5 messages were acknowledged: ");
  g_assert_cmpuint(count_records(fixture), ==, 0);
}

/* The fixture's configuration with @field in place of "host". */
static void
expect_field(ProgramScene *fixture, const char *field)
{
  g_autoptr(GString) text = g_string_new(yaml);
  g_string_replace(text, "host", field, 0);
  program_scene_configure(fixture, text->str, mock_kafka_brokers(fixture->kafka));
}

PROGRAM_TEST("/topic-commands/U6/simulate-looks-at-its-first-message")
{
  expect_field(fixture, "sensor");
  program_scene_run(fixture, "simulate --readings 5 --topic metrics", 65);
  assert_prints(fixture->done.errors, "cannot use the first message (missing_field: ");
  assert_prints(fixture->done.errors, "'--sample FILE' sends messages like those in FILE");
  g_assert_cmpuint(count_records(fixture), ==, 0);

  g_autofree char *path = g_strconcat(fixture->config_path, ".jsonl", NULL);
  g_assert_true(g_file_set_contents(
      path, "{\"sensor\":\"s1\",\"ts\":1,\"v\":20.5}\n{\"sensor\":\"s2\",\"ts\":1,\"v\":20.5}\n", -1, NULL));
  g_autofree char *words =
      g_strdup_printf("simulate --readings 6 --topic metrics --start-time 1426535612045 --step 1s --sample %s", path);
  program_scene_run(fixture, words, 0);
  g_autoptr(GPtrArray) records = mock_kafka_read_topic(fixture->kafka, "metrics", 2, tide_now_us() + TIMEOUT_US);
  g_autoptr(GHashTable) begins = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  g_assert_cmpuint(records->len, ==, 6);
  for (guint i = 0; i < records->len; i++) {
    gsize len = 0;
    const char *payload = g_bytes_get_data(((const TideMockRecord *)records->pdata[i])->payload, &len);
    g_hash_table_add(begins, g_strndup(payload, strlen("{\"sensor\":\"s1\",\"ts\":1426535612045")));
  }
  g_assert_cmpuint(g_hash_table_size(begins), ==, 6); /* two senders, three times each */
  g_assert_true(g_hash_table_contains(begins, "{\"sensor\":\"s2\",\"ts\":1426535614045"));
  g_unlink(path);
}

/* A host whose clock is behind would reject new readings as of the future. */
PROGRAM_TEST("/topic-commands/K16-clock-that-is-behind")
{
  static const char payload[] = "{\"host\":\"h\",\"ts\":1426535612045,\"v\":1}";
  mock_kafka_produce(fixture->kafka, &(TideMockMessage){.topic = "metrics",
                                                        .payload = tide_bytes_of_string(payload),
                                                        .timestamp_ms = tide_wall_clock_epoch_ms()});
  program_scene_try(fixture, "check", NULL);
  g_assert_null(strstr(fixture->done.output, "ahead of this host's clock"));
  mock_kafka_produce(fixture->kafka,
                     &(TideMockMessage){.topic = "metrics",
                                        .payload = tide_bytes_of_string(payload),
                                        .timestamp_ms = tide_wall_clock_epoch_ms() + G_GINT64_CONSTANT(7200000)});
  program_scene_try(fixture, "check", NULL);
  assert_prints(fixture->done.output, "2 partitions; its newest record is 7");
  assert_prints(fixture->done.output, " s ahead of this host's clock: correct this clock (timedatectl)");
}

/* One of two brokers advertises an address that nobody can reach: it is named, whatever fails for it. */
PROGRAM_TEST("/topic-commands/K13-advertised-address-that-cannot-be-reached")
{
  TideMockKafka *kafka = mock_kafka_new(2);
  mock_kafka_create_topic(kafka, "metrics", 1);
  mock_kafka_set_leader(kafka, "metrics", 0, 2);
  g_auto(GStrv) addresses = g_strsplit(mock_kafka_brokers(kafka), ",", 2);
  g_assert_cmpuint(g_strv_length(addresses), ==, 2);
  g_autofree char *path = write_config(yaml, addresses[0]);
  ProgramScene scene = {.kafka = kafka, .config_path = g_steal_pointer(&path)};
  program_scene_try(&scene, "check", NULL);
  g_assert_null(strstr(scene.done.output, "the cluster advertises"));
  mock_kafka_set_broker_up(kafka, 2, FALSE);
  g_assert_cmpint(program_scene_try(&scene, "check", NULL), !=, 0);
  gboolean is_advertised = strstr(scene.done.output, " 1 broker\n") == NULL;
  if (!is_advertised) {
    g_test_skip("this librdkafka's mock cluster advertises no broker that is down");
    program_scene_end(&scene, NULL);
    return;
  }
  assert_prints(scene.done.output, "\nbroker ");
  assert_prints(scene.done.output, addresses[1]);
  assert_prints(scene.done.output, "the cluster advertises this address, and this host cannot connect to it: ");
  assert_prints(scene.done.output, "correct the broker's 'advertised.listeners'");
  g_assert_null(strstr(scene.done.output, "automatically reset"));
  program_scene_end(&scene, NULL);
}
