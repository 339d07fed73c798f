/* For F_OFD_SETLK, memrchr() and renameat2(). */
#define _GNU_SOURCE
#include "dead_letters/dead_letter_file.h"

#include "dead_letters/dead_letter_json.h"
#include "util/error.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_MODE 0640

/* Step for finding a torn line from the end. */
#define SCAN_BYTES (64 * 1024)

struct TideDeadLetterFile {
  char *path; /* owned */
  guint64 max_file_bytes;
  guint64 max_bytes;
  int lock_fd;
  int fd;            /* -1: closed; the next append reopens it */
  guint64 bytes;     /* synced size of PATH: where the next line begins */
  guint64 old_bytes; /* total of all PATH.N */
};

/* @what: for example "cannot open" */
static gboolean
fail(const char *what, const char *path, GError **error)
{
  g_set_error(error, TIDE_ERROR, TIDE_ERROR_IO, "%s '%s': %s", what, path, g_strerror(errno));
  return FALSE;
}

/* ---- existing files ---- */

/* The number of @name among the rotated files of @base; 0: not one of them. */
static guint64
number_of(const char *name, const char *base)
{
  gsize len = strlen(base);
  guint64 number = 0;
  if (strncmp(name, base, len) != 0 || name[len] != '.' || name[len + 1] == '0' ||
      !g_ascii_string_to_unsigned(name + len + 1, 10, 1, G_MAXINT64, &number, NULL))
    return 0;
  return number;
}

static gint
compare_numbers(gconstpointer a, gconstpointer b)
{
  guint64 first = *(const guint64 *)a, second = *(const guint64 *)b;
  return first < second ? -1 : first > second;
}

/* Sorted numbers (element-type guint64), empty if the directory does not exist; NULL: it cannot be listed. */
static GArray *
rotated_numbers(const char *path, GError **error)
{
  g_autofree char *directory = g_path_get_dirname(path);
  g_autofree char *base = g_path_get_basename(path);
  g_autoptr(GError) problem = NULL;
  g_autoptr(GDir) entries = g_dir_open(directory, 0, &problem);
  if (entries == NULL && !g_error_matches(problem, G_FILE_ERROR, G_FILE_ERROR_NOENT)) {
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_IO, "cannot list directory '%s': %s", directory, problem->message);
    return NULL;
  }
  GArray *numbers = g_array_new(FALSE, FALSE, sizeof(guint64));
  for (const char *name; entries != NULL && (name = g_dir_read_name(entries)) != NULL;) {
    guint64 number = number_of(name, base);
    if (number > 0)
      g_array_append_val(numbers, number);
  }
  g_array_sort(numbers, compare_numbers);
  return numbers;
}

static char *
rotated_path(const char *path, guint64 number)
{
  return g_strdup_printf("%s.%" G_GUINT64_FORMAT, path, number);
}

GPtrArray *
tide_dead_letter_file_list(const char *path, GError **error)
{
  g_autoptr(GArray) numbers = rotated_numbers(path, error);
  if (numbers == NULL)
    return NULL;
  GPtrArray *paths = g_ptr_array_new_with_free_func(g_free);
  for (guint i = 0; i < numbers->len; i++)
    g_ptr_array_add(paths, rotated_path(path, g_array_index(numbers, guint64, i)));
  if (g_file_test(path, G_FILE_TEST_EXISTS))
    g_ptr_array_add(paths, g_strdup(path));
  return paths;
}

static gboolean
measure_old(TideDeadLetterFile *file, GError **error)
{
  g_autoptr(GArray) numbers = rotated_numbers(file->path, error);
  if (numbers == NULL)
    return FALSE;
  file->old_bytes = 0;
  for (guint i = 0; i < numbers->len; i++) {
    g_autofree char *path = rotated_path(file->path, g_array_index(numbers, guint64, i));
    GStatBuf info;
    if (g_stat(path, &info) == 0)
      file->old_bytes += (guint64)info.st_size;
  }
  return TRUE;
}

/* ---- opening ---- */

/* New directory entries are durable only after a sync of the directory. */
static gboolean
sync_directory(const char *path, GError **error)
{
  g_autofree char *directory = g_path_get_dirname(path);
  int fd = g_open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
  if (fd < 0)
    return fail("cannot open directory", directory, error);
  gboolean synced = fsync(fd) == 0 || fail("cannot sync directory", directory, error);
  (void)close(fd);
  return synced;
}

void
tide_dead_letter_file_set_in_use(const char *path, GError **error)
{
  g_set_error(
      error, TIDE_ERROR, TIDE_ERROR_IN_USE,
      "another process writes its dead letters to '%s' (it holds '%s.lock'), and two daemons cannot share a file: set "
      "dead_letters.topic, which they can share, or give each its own dead_letters.file or state directory",
      path, path);
}

static gboolean
take_lock(TideDeadLetterFile *file, GError **error)
{
  g_autofree char *path = g_strconcat(file->path, ".lock", NULL);
  file->lock_fd = g_open(path, O_RDWR | O_CREAT | O_CLOEXEC, FILE_MODE);
  if (file->lock_fd < 0)
    return fail("cannot open", path, error);
  /* The lock belongs to the open file, not to the process, so closing another descriptor of it does not release it. */
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  if (fcntl(file->lock_fd, F_OFD_SETLK, &lock) == 0)
    return TRUE;
  if (errno != EAGAIN && errno != EACCES)
    return fail("cannot lock", path, error);
  tide_dead_letter_file_set_in_use(file->path, error);
  return FALSE;
}

static gboolean
write_all(int fd, TideBytes bytes)
{
  while (bytes.len > 0) {
    gssize n = write(fd, bytes.data, bytes.len);
    if (n < 0 && errno != EINTR)
      return FALSE;
    if (n > 0)
      bytes = tide_bytes_from(bytes, (gsize)n);
  }
  return TRUE;
}

static gboolean
read_at(int fd, guint64 offset, gsize len, TideBuffer *out)
{
  tide_buffer_reset(out);
  tide_buffer_reserve(out, len);
  while (out->len < len) {
    gssize n = pread(fd, out->data + out->len, len - out->len, (off_t)(offset + out->len));
    if (n == 0 || (n < 0 && errno != EINTR))
      return FALSE;
    out->len += n > 0 ? (gsize)n : 0;
  }
  return TRUE;
}

/* Finds the end of the last newline in the first @len bytes; 0: none. Returns FALSE on a read error. */
static gboolean
find_last_line_end(int fd, guint64 len, guint64 *ret_end)
{
  g_auto(TideBuffer) part = {0};
  while (len > 0) {
    gsize n = (gsize)MIN(len, SCAN_BYTES);
    if (!read_at(fd, len - n, n, &part))
      return FALSE;
    const guint8 *newline = memrchr(part.data, '\n', n);
    if (newline != NULL) {
      *ret_end = len - n + (guint64)(newline - part.data) + 1;
      return TRUE;
    }
    len -= n;
  }
  *ret_end = 0;
  return TRUE;
}

/* Appends [@from, @to) to PATH.torn. */
static gboolean
save_torn_line(const TideDeadLetterFile *file, guint64 from, guint64 to, GError **error)
{
  g_autofree char *path = g_strconcat(file->path, ".torn", NULL);
  int fd = g_open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, FILE_MODE);
  if (fd < 0)
    return fail("cannot open", path, error);
  g_auto(TideBuffer) part = {0};
  gboolean good = TRUE;
  for (guint64 at = from; good && at < to; at += part.len)
    good = read_at(file->fd, at, (gsize)MIN(to - at, SCAN_BYTES), &part) && write_all(fd, tide_buffer_bytes(&part));
  good = good && write_all(fd, TIDE_BYTES_LITERAL("\n")) && fsync(fd) == 0;
  if (!good)
    (void)fail("cannot save the torn last line to", path, error);
  (void)close(fd);
  return good;
}

gboolean
tide_dead_letter_file_check(const char *path, int fd, GError **error)
{
  static const char begin[] = TIDE_DEAD_LETTER_JSON_BEGIN;
  struct stat info;
  if (fstat(fd, &info) != 0)
    return fail("cannot inspect", path, error);
  if (!S_ISREG(info.st_mode)) {
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_IO, "'%s' is not a regular file", path);
    return FALSE;
  }
  guint64 len = (guint64)info.st_size, end = 0, at = 0;
  if (len == 0)
    return TRUE;
  g_auto(TideBuffer) head = {0};
  if (!find_last_line_end(fd, len, &end) || (end > 0 && !find_last_line_end(fd, end - 1, &at)) ||
      !read_at(fd, at, (gsize)MIN((end > 0 ? end : len) - at, sizeof begin - 1), &head))
    return fail("cannot read", path, error);
  if (memcmp(head.data, begin, head.len) == 0 && (end == 0 || head.len == sizeof begin - 1))
    return TRUE;
  g_set_error(error, TIDE_ERROR, TIDE_ERROR_IO,
              "'%s' exists and is not a dead-letter file; it is left unchanged: name another file for dead letters, or "
              "move this one away",
              path);
  return FALSE;
}

static gboolean
repair_tail(TideDeadLetterFile *file, guint64 len, guint64 *ret_torn_bytes, GError **error)
{
  guint64 end = 0;
  if (!find_last_line_end(file->fd, len, &end))
    return fail("cannot read", file->path, error);
  file->bytes = end;
  *ret_torn_bytes += len - end;
  if (end == len)
    return TRUE;
  if (!save_torn_line(file, end, len, error))
    return FALSE;
  if (ftruncate(file->fd, (off_t)end) != 0 || fsync(file->fd) != 0)
    return fail("cannot truncate the torn last line of", file->path, error);
  return TRUE;
}

static gboolean
open_current(TideDeadLetterFile *file, guint64 *ret_torn_bytes, GError **error)
{
  file->fd = g_open(file->path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, FILE_MODE);
  if (file->fd < 0)
    return fail("cannot open", file->path, error);
  struct stat info;
  gboolean good = tide_dead_letter_file_check(file->path, file->fd, error) &&
                  (fstat(file->fd, &info) == 0 || fail("cannot inspect", file->path, error));
  if (good && repair_tail(file, (guint64)info.st_size, ret_torn_bytes, error) && sync_directory(file->path, error))
    return TRUE;
  (void)close(file->fd);
  file->fd = -1;
  return FALSE;
}

TideDeadLetterFile *
tide_dead_letter_file_open(const TideDeadLetterFileOptions *options, guint64 *ret_torn_bytes, GError **error)
{
  TideDeadLetterFile *file = g_new0(TideDeadLetterFile, 1);
  file->path = g_strdup(options->path);
  file->max_file_bytes = options->max_file_bytes;
  file->max_bytes = options->max_bytes;
  file->lock_fd = file->fd = -1;
  *ret_torn_bytes = 0;
  if (take_lock(file, error) && open_current(file, ret_torn_bytes, error) && measure_old(file, error))
    return file;
  tide_dead_letter_file_free(file);
  return NULL;
}

static void
close_current(TideDeadLetterFile *file)
{
  if (file->fd >= 0)
    (void)close(file->fd);
  file->fd = -1;
}

void
tide_dead_letter_file_set_limits(TideDeadLetterFile *file, guint64 max_file_bytes, guint64 max_bytes)
{
  file->max_file_bytes = max_file_bytes;
  file->max_bytes = max_bytes;
}

void
tide_dead_letter_file_free(TideDeadLetterFile *file)
{
  if (file == NULL)
    return;
  close_current(file);
  if (file->lock_fd >= 0)
    (void)close(file->lock_fd);
  g_free(file->path);
  g_free(file);
}

/* ---- appending ---- */

/* Whether PATH still names the open file, and whether that has its expected size: an operator may have moved, removed
 * or truncated it. */
static gboolean
is_in_place(const TideDeadLetterFile *file)
{
  struct stat open_file, named;
  return file->fd >= 0 && fstat(file->fd, &open_file) == 0 && stat(file->path, &named) == 0 &&
         open_file.st_ino == named.st_ino && open_file.st_dev == named.st_dev &&
         (guint64)open_file.st_size == file->bytes;
}

/* Like rename(), but fails with EEXIST instead of replacing a file. */
static int
rename_to_new(const char *from, const char *to)
{
  if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
    return 0;
  if (errno != EINVAL && errno != ENOSYS)
    return -1;
  /* For file systems without it, such as NFS. */
  return link(from, to) == 0 ? unlink(from) : -1;
}

/* Renames PATH to PATH.N; the next append creates a new PATH. */
static gboolean
rotate(TideDeadLetterFile *file, GError **error)
{
  g_autoptr(GArray) numbers = rotated_numbers(file->path, error);
  if (numbers == NULL)
    return FALSE;
  guint64 number = numbers->len > 0 ? g_array_index(numbers, guint64, numbers->len - 1) : 0;
  g_autofree char *path = NULL;
  int result;
  do {
    g_free(path);
    path = rotated_path(file->path, ++number);
    result = rename_to_new(file->path, path);
  } while (result != 0 && errno == EEXIST);
  if (result != 0)
    return fail("cannot rotate to", path, error);
  close_current(file);
  return measure_old(file, error);
}

static gboolean
make_ready(TideDeadLetterFile *file, gsize more_bytes, GError **error)
{
  guint64 torn_bytes = 0; /* only a crash of this process leaves any: reported at the start */
  if (!is_in_place(file)) {
    close_current(file);
    if (!open_current(file, &torn_bytes, error) || !measure_old(file, error))
      return FALSE;
  }
  if (file->bytes > 0 && file->bytes + more_bytes > file->max_file_bytes &&
      (!rotate(file, error) || !open_current(file, &torn_bytes, error)))
    return FALSE;
  if (file->old_bytes + file->bytes + more_bytes > file->max_bytes && !measure_old(file, error))
    return FALSE; /* some may have been removed */
  if (file->old_bytes + file->bytes + more_bytes <= file->max_bytes)
    return TRUE;
  g_set_error(error, TIDE_ERROR, TIDE_ERROR_TOO_BIG,
              "'%s' and its rotated files are full (dead_letters.max_size): replay or remove some", file->path);
  return FALSE;
}

/* Removes the written part of a failed group, which will be written again. If the file is shorter than the target,
 * truncation would extend it with a hole. */
static void
cut_back(TideDeadLetterFile *file)
{
  struct stat info;
  if (fstat(file->fd, &info) != 0 ||
      ((guint64)info.st_size > file->bytes && ftruncate(file->fd, (off_t)file->bytes) != 0))
    close_current(file); /* reopening it repairs at least the last line */
}

gboolean
tide_dead_letter_file_append(TideDeadLetterFile *file, TideBytes lines, GError **error)
{
  if (!make_ready(file, lines.len, error))
    return FALSE;
  if (!write_all(file->fd, lines) || fsync(file->fd) != 0) {
    (void)fail("cannot write to", file->path, error);
    cut_back(file);
    return FALSE;
  }
  file->bytes += lines.len;
  if (is_in_place(file))
    return TRUE;
  close_current(file);
  g_set_error(error, TIDE_ERROR, TIDE_ERROR_IO, "'%s' was moved or truncated while tidemark wrote to it", file->path);
  return FALSE;
}
