/* A topic, one for dead letters, a gateway, and the program, which reads the one and writes to the others. */
#pragma once

#include "fault/gateway/scripted_gateway.h"
#include "fault/kafka/mock_kafka.h"
#include "fault/program/run_program.h"

#include <glib/gstdio.h>

#define TOPIC_SCENE_DEAD_LETTERS "letters"

typedef struct TopicScene {
  gconstpointer format; /* borrowed: what the test says of its messages */
  TideMockKafka *kafka;
  TideScriptedGateway *gateway;
  char *schema_path; /* owned; NULL: no file of its own */
  char *config_path; /* owned: the test's, to make */
  ProgramDone done;  /* of the last run */
} TopicScene;

/* @schema: (nullable): the text of a file */
static inline void
topic_scene_begin(TopicScene *scene, gconstpointer format, const char *topic, const char *schema)
{
  scene->format = format;
  scene->kafka = mock_kafka_new(1);
  mock_kafka_create_topic(scene->kafka, topic, 1);
  mock_kafka_create_topic(scene->kafka, TOPIC_SCENE_DEAD_LETTERS, 1);
  scene->gateway = scripted_gateway_new(NULL);
  if (schema != NULL)
    scene->schema_path = write_config("%s", schema);
}

static inline void
topic_scene_end(TopicScene *scene, gconstpointer unused)
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

/* Aborts unless it ends with @exit_code. */
static inline void
topic_scene_run(TopicScene *scene, const char *words, int exit_code)
{
  program_done_clear(&scene->done);
  scene->done = run_program(scene->config_path, words);
  if (g_test_verbose())
    g_test_message("%s: %d\n%s%s", words, scene->done.exit_code, scene->done.output, scene->done.errors);
  if (scene->done.exit_code != exit_code)
    g_error("'%s' ended with %d:\n%s%s", words, scene->done.exit_code, scene->done.output, scene->done.errors);
}
