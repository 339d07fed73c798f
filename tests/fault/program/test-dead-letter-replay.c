/* Dead letters of each format, from the bad message to correct tables: kept with reason and position, replayed after
 * the configuration is corrected, written, and verified with `tidemark verify`. */
#include "decode/avro_schema.h"
#include "decode/formats.h"
#include "fault/program/program_scene.h"

#define TOPIC "metrics"

/* A format, and three messages: one to take, one with a field more than max_fields, and one without host. */
typedef struct FormatCase {
  const char *readings;
  const char *schema;  /* of Avro: the text of its file; NULL: none */
  const char *columns; /* NULL: v and w */
  guint max_fields;    /* of the good message */
  TideBytes good;
  TideBytes wide;
  TideBytes nameless;
  const char *wide_text; /* of its dead letter: the field that is one too many, and its place */
} FormatCase;

static const char yaml[] = "kafka: { brokers: \"%s\", group: g, topics: [" TOPIC
                           "], threads: 1, session_timeout: 6s, commit_interval: 100ms }\n"
                           "hbase: { gateways: [\"%s\"] }\n"
                           "readings: { %s%s, max_fields: %u }\n"
                           "dead_letters: { topic: " PROGRAM_SCENE_LETTERS " }\n"
                           "service: { http: off }\n"
                           "limits: { drain_timeout: 3s }\n"
                           "tables:\n"
                           "  METRIC:\n"
                           "    key: [ { field: host%s }, \"#\", { time: epoch_ms } ]\n"
                           "    columns: { family: M, from: %s }\n"
                           "  CURRENT:\n"
                           "    latest: merge\n"
                           "    key: [ { field: host%s } ]\n"
                           "    columns: { family: M, from: %s }\n";

/* @default_host: what stands behind the field of the keys. */
static char *
config_text(const ProgramScene *scene, guint max_fields, const char *default_host)
{
  const FormatCase *format = scene->format;
  const char *columns = format->columns != NULL ? format->columns : "[v, w]";
  g_autofree char *schema =
      scene->schema_path != NULL ? g_strdup_printf(", schema: \"%s\"", scene->schema_path) : g_strdup("");
  return g_strdup_printf(yaml, mock_kafka_brokers(scene->kafka), scripted_gateway_endpoint(scene->gateway),
                         format->readings, schema, max_fields, default_host, columns, default_host, columns);
}

static void
set_up(ProgramScene *scene, gconstpointer data)
{
  const FormatCase *format = data;
  program_scene_begin_format(scene, data, TOPIC, format->schema);
  g_autofree char *text = config_text(scene, format->max_fields, "");
  scene->config_path = write_config("%s", text);
}

static void
produce(ProgramScene *scene, TideBytes payload)
{
  mock_kafka_produce(scene->kafka, &(TideMockMessage){.topic = TOPIC, .payload = payload});
}

/* A message to take, and two dead letters, each with its reason and its place. */
static void
keep_dead_letters(ProgramScene *scene)
{
  const FormatCase *format = scene->format;
  produce(scene, format->good);
  produce(scene, format->wide);
  produce(scene, format->nameless);
  program_scene_run(scene, "run --until-end", 0);
  program_scene_run(scene, "dead-letters list --format csv", 0);
  g_autofree char *wide = g_strdup_printf(",too_many_fields,metrics/0/1,,,\"%s\"\n", format->wide_text);
  assert_prints(scene->done.output, wide);
  assert_prints(scene->done.output, ",missing_field,metrics/0/2,");
  assert_silent(scene->done.output, "metrics/0/0");
}

/* More fields, and a default for the key's: with rows in the tables a change of key, which wants to be accepted. */
static void
correct_configuration(ProgramScene *scene)
{
  const FormatCase *format = scene->format;
  g_autofree char *text = config_text(scene, format->max_fields + 1, ", default: nobody");
  g_assert_true(g_file_set_contents(scene->config_path, text, -1, NULL));
}

static void
test_replayed_and_right(ProgramScene *scene, gconstpointer unused)
{
  program_scene_run(scene, "tables create", 0);
  keep_dead_letters(scene);
  correct_configuration(scene);
  program_scene_prints(scene, "dead-letters replay --all", 0, "2 messages sent again\n");
  program_scene_tells(scene, "run --until-end", 78, "the key of table 'METRIC' has changed");
  program_scene_run(scene, "run --until-end --accept-scheme-change", 0);
  program_scene_prints(scene, "verify --to-end", 0,
                       "METRIC       4        0      0      0           0         0\n"
                       "CURRENT      3        0      0      0           0         0\n"
                       "5 messages of 1 partition:");
  assert_prints(scene->done.output, "all is right\n");
  program_scene_prints(scene, "scan METRIC --format csv", 0, "a#1426535612002,");
  assert_prints(scene->done.output, "nobody#1426535612003,");
  program_scene_run(scene, "dead-letters list --format csv", 0); /* none of what was sent again has come back */
  assert_silent(scene->done.output, "metrics/0/3");
}

/* ---- the formats ---- */

static const FormatCase json = {
    .readings = "format: json, time: { field: ts, format: epoch_ms }",
    .max_fields = 3,
    .good = TIDE_BYTES_LITERAL("{\"host\":\"a\",\"ts\":1426535612001,\"v\":1}"),
    .wide = TIDE_BYTES_LITERAL("{\"host\":\"a\",\"ts\":1426535612002,\"v\":2,\"w\":3}"),
    .nameless = TIDE_BYTES_LITERAL("{\"ts\":1426535612003,\"v\":4}"),
    .wide_text = "too many fields, in 'w', at byte 41",
};

/* measurement and time count as fields. */
static const FormatCase influx = {
    .readings = "format: influx",
    .max_fields = 4,
    .good = TIDE_BYTES_LITERAL("m,host=a v=1 1426535612001000000\n"),
    .wide = TIDE_BYTES_LITERAL("m,host=a v=2,w=3 1426535612002000000\n"),
    .nameless = TIDE_BYTES_LITERAL("m v=4 1426535612003000000\n"),
    .wide_text = "too many fields, in 'time', at byte 17",
};

static const FormatCase csv = {
    .readings = "format: csv, csv: { header: true }, time: { field: ts, format: epoch_ms }",
    .max_fields = 3,
    .good = TIDE_BYTES_LITERAL("host,ts,v\na,1426535612001,1\n"),
    .wide = TIDE_BYTES_LITERAL("host,ts,v,w\na,1426535612002,2,3\n"),
    .nameless = TIDE_BYTES_LITERAL("ts,v\n1426535612003,4\n"),
    .wide_text = "too many fields, at byte 10",
};

#define MSGPACK_HOST                                                                                                   \
  "\xA4host\xA1"                                                                                                       \
  "a"
#define MSGPACK_TIME(ms)                                                                                               \
  "\xA2ts\xAD"                                                                                                         \
  "142653561200" ms

static const FormatCase msgpack = {
    .readings = "format: msgpack, time: { field: ts, format: epoch_ms }",
    .max_fields = 3,
    .good = TIDE_BYTES_LITERAL("\x83" MSGPACK_HOST MSGPACK_TIME("1") "\xA1v\x01"),
    .wide = TIDE_BYTES_LITERAL("\x84" MSGPACK_HOST MSGPACK_TIME("2") "\xA1v\x02\xA1w\x03"),
    .nameless = TIDE_BYTES_LITERAL("\x82" MSGPACK_TIME("3") "\xA1v\x04"),
    .wide_text = "too many fields, in 'w', at byte 30",
};

/* A string of one letter, or none; then the time, an int, and a map of others, which counts as a field. */
#define AVRO_HOST                                                                                                      \
  "\x02\x02"                                                                                                           \
  "a"
#define AVRO_TIME(first) first "\xF9\xAF\xC2\x84\x53"

static const FormatCase avro = {
    .readings = "format: avro, time: { field: ts, format: epoch_ms }",
    .schema =
        "{\"type\":\"record\",\"name\":\"Reading\",\"fields\":[{\"name\":\"host\",\"type\":[\"null\",\"string\"]},"
        "{\"name\":\"ts\",\"type\":\"long\"},{\"name\":\"v\",\"type\":\"int\"},"
        "{\"name\":\"more\",\"type\":{\"type\":\"map\",\"values\":\"int\"}}]}",
    .columns = "[v, more/w]",
    .max_fields = 4,
    .good = TIDE_BYTES_LITERAL(AVRO_HOST AVRO_TIME("\xC2") "\x02\x00"),
    .wide = TIDE_BYTES_LITERAL(AVRO_HOST AVRO_TIME("\xC4") "\x04\x02\x02w\x06\x00"),
    .nameless = TIDE_BYTES_LITERAL("\x00" AVRO_TIME("\xC6") "\x08\x00"),
    .wide_text = "too many fields, in 'w', at byte 13",
};

/* Of plant.Reading in tests/formats/readings.proto: host, a Timestamp of 2015-03-16, count and drift. */
#define PROTOBUF_HOST                                                                                                  \
  "\x0A\x01"                                                                                                           \
  "a"
#define PROTOBUF_TIME(length, nanos) "\xBA\x01" length "\x08\xBC\xE9\x9C\xA8\x05\x10" nanos

static const FormatCase protobuf = {
    .readings = "format: protobuf, schema: \"" TIDE_PROTOBUF_TEST_SET "\", message: plant.Reading,"
                " time: { field: at, format: epoch_s }",
    .columns = "[count, drift]",
    .max_fields = 3,
    .good = TIDE_BYTES_LITERAL(PROTOBUF_HOST PROTOBUF_TIME("\x0A", "\xC0\x84\x3D") "\x20\x01"),
    .wide = TIDE_BYTES_LITERAL(PROTOBUF_HOST PROTOBUF_TIME("\x0A", "\x80\x89\x7A") "\x20\x02\x30\x06"),
    .nameless = TIDE_BYTES_LITERAL(PROTOBUF_TIME("\x0B", "\xC0\x8D\xB7\x01") "\x20\x04"),
    .wide_text = "too many fields, in 'at', at byte 3",
};

#define ADD(format)                                                                                                    \
  g_test_add("/dead-letter-replay/" #format, ProgramScene, &format, set_up, test_replayed_and_right, program_scene_end)

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  ADD(json);
  ADD(influx);
  ADD(csv);
  ADD(msgpack);
  if (tide_format_is_built_in(TIDE_FORMAT_AVRO))
    ADD(avro);
  if (tide_format_is_built_in(TIDE_FORMAT_PROTOBUF))
    ADD(protobuf);
  return g_test_run();
}
