#define _GNU_SOURCE /* sched_getaffinity */
#include "util/cgroup_bound.h"

#include <sched.h>
#include <string.h>
#include <unistd.h>

#define HIERARCHY "/sys/fs/cgroup"
#define UNIFIED "0::" /* the v2 line of /proc/self/cgroup */

/* Parses @text, the content of a cgroup's file; returns 0 if it sets no limit ("max"). */
typedef guint64 (*ReadBound)(const char *text);

static guint64
read_memory(const char *text)
{
  return g_ascii_strtoull(text, NULL, 10);
}

/* Microseconds of CPU in a period of so many. */
static guint64
read_cpus(const char *text)
{
  char *rest = NULL;
  guint64 quota_us = g_ascii_strtoull(text, &rest, 10);
  guint64 period_us = g_ascii_strtoull(rest, NULL, 10);
  return period_us > 0 ? quota_us / period_us + (quota_us % period_us > 0) : 0;
}

/* (transfer full) (nullable) */
static char *
find_cgroup(const char *root)
{
  g_autofree char *path = g_build_filename(root, "/proc/self/cgroup", NULL);
  g_autofree char *text = NULL;
  if (!g_file_get_contents(path, &text, NULL, NULL))
    return NULL;
  g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
  for (guint i = 0; lines[i] != NULL; i++)
    if (g_str_has_prefix(lines[i], UNIFIED))
      return g_strdup(lines[i] + strlen(UNIFIED));
  return NULL;
}

/* The lowest limit of this process's cgroup and its ancestors; 0: none has a limit. */
static guint64
least_bound(const char *root, const char *file, ReadBound read_bound)
{
  guint64 least = 0;
  g_autofree char *cgroup = find_cgroup(root);
  while (cgroup != NULL) {
    g_autofree char *path = g_build_filename(root, HIERARCHY, cgroup, file, NULL);
    g_autofree char *text = NULL;
    guint64 bound = g_file_get_contents(path, &text, NULL, NULL) ? read_bound(text) : 0;
    if (bound > 0 && (least == 0 || bound < least))
      least = bound;
    char *slash = strrchr(cgroup, '/');
    if (slash == NULL || cgroup[1] == '\0')
      break;
    slash[slash == cgroup] = '\0'; /* the root keeps its slash */
  }
  return least;
}

guint64
tide_memory_bound_bytes(const char *root)
{
  return least_bound(root, "memory.max", read_memory);
}

/* That a cpuset leaves, of those that the machine has; 0: all. GLib counts the machine's. */
static guint64
allowed_cpus(void)
{
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0 || CPU_COUNT(&allowed) >= sysconf(_SC_NPROCESSORS_ONLN))
    return 0;
  return (guint64)CPU_COUNT(&allowed);
}

guint
tide_cpu_bound(const char *root)
{
  guint64 n_cpus = least_bound(root, "cpu.max", read_cpus), n_allowed = allowed_cpus();
  if (n_cpus == 0 || (n_allowed > 0 && n_allowed < n_cpus))
    n_cpus = n_allowed;
  return (guint)MIN(n_cpus, G_MAXUINT);
}
