#include "config/load/config_changes.h"
#include "unit/config-texts.h"

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
  g_autoptr(TideConfig) again = load_good(in_force);
}

#define TWO_SOURCES(options)                                                                                           \
  "kafka: { brokers: b, group: g }\n"                                                                                  \
  "sources: { a: { topics: [x], readings: { time: record" options                                                      \
  " } }, b: { topics: [\"^y\"], readings: { format: influx }, when: { field: host, present: true } } }\n"

static void
test_sources_wait_for_a_restart(void)
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

/* The one half would be in force without the other, which needs a restart. */
static void
test_what_only_holds_together_waits(void)
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

static void
test_what_holds_without_the_rest_is_taken_over(void)
{
  assert_reload(KAFKA READINGS HBASE TABLES,
                KAFKA_WITH("session_timeout: 1m") READINGS_WITH("max_message_size: 64MiB") HBASE TABLES
                "limits: { drain_timeout: 44s, memory: 512MiB }\n",
                "limits.memory limits.drain_timeout", "kafka.session_timeout readings.max_message_size");
}

static void
test_both_halves_are_taken_over(void)
{
  assert_reload(KAFKA READINGS HBASE TABLES "dead_letters: { max_size: 64KiB, max_file_size: 64KiB }\n",
                KAFKA READINGS HBASE TABLES "dead_letters: { max_size: 1GiB, max_file_size: 1GiB }\n",
                "dead_letters.max_file_size dead_letters.max_size", "");
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/config-changes/what-only-holds-together-waits", test_what_only_holds_together_waits);
  g_test_add_func("/config-changes/what-holds-without-the-rest-is-taken-over",
                  test_what_holds_without_the_rest_is_taken_over);
  g_test_add_func("/config-changes/both-halves-are-taken-over", test_both_halves_are_taken_over);
  g_test_add_func("/config-changes/sources-wait-for-a-restart", test_sources_wait_for_a_restart);
  return g_test_run();
}
