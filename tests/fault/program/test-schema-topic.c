/* Messages with a schema, in Avro and protobuf, through the program: simulated ones become rows, and `check` queries
 * the registry. */
#include "decode/avro_schema.h"
#include "decode/formats.h"
#include "fault/program/program_scene.h"
#include "unit/registry_double.h"

#define TOPIC "readings"

typedef struct FormatCase {
  const char *readings;
  const char *schema; /* the text of its file; NULL: the test's own */
  TideBytes message;  /* of 2015-03-16 */
} FormatCase;

static const char yaml[] = "kafka: { brokers: \"%s\", group: g, topics: [" TOPIC
                           "], threads: 1, session_timeout: 6s, commit_interval: 100ms }\n"
                           "hbase: { gateways: [\"%s\"] }\n"
                           "readings: { %s, schema: \"%s\", time: { field: at, format: epoch_s } }\n"
                           "dead_letters: { topic: " PROGRAM_SCENE_LETTERS " }\n"
                           "service: { http: off }\n"
                           "limits: { drain_timeout: 3s }\n"
                           "tables: { METRIC: { key: [ { field: host }, \"#\", { time: epoch_ms } ],\n"
                           "  columns: { family: M, from: [count] } } }\n";

static void
set_up(ProgramScene *scene, gconstpointer data)
{
  const FormatCase *format = data;
  program_scene_begin_format(scene, data, TOPIC, format->schema);
  const char *schema = scene->schema_path != NULL ? scene->schema_path : TIDE_PROTOBUF_TEST_SET;
  g_autofree char *text = g_strdup_printf(yaml, mock_kafka_brokers(scene->kafka),
                                          scripted_gateway_endpoint(scene->gateway), format->readings, schema);
  scene->config_path = write_config("%s", text);
}

/* Three messages like the case's, a second apart, from a file of its own: each is a row. */
static void
test_simulated_messages(ProgramScene *scene, gconstpointer unused)
{
  const FormatCase *format = scene->format;
  const TideBytes like = format->message;
  g_autofree char *path = g_strdup_printf("%s.sample", scene->config_path);
  g_assert_true(g_file_set_contents(path, (const char *)like.data, (gssize)like.len, NULL));
  g_autofree char *words = g_strdup_printf(
      "simulate --readings 3 --start-time 2015-03-16T19:48:12.500Z --topic " TOPIC " --sample %s", path);
  program_scene_run(scene, "tables create", 0);
  program_scene_run(scene, words, 0);
  g_unlink(path);
  program_scene_run(scene, "run --until-end", 0);
  program_scene_run(scene, "scan METRIC --format csv", 0);
  for (gint64 at_ms = G_GINT64_CONSTANT(1426535292500); at_ms < G_GINT64_CONSTANT(1426535295000); at_ms += 1000) {
    g_autofree char *row = g_strdup_printf("a#%" G_GINT64_FORMAT ",", at_ms);
    assert_prints(scene->done.output, row);
  }
  program_scene_prints(scene, "verify --to-end", 0, "all is right\n");
}

/* ---- a registry ---- */

/* `check` tells of it before a message needs it. */
static void
test_check_asks_the_registry(void)
{
  ProgramScene scene = {0};
  RegistryDouble registry;
  program_scene_begin_format(&scene, NULL, TOPIC, NULL);
  registry_double_start(&registry);
  g_autofree char *text =
      g_strdup_printf("kafka: { brokers: \"%s\", group: g, topics: [" TOPIC "] }\n"
                      "hbase: { gateways: [\"%s\"] }\n"
                      "readings: { format: avro, registry: { url: \"http://127.0.0.1:%u/sub\" }, time: { field: at, "
                      "format: epoch_s } }\n"
                      "dead_letters: { topic: " PROGRAM_SCENE_LETTERS " }\n"
                      "service: { http: off }\n"
                      "tables: { METRIC: { key: [ { field: host }, \"#\", { time: epoch_ms } ], columns: { family: M, "
                      "from: [count] } } }\n",
                      mock_kafka_brokers(scene.kafka), scripted_gateway_endpoint(scene.gateway), registry.port);
  scene.config_path = write_config("%s", text);
  program_scene_run(&scene, "tables create", 0);
  program_scene_prints(&scene, "check", 0, "ok     returns schemas");
  atomic_store(&registry.wants_user, TRUE);
  program_scene_prints(&scene, "check", 1,
                       "it answered with status 401: check 'readings.registry.user' and 'password'");
  atomic_store(&registry.wants_user, FALSE);
  registry_double_set_mode(&registry, REGISTRY_FORBIDS);
  program_scene_prints(&scene, "check", 0, "note   answers, but refuses schema 1");
  registry_double_stop(&registry);
  program_scene_prints(&scene, "check", 69, ": check 'readings.registry.url', and that the registry is running there");
  program_scene_end(&scene, NULL);
}

/* Of two sources with one registry and one user the second has another password: a question of its own. */
static void
test_check_asks_with_each_password(void)
{
  ProgramScene scene = {0};
  RegistryDouble registry;
  program_scene_begin_format(&scene, NULL, TOPIC, "secret");
  registry_double_start(&registry);
  atomic_store(&registry.wants_user, TRUE);
  g_autofree char *wrong = write_config("%s", "wrong");
  g_assert_true(g_chmod(scene.schema_path, 0600) == 0 && g_chmod(wrong, 0600) == 0);
  g_autoptr(GString) sources = g_string_new(NULL);
  const char *passwords[] = {scene.schema_path, wrong, scene.schema_path};
  for (guint i = 0; i < G_N_ELEMENTS(passwords); i++)
    g_string_append_printf(
        sources,
        "  s%u: { topics: [" TOPIC "%u], readings: { format: avro, time: { field: at, format: "
        "epoch_s }, registry: { url: \"http://127.0.0.1:%u/sub\", user: tide, password: { file: %s } "
        "} } }\n",
        i, i, registry.port, passwords[i]);
  scene.config_path =
      write_config("kafka: { brokers: \"127.0.0.1:1\", group: g }\nhbase: { gateways: [\"127.0.0.1:1\"] }\n"
                   "sources:\n%sservice: { http: off }\n"
                   "tables: { METRIC: { key: [ { field: host } ], columns: { family: M, from: [count] } } }\n",
                   sources->str);
  program_scene_prints(&scene, "check", 69, "ok       returns schemas to 'tide'");
  assert_prints(scene.done.output, "it answered with status 401");
  g_assert_cmpuint(registry_double_n_asked(&registry, 1), ==, 2);
  registry_double_stop(&registry);
  g_unlink(wrong);
  program_scene_end(&scene, NULL);
}

/* ---- the formats ---- */

#define AVRO_AT "\xC0\xF1\x88\xC2\x84\x53"

static const FormatCase avro = {
    .readings = "format: avro",
    .schema = "{\"type\":\"record\",\"name\":\"Reading\",\"fields\":[{\"name\":\"host\",\"type\":\"string\"},"
              "{\"name\":\"at\",\"type\":{\"type\":\"long\",\"logicalType\":\"timestamp-millis\"}},"
              "{\"name\":\"count\",\"type\":\"int\"}]}",
    .message = TIDE_BYTES_LITERAL("\x02\x61" AVRO_AT "\x0A"),
};

/* Of plant.Reading in tests/formats/readings.proto: host, a count, and a Timestamp. */
static const FormatCase protobuf = {
    .readings = "format: protobuf, message: plant.Reading",
    .message = TIDE_BYTES_LITERAL("\x0A\x01\x61\x20\x05\xBA\x01\x06\x08\xFC\xE6\x9C\xA8\x05"),
};

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
#define ADD(format)                                                                                                    \
  g_test_add("/schema-topic/simulated-messages/" #format, ProgramScene, &format, set_up, test_simulated_messages,      \
             program_scene_end)
  if (tide_format_is_built_in(TIDE_FORMAT_AVRO)) {
    g_test_add_func("/schema-topic/check-asks-the-registry", test_check_asks_the_registry);
    g_test_add_func("/schema-topic/check-asks-with-each-password", test_check_asks_with_each_password);
    ADD(avro);
  }
  if (tide_format_is_built_in(TIDE_FORMAT_PROTOBUF)) {
    ADD(protobuf);
  }
  return g_test_run();
}
