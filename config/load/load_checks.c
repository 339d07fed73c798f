/* Options that are valid separately and contradict each other. Each message names both. */
#include "config/config_source.h"
#include "config/load/load_pieces.h"
#include "config/option/option_value.h"
#include "config/topic_pattern.h"
#include "util/cgroup_bound.h"

/* Maximum default share of the memory limit. The rest is for what limits.memory does not count, and for long keys and
 * headers during a backlog (docs/operate.md). */
#define MEMORY_SHARE 4

#define LEAST_MEMORY_BYTES ((guint64)16 << 20) /* of limits.memory */
#define BESIDES_BYTES ((guint64)64 << 20) /* memory of the process outside limits.memory; the fault tests verify it */

/* An upper bound for a value. */
typedef struct Bound {
  const char *option; /* path */
  gint64 value;
  const char *of;    /* path of the option that bounds it */
  const char *share; /* "a quarter of ", or empty */
  gint64 limit;      /* that option's value, or the share of it */
  gboolean may_equal;
  const char *reason;
  char *(*format)(gint64 value);
} Bound;

static char *
format_size(gint64 size_bytes)
{
  return tide_size_format((guint64)size_bytes);
}

/* (transfer full) (element-type Bound) */
static GArray *
bounds_of(const TideConfig *config)
{
  const char *silent = "rows would wait longer than a consumer may be silent";
  gint64 poll_ms = config->kafka.max_poll_interval_ms;
  gint64 quarter_bytes = (gint64)(config->limits.memory_bytes / 4);
  const Bound bounds[] = {
      {"kafka.session_timeout", config->kafka.session_timeout_ms, "kafka.max_poll_interval", "", poll_ms, TRUE,
       "librdkafka requires it", tide_duration_format},
      {"limits.drain_timeout", config->limits.drain_timeout_ms, "kafka.session_timeout", "",
       config->kafka.session_timeout_ms, FALSE, "a stop must end before the group reassigns the partitions",
       tide_duration_format},
      {"batch.max_age", config->batch.max_age_ms, "kafka.max_poll_interval", "", poll_ms, FALSE, silent,
       tide_duration_format},
      {"batch.latest_window", config->batch.latest_window_ms, "kafka.max_poll_interval", "", poll_ms, FALSE, silent,
       tide_duration_format},
      {"batch.latest_window_max", config->batch.latest_window_max_ms, "kafka.max_poll_interval", "", poll_ms, FALSE,
       silent, tide_duration_format},
      {"hbase.retry_min", config->hbase.retry_min_ms, "hbase.retry_max", "", config->hbase.retry_max_ms, TRUE,
       "pauses grow from the first to the second", tide_duration_format},
      {"hbase.call_timeout", config->hbase.call_timeout_ms, "hbase.uncertain_timeout", "", config->hbase.settle_ms,
       TRUE, "an abandoned call may run on for at least as long as tidemark waited for it", tide_duration_format},
      {"readings.max_message_size", tide_config_max_message_bytes(config), "limits.memory", "a quarter of ",
       quarter_bytes, TRUE, "several messages must fit", format_size},
      {"batch.max_bytes", config->batch.max_bytes, "limits.memory", "a quarter of ", quarter_bytes, TRUE,
       "several batches must fit", format_size},
      {"dead_letters.max_file_size", (gint64)config->dead_letters.max_file_bytes, "dead_letters.max_size", "",
       (gint64)config->dead_letters.max_bytes, TRUE, "the files would be full before the first one is", format_size},
  };
  GArray *found = g_array_new(FALSE, FALSE, sizeof(Bound));
  return g_array_append_vals(found, bounds, G_N_ELEMENTS(bounds));
}

/* Returns the first of @bounds from @from on that is violated, or NULL. */
static const Bound *
next_broken(const GArray *bounds, guint from)
{
  for (guint i = from; i < bounds->len; i++) {
    const Bound *bound = &g_array_index(bounds, Bound, i);
    if (bound->value > bound->limit || (bound->value == bound->limit && !bound->may_equal))
      return bound;
  }
  return NULL;
}

static void
check_bounds(TideLoad *load)
{
  g_autoptr(GArray) bounds = bounds_of(load->config);
  const Bound *first = &g_array_index(bounds, Bound, 0);
  for (const Bound *bound = next_broken(bounds, 0); bound != NULL;
       bound = next_broken(bounds, (guint)(bound - first) + 1)) {
    /* The position of the option that the file contains; the other may have its default. */
    gboolean is_given = tide_yaml_find(load->root, bound->option) != NULL;
    g_autofree char *value = bound->format(bound->value);
    g_autofree char *limit = bound->format(bound->limit);
    tide_load_option_error(load, is_given ? bound->option : bound->of, "'%s' (%s) must %s %s'%s' (%s): %s",
                           bound->option, value, bound->may_equal ? "not be above" : "be below", bound->share,
                           bound->of, limit, bound->reason);
  }
}

gboolean
tide_load_find_broken_bound(const TideConfig *config, const char **ret_option, const char **ret_of)
{
  g_autoptr(GArray) bounds = bounds_of(config);
  const Bound *broken = next_broken(bounds, 0);
  if (broken != NULL) {
    *ret_option = broken->option;
    *ret_of = broken->of;
  }
  return broken != NULL;
}

static void
check_sources(TideLoad *load)
{
  const GPtrArray *sources = load->config->sources, *tables = load->config->tables;
  for (guint i = 0; i < sources->len; i++) {
    const TideConfigSource *source = g_ptr_array_index(sources, i);
    g_autofree char *path = g_strdup_printf("sources.%s", source->name);
    gboolean is_taken = tables->len == 0; /* reported separately */
    for (guint k = 0; k < tables->len; k++)
      is_taken |= tide_config_takes_from(g_ptr_array_index(tables, k), source);
    if (source->name != NULL && !is_taken)
      tide_load_option_warning(load, path,
                               "no table uses the source '%s': its messages are read and written nowhere; name it in "
                               "'sources' of a table, or remove it",
                               source->name);
  }
}

/* Limit by the cgroup of this process. */
static void
fit_memory(TideLoad *load)
{
  guint64 bound_bytes = tide_memory_bound_bytes("");
  guint64 memory_bytes = load->config->limits.memory_bytes;
  if (bound_bytes == 0)
    return;
  if (!tide_load_is_written(load, "limits.memory"))
    memory_bytes = MIN(memory_bytes, MAX(bound_bytes / MEMORY_SHARE, LEAST_MEMORY_BYTES));
  load->config->limits.memory_bytes = memory_bytes;
  if (memory_bytes + BESIDES_BYTES <= bound_bytes)
    return;
  g_autofree char *memory_text = tide_size_format(memory_bytes);
  g_autofree char *bound_text = tide_size_format(bound_bytes);
  tide_load_option_warning(load, "limits.memory",
                           "'limits.memory' is %s and the process needs up to 64MiB more, but its cgroup allows %s: "
                           "the kernel kills the process above that; lower 'limits.memory', or raise the cgroup's "
                           "limit (MemoryMax= of the unit, --memory of the container)",
                           memory_text, bound_text);
}

/* By the same. */
static void
fit_threads(TideLoad *load)
{
  guint n_cpus = tide_cpu_bound("");
  guint32 *threads = &load->config->kafka.threads;
  if (n_cpus == 0 || *threads <= n_cpus)
    return;
  if (!tide_load_is_written(load, "kafka.threads"))
    *threads = n_cpus;
  else
    tide_load_option_warning(
        load, "kafka.threads",
        "'kafka.threads' is %u, and the process may use %u %s: threads take turns there, and wait; "
        "lower the one, or raise the other (CPUQuota= of the unit, --cpus of the container)",
        *threads, n_cpus, n_cpus == 1 ? "CPU" : "CPUs");
}

static void
check_writers(TideLoad *load)
{
  const TideConfig *config = load->config;
  guint64 memory = config->limits.memory_bytes;
  guint64 batches = (guint64)config->hbase.writers * config->batch.max_bytes;
  if (batches <= memory)
    return;
  g_autofree char *needed_text = tide_size_format(batches);
  g_autofree char *memory_text = tide_size_format(memory);
  tide_load_option_warning(load, "hbase.writers",
                           "'hbase.writers' times 'batch.max_bytes' is %s, above 'limits.memory' (%s): not all writers "
                           "can be busy at the same time",
                           needed_text, memory_text);
}

static void
check_dead_letters(TideLoad *load)
{
  const TideDeadLettersConfig *dead_letters = &load->config->dead_letters;
  if (dead_letters->topic != NULL && dead_letters->file != NULL)
    tide_load_option_error(load, "dead_letters.file",
                           "'dead_letters.file' and 'dead_letters.topic' cannot be combined: remove one of them");
  if (dead_letters->topic != NULL && tide_topic_pattern_any_matches(load->config->kafka.topics, dead_letters->topic))
    tide_load_option_error(
        load, "dead_letters.topic",
        "'dead_letters.topic' ('%s') is among '%s': tidemark would read its own dead letters again without end",
        dead_letters->topic, load->config->sources_yaml != NULL ? "sources" : "kafka.topics");
}

void
tide_load_check_options(TideLoad *load)
{
  fit_memory(load);
  fit_threads(load);
  check_bounds(load);
  check_writers(load);
  if (load->config->sources_yaml == NULL) /* otherwise each source is checked separately */
    tide_load_check_patterns(load, "kafka", tide_yaml_find(load->root, "kafka.topics"), load->config->kafka.topics);
  check_sources(load);
  check_dead_letters(load);
}
