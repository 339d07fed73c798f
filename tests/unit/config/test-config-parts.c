/* Clusters, patterns of topics, the mark of tables, what a reload changes, and which source a topic is of. */
#include "config/config_source.h"
#include "config/load/config_changes.h"
#include "config/tables_mark.h"
#include "config/topic_pattern.h"
#include "unit/config-texts.h"
#include "unit/load_text.h"
#include "unit/test_case.h"

#include <glib/gstdio.h>

/* ---- clusters ---- */

/* Files of config/examples/clusters load, with keys that are made here in place of those in /etc/tidemark. Those with
 * certificates are tried in tests/integration/test_tls.py. */

#define FOLDER TIDE_TEST_SOURCE_DIR "/config/examples/clusters"
#define KEYS "/etc/tidemark"

typedef struct Fixture {
  char *directory;
} Fixture;

/* Of tidemark@EXAMPLE.COM, as MIT Kerberos's file format has it: version 2, one entry with a key of 16 bytes. */
static void
write_keytab(const char *path)
{
  static const char entry[] = "\5\2\0\0\0\x36"
                              "\0\1\0\x0b"
                              "EXAMPLE.COM\0\x08tidemark"
                              "\0\0\0\1\0\0\0\0\1\0\x11\0\x10"
                              "0123456789abcdef";
  g_assert_true(g_file_set_contents_full(path, entry, sizeof entry - 1, G_FILE_SET_CONTENTS_NONE, 0600, NULL));
}

static void
setup(Fixture *fixture, gconstpointer data)
{
  fixture->directory = g_dir_make_tmp("tidemark-clusters-XXXXXX", NULL);
  g_autofree char *keytab = g_build_filename(fixture->directory, "tidemark.keytab", NULL);
  write_keytab(keytab);
}

static void
teardown(Fixture *fixture, gconstpointer data)
{
  g_autofree char *keytab = g_build_filename(fixture->directory, "tidemark.keytab", NULL);
  g_assert_cmpint(g_remove(keytab), ==, 0);
  g_assert_cmpint(g_rmdir(fixture->directory), ==, 0);
  g_free(fixture->directory);
}

static void
test_loads(Fixture *fixture, gconstpointer data)
{
  const char *name = data;
  g_autofree char *path = g_build_filename(FOLDER, name, NULL), *text = NULL;
  g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
  g_auto(GStrv) parts = g_strsplit(text, KEYS "/", -1);
  g_autofree char *folder = g_strconcat(fixture->directory, "/", NULL), *local = g_strjoinv(folder, parts);
  g_autoptr(TideConfig) config G_GNUC_UNUSED = load_good(local);
}

/* ---- topic pattern ---- */

/* Which topics an item of kafka.topics means: the pattern language is librdkafka's, not that of GLib. */

TEST("/topic-pattern/matches-as-librdkafka-does")
{
  static const struct {
    const char *wanted;
    const char *name;
    gboolean matches;
  } cases[] = {
      {"metrics", "metrics", TRUE},
      {"metrics", "metrics.more", FALSE},
      {"m.trics", "metrics", FALSE}, /* a name is no pattern */
      {"^metrics", "metrics.more", TRUE},
      {"^metrics$", "metrics.more", FALSE},
      {"^metrics", "more.metrics", FALSE},
      {"^(a|b)[[:digit:]]+$", "b17", TRUE},
      {"^a{2}$", "aa", TRUE},
      {"^a\\d$", "a1", FALSE}, /* Perl's, not POSIX's */
      {"^(", "(", FALSE},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_test_message("'%s' and '%s'", cases[i].wanted, cases[i].name);
    g_assert_cmpint(tide_topic_pattern_matches(cases[i].wanted, cases[i].name), ==, cases[i].matches);
  }
}

TEST("/topic-pattern/one-of-several")
{
  char *wanted[] = {(char *)"^(", (char *)"a", (char *)"^b", NULL}, *none[] = {NULL};
  g_assert_true(tide_topic_pattern_any_matches(wanted, "a"));
  g_assert_true(tide_topic_pattern_any_matches(wanted, "bb"));
  g_assert_false(tide_topic_pattern_any_matches(wanted, "c"));
  g_assert_false(tide_topic_pattern_any_matches(none, "a"));
}

TEST("/topic-pattern/one-that-cannot-be-read")
{
  g_autofree char *problem = tide_topic_pattern_problem("^(");
  g_assert_nonnull(problem);
  g_assert_null(tide_topic_pattern_problem("^(a)"));
  g_assert_null(tide_topic_pattern_problem("("));
}

/* ---- tables mark ---- */

/* The mark of a configuration's tables: the same for the same tables, whatever else differs, and another for any that
 * is not. */

#define METRIC "  METRIC: { key: [ { field: host }, { time: epoch_ms } ], columns: { family: M, from: \"*\" } }\n"
#define LATEST "  CURRENT: { latest: merge, key: [ { field: host } ], columns: { family: M, from: [ a, b ] } }\n"

static guint32
mark_of(const char *kafka, const char *tables)
{
  g_autofree char *text = g_strdup_printf("kafka: { brokers: [\"127.0.0.1:1\"], group: g, topics: [%s] }\n"
                                          "hbase: { gateways: [\"127.0.0.1:2\"] }\n"
                                          "readings: { format: json, time: { field: ts, format: epoch_ms } }\n"
                                          "tables:\n%s",
                                          kafka, tables);
  g_autoptr(TideConfig) config = load_text(text);
  return tide_config_tables_mark(config);
}

TEST("/tables-mark/C8-same-tables")
{
  guint32 mark = mark_of("t", METRIC LATEST);
  g_assert_cmpuint(mark, !=, 0);
  g_assert_cmpuint(mark_of("other, topics", METRIC LATEST), ==, mark);
  g_assert_cmpuint(mark_of("t", LATEST "  # in another order\n" METRIC), ==, mark);
  g_assert_cmpuint(mark_of("t", METRIC
                           "  CURRENT: { latest: merge, key: [ { field: host } ], columns: { family: M, from: [ b, "
                           "a ] } }\n"),
                   ==, mark);
}

TEST("/tables-mark/C8-other-tables")
{
  static const char *const others[] = {
      METRIC,
      LATEST,
      METRIC LATEST "  MORE: { key: [ { field: a } ], columns: { family: M, from: \"*\" } }\n",
      METRIC
      "  CURRENT: { latest: packed, key: [ { field: host } ], columns: { family: M, from: [ a, b ], qualifier: q, "
      "pack: json } }\n",
      METRIC "  CURRENT: { latest: merge, key: [ { field: a } ], columns: { family: M, from: [ a, b ] } }\n",
      METRIC "  CURRENT: { latest: merge, key: [ { field: host } ], columns: { family: N, from: [ a, b ] } }\n",
      METRIC "  CURRENT: { latest: merge, key: [ { field: host } ], columns: { family: M, from: [ a, c ] } }\n",
      METRIC "  CURRENT: { latest: merge, key: [ { field: host } ], columns: { family: M, from: [ a ] } }\n",
      METRIC "  CURRENT: { latest: merge, key: [ { field: host } ], columns: { family: M, from: \"*\" } }\n",
  };
  guint32 mark = mark_of("t", METRIC LATEST);
  for (guint i = 0; i < G_N_ELEMENTS(others); i++)
    g_assert_cmpuint(mark_of("t", others[i]), !=, mark);
}

/* ---- config changes ---- */

#define KAFKA_WITH(options) "kafka: { brokers: b, group: g, topics: [t], " options " }\n"
#define READINGS_WITH(options) "readings: { time: { field: ts, format: epoch_ms }, " options " }\n"

/* Those that reload, or those that do not, one a word. (transfer full) */
static char *
paths_of(const GPtrArray *changes, gboolean reloads)
{
  g_autoptr(GString) paths = g_string_new(NULL);
  for (guint i = 0; i < changes->len; i++) {
    const TideConfigChange *change = changes->pdata[i];
    if (change->reloads == reloads)
      g_string_append_printf(paths, "%s%s", paths->len > 0 ? " " : "", change->path);
  }
  return g_strdup(paths->str);
}

/* One reload. Returns: what is in force then, which `check` takes as it is printed. */
static void
assert_reload(const char *before, const char *after, const char *taken_over, const char *needs_restart)
{
  g_autoptr(TideConfig) config = load_good(before);
  g_autoptr(TideConfig) new = load_good(after);
  g_autoptr(GPtrArray) changes = tide_config_changes(config, new);
  g_autofree char *taken = paths_of(changes, TRUE), *left = paths_of(changes, FALSE);
  g_assert_cmpstr(taken, ==, taken_over);
  g_assert_cmpstr(left, ==, needs_restart);
  tide_config_take_over(config, new, changes);
  g_autofree char *in_force = tide_config_print(config);
  g_autoptr(TideConfig) again G_GNUC_UNUSED = load_good(in_force);
}

#define TWO_SOURCES(options)                                                                                           \
  "kafka: { brokers: b, group: g }\n"                                                                                  \
  "sources: { a: { topics: [x], readings: { time: record" options                                                      \
  " } }, b: { topics: [\"^y\"], readings: { format: influx }, when: { field: host, present: true } } }\n"

TEST("/config-changes/sources-wait-for-a-restart")
{
  assert_reload(TWO_SOURCES("") HBASE TABLES, TWO_SOURCES(", max_depth: 3") HBASE TABLES, "", "sources");
  assert_reload(KAFKA READINGS HBASE TABLES, TWO_SOURCES("") HBASE TABLES, "",
                "kafka.topics readings.time.field readings.time.format sources");
  assert_reload(TWO_SOURCES("") HBASE TABLES, TWO_SOURCES("") HBASE TABLES "limits: { memory: 64MiB }\n",
                "limits.memory", "");
  /* The largest message of a source is bound to the memory as any. */
  assert_reload(TWO_SOURCES(", max_message_size: 64MiB") HBASE TABLES,
                TWO_SOURCES("") HBASE TABLES "limits: { memory: 64MiB }\n", "", "sources limits.memory");
}

#define RATED(rate) "tables:\n  METRIC: { " rate "key: [ { field: host }, { time: epoch_ms } ], " COLUMNS " }\n"

TEST("/config-changes/rates-of-tables-are-taken-over")
{
  assert_reload(KAFKA READINGS HBASE RATED(""), KAFKA READINGS HBASE RATED("rows_per_second: 100, "),
                "tables.METRIC.rows_per_second", "");
  assert_reload(KAFKA READINGS HBASE RATED("rows_per_second: 100, "), KAFKA READINGS HBASE RATED(""),
                "tables.METRIC.rows_per_second", "");
  assert_reload(KAFKA READINGS HBASE RATED("rows_per_second: 1, "),
                KAFKA READINGS HBASE RATED("rows_per_second: 2, batch_prefix: 2, "), "tables.METRIC.rows_per_second",
                "tables");
  assert_reload(KAFKA READINGS HBASE TABLES, KAFKA READINGS HBASE TABLES "limits: { rows_per_second: 9 }\n",
                "limits.rows_per_second", "");
}

/* What is printed is what is in force, also after a reload. */
TEST("/config-changes/rate-is-printed")
{
  g_autoptr(TideConfig) config = load_good(KAFKA READINGS HBASE RATED("rows_per_second: 7, "));
  g_autoptr(TideConfig) new = load_good(KAFKA READINGS HBASE RATED("rows_per_second: 8, "));
  g_autoptr(GPtrArray) changes = tide_config_changes(config, new);
  tide_config_take_over(config, new, changes);
  g_autofree char *in_force = tide_config_print(config);
  g_assert_nonnull(strstr(in_force, "\n    rows_per_second: 8\n"));
  g_assert_null(strstr(in_force, "rows_per_second: 7"));
}

/* The one half would be in force without the other, which needs a restart. */
TEST("/config-changes/what-only-holds-together-waits")
{
  assert_reload(KAFKA READINGS_WITH("max_message_size: 64MiB") HBASE TABLES,
                KAFKA_WITH("session_timeout: 5m") READINGS HBASE TABLES
                "limits: { drain_timeout: 4m, memory: 16MiB }\nbatch: { max_bytes: 512KiB }\n",
                "batch.max_bytes",
                "kafka.session_timeout readings.max_message_size limits.memory limits.drain_timeout");
  assert_reload(KAFKA_WITH("max_poll_interval: 50s") READINGS HBASE TABLES,
                KAFKA READINGS HBASE TABLES "batch: { latest_window_max: 1m }\n", "",
                "kafka.max_poll_interval batch.latest_window_max");
}

TEST("/config-changes/what-holds-without-the-rest-is-taken-over")
{
  assert_reload(KAFKA READINGS HBASE TABLES,
                KAFKA_WITH("session_timeout: 1m") READINGS_WITH("max_message_size: 64MiB") HBASE TABLES
                "limits: { drain_timeout: 44s, memory: 512MiB }\n",
                "limits.memory limits.drain_timeout", "kafka.session_timeout readings.max_message_size");
}

TEST("/config-changes/both-halves-are-taken-over")
{
  assert_reload(KAFKA READINGS HBASE TABLES "dead_letters: { max_size: 64KiB, max_file_size: 64KiB }\n",
                KAFKA READINGS HBASE TABLES "dead_letters: { max_size: 1GiB, max_file_size: 1GiB }\n",
                "dead_letters.max_file_size dead_letters.max_size", "");
}

/* ---- config source ---- */

#define TIMED "readings: { time: record, on_bad_message: stop, max_message_size: "
#define SOURCES                                                                                                        \
  "kafka: { brokers: b, group: g }\n"                                                                                  \
  "sources:\n"                                                                                                         \
  "  first: { topics: [\"^a\"], " TIMED "64KiB } }\n"                                                                  \
  "  second: { topics: [\"^ab\", b.c], " TIMED "2MiB } }\n"                                                            \
  "  third: { topics: d, " TIMED "1MiB } }\n"
#define TABLES_OF_SOURCES                                                                                              \
  "tables:\n"                                                                                                          \
  "  ALL: { key: [{ field: host }, \"#\", { time: epoch_ms }], " COLUMNS " }\n"                                        \
  "  LAST: { sources: [third, second], time: record, key: [{ field: host }, \"#\", { time: epoch_ms }], " COLUMNS      \
  " }\n"

static const char *
name_of(const TideConfig *config, const char *topic)
{
  const TideConfigSource *source = tide_config_source_of_topic(config, tide_bytes_of_string(topic));
  return source != NULL ? source->name : NULL;
}

TEST("/config-source/topic-has-one-source")
{
  g_autoptr(TideConfig) config = load_good(SOURCES HBASE TABLES_OF_SOURCES);
  g_assert_cmpstr(name_of(config, "a"), ==, "first");
  g_assert_cmpstr(name_of(config, "abc"), ==, "first"); /* both patterns match */
  g_assert_cmpstr(name_of(config, "b.c"), ==, "second");
  g_assert_cmpstr(name_of(config, "d"), ==, "third");
  g_assert_cmpstr(name_of(config, "^ab"), ==, "second"); /* the pattern itself, where no topic is known */
  g_assert_null(name_of(config, "bxc"));
  g_assert_null(name_of(config, ""));
  g_autofree char *topics = g_strjoinv(" ", config->kafka.topics);
  g_assert_cmpstr(topics, ==, "^a ^ab b.c d");
}

/* The last may read whatever the others do not, whose patterns it would match if they were topics. */
TEST("/config-source/pattern-may-match-a-pattern")
{
  g_autoptr(TideConfig) config =
      load_good("kafka: { brokers: b, group: g }\n"
                "sources:\n"
                "  boards: { topics: [\"^boards[.]\"], readings: { time: record } }\n"
                "  others: { topics: [\"^.*\"], readings: { time: record } }\n" HBASE TABLES);
  g_assert_cmpstr(name_of(config, "boards.7"), ==, "boards");
  g_assert_cmpstr(name_of(config, "boards7"), ==, "others");
}

/* kafka.topics and readings make one source, which reads whatever it is given. */
TEST("/config-source/short-form")
{
  g_autoptr(TideConfig) config = load_good(KAFKA READINGS HBASE TABLES);
  const TideConfigSource *source = tide_config_source_of_topic(config, TIDE_BYTES_LITERAL("whatever"));
  g_assert_cmpuint(config->sources->len, ==, 1);
  g_assert_null(source->name);
  g_assert_true(source->readings == &config->readings);
  g_assert_true(tide_config_check_topic(config, NULL, NULL));
  g_assert_true(tide_config_check_topic(config, "whatever", NULL));
  g_assert_true(tide_config_keeps_bad_messages(config));
}

TEST("/config-source/topic-is-asked-for")
{
  g_autoptr(TideConfig) config = load_good(SOURCES HBASE TABLES_OF_SOURCES);
  g_autoptr(GError) none = NULL, other = NULL;
  g_assert_true(tide_config_check_topic(config, "abc", NULL));
  g_assert_false(tide_config_check_topic(config, NULL, &none));
  g_assert_nonnull(strstr(none->message, "has 3 sources with different formats: name the topic with '--topic'"));
  g_assert_false(tide_config_check_topic(config, "x", &other));
  g_assert_nonnull(strstr(other->message, "reads the topic 'x'"));
}

TEST("/config-source/tables")
{
  g_autoptr(TideConfig) config = load_good(SOURCES HBASE TABLES_OF_SOURCES);
  const TideTable *all = tide_config_find_table(config, "ALL"), *last = tide_config_find_table(config, "LAST");
  const TideConfigSource *first = g_ptr_array_index(config->sources, 0), *third = g_ptr_array_index(config->sources, 2);
  g_assert_true(tide_config_takes_from(all, first));
  g_assert_true(tide_config_takes_from(all, third));
  g_assert_false(tide_config_takes_from(last, first));
  g_assert_true(tide_config_takes_from(last, third));
  g_assert_cmpstr(tide_config_first_source(config, last)->name, ==, "second");
  g_assert_true(tide_config_time_of(all, first) == &first->readings->time);
  g_assert_true(tide_config_time_of(last, third) == last->time);
}

TEST("/config-source/what-holds-for-all")
{
  g_autoptr(TideConfig) config = load_good(SOURCES HBASE TABLES_OF_SOURCES);
  g_assert_cmpuint(tide_config_max_message_bytes(config), ==, 2 * 1024 * 1024);
  g_assert_false(tide_config_keeps_bad_messages(config));
}

TEST("/config-source/printed-loads-again")
{
  g_autoptr(TideConfig) config = load_good(SOURCES HBASE TABLES_OF_SOURCES);
  g_autofree char *printed = tide_config_print(config);
  g_autoptr(TideConfig) again = load_good(printed);
  g_autofree char *reprinted = tide_config_print(again);
  g_assert_cmpstr(printed, ==, reprinted);
  g_assert_null(strstr(printed, "\nreadings:"));
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  test_cases_add();
  g_test_add("/clusters/loopback", Fixture, "loopback.yaml", setup, test_loads, teardown);
  g_test_add("/clusters/kerberised-sasl", Fixture, "kerberised-sasl.yaml", setup, test_loads, teardown);
  return g_test_run();
}
