/* Messages of a schema's file, in Avro and protobuf, through the program: the rows of good ones, the dead letter of a
 * broken one with its reason and place, and what explain, simulate and verify say of them. */
#include "decode/avro_schema.h"
#include "decode/protobuf_walk.h"
#include "fault/gateway/scripted_gateway.h"
#include "fault/kafka/mock_kafka.h"
#include "fault/program/run_program.h"
#include "util/clock.h"

#include <glib/gstdio.h>

#define TIMEOUT_US (120 * TIDE_US_PER_S) /* far beyond what any step takes: only a failure waits so long */
#define TOPIC "readings"

/* A good message, one that ends in the middle of its count, and another good one. All are of 2015-03-16. */
typedef struct FormatCase {
  const char *readings;
  const char *schema; /* the text of its file; NULL: the test's own */
  TideBytes messages[3];
  const char *place; /* of the fault in the second one */
} FormatCase;

static const char yaml[] = "kafka: { brokers: \"%s\", group: g, topics: [" TOPIC
                           "], threads: 1, session_timeout: 6s, commit_interval: 100ms }\n"
                           "hbase: { gateways: [\"%s\"] }\n"
                           "readings: { %s, schema: \"%s\", time: { field: at, format: epoch_s } }\n"
                           "dead_letters: { topic: letters }\n"
                           "service: { http: off }\n"
                           "limits: { drain_timeout: 3s }\n"
                           "tables: { METRIC: { key: [ { field: host }, \"#\", { time: epoch_ms } ],\n"
                           "  columns: { family: M, from: [count] } } }\n";

typedef struct Fixture {
  const FormatCase *format;
  TideMockKafka *kafka;
  TideScriptedGateway *gateway;
  char *schema_path; /* owned; NULL: the test's own file */
  char *config_path; /* owned */
  ProgramDone done;  /* of the last run */
} Fixture;

static void
set_up(Fixture *fixture, gconstpointer data)
{
  fixture->format = data;
  fixture->kafka = mock_kafka_new(1);
  mock_kafka_create_topic(fixture->kafka, TOPIC, 1);
  mock_kafka_create_topic(fixture->kafka, "letters", 1);
  fixture->gateway = scripted_gateway_new(NULL);
  if (fixture->format->schema != NULL)
    fixture->schema_path = write_config("%s", fixture->format->schema);
  const char *schema = fixture->schema_path != NULL ? fixture->schema_path : TIDE_PROTOBUF_TEST_SET;
  g_autofree char *text =
      g_strdup_printf(yaml, mock_kafka_brokers(fixture->kafka), scripted_gateway_endpoint(fixture->gateway),
                      fixture->format->readings, schema);
  fixture->config_path = write_config("%s", text);
}

static void
tear_down(Fixture *fixture, gconstpointer unused)
{
  mock_kafka_free(fixture->kafka);
  scripted_gateway_free(fixture->gateway);
  if (fixture->schema_path != NULL)
    g_unlink(fixture->schema_path);
  g_free(fixture->schema_path);
  g_unlink(fixture->config_path);
  g_free(fixture->config_path);
  program_done_clear(&fixture->done);
}

/* Aborts unless it ends with @exit_code. */
static void
run(Fixture *fixture, const char *words, int exit_code)
{
  program_done_clear(&fixture->done);
  fixture->done = run_program(fixture->config_path, words);
  if (g_test_verbose())
    g_test_message("%s: %d\n%s%s", words, fixture->done.exit_code, fixture->done.output, fixture->done.errors);
  if (fixture->done.exit_code != exit_code)
    g_error("'%s' ended with %d:\n%s%s", words, fixture->done.exit_code, fixture->done.output, fixture->done.errors);
}

static void
test_rows_and_a_broken_message(Fixture *fixture, gconstpointer unused)
{
  const FormatCase *format = fixture->format;
  for (gsize i = 0; i < G_N_ELEMENTS(format->messages); i++)
    mock_kafka_produce(fixture->kafka, &(TideMockMessage){.topic = TOPIC, .payload = format->messages[i]});
  g_assert_true(mock_kafka_flush(fixture->kafka, tide_now_us() + TIMEOUT_US));
  run(fixture, "tables create", 0);
  run(fixture, "explain --offline --from-topic", 65);
  assert_prints(fixture->done.output, "partition 0, offset 1: rejected as parse: ");
  assert_prints(fixture->done.output, format->place);
  assert_prints(fixture->done.output, "a#1426535292000");
  assert_prints(fixture->done.output, "c#1426535292000");
  run(fixture, "run --until-end", 0);
  run(fixture, "scan METRIC --format csv", 0);
  assert_prints(fixture->done.output, "a#1426535292000,");
  assert_prints(fixture->done.output, "c#1426535292000,");
  assert_silent(fixture->done.output, "b#");
  run(fixture, "dead-letters list --format csv", 0);
  assert_prints(fixture->done.output, ",parse," TOPIC "/0/1,");
  assert_prints(fixture->done.output, format->place);
  run(fixture, "verify --to-end", 0);
  assert_prints(fixture->done.output, "METRIC      2        0      0      0           0         0\n");
  assert_prints(fixture->done.output, "1 message cannot be used (parse): nothing is expected of it\n");
  assert_prints(fixture->done.output, "all is right\n");
}

/* Three messages like the first one, a second apart, from a file of its own: each is a row. */
static void
test_simulated_messages(Fixture *fixture, gconstpointer unused)
{
  const TideBytes like = fixture->format->messages[0];
  g_autofree char *path = g_strdup_printf("%s.sample", fixture->config_path);
  g_assert_true(g_file_set_contents(path, (const char *)like.data, (gssize)like.len, NULL));
  g_autofree char *words = g_strdup_printf(
      "simulate --readings 3 --start-time 2015-03-16T19:48:12.500Z --topic " TOPIC " --sample %s", path);
  run(fixture, "tables create", 0);
  run(fixture, words, 0);
  g_unlink(path);
  run(fixture, "run --until-end", 0);
  run(fixture, "scan METRIC --format csv", 0);
  for (gint64 at_ms = G_GINT64_CONSTANT(1426535292500); at_ms < G_GINT64_CONSTANT(1426535295000); at_ms += 1000) {
    g_autofree char *row = g_strdup_printf("a#%" G_GINT64_FORMAT ",", at_ms);
    assert_prints(fixture->done.output, row);
  }
  run(fixture, "verify --to-end", 0);
  assert_prints(fixture->done.output, "all is right\n");
}

/* ---- the formats ---- */

#define AVRO_AT "\xC0\xF1\x88\xC2\x84\x53"

static const FormatCase avro = {
    .readings = "format: avro",
    .schema = "{\"type\":\"record\",\"name\":\"Reading\",\"fields\":[{\"name\":\"host\",\"type\":\"string\"},"
              "{\"name\":\"at\",\"type\":{\"type\":\"long\",\"logicalType\":\"timestamp-millis\"}},"
              "{\"name\":\"count\",\"type\":\"int\"}]}",
    .messages = {TIDE_BYTES_LITERAL("\x02\x61" AVRO_AT "\x0A"), TIDE_BYTES_LITERAL("\x02\x62" AVRO_AT "\x80"),
                 TIDE_BYTES_LITERAL("\x02\x63" AVRO_AT "\x0E")},
    .place = "in 'count', at byte 9",
};

/* Of plant.Reading in tests/formats/readings.proto: host, a count, and a Timestamp. */
#define HOST(letter) "\x0A\x01" letter
#define COUNT(byte) "\x20" byte
#define PROTOBUF_AT "\xBA\x01\x06\x08\xFC\xE6\x9C\xA8\x05"

static const FormatCase protobuf = {
    .readings = "format: protobuf, message: plant.Reading",
    .messages = {TIDE_BYTES_LITERAL(HOST("a") COUNT("\x05") PROTOBUF_AT), TIDE_BYTES_LITERAL(HOST("b") COUNT("\x80")),
                 TIDE_BYTES_LITERAL(HOST("c") COUNT("\x07") PROTOBUF_AT)},
    .place = "in 'count', at byte 4",
};

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
#define ADD(format)                                                                                                    \
  g_test_add("/schema-topic/rows-and-a-broken-message/" #format, Fixture, &format, set_up,                             \
             test_rows_and_a_broken_message, tear_down);                                                               \
  g_test_add("/schema-topic/simulated-messages/" #format, Fixture, &format, set_up, test_simulated_messages, tear_down)
  if (tide_avro_is_built_in()) {
    ADD(avro);
  }
  if (tide_protobuf_is_built_in()) {
    ADD(protobuf);
  }
  return g_test_run();
}
