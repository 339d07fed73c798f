/* The HTTP exchange with a hostile gateway: all that it sends lies in the socket before the request is sent, and its
 * end behind it. What comes of it is bounded, whatever it says of its length. */
#include "thrift/http/http_exchange.h"
#include "thrift/http/http_refusal.h"
#include "util/clock.h"

#include <stdint.h>
#include <sys/socket.h>
#include <unistd.h>

#define BODY_MAX_BYTES 4096u

/* What a socket takes without a reader. */
#define INPUT_MAX_BYTES (64u << 10)

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* libcurl's call: its socket is one of a pair, which is connected, but has no address to connect to. */
int
connect(int fd, const struct sockaddr *address, socklen_t len)
{
  return 0;
}

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
  curl_global_init(CURL_GLOBAL_DEFAULT);
  return 0;
}

static void
explain(guint status, const TideBuffer *body)
{
  TideHttpRefusal refusal = {.peer = "gw", .status = status, .page = tide_buffer_bytes(body), .principal = "HTTP/gw"};
  g_autoptr(GError) error = NULL;
  tide_http_refusal_explain(&refusal, &error);
  g_assert_nonnull(error);
  g_assert_true(g_utf8_validate(error->message, -1, NULL));
  g_assert_cmpuint(strlen(error->message), <, 2000);
}

static void
post(GSocket *client)
{
  TideHttpTarget target = {.scheme = "http", .host = "gw", .port = 9090, .path = "/"};
  TideBuffer body = {0};
  TideHttpExchange *exchange = tide_http_exchange_new(&target, client, &body, BODY_MAX_BYTES);
  TideBytes part = TIDE_BYTES_LITERAL("call");
  TideHttpRequest request = {.parts = &part, .n_parts = 1, .total_bytes = part.len};
  gint64 now_us = tide_now_us();
  TideCallLimits limits = {.peer = "gw", .started_us = now_us, .deadline_us = now_us + 20 * TIDE_US_PER_MS};
  TideHttpAnswer answer;
  g_autoptr(GError) error = NULL;
  gboolean sent = tide_http_exchange_send(exchange, &request, &limits, &error);
  gboolean answered = sent && tide_http_exchange_receive(exchange, &limits, &answer, &error);
  g_assert_true(answered == (error == NULL));
  g_assert_cmpuint(body.len, <=, MAX(BODY_MAX_BYTES, 64u << 10));
  g_assert_cmpint(tide_now_us() - now_us, <, 5 * TIDE_US_PER_S); /* a deadline on a busy machine */
  if (answered && answer.status == 200)
    g_assert_cmpuint(body.len, <=, BODY_MAX_BYTES);
  else if (answered)
    explain(answer.status, &body);
  tide_http_exchange_free(exchange);
  tide_buffer_clear_memory(&body);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  int fds[2];
  g_assert_cmpint(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds), ==, 0);
  size = MIN(size, INPUT_MAX_BYTES);
  g_assert_cmpint(send(fds[1], data, size, MSG_NOSIGNAL), ==, (gssize)size);
  g_assert_cmpint(shutdown(fds[1], SHUT_WR), ==, 0);
  GSocket *socket_object = g_socket_new_from_fd(fds[0], NULL);
  g_assert_nonnull(socket_object);
  g_socket_set_blocking(socket_object, FALSE);
  post(socket_object);
  close(fds[1]);
  return 0;
}
