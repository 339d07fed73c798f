/* Configurations for tests: a smallest good one, and forms of it with one place to fill in. */
#pragma once

#include "load_text.h"

#include <glib/gstdio.h>

/* The smallest good configuration, a line for each section. */
#define KAFKA "kafka: { brokers: b, group: g, topics: [t] }\n"
#define READINGS "readings: { time: { field: ts, format: epoch_ms } }\n"
#define HBASE "hbase: { gateways: [g] }\n"
#define COLUMNS "columns: { family: M, from: \"*\" }"
#define TABLES "tables: { T: { key: [{ field: host }, \"#\", { time: epoch_ms }], " COLUMNS " } }\n"
/* One with this as the key of its only table; line 4 is `tables: { T: { key: ...`, the key begins in column 21. */
#define WITH_KEY(key) KAFKA READINGS HBASE "tables: { T: { key: " key ", " COLUMNS " } }\n"
#define WITH_COLUMNS(columns)                                                                                          \
  KAFKA READINGS HBASE "tables: { T: { key: [{ field: host }, \"#\", { time: epoch_ms }], columns: " columns " } }\n"
#define WITH_CSV(csv) KAFKA "readings: { format: csv, csv: { " csv " }, time: record }\n" HBASE TABLES
#define WITH_LAYOUT(layout) KAFKA "readings: { time: record, " layout " }\n" HBASE TABLES
#define WITH_TIME(time) KAFKA "readings: { time: " time " }\n" HBASE TABLES
#define WITH_TABLE(rest)                                                                                               \
  KAFKA READINGS HBASE "tables: { T: { key: [{ field: host }, \"#\", { time: epoch_ms }], " COLUMNS ", " rest " } }\n"
#define WITH_PROPERTY(property)                                                                                        \
  "kafka: { brokers: \"b.example:9092\", group: g, topics: [t], librdkafka: { " property " } }\n" READINGS HBASE TABLES

/* A configuration of which nothing is said. (transfer full) */
static inline TideConfig *
load_good(const char *text)
{
  g_autoptr(GPtrArray) problems = NULL;
  TideConfig *config = load_config(text, &problems);
  g_autofree char *all = describe_problems(problems);
  g_assert_cmpstr(all, ==, "");
  g_assert_nonnull(config);
  return config;
}

/* What is printed of it loads, and prints, to the same. */
static inline void
assert_prints_to_the_same(const char *text)
{
  g_autoptr(TideConfig) config = load_good(text);
  g_autofree char *printed = tide_config_print(config);
  g_autoptr(TideConfig) again = load_good(printed);
  g_autofree char *printed_again = tide_config_print(again);
  g_assert_cmpstr(printed, ==, printed_again);
  g_assert_cmpuint(again->tables->len, ==, config->tables->len);
  for (guint i = 0; i < config->tables->len; i++) {
    const TideTable *table = g_ptr_array_index(config->tables, i);
    g_autofree char *key = tide_row_key_describe(table->key, config->names);
    g_autofree char *key_again = tide_row_key_describe(tide_config_find_table(again, table->name)->key, again->names);
    g_assert_cmpstr(key, ==, key_again);
  }
}

/* A directory of the test's own, and the paths of a configuration and one other file, "beside", in it. */
typedef struct ConfigFiles {
  char *directory;
  char *config_path;
  char *other_path;
} ConfigFiles;

static inline void
config_files_make(ConfigFiles *files, gconstpointer data)
{
  files->directory = g_dir_make_tmp("tidemark-config-XXXXXX", NULL);
  files->config_path = g_build_filename(files->directory, "tidemark.yaml", NULL);
  files->other_path = g_build_filename(files->directory, "beside", NULL);
}

static inline void
config_files_remove(ConfigFiles *files, gconstpointer data)
{
  g_remove(files->config_path);
  g_remove(files->other_path);
  g_rmdir(files->directory);
  g_free(files->config_path);
  g_free(files->other_path);
  g_free(files->directory);
}

#define FILE_TEST(path) TEST_WITH(ConfigFiles, config_files_make, config_files_remove, path)

/* A text with exactly one problem, which begins as @problem does. */
typedef struct ConfigProblemCase {
  const char *name;
  const char *text;
  const char *problem;
} ConfigProblemCase;

static inline void
assert_one_problem(const ConfigProblemCase *bad)
{
  g_autoptr(GPtrArray) problems = NULL;
  g_autoptr(TideConfig) config = load_config(bad->text, &problems);
  g_autofree char *all = describe_problems(problems);

  if (!g_str_has_prefix(all, bad->problem))
    g_error("got \"%s\", expected \"%s\"", all, bad->problem);
  if (problems->len != 1)
    g_error("more than one problem: %s", all);
  /* A warning does not stop a load, an error does. */
  g_assert_cmpint(config != NULL, ==, strstr(bad->problem, " warning: ") != NULL);
}

/* The key that a table makes of a reading, as HBase's shell prints it. @fields: name, text, ... of up to three. */
static inline char *
key_of(const TideConfig *config, const char *table, const char *const *fields, gint64 event_time_ms)
{
  guint32 n_names = tide_field_names_count(config->names);
  g_autofree guint32 *known = g_new0(guint32, n_names);
  TideField values[3] = {0};
  guint32 n = 0;

  for (; n < 3 && fields[2 * n] != NULL; n++) {
    TideBytes name = tide_bytes_of_string(fields[2 * n]);
    TideNameId id = tide_field_names_find(config->names, name);
    g_assert_cmpuint(id, !=, TIDE_NAME_NONE);
    values[n] = (TideField){id, TIDE_VALUE_STRING, name, tide_bytes_of_string(fields[2 * n + 1])};
    known[id] = n + 1;
  }
  TideReading reading = {.fields = values,
                         .n_fields = n,
                         .known = known,
                         .n_known = n_names,
                         .event_time_ns = event_time_ms * TIDE_NS_PER_MS};
  g_auto(TideBuffer) key = {0};
  TideReject reject = {0};
  g_assert_true(tide_row_key_append(tide_config_find_table(config, table)->key, &reading, &key, &reject));
  return tide_bytes_printable(tide_buffer_bytes(&key));
}
