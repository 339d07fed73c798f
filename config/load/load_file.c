/* Files that the configuration names. */
#include "config/load/load.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

GByteArray *
tide_load_file_begin(const char *path, gsize max_bytes, char **ret_reason)
{
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  struct stat status;
  g_autoptr(GByteArray) bytes = g_byte_array_new();

  if (fd < 0 || fstat(fd, &status) != 0) {
    *ret_reason = g_strdup(g_strerror(errno));
  } else if (!S_ISREG(status.st_mode)) {
    *ret_reason = g_strdup("it is not a regular file");
  } else {
    guint8 chunk[4096];
    gssize n = 0;
    while (bytes->len < max_bytes && (n = read(fd, chunk, MIN(sizeof chunk, max_bytes - bytes->len))) > 0)
      g_byte_array_append(bytes, chunk, (guint)n);
    if (n < 0)
      *ret_reason = g_strdup(g_strerror(errno));
  }
  if (fd >= 0)
    (void)close(fd);
  return *ret_reason == NULL ? g_steal_pointer(&bytes) : NULL;
}

GByteArray *
tide_load_file(const char *path, gsize max_bytes, char **ret_reason)
{
  g_autoptr(GByteArray) bytes = tide_load_file_begin(path, max_bytes + 1, ret_reason);
  if (bytes == NULL || bytes->len <= max_bytes)
    return g_steal_pointer(&bytes);
  *ret_reason = g_strdup_printf("it is larger than %" G_GSIZE_FORMAT " bytes", max_bytes);
  return NULL;
}
