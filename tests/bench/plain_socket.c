#include "bench/plain_socket.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

static int
connect_found(const struct addrinfo *found)
{
  int on = 1;
  int fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0)
    return -1;
  if (connect(fd, found->ai_addr, found->ai_addrlen) == 0 &&
      setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) == 0)
    return fd;
  int fault = errno;
  close(fd);
  errno = fault;
  return -1;
}

int
tide_plain_connect(const char *address, GError **error)
{
  const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
  struct addrinfo *found = NULL;
  g_auto(GStrv) parts = g_strsplit(address, ":", 2);
  if (parts[0] == NULL || parts[1] == NULL) {
    g_set_error(error, G_IO_CHANNEL_ERROR, G_IO_CHANNEL_ERROR_INVAL, "'%s' is not HOST:PORT", address);
    return -1;
  }
  int fault = getaddrinfo(parts[0], parts[1], &hints, &found);
  if (fault != 0) {
    g_set_error(error, G_IO_CHANNEL_ERROR, G_IO_CHANNEL_ERROR_FAILED, "cannot find '%s': %s", address,
                gai_strerror(fault));
    return -1;
  }
  int fd = connect_found(found);
  if (fd < 0)
    g_set_error(error, G_IO_CHANNEL_ERROR, G_IO_CHANNEL_ERROR_FAILED, "cannot connect to '%s': %s", address,
                g_strerror(errno));
  freeaddrinfo(found);
  return fd;
}

gboolean
tide_plain_send(int fd, TideBytes bytes)
{
  for (gsize done = 0; done < bytes.len;) {
    gssize n = send(fd, bytes.data + done, bytes.len - done, MSG_NOSIGNAL);
    if (n < 0 && errno != EINTR)
      return FALSE;
    done += n > 0 ? (gsize)n : 0;
  }
  return TRUE;
}
