#include "files/file_mark.h"

#include "util/error.h"

#define GROUP "load"
#define VERSION 1
#define MODE 0644

void
tide_file_mark_clear(TideFileMark *mark)
{
  g_free(mark->note);
  g_strfreev(mark->destination);
  *mark = (TideFileMark)TIDE_FILE_MARK_START;
}

gboolean
tide_file_mark_is_of(const TideFileMark *mark, const TideFileState *now)
{
  return mark->file.size_bytes == now->size_bytes && mark->file.modified_ns == now->modified_ns &&
         mark->file.changed_ns == now->changed_ns;
}

char *
tide_file_mark_path(const char *directory, const char *path, const char *job)
{
  g_autoptr(GChecksum) checksum = g_checksum_new(G_CHECKSUM_SHA256);
  g_checksum_update(checksum, (const guchar *)path, -1);
  g_checksum_update(checksum, (const guchar *)"\n", 1);
  g_checksum_update(checksum, (const guchar *)job, -1);
  g_autofree char *base = g_path_get_basename(path);
  g_autofree char *name = g_strdup_printf("%.100s.%.16s.mark", base, g_checksum_get_string(checksum));
  return g_build_filename(directory, name, NULL);
}

gboolean
tide_file_mark_save(const TideFileMark *mark, const char *mark_path, const char *path, GError **error)
{
  g_autoptr(GKeyFile) file = g_key_file_new();
  g_key_file_set_integer(file, GROUP, "version", VERSION);
  g_key_file_set_string(file, GROUP, "file", path);
  g_key_file_set_uint64(file, GROUP, "size_bytes", mark->file.size_bytes);
  g_key_file_set_int64(file, GROUP, "modified_ns", mark->file.modified_ns);
  g_key_file_set_int64(file, GROUP, "changed_ns", mark->file.changed_ns);
  g_key_file_set_int64(file, GROUP, "offset", mark->offset);
  g_key_file_set_uint64(file, GROUP, "position_bytes", mark->position_bytes);
  g_key_file_set_uint64(file, GROUP, "crc32", mark->crc32);
  g_key_file_set_boolean(file, GROUP, "finished", mark->is_finished);
  g_key_file_set_string(file, GROUP, "note", mark->note != NULL ? mark->note : "");
  if (mark->destination != NULL)
    g_key_file_set_string_list(file, GROUP, "destination", (const char *const *)mark->destination,
                               g_strv_length(mark->destination));
  g_autoptr(GError) problem = NULL;
  g_autofree char *text = g_key_file_to_data(file, NULL, NULL);
  if (g_file_set_contents_full(mark_path, text, -1, G_FILE_SET_CONTENTS_CONSISTENT | G_FILE_SET_CONTENTS_DURABLE, MODE,
                               &problem))
    return TRUE;
  return tide_fail(error, TIDE_ERROR_IO, "cannot write the mark of '%s': %s", path, problem->message);
}

static void
read_mark(GKeyFile *file, TideFileMark *mark, GError **fault)
{
  *mark = (TideFileMark){.offset = 1, .was_kept = TRUE};
  int version = g_key_file_get_integer(file, GROUP, "version", fault);
  if (*fault == NULL && version != VERSION)
    g_set_error(fault, TIDE_ERROR, TIDE_ERROR_DATA, "its version is %d, not %d", version, VERSION);
  if (*fault == NULL)
    mark->file.size_bytes = g_key_file_get_uint64(file, GROUP, "size_bytes", fault);
  if (*fault == NULL)
    mark->file.modified_ns = g_key_file_get_int64(file, GROUP, "modified_ns", fault);
  if (*fault == NULL)
    mark->file.changed_ns = g_key_file_get_int64(file, GROUP, "changed_ns", fault);
  if (*fault == NULL)
    mark->offset = g_key_file_get_int64(file, GROUP, "offset", fault);
  if (*fault == NULL)
    mark->position_bytes = g_key_file_get_uint64(file, GROUP, "position_bytes", fault);
  if (*fault == NULL)
    mark->crc32 = (guint32)g_key_file_get_uint64(file, GROUP, "crc32", fault);
  if (*fault == NULL)
    mark->is_finished = g_key_file_get_boolean(file, GROUP, "finished", fault);
  if (*fault == NULL)
    mark->note = g_key_file_get_string(file, GROUP, "note", fault);
  if (*fault == NULL)
    mark->destination = g_key_file_get_string_list(file, GROUP, "destination", NULL, fault);
  if (*fault == NULL && mark->offset < 1)
    g_set_error_literal(fault, TIDE_ERROR, TIDE_ERROR_DATA, "its offset is below 1");
}

gboolean
tide_file_mark_load(const char *mark_path, TideFileMark *ret_mark, GError **error)
{
  g_autoptr(GKeyFile) file = g_key_file_new();
  g_autoptr(GError) fault = NULL;
  if (!g_key_file_load_from_file(file, mark_path, G_KEY_FILE_NONE, &fault) &&
      g_error_matches(fault, G_FILE_ERROR, G_FILE_ERROR_NOENT))
    return FALSE;
  if (fault == NULL)
    read_mark(file, ret_mark, &fault);
  if (fault == NULL)
    return TRUE;
  gboolean is_io = fault->domain == G_FILE_ERROR;
  g_set_error(error, TIDE_ERROR, is_io ? TIDE_ERROR_IO : TIDE_ERROR_DATA,
              "cannot use the mark '%s': %s; use '--again' to load its file from the beginning", mark_path,
              fault->message);
  return FALSE;
}
