#include "commands/dead_letters/dead_letter_source.h"

#include "commands/cli/message_lines.h"
#include "commands/cli/progress.h"
#include "commands/cli/time_argument.h"
#include "dead_letters/dead_letter_file.h"
#include "dead_letters/dead_letter_json.h"
#include "dead_letters/kafka_dead_letter.h"
#include "kafka/kafka_topic_reader.h"
#include "util/error.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Without a message for this long the brokers are considered unavailable. */
#define TIMEOUT_MS 10000

/* Maximum number of moved files named. */
#define MAX_MOVED 5u

typedef struct Source {
  const TideDeadLetterFilter *filter;
  TideDeadLetterFunc func;
  gpointer data;
  TideDeadLetterCounts *counts;
  TideKafkaDeadLetterMemory memory; /* for a topic */
  GError *error;                    /* owned: of func */
  gboolean stopped;
} Source;

static gboolean
is_text(TideBytes bytes, const char *wanted)
{
  return wanted == NULL || tide_bytes_equal(bytes, tide_bytes_of_string(wanted));
}

/* @dead_letter: NULL: it is unreadable. FALSE to stop. */
static gboolean
take(Source *source, const TideDeadLetter *dead_letter, gint64 kept_at_ms)
{
  const TideDeadLetterFilter *filter = source->filter;
  source->counts->n_read++;
  if (dead_letter == NULL) {
    source->counts->n_unreadable++;
    return TRUE;
  }
  if (!is_text(dead_letter->reason, filter->reason) || !is_text(dead_letter->table, filter->table) ||
      !is_text(dead_letter->topic, filter->topic) || !is_text(dead_letter->source, filter->source) ||
      (filter->one && (dead_letter->partition != filter->partition || dead_letter->offset != filter->offset)) ||
      (filter->from_ms != 0 && kept_at_ms < filter->from_ms) || (filter->to_ms != 0 && kept_at_ms >= filter->to_ms))
    return TRUE;
  source->counts->n_taken++;
  source->stopped = !source->func(dead_letter, kept_at_ms, source->data, &source->error);
  return !source->stopped;
}

static gint64
kept_at_ms(TideBytes text)
{
  if (text.len == 0)
    return -1; /* a line from another writer */
  g_autofree char *copy = g_strndup((const char *)text.data, text.len);
  gint64 ns;
  return tide_time_argument_parse(copy, 0, &ns, NULL) ? ns / 1000000 : -1;
}

static gboolean
take_line(Source *source, TideDeadLetterParser *parser, TideBytes line)
{
  TideDeadLetter dead_letter;
  TideBytes kept_at;
  while (line.len > 1 && line.data[0] == '\0') /* a hole left before it by a crash, or by truncating the file */
    line = tide_bytes(line.data + 1, line.len - 1);
  /* The last line of the file being written may be incomplete. */
  if (line.data[line.len - 1] != '\n' || !tide_dead_letter_parser_parse(parser, line, &dead_letter, &kept_at, NULL))
    return take(source, NULL, -1);
  return take(source, &dead_letter, kept_at_ms(kept_at));
}

/* A file as it was when reading began: lines appended meanwhile, perhaps because of replayed dead letters, are not
 * read, even if it is renamed. */
typedef struct OpenFile {
  const char *path; /* borrowed */
  FILE *stream;     /* owned */
  goffset n_bytes;
  dev_t device;
  ino_t inode;
} OpenFile;

static void
close_file(gpointer data)
{
  fclose(((OpenFile *)data)->stream);
}

static gboolean
open_file(GArray *files, const char *path, GError **error)
{
  OpenFile file = {.path = path, .stream = fopen(path, "re")};
  struct stat info;
  if (file.stream == NULL && errno == ENOENT)
    return TRUE; /* moved meanwhile, by an operator or a rotation */
  if (file.stream == NULL || fstat(fileno(file.stream), &info) != 0) {
    tide_fail(error, TIDE_ERROR_IO, "cannot open '%s': %s", path, g_strerror(errno));
    if (file.stream != NULL)
      fclose(file.stream);
    return FALSE;
  }
  file.n_bytes = info.st_size;
  file.device = info.st_dev;
  file.inode = info.st_ino;
  gboolean is_open = FALSE; /* a file renamed between two checks has two names */
  for (guint i = 0; i < files->len; i++) {
    const OpenFile *other = &g_array_index(files, OpenFile, i);
    is_open |= other->device == file.device && other->inode == file.inode;
  }
  if (is_open)
    fclose(file.stream);
  else
    g_array_append_val(files, file);
  return TRUE;
}

static gboolean
read_file(Source *source, TideDeadLetterParser *parser, const OpenFile *file, GError **error)
{
  g_auto(TideBuffer) line = {0};
  goffset n_left = file->n_bytes;
  while (n_left > 0) {
    gboolean is_line = tide_line_read(file->stream, &line);
    goffset len = is_line ? MIN((goffset)line.len, n_left) : (goffset)TIDE_LINE_MAX_BYTES + 1;
    n_left -= len;
    source->counts->n_unreadable += is_line ? 0 : 1;
    if (is_line && (len == 0 || !take_line(source, parser, tide_bytes(line.data, (gsize)len))))
      break;
  }
  gboolean ok = ferror(file->stream) == 0;
  if (!ok)
    tide_fail(error, TIDE_ERROR_IO, "cannot read '%s': %s", file->path, g_strerror(errno));
  return ok;
}

static int
compare_paths(gconstpointer a, gconstpointer b)
{
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The names of moved files: PATH.*, except the daemon's own. (transfer full) */
static GPtrArray *
list_moved(const char *path)
{
  g_autofree char *directory = g_path_get_dirname(path);
  g_autofree char *name = g_path_get_basename(path);
  g_autofree char *prefix = g_strconcat(name, ".", NULL);
  GPtrArray *moved = g_ptr_array_new_with_free_func(g_free);
  g_autoptr(GDir) entries = g_dir_open(directory, 0, NULL);
  const char *entry;
  while (entries != NULL && (entry = g_dir_read_name(entries)) != NULL)
    if (g_str_has_prefix(entry, prefix) && strcmp(entry + strlen(prefix), "lock") != 0 &&
        strcmp(entry + strlen(prefix), "torn") != 0)
      g_ptr_array_add(moved, g_build_filename(directory, entry, NULL));
  g_ptr_array_sort(moved, compare_paths);
  return moved;
}

char *
tide_dead_letter_source_missing_text(const char *path)
{
  g_autoptr(GPtrArray) moved = list_moved(path);
  GString *text = g_string_new(NULL);
  g_string_printf(text, "the file '%s' does not exist: no dead letter was stored there yet, or they were moved away",
                  path);
  for (guint i = 0; i < MIN(moved->len, MAX_MOVED); i++)
    g_string_append_printf(text, "%s '%s'", i == 0 ? "; beside it:" : ",", (const char *)moved->pdata[i]);
  if (moved->len > MAX_MOVED)
    g_string_append_printf(text, " and %u more", moved->len - MAX_MOVED);
  g_string_append(text, "; name a moved file with '--file'");
  return g_string_free(text, FALSE);
}

static gboolean
read_files(Source *source, const char *path, GError **error)
{
  g_autoptr(GPtrArray) paths = tide_dead_letter_file_list(path, error);
  if (paths == NULL)
    return FALSE;
  if (paths->len == 0) {
    g_autofree char *missing = tide_dead_letter_source_missing_text(path);
    return tide_fail(error, TIDE_ERROR_NOT_FOUND, "%s", missing);
  }
  g_autoptr(GArray) files = g_array_new(FALSE, FALSE, sizeof(OpenFile));
  g_array_set_clear_func(files, close_file);
  g_autoptr(TideDeadLetterParser) parser = tide_dead_letter_parser_new();
  gboolean ok = TRUE;
  for (guint i = 0; i < paths->len && ok; i++)
    ok = open_file(files, paths->pdata[i], error);
  for (guint i = 0; i < files->len && ok && !source->stopped; i++)
    ok = read_file(source, parser, &g_array_index(files, OpenFile, i), error);
  return ok;
}

static gboolean
take_record(const TideMessage *message, gpointer data)
{
  Source *source = data;
  TideDeadLetter dead_letter;
  tide_progress_step_end(); /* the next output may be printed */
  gboolean is_one = tide_kafka_dead_letter_read(message, &source->memory, &dead_letter, NULL);
  return take(source, is_one ? &dead_letter : NULL, message->timestamp_ms);
}

static gboolean
read_topic(Source *source, const TideKafkaConfig *config, const char *topic, GError **error)
{
  TideKafkaReadRequest request = {
      .topic = topic, .max_messages = G_MAXINT64, .timeout_ms = TIMEOUT_MS, .to_present_end = TRUE};
  TideKafkaReadResult result;
  tide_progress_step("reading topic '%s'", topic);
  gboolean ok = tide_kafka_read(config, &request, take_record, source, &result, error);
  tide_progress_step_end();
  tide_kafka_dead_letter_memory_clear(&source->memory);
  if (!ok || !result.timed_out)
    return ok;
  return tide_fail(error, TIDE_ERROR_KAFKA, "topic '%s' was only read in part: no message arrived for %d s", topic,
                   TIMEOUT_MS / 1000);
}

gboolean
tide_dead_letter_source_read(const TideConfig *config, const TideDeadLetterLocation *location,
                             const TideDeadLetterFilter *filter, TideDeadLetterFunc func, gpointer data,
                             TideDeadLetterCounts *ret_counts, GError **error)
{
  *ret_counts = (TideDeadLetterCounts){0};
  Source source = {.filter = filter, .func = func, .data = data, .counts = ret_counts};
  gboolean ok = location->topic != NULL ? read_topic(&source, &config->kafka, location->topic, error)
                                        : read_files(&source, location->file, error);
  if (source.error == NULL)
    return ok;
  g_clear_error(error);
  g_propagate_error(error, source.error);
  return FALSE;
}
