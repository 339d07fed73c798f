/* The program, and what is around it: a Kafka cluster, a gateway, a configuration, each where the test has it. */
#pragma once

#include "fault/gateway/scripted_gateway.h"
#include "fault/kafka/mock_kafka.h"
#include "fault/program/run_program.h"

#include <glib/gstdio.h>

#define PROGRAM_SCENE_LETTERS "letters" /* the topic of dead letters */

typedef struct ProgramScene {
  gconstpointer format;         /* borrowed: what the test says of its messages */
  TideMockKafka *kafka;         /* owned; NULL: none */
  TideScriptedGateway *gateway; /* owned; NULL: none */
  char *schema_path;            /* owned; NULL: no file of its own */
  char *config_path;            /* owned: the test's, to make */
  ProgramDone done;             /* of the last run */
} ProgramScene;

/* Kafka with @topic, of @n_partitions, and one for dead letters. */
static inline void
program_scene_begin_kafka(ProgramScene *scene, const char *topic, gint32 n_partitions)
{
  scene->kafka = mock_kafka_new(1);
  mock_kafka_create_topic(scene->kafka, topic, n_partitions);
  mock_kafka_create_topic(scene->kafka, PROGRAM_SCENE_LETTERS, n_partitions);
}

/* With a gateway beside it. @schema: (nullable): the text of a file */
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

/* @input: (nullable). Returns: the exit code. */
static inline int
program_scene_try(ProgramScene *scene, const char *words, const char *input)
{
  program_done_clear(&scene->done);
  scene->done = run_program_with_input(scene->config_path, words, input);
  if (g_test_verbose())
    g_test_message("%s: %d\n%s%s", words, scene->done.exit_code, scene->done.output, scene->done.errors);
  return scene->done.exit_code;
}

/* Aborts unless it ends with @exit_code. */
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
