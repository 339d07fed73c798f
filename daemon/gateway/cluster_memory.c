#include "gateway/cluster_memory.h"

#include "util/error.h"
#include "util/state_directory.h"

#define FILE_NAME "cluster"

gboolean
tide_cluster_memory_read(char **ret_cluster, GError **error)
{
  g_autofree char *path = tide_state_directory_path(FILE_NAME);
  g_autofree char *content = NULL;
  g_autoptr(GError) failure = NULL;
  *ret_cluster = NULL;
  if (path == NULL)
    return TRUE;
  if (g_file_get_contents(path, &content, NULL, &failure)) {
    g_strstrip(content);
    *ret_cluster = content[0] != '\0' ? g_strescape(content, "\\\"") : NULL;
    return TRUE;
  }
  if (g_error_matches(failure, G_FILE_ERROR, G_FILE_ERROR_NOENT) ||
      g_error_matches(failure, G_FILE_ERROR, G_FILE_ERROR_NOTDIR)) /* there is no place for the file */
    return TRUE;
  return tide_fail(error, TIDE_ERROR_IO, "cannot read which cluster this host writes to: %s", failure->message);
}

gboolean
tide_cluster_memory_write(const char *cluster, GError **error)
{
  g_autofree char *path = tide_state_directory_path(FILE_NAME);
  g_autofree char *content = g_strconcat(cluster, "\n", NULL);
  g_autoptr(GError) failure = NULL;
  return path == NULL || tide_state_directory_keep(path, content, &failure) ||
         tide_fail(error, TIDE_ERROR_IO, "cannot record that this host writes to cluster %s: %s", cluster,
                   failure->message);
}

char *
tide_cluster_mismatch(const char *gateway, const char *cluster, const char *wanted)
{
  return g_strdup_printf("gateway '%s' belongs to HBase cluster %s, but rows are written to cluster %s: correct "
                         "'hbase.gateways' or its name resolution; if the tables have moved, start the unit once with "
                         "--accept-cluster-change (docs/operate.md, 'Start once with an option')",
                         gateway, cluster, wanted);
}
