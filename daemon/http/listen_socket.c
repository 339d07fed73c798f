#define _GNU_SOURCE
#include "http/listen_socket.h"

#include "util/clock.h"
#include "util/error.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define BACKLOG 64
/* A start holds the lock for a few system calls; a longer holder is not a start. */
#define LOCK_US (5 * TIDE_US_PER_S)
#define LOCK_PAUSE_US (10 * TIDE_US_PER_MS)

static gboolean
refuse(const TideListenRequest *request, TideErrorCode code, const char *reason, const char *remedy, GError **error)
{
  return tide_fail(error, code, "cannot serve HTTP on '%s': %s; %s '%s'", request->text, reason, remedy,
                   request->option != NULL ? request->option : "the address");
}

static gboolean
refuse_path(const TideListenRequest *request, int error_number, GError **error)
{
  const char *remedy = "choose another path for";
  if (error_number == ENOENT)
    remedy = "create its directory (in a unit: 'RuntimeDirectory='), or choose another path for";
  else if (error_number == EACCES || error_number == EPERM || error_number == EROFS)
    remedy = "allow this user to write to its directory, or choose another path for";
  return refuse(request, TIDE_ERROR_UNAVAILABLE, g_strerror(error_number), remedy, error);
}

/* Returns -1, for its caller to return. */
static int
close_keeping_errno(int fd)
{
  int error_number = errno;
  close(fd);
  errno = error_number;
  return -1;
}

static const struct sockaddr *
plain(const TideListenAddress *address)
{
  return (const struct sockaddr *)&address->address;
}

/* ---- TCP ---- */

/* Returns -1 with errno. */
static int
listen_on(const TideListenAddress *address)
{
  int fd = socket(address->address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0)
    return -1;
  int yes = 1; /* a restart need not wait for the old connections to expire */
  if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0 &&
      bind(fd, plain(address), address->address_bytes) == 0 && listen(fd, BACKLOG) == 0)
    return fd;
  return close_keeping_errno(fd);
}

guint16
tide_listen_socket_port(const TideListenSocket *listener)
{
  struct sockaddr_storage address = {0};
  socklen_t address_bytes = sizeof address;
  if (getsockname(listener->fd, (struct sockaddr *)&address, &address_bytes) != 0)
    return 0;
  if (address.ss_family == AF_INET6)
    return ntohs(((const struct sockaddr_in6 *)(const void *)&address)->sin6_port);
  return address.ss_family == AF_INET ? ntohs(((const struct sockaddr_in *)(const void *)&address)->sin_port) : 0;
}

/* ---- Unix ---- */

static const char *
path_of(const TideListenAddress *address)
{
  return ((const struct sockaddr_un *)(const void *)&address->address)->sun_path;
}

/* TRUE if no process listens at the socket. A socket that cannot be checked may have an owner. */
static gboolean
is_deserted(const TideListenAddress *address)
{
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  gboolean is_refused = fd >= 0 && connect(fd, plain(address), address->address_bytes) != 0 && errno == ECONNREFUSED;
  if (fd >= 0)
    close(fd);
  return is_refused;
}

/* FALSE if the path is not free and must not be removed. @ret_is_there: an abandoned socket, which may be removed */
static gboolean
inspect_path(const TideListenRequest *request, const TideListenAddress *address, gboolean *ret_is_there, GError **error)
{
  struct stat info;
  *ret_is_there = lstat(path_of(address), &info) == 0;
  if (!*ret_is_there)
    return errno == ENOENT || refuse_path(request, errno, error);
  if (!S_ISSOCK(info.st_mode))
    return refuse(request, TIDE_ERROR_UNAVAILABLE, "the path is not a socket and is left unchanged",
                  "choose another path for", error);
  if (!is_deserted(address))
    return refuse(request, TIDE_ERROR_IN_USE, "another process listens there", "stop it, or choose another path for",
                  error);
  return TRUE;
}

/* Binds with no more rights than @mode from the first moment. Returns -1 with errno. */
static int
bind_path(const TideListenAddress *address, mode_t mode)
{
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0)
    return -1;
  if (fchmod(fd, mode) != 0 || bind(fd, plain(address), address->address_bytes) != 0)
    return close_keeping_errno(fd);
  /* The umask applied before. Does not follow a link that was placed there meanwhile. */
  if (fchmodat(AT_FDCWD, path_of(address), mode, AT_SYMLINK_NOFOLLOW) == 0 && listen(fd, BACKLOG) == 0)
    return fd;
  int error_number = errno;
  unlink(path_of(address));
  errno = error_number;
  return close_keeping_errno(fd);
}

/* Serialises starts. It locks the directory itself, so no file is left behind. Returns -1 with errno. */
static int
lock_directory(const TideListenAddress *address)
{
  g_autofree char *directory = g_path_get_dirname(path_of(address));
  int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  for (gint64 give_up_us = tide_now_us() + LOCK_US; fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0;) {
    if ((errno != EWOULDBLOCK && errno != EINTR) || tide_now_us() >= give_up_us)
      return close_keeping_errno(fd);
    g_usleep(LOCK_PAUSE_US);
  }
  return fd;
}

/* Call with the directory locked. */
static gboolean
open_locked_path(const TideListenRequest *request, const TideListenAddress *address, TideListenSocket *listener,
                 GError **error)
{
  struct stat info;
  gboolean is_there;
  if (!inspect_path(request, address, &is_there, error))
    return FALSE;
  if (is_there && unlink(path_of(address)) != 0)
    return refuse_path(request, errno, error);
  listener->fd = bind_path(address, request->mode);
  if (listener->fd < 0)
    return refuse_path(request, errno, error);
  listener->path = g_strdup(path_of(address));
  if (lstat(listener->path, &info) == 0) {
    listener->device = info.st_dev;
    listener->inode = info.st_ino;
  }
  return TRUE;
}

/* ---- both ---- */

static gboolean
parse_address(const TideListenRequest *request, TideListenAddress *ret_address, GError **error)
{
  if (tide_listen_address_parse(request->text, ret_address, error))
    return TRUE;
  if (request->option != NULL)
    g_prefix_error(error, "'%s': ", request->option);
  return FALSE;
}

static gboolean
open_address(const TideListenRequest *request, const TideListenAddress *address, TideListenSocket *ret_socket,
             GError **error)
{
  TideListenSocket listener = {.fd = -1};
  if (address->address.ss_family == AF_UNIX) {
    int lock_fd = lock_directory(address);
    if (lock_fd < 0)
      return refuse_path(request, errno, error);
    gboolean is_open = open_locked_path(request, address, &listener, error);
    close(lock_fd);
    if (!is_open)
      return FALSE;
  } else if ((listener.fd = listen_on(address)) < 0) {
    int error_number = errno;
    const char *remedy = "choose another address for";
    if (error_number == EADDRINUSE)
      remedy = "another process uses it; stop that one, or choose another port in";
    else if (error_number == EACCES)
      remedy = "ports below 1024 need a privilege; choose a higher one in";
    else if (error_number == EADDRNOTAVAIL)
      remedy = "no interface of this host has that address; correct";
    return refuse(request, error_number == EADDRINUSE ? TIDE_ERROR_IN_USE : TIDE_ERROR_UNAVAILABLE,
                  g_strerror(error_number), remedy, error);
  }
  *ret_socket = listener;
  return TRUE;
}

gboolean
tide_listen_socket_open(const TideListenRequest *request, TideListenSocket *ret_socket, GError **error)
{
  TideListenAddress address;
  if (!parse_address(request, &address, error))
    return FALSE;
  *ret_socket = (TideListenSocket){.fd = -1};
  if (address.is_off || open_address(request, &address, ret_socket, error))
    return TRUE;
  if (error != NULL && g_error_matches(*error, TIDE_ERROR, TIDE_ERROR_IN_USE))
    (*error)->code = TIDE_ERROR_UNAVAILABLE;
  return FALSE;
}

void
tide_listen_socket_close(TideListenSocket *listener)
{
  struct stat info;
  if (listener->path != NULL && lstat(listener->path, &info) == 0 && info.st_dev == listener->device &&
      info.st_ino == listener->inode)
    unlink(listener->path);
  if (listener->fd >= 0) /* remove the path first: after the close, the deserted socket may belong to another process */
    close(listener->fd);
  g_free(listener->path);
  *listener = (TideListenSocket){.fd = -1};
}

gboolean
tide_listen_socket_try(const TideListenRequest *request, GError **error)
{
  TideListenAddress address;
  gboolean is_there = FALSE;
  if (!parse_address(request, &address, error))
    return FALSE;
  if (address.is_off)
    return TRUE;
  if (address.address.ss_family == AF_UNIX && !inspect_path(request, &address, &is_there, error))
    return FALSE;
  if (is_there)
    return TRUE; /* deserted: a start would replace it */
  TideListenSocket listener;
  if (!open_address(request, &address, &listener, error))
    return FALSE;
  tide_listen_socket_close(&listener);
  return TRUE;
}
