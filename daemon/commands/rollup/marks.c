/* The progress of a rollup: its ranges of row keys, and the last row of each that HBase has acknowledged. Stored in a
 * file, so that a killed rollup continues; without the file it starts again, which only costs time. */
#include "commands/rollup/rollup.h"
#include "util/error.h"

#include <string.h>

/* The file is a GKeyFile with one group for the rollup and one for each range. Row keys are hexadecimal. */
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

TideRollupCounts
tide_rollup_marks_count(const TideRollupMarks *marks)
{
  TideRollupCounts counts = {0};
  for (guint i = 0; i < marks->ranges->len; i++) {
    const TideRollupCounts *range = &g_array_index(marks->ranges, TideRollupRange, i).counts;
    counts.rows += range->rows;
    counts.cells += range->cells;
  }
  return counts;
}

/* ---- reading ---- */

/* Reads a value; the first fault is kept, and later calls do nothing. */
static char *
read_text(GKeyFile *file, const char *group, const char *name, GError **fault)
{
  return *fault == NULL ? g_key_file_get_string(file, group, name, fault) : NULL;
}

static gint64
read_number(GKeyFile *file, const char *group, const char *name, GError **fault)
{
  return *fault == NULL ? g_key_file_get_int64(file, group, name, fault) : 0;
}

static gboolean
read_boolean(GKeyFile *file, const char *group, const char *name, GError **fault)
{
  return *fault == NULL && g_key_file_get_boolean(file, group, name, fault);
}

/* The row key @name of @group, in hex. */
static void
read_key(GKeyFile *file, const char *group, const char *name, TideBuffer *ret_key, GError **fault)
{
  g_autofree char *hex = read_text(file, group, name, fault);
  if (hex != NULL && !tide_bytes_from_hex(hex, strlen(hex), ret_key))
    g_set_error(fault, TIDE_ERROR, TIDE_ERROR_DATA, "'%s' of '%s' is not hexadecimal", name, group);
}

TideRollupMarks *
tide_rollup_marks_load(const char *path, GError **error)
{
  g_autoptr(GKeyFile) file = g_key_file_new();
  g_autoptr(GError) fault = NULL;
  if (!g_key_file_load_from_file(file, path, G_KEY_FILE_NONE, &fault) && fault->domain == G_FILE_ERROR) {
    if (!g_error_matches(fault, G_FILE_ERROR, G_FILE_ERROR_NOENT))
      g_set_error(error, TIDE_ERROR, TIDE_ERROR_IO, "cannot read '%s': %s", path, fault->message);
    return NULL;
  }
  gint64 version = read_number(file, GROUP, "version", &fault);
  if (fault == NULL && version != VERSION)
    g_set_error(&fault, TIDE_ERROR, TIDE_ERROR_DATA,
                "it has version %" G_GINT64_FORMAT ", but this tidemark writes version %d", version, VERSION);
  g_autofree char *source = read_text(file, GROUP, "source", &fault);
  g_autofree char *target = read_text(file, GROUP, "target", &fault);
  gint64 from_ms = read_number(file, GROUP, "from_ms", &fault), to_ms = read_number(file, GROUP, "to_ms", &fault);
  g_autoptr(TideRollupMarks) marks = tide_rollup_marks_new(source, target, from_ms, to_ms);
  marks->cluster = g_key_file_get_string(file, GROUP, "cluster", NULL);
  marks->done = read_boolean(file, GROUP, "done", &fault);
  /* The first missing range ends the loop: a large number alone allocates nothing. */
  gint64 n_ranges = read_number(file, GROUP, "ranges", &fault);
  for (gint64 i = 0; i < n_ranges && fault == NULL; i++) {
    g_autofree char *group = g_strdup_printf("range %" G_GINT64_FORMAT, i);
    tide_rollup_marks_add(marks, TIDE_BYTES_EMPTY, TIDE_BYTES_EMPTY);
    TideRollupRange *range = &g_array_index(marks->ranges, TideRollupRange, marks->ranges->len - 1);
    read_key(file, group, "start", &range->keys.start, &fault);
    read_key(file, group, "stop", &range->keys.stop, &fault);
    read_key(file, group, "mark", &range->mark, &fault);
    range->done = read_boolean(file, group, "done", &fault);
    range->counts.rows = (guint64)read_number(file, group, "rows", &fault);
    range->counts.cells = (guint64)read_number(file, group, "cells", &fault);
  }
  if (fault == NULL)
    return g_steal_pointer(&marks);
  tide_fail(error, TIDE_ERROR_DATA, "'%s' contains no valid marks of a rollup (remove it to start again): %s", path,
            fault->message);
  return NULL;
}

/* ---- writing ---- */

static void
set_key(GKeyFile *file, const char *group, const char *name, const TideBuffer *key)
{
  g_autofree char *hex = tide_bytes_hex(tide_buffer_bytes(key));
  g_key_file_set_string(file, group, name, hex);
}

gboolean
tide_rollup_marks_save(const TideRollupMarks *marks, const char *path, GError **error)
{
  g_autoptr(GKeyFile) file = g_key_file_new();
  g_autoptr(GError) cause = NULL;
  if (path == NULL)
    return TRUE;
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
    set_key(file, group, "start", &range->keys.start);
    set_key(file, group, "stop", &range->keys.stop);
    set_key(file, group, "mark", &range->mark);
    g_key_file_set_boolean(file, group, "done", range->done);
    g_key_file_set_uint64(file, group, "rows", range->counts.rows);
    g_key_file_set_uint64(file, group, "cells", range->counts.cells);
  }
  g_autofree char *text = g_key_file_to_data(file, NULL, NULL);
  GFileSetContentsFlags flags = G_FILE_SET_CONTENTS_CONSISTENT | G_FILE_SET_CONTENTS_DURABLE;
  return g_file_set_contents_full(path, text, -1, flags, 0600, &cause) ||
         tide_fail(error, TIDE_ERROR_IO, "cannot write '%s': %s", path, cause->message);
}
