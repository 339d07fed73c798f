/* The program and its surroundings: a Kafka cluster, a gateway and a configuration, each if the test has it. */
#pragma once

#include "fault/gateway/scripted_gateway.h"
#include "fault/kafka/mock_kafka.h"
#include "fault/program/run_program.h"
#include "unit/test_case.h"
#include "util/clock.h"

#include <glib/gstdio.h>

/* Far longer than any step, so only a failure waits for it. */
#define TIMEOUT_US (240 * TIDE_US_PER_S)

#define PROGRAM_SCENE_LETTERS "letters" /* the topic of dead letters */

typedef struct ProgramScene {
  gconstpointer format;         /* borrowed: the test's description of its messages */
  TideMockKafka *kafka;         /* owned; NULL: none */
  TideScriptedGateway *gateway; /* owned; NULL: none */
  char *schema_path;            /* owned; NULL: no schema file */
  char *config_path;            /* owned: created by the test */
  ProgramDone done;             /* of the last run */
} ProgramScene;

/* Starts Kafka with @topic, which has @n_partitions, and a topic for dead letters. */
static inline void
program_scene_begin_kafka(ProgramScene *scene, const char *topic, gint32 n_partitions)
{
  scene->kafka = mock_kafka_new(1);
  mock_kafka_create_topic(scene->kafka, topic, n_partitions);
  mock_kafka_create_topic(scene->kafka, PROGRAM_SCENE_LETTERS, n_partitions);
}

/* Also starts a gateway. @schema: (nullable): the text of a schema file */
static inline void
program_scene_begin_format(ProgramScene *scene, gconstpointer format, const char *topic, const char *schema)
{
  scene->format = format;
  program_scene_begin_kafka(scene, topic, 1);
  scene->gateway = scripted_gateway_new(NULL);
  if (schema != NULL)
    scene->schema_path = write_config("%s", schema);
}

static inline void
program_scene_end(ProgramScene *scene, gconstpointer unused)
{
  mock_kafka_free(scene->kafka);
  scripted_gateway_free(scene->gateway);
  if (scene->schema_path != NULL)
    g_unlink(scene->schema_path);
  g_free(scene->schema_path);
  g_unlink(scene->config_path);
  g_free(scene->config_path);
  program_done_clear(&scene->done);
}

/* A test with a scene that the test program's set_up() creates. */
#define PROGRAM_TEST(path) TEST_WITH(ProgramScene, set_up, program_scene_end, path)
#define PROGRAM_TEST_OF(data, path) TEST_OF(ProgramScene, data, set_up, program_scene_end, path)

/* Replaces the configuration by @text, with @endpoint for its "%s". */
static inline void
program_scene_configure(ProgramScene *scene, const char *text, const char *endpoint)
{
  if (scene->config_path != NULL)
    g_unlink(scene->config_path);
  g_free(scene->config_path);
  scene->config_path = write_config(text, endpoint);
}

/* Runs the program once all produced messages are in their topic. @input: (nullable). Returns: the exit code. */
static inline int
program_scene_try(ProgramScene *scene, const char *words, const char *input)
{
  if (scene->kafka != NULL)
    g_assert_true(mock_kafka_flush(scene->kafka, tide_now_us() + TIMEOUT_US));
  program_done_clear(&scene->done);
  scene->done = run_program_with_input(scene->config_path, words, input);
  if (g_test_verbose())
    g_test_message("%s: %d\n%s%s", words, scene->done.exit_code, scene->done.output, scene->done.errors);
  return scene->done.exit_code;
}

/* Aborts unless the program exits with @exit_code. */
static inline void
program_scene_run_with_input(ProgramScene *scene, const char *words, const char *input, int exit_code)
{
  if (program_scene_try(scene, words, input) != exit_code)
    g_error("'%s' ended with %d:\n%s%s", words, scene->done.exit_code, scene->done.output, scene->done.errors);
}

static inline void
program_scene_run(ProgramScene *scene, const char *words, int exit_code)
{
  program_scene_run_with_input(scene, words, NULL, exit_code);
}

/* Likewise, and unless it prints @part on standard output or error. */
static inline void
program_scene_prints(ProgramScene *scene, const char *words, int exit_code, const char *part)
{
  program_scene_run(scene, words, exit_code);
  assert_prints(scene->done.output, part);
}

static inline void
program_scene_tells(ProgramScene *scene, const char *words, int exit_code, const char *part)
{
  program_scene_run(scene, words, exit_code);
  assert_prints(scene->done.errors, part);
}

/* Writes one row in family M like the daemon. */
static inline void
program_scene_put(ProgramScene *scene, const char *table, const char *row, const char *qualifier, gint64 time_ms,
                  const char *value)
{
  TideFakeCell cell = {.family = TIDE_BYTES_LITERAL("M"),
                       .qualifier = tide_bytes_of_string(qualifier),
                       .value = tide_bytes_of_string(value),
                       .timestamp_ms = time_ms};
  TideFakeRow put = {.row = tide_bytes_of_string(row), .cells = &cell, .n_cells = 1};
  g_auto(TideFakeError) error = {0};
  g_assert_true(
      fake_hbase_put(scripted_gateway_hbase(scene->gateway), table, &put, 1, (TideFakeOrigin){0}, NULL, NULL, &error));
}
