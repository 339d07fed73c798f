/* A gateway that acknowledges every row and stores none, so that only the client is measured.
 *
 *     null-gateway [--port N] [--framed] [--compact] [--families M,N] [--regions N] [--splits a,b,c]
 *                  [--record FILE] [--record-bytes N] [--forward HOST:PORT] [--refuse TEXT] [--rows-per-second N]
 *                  [--call-ms N] [--servers N]
 *
 * Every table that is asked for exists, with the families and regions given. It says "port N", serves each connection
 * in a thread of its own, and on SIGINT or SIGTERM prints how many rows came at what rate. With --record it keeps the
 * putMultiple calls in a file, for bare-sender to send again. With --forward it stands before a real gateway and only
 * looks on: that one answers. With --refuse it says no to calls that hold TEXT, as HBase does where a cell is too
 * large. With --rows-per-second and --call-ms its rows and calls take time, all connections together: calls wait in one
 * queue for one server, or for as many as --servers says. Then it also prints how long small calls took, from when they
 * came until their answer was due: a busy machine changes that less than what their clients see. */
#define _GNU_SOURCE
#include "bench/call_recorder.h"
#include "bench/plain_socket.h"
#include "bench/put_skipper.h"
#include "fault/gateway/fake_service.h"
#include "util/clock.h"
#include "util/lock.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

/* Some calls of the largest batches at once; larger single rows make it grow. */
#define INPUT_BYTES (1024 * 1024)
#define MAX_CONNECTIONS 1024
#define MAX_SERVERS 64

/* Calls of a stream with fewer rows than a backfill has in each of its own. */
#define SMALL_CALL_ROWS 100

/* What HBase says of a call with a cell above hbase.server.keyvalue.maxsize. */
#define REFUSAL                                                                                                        \
  "Failed 1 action: org.apache.hadoop.hbase.DoNotRetryIOException: Cell with size 10485999 exceeds limit of 10485760 " \
  "bytes: 1 time, servers with issues: localhost,16020,1"

#define RECORD_BYTES (G_GINT64_CONSTANT(1) << 30)

/* Written by its connection's thread alone; read when the program ends. */
typedef struct TideTally {
  _Atomic guint64 n_rows;
  _Atomic guint64 n_calls;
  _Atomic guint64 n_bytes;
  _Atomic gint64 first_us; /* when the first put had arrived; 0: none */
  _Atomic gint64 last_us;
} TideTally;

typedef struct TideNullGateway {
  int port; /* 0: a free one */
  gboolean framed;
  gboolean compact;
  char *families;
  char *splits;
  int n_regions;
  char *record_path; /* NULL: nothing is recorded */
  gint64 record_bytes;
  TideCallRecorder recorder;
  char *forward;       /* NULL: it answers itself */
  char *refuse;        /* NULL: nothing is */
  int rows_per_second; /* of a server; 0: as many as come */
  int call_ms;         /* that each call takes beside its rows */
  int n_servers;
  TideMutex pace_lock;
  TideCond never;              /* signalled */
  gint64 free_us[MAX_SERVERS]; /* under pace_lock: when a server has done all that has come to it */
  GArray *small_calls_us;      /* owned, under pace_lock (element-type gint64) */
  int listen_fd;
  TideFakeHBase *hbase;
  TideFakeService *service;
  TideTally tallies[MAX_CONNECTIONS];
  _Atomic guint n_connections;
} TideNullGateway;

typedef struct TideNullConnection {
  TideNullGateway *gateway;
  TideTally *tally;
  int fd;
  int forward_fd; /* -1: none */
  TideBuffer input;
  TidePutSkipper skipper;
  TideBuffer call;       /* with --record and --refuse: what has come of the call under way ... */
  guint64 n_rows_before; /* ... and the rows before it */
  TideFakeWriter writer;
  TideFakeRequest request;
} TideNullConnection;

/* Split keys of two bytes, evenly over all of them: for keys that begin with a hash. */
static GArray *
even_splits(int n_regions, guint8 *keys)
{
  GArray *splits = g_array_new(FALSE, FALSE, sizeof(TideBytes));
  for (int i = 1; i < n_regions; i++) {
    guint32 position = (guint32)(65536LL * i / n_regions);
    keys[2 * i] = (guint8)(position >> 8);
    keys[2 * i + 1] = (guint8)position;
    TideBytes key = tide_bytes(keys + 2 * i, 2);
    g_array_append_val(splits, key);
  }
  return splits;
}

static GArray *
named_splits(char **names)
{
  GArray *splits = g_array_new(FALSE, FALSE, sizeof(TideBytes));
  for (guint i = 0; names[i] != NULL; i++) {
    TideBytes key = tide_bytes_of_string(names[i]);
    g_array_append_val(splits, key);
  }
  return splits;
}

static void
create_table(TideNullGateway *gateway, const char *table)
{
  g_auto(TideFakeError) error = {0}; /* another connection may have been first: then it exists, too */
  g_auto(GStrv) families = g_strsplit(gateway->families, ",", -1);
  g_auto(GStrv) names = g_strsplit(gateway->splits != NULL ? gateway->splits : "", ",", -1);
  g_autofree guint8 *keys = g_malloc0(2 * (gsize)MAX(gateway->n_regions, 1));
  g_autoptr(GArray) splits = gateway->splits != NULL ? named_splits(names) : even_splits(gateway->n_regions, keys);
  TideFakeTableSpec *spec = fake_table_spec_new(table);
  for (guint i = 0; families[i] != NULL; i++)
    fake_table_spec_add_family(spec, families[i]);
  fake_hbase_create_table(gateway->hbase, spec, (const TideBytes *)(void *)splits->data, splits->len, &error);
}

typedef struct TideMemory {
  TideBytes left;
} TideMemory;

/* TideFakeReadFunc */
static gssize
read_memory(gpointer data, guint8 *bytes, gsize len)
{
  TideMemory *memory = data;
  gsize n = MIN(len, memory->left.len);
  if (n > 0)
    memcpy(bytes, memory->left.data, n);
  memory->left.data += n;
  memory->left.len -= n;
  return (gssize)n;
}

/* Any call but putMultiple. FALSE when its bytes are none. */
static gboolean
answer_call(TideNullConnection *connection, TideBytes call)
{
  TideNullGateway *gateway = connection->gateway;
  TideFakeRequest *request = &connection->request;
  TideMemory memory = {call};
  TideFakeReader reader;
  TideFakeMessage message;
  fake_reader_init(&reader, FALSE, gateway->compact, read_memory, &memory);
  gboolean ok = fake_reader_message_begin(&reader, &message);
  if (ok)
    fake_request_begin(request, &message);
  ok = ok && fake_request_read(request, &reader);
  if (ok && request->table != NULL && request->incomplete == NULL)
    create_table(gateway, request->table);
  if (ok)
    fake_service_answer(gateway->service, request, TIDE_PERSONALITY_THRIFT2, (TideFakeOrigin){0}, NULL, NULL,
                        &connection->writer);
  fake_reader_clear(&reader);
  return ok && tide_plain_send(connection->fd, tide_buffer_bytes(&connection->writer.out));
}

static void
count_puts(TideNullConnection *connection)
{
  TideTally *tally = connection->tally;
  gint64 now_us = tide_now_us();
  if (tally->first_us == 0)
    tally->first_us = now_us;
  tally->last_us = now_us;
  tally->n_rows = connection->skipper.n_rows;
  tally->n_calls = connection->skipper.n_calls;
}

/* Until the server that is free first has done what came before, on any connection, and this call. */
static void
keep_pace(TideNullGateway *gateway, guint64 n_rows)
{
  gint64 now_us = tide_now_us(), takes_us = gateway->call_ms * TIDE_US_PER_MS;
  if (gateway->rows_per_second > 0)
    takes_us += (gint64)n_rows * TIDE_US_PER_S / gateway->rows_per_second;
  tide_mutex_lock(&gateway->pace_lock);
  gint64 *free_us = &gateway->free_us[0];
  for (int i = 1; i < gateway->n_servers; i++)
    if (gateway->free_us[i] < *free_us)
      free_us = &gateway->free_us[i];
  *free_us = MAX(*free_us, now_us) + takes_us;
  gint64 done_us = *free_us, in_all_us = done_us - now_us;
  if (n_rows < SMALL_CALL_ROWS)
    g_array_append_val(gateway->small_calls_us, in_all_us);
  while (tide_cond_wait_until(&gateway->never, &gateway->pace_lock, done_us))
    ;
  tide_mutex_unlock(&gateway->pace_lock);
}

static gboolean
is_refused(const TideNullConnection *connection)
{
  const char *text = connection->gateway->refuse;
  return text != NULL && memmem(connection->call.data, connection->call.len, text, strlen(text)) != NULL;
}

static gboolean
answer_puts(TideNullConnection *connection)
{
  TideFakeWriter *writer = &connection->writer;
  if (is_refused(connection)) { /* at once: HBase looks at the cells before it writes one */
    TideFakeRequest request = {.name = "putMultiple", .sequence_id = connection->skipper.sequence_id};
    fake_service_write_io_error(writer, &request, REFUSAL, TIDE_CAN_RETRY_YES);
    return tide_plain_send(connection->fd, tide_buffer_bytes(&writer->out));
  }
  if (connection->gateway->rows_per_second > 0 || connection->gateway->call_ms > 0)
    keep_pace(connection->gateway, connection->skipper.n_rows - connection->n_rows_before);
  fake_writer_message_begin(writer, "putMultiple", TIDE_FAKE_REPLY, connection->skipper.sequence_id);
  fake_writer_struct_begin(writer);
  fake_writer_struct_end(writer);
  fake_writer_message_end(writer);
  return tide_plain_send(connection->fd, tide_buffer_bytes(&writer->out));
}

/* FALSE when the connection is to be closed. */
static gboolean
answer(TideNullConnection *connection, TideSkipEvent event, TideBytes call)
{
  if (event == TIDE_SKIP_PUTS)
    count_puts(connection);
  if (connection->forward_fd >= 0)
    return TRUE;
  if (event == TIDE_SKIP_PUTS)
    return answer_puts(connection);
  return event != TIDE_SKIP_OTHER || answer_call(connection, call);
}

/* Before it is answered: whoever has all answers may end this program. */
static void
record_puts(TideNullConnection *connection)
{
  guint32 n_rows = (guint32)(connection->skipper.n_rows - connection->n_rows_before);
  if (connection->gateway->record_path != NULL)
    tide_call_recorder_add(&connection->gateway->recorder, tide_buffer_bytes(&connection->call), n_rows);
}

/* The call under way has ended, and was answered. */
static void
end_call(TideNullConnection *connection)
{
  connection->n_rows_before = connection->skipper.n_rows;
  tide_buffer_reset(&connection->call);
}

/* Handles all that is whole in the input and keeps the rest. FALSE when the connection is to be closed. */
static gboolean
serve_input(TideNullConnection *connection)
{
  TideBuffer *input = &connection->input;
  gsize done = 0;
  gboolean goes_on = TRUE;
  TideSkipEvent event;
  do {
    gsize consumed = 0;
    TideBytes call = TIDE_BYTES_EMPTY;
    event = tide_put_skipper_step(&connection->skipper, tide_bytes(input->data + done, input->len - done), &consumed,
                                  &call);
    if (connection->gateway->record_path != NULL || connection->gateway->refuse != NULL)
      tide_buffer_append_bytes(&connection->call, tide_bytes(input->data + done, consumed));
    if (event == TIDE_SKIP_PUTS)
      record_puts(connection);
    goes_on = answer(connection, event, call);
    if (event != TIDE_SKIP_NEED_MORE)
      end_call(connection);
    done += consumed;
  } while (goes_on && event != TIDE_SKIP_NEED_MORE && event != TIDE_SKIP_BROKEN);
  input->len -= done;
  if (input->len > 0)
    memmove(input->data, input->data + done, input->len);
  return goes_on && event != TIDE_SKIP_BROKEN;
}

/* Gives the client what the real gateway answers, until that ends or the connection is shut. */
static void
pass_answers(gpointer data)
{
  TideNullConnection *connection = data;
  guint8 answer_bytes[4096];
  for (gboolean goes_on = TRUE; goes_on;) {
    gssize n = recv(connection->forward_fd, answer_bytes, sizeof answer_bytes, 0);
    goes_on =
        (n > 0 && tide_plain_send(connection->fd, tide_bytes(answer_bytes, (gsize)n))) || (n < 0 && errno == EINTR);
  }
  shutdown(connection->fd, SHUT_RDWR);
}

static gboolean
forward_input(const TideNullConnection *connection, TideBytes bytes)
{
  return connection->forward_fd < 0 || tide_plain_send(connection->forward_fd, bytes);
}

/* The real gateway's side of a connection; NULL where there is none. */
static TideThread *
start_forwarding(TideNullConnection *connection)
{
  g_autoptr(GError) error = NULL;
  connection->forward_fd = -1;
  if (connection->gateway->forward == NULL)
    return NULL;
  connection->forward_fd = tide_plain_connect(connection->gateway->forward, &error);
  if (connection->forward_fd < 0)
    g_error("%s", error->message);
  return tide_thread_start("null-answers", pass_answers, connection);
}

static void
end_forwarding(const TideNullConnection *connection, TideThread *answers)
{
  if (answers == NULL)
    return;
  shutdown(connection->forward_fd, SHUT_RDWR);
  tide_thread_join(answers);
  close(connection->forward_fd);
}

/* The thread of one connection. */
static void
serve_connection(gpointer data)
{
  TideNullConnection *connection = data;
  TideThread *answers = start_forwarding(connection);
  gboolean goes_on = TRUE;
  while (goes_on) {
    TideBuffer *input = &connection->input;
    guint8 *room = tide_buffer_reserve(input, INPUT_BYTES / 2);
    gssize n = recv(connection->fd, room, input->capacity - input->len, 0);
    if (n > 0) {
      input->len += (gsize)n;
      connection->tally->n_bytes += (guint64)n;
      goes_on = forward_input(connection, tide_bytes(room, (gsize)n)) && serve_input(connection);
    } else {
      goes_on = n < 0 && errno == EINTR;
    }
  }
  end_forwarding(connection, answers);
  close(connection->fd);
  tide_buffer_clear_memory(&connection->input);
  tide_buffer_clear_memory(&connection->call);
  fake_request_clear(&connection->request);
  fake_writer_clear(&connection->writer);
  g_free(connection);
}

static void
start_connection(TideNullGateway *gateway, int fd)
{
  guint index = gateway->n_connections++;
  if (index >= MAX_CONNECTIONS) {
    fprintf(stderr, "null-gateway: more than %d connections in one run\n", MAX_CONNECTIONS);
    close(fd);
    return;
  }
  int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  TideNullConnection *connection = g_new0(TideNullConnection, 1);
  connection->gateway = gateway;
  connection->tally = &gateway->tallies[index];
  connection->fd = fd;
  connection->skipper = (TidePutSkipper){.framed = gateway->framed, .compact = gateway->compact};
  tide_buffer_reserve(&connection->input, INPUT_BYTES);
  fake_writer_init(&connection->writer, gateway->framed, gateway->compact);
  fake_request_init(&connection->request);
  /* Never joined: the process ends with its connections open. */
  TideThread *thread G_GNUC_UNUSED = tide_thread_start("null-connection", serve_connection, connection);
}

/* The acceptor thread. */
static void
accept_connections(gpointer data)
{
  TideNullGateway *gateway = data;
  for (;;) {
    int fd = accept4(gateway->listen_fd, NULL, NULL, SOCK_CLOEXEC);
    if (fd >= 0)
      start_connection(gateway, fd);
    else if (errno != EINTR && errno != ECONNABORTED)
      g_error("accept: %s", g_strerror(errno));
  }
}

static guint16
listen_on(TideNullGateway *gateway)
{
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((guint16)gateway->port)};
  socklen_t len = sizeof address;
  int on = 1;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  gateway->listen_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (gateway->listen_fd < 0 || setsockopt(gateway->listen_fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
      bind(gateway->listen_fd, (const struct sockaddr *)&address, len) != 0 || listen(gateway->listen_fd, 128) != 0 ||
      getsockname(gateway->listen_fd, (struct sockaddr *)&address, &len) != 0)
    g_error("cannot listen on port %d: %s", gateway->port, g_strerror(errno));
  return ntohs(address.sin_port);
}

static void
print_tally(const TideNullGateway *gateway)
{
  guint64 n_rows = 0, n_calls = 0, n_bytes = 0;
  gint64 first_us = G_MAXINT64, last_us = 0;
  guint n_connections = MIN(gateway->n_connections, MAX_CONNECTIONS);
  for (guint i = 0; i < n_connections; i++) {
    const TideTally *tally = &gateway->tallies[i];
    n_rows += tally->n_rows;
    n_calls += tally->n_calls;
    n_bytes += tally->n_bytes;
    if (tally->first_us > 0)
      first_us = MIN(first_us, tally->first_us);
    last_us = MAX(last_us, tally->last_us);
  }
  double seconds = n_calls > 0 ? (double)(last_us - first_us) / (double)TIDE_US_PER_S : 0;
  printf("rows %" G_GUINT64_FORMAT "\ncalls %" G_GUINT64_FORMAT "\nbytes %" G_GUINT64_FORMAT
         "\nconnections %u\nseconds %.3f\nrows_per_second %.0f\n",
         n_rows, n_calls, n_bytes, n_connections, seconds, seconds > 0 ? (double)n_rows / seconds : 0);
}

static int
compare_times(gconstpointer a, gconstpointer b)
{
  gint64 first = *(const gint64 *)a, second = *(const gint64 *)b;
  return first < second ? -1 : first > second ? 1 : 0;
}

static void
print_small_calls(TideNullGateway *gateway)
{
  tide_mutex_lock(&gateway->pace_lock);
  GArray *took = gateway->small_calls_us;
  g_array_sort(took, compare_times);
  if (took->len > 0)
    printf("small_calls %u\nsmall_calls_p50_ms %.3f\nsmall_calls_p99_ms %.3f\n", took->len,
           (double)g_array_index(took, gint64, took->len / 2) / TIDE_US_PER_MS,
           (double)g_array_index(took, gint64, (gsize)took->len * 99 / 100) / TIDE_US_PER_MS);
  tide_mutex_unlock(&gateway->pace_lock);
}

static gboolean
parse_options(TideNullGateway *gateway, int *argc, char ***argv)
{
  const GOptionEntry entries[] = {
      {"port", 'p', 0, G_OPTION_ARG_INT, &gateway->port, "port to listen on (a free one)", "N"},
      {"framed", 'f', 0, G_OPTION_ARG_NONE, &gateway->framed, "framed transport", NULL},
      {"compact", 'c', 0, G_OPTION_ARG_NONE, &gateway->compact, "compact protocol", NULL},
      {"families", 0, 0, G_OPTION_ARG_STRING, &gateway->families, "families of every table (M)", "A,B"},
      {"regions", 0, 0, G_OPTION_ARG_INT, &gateway->n_regions, "regions, evenly over the first two bytes (1)", "N"},
      {"splits", 0, 0, G_OPTION_ARG_STRING, &gateway->splits, "split keys, instead of --regions", "A,B"},
      {"record", 0, 0, G_OPTION_ARG_FILENAME, &gateway->record_path, "keep the putMultiple calls here", "FILE"},
      {"record-bytes", 0, 0, G_OPTION_ARG_INT64, &gateway->record_bytes, "the most that is kept (1 GiB)", "N"},
      {"forward", 0, 0, G_OPTION_ARG_STRING, &gateway->forward, "let a real gateway answer", "HOST:PORT"},
      {"refuse", 0, 0, G_OPTION_ARG_STRING, &gateway->refuse, "say no to calls that hold this", "TEXT"},
      {"rows-per-second", 0, 0, G_OPTION_ARG_INT, &gateway->rows_per_second, "be as slow as that (no bound)", "N"},
      {"call-ms", 0, 0, G_OPTION_ARG_INT, &gateway->call_ms, "take so long for each call (0)", "N"},
      {"servers", 0, 0, G_OPTION_ARG_INT, &gateway->n_servers, "calls that are served at once (1)", "N"},
      G_OPTION_ENTRY_NULL};
  g_autoptr(GError) error = NULL;
  g_autoptr(GOptionContext) context = g_option_context_new("- a gateway that says yes and keeps nothing");
  g_option_context_add_main_entries(context, entries, NULL);
  if (!g_option_context_parse(context, argc, argv, &error))
    fprintf(stderr, "null-gateway: %s\n", error->message);
  else if (gateway->port < 0 || gateway->port > G_MAXUINT16 || gateway->n_regions < 0 || gateway->n_regions > 65536)
    fprintf(stderr, "null-gateway: the port or the number of regions is out of range\n");
  else if (gateway->rows_per_second < 0 || gateway->call_ms < 0)
    fprintf(stderr, "null-gateway: a negative rate or time cannot be kept\n");
  else if (gateway->n_servers < 1 || gateway->n_servers > MAX_SERVERS)
    fprintf(stderr, "null-gateway: there may be 1 to %d servers\n", MAX_SERVERS);
  else if (gateway->record_bytes < 0)
    fprintf(stderr, "null-gateway: a negative number of bytes cannot be kept\n");
  else
    return TRUE;
  return FALSE;
}

int
main(int argc, char **argv)
{
  static TideNullGateway gateway = {.record_bytes = RECORD_BYTES, .n_servers = 1};
  if (!parse_options(&gateway, &argc, &argv))
    return 64;
  gateway.small_calls_us = g_array_new(FALSE, FALSE, sizeof(gint64));
  tide_mutex_init(&gateway.pace_lock);
  tide_cond_init(&gateway.never);
  if (gateway.families == NULL)
    gateway.families = g_strdup("M");
  gateway.hbase = fake_hbase_new();
  gateway.service = fake_service_new(gateway.hbase, gateway.framed);
  if (gateway.record_path != NULL)
    tide_call_recorder_open(&gateway.recorder, gateway.record_path, (gsize)gateway.record_bytes, gateway.framed,
                            gateway.compact);

  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGINT);
  sigaddset(&ends, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &ends, NULL);
  printf("port %u\n", listen_on(&gateway));
  fflush(stdout);
  TideThread *acceptor G_GNUC_UNUSED = tide_thread_start("null-accept", accept_connections, &gateway);
  int received;
  sigwait(&ends, &received);
  print_tally(&gateway);
  print_small_calls(&gateway);
  if (gateway.record_path != NULL) {
    tide_call_recorder_close(&gateway.recorder);
    printf("calls_left_out %" G_GUINT64_FORMAT "\n", gateway.recorder.n_left_out);
  }
  return 0;
}
