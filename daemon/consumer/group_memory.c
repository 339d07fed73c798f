#include "consumer/group_memory.h"

#include "util/lock.h"
#include "util/log.h"
#include "util/state_directory.h"

#include <string.h>

#define STARTED_FILE "started-groups"

struct TideGroupMemory {
  const char *group; /* borrowed */
  TideMutex lock;
  GHashTable *own; /* owned: "topic/3" -> TideOwnCommit */
  GHashTable
      *started; /* owned: lines of the file, "CLUSTER GROUP" -> whether the line was there when this process began */
};

TideGroupMemory *
tide_group_memory_new(const char *group)
{
  TideGroupMemory *memory = g_new0(TideGroupMemory, 1);
  memory->group = group;
  memory->own = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
  memory->started = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  tide_mutex_init(&memory->lock);
  g_autofree char *path = tide_state_directory_path(STARTED_FILE);
  g_autofree char *text = NULL;
  if (path == NULL || !g_file_get_contents(path, &text, NULL, NULL))
    return memory;
  g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
  for (char **line = lines; *line != NULL; line++)
    if (**line != '\0')
      g_hash_table_insert(memory->started, g_strdup(*line), GINT_TO_POINTER(TRUE));
  return memory;
}

void
tide_group_memory_free(TideGroupMemory *memory)
{
  if (memory == NULL)
    return;
  g_hash_table_unref(memory->own);
  g_hash_table_unref(memory->started);
  tide_mutex_clear(&memory->lock);
  g_free(memory);
}

void
tide_group_memory_release(TideGroupMemory *memory, const char *topic, gint32 partition, TideOwnCommit own)
{
  if (memory == NULL || own.offset < 0)
    return;
  tide_mutex_lock(&memory->lock);
  g_hash_table_replace(memory->own, g_strdup_printf("%s/%d", topic, partition), g_memdup2(&own, sizeof own));
  tide_mutex_unlock(&memory->lock);
}

TideOwnCommit
tide_group_memory_find(TideGroupMemory *memory, const char *topic, gint32 partition)
{
  TideOwnCommit none = {.offset = -1, .reached_offset = -1};
  if (memory == NULL)
    return none;
  g_autofree char *name = g_strdup_printf("%s/%d", topic, partition);
  tide_mutex_lock(&memory->lock);
  const TideOwnCommit *own = g_hash_table_lookup(memory->own, name);
  TideOwnCommit found = own != NULL ? *own : none;
  tide_mutex_unlock(&memory->lock);
  return found;
}

/* Escapes names, since a group's name may contain any character except NUL. (transfer full) */
static char *
started_line(const TideGroupMemory *memory, const char *cluster_id)
{
  g_autofree char *group = g_strescape(memory->group, NULL);
  g_autofree char *cluster = g_strescape(cluster_id, NULL);
  return g_strdup_printf("%s %s", cluster, group);
}

gboolean
tide_group_memory_was_started(TideGroupMemory *memory, const char *cluster_id)
{
  if (memory == NULL || cluster_id == NULL)
    return FALSE;
  g_autofree char *line = started_line(memory, cluster_id);
  tide_mutex_lock(&memory->lock);
  gboolean found = GPOINTER_TO_INT(g_hash_table_lookup(memory->started, line));
  tide_mutex_unlock(&memory->lock);
  return found;
}

void
tide_group_memory_note_started(TideGroupMemory *memory, const char *cluster_id)
{
  if (memory == NULL || cluster_id == NULL)
    return;
  g_autofree char *path = tide_state_directory_path(STARTED_FILE);
  g_autoptr(GString) text = g_string_new(NULL);
  g_autofree char *line = started_line(memory, cluster_id);
  tide_mutex_lock(&memory->lock);
  gboolean is_new = !g_hash_table_contains(memory->started, line);
  if (is_new)
    g_hash_table_insert(memory->started, g_steal_pointer(&line), GINT_TO_POINTER(FALSE));
  GHashTableIter iter;
  gpointer key;
  g_hash_table_iter_init(&iter, memory->started);
  while (is_new && g_hash_table_iter_next(&iter, &key, NULL))
    g_string_append_printf(text, "%s\n", (const char *)key);
  tide_mutex_unlock(&memory->lock);
  g_autoptr(GError) error = NULL;
  if (is_new && path != NULL && !tide_state_directory_keep(path, text->str, &error))
    tide_log(TIDE_LOG_WARNING, "start-not-remembered",
             "cannot record in the state directory that group '%s' has started: %s; if its offsets expire, kafka.start "
             "applies again",
             memory->group, error->message);
}
