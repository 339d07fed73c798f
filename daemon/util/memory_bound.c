#include "util/memory_bound.h"

#include <string.h>

#define HIERARCHY "/sys/fs/cgroup"
#define UNIFIED "0::" /* the line of /proc/self/cgroup that is v2's */

/* 0: none is set. */
static guint64
bound_of(const char *root, const char *cgroup)
{
  g_autofree char *path = g_build_filename(root, HIERARCHY, cgroup, "memory.max", NULL);
  g_autofree char *text = NULL;
  /* "max", where there is no bound, is no number. */
  return g_file_get_contents(path, &text, NULL, NULL) ? g_ascii_strtoull(text, NULL, 10) : 0;
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

guint64
tide_memory_bound_bytes(const char *root)
{
  guint64 least_bytes = 0;
  g_autofree char *cgroup = find_cgroup(root);
  while (cgroup != NULL) {
    guint64 bytes = bound_of(root, cgroup);
    if (bytes > 0 && (least_bytes == 0 || bytes < least_bytes))
      least_bytes = bytes;
    char *slash = strrchr(cgroup, '/');
    if (slash == NULL || cgroup[1] == '\0')
      break;
    slash[slash == cgroup] = '\0'; /* the root keeps its slash */
  }
  return least_bytes;
}
