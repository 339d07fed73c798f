/* A client of the HTTP server on this host, byte by byte. For tests only. */
#pragma once

#include <arpa/inet.h>
#include <glib.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Long enough that only a broken program reaches it. */
#define HTTP_CLIENT_TIMEOUT_MS 30000

/* A connection that comes from the loopback address @from. */
static inline int
http_client_connect(guint16 port, const char *from)
{
  struct sockaddr_in source = {.sin_family = AF_INET};
  struct sockaddr_in target = {.sin_family = AF_INET, .sin_port = htons(port)};
  g_assert_cmpint(inet_pton(AF_INET, from, &source.sin_addr), ==, 1);
  g_assert_cmpint(inet_pton(AF_INET, "127.0.0.1", &target.sin_addr), ==, 1);
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  g_assert_cmpint(fd, >=, 0);
  g_assert_cmpint(bind(fd, (const struct sockaddr *)&source, sizeof source), ==, 0);
  g_assert_cmpint(connect(fd, (const struct sockaddr *)&target, sizeof target), ==, 0);
  return fd;
}

static inline void
http_client_send(int fd, const char *text)
{
  /* A server that has already closed is one of the answers that tests look for. */
  gssize sent = send(fd, text, strlen(text), MSG_NOSIGNAL);
  g_assert_cmpint(sent, >=, -1);
}

/* All until the server closes; "" when it closed without a word. */
static inline char *
http_client_receive(int fd)
{
  GString *text = g_string_new(NULL);
  for (;;) {
    struct pollfd poller = {.fd = fd, .events = POLLIN};
    g_assert_cmpint(poll(&poller, 1, HTTP_CLIENT_TIMEOUT_MS), ==, 1);
    char part[4096];
    gssize n = recv(fd, part, sizeof part, 0);
    if (n <= 0)
      break;
    g_string_append_len(text, part, n);
  }
  return g_string_free(text, FALSE);
}

/* Sends @request over @fd, which is closed. */
static inline char *
http_client_ask(int fd, const char *request)
{
  http_client_send(fd, request);
  char *reply = http_client_receive(fd);
  close(fd);
  return reply;
}

static inline const char *
http_client_body(const char *reply)
{
  const char *end_of_head = strstr(reply, "\r\n\r\n");
  g_assert_nonnull(end_of_head);
  return end_of_head + 4;
}
