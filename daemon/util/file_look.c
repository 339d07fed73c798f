/* O_TMPFILE, F_OFD_GETLK */
#define _GNU_SOURCE
#include "util/file_look.h"

#include "util/error.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* An unnamed file is the most reliable test; not every file system supports them. */
static gboolean
can_make_file(const char *directory)
{
  int fd = open(directory, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
  if (fd >= 0) {
    (void)close(fd);
    return TRUE;
  }
  if (errno != EOPNOTSUPP && errno != EISDIR && errno != ENOENT && errno != EINVAL)
    return FALSE;
  return faccessat(AT_FDCWD, directory, W_OK | X_OK, AT_EACCESS) == 0;
}

gboolean
tide_file_look_directory(const char *directory, GError **error)
{
  struct stat info;
  struct statvfs room;
  if (stat(directory, &info) != 0)
    return tide_fail(error, TIDE_ERROR_IO, "cannot use the directory '%s': %s", directory, g_strerror(errno));
  if (!S_ISDIR(info.st_mode))
    return tide_fail(error, TIDE_ERROR_IO, "'%s' is not a directory", directory);
  if (!can_make_file(directory))
    return tide_fail(error, TIDE_ERROR_IO, "cannot write to the directory '%s': %s", directory, g_strerror(errno));
  if (statvfs(directory, &room) == 0 && room.f_bavail == 0)
    return tide_fail(error, TIDE_ERROR_IO, "the file system of '%s' is full", directory);
  return TRUE;
}

gboolean
tide_file_look_is_locked(const char *path)
{
  int fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0)
    return FALSE;
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  gboolean is_locked = fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
  (void)close(fd);
  return is_locked;
}

TideFileStamp
tide_file_stamp(const char *path)
{
  struct stat info;
  if (stat(path, &info) != 0)
    return (TideFileStamp){0};
  return (TideFileStamp){info.st_dev, info.st_ino, info.st_size, info.st_ctim};
}

gboolean
tide_file_stamp_equal(const TideFileStamp *a, const TideFileStamp *b)
{
  return a->device == b->device && a->inode == b->inode && a->size_bytes == b->size_bytes &&
         a->changed.tv_sec == b->changed.tv_sec && a->changed.tv_nsec == b->changed.tv_nsec;
}
