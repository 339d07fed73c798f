#include "util/operator_pauses.h"

#include "util/calendar.h"
#include "util/error.h"
#include "util/file_look.h"
#include "util/lock.h"
#include "util/log.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <stdatomic.h>
#include <string.h>

#define FILE_NAME "paused"

/* A file that is larger was not written by `tidemark pause`. */
#define MAX_FILE_BYTES (1024 * 1024)

const char *const tide_pause_scope_names[TIDE_N_SCOPES] = {
    [TIDE_SCOPE_EVERYTHING] = "everything", [TIDE_SCOPE_TOPIC] = "topic", [TIDE_SCOPE_TABLE] = "table"};

TideOperatorPause *
tide_operator_pause_new(TidePauseScope scope, const char *name, const char *reason, gint64 since_ms, gint64 until_ms)
{
  TideOperatorPause *pause = g_new(TideOperatorPause, 1);
  *pause = (TideOperatorPause){scope, g_strdup(name), g_strdup(reason), since_ms, until_ms};
  return pause;
}

void
tide_operator_pause_free(TideOperatorPause *pause)
{
  g_free(pause->name);
  g_free(pause->reason);
  g_free(pause);
}

gboolean
tide_operator_pause_is_of(const TideOperatorPause *pause, TidePauseScope scope, const char *name)
{
  return pause->scope == scope && strcmp(pause->name, name) == 0;
}

/* (transfer full) */
static GPtrArray *
pauses_new(void)
{
  return g_ptr_array_new_with_free_func((GDestroyNotify)tide_operator_pause_free);
}

char *
tide_operator_pause_describe(const TideOperatorPause *pause)
{
  char since[TIDE_ISO_TIME_BYTES], until[TIDE_ISO_TIME_BYTES];
  g_autoptr(GString) text = g_string_new(tide_pause_scope_names[pause->scope]);
  if (pause->scope != TIDE_SCOPE_EVERYTHING)
    g_string_append_printf(text, " '%s'", pause->name);
  g_string_append_printf(text, " has been paused since %s", tide_iso_time_print(pause->since_ms, since));
  if (pause->until_ms > 0)
    g_string_append_printf(text, ", until %s", tide_iso_time_print(pause->until_ms, until));
  if (*pause->reason != '\0')
    g_string_append_printf(text, " (%s)", pause->reason);
  return g_strdup(text->str);
}

/* ---- the file ---- */

/* A group is "everything", "topic NAME" or "table NAME". Errors: DATA. */
static TideOperatorPause *
read_pause(GKeyFile *file, const char *group, GError **error)
{
  TidePauseScope scope = TIDE_SCOPE_EVERYTHING;
  const char *space = strchr(group, ' ');
  gsize word_len = space != NULL ? (gsize)(space - group) : strlen(group);
  while (scope < TIDE_N_SCOPES && (strlen(tide_pause_scope_names[scope]) != word_len ||
                                   strncmp(tide_pause_scope_names[scope], group, word_len) != 0))
    scope++;
  if (scope == TIDE_N_SCOPES || (scope == TIDE_SCOPE_EVERYTHING) != (space == NULL)) {
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_DATA, "'[%s]' is not 'everything', a topic or a table", group);
    return NULL;
  }
  g_autofree char *reason = g_key_file_get_string(file, group, "reason", NULL);
  gint64 since_ms = g_key_file_get_int64(file, group, "since_ms", error);
  gboolean has_end = g_key_file_has_key(file, group, "until_ms", NULL);
  gint64 until_ms = has_end && *error == NULL ? g_key_file_get_int64(file, group, "until_ms", error) : 0;
  if (*error != NULL)
    return NULL;
  return tide_operator_pause_new(scope, space != NULL ? space + 1 : "", reason != NULL ? reason : "", since_ms,
                                 until_ms);
}

GPtrArray *
tide_operator_pauses_read(const char *directory, GError **error)
{
  g_autofree char *path = g_build_filename(directory, FILE_NAME, NULL);
  g_autoptr(GPtrArray) pauses = pauses_new();
  g_autoptr(GKeyFile) file = g_key_file_new();
  g_autoptr(GError) problem = NULL;
  GStatBuf info;
  gboolean is_there = g_stat(path, &info) == 0;
  if (is_there && !S_ISREG(info.st_mode)) /* to open a pipe would wait */
    g_set_error(&problem, TIDE_ERROR, TIDE_ERROR_DATA, "it is not a file");
  else if (is_there && (info.st_size == 0 || info.st_size > MAX_FILE_BYTES))
    g_set_error(&problem, TIDE_ERROR, TIDE_ERROR_DATA, "it has %" G_GINT64_FORMAT " bytes", (gint64)info.st_size);
  else if (!g_key_file_load_from_file(file, path, G_KEY_FILE_NONE, &problem) &&
           g_error_matches(problem, G_FILE_ERROR, G_FILE_ERROR_NOENT))
    return g_steal_pointer(&pauses);
  g_auto(GStrv) groups = g_key_file_get_groups(file, NULL);
  for (char **group = groups; problem == NULL && *group != NULL; group++) {
    TideOperatorPause *pause = read_pause(file, *group, &problem);
    if (pause != NULL)
      g_ptr_array_add(pauses, pause);
  }
  if (problem == NULL)
    return g_steal_pointer(&pauses);
  (void)tide_fail(error, TIDE_ERROR_DATA, "cannot read '%s': %s; 'tidemark resume' removes it", path, problem->message);
  return NULL;
}

gboolean
tide_operator_pauses_write(const char *directory, const GPtrArray *pauses, GError **error)
{
  g_autofree char *path = g_build_filename(directory, FILE_NAME, NULL);
  g_autoptr(GKeyFile) file = g_key_file_new();
  for (guint i = 0; i < pauses->len; i++) {
    const TideOperatorPause *pause = pauses->pdata[i];
    g_autofree char *group = pause->scope == TIDE_SCOPE_EVERYTHING
                                 ? g_strdup(tide_pause_scope_names[pause->scope])
                                 : g_strconcat(tide_pause_scope_names[pause->scope], " ", pause->name, NULL);
    g_key_file_set_string(file, group, "reason", pause->reason);
    g_key_file_set_int64(file, group, "since_ms", pause->since_ms);
    if (pause->until_ms > 0)
      g_key_file_set_int64(file, group, "until_ms", pause->until_ms);
  }
  gsize len;
  g_autofree char *content = g_key_file_to_data(file, &len, NULL);
  g_autoptr(GError) problem = NULL;
  if (pauses->len > 0)
    return g_file_set_contents_full(path, content, (gssize)len, G_FILE_SET_CONTENTS_CONSISTENT, 0644, &problem) ||
           tide_fail(error, TIDE_ERROR_IO, "cannot write '%s': %s", path, problem->message);
  if (g_unlink(path) == 0 || errno == ENOENT)
    return TRUE;
  return tide_fail(error, TIDE_ERROR_IO, "cannot remove '%s': %s", path, g_strerror(errno));
}

gboolean
tide_operator_pauses_drop_over(GPtrArray *pauses, gint64 now_ms)
{
  guint before = pauses->len;
  for (guint i = before; i-- > 0;) {
    const TideOperatorPause *pause = pauses->pdata[i];
    if (pause->until_ms > 0 && pause->until_ms <= now_ms)
      g_ptr_array_remove_index(pauses, i);
  }
  return pauses->len < before;
}

/* ---- the watch ---- */

struct TidePauseWatch {
  char *directory; /* owned, read-only; NULL: nothing is ever paused */
  char *path;      /* owned, read-only: of the file */
  _Atomic guint generation;
  TideFileStamp stamp; /* the updating thread only */
  TideMutex lock;
  /* under lock */
  GPtrArray *pauses; /* owned (element-type TideOperatorPause): those that hold */
};

TidePauseWatch *
tide_pause_watch_new(const char *directory)
{
  TidePauseWatch *watch = g_new0(TidePauseWatch, 1);
  watch->directory = g_strdup(directory);
  watch->path = directory != NULL ? g_build_filename(directory, FILE_NAME, NULL) : NULL;
  watch->pauses = pauses_new();
  tide_mutex_init(&watch->lock);
  return watch;
}

void
tide_pause_watch_free(TidePauseWatch *watch)
{
  if (watch == NULL)
    return;
  g_ptr_array_unref(watch->pauses);
  tide_mutex_clear(&watch->lock);
  g_free(watch->directory);
  g_free(watch->path);
  g_free(watch);
}

/* (transfer full); NULL: what was paused before stays so. */
static GPtrArray *
read_again(const TidePauseWatch *watch, gint64 now_ms)
{
  g_autoptr(GError) error = NULL;
  GPtrArray *pauses = tide_operator_pauses_read(watch->directory, &error);
  gboolean is_start = tide_pause_watch_generation(watch) == 0;
  if (pauses != NULL)
    return pauses;
  tide_log(TIDE_LOG_ERROR, "pauses-unreadable", "cannot read the operator's pauses: %s; %s", error->message,
           is_start ? "everything is paused" : "what was paused before stays paused");
  if (!is_start)
    return NULL;
  pauses = pauses_new();
  g_ptr_array_add(pauses, tide_operator_pause_new(TIDE_SCOPE_EVERYTHING, "", error->message, now_ms, 0));
  return pauses;
}

gboolean
tide_pause_watch_update(TidePauseWatch *watch, gint64 now_ms)
{
  if (watch->directory == NULL)
    return FALSE;
  TideFileStamp stamp = tide_file_stamp(watch->path);
  gboolean is_first = tide_pause_watch_generation(watch) == 0;
  gboolean is_new = is_first || !tide_file_stamp_equal(&stamp, &watch->stamp);
  g_autoptr(GPtrArray) read = is_new ? read_again(watch, now_ms) : NULL;
  watch->stamp = stamp;
  gboolean was_any = watch->pauses->len > 0, differs = read != NULL;
  tide_mutex_lock(&watch->lock);
  if (read != NULL) {
    GPtrArray *before = watch->pauses;
    watch->pauses = g_steal_pointer(&read);
    read = before;
  }
  differs |= tide_operator_pauses_drop_over(watch->pauses, now_ms);
  tide_mutex_unlock(&watch->lock);
  if (differs)
    atomic_fetch_add_explicit(&watch->generation, 1, memory_order_release);
  return differs && (was_any || watch->pauses->len > 0);
}

guint
tide_pause_watch_generation(const TidePauseWatch *watch)
{
  return watch != NULL ? atomic_load_explicit(&watch->generation, memory_order_acquire) : 0;
}

gboolean
tide_pause_watch_has(TidePauseWatch *watch, TidePauseScope scope, const char *name)
{
  gboolean is_found = FALSE;
  if (watch == NULL)
    return FALSE;
  tide_mutex_lock(&watch->lock);
  for (guint i = 0; !is_found && i < watch->pauses->len; i++)
    is_found = tide_operator_pause_is_of(watch->pauses->pdata[i], scope, name);
  tide_mutex_unlock(&watch->lock);
  return is_found;
}

GPtrArray *
tide_pause_watch_list(TidePauseWatch *watch)
{
  GPtrArray *list = pauses_new();
  tide_mutex_lock(&watch->lock);
  for (guint i = 0; i < watch->pauses->len; i++) {
    const TideOperatorPause *pause = watch->pauses->pdata[i];
    g_ptr_array_add(
        list, tide_operator_pause_new(pause->scope, pause->name, pause->reason, pause->since_ms, pause->until_ms));
  }
  tide_mutex_unlock(&watch->lock);
  return list;
}
