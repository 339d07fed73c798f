/* Reads a table through a framed gateway and ignores the content: the lower bound of any reader, which only requests
 * and waits.
 *
 * bare-reader HOST:PORT TABLE ROWS_A_PAGE
 *
 * One scanner from the table's beginning to its end, a page at a time; a frame's head says where a reply ends, and a
 * reply's list how many rows it has. Prints one line of JSON. */
#include "bench/plain_socket.h"
#include "thrift/wire/request_encoder.h"
#include "thrift/wire/wire_reader.h"
#include "util/clock.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>

#define FRAME_HEAD_BYTES 4u

typedef struct TideBareReader {
  int fd;
  TideBuffer request;
  TideBuffer reply;
} TideBareReader;

static void G_GNUC_NORETURN
fail(const char *what, const char *why)
{
  fprintf(stderr, "bare-reader: %s: %s\n", what, why);
  exit(1);
}

static void
receive(const TideBareReader *reader, guint8 *to, gsize n)
{
  for (gsize got = 0; got < n;) {
    ssize_t more = recv(reader->fd, to + got, n - got, MSG_WAITALL);
    if (more <= 0)
      fail("the gateway has gone", more == 0 ? "end of file" : g_strerror(errno));
    got += (gsize)more;
  }
}

/* Sends the request as a frame; the reader stands at the result's first field, whose type must be @type. */
static void
call(TideBareReader *reader, TideWireType type, TideWireReader *ret_at)
{
  guint32 head = GUINT32_TO_BE((guint32)reader->request.len);
  g_auto(TideBuffer) frame = {0};
  tide_buffer_append(&frame, &head, sizeof head);
  tide_buffer_append_bytes(&frame, tide_buffer_bytes(&reader->request));
  if (!tide_plain_send(reader->fd, tide_buffer_bytes(&frame)))
    fail("cannot send", g_strerror(errno));
  receive(reader, (guint8 *)&head, FRAME_HEAD_BYTES);
  tide_buffer_reset(&reader->reply);
  receive(reader, tide_buffer_reserve(&reader->reply, GUINT32_FROM_BE(head)), GUINT32_FROM_BE(head));
  tide_wire_reader_init(ret_at, TIDE_WIRE_BINARY, tide_bytes(reader->reply.data, GUINT32_FROM_BE(head)));
  TideWireMessage message;
  TideWireField field = {0};
  if (!tide_wire_read_message(ret_at, &message) || message.type != TIDE_MESSAGE_REPLY ||
      !tide_wire_read_field(ret_at, &field) || field.id != 0 || field.type != type)
    fail("the gateway", "has refused a call");
}

static guint64
read_table(TideBareReader *reader, const char *table, gint32 page_rows)
{
  TideScanRequest scan = {.caching_rows = (guint32)page_rows, .max_versions = 1};
  TideWireReader at;
  tide_open_scanner_request_append(TIDE_WIRE_BINARY, &reader->request, 1, tide_bytes_of_string(table), &scan);
  call(reader, TIDE_WIRE_I32, &at);
  gint32 scanner = tide_wire_read_i32(&at);
  guint64 n_rows = 0;
  for (gint32 sequence = 2;; sequence++) {
    tide_buffer_reset(&reader->request);
    tide_scanner_rows_request_append(TIDE_WIRE_BINARY, &reader->request, sequence, scanner, page_rows);
    call(reader, TIDE_WIRE_LIST, &at);
    guint32 n = 0;
    if (!tide_wire_read_list_of(&at, TIDE_WIRE_STRUCT, &n))
      fail("the gateway", "sends something else than rows");
    n_rows += n;
    if (n == 0)
      return n_rows; /* the gateway forgets the scanner in time */
  }
}

int
main(int argc, char **argv)
{
  gint32 page_rows = argc == 4 ? atoi(argv[3]) : 0;
  if (page_rows <= 0) {
    fputs("usage: bare-reader HOST:PORT TABLE ROWS_A_PAGE\n", stderr);
    return 64;
  }
  g_autoptr(GError) error = NULL;
  gint64 start_us = tide_now_us();
  TideBareReader reader = {.fd = tide_plain_connect(argv[1], &error)};
  if (reader.fd < 0)
    fail("cannot connect", error->message);
  guint64 n_rows = read_table(&reader, argv[2], page_rows);
  double seconds = (double)(tide_now_us() - start_us) / TIDE_US_PER_S;
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  printf("{\"rows\": %" G_GUINT64_FORMAT ", \"seconds\": %.6f, \"cpu_seconds\": %.6f}\n", n_rows, seconds,
         (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
             (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6);
  tide_buffer_clear_memory(&reader.request);
  tide_buffer_clear_memory(&reader.reply);
  return 0;
}
