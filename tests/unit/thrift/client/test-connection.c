/* Connections to peers that behave, and against all those that do not. */
#include "thrift/client/connection.h"

#include "unit/assert_bytes.h"
#include "unit/loopback_server.h"
#include "unit/test_case.h"
#include "util/clock.h"
#include "util/error.h"

#include <glib/gstdio.h>
#include <signal.h>

#define GENEROUS_MS 10000 /* for what must succeed: only a broken test waits as long */
#define SHORT_MS 150      /* for what must time out */

/* A void reply to "ping", sequence id 1. */
static const char *const replies[] = {"\x80\x01\0\x02\0\0\0\x04ping\0\0\0\x01\0", "\x82\x41\x01\x04ping\0"};
static const gsize reply_lens[] = {17, 9};

typedef struct Mode {
  TideFraming framing;
  TideWireProtocol protocol;
} Mode;

static const Mode modes[] = {
    {TIDE_FRAMING_UNFRAMED, TIDE_WIRE_BINARY},
    {TIDE_FRAMING_UNFRAMED, TIDE_WIRE_COMPACT},
    {TIDE_FRAMING_FRAMED, TIDE_WIRE_BINARY},
    {TIDE_FRAMING_FRAMED, TIDE_WIRE_COMPACT},
};

static gint64
in_ms(gint64 ms)
{
  return tide_now_us() + ms * TIDE_US_PER_MS;
}

static TideConnection *
connection_to(const TideEndpoint *endpoint, Mode mode, GCancellable *cancellable)
{
  g_autoptr(GCancellable) own = cancellable == NULL ? g_cancellable_new() : g_object_ref(cancellable);
  return tide_connection_new(endpoint, mode.framing, mode.protocol, own);
}

/* Connected, with @timeout_ms for what comes next. */
static TideConnection *
connected_to(const LoopbackServer *server, Mode mode, gint64 timeout_ms)
{
  TideConnection *connection = connection_to(server->endpoint, mode, NULL);
  g_autoptr(GError) error = NULL;
  tide_connection_begin_call(connection, tide_now_us(), in_ms(GENEROUS_MS));
  g_assert_true(tide_connection_connect(connection, &error));
  g_assert_no_error(error);
  tide_connection_begin_call(connection, tide_now_us(), in_ms(timeout_ms));
  return connection;
}

static gboolean
exchange(TideConnection *connection, TideBytes request, TideBytes *ret_reply, GError **error)
{
  return tide_connection_send(connection, &request, 1, error) && tide_connection_receive(connection, ret_reply, error);
}

/* Any well-formed call will do. */
static TideBytes
call_of(Mode mode)
{
  return mode.protocol == TIDE_WIRE_BINARY ? TIDE_BYTES_LITERAL("\x80\x01\0\x01\0\0\0\x04ping\0\0\0\x01\0")
                                           : TIDE_BYTES_LITERAL("\x82\x21\x01\x04ping\0");
}

/* ---- peers that behave ---- */

typedef struct Echo {
  Mode mode;
  TideBuffer last_call; /* the server's thread; read after it was stopped */
  gsize reply_bytes;    /* 0: the small void reply; else one with a string of as many */
} Echo;

static void
serve_echo(LoopbackServer *server, int fd, guint connection)
{
  Echo *echo = server->data;
  TideWireMessage head;
  g_auto(TideBuffer) call = {0};
  g_auto(TideBuffer) reply = {0};
  loopback_append_reply(&reply, tide_bytes(replies[echo->mode.protocol], reply_lens[echo->mode.protocol]),
                        echo->reply_bytes);
  while (loopback_read_call(server, fd, echo->mode.framing, echo->mode.protocol, &call, &head)) {
    tide_buffer_reset(&echo->last_call);
    tide_buffer_append_bytes(&echo->last_call, tide_buffer_bytes(&call));
    loopback_send_message(fd, echo->mode.framing, tide_buffer_bytes(&reply));
  }
}

TEST("/connection/calls-work-in-all-modes")
{
  for (gsize i = 0; i < G_N_ELEMENTS(modes); i++) {
    Echo echo = {.mode = modes[i]};
    LoopbackServer *server = loopback_start(serve_echo, &echo);
    g_autoptr(TideConnection) connection = connected_to(server, modes[i], GENEROUS_MS);
    for (guint call = 0; call < 3; call++) {
      TideBytes reply;
      g_autoptr(GError) error = NULL;
      g_assert_true(tide_connection_is_ready(connection));
      tide_connection_begin_call(connection, tide_now_us(), in_ms(GENEROUS_MS));
      g_assert_true(exchange(connection, call_of(modes[i]), &reply, &error));
      g_assert_no_error(error);
      assert_bytes_equal(reply, tide_bytes(replies[modes[i].protocol], reply_lens[modes[i].protocol]));
    }
    g_assert_cmpuint(loopback_connections(server), ==, 1);
    loopback_stop(server);
    tide_buffer_clear_memory(&echo.last_call);
  }
}

/* More parts than one system call takes, some of them empty, and more bytes than the socket's buffers hold. */
TEST("/connection/many-parts-arrive-as-one-message")
{
  for (guint framing = 0; framing < 2; framing++) {
    Echo echo = {.mode = {(TideFraming)framing, TIDE_WIRE_BINARY}};
    LoopbackServer *server = loopback_start(serve_echo, &echo);
    g_autoptr(TideConnection) connection = connected_to(server, echo.mode, GENEROUS_MS);

    enum { N_PARTS = 3000, PART_BYTES = 4000 };
    g_auto(TideBuffer) call = {0};
    tide_buffer_append(&call, "\x80\x01\0\x01\0\0\0\x04ping\0\0\0\x01\x0b\0\x01", 19);
    guint32 len = htonl(N_PARTS / 2 * PART_BYTES);
    tide_buffer_append(&call, &len, sizeof len);
    gsize head_len = call.len;
    for (gsize i = 0; i < (gsize)N_PARTS / 2 * PART_BYTES; i++)
      tide_buffer_append_byte(&call, (guint8)(i * 31 >> 3));
    tide_buffer_append_byte(&call, 0);

    g_autofree TideBytes *parts = g_new0(TideBytes, N_PARTS + 2);
    parts[0] = tide_bytes(call.data, head_len);
    for (gsize i = 0; i < N_PARTS; i += 2)
      parts[1 + i] = tide_bytes(call.data + head_len + i / 2 * PART_BYTES, PART_BYTES);
    parts[N_PARTS + 1] = tide_bytes(call.data + call.len - 1, 1);

    TideBytes reply;
    g_autoptr(GError) error = NULL;
    g_assert_true(tide_connection_send(connection, parts, N_PARTS + 2, &error));
    g_assert_true(tide_connection_receive(connection, &reply, &error));
    loopback_stop(server);
    gsize frame = framing == TIDE_FRAMING_FRAMED ? 4 : 0;
    assert_bytes_equal(tide_bytes(echo.last_call.data + frame, echo.last_call.len - frame), tide_buffer_bytes(&call));
    tide_buffer_clear_memory(&echo.last_call);
  }
}

TEST("/connection/large-reply-arrives-whole")
{
  for (guint framing = 0; framing < 2; framing++) {
    Echo echo = {.mode = {(TideFraming)framing, TIDE_WIRE_BINARY}, .reply_bytes = 20 << 20};
    LoopbackServer *server = loopback_start(serve_echo, &echo);
    g_autoptr(TideConnection) connection = connected_to(server, echo.mode, GENEROUS_MS);
    TideBytes reply;
    g_autoptr(GError) error = NULL;
    g_assert_true(exchange(connection, call_of(echo.mode), &reply, &error));
    g_assert_no_error(error);
    g_assert_cmpuint(reply.len, ==, (20 << 20) + 17 + 7);
    g_assert_cmpint(reply.data[reply.len - 2], ==, 'x');
    loopback_stop(server);
    tide_buffer_clear_memory(&echo.last_call);
  }
}

TEST("/connection/ipv6")
{
  Echo echo = {.mode = modes[0]};
  LoopbackServer *server = loopback_start_at("::1", serve_echo, &echo);
  if (server == NULL) {
    g_test_skip("this machine has no IPv6 loopback");
    return;
  }
  g_autoptr(TideConnection) connection = connected_to(server, echo.mode, GENEROUS_MS);
  TideBytes reply;
  g_assert_true(exchange(connection, call_of(echo.mode), &reply, NULL));
  loopback_stop(server);
  tide_buffer_clear_memory(&echo.last_call);
}

TEST("/connection/unix-socket")
{
  g_autofree char *dir = g_dir_make_tmp("tidemark-test-XXXXXX", NULL);
  g_autofree char *path = g_build_filename(dir, "gateway.sock", NULL);
  Echo echo = {.mode = modes[3]};
  LoopbackServer *server = loopback_start_at(path, serve_echo, &echo);
  g_autoptr(TideConnection) connection = connected_to(server, echo.mode, GENEROUS_MS);
  TideBytes reply;
  g_assert_true(exchange(connection, call_of(echo.mode), &reply, NULL));
  loopback_stop(server);
  tide_buffer_clear_memory(&echo.last_call);
  g_unlink(path);
  g_rmdir(dir);
}

/* ---- peers that do not behave ---- */

/* What a peer does after it was sent something. */
typedef struct Answer {
  TideBytes bytes;
  gboolean then_close;
  gboolean then_reset;
} Answer;

static void
serve_answer(LoopbackServer *server, int fd, guint connection)
{
  const Answer *answer = server->data;
  g_auto(TideBuffer) call = {0};
  if (!loopback_read_more(server, fd, &call))
    return;
  loopback_send(fd, answer->bytes.data, answer->bytes.len);
  if (answer->then_reset)
    loopback_reset_on_close(fd);
  if (!answer->then_close && !answer->then_reset)
    loopback_wait_closed(server, fd);
}

/* Returns: the error of one call to a peer that gives @answer; the connection is found closed after it. */
static GError *
error_after(Answer answer, Mode mode, gint64 timeout_ms)
{
  LoopbackServer *server = loopback_start(serve_answer, &answer);
  g_autoptr(TideConnection) connection = connected_to(server, mode, timeout_ms);
  TideBytes reply;
  GError *error = NULL;
  g_assert_false(exchange(connection, call_of(mode), &reply, &error));
  g_assert_nonnull(error);
  g_assert_nonnull(strstr(error->message, server->endpoint->text)); /* every text names the peer */
  g_assert_false(connection->is_open);
  loopback_stop(server);
  return error;
}

TEST("/connection/silent-peer-times-out")
{
  for (gsize i = 0; i < G_N_ELEMENTS(modes); i++) {
    gint64 begun_us = tide_now_us();
    g_autoptr(GError) error = error_after((Answer){0}, modes[i], SHORT_MS);
    g_assert_error(error, TIDE_ERROR, TIDE_ERROR_TIMEOUT);
    g_assert_true(tide_error_outcome_unknown(error));
    g_assert_nonnull(strstr(error->message, "did not answer within 1")); /* 150 ms and a little */
    g_assert_cmpint(tide_now_us() - begun_us, >=, SHORT_MS * TIDE_US_PER_MS);
  }
}

/* A byte each 20 ms: each wait is short, the whole is not. */
static void
serve_drip(LoopbackServer *server, int fd, guint connection)
{
  g_auto(TideBuffer) call = {0};
  if (!loopback_read_more(server, fd, &call))
    return;
  struct pollfd peer = {.fd = fd, .events = POLLIN};
  for (gsize i = 0; poll(&peer, 1, 20) == 0; i++)
    loopback_send(fd, i < 12 ? &"\x80\x01\0\x02\0\0\x40\0ping"[i] : "x", 1);
}

TEST("/connection/dripping-peer-times-out-as-a-whole")
{
  g_autoptr(LoopbackServer) server = loopback_start(serve_drip, NULL);
  gint64 begun_us = tide_now_us();
  g_autoptr(TideConnection) connection = connected_to(server, modes[0], 2 * SHORT_MS);
  TideBytes reply;
  g_autoptr(GError) error = NULL;
  g_assert_false(exchange(connection, call_of(modes[0]), &reply, &error));
  g_assert_error(error, TIDE_ERROR, TIDE_ERROR_TIMEOUT);
  g_assert_cmpint(tide_now_us() - begun_us, <, GENEROUS_MS * TIDE_US_PER_MS / 2);
}

TEST("/connection/closing-peer-is-a-lost-connection")
{
  struct {
    Answer answer;
    const char *part;
  } cases[] = {
      {{.then_close = TRUE}, "closed the connection before answering"},
      {{.bytes = tide_bytes("\x80\x01\0\x02\0\0\0\x04pi", 10), .then_close = TRUE}, "closed the connection"},
      {{.then_reset = TRUE}, "onnection"}, /* the reset may be seen as such, or as an end */
      {{.bytes = tide_bytes("\x80\x01", 2), .then_reset = TRUE}, "onnection"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(GError) error = error_after(cases[i].answer, modes[0], GENEROUS_MS);
    g_assert_error(error, TIDE_ERROR, TIDE_ERROR_CONNECTION_LOST);
    g_assert_nonnull(strstr(error->message, cases[i].part));
  }
}

TEST("/connection/other-services-are-named")
{
  struct {
    TideBytes bytes;
    TideErrorCode code;
    const char *part;
  } cases[] = {
      {TIDE_BYTES_LITERAL("HTTP/1.1 400 Bad Request\r\n\r\n"), TIDE_ERROR_WRONG_SERVICE, "speaks HTTP"},
      {TIDE_BYTES_LITERAL("\x15\x03\x01\0\x02\x02\x46"), TIDE_ERROR_WRONG_SERVICE, "speaks TLS"},
      {TIDE_BYTES_LITERAL("\x15\x03\x03\0\x02\x02\x50"), TIDE_ERROR_WRONG_SERVICE, "speaks TLS"},
      {TIDE_BYTES_LITERAL("SSH-2.0-OpenSSH_9.2\r\n"), TIDE_ERROR_PROTOCOL, "sent an invalid"},
      {TIDE_BYTES_LITERAL("\xff\xff\xff\xff\xff\xff\xff\xff"), TIDE_ERROR_PROTOCOL, "sent an invalid"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    for (gsize m = 0; m < G_N_ELEMENTS(modes); m++) {
      g_autoptr(GError) error = error_after((Answer){.bytes = cases[i].bytes}, modes[m], GENEROUS_MS);
      g_assert_error(error, TIDE_ERROR, (gint)cases[i].code);
      g_assert_nonnull(strstr(error->message, cases[i].part));
    }
  }
}

/* Answers one call, and the next in another service's words. */
static void
serve_two_tongues(LoopbackServer *server, int fd, guint connection)
{
  g_auto(TideBuffer) call = {0};
  TideWireMessage head;
  if (!loopback_read_call(server, fd, modes[0].framing, modes[0].protocol, &call, &head))
    return;
  loopback_send_message(fd, modes[0].framing, tide_bytes(replies[0], reply_lens[0]));
  if (loopback_read_call(server, fd, modes[0].framing, modes[0].protocol, &call, &head))
    loopback_send(fd, "HTTP/1.1 200 OK\r\n\r\n", 19);
}

/* It may have carried the call out: that it is another service is known of the first answer alone. */
TEST("/connection/other-services-words-later-leave-a-call-open")
{
  g_autoptr(LoopbackServer) server = loopback_start(serve_two_tongues, NULL);
  g_autoptr(TideConnection) connection = connected_to(server, modes[0], GENEROUS_MS);
  g_autoptr(GError) error = NULL;
  TideBytes reply;
  g_assert_true(exchange(connection, call_of(modes[0]), &reply, &error));
  g_assert_false(exchange(connection, call_of(modes[0]), &reply, &error));
  g_assert_error(error, TIDE_ERROR, TIDE_ERROR_PROTOCOL);
}

TEST("/connection/bad-frames-are-refused")
{
  struct {
    TideBytes bytes;
    const char *part;
  } cases[] = {
      {TIDE_BYTES_LITERAL("\0\0\0\0"), "the length of the frame is out of range"},
      {TIDE_BYTES_LITERAL("\x80\0\0\0"), "the length of the frame is out of range"},
      {TIDE_BYTES_LITERAL("\x04\0\0\x01"), "the length of the frame is out of range"}, /* 64 MiB and a byte */
      {TIDE_BYTES_LITERAL("\0\0\0\x12\x80\x01\0\x02\0\0\0\x04ping\0\0\0\x01\0x"), "does not fill its frame"},
      {TIDE_BYTES_LITERAL("\0\0\0\x10\x80\x01\0\x02\0\0\0\x04ping\0\0\0\x01"), "exceeds the end"},
      {TIDE_BYTES_LITERAL("\0\0\0\x13\x80\x01\0\x02\0\0\0\x04ping\0\0\0\x01\x0b\0\0"), "at byte"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(GError) error = error_after((Answer){.bytes = cases[i].bytes}, modes[2], GENEROUS_MS);
    g_assert_error(error, TIDE_ERROR, TIDE_ERROR_PROTOCOL);
    if (strstr(error->message, cases[i].part) == NULL)
      g_error("expected '%s' in '%s'", cases[i].part, error->message);
  }
}

/* A reply that announces more than the limit is refused when it says so, not when it has come. */
TEST("/connection/reply-above-the-limit-is-refused")
{
  TideBytes bytes = TIDE_BYTES_LITERAL("\x80\x01\0\x02\0\0\0\x04ping\0\0\0\x01\x0b\0\0\x04\0\0\0");
  g_autoptr(GError) error = error_after((Answer){.bytes = bytes}, modes[0], GENEROUS_MS);
  g_assert_error(error, TIDE_ERROR, TIDE_ERROR_PROTOCOL);
  g_assert_nonnull(strstr(error->message, "the limit is 64 MiB"));
}

/* A second reply that nobody asked for must not become the next call's. */
TEST("/connection/unasked-bytes-make-it-unready")
{
  g_auto(TideBuffer) two = {0};
  for (guint i = 0; i < 2; i++)
    tide_buffer_append(&two, replies[0], reply_lens[0]);
  Answer answer = {.bytes = tide_buffer_bytes(&two)};
  g_autoptr(LoopbackServer) server = loopback_start(serve_answer, &answer);
  g_autoptr(TideConnection) connection = connected_to(server, modes[0], GENEROUS_MS);
  TideBytes reply;
  g_assert_true(exchange(connection, call_of(modes[0]), &reply, NULL));
  g_assert_false(tide_connection_is_ready(connection));
}

/* A peer that never reads: the socket's buffers fill up. */
static void
serve_nothing(LoopbackServer *server, int fd, guint connection)
{
  struct pollfd stop = {.fd = server->stop_fd, .events = POLLIN};
  (void)poll(&stop, 1, -1);
}

TEST("/connection/peer-that-does-not-read-times-out")
{
  g_autoptr(LoopbackServer) server = loopback_start(serve_nothing, NULL);
  g_autoptr(TideConnection) connection = connected_to(server, modes[0], SHORT_MS);
  gsize len = 32 << 20;
  g_autofree guint8 *large = g_malloc0(len);
  TideBytes part = tide_bytes(large, len);
  g_autoptr(GError) error = NULL;
  g_assert_false(tide_connection_send(connection, &part, 1, &error));
  g_assert_error(error, TIDE_ERROR, TIDE_ERROR_TIMEOUT);
  g_assert_nonnull(strstr(error->message, "did not accept the request within"));
}

/* A framed gateway hangs up on a frame that is too large for it: the text says what it may be. */
TEST("/connection/frame-too-large-for-the-gateway-is-guessed")
{
  for (guint framing = 0; framing < 2; framing++) {
    Answer answer = {.then_close = TRUE};
    Mode mode = {(TideFraming)framing, TIDE_WIRE_BINARY};
    g_autoptr(LoopbackServer) server = loopback_start(serve_answer, &answer);
    g_autoptr(TideConnection) connection = connected_to(server, mode, GENEROUS_MS);
    gsize len = 3 << 20;
    g_autofree guint8 *large = g_malloc0(len);
    TideBytes reply;
    g_autoptr(GError) error = NULL;
    g_assert_false(exchange(connection, tide_bytes(large, len), &reply, &error));
    g_assert_error(error, TIDE_ERROR, TIDE_ERROR_CONNECTION_LOST);
    g_assert_cmpint(strstr(error->message, "max_frame_size_in_mb") != NULL, ==, framing == TIDE_FRAMING_FRAMED);
  }
}

TEST("/connection/too-big-a-request-is-not-sent")
{
  g_autoptr(LoopbackServer) server = loopback_start(serve_nothing, NULL);
  g_autoptr(TideConnection) connection = connected_to(server, modes[2], GENEROUS_MS);
  static const guint8 byte;
  TideBytes parts[] = {tide_bytes(&byte, 1u << 30), tide_bytes(&byte, 1u << 30)}; /* counted, never read */
  g_autoptr(GError) error = NULL;
  g_assert_false(tide_connection_send(connection, parts, 2, &error));
  g_assert_error(error, TIDE_ERROR, TIDE_ERROR_TOO_BIG);
  g_assert_true(connection->is_open); /* nothing was sent */
}

/* ---- connecting ---- */

TEST("/connection/refused-connection-names-the-address")
{
  int fd = -1;
  g_autoptr(TideEndpoint) endpoint = loopback_listen("127.0.0.1", 1, &fd);
  close(fd);
  g_autoptr(TideConnection) connection = connection_to(endpoint, modes[0], NULL);
  tide_connection_begin_call(connection, tide_now_us(), in_ms(GENEROUS_MS));
  g_autoptr(GError) error = NULL;
  g_assert_false(tide_connection_connect(connection, &error));
  g_assert_error(error, TIDE_ERROR, TIDE_ERROR_CONNECT);
  g_assert_false(tide_error_outcome_unknown(error));
  g_autofree char *expected =
      g_strdup_printf("cannot connect to gateway '%s': 127.0.0.1: connection refused", endpoint->text);
  g_assert_cmpstr(error->message, ==, expected);
}

/* With its queue full a listener drops further connects: as a host does that is gone. */
TEST("/connection/connect-has-a-deadline")
{
  int fd = -1;
  g_autoptr(TideEndpoint) endpoint = loopback_listen("127.0.0.1", 0, &fd);
  g_autoptr(GPtrArray) waiting = g_ptr_array_new_with_free_func((GDestroyNotify)tide_connection_free);
  g_autoptr(GError) error = NULL;
  for (guint i = 0; i < 8 && error == NULL; i++) {
    TideConnection *connection = connection_to(endpoint, modes[0], NULL);
    g_ptr_array_add(waiting, connection);
    tide_connection_begin_call(connection, tide_now_us(), in_ms(SHORT_MS));
    (void)!tide_connection_connect(connection, &error);
  }
  g_assert_error(error, TIDE_ERROR, TIDE_ERROR_CONNECT);
  g_assert_nonnull(strstr(error->message, "no answer within 1"));
  close(fd);
}

/* ---- from outside ---- */

static void
cancel_it(gpointer cancellable)
{
  g_cancellable_cancel(cancellable);
}

/* Cancels from another thread once it was sent something. */
static void
serve_cancel(LoopbackServer *server, int fd, guint connection)
{
  g_auto(TideBuffer) call = {0};
  if (!loopback_read_more(server, fd, &call))
    return;
  TideThread *thread = tide_thread_start("test-cancel", cancel_it, server->data);
  loopback_wait_closed(server, fd);
  tide_thread_join(thread);
}

TEST("/connection/cancel-from-another-thread-ends-the-call")
{
  g_autoptr(GCancellable) cancellable = g_cancellable_new();
  GPollFD held; /* as the client does: its descriptor is there before the thread that writes to it, and after */
  g_assert_true(g_cancellable_make_pollfd(cancellable, &held));
  LoopbackServer *server = loopback_start(serve_cancel, cancellable);
  g_autoptr(TideConnection) connection = connection_to(server->endpoint, modes[0], cancellable);
  tide_connection_begin_call(connection, tide_now_us(), in_ms(GENEROUS_MS));
  TideBytes reply;
  g_autoptr(GError) error = NULL;
  g_assert_true(tide_connection_connect(connection, &error));
  g_assert_false(exchange(connection, call_of(modes[0]), &reply, &error));
  g_assert_error(error, TIDE_ERROR, TIDE_ERROR_CANCELLED);
  g_assert_false(connection->is_open);
  g_clear_error(&error);
  g_assert_false(tide_connection_connect(connection, &error));
  g_assert_error(error, TIDE_ERROR, TIDE_ERROR_CANCELLED);
  loopback_stop(server);
  g_cancellable_release_fd(cancellable);
}

/* Sends on to a peer that has gone, with SIGPIPE at its default: alive after it is the test. */
TEST("/connection/peer-that-went-away-is-no-sigpipe")
{
  Answer answer = {.then_reset = TRUE};
  g_autoptr(LoopbackServer) server = loopback_start(serve_answer, &answer);
  g_autoptr(TideConnection) connection = connected_to(server, modes[0], GENEROUS_MS);
  void (*before)(int) = signal(SIGPIPE, SIG_DFL); /* GIO sets it to SIG_IGN with its first socket */
  g_autoptr(GError) error = NULL;
  TideBytes part = call_of(modes[0]);
  gint64 deadline_us = in_ms(GENEROUS_MS);
  while (tide_connection_send(connection, &part, 1, &error))
    g_assert_cmpint(tide_now_us(), <, deadline_us);
  g_assert_error(error, TIDE_ERROR, TIDE_ERROR_CONNECTION_LOST);
  signal(SIGPIPE, before);
}
