#include "dead_letters/dead_letter_location.h"

#include "util/error.h"
#include "util/file_look.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* If @path exists, it must be a writable dead-letter file. */
static gboolean
check_file(const char *path, gboolean is_lock, GError **error)
{
  struct stat info;
  int fd = g_open(path, O_RDWR | O_APPEND | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0);
  if (fd < 0) {
    if (errno == ENOENT)
      return TRUE;
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_IO, "cannot open '%s': %s", path, g_strerror(errno));
    return FALSE;
  }
  gboolean is_file = fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
  if (!is_file)
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_IO, "'%s' is not a regular file", path);
  is_file = is_file && (is_lock || tide_dead_letter_file_check(path, fd, error));
  (void)close(fd);
  return is_file;
}

static gboolean
check_room(const TideDeadLetterFileOptions *options, GError **error)
{
  guint64 bytes = 0;
  g_autoptr(GPtrArray) files = tide_dead_letter_file_list(options->path, error);
  if (files == NULL)
    return FALSE;
  for (guint i = 0; i < files->len; i++) {
    GStatBuf info;
    if (g_stat(files->pdata[i], &info) == 0)
      bytes += (guint64)info.st_size;
  }
  if (bytes < options->max_bytes)
    return TRUE;
  g_set_error(error, TIDE_ERROR, TIDE_ERROR_TOO_BIG,
              "'%s' and its rotated files are full (dead_letters.max_size): replay or remove some", options->path);
  return FALSE;
}

gboolean
tide_dead_letter_location_check(const TideDeadLetterFileOptions *options, GError **error)
{
  g_autofree char *directory = g_path_get_dirname(options->path);
  g_autofree char *lock = g_strconcat(options->path, ".lock", NULL);
  if (!tide_file_look_directory(directory, error) || !check_file(lock, TRUE, error) ||
      !check_file(options->path, FALSE, error) || !check_room(options, error))
    return FALSE;
  if (!tide_file_look_is_locked(lock))
    return TRUE;
  tide_dead_letter_file_set_in_use(options->path, error);
  return FALSE;
}
