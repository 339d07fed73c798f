/* The HTTP exchange with a hostile gateway: all that it sends lies in the socket before the request is sent, and its
 * end behind it. What comes of it is bounded, whatever it says of its length. */
#include "thrift/http/http_exchange.h"
#include "thrift/http/http_refusal.h"
#include "util/clock.h"

#include <netinet/in.h>
#include <stdint.h>
#include <sys/socket.h>
#include <unistd.h>

#define BODY_MAX_BYTES 4096u

/* What a socket takes without a reader. */
#define INPUT_MAX_BYTES (64u << 10)

static int listen_fd;
static struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {.s_addr = 0x0100007f}};

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
  curl_global_init(CURL_GLOBAL_DEFAULT);
  socklen_t len = sizeof address;
  listen_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  g_assert_cmpint(bind(listen_fd, (struct sockaddr *)&address, len), ==, 0);
  g_assert_cmpint(listen(listen_fd, 16), ==, 0);
  g_assert_cmpint(getsockname(listen_fd, (struct sockaddr *)&address, &len), ==, 0);
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

/* @peer_fd: the gateway's side. */
static void
post(GSocket *client, int peer_fd)
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
  g_assert_cmpint(shutdown(peer_fd, SHUT_WR), ==, 0);
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
  int client_fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  const struct linger reset = {.l_onoff = 1}; /* no port is kept waiting */
  g_assert_cmpint(setsockopt(client_fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset), ==, 0);
  (void)connect(client_fd, (struct sockaddr *)&address, sizeof address); /* under way */
  int peer_fd = accept(listen_fd, NULL, NULL);
  g_assert_cmpint(peer_fd, >=, 0);
  size = MIN(size, INPUT_MAX_BYTES);
  g_assert_cmpint(send(peer_fd, data, size, MSG_NOSIGNAL), ==, (gssize)size);
  GSocket *socket_object = g_socket_new_from_fd(client_fd, NULL);
  g_assert_nonnull(socket_object);
  g_socket_set_blocking(socket_object, FALSE);
  post(socket_object, peer_fd);
  close(peer_fd);
  return 0;
}
