#include "service/process_metrics.h"

#include "kafka/kafka_library.h"
#include "util/clock.h"

#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* A field of proc(5), counted from 0 after the program's name, which may contain spaces. */
#define STAT_STARTTIME 19

static gint64
clock_ms(clockid_t clock)
{
  struct timespec time = {0};
  (void)clock_gettime(clock, &time);
  return (gint64)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

/* Start time since 1970. /proc/stat, the usual source of the boot time, is hidden from the unit. 0: unknown */
static gint64
started_ms(void)
{
  g_autofree char *stat = NULL;
  if (!g_file_get_contents("/proc/self/stat", &stat, NULL, NULL))
    return 0;
  const char *behind_name = strrchr(stat, ')');
  g_auto(GStrv) words = g_strsplit(behind_name != NULL ? behind_name + 2 : "", " ", -1);
  if (g_strv_length(words) <= STAT_STARTTIME)
    return 0;
  gint64 ticks = g_ascii_strtoll(words[STAT_STARTTIME], NULL, 10);
  return clock_ms(CLOCK_REALTIME) - clock_ms(CLOCK_BOOTTIME) + ticks * 1000 / sysconf(_SC_CLK_TCK);
}

gint64
tide_process_resident_bytes(void)
{
  g_autofree char *statm = NULL;
  if (!g_file_get_contents("/proc/self/statm", &statm, NULL, NULL))
    return TIDE_GAUGE_UNKNOWN;
  const char *second = strchr(statm, ' ');
  return second != NULL ? g_ascii_strtoll(second, NULL, 10) * sysconf(_SC_PAGESIZE) : TIDE_GAUGE_UNKNOWN;
}

static gint64
count_open_fds(void)
{
  g_autoptr(GDir) directory = g_dir_open("/proc/self/fd", 0, NULL);
  if (directory == NULL)
    return TIDE_GAUGE_UNKNOWN;
  gint64 n = -1; /* excludes the directory's own */
  while (g_dir_read_name(directory) != NULL)
    n++;
  return n;
}

void
tide_process_metrics_init(TideProcessMetrics *process, TideMetrics *metrics, const char *version, const char *revision)
{
  const TideKafkaLibrary library = tide_kafka_library();
  g_autofree char *version_label = tide_metrics_label("version", version);
  g_autofree char *revision_label = tide_metrics_label("revision", revision);
  g_autofree char *library_label = tide_metrics_label("librdkafka", library.name);
  g_autofree char *labels = g_strdup_printf("%s,%s,%s", version_label, revision_label, library_label);
  struct rlimit limit = {0};
  (void)getrlimit(RLIMIT_NOFILE, &limit);
  tide_gauge_set(tide_metrics_gauge(metrics, "tidemark_build_info",
                                    "1, with the version, build and library versions as labels", labels),
                 1);
  tide_gauge_set(tide_metrics_gauge(metrics, "process_max_fds", "Maximum number of open file descriptors", NULL),
                 (gint64)MIN(limit.rlim_cur, (rlim_t)G_MAXINT64));
  tide_gauge_set(tide_metrics_gauge_milli(metrics, "process_start_time_seconds", "Start time of the process", NULL),
                 started_ms());
  process->cpu_seconds = tide_metrics_counter_milli(metrics, "process_cpu_seconds_total",
                                                    "CPU time of the process, user and system", NULL);
  process->resident_bytes =
      tide_metrics_gauge(metrics, "process_resident_memory_bytes", "Resident memory of the process", NULL);
  process->open_fds = tide_metrics_gauge(metrics, "process_open_fds", "Open file descriptors", NULL);
}

void
tide_process_metrics_update(TideProcessMetrics *process)
{
  tide_gauge_set(process->cpu_seconds, clock_ms(CLOCK_PROCESS_CPUTIME_ID));
  tide_gauge_set(process->resident_bytes, tide_process_resident_bytes());
  tide_gauge_set(process->open_fds, count_open_fds());
}
