/* The HTTP exchange against a server that behaves, libmicrohttpd, and against all those that do not. */
#include "thrift/http/http_exchange.h"

#include "thrift/client/socket_stream.h"
#include "unit/assert_bytes.h"
#include "unit/loopback_server.h"
#include "unit/peak_memory.h"
#include "unit/test_case.h"
#include "util/clock.h"
#include "util/error.h"

#include <microhttpd.h>
#include <signal.h>

#define GENEROUS_MS 10000 /* for what must succeed: only a broken test waits as long */
#define SHORT_MS 150      /* for what must time out */
#define BODY_MAX_BYTES (1u << 20)
#define MEMORY_MAX_BYTES (8u << 20) /* of a call, whatever its answer says or is */

/* A connection with a buffer for its answers. */
typedef struct Peer {
  TideHttpExchange *exchange;
  TideBuffer body;
  TideHttpAnswer answer;
} Peer;

static TideCallLimits
limits_of(gint64 timeout_ms, GCancellable *cancellable)
{
  gint64 now_us = tide_now_us();
  return (TideCallLimits){.peer = "http://gw/",
                          .started_us = now_us,
                          .deadline_us = now_us + timeout_ms * TIDE_US_PER_MS,
                          .cancellable = cancellable};
}

static Peer *
connect_to(const TideEndpoint *endpoint)
{
  Peer *peer = g_new0(Peer, 1);
  TideCallLimits limits = limits_of(GENEROUS_MS, NULL);
  g_autoptr(GError) error = NULL;
  GSocket *socket = tide_socket_connect(endpoint, &limits, &error);
  g_assert_no_error(error);
  TideHttpTarget target = {.scheme = "http", .host = "gw.example", .port = 9090, .path = "/p"};
  peer->exchange = tide_http_exchange_new(&target, socket, &peer->body, BODY_MAX_BYTES);
  return peer;
}

static void
peer_free(Peer *peer)
{
  tide_http_exchange_free(peer->exchange);
  tide_buffer_clear_memory(&peer->body);
  g_free(peer);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Peer, peer_free)

static gboolean
post_parts(Peer *peer, const TideBytes *parts, gsize n_parts, const TideCallLimits *limits, GError **error)
{
  static const char *const headers[] = {"Content-Type: application/x-thrift", NULL};
  TideHttpRequest request = {.parts = parts, .n_parts = n_parts, .headers = headers};
  for (gsize i = 0; i < n_parts; i++)
    request.total_bytes += parts[i].len;
  tide_buffer_reset(&peer->body);
  return tide_http_exchange_send(peer->exchange, &request, limits, error) &&
         tide_http_exchange_receive(peer->exchange, limits, &peer->answer, error);
}

static gboolean
post(Peer *peer, gint64 timeout_ms, GError **error)
{
  TideBytes part = TIDE_BYTES_LITERAL("call");
  TideCallLimits limits = limits_of(timeout_ms, NULL);
  return post_parts(peer, &part, 1, &limits, error);
}

static void
assert_answered(Peer *peer, guint status, const char *body)
{
  g_autoptr(GError) error = NULL;
  gboolean answered = post(peer, GENEROUS_MS, &error);
  g_assert_no_error(error);
  g_assert_true(answered);
  g_assert_cmpuint(peer->answer.status, ==, status);
  assert_bytes_equal(tide_buffer_bytes(&peer->body), tide_bytes_of_string(body));
}

/* ---- a server that behaves ---- */

/* What it was sent last; of its own thread until it is stopped. */
typedef struct Echo {
  struct MHD_Daemon *daemon; /* owned */
  TideEndpoint *endpoint;    /* owned */
  TideBuffer body;
  char *path, *host, *expect; /* owned */
  guint n_requests;
} Echo;

static char *
header_of(struct MHD_Connection *connection, const char *name)
{
  return g_strdup(MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name));
}

static enum MHD_Result
take_request(void *data, struct MHD_Connection *connection, const char *url, const char *method, const char *version,
             const char *bytes, size_t *n_bytes, void **state)
{
  Echo *echo = data;
  if (*state == NULL) {
    *state = echo;
    tide_buffer_reset(&echo->body);
    return MHD_YES;
  }
  if (*n_bytes > 0) {
    tide_buffer_append(&echo->body, bytes, *n_bytes);
    *n_bytes = 0;
    return MHD_YES;
  }
  echo->n_requests++;
  g_free(echo->path);
  g_free(echo->host);
  g_free(echo->expect);
  echo->path = g_strdup(url);
  echo->host = header_of(connection, "Host");
  echo->expect = header_of(connection, "Expect");
  struct MHD_Response *response =
      MHD_create_response_from_buffer(echo->body.len, echo->body.data, MHD_RESPMEM_MUST_COPY);
  (void)MHD_add_response_header(response, "WWW-Authenticate", "Negotiate  b3VycyB0b28= ");
  guint status = strcmp(method, "POST") == 0 ? MHD_HTTP_OK : MHD_HTTP_METHOD_NOT_ALLOWED;
  enum MHD_Result result = MHD_queue_response(connection, status, response);
  MHD_destroy_response(response);
  return result;
}

static Echo *
echo_start(void)
{
  Echo *echo = g_new0(Echo, 1);
  int fd;
  echo->endpoint = loopback_listen("127.0.0.1", 16, &fd);
  echo->daemon = MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL, 0, NULL, NULL, take_request, echo,
                                  MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_END);
  g_assert_nonnull(echo->daemon);
  return echo;
}

static void
echo_stop(Echo *echo)
{
  MHD_stop_daemon(echo->daemon);
  tide_endpoint_free(echo->endpoint);
  tide_buffer_clear_memory(&echo->body);
  g_free(echo->path);
  g_free(echo->host);
  g_free(echo->expect);
  g_free(echo);
}

/* Many calls over one connection. */
TEST("/http-exchange/keep-alive")
{
  Echo *echo = echo_start();
  {
    g_autoptr(Peer) peer = connect_to(echo->endpoint);
    for (guint i = 0; i < 10; i++) {
      assert_answered(peer, 200, "call");
      g_assert_cmpstr(peer->answer.negotiate, ==, "b3VycyB0b28=");
      g_assert_true(tide_http_exchange_is_ready(peer->exchange));
    }
  }
  echo_stop(echo);
}

TEST("/http-exchange/what-is-sent")
{
  Echo *echo = echo_start();
  g_autoptr(Peer) peer = connect_to(echo->endpoint);
  assert_answered(peer, 200, "call");
  MHD_stop_daemon(g_steal_pointer(&echo->daemon));
  g_assert_cmpstr(echo->path, ==, "/p");
  g_assert_cmpstr(echo->host, ==, "gw.example:9090");
  g_assert_null(echo->expect);
  echo_stop(echo);
}

/* A body of many parts, some of them empty, and larger than any buffer on the way. */
TEST("/http-exchange/parts")
{
  Echo *echo = echo_start();
  g_autoptr(Peer) peer = connect_to(echo->endpoint);
  g_autofree guint8 *large = g_malloc(300000);
  for (gsize i = 0; i < 300000; i++)
    large[i] = (guint8)(i * 7 + i / 251);
  TideBytes parts[] = {TIDE_BYTES_EMPTY, TIDE_BYTES_LITERAL("head"), tide_bytes(large, 300000), TIDE_BYTES_LITERAL("x"),
                       TIDE_BYTES_EMPTY, tide_bytes(large, 65536),   TIDE_BYTES_LITERAL("end"), TIDE_BYTES_EMPTY};
  g_auto(TideBuffer) wanted = {0};
  for (gsize i = 0; i < G_N_ELEMENTS(parts); i++)
    tide_buffer_append_bytes(&wanted, parts[i]);
  for (guint round = 0; round < 3; round++) {
    TideCallLimits limits = limits_of(GENEROUS_MS, NULL);
    g_autoptr(GError) error = NULL;
    gboolean answered = post_parts(peer, parts, G_N_ELEMENTS(parts), &limits, &error);
    g_assert_no_error(error);
    g_assert_true(answered);
    assert_bytes_equal(tide_buffer_bytes(&peer->body), tide_buffer_bytes(&wanted));
  }
  echo_stop(echo);
}

/* What the environment says of proxies is not for us. */
TEST("/http-exchange/no-proxy")
{
  g_setenv("http_proxy", "http://127.0.0.1:1", TRUE);
  g_setenv("all_proxy", "http://127.0.0.1:1", TRUE);
  Echo *echo = echo_start();
  g_autoptr(Peer) peer = connect_to(echo->endpoint);
  assert_answered(peer, 200, "call");
  echo_stop(echo);
  g_unsetenv("http_proxy");
  g_unsetenv("all_proxy");
}

/* ---- peers that answer in one way or another ---- */

/* Whether a whole request with the body "call" is there. */
static gboolean
is_request(const TideBuffer *received)
{
  return received->len > 8 && memcmp(received->data + received->len - 8, "\r\n\r\ncall", 8) == 0;
}

/* FALSE when the peer closed before. */
static gboolean
await_request(LoopbackServer *server, int fd)
{
  g_auto(TideBuffer) received = {0};
  while (!is_request(&received))
    if (!loopback_read_more(server, fd, &received))
      return FALSE;
  return TRUE;
}

/* Sends its data, a text, and waits for the peer to close. */
static void
answer_with_text(LoopbackServer *server, int fd, guint connection)
{
  const char *text = server->data;
  if (!await_request(server, fd))
    return;
  loopback_send(fd, text, strlen(text));
  loopback_wait_closed(server, fd);
}

static void
answer_with_text_and_close(LoopbackServer *server, int fd, guint connection)
{
  const char *text = server->data;
  if (await_request(server, fd))
    loopback_send(fd, text, strlen(text));
}

typedef struct Answer {
  const char *name;
  const char *text;
  guint status; /* 0: it is none */
  const char *body;
  int code;        /* of the error, where it is none */
  gboolean closes; /* the peer, after it */
} Answer;

#define OK_HEAD "HTTP/1.1 200 OK\r\n"

static const Answer answers[] = {
    {"chunked", OK_HEAD "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n", 200, "abcde", 0,
     FALSE},
    {"trailer", OK_HEAD "Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nWWW-Authenticate: x\r\n\r\n", 200, "a", 0,
     FALSE},
    {"by-length", OK_HEAD "Content-Length: 3\r\n\r\nabc", 200, "abc", 0, FALSE},
    {"to-the-end", OK_HEAD "\r\nabc", 200, "abc", 0, TRUE},
    {"interim", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nX: y\r\n\r\n" OK_HEAD "Content-Length: 1\r\n\r\na",
     200, "a", 0, FALSE},
    {"error", "HTTP/1.1 500 Oh\r\nContent-Length: 2\r\n\r\nno", 500, "no", 0, FALSE},
    {"error-cut", "HTTP/1.1 401 Oh\r\nContent-Length: 200\r\n\r\nno", 401, "no", 0, TRUE},
    {"error-half-a-page", "HTTP/1.1 502 Oh\r\nContent-Length: 200\r\n\r\nno", 502, "no", 0, FALSE},
    {"error-half-a-head", "HTTP/1.1 502 Oh\r\nContent-Le", 502, "", 0, TRUE},
    {"redirect", "HTTP/1.1 302 There\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n", 302, "", 0, FALSE},
    {"compressed", OK_HEAD "Content-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc", 200, "abc", 0, FALSE},
    {"nothing", "", 0, NULL, TIDE_ERROR_CONNECTION_LOST, TRUE},
    /* libcurl takes it for an answer; nobody takes that for a reply of Thrift. */
    {"half-a-head", "HTTP/1.1 200 OK\r\nContent-Le", 200, "", 0, TRUE},
    {"too-short", OK_HEAD "Content-Length: 5\r\n\r\nabc", 0, NULL, TIDE_ERROR_CONNECTION_LOST, TRUE},
    {"chunks-without-end", OK_HEAD "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", 0, NULL,
     TIDE_ERROR_CONNECTION_LOST, TRUE},
    {"chunk-of-no-number", OK_HEAD "Transfer-Encoding: chunked\r\n\r\nxyz\r\n", 0, NULL, TIDE_ERROR_CONNECTION_LOST,
     FALSE},
    {"chunk-of-2-63", OK_HEAD "Transfer-Encoding: chunked\r\n\r\n8000000000000000\r\nabc", 0, NULL,
     TIDE_ERROR_CONNECTION_LOST, FALSE},
    {"chunk-of-2-63-less-1", OK_HEAD "Transfer-Encoding: chunked\r\n\r\n7fffffffffffffff\r\nabc", 0, NULL,
     TIDE_ERROR_CONNECTION_LOST, TRUE},
    {"chunk-of-2-64", OK_HEAD "Transfer-Encoding: chunked\r\n\r\n10000000000000000\r\nabc", 0, NULL,
     TIDE_ERROR_CONNECTION_LOST, FALSE},
    /* A length that nobody can count is none. */
    {"length-of-2-64", OK_HEAD "Content-Length: 18446744073709551616\r\n\r\nabc", 200, "abc", 0, TRUE},
    {"negative-length", OK_HEAD "Content-Length: -1\r\n\r\nabc", 0, NULL, TIDE_ERROR_WRONG_SERVICE, TRUE},
    {"thrift", "\x80\x01\0\x02", 0, NULL, TIDE_ERROR_WRONG_SERVICE, TRUE},
    {"tls-alert", "\x15\x03\x03", 0, NULL, TIDE_ERROR_WRONG_SERVICE, TRUE},
    {"ssh", "SSH-2.0-OpenSSH_9.2\r\n", 0, NULL, TIDE_ERROR_WRONG_SERVICE, FALSE},
};

TEST_EACH("/http-exchange/answers/", answers)
{
  const Answer *answer = data;
  guint64 before_bytes = peak_memory_begin();
  g_autoptr(LoopbackServer) server =
      loopback_start(answer->closes ? answer_with_text_and_close : answer_with_text, (gpointer)answer->text);
  g_autoptr(Peer) peer = connect_to(server->endpoint);
  g_autoptr(GError) error = NULL;
  gboolean answered = post(peer, GENEROUS_MS, &error);
  if (answer->status == 0) {
    g_assert_error(error, TIDE_ERROR, answer->code);
    g_assert_nonnull(strstr(error->message, "http://gw/"));
  } else {
    g_assert_no_error(error);
    g_assert_cmpuint(peer->answer.status, ==, answer->status);
    assert_bytes_equal(tide_buffer_bytes(&peer->body), tide_bytes_of_string(answer->body));
  }
  g_assert_cmpint(answered, ==, answer->status != 0);
  g_assert_cmpuint(loopback_connections(server), ==, 1); /* nothing was sent twice */
  assert_peak_memory_grew_less(before_bytes, MEMORY_MAX_BYTES);
}

/* ---- peers that never end ---- */

/* Sends the begin of its data, and the rest again and again, until the peer closes. */
static void
answer_without_end(LoopbackServer *server, int fd, guint connection)
{
  const char *const *texts = server->data;
  if (!await_request(server, fd))
    return;
  loopback_send(fd, texts[0], strlen(texts[0]));
  while (!loopback_wait_readable(server, fd, 0) && send(fd, texts[1], strlen(texts[1]), MSG_NOSIGNAL) > 0)
    ;
}

static const char *const endless_headers[] = {OK_HEAD, "X-Header: more of the same\r\n"};
static const char *const endless_header[] = {OK_HEAD "X-Header: ", "more of the same "};
static const char *const endless_interims[] = {"", "HTTP/1.1 103 Early\r\nX: y\r\n\r\n"};
static const char *const endless_chunks[] = {OK_HEAD "Transfer-Encoding: chunked\r\n\r\n",
                                             "10\r\n0123456789abcdef\r\n"};
static const char *const endless_body[] = {OK_HEAD "\r\n", "0123456789abcdef"};
static const char *const endless_trailer[] = {OK_HEAD "Transfer-Encoding: chunked\r\n\r\n0\r\n", "X: y\r\n"};

static void
check_endless(const char *const *texts, int code)
{
  guint64 before_bytes = peak_memory_begin();
  g_autoptr(LoopbackServer) server = loopback_start(answer_without_end, (gpointer)texts);
  g_autoptr(Peer) peer = connect_to(server->endpoint);
  g_autoptr(GError) error = NULL;
  g_assert_false(post(peer, GENEROUS_MS, &error));
  g_assert_error(error, TIDE_ERROR, code);
  g_assert_cmpuint(peer->body.len, <=, BODY_MAX_BYTES);
  assert_peak_memory_grew_less(before_bytes, MEMORY_MAX_BYTES);
}

TEST("/http-exchange/D25-endless")
{
  check_endless(endless_headers, TIDE_ERROR_PROTOCOL);
  /* libcurl's own bound, 100 KiB for a line, which it tells from a broken connection from 8.6 on. */
  check_endless(endless_header, curl_version_info(CURLVERSION_NOW)->version_num >= 0x080600
                                    ? TIDE_ERROR_PROTOCOL
                                    : TIDE_ERROR_CONNECTION_LOST);
  check_endless(endless_interims, TIDE_ERROR_PROTOCOL);
  check_endless(endless_chunks, TIDE_ERROR_PROTOCOL);
  check_endless(endless_body, TIDE_ERROR_PROTOCOL);
  check_endless(endless_trailer, TIDE_ERROR_PROTOCOL);
}

/* Of an error page only the begin is read, and it is an answer all the same. */
TEST("/http-exchange/endless-error-page")
{
  static const char *const texts[] = {"HTTP/1.1 500 Oh\r\n\r\nMESSAGE: no\n", "0123456789abcdef"};
  g_autoptr(LoopbackServer) server = loopback_start(answer_without_end, (gpointer)texts);
  g_autoptr(Peer) peer = connect_to(server->endpoint);
  g_autoptr(GError) error = NULL;
  gboolean answered = post(peer, GENEROUS_MS, &error);
  g_assert_no_error(error);
  g_assert_true(answered);
  g_assert_cmpuint(peer->answer.status, ==, 500);
  g_assert_true(peer->answer.is_cut);
}

/* Nor is it waited for: what is said of a call that failed comes long before its deadline. */
static void
answer_page_by_drops(LoopbackServer *server, int fd, guint connection)
{
  static const char head[] = "HTTP/1.1 413 Oh\r\nTransfer-Encoding: chunked\r\n\r\n";
  if (!await_request(server, fd))
    return;
  loopback_send(fd, head, sizeof head - 1);
  while (!loopback_wait_readable(server, fd, 5) && send(fd, "1\r\na\r\n", 6, MSG_NOSIGNAL) > 0)
    ;
}

TEST("/http-exchange/late-error-page")
{
  g_autoptr(LoopbackServer) server = loopback_start(answer_page_by_drops, NULL);
  g_autoptr(Peer) peer = connect_to(server->endpoint);
  g_autoptr(GError) error = NULL;
  gboolean answered = post(peer, GENEROUS_MS, &error);
  g_assert_no_error(error);
  g_assert_true(answered);
  g_assert_cmpuint(peer->answer.status, ==, 413);
  g_assert_true(peer->answer.is_cut);
  g_assert_false(tide_http_exchange_is_ready(peer->exchange));
}

/* A byte now and then keeps nobody busy for longer than the deadline. */
static void
answer_drop_by_drop(LoopbackServer *server, int fd, guint connection)
{
  if (!await_request(server, fd))
    return;
  loopback_send(fd, OK_HEAD "Transfer-Encoding: chunked\r\n\r\n", strlen(OK_HEAD "Transfer-Encoding: chunked\r\n\r\n"));
  while (!loopback_wait_readable(server, fd, 5) && send(fd, "1\r\na\r\n", 6, MSG_NOSIGNAL) > 0)
    ;
}

/* ---- deadlines and cancellation ---- */

/* Reads, and says nothing. */
static void
be_silent(LoopbackServer *server, int fd, guint connection)
{
  loopback_wait_closed(server, fd);
}

/* Does not even read. */
static void
be_deaf(LoopbackServer *server, int fd, guint connection)
{
  (void)loopback_wait_readable(server, server->stop_fd, -1);
}

static void
check_timeout(LoopbackScript script, gsize request_bytes, const char *says)
{
  g_autoptr(LoopbackServer) server = loopback_start(script, NULL);
  g_autoptr(Peer) peer = connect_to(server->endpoint);
  g_autofree guint8 *bytes = g_malloc0(request_bytes);
  memcpy(bytes + request_bytes - 8, "\r\n\r\ncall", 8);
  TideBytes part = tide_bytes(bytes, request_bytes);
  TideCallLimits limits = limits_of(SHORT_MS, NULL);
  g_autoptr(GError) error = NULL;
  g_assert_false(post_parts(peer, &part, 1, &limits, &error));
  g_assert_error(error, TIDE_ERROR, TIDE_ERROR_TIMEOUT);
  g_assert_nonnull(strstr(error->message, says));
}

TEST("/http-exchange/timeouts")
{
  check_timeout(be_silent, 100, "did not answer within");
  check_timeout(be_deaf, 64u << 20, "did not accept the request within");
  check_timeout(answer_drop_by_drop, 100, "did not answer within");
}

static void
cancel(gpointer data)
{
  g_cancellable_cancel(data);
}

TEST("/http-exchange/cancel")
{
  g_autoptr(LoopbackServer) server = loopback_start(be_silent, NULL);
  g_autoptr(Peer) peer = connect_to(server->endpoint);
  g_autoptr(GCancellable) cancellable = g_cancellable_new();
  TideThread *thread = tide_thread_start("test-cancel", cancel, cancellable);
  TideBytes part = TIDE_BYTES_LITERAL("call");
  TideCallLimits limits = limits_of(GENEROUS_MS, cancellable);
  g_autoptr(GError) error = NULL;
  g_assert_false(post_parts(peer, &part, 1, &limits, &error));
  g_assert_error(error, TIDE_ERROR, TIDE_ERROR_CANCELLED);
  tide_thread_join(thread);
}

/* ---- connections that the peer closes ---- */

static void
close_after_an_answer(LoopbackServer *server, int fd, guint connection)
{
  static const char text[] = OK_HEAD "Content-Length: 1\r\n\r\na";
  if (await_request(server, fd))
    loopback_send(fd, text, strlen(text));
}

/* It is seen before the next request is sent, which then counts as not sent. */
TEST("/http-exchange/D25-closed-while-idle")
{
  g_autoptr(LoopbackServer) server = loopback_start(close_after_an_answer, NULL);
  g_autoptr(Peer) peer = connect_to(server->endpoint);
  assert_answered(peer, 200, "a");
  loopback_await_hang_up(server);
  g_assert_false(tide_http_exchange_is_ready(peer->exchange));
  /* Asked all the same: libcurl sees it, too, and gets no other connection. */
  g_autoptr(GError) error = NULL;
  g_assert_false(post(peer, GENEROUS_MS, &error));
  g_assert_error(error, TIDE_ERROR, TIDE_ERROR_CONNECT);
  g_assert_cmpuint(loopback_connections(server), ==, 1);
}

/* Answers the first request, and hangs up on the second when it is there: it may have been carried out. */
static void
hang_up_on_the_second(LoopbackServer *server, int fd, guint connection)
{
  static const char text[] = OK_HEAD "Content-Length: 1\r\n\r\na";
  if (!await_request(server, fd))
    return;
  loopback_send(fd, text, strlen(text));
  (void)await_request(server, fd);
  if (server->data != NULL)
    loopback_reset_on_close(fd);
}

TEST("/http-exchange/D25-cut-on-a-kept-connection")
{
  for (guint reset = 0; reset < 2; reset++) {
    g_autoptr(LoopbackServer) server = loopback_start(hang_up_on_the_second, reset == 1 ? "" : NULL);
    g_autoptr(Peer) peer = connect_to(server->endpoint);
    assert_answered(peer, 200, "a");
    g_autoptr(GError) error = NULL;
    g_assert_false(post(peer, GENEROUS_MS, &error));
    g_assert_error(error, TIDE_ERROR, TIDE_ERROR_CONNECTION_LOST);
    g_assert_cmpuint(loopback_connections(server), ==, 1);
  }
}

static void
answer_and_say_more(LoopbackServer *server, int fd, guint connection)
{
  static const char text[] = OK_HEAD "Content-Length: 1\r\n\r\na" OK_HEAD "Content-Length: 1\r\n\r\nb";
  if (!await_request(server, fd))
    return;
  loopback_send(fd, text, strlen(text));
  loopback_wait_closed(server, fd);
}

/* What nobody asked for is never taken for the answer to the next request. */
TEST("/http-exchange/unasked")
{
  g_autoptr(LoopbackServer) server = loopback_start(answer_and_say_more, NULL);
  g_autoptr(Peer) peer = connect_to(server->endpoint);
  assert_answered(peer, 200, "a");
  g_assert_false(tide_http_exchange_is_ready(peer->exchange));
}

/* Sends its data when the head is there, and says no more: the rest of the request is not taken. */
static void
refuse_early(LoopbackServer *server, int fd, guint connection)
{
  const char *text = server->data;
  g_auto(TideBuffer) received = {0};
  if (loopback_read_more(server, fd, &received))
    loopback_send(fd, text, strlen(text));
  g_assert_cmpint(shutdown(fd, SHUT_WR), ==, 0);
  loopback_wait_closed(server, fd);
}

/* A page that is cut short ends with the connection, no later. */
TEST("/http-exchange/early-refusal")
{
  static const char *const texts[] = {
      "HTTP/1.1 401 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
      "HTTP/1.1 401 No\r\nContent-Length: 200\r\n\r\nno",
      "HTTP/1.1 401 No\r\nTransfer-Encoding: chunked\r\n\r\n20\r\nno",
      "HTTP/1.1 401 No\r\n\r\nno",
  };
  for (gsize i = 0; i < G_N_ELEMENTS(texts); i++) {
    g_autoptr(LoopbackServer) server = loopback_start(refuse_early, (gpointer)texts[i]);
    g_autoptr(Peer) peer = connect_to(server->endpoint);
    g_autofree guint8 *bytes = g_malloc0(8u << 20);
    TideBytes part = tide_bytes(bytes, 8u << 20);
    TideCallLimits limits = limits_of(GENEROUS_MS, NULL);
    g_autoptr(GError) error = NULL;
    gboolean answered = post_parts(peer, &part, 1, &limits, &error);
    g_assert_no_error(error);
    g_assert_true(answered);
    g_assert_cmpuint(peer->answer.status, ==, 401);
  }
}

int
main(int argc, char **argv)
{
  signal(SIGPIPE, SIG_IGN);
  curl_global_init(CURL_GLOBAL_DEFAULT);
  g_test_init(&argc, &argv, NULL);
  test_cases_add();
  return g_test_run();
}
