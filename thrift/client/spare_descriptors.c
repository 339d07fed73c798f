#include "thrift/client/spare_descriptors.h"

#include "util/error.h"

#include <errno.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

/* A connection takes three: its socket, its wake-up, the wake-up of its name's look-up. The rest is for others who
 * connect at the same time. */
#define WANTED 8

gboolean
tide_spare_descriptors_check(GError **error)
{
  int taken[WANTED];
  guint n = 0;
  while (n < WANTED && (taken[n] = eventfd(0, EFD_CLOEXEC)) >= 0)
    n++;
  int failure = errno;
  for (guint i = 0; i < n; i++)
    close(taken[i]);
  if (n == WANTED)
    return TRUE;
  struct rlimit limit = {0};
  getrlimit(RLIMIT_NOFILE, &limit);
  g_set_error(error, TIDE_ERROR, TIDE_ERROR_CONNECT,
              "cannot open one more connection: %s; the limit of this process is %" G_GUINT64_FORMAT
              " file descriptors: raise LimitNOFILE (or ulimit -n)",
              g_strerror(failure), (guint64)limit.rlim_cur);
  return FALSE;
}
