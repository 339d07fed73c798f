/* A scripted peer on loopback with one connection at a time, in a thread of its own. For tests only.
 *
 * Nothing here depends on sleeps: a script waits for bytes, for the peer to close, or for the server to stop. */
#pragma once

#include "thrift/client/endpoint.h"
#include "thrift/wire/wire_reader.h"
#include "util/lock.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

typedef struct LoopbackServer LoopbackServer;

/* Serves one peer over @fd, which the server closes afterwards. @connection counts from 0. */
typedef void (*LoopbackScript)(LoopbackServer *server, int fd, guint connection);

struct LoopbackServer {
  int listen_fd;
  int stop_fd;   /* an eventfd: readable once the server must stop */
  int closed_fd; /* an eventfd: counts the connections that the server has closed */
  LoopbackScript script;
  gpointer data; /* the script's */
  TideEndpoint *endpoint;
  TideThread *thread;
  atomic_uint connections;
};

/* FALSE: the server was stopped, or @timeout_ms passed (-1: none), before @fd was readable. */
static inline gboolean
loopback_wait_readable(const LoopbackServer *server, int fd, int timeout_ms)
{
  struct pollfd fds[2] = {{.fd = server->stop_fd, .events = POLLIN}, {.fd = fd, .events = POLLIN}};
  while (poll(fds, 2, timeout_ms) < 0)
    g_assert_cmpint(errno, ==, EINTR);
  return fds[0].revents == 0 && fds[1].revents != 0;
}

static inline void
loopback_run(gpointer data)
{
  LoopbackServer *server = data;
  while (loopback_wait_readable(server, server->listen_fd, -1)) {
    int fd = accept(server->listen_fd, NULL, NULL);
    g_assert_cmpint(fd, >=, 0);
    const int on = 1; /* a Unix socket has no such option */
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    server->script(server, fd, atomic_fetch_add(&server->connections, 1));
    close(fd);
    g_assert_cmpint(eventfd_write(server->closed_fd, 1), ==, 0);
  }
}

/* A listening socket at @host ("127.0.0.1", "::1") and a free port, or at the path of a Unix socket. NULL: the host has
 * no such addresses. */
static inline TideEndpoint *
loopback_listen(const char *host, int backlog, int *ret_fd)
{
  g_autofree char *text = NULL;
  int fd = -1, result = -1;
  if (host[0] == '/') {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    g_strlcpy(address.sun_path, host, sizeof address.sun_path);
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    result = bind(fd, (struct sockaddr *)&address, sizeof address);
    text = g_strconcat("unix:", host, NULL);
  } else if (strchr(host, ':') != NULL) {
    struct sockaddr_in6 address = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    socklen_t len = sizeof address;
    fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
      return NULL;
    result = bind(fd, (struct sockaddr *)&address, len);
    (void)getsockname(fd, (struct sockaddr *)&address, &len);
    text = g_strdup_printf("[%s]:%u", host, ntohs(address.sin6_port));
  } else {
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t len = sizeof address;
    g_assert_cmpint(inet_pton(AF_INET, host, &address.sin_addr), ==, 1);
    fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    result = bind(fd, (struct sockaddr *)&address, len);
    (void)getsockname(fd, (struct sockaddr *)&address, &len);
    text = g_strdup_printf("%s:%u", host, ntohs(address.sin_port));
  }
  if (result != 0) {
    close(fd);
    return NULL;
  }
  g_assert_cmpint(listen(fd, backlog), ==, 0);
  *ret_fd = fd;
  TideEndpoint *endpoint = tide_endpoint_parse(text, NULL);
  g_assert_nonnull(endpoint);
  return endpoint;
}

static inline LoopbackServer *
loopback_start_at(const char *host, LoopbackScript script, gpointer data)
{
  int listen_fd;
  TideEndpoint *endpoint = loopback_listen(host, 16, &listen_fd);
  if (endpoint == NULL)
    return NULL;
  LoopbackServer *server = g_new0(LoopbackServer, 1);
  server->listen_fd = listen_fd;
  server->stop_fd = eventfd(0, EFD_CLOEXEC);
  server->closed_fd = eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE);
  server->script = script;
  server->data = data;
  server->endpoint = endpoint;
  server->thread = tide_thread_start("test-server", loopback_run, server);
  return server;
}

static inline LoopbackServer *
loopback_start(LoopbackScript script, gpointer data)
{
  LoopbackServer *server = loopback_start_at("127.0.0.1", script, data);
  g_assert_nonnull(server);
  return server;
}

static inline void
loopback_stop(LoopbackServer *server)
{
  g_assert_cmpint(eventfd_write(server->stop_fd, 1), ==, 0);
  tide_thread_join(server->thread);
  close(server->listen_fd);
  close(server->stop_fd);
  close(server->closed_fd);
  tide_endpoint_free(server->endpoint);
  g_free(server);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LoopbackServer, loopback_stop)

static inline guint
loopback_connections(LoopbackServer *server)
{
  return atomic_load(&server->connections);
}

/* Waits until the server has closed one more connection. On loopback, the peer then sees the end. */
static inline void
loopback_await_hang_up(LoopbackServer *server)
{
  eventfd_t one;
  g_assert_cmpint(eventfd_read(server->closed_fd, &one), ==, 0);
}

/* Appends the peer's next bytes. FALSE: the peer closed, or the server was stopped. */
static inline gboolean
loopback_read_more(LoopbackServer *server, int fd, TideBuffer *into)
{
  if (!loopback_wait_readable(server, fd, -1))
    return FALSE;
  gssize got = recv(fd, tide_buffer_reserve(into, 65536), 65536, 0);
  if (got <= 0)
    return FALSE;
  into->len += (gsize)got;
  return TRUE;
}

/* Discards bytes until the peer closes or the server is stopped. */
static inline void
loopback_wait_closed(LoopbackServer *server, int fd)
{
  g_auto(TideBuffer) ignored = {0};
  while (loopback_read_more(server, fd, &ignored))
    tide_buffer_reset(&ignored);
}

static inline void
loopback_send(int fd, const void *bytes, gsize len)
{
  const guint8 *at = bytes;
  while (len > 0) {
    gssize sent = send(fd, at, len, MSG_NOSIGNAL);
    if (sent <= 0) /* some scripts expect the peer to disconnect */
      return;
    at += sent;
    len -= (gsize)sent;
  }
}

/* The next close() resets the connection. */
static inline void
loopback_reset_on_close(int fd)
{
  struct linger linger = {.l_onoff = 1, .l_linger = 0};
  g_assert_cmpint(setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof linger), ==, 0);
}

/* ---- Thrift messages ---- */

/* Reads one complete call into @call, with its frame header if any. FALSE: the peer closed first. */
static inline gboolean
loopback_read_call(LoopbackServer *server, int fd, TideFraming framing, TideWireProtocol protocol, TideBuffer *call,
                   TideWireMessage *ret_head)
{
  gsize skip = framing == TIDE_FRAMING_FRAMED ? 4 : 0;
  TideMessageScanner scanner;
  tide_message_scanner_init(&scanner, protocol, 64 << 20);
  tide_buffer_reset(call);
  for (;;) {
    if (!loopback_read_more(server, fd, call))
      return FALSE;
    if (call->len <= skip)
      continue;
    TideBytes begun = tide_bytes(call->data + skip, call->len - skip);
    TideWireStatus status = tide_message_scanner_feed(&scanner, begun);
    g_assert_cmpint(status, !=, TIDE_WIRE_BAD);
    if (status == TIDE_WIRE_SHORT)
      continue;
    g_assert_cmpuint(scanner.offset, ==, begun.len);
    TideWireReader reader;
    tide_wire_reader_init(&reader, protocol, begun);
    g_assert_true(tide_wire_read_message(&reader, ret_head));
    return TRUE;
  }
}

static inline void
loopback_send_message(int fd, TideFraming framing, TideBytes message)
{
  if (framing == TIDE_FRAMING_FRAMED) {
    guint32 head = htonl((guint32)message.len);
    loopback_send(fd, &head, sizeof head);
  }
  loopback_send(fd, message.data, message.len);
}

/* @void_reply: in the binary protocol. @string_bytes: the length of the string that it returns; 0: unchanged. */
static inline void
loopback_append_reply(TideBuffer *reply, TideBytes void_reply, gsize string_bytes)
{
  tide_buffer_append_bytes(reply, void_reply);
  if (string_bytes == 0)
    return;
  reply->len--; /* the stop field */
  guint32 len = htonl((guint32)string_bytes);
  tide_buffer_append(reply, "\x0b\0\0", 3);
  tide_buffer_append(reply, &len, sizeof len);
  memset(tide_buffer_reserve(reply, string_bytes), 'x', string_bytes);
  reply->len += string_bytes;
  tide_buffer_append_byte(reply, 0);
}
