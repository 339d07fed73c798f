#define _GNU_SOURCE
#include "util/log_sink.h"

#include "util/lock.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static _Atomic guint64 dropped;

static TideMutex stderr_lock = {PTHREAD_MUTEX_INITIALIZER};
static guint64 dropped_unlogged;  /* under stderr_lock: dropped since the last line that passed */
static gboolean is_inside_a_line; /* under stderr_lock: the last line was taken in part */

static gboolean
is_writable(int fd)
{
  struct pollfd poller = {.fd = fd, .events = POLLOUT};
  long n_ready = TEMP_FAILURE_RETRY(poll(&poller, 1, 0));
  /* With an error pending (the reader is gone), a write would only raise SIGPIPE. */
  return n_ready == 1 && (poller.revents & POLLOUT) != 0 && (poller.revents & (POLLERR | POLLHUP | POLLNVAL)) == 0;
}

/* TRUE when all of it was taken. */
static gboolean
write_all_locked(TideBytes line)
{
  gsize written = 0;
  while (written < line.len && is_writable(STDERR_FILENO)) {
    gssize n = TEMP_FAILURE_RETRY(write(STDERR_FILENO, line.data + written, line.len - written));
    if (n <= 0)
      break;
    written += (gsize)n;
  }
  if (written > 0)
    is_inside_a_line = written < line.len;
  return written == line.len;
}

static void
log_what_was_dropped_locked(TideLogRenderDropped render_dropped)
{
  g_autoptr(GString) notice = g_string_new(is_inside_a_line ? "\n" : NULL);
  render_dropped(notice, dropped_unlogged);
  if (write_all_locked(tide_bytes(notice->str, notice->len)))
    dropped_unlogged = 0;
}

gboolean
tide_log_sink_stderr(TideBytes line, TideLogRenderDropped render_dropped)
{
  tide_mutex_lock(&stderr_lock);
  if (dropped_unlogged > 0)
    log_what_was_dropped_locked(render_dropped);
  gboolean taken = dropped_unlogged == 0 && write_all_locked(line);
  if (!taken)
    dropped_unlogged++;
  tide_mutex_unlock(&stderr_lock);

  if (!taken)
    atomic_fetch_add_explicit(&dropped, 1, memory_order_relaxed);
  return taken;
}

/* One unconnected socket for the life of the process: a journal that restarts is found again. */
static int
journal_socket(void)
{
  static _Atomic int shared_fd = -1;
  int fd = atomic_load(&shared_fd);
  if (fd >= 0)
    return fd;

  int created = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (created < 0)
    return -1;
  if (atomic_compare_exchange_strong(&shared_fd, &fd, created))
    return created;
  close(created); /* another thread was first */
  return fd;
}

gboolean
tide_log_sink_journal(const char *path, TideBytes datagram)
{
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  g_strlcpy(address.sun_path, path, sizeof address.sun_path);
  int fd = journal_socket();
  gssize sent = fd < 0 ? -1
                       : TEMP_FAILURE_RETRY(sendto(fd, datagram.data, datagram.len, MSG_DONTWAIT | MSG_NOSIGNAL,
                                                   (const struct sockaddr *)&address, sizeof address));
  return sent == (gssize)datagram.len;
}

guint64
tide_log_sink_dropped(void)
{
  return atomic_load_explicit(&dropped, memory_order_relaxed);
}
