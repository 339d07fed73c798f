/* Sends putMultiple calls recorded by null-gateway to a gateway unchanged: the lower bound of any client, which only
 * sends and waits.
 *
 * bare-sender --gateway HOST:PORT --calls FILE [--connections N] [--rate ROWS] [--rows N]
 *
 * Each connection has a thread, and takes the next call when its last one was acknowledged. With --rate rows are due
 * evenly, and a call when its last row is; latencies count from when something was due, not from when it was sent, so
 * that a sender that falls behind does not look fast. Prints one line of JSON. An answer that is no plain yes ends it.
 */
#define _GNU_SOURCE
#include "bench/call_recorder.h"
#include "bench/plain_socket.h"
#include "util/clock.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define FRAME_HEAD_BYTES 4u
#define BINARY_HEAD_BYTES (4u + 4u + sizeof "putMultiple" - 1 + 4u) /* version and type, name, sequence */
#define MAX_REPLY_BYTES 64u
/* Where the message's type stands, and what it is in a reply. */
#define BINARY_TYPE_AT 3u
#define BINARY_REPLY 0x02
#define COMPACT_TYPE_AT 1u
#define COMPACT_REPLY 0x41

typedef struct TideCall {
  TideBytes bytes; /* borrowed from the file */
  guint32 n_rows;
  guint64 n_rows_before; /* in the calls before it */
  guint64 due_us;        /* from the start; with --rate */
  guint64 done_us;
} TideCall;

typedef struct TideSender {
  char *gateway; /* owned */
  char *path;    /* owned */
  int n_connections;
  int rate_rows_s; /* 0: as fast as it goes */
  gint64 max_rows; /* 0: all */
  char *file;      /* owned */
  gboolean framed;
  gboolean compact;
  GArray *calls; /* TideCall; each is written by who took it */
  guint64 n_rows;
  gint64 start_us;
  _Atomic guint next;
} TideSender;

typedef struct TideSenderConnection {
  TideSender *sender;
  TideThread *thread;
  int fd;
} TideSenderConnection;

/* The floor is measured or not: there is nothing to recover. The other threads end in the middle of their work. */
static void G_GNUC_PRINTF(1, 2) G_NORETURN fail(const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  fputs("bare-sender: ", stderr);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  va_end(arguments);
  _exit(1); /* stderr keeps nothing back */
}

/* ---- the calls ---- */

static void
add_call(TideSender *sender, TideBytes bytes, guint32 n_rows)
{
  TideCall call = {.bytes = bytes, .n_rows = n_rows, .n_rows_before = sender->n_rows};
  sender->n_rows += n_rows;
  if (sender->rate_rows_s > 0)
    call.due_us = sender->n_rows * (guint64)TIDE_US_PER_S / (guint64)sender->rate_rows_s;
  g_array_append_val(sender->calls, call);
}

static gboolean
load_calls(TideSender *sender, GError **error)
{
  gsize len, at = sizeof(TideCallFileHead);
  TideCallFileHead file_head;
  TideCallHead head;
  if (!g_file_get_contents(sender->path, &sender->file, &len, error))
    return FALSE;
  sender->calls = g_array_new(FALSE, FALSE, sizeof(TideCall));
  if (len >= sizeof file_head)
    memcpy(&file_head, sender->file, sizeof file_head);
  if (len < sizeof file_head || memcmp(file_head.magic, TIDE_CALL_FILE_MAGIC, sizeof file_head.magic) != 0) {
    g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_INVAL, "'%s' was not written by null-gateway --record", sender->path);
    return FALSE;
  }
  sender->framed = file_head.framed != 0;
  sender->compact = file_head.compact != 0;
  while (len - at >= sizeof head && (sender->max_rows == 0 || sender->n_rows < (guint64)sender->max_rows)) {
    memcpy(&head, sender->file + at, sizeof head);
    at += sizeof head;
    if (head.n_bytes > len - at)
      break;
    add_call(sender, tide_bytes(sender->file + at, head.n_bytes), head.n_rows);
    at += head.n_bytes;
  }
  return TRUE;
}

/* ---- a connection ---- */

/* The call's head as a reply, and a struct without fields: neither result nor exception. Returns its length. */
static gsize
expected_reply(const TideSender *sender, TideBytes call, guint8 *reply)
{
  gsize frame = sender->framed ? FRAME_HEAD_BYTES : 0;
  const guint8 *head = call.data + frame;
  gsize len = BINARY_HEAD_BYTES;
  if (sender->compact) {
    len = 2;
    while (head[len++] & 0x80) /* the sequence: a varint */
      ;
    len += 1 + strlen("putMultiple");
  }
  memcpy(reply + frame, head, len);
  reply[frame + (sender->compact ? COMPACT_TYPE_AT : BINARY_TYPE_AT)] = sender->compact ? COMPACT_REPLY : BINARY_REPLY;
  reply[frame + len++] = 0;
  if (sender->framed) {
    guint32 frame_len = GUINT32_TO_BE((guint32)len);
    memcpy(reply, &frame_len, sizeof frame_len);
  }
  return frame + len;
}

static void
await_yes(const TideSender *sender, int fd, TideBytes call)
{
  guint8 expected[MAX_REPLY_BYTES], reply[MAX_REPLY_BYTES];
  gsize len = expected_reply(sender, call, expected);
  for (gsize done = 0; done < len;) {
    gssize n = recv(fd, reply + done, len - done, 0);
    if (n == 0 || (n < 0 && errno != EINTR))
      fail("no answer: %s", n == 0 ? "the gateway closed the connection" : g_strerror(errno));
    done += n > 0 ? (gsize)n : 0;
  }
  if (memcmp(expected, reply, len) != 0) {
    g_autofree char *text = tide_bytes_printable(tide_bytes(reply, len));
    fail("the gateway did not say yes: %s: do the tables exist?", text);
  }
}

static void
wait_until_due(const TideSender *sender, const TideCall *call)
{
  gint64 due_us = sender->start_us + (gint64)call->due_us;
  for (gint64 wait_us; (wait_us = due_us - tide_now_us()) > 0;) {
    const struct timespec wait = {.tv_sec = wait_us / TIDE_US_PER_S, .tv_nsec = wait_us % TIDE_US_PER_S * 1000};
    ppoll(NULL, 0, &wait, NULL);
  }
}

/* The thread of one connection. */
static void
send_calls(gpointer data)
{
  TideSenderConnection *connection = data;
  TideSender *sender = connection->sender;
  for (guint i; (i = atomic_fetch_add(&sender->next, 1)) < sender->calls->len;) {
    TideCall *call = &g_array_index(sender->calls, TideCall, i);
    if (sender->rate_rows_s > 0)
      wait_until_due(sender, call);
    if (!tide_plain_send(connection->fd, call->bytes))
      fail("cannot send: %s", g_strerror(errno));
    await_yes(sender, connection->fd, call->bytes);
    call->done_us = (guint64)(tide_now_us() - sender->start_us);
  }
}

/* ---- the result ---- */

static int
compare_u32(const void *a, const void *b)
{
  guint32 left = *(const guint32 *)a, right = *(const guint32 *)b;
  return left < right ? -1 : left > right;
}

static void
print_percentiles(const char *name, guint32 *latencies_us, guint64 n)
{
  static const struct {
    const char *name;
    double share;
  } percentiles[] = {{"p50", 0.5}, {"p99", 0.99}, {"p999", 0.999}, {"max", 1}};
  qsort(latencies_us, n, sizeof *latencies_us, compare_u32);
  printf(", \"%s\": {", name);
  for (gsize i = 0; i < G_N_ELEMENTS(percentiles); i++) {
    guint64 rank = (guint64)((double)(n - 1) * percentiles[i].share + 0.5);
    printf("%s\"%s\": %.3f", i == 0 ? "" : ", ", percentiles[i].name, latencies_us[rank] / 1000.0);
  }
  printf("}");
}

/* For each row: from when its call was due to the answer; and from when itself was due, that is, with the wait for the
 * rest of its call. */
static void
print_latencies(const TideSender *sender)
{
  g_autofree guint32 *of_calls = g_new(guint32, sender->n_rows);
  g_autofree guint32 *of_rows = g_new(guint32, sender->n_rows);
  for (guint i = 0; i < sender->calls->len; i++) {
    const TideCall *call = &g_array_index(sender->calls, TideCall, i);
    for (guint64 row = call->n_rows_before; row < call->n_rows_before + call->n_rows; row++) {
      guint64 row_due_us = (row + 1) * (guint64)TIDE_US_PER_S / (guint64)sender->rate_rows_s;
      of_calls[row] = (guint32)(call->done_us - call->due_us);
      of_rows[row] = (guint32)(call->done_us - row_due_us);
    }
  }
  print_percentiles("call_latency_ms", of_calls, sender->n_rows);
  print_percentiles("row_latency_ms", of_rows, sender->n_rows);
}

static double
cpu_s(void)
{
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / (double)TIDE_US_PER_S;
}

static void
send_all_calls(TideSender *sender)
{
  g_autofree TideSenderConnection *connections = g_new0(TideSenderConnection, (gsize)sender->n_connections);
  for (int i = 0; i < sender->n_connections; i++) {
    g_autoptr(GError) error = NULL;
    connections[i] = (TideSenderConnection){.sender = sender, .fd = tide_plain_connect(sender->gateway, &error)};
    if (connections[i].fd < 0)
      fail("%s", error->message);
  }
  double cpu_before_s = cpu_s();
  sender->start_us = tide_now_us();
  for (int i = 0; i < sender->n_connections; i++)
    connections[i].thread = tide_thread_start("bare-sender", send_calls, &connections[i]);
  for (int i = 0; i < sender->n_connections; i++)
    tide_thread_join(connections[i].thread);
  double seconds = (double)(tide_now_us() - sender->start_us) / (double)TIDE_US_PER_S;
  printf("{\"rows\": %" G_GUINT64_FORMAT ", \"calls\": %u, \"connections\": %d, \"seconds\": %.6f, "
         "\"rows_per_second\": %.0f, \"cpu_s\": %.6f",
         sender->n_rows, sender->calls->len, sender->n_connections, seconds, (double)sender->n_rows / seconds,
         cpu_s() - cpu_before_s);
  if (sender->rate_rows_s > 0)
    print_latencies(sender);
  printf("}\n");
  for (int i = 0; i < sender->n_connections; i++)
    close(connections[i].fd);
}

static void
clear_sender(TideSender *sender)
{
  g_clear_pointer(&sender->calls, g_array_unref);
  g_free(sender->file);
  g_free(sender->gateway);
  g_free(sender->path);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(TideSender, clear_sender)

int
main(int argc, char **argv)
{
  g_auto(TideSender) sender = {.n_connections = 4};
  const GOptionEntry entries[] = {
      {"gateway", 'g', 0, G_OPTION_ARG_STRING, &sender.gateway, "where to send to", "HOST:PORT"},
      {"calls", 0, 0, G_OPTION_ARG_FILENAME, &sender.path, "what null-gateway --record has written", "FILE"},
      {"connections", 0, 0, G_OPTION_ARG_INT, &sender.n_connections, "each with one call at a time (4)", "N"},
      {"rate", 0, 0, G_OPTION_ARG_INT, &sender.rate_rows_s, "rows a second; 0: as fast as it goes (0)", "N"},
      {"rows", 0, 0, G_OPTION_ARG_INT64, &sender.max_rows, "send no more calls after so many rows; 0: all (0)", "N"},
      G_OPTION_ENTRY_NULL};
  g_autoptr(GError) error = NULL;
  g_autoptr(GOptionContext) context = g_option_context_new("- sends recorded calls and does nothing else");
  g_option_context_add_main_entries(context, entries, NULL);
  gboolean ok = g_option_context_parse(context, &argc, &argv, &error);
  if (ok && (sender.gateway == NULL || sender.path == NULL || sender.n_connections < 1 || sender.rate_rows_s < 0)) {
    fprintf(stderr, "bare-sender: --gateway and --calls are needed, and no number may be negative\n");
    return 64;
  }
  ok = ok && load_calls(&sender, &error);
  if (ok && sender.calls->len > 0)
    send_all_calls(&sender);
  else
    fprintf(stderr, "bare-sender: %s\n", ok ? "no calls were recorded" : error->message);
  return ok && sender.calls->len > 0 ? 0 : 1;
}
