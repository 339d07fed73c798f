#include "files/file_input.h"

#include "util/clock.h"
#include "util/error.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* Maximum number of fills before other work is checked: a file of empty lines has no records. */
#define MAX_FILLS 64

/* An assigned file; its index is its slot's. */
typedef struct Assigned {
  TideLoadedFile *file; /* owned by the load */
  guint32 slot;
  gboolean is_paused;
  gboolean end_is_told;
  gint64 stored;    /* to be committed; 0: none */
  gboolean is_over; /* everything is committed: the file is done */
} Assigned;

typedef struct TideFileInput {
  TideInput input;
  /* read-only */
  TideFileInputOptions options;
  TideInputHandlers handlers;
  int wake_fd;
  /* one thread */
  GArray *assigned;   /* owned (element-type Assigned), in the order they were taken */
  guint first;        /* index in assigned: earlier files are finished */
  gboolean none_left; /* no files left in the load */
  gboolean was_asked; /* the first file was requested */
  gint64 commit_us;   /* time of the next commit of stored offsets */
} TideFileInput;

static TideFileInput *
input_of(TideInput *input)
{
  return (TideFileInput *)input;
}

static Assigned *
assigned_at(const TideFileInput *input, guint index)
{
  return &g_array_index(input->assigned, Assigned, index);
}

static Assigned *
find_slot(const TideFileInput *input, guint32 slot)
{
  for (guint i = input->assigned->len; i > 0; i--)
    if (assigned_at(input, i - 1)->slot == slot)
      return assigned_at(input, i - 1);
  g_assert_not_reached();
}

/* ---- marks ---- */

/* Writes @offset to the file's mark and reports the result. On failure, the reason replaces @problem. */
static void
commit_offset(TideFileInput *input, guint32 slot, gint64 offset, const char *note, char **problem)
{
  Assigned *assigned = find_slot(input, slot);
  TideLoadedFile *file = assigned->file;
  TideFileMark mark = tide_file_reader_pass(file->reader, offset);
  g_autoptr(GError) error = NULL;
  mark.note = g_strdup(note);
  mark.destination = g_steal_pointer(&file->mark.destination);
  tide_file_mark_clear(&file->mark);
  file->mark = mark;
  gboolean good = file->mark_path == NULL || tide_file_mark_save(&mark, file->mark_path, file->path, &error);
  tide_file_load_note_mark(input->options.load, file, good ? NULL : error->message);
  assigned->stored = 0;
  assigned->is_over = good && file->mark.is_finished;
  input->handlers.committed(slot, offset, good, input->handlers.data);
  if (good)
    return;
  g_free(*problem);
  *problem = g_strdup(error->message);
}

static void
commit_stored(TideFileInput *input, gint64 now_us)
{
  if (now_us < input->commit_us)
    return;
  g_autofree char *problem = NULL;
  for (guint i = input->first; i < input->assigned->len; i++) {
    const Assigned *assigned = assigned_at(input, i);
    if (assigned->stored != 0)
      commit_offset(input, assigned->slot, assigned->stored, NULL, &problem);
  }
  input->commit_us = G_MAXINT64;
  if (problem != NULL)
    input->handlers.commit_failed(problem, input->handlers.data);
}

static gboolean
store(TideInput *self, guint32 slot, gint64 offset)
{
  TideFileInput *input = input_of(self);
  Assigned *assigned = find_slot(input, slot);
  assigned->stored = offset;
  (void)tide_file_reader_pass(assigned->file->reader, offset); /* frees memory */
  if (input->commit_us == G_MAXINT64)
    input->commit_us = tide_now_us() + input->options.commit_interval_ms * TIDE_US_PER_MS;
  return TRUE;
}

/* Returns: the last problem. (transfer full) (nullable) */
static char *
commit_all(TideFileInput *input, const TideInputCommit *commits, gsize n_commits)
{
  char *problem = NULL;
  for (gsize i = 0; i < n_commits; i++)
    commit_offset(input, commits[i].slot, commits[i].offset, commits[i].note, &problem);
  return problem;
}

static void
commit_later(TideInput *self, const TideInputCommit *commits, gsize n_commits)
{
  TideFileInput *input = input_of(self);
  g_autofree char *problem = commit_all(input, commits, n_commits);
  if (problem != NULL)
    input->handlers.commit_failed(problem, input->handlers.data);
}

static gboolean
commit_now(TideInput *self, const TideInputCommit *commits, gsize n_commits, gint64 deadline_us, char **ret_problem)
{
  *ret_problem = commit_all(input_of(self), commits, n_commits);
  return *ret_problem == NULL;
}

/* ---- files ---- */

static gboolean
go_on(gpointer data)
{
  TideFileInput *input = data;
  input->handlers.progress(input->handlers.data);
  return !tide_file_load_is_stopped(input->options.load);
}

static void
assign(TideFileInput *input, TideLoadedFile *file)
{
  const char *note = file->mark.note != NULL ? file->mark.note : "";
  TideInputLog log = {.wanted_offset = -1,
                      .committed_offset = file->mark.was_kept ? file->mark.offset : -1,
                      .note = tide_bytes_of_string(note),
                      .begin_offset = file->mark.offset,
                      .end_offset = -1,
                      .start_offset = file->mark.offset};
  Assigned assigned = {.file = file, .slot = input->handlers.assigned(file->path, 0, input->handlers.data)};
  g_array_append_val(input->assigned, assigned);
  (void)input->handlers.located(assigned.slot, &log, input->handlers.data);
  input->handlers.unlocated(0, NULL, input->handlers.data);
  input->handlers.taking(&assigned.slot, 1, input->handlers.data);
}

/* Takes the next file of the load, if there is one. */
static void
take_file(TideFileInput *input)
{
  TideLoadedFile *file = input->none_left ? NULL : tide_file_load_take(input->options.load, go_on, input);
  input->none_left = file == NULL;
  if (file != NULL)
    assign(input, file);
  if (file != NULL || !input->was_asked)
    input->handlers.assignment_done(input->handlers.data);
  input->was_asked = TRUE;
}

static gboolean
has_room(const TideFileInput *input, const Assigned *assigned)
{
  gsize bytes = 0;
  for (guint i = input->first; i < input->assigned->len; i++)
    bytes += tide_file_reader_window_bytes(assigned_at(input, i)->file->reader);
  return bytes < input->options.window_bytes || tide_file_reader_window_bytes(assigned->file->reader) == 0;
}

/* The current file is the last one taken. At its end, another file is taken before the end is reported: a consumer that
 * has reached the end of all its files is done. */
static void
report_end(TideFileInput *input, guint index)
{
  Assigned *assigned = assigned_at(input, index);
  if (assigned->end_is_told || !tide_file_reader_is_at_end(assigned->file->reader))
    return;
  if (index + 1 == input->assigned->len && !tide_file_load_is_stopped(input->options.load))
    take_file(input);
  assigned = assigned_at(input, index); /* the array may have moved */
  tide_file_load_note_end(input->options.load, assigned->file);
  assigned->end_is_told = TRUE;
  input->handlers.reached_end(assigned->slot, tide_file_reader_end_offset(assigned->file->reader),
                              input->handlers.data);
}

/* ---- polling ---- */

/* Waits for a wake-up, or @fd (-1: none). TRUE: @fd is readable. */
static gboolean
wait_for(TideFileInput *input, int fd, int timeout_ms)
{
  struct pollfd waited[] = {{.fd = input->wake_fd, .events = POLLIN}, {.fd = fd, .events = POLLIN}};
  if (poll(waited, G_N_ELEMENTS(waited), timeout_ms) <= 0)
    return FALSE;
  eventfd_t n_wakes;
  if (waited[0].revents != 0)
    (void)eventfd_read(input->wake_fd, &n_wakes);
  return waited[1].revents != 0;
}

/* Reads more of the current file. FALSE: no data yet, after waiting. */
static gboolean
read_more(TideFileInput *input, int timeout_ms)
{
  const Assigned *last = input->assigned->len > input->first ? assigned_at(input, input->assigned->len - 1) : NULL;
  if (last == NULL || last->is_paused || last->end_is_told || !has_room(input, last)) {
    (void)wait_for(input, -1, timeout_ms);
    return FALSE;
  }
  int fd = tide_file_reader_waited_fd(last->file->reader);
  if (fd >= 0 && !wait_for(input, fd, timeout_ms))
    return FALSE;
  tide_file_reader_fill(last->file->reader);
  return TRUE;
}

static gboolean
next_record(TideFileInput *input, TideInputRecord *ret_record)
{
  while (input->first < input->assigned->len && assigned_at(input, input->first)->is_over &&
         assigned_at(input, input->first)->end_is_told)
    input->first++;
  for (guint i = input->first; i < input->assigned->len; i++) {
    const Assigned *assigned = assigned_at(input, i);
    TideFileRecord found;
    if (!assigned->is_paused && tide_file_reader_next(assigned->file->reader, &found)) {
      *ret_record = (TideInputRecord){.slot = assigned->slot,
                                      .message = {.topic = tide_bytes_of_string(assigned->file->path),
                                                  .offset = found.offset,
                                                  .timestamp_ms = tide_wall_clock_epoch_ms(),
                                                  .is_append_time = TRUE,
                                                  .value = found.text,
                                                  .has_value = TRUE}};
      return TRUE;
    }
    report_end(input, i);
  }
  return FALSE;
}

static gboolean
poll_files(TideInput *self, int timeout_ms, TideInputRecord *ret_record)
{
  TideFileInput *input = input_of(self);
  gint64 now_us = tide_now_us();
  if (input->commit_us != G_MAXINT64)
    commit_stored(input, now_us);
  if (!input->was_asked)
    take_file(input);
  gint64 wait_us = tide_file_load_wait_for_rate_us(input->options.load, now_us);
  if (wait_us > 0) {
    (void)wait_for(input, -1, (int)MIN(timeout_ms, wait_us / TIDE_US_PER_MS + 1));
    return FALSE;
  }
  for (int i = 0; i < MAX_FILLS; i++) {
    if (next_record(input, ret_record)) {
      tide_file_load_count_for_rate(input->options.load, now_us);
      return TRUE;
    }
    if (!read_more(input, timeout_ms))
      return FALSE;
  }
  return FALSE;
}

static void
release(TideInput *self, TideInputRecord *record)
{
}

static void
wake(TideInput *self)
{
  (void)eventfd_write(input_of(self)->wake_fd, 1);
}

static void
pause_file(TideInput *self, guint32 slot)
{
  find_slot(input_of(self), slot)->is_paused = TRUE;
}

static void
resume_file(TideInput *self, guint32 slot)
{
  find_slot(input_of(self), slot)->is_paused = FALSE;
}

static void
move(TideInput *self, const TideInputMove *moves, gsize n_moves)
{
  for (gsize i = 0; i < n_moves; i++) {
    Assigned *assigned = find_slot(input_of(self), moves[i].slot);
    tide_file_reader_move(assigned->file->reader, moves[i].offset);
    assigned->end_is_told = FALSE;
  }
}

/* ---- lifetime ---- */

static void
close_files(TideInput *self)
{
}

static void
free_input(TideInput *self)
{
  TideFileInput *input = input_of(self);
  g_array_unref(input->assigned);
  close(input->wake_fd);
  g_free(input);
}

static const TideInputFuncs funcs = {.poll = poll_files,
                                     .release = release,
                                     .wake = wake,
                                     .pause = pause_file,
                                     .resume = resume_file,
                                     .store = store,
                                     .commit_later = commit_later,
                                     .commit = commit_now,
                                     .move = move,
                                     .close = close_files,
                                     .free = free_input};

TideInput *
tide_file_input_new(const TideFileInputOptions *options, const TideInputHandlers *handlers)
{
  TideFileInput *input = g_new0(TideFileInput, 1);
  input->input.funcs = &funcs;
  input->options = *options;
  input->handlers = *handlers;
  input->assigned = g_array_new(FALSE, FALSE, sizeof(Assigned));
  input->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  input->commit_us = G_MAXINT64;
  return &input->input;
}
