#include "files/file_load.h"

#include "util/error.h"
#include "util/lock.h"
#include "util/pace.h"

#include <limits.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct TideFileLoad {
  /* read-only */
  TideFileLoadOptions options; /* its texts are owned */
  GPtrArray *files;            /* owned (element-type TideLoadedFile) */
  /* any thread */
  _Atomic gboolean is_stopped;
  /* under lock */
  TideMutex lock;
  guint next;
  TidePace pace; /* of records */
};

static void
loaded_file_free(gpointer data)
{
  TideLoadedFile *file = data;
  tide_file_reader_free(file->reader);
  tide_file_text_free(file->text);
  tide_file_mark_clear(&file->mark);
  g_free(file->problem);
  g_free(file->mark_problem);
  g_free(file->mark_path);
  g_free(file->path);
  g_free(file);
}

TideFileLoad *
tide_file_load_new(const TideFileLoadOptions *options)
{
  TideFileLoad *load = g_new0(TideFileLoad, 1);
  load->options = *options;
  load->pace.per_s = options->rate_per_s;
  load->options.marks_directory = g_strdup(options->marks_directory);
  load->options.job = g_strdup(options->job);
  load->options.destination = g_strdupv(options->destination);
  load->files = g_ptr_array_new_with_free_func(loaded_file_free);
  tide_mutex_init(&load->lock);
  return load;
}

void
tide_file_load_free(TideFileLoad *load)
{
  if (load == NULL)
    return;
  g_ptr_array_unref(load->files);
  tide_mutex_clear(&load->lock);
  g_strfreev(load->options.destination);
  g_free((char *)load->options.job);
  g_free((char *)load->options.marks_directory);
  g_free(load);
}

/* ---- files ---- */

static gboolean
is_input(const char *path)
{
  return strcmp(path, "-") == 0;
}

static gboolean
check_is_new(const TideFileLoad *load, const TideLoadedFile *file, GError **error)
{
  for (guint i = 0; i < load->files->len; i++) {
    const TideLoadedFile *other = g_ptr_array_index(load->files, i);
    if (other->device != file->device || other->inode != file->inode)
      continue;
    return strcmp(other->path, file->path) == 0
               ? tide_fail(error, TIDE_ERROR_USAGE, "'%s' is given twice", file->path)
               : tide_fail(error, TIDE_ERROR_USAGE, "'%s' and '%s' are the same file", other->path, file->path);
  }
  return TRUE;
}

/* Loads the file's mark. */
static gboolean
take_mark(const TideFileLoad *load, TideLoadedFile *file, const TideFileState *now, GError **error)
{
  g_autoptr(GError) problem = NULL;
  if (!tide_file_mark_load(file->mark_path, &file->mark, &problem)) {
    if (problem == NULL)
      return TRUE;
    g_propagate_error(error, g_steal_pointer(&problem));
    return FALSE;
  }
  gboolean is_of_this = FALSE; /* one matching address of the destination is enough */
  for (char **way = file->mark.destination; *way != NULL; way++)
    is_of_this |= g_strv_contains((const char *const *)load->options.destination, *way);
  if (!is_of_this)
    tide_file_mark_clear(&file->mark);
  else if (file->mark.is_finished && tide_file_mark_is_of(&file->mark, now))
    file->state = TIDE_LOADED_BEFORE;
  return TRUE;
}

gboolean
tide_file_load_add(TideFileLoad *load, const char *path, GError **error)
{
  g_autoptr(TideFileText) text = tide_file_text_open(path, error);
  if (text == NULL)
    return FALSE;
  TideFileState now = tide_file_text_state(text);
  TideLoadedFile *file = g_new0(TideLoadedFile, 1);
  file->path = is_input(path) ? g_strdup(path) : g_canonicalize_filename(path, NULL);
  file->mark = (TideFileMark)TIDE_FILE_MARK_START;
  file->device = now.device;
  file->inode = now.inode;
  file->size_bytes = now.size_bytes;
  gboolean is_pipe = tide_file_text_waited_fd(text) >= 0;
  /* Uses the file's real name: a link may point to another file tomorrow, as /dev/stdin does. */
  char real[PATH_MAX];
  if (load->options.marks_directory != NULL && !is_pipe && !is_input(path))
    file->mark_path = tide_file_mark_path(load->options.marks_directory,
                                          realpath(file->path, real) != NULL ? real : file->path, load->options.job);
  if (is_pipe)
    file->text = g_steal_pointer(&text);
  gboolean good = check_is_new(load, file, error);
  g_ptr_array_add(load->files, file);
  if (good && file->mark_path != NULL && !load->options.again)
    good = take_mark(load, file, &now, error);
  if (load->options.is_dry) { /* reads everything, and reports what a real load would skip */
    gboolean is_begun = file->mark.was_kept && file->mark.offset > 1;
    file->marked = file->state != TIDE_LOADED_NOT ? file->state : is_begun ? TIDE_LOADED_PARTLY : TIDE_LOADED_NOT;
    file->state = TIDE_LOADED_NOT;
    tide_file_mark_clear(&file->mark);
  }
  if (file->mark.destination == NULL)
    file->mark.destination = g_strdupv(load->options.destination);
  return good;
}

const GPtrArray *
tide_file_load_files(const TideFileLoad *load)
{
  return load->files;
}

void
tide_file_load_stop(TideFileLoad *load)
{
  atomic_store_explicit(&load->is_stopped, TRUE, memory_order_release);
}

gboolean
tide_file_load_is_stopped(const TideFileLoad *load)
{
  return atomic_load_explicit(&load->is_stopped, memory_order_acquire);
}

/* ---- for the consumers ---- */

static TideLoadedFile *
next_file(TideFileLoad *load)
{
  TideLoadedFile *file = NULL;
  tide_mutex_lock(&load->lock);
  while (load->next < load->files->len && (file == NULL || file->state == TIDE_LOADED_BEFORE))
    file = g_ptr_array_index(load->files, load->next++);
  if (file != NULL && file->state == TIDE_LOADED_BEFORE)
    file = NULL;
  if (file != NULL)
    file->state = TIDE_LOADED_PARTLY;
  tide_mutex_unlock(&load->lock);
  return file;
}

TideLoadedFile *
tide_file_load_take(TideFileLoad *load, gboolean (*go_on)(gpointer data), gpointer data)
{
  while (!tide_file_load_is_stopped(load)) {
    TideLoadedFile *file = next_file(load);
    if (file == NULL)
      return NULL;
    g_autoptr(GError) error = NULL;
    TideFileReaderOptions options = {.path = file->path,
                                     .text = g_steal_pointer(&file->text),
                                     .decode = &load->options.source->readings->decode,
                                     .mark = &file->mark,
                                     .go_on = go_on,
                                     .go_on_data = data};
    TideFileReader *reader = tide_file_reader_open(&options, &error);
    tide_mutex_lock(&load->lock);
    file->reader = reader;
    if (reader == NULL)
      file->problem = g_strdup(error->message);
    tide_mutex_unlock(&load->lock);
    if (reader != NULL)
      return file;
  }
  return NULL;
}

void
tide_file_load_note_end(TideFileLoad *load, TideLoadedFile *file)
{
  const char *problem = tide_file_reader_problem(file->reader);
  tide_mutex_lock(&load->lock);
  if (problem == NULL)
    file->state = TIDE_LOADED_READ;
  else if (file->problem == NULL)
    file->problem = g_strdup(problem);
  tide_mutex_unlock(&load->lock);
}

void
tide_file_load_note_mark(TideFileLoad *load, TideLoadedFile *file, const char *problem)
{
  tide_mutex_lock(&load->lock);
  g_free(file->mark_problem);
  file->mark_problem = g_strdup(problem);
  tide_mutex_unlock(&load->lock);
}

gint64
tide_file_load_wait_for_rate_us(TideFileLoad *load, gint64 now_us)
{
  if (load->options.rate_per_s == 0) /* without the lock */
    return 0;
  tide_mutex_lock(&load->lock);
  gint64 wait_us = tide_pace_wait_us(&load->pace, now_us);
  tide_mutex_unlock(&load->lock);
  return wait_us;
}

void
tide_file_load_count_for_rate(TideFileLoad *load, gint64 now_us)
{
  if (load->options.rate_per_s == 0)
    return;
  tide_mutex_lock(&load->lock);
  tide_pace_add(&load->pace, 1, now_us);
  tide_mutex_unlock(&load->lock);
}

static gboolean
is_over(const TideLoadedFile *file)
{
  return file->state == TIDE_LOADED_BEFORE || file->state == TIDE_LOADED_READ || file->problem != NULL;
}

gboolean
tide_file_load_is_read(TideFileLoad *load)
{
  gboolean is_read = TRUE;
  tide_mutex_lock(&load->lock);
  for (guint i = 0; i < load->files->len; i++)
    is_read &= is_over(g_ptr_array_index(load->files, i));
  tide_mutex_unlock(&load->lock);
  return is_read;
}

TideFileLoadProgress
tide_file_load_progress(TideFileLoad *load)
{
  TideFileLoadProgress progress = {0};
  gboolean is_known = TRUE;
  tide_mutex_lock(&load->lock);
  for (guint i = 0; i < load->files->len; i++) {
    const TideLoadedFile *file = g_ptr_array_index(load->files, i);
    is_known &= file->size_bytes > 0 || is_over(file); /* 0 for a pipe and for an empty file */
    progress.all_bytes += file->size_bytes;
    if (is_over(file))
      progress.read_bytes += file->size_bytes;
    else if (file->reader != NULL)
      progress.read_bytes += tide_file_reader_raw_bytes(file->reader);
    if (file->state == TIDE_LOADED_BEFORE)
      progress.before_bytes += file->size_bytes;
    else if (file->reader != NULL)
      progress.before_bytes += tide_file_reader_passed_bytes(file->reader);
  }
  tide_mutex_unlock(&load->lock);
  progress.all_bytes = is_known ? progress.all_bytes : 0;
  return progress;
}

gboolean
tide_file_load_copy(TideFileLoad *load, TideBytes path, gint64 offset, TideBuffer *out)
{
  gboolean is_there = FALSE;
  tide_mutex_lock(&load->lock);
  for (guint i = 0; i < load->files->len && !is_there; i++) {
    const TideLoadedFile *file = g_ptr_array_index(load->files, i);
    if (file->reader != NULL && tide_bytes_equal(tide_bytes_of_string(file->path), path))
      is_there = tide_file_reader_copy(file->reader, offset, out);
  }
  tide_mutex_unlock(&load->lock);
  return is_there;
}
