#include "commands/rollup/marks.h"

#include "util/error.h"

#include <string.h>

/* The file is a GKeyFile: a group for the whole, and one for each range. Row keys stand in hex. */
#define GROUP "rollup"
#define VERSION 1

static void
clear_range(gpointer data)
{
  TideRollupRange *range = data;
  tide_key_range_clear(&range->keys);
  tide_buffer_clear_memory(&range->mark);
}

TideRollupMarks *
tide_rollup_marks_new(const char *source, const char *target, gint64 from_ms, gint64 to_ms)
{
  TideRollupMarks *marks = g_new0(TideRollupMarks, 1);
  marks->source = g_strdup(source);
  marks->target = g_strdup(target);
  marks->from_ms = from_ms;
  marks->to_ms = to_ms;
  marks->ranges = g_array_new(FALSE, TRUE, sizeof(TideRollupRange));
  g_array_set_clear_func(marks->ranges, clear_range);
  return marks;
}

void
tide_rollup_marks_free(TideRollupMarks *marks)
{
  if (marks == NULL)
    return;
  g_free(marks->source);
  g_free(marks->target);
  g_free(marks->cluster);
  g_array_unref(marks->ranges);
  g_free(marks);
}

void
tide_rollup_marks_add(TideRollupMarks *marks, TideBytes start, TideBytes stop)
{
  TideRollupRange range = {0};
  tide_buffer_append_bytes(&range.keys.start, start);
  tide_buffer_append_bytes(&range.keys.stop, stop);
  g_array_append_val(marks->ranges, range);
}

static void
set_bytes(GKeyFile *file, const char *group, const char *name, const TideBuffer *bytes)
{
  g_autofree char *hex = tide_bytes_hex(tide_buffer_bytes(bytes));
  g_key_file_set_string(file, group, name, hex);
}

char *
tide_rollup_marks_text(const TideRollupMarks *marks)
{
  g_autoptr(GKeyFile) file = g_key_file_new();
  g_key_file_set_integer(file, GROUP, "version", VERSION);
  g_key_file_set_string(file, GROUP, "source", marks->source);
  g_key_file_set_string(file, GROUP, "target", marks->target);
  if (marks->cluster != NULL)
    g_key_file_set_string(file, GROUP, "cluster", marks->cluster);
  g_key_file_set_int64(file, GROUP, "from_ms", marks->from_ms);
  g_key_file_set_int64(file, GROUP, "to_ms", marks->to_ms);
  g_key_file_set_boolean(file, GROUP, "done", marks->done);
  g_key_file_set_uint64(file, GROUP, "ranges", marks->ranges->len);
  for (guint i = 0; i < marks->ranges->len; i++) {
    const TideRollupRange *range = &g_array_index(marks->ranges, TideRollupRange, i);
    g_autofree char *group = g_strdup_printf("range %u", i);
    set_bytes(file, group, "start", &range->keys.start);
    set_bytes(file, group, "stop", &range->keys.stop);
    set_bytes(file, group, "mark", &range->mark);
    g_key_file_set_boolean(file, group, "done", range->done);
    g_key_file_set_uint64(file, group, "rows", range->rows);
    g_key_file_set_uint64(file, group, "cells", range->cells);
  }
  return g_key_file_to_data(file, NULL, NULL);
}

/* A file being read: the first fault is kept, and all that follows is not looked at. */
typedef struct Reader {
  GKeyFile *file;
  GError *fault; /* owned */
} Reader;

static char *
read_text(Reader *reader, const char *group, const char *name)
{
  return reader->fault == NULL ? g_key_file_get_string(reader->file, group, name, &reader->fault) : NULL;
}

static gint64
read_number(Reader *reader, const char *group, const char *name)
{
  return reader->fault == NULL ? g_key_file_get_int64(reader->file, group, name, &reader->fault) : 0;
}

static gboolean
read_boolean(Reader *reader, const char *group, const char *name)
{
  return reader->fault == NULL && g_key_file_get_boolean(reader->file, group, name, &reader->fault);
}

static void
read_bytes(Reader *reader, const char *group, const char *name, TideBuffer *ret_bytes)
{
  g_autofree char *hex = read_text(reader, group, name);
  if (hex != NULL && !tide_bytes_from_hex(hex, strlen(hex), ret_bytes))
    g_set_error(&reader->fault, TIDE_ERROR, TIDE_ERROR_DATA, "'%s' of '%s' is no pairs of hex digits", name, group);
}

static void
read_range(Reader *reader, const char *group, TideRollupRange *range)
{
  read_bytes(reader, group, "start", &range->keys.start);
  read_bytes(reader, group, "stop", &range->keys.stop);
  read_bytes(reader, group, "mark", &range->mark);
  range->done = read_boolean(reader, group, "done");
  range->rows = (guint64)read_number(reader, group, "rows");
  range->cells = (guint64)read_number(reader, group, "cells");
}

static TideRollupMarks *
read_marks(Reader *reader)
{
  gint64 version = read_number(reader, GROUP, "version");
  if (reader->fault == NULL && version != VERSION)
    g_set_error(&reader->fault, TIDE_ERROR, TIDE_ERROR_DATA,
                "it is of version %" G_GINT64_FORMAT ", this program writes %d", version, VERSION);
  g_autofree char *source = read_text(reader, GROUP, "source");
  g_autofree char *target = read_text(reader, GROUP, "target");
  gint64 from_ms = read_number(reader, GROUP, "from_ms");
  g_autoptr(TideRollupMarks) marks =
      tide_rollup_marks_new(source, target, from_ms, read_number(reader, GROUP, "to_ms"));
  marks->cluster = g_key_file_get_string(reader->file, GROUP, "cluster", NULL);
  marks->done = read_boolean(reader, GROUP, "done");
  /* A range that is announced and not there ends the loop: a number alone allocates nothing. */
  gint64 n_ranges = read_number(reader, GROUP, "ranges");
  for (gint64 i = 0; i < n_ranges && reader->fault == NULL; i++) {
    g_autofree char *group = g_strdup_printf("range %" G_GINT64_FORMAT, i);
    tide_rollup_marks_add(marks, TIDE_BYTES_EMPTY, TIDE_BYTES_EMPTY);
    read_range(reader, group, &g_array_index(marks->ranges, TideRollupRange, marks->ranges->len - 1));
  }
  return reader->fault == NULL ? g_steal_pointer(&marks) : NULL;
}

TideRollupMarks *
tide_rollup_marks_read(const char *text, GError **error)
{
  g_autoptr(GKeyFile) file = g_key_file_new();
  Reader reader = {.file = file};
  (void)g_key_file_load_from_data(file, text, strlen(text), G_KEY_FILE_NONE, &reader.fault);
  TideRollupMarks *marks = reader.fault == NULL ? read_marks(&reader) : NULL;
  if (marks == NULL) {
    g_set_error_literal(error, TIDE_ERROR, TIDE_ERROR_DATA, reader.fault->message);
    g_error_free(reader.fault);
  }
  return marks;
}

gboolean
tide_rollup_marks_save(const char *text, const char *path, GError **error)
{
  g_autoptr(GError) cause = NULL;
  GFileSetContentsFlags flags = G_FILE_SET_CONTENTS_CONSISTENT | G_FILE_SET_CONTENTS_DURABLE;
  if (g_file_set_contents_full(path, text, -1, flags, 0600, &cause))
    return TRUE;
  g_set_error(error, TIDE_ERROR, TIDE_ERROR_IO, "cannot write '%s': %s", path, cause->message);
  return FALSE;
}

TideRollupMarks *
tide_rollup_marks_load(const char *path, GError **error)
{
  g_autofree char *text = NULL;
  g_autoptr(GError) cause = NULL;
  if (!g_file_get_contents(path, &text, NULL, &cause)) {
    if (!g_error_matches(cause, G_FILE_ERROR, G_FILE_ERROR_NOENT))
      g_set_error(error, TIDE_ERROR, TIDE_ERROR_IO, "cannot read '%s': %s", path, cause->message);
    return NULL;
  }
  TideRollupMarks *marks = tide_rollup_marks_read(text, error);
  if (marks == NULL)
    g_prefix_error(error, "'%s' holds no rollup's marks (remove it to begin anew): ", path);
  return marks;
}
