/* nftw() */
#define _GNU_SOURCE
#include "fault/program/check_scene.h"

#include "fault/pipeline/pipeline_fixture.h"
#include "util/clock.h"

#include <ftw.h>
#include <glib/gstdio.h>
#include <unistd.h>

#define NOBODY 65534

void
check_scene_set(char **text, char *value)
{
  g_free(*text);
  *text = value;
}

void
check_scene_add(char **text, const char *more)
{
  check_scene_set(text, g_strconcat(*text, more, NULL));
}

char *
check_scene_path(const CheckScene *scene, const char *name)
{
  return g_build_filename(scene->directory, name, NULL);
}

void
check_scene_write_file(const CheckScene *scene, const char *name, const char *text, guint mode)
{
  g_autofree char *path = check_scene_path(scene, name);
  g_assert_true(g_file_set_contents(path, text, -1, NULL));
  g_assert_cmpint(g_chmod(path, mode), ==, 0);
}

char *
check_scene_make_directory(const CheckScene *scene, const char *name, guint mode)
{
  char *path = check_scene_path(scene, name);
  g_assert_cmpint(g_mkdir_with_parents(path, 0755), ==, 0); /* two defects may make the same */
  g_assert_cmpint(g_chmod(path, mode), ==, 0);
  return path;
}

/* ---- a good one ---- */

static const char default_tables[] =
    "  METRIC: { key: [ { field: host }, \"#\", { time: epoch_ms } ], columns: { family: M, from: \"*\" } }\n"
    "  CURRENT_METRIC: { latest: merge, key: [ { field: host } ], columns: { family: M, from: \"*\" } }\n";

/* What an operator may choose freely. */
static void
choose(CheckScene *scene)
{
  static const char *const kafka[] = {"",
                                      ", threads: 1",
                                      ", threads: 5",
                                      ", assignment: eager",
                                      ", start: latest",
                                      ", start: 2026-01-01",
                                      ", instance: \"a-%H\""};
  static const char *const limits[] = {"", ", memory: 33GiB", ", memory: 16MiB", ", memory: 1000GiB"};
  static const char *const topics[] = {"metrics", "\"^metr.*\"", "metrics, others"};
  static const char *const dead_letters[] = {"topic: letters", "file: letters.jsonl", "file: ./below/letters.jsonl",
                                             ""};
  static const char *const services[] = {"startup: wait", "startup: fail"};
  static const char *const readings[] = {"", ", on_bad_message: skip", ", on_bad_reading: reading"};
#define ANY(list) (list)[g_rand_int_range(scene->random, 0, G_N_ELEMENTS(list))]
  check_scene_set(&scene->kafka_more, g_strdup(ANY(kafka)));
  check_scene_set(&scene->limits, g_strdup(ANY(limits)));
  check_scene_set(&scene->topics, g_strdup(ANY(topics)));
  check_scene_set(&scene->dead_letters, g_strdup(ANY(dead_letters)));
  check_scene_set(&scene->service, g_strconcat("http: \"127.0.0.1:0\", log_format: text, ", ANY(services), NULL));
  check_scene_set(&scene->readings,
                  g_strconcat("format: json, time: { field: ts, format: epoch_ms }", ANY(readings), NULL));
#undef ANY
  if (g_rand_boolean(scene->random))
    scene->state_directory = check_scene_make_directory(scene, "state", 0755);
  if (g_rand_boolean(scene->random))
    check_scene_set(&scene->working_directory, g_strdup("/"));
}

static void
start_servers(CheckScene *scene)
{
  const char *const topics[] = {"metrics", "others", "letters"};
  scene->kafka = mock_kafka_new(1);
  for (gsize i = 0; i < G_N_ELEMENTS(topics); i++)
    mock_kafka_create_topic(scene->kafka, topics[i], 1);
  TideFakeHBase *hbase = fake_hbase_new();
  TideGatewayOptions options = {.hbase = hbase,
                                .framed = g_rand_int_range(scene->random, 0, 4) == 0,
                                .compact = g_rand_int_range(scene->random, 0, 4) == 0};
  for (guint i = 0; i < CHECK_SCENE_GATEWAYS; i++)
    scene->gateways[i] = scripted_gateway_new(&options);
  fake_hbase_unref(hbase);
  scripted_gateway_create_table(scene->gateways[0], "METRIC", "M", NULL);
  scripted_gateway_create_table(scene->gateways[0], "CURRENT_METRIC", "M", NULL);
  scripted_gateway_create_table(scene->gateways[0], "tidemark_schemes", "s", NULL);
  mock_kafka_produce_text(scene->kafka, "metrics", 0, "{\"host\":\"host1\",\"ts\":1785069296000,\"v\":1}");
  mock_kafka_produce_text(scene->kafka, "metrics", 0, "no reading");
  g_assert_true(mock_kafka_flush(scene->kafka, pipeline_fixture_deadline_us()));
}

CheckScene *
check_scene_new(guint32 seed)
{
  CheckScene *scene = g_new0(CheckScene, 1);
  scene->random = g_rand_new_with_seed(seed);
  scene->directory = g_dir_make_tmp("tidemark-scene-XXXXXX", NULL);
  g_assert_nonnull(scene->directory);
  g_assert_cmpint(g_chmod(scene->directory, 0755), ==, 0);
  scene->mode = 0640;
  scene->held_fd = -1;
  g_autofree char *below G_GNUC_UNUSED = check_scene_make_directory(scene, "below", 0755);
  scene->working_directory = g_strdup(scene->directory);
  start_servers(scene);
  choose(scene);
  scene->brokers = g_strdup(mock_kafka_brokers(scene->kafka));
  scene->properties = g_strdup("fetch.wait.max.ms: 10");
  scene->gateway_list = g_strdup_printf("\"%s\", \"%s\"", scripted_gateway_endpoint(scene->gateways[0]),
                                        scripted_gateway_endpoint(scene->gateways[1]));
  scene->hbase_more = g_strdup("");
  scene->tables = g_strdup(default_tables);
  scene->more = g_strdup("");
  return scene;
}

static int
remove_entry(const char *path, const struct stat *info, int kind, struct FTW *walk)
{
  return remove(path);
}

static int
give_away(const char *path, const struct stat *info, int kind, struct FTW *walk)
{
  return lchown(path, NOBODY, NOBODY);
}

void
check_scene_free(CheckScene *scene)
{
  if (scene->held_fd >= 0)
    close(scene->held_fd);
  nftw(scene->directory, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
  for (guint i = 0; i < CHECK_SCENE_GATEWAYS; i++)
    scripted_gateway_free(scene->gateways[i]);
  mock_kafka_free(scene->kafka);
  g_rand_free(scene->random);
  char *owned[] = {scene->directory,  scene->brokers,         scene->topics,           scene->kafka_more,
                   scene->properties, scene->gateway_list,    scene->hbase_more,       scene->readings,
                   scene->tables,     scene->dead_letters,    scene->limits,           scene->service,
                   scene->more,       scene->state_directory, scene->working_directory};
  for (gsize i = 0; i < G_N_ELEMENTS(owned); i++)
    g_free(owned[i]);
  g_free(scene);
}

char *
check_scene_config_path(const CheckScene *scene)
{
  return check_scene_path(scene, "tidemark.yaml");
}

char *
check_scene_write(CheckScene *scene)
{
  char *text = g_strdup_printf("kafka: { brokers: \"%s\", group: tidemark, topics: [%s], session_timeout: 6s%s,\n"
                               "  librdkafka: { %s } }\n"
                               "hbase: { gateways: [%s], connect_timeout: 1s, call_timeout: 5s%s }\n"
                               "readings: { %s }\n"
                               "tables:\n%s"
                               "dead_letters: { %s }\n"
                               "limits: { drain_timeout: 3s%s }\n"
                               "service: { %s }\n%s",
                               scene->brokers, scene->topics, scene->kafka_more, scene->properties, scene->gateway_list,
                               scene->hbase_more, scene->readings, scene->tables, scene->dead_letters, scene->limits,
                               scene->service, scene->more);
  if (scene->as_nobody && geteuid() == 0)
    nftw(scene->directory, give_away, 8, FTW_PHYS);
  check_scene_write_file(scene, "tidemark.yaml", text, scene->mode);
  if (scene->as_nobody && geteuid() == 0 && scene->mode != 0600) {
    g_autofree char *path = check_scene_config_path(scene);
    g_assert_cmpint(chown(path, NOBODY, NOBODY), ==, 0);
  }
  return text;
}
