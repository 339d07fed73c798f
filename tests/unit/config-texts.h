/* Configurations for tests: a smallest good one, and forms of it with one place to fill in. */
#pragma once

#include "config/config.h"

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
#define WITH_TIME(time) KAFKA "readings: { time: " time " }\n" HBASE TABLES
#define WITH_TABLE(rest)                                                                                               \
  KAFKA READINGS HBASE "tables: { T: { key: [{ field: host }, \"#\", { time: epoch_ms }], " COLUMNS ", " rest " } }\n"
#define WITH_PROPERTY(property)                                                                                        \
  "kafka: { brokers: \"b.example:9092\", group: g, topics: [t], librdkafka: { " property " } }\n" READINGS HBASE TABLES

static inline TideConfig *
load_config(const char *text, GPtrArray **ret_problems)
{
  return tide_config_load_text("test.yaml", tide_bytes_of_string(text), ret_problems);
}

/* "L:C error: text" of each, one a line. */
static inline char *
describe_problems(const GPtrArray *problems)
{
  GString *all = g_string_new(NULL);

  for (guint i = 0; i < problems->len; i++) {
    const TideConfigProblem *problem = g_ptr_array_index(problems, i);
    g_string_append_printf(all, "%u:%u %s: %s\n", problem->line, problem->column,
                           problem->severity == TIDE_CONFIG_ERROR ? "error" : "warning", problem->text);
  }
  return g_string_free(all, FALSE);
}
