/* One connection of a scripted gateway: its thread reads calls, executes them, and applies faults. The thread alone
 * touches the socket; whoever wants it gone sets `killed` and wakes it. */
#include "fault/gateway/scripted_gateway_private.h"
#include "util/clock.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

/* What OpenSSL answers to bytes that are no handshake: a fatal alert, protocol version (RFC 8446, 6). */
#define TLS_ALERT TIDE_BYTES_LITERAL("\x15\x03\x03\x00\x02\x02\x46")
#define HTTP_ERROR                                                                                                     \
  TIDE_BYTES_LITERAL("HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nConnection: close\r\n"                   \
                     "Content-Length: 15\r\n\r\n400 Bad Request")
/* The text that HBase has for a region on the move. */
#define DEFAULT_IO_ERROR "Failed 1 action: NotServingRegionException: 1 time, servers with issues: rs0.example,16020,1"

/* FALSE when the connection was killed, or nothing came for @timeout_ms (-1: for ever). */
static gboolean
wait_for_socket(TideGatewayConnection *connection, short events, gint64 timeout_ms)
{
  struct pollfd waits[2] = {{.fd = connection->fd, .events = events}, {.fd = connection->kill_fd, .events = POLLIN}};
  int n;
  do
    n = poll(waits, G_N_ELEMENTS(waits), (int)timeout_ms);
  while (n < 0 && errno == EINTR);
  return n > 0 && waits[1].revents == 0;
}

/* TideFakeReadFunc */
static gssize
read_socket(gpointer data, guint8 *bytes, gsize len)
{
  TideGatewayConnection *connection = data;
  gint64 idle_ms = connection->gateway->idle_close_ms;
  for (;;) {
    gssize n = recv(connection->fd, bytes, len, 0);
    if (n >= 0)
      return n;
    if (errno != EAGAIN && errno != EINTR)
      return -1;
    if (!wait_for_socket(connection, POLLIN, idle_ms > 0 ? idle_ms : -1))
      return -1;
  }
}

static gboolean
send_bytes(TideGatewayConnection *connection, TideBytes bytes)
{
  gsize done = 0;
  while (done < bytes.len) {
    gssize n = connection->fd >= 0 ? send(connection->fd, bytes.data + done, bytes.len - done, MSG_NOSIGNAL) : -1;
    if (n >= 0)
      done += (gsize)n;
    else if (connection->fd < 0 || (errno != EAGAIN && errno != EINTR) || !wait_for_socket(connection, POLLOUT, -1))
      return FALSE;
  }
  return TRUE;
}

static void
close_socket(TideGatewayConnection *connection, gboolean reset)
{
  if (connection->fd < 0)
    return;
  struct linger at_once = {.l_onoff = 1, .l_linger = 0};
  if (reset)
    setsockopt(connection->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  close(connection->fd);
  connection->fd = -1;
  TideScriptedGateway *gateway = connection->gateway;
  FAKE_HOLD(&gateway->mutex);
  connection->open = FALSE;
  gateway->stats.open_connections--;
  tide_cond_broadcast(&gateway->changed);
}

/* Takes what comes and answers nothing, until the client or the gateway ends it. */
static void
ignore_until_closed(TideGatewayConnection *connection)
{
  guint8 bytes[4096];
  while (read_socket(connection, bytes, sizeof bytes) > 0)
    continue;
}

static gboolean
was_killed(TideGatewayConnection *connection)
{
  FAKE_HOLD(&connection->gateway->mutex);
  return connection->killed;
}

/* FALSE when the connection was killed first. With @outlives_kill the wait goes on then, without its socket. */
static gboolean
wait_ms(TideGatewayConnection *connection, gint64 ms, gboolean outlives_kill)
{
  TideScriptedGateway *gateway = connection->gateway;
  gint64 deadline_us = tide_now_us() + ms * TIDE_US_PER_MS;
  gboolean in_time = ms > 0;
  tide_mutex_lock(&gateway->mutex);
  while (in_time && !gateway->ending && (outlives_kill || !connection->killed)) {
    if (connection->killed && connection->open) {
      tide_mutex_unlock(&gateway->mutex);
      close_socket(connection, TRUE);
      tide_mutex_lock(&gateway->mutex);
    } else {
      in_time = tide_cond_wait_until(&gateway->changed, &gateway->mutex, deadline_us);
    }
  }
  gboolean goes_on = !gateway->ending && (outlives_kill || !connection->killed);
  tide_mutex_unlock(&gateway->mutex);
  return goes_on;
}

static gboolean
send_dripping(TideGatewayConnection *connection, TideBytes bytes, const TideScriptedFault *fault)
{
  if (fault->drip_bytes == 0)
    return send_bytes(connection, bytes);
  for (gsize at = 0; at < bytes.len; at += fault->drip_bytes) {
    gsize n = MIN(fault->drip_bytes, bytes.len - at);
    if (!send_bytes(connection, tide_bytes(bytes.data + at, n)) || !wait_ms(connection, fault->drip_interval_ms, FALSE))
      return FALSE;
  }
  return TRUE;
}

static void
call_received(TideGatewayConnection *connection)
{
  TideScriptedGateway *gateway = connection->gateway;
  const TideFakeRequest *request = &connection->request;
  TideGatewayStats *stats = &gateway->stats;
  FAKE_HOLD(&gateway->mutex);
  connection->call = ++stats->calls;
  stats->calls_by_method[request->call]++;
  if (fake_request_writes_rows(request))
    stats->rows_received += request->rows->len;
  stats->calls_in_flight++;
  tide_cond_broadcast(&gateway->changed);
}

/* Just before the reply leaves: when the client sends its next call, this one must not count any more. */
static void
call_carried_out(TideScriptedGateway *gateway, guint64 rows_written)
{
  FAKE_HOLD(&gateway->mutex);
  gateway->stats.calls_in_flight--;
  gateway->stats.rows_written += rows_written;
  tide_cond_broadcast(&gateway->changed);
}

static TidePersonality
personality_of(TideScriptedGateway *gateway)
{
  FAKE_HOLD(&gateway->mutex);
  return gateway->personality;
}

static gboolean
applies_row(guint index, TideBytes row, gpointer data)
{
  return tide_fault_applies_row(data, index, row);
}

static gboolean
is_error(const TideScriptedFault *fault)
{
  return fault->kind == TIDE_FAULT_IO_ERROR || fault->kind == TIDE_FAULT_APPLICATION_ERROR;
}

/* A call without rows is carried out or not as a whole. */
static gboolean
is_carried_out(const TideFakeRequest *request, const TideScriptedFault *fault)
{
  if (fake_request_writes_rows(request))
    return TRUE;
  return fault->apply == TIDE_APPLY_BY_KIND ? !is_error(fault) : fault->apply != TIDE_APPLY_NONE;
}

static void
write_error(TideGatewayConnection *connection, const TideScriptedFault *fault, TidePersonality personality)
{
  const TideFakeRequest *request = &connection->request;
  g_autofree char *internal = g_strdup_printf("Internal error processing %s", request->name);
  gint32 type = fault->application_type != 0 ? fault->application_type : TIDE_APPLICATION_INTERNAL_ERROR;
  if (fault->kind == TIDE_FAULT_IO_ERROR)
    fake_service_write_io_error(&connection->writer, request,
                                fault->message != NULL ? fault->message : DEFAULT_IO_ERROR,
                                personality == TIDE_PERSONALITY_THRIFT2 ? fault->can_retry : TIDE_CAN_RETRY_ABSENT);
  else
    fake_service_write_application_error(&connection->writer, request, type,
                                         fault->message != NULL ? fault->message : internal);
}

/* Carries the call out and writes the reply that @fault wants; the number of rows written. */
static guint64
carry_out(TideGatewayConnection *connection, const TideScriptedFault *fault)
{
  TideScriptedGateway *gateway = connection->gateway;
  TidePersonality personality = personality_of(gateway);
  TideFakeRequest request = connection->request;
  guint64 rows_written = 0;
  if (fault->kind == TIDE_FAULT_WRONG_NAME)
    request.name = "somethingElse";
  if (fault->kind == TIDE_FAULT_WRONG_SEQUENCE_ID)
    request.sequence_id++;
  if (is_carried_out(&request, fault))
    rows_written = fake_service_answer(gateway->service, &request, personality,
                                       (TideFakeOrigin){connection->call, connection->ordinal}, applies_row,
                                       (gpointer)fault, &connection->writer);
  if (is_error(fault) || !is_carried_out(&request, fault))
    write_error(connection, fault, personality);
  return rows_written;
}

/* Sends the reply as @fault lets it. FALSE when the connection is to be closed. */
static gboolean
reply(TideGatewayConnection *connection, const TideScriptedFault *fault)
{
  TideBytes whole = tide_buffer_bytes(&connection->writer.out);
  TideBytes cut = tide_bytes(whole.data, MIN(fault->cut_bytes, whole.len));
  switch (fault->kind) {
  case TIDE_FAULT_CLOSE_BEFORE_REPLY:
    return FALSE;
  case TIDE_FAULT_CLOSE_MID_REPLY:
    send_dripping(connection, cut, fault);
    return FALSE;
  case TIDE_FAULT_SILENCE:
    if (send_dripping(connection, cut, fault))
      ignore_until_closed(connection);
    return FALSE;
  case TIDE_FAULT_GARBAGE:
    if (send_dripping(connection, fault->garbage, fault))
      ignore_until_closed(connection);
    return FALSE;
  case TIDE_FAULT_NONE:
  case TIDE_FAULT_WRONG_NAME:
  case TIDE_FAULT_WRONG_SEQUENCE_ID:
  case TIDE_FAULT_IO_ERROR:
  case TIDE_FAULT_APPLICATION_ERROR:
    return send_dripping(connection, whole, fault);
  case TIDE_FAULT_CLOSE_ON_ACCEPT:
  case TIDE_FAULT_CLOSE_MID_REQUEST:
    break;
  }
  g_assert_not_reached();
}

/* FALSE when the connection is to be closed. */
static gboolean
serve(TideGatewayConnection *connection, const TideScriptedFault *fault, TideFakeFlight *flight)
{
  TideScriptedGateway *gateway = connection->gateway;
  guint64 rows_written = 0;
  gboolean lives = wait_ms(connection, fault->delay_apply_ms, fault->lands_after_kill);
  if (lives)
    rows_written = carry_out(connection, fault);
  lives = lives && wait_ms(connection, fault->delay_reply_ms, FALSE);
  fake_hbase_flight_end(gateway->hbase, flight);
  call_carried_out(gateway, rows_written);
  return lives && reply(connection, fault);
}

static TideFakeFlight *
begin_flight(TideGatewayConnection *connection)
{
  const TideFakeRequest *request = &connection->request;
  if (!fake_request_writes_rows(request) || request->incomplete != NULL)
    return NULL;
  return fake_hbase_flight_begin(connection->gateway->hbase, request->table,
                                 (const TideFakeRow *)(void *)request->rows->data, request->rows->len);
}

static void
count_broken(TideGatewayConnection *connection)
{
  TideScriptedGateway *gateway = connection->gateway;
  if (!connection->reader.failed || was_killed(connection))
    return;
  FAKE_HOLD(&gateway->mutex);
  gateway->stats.broken_requests++;
  tide_cond_broadcast(&gateway->changed);
}

/* Arguments that are none are answered, when they can be; this fake then listens no more, as it has lost its place. */
static void
answer_broken(TideGatewayConnection *connection)
{
  if (connection->reader.lost)
    return;
  fake_service_write_application_error(&connection->writer, &connection->request, TIDE_APPLICATION_PROTOCOL_ERROR,
                                       connection->reader.reason);
  if (send_bytes(connection, tide_buffer_bytes(&connection->writer.out)))
    ignore_until_closed(connection);
}

static TideFaultTarget
target_of(const TideGatewayConnection *connection, TideFaultStage stage)
{
  const TideFakeRequest *request = &connection->request;
  return (TideFaultTarget){.stage = stage,
                           .connection = connection->ordinal,
                           .call = request->call,
                           .table = request->table,
                           .rows = (const TideBytes *)(void *)request->row_keys->data,
                           .n_rows = request->row_keys->len};
}

/* TRUE when a fault closes the connection inside of the request. */
static gboolean
is_cut_in_request(TideGatewayConnection *connection, gboolean *ret_reset)
{
  TideFaultTarget target = target_of(connection, TIDE_STAGE_CALL_HEAD);
  TideActiveFault *active = tide_gateway_take_fault(connection->gateway, &target);
  if (active == NULL)
    return FALSE;
  const TideScriptedFault *fault = &active->script;
  fake_reader_drop(&connection->reader, fault->cut_bytes);
  *ret_reset = fault->reset;
  tide_active_fault_unref(active);
  return TRUE;
}

/* Reads and serves one call. FALSE when the connection is to be closed. */
static gboolean
serve_call(TideGatewayConnection *connection, gboolean *ret_reset)
{
  static const TideScriptedFault no_fault = {0};
  TideFakeMessage message;
  if (!fake_reader_message_begin(&connection->reader, &message)) {
    count_broken(connection);
    return FALSE;
  }
  fake_request_begin(&connection->request, &message);
  if (is_cut_in_request(connection, ret_reset))
    return FALSE;
  if (!fake_request_read(&connection->request, &connection->reader)) {
    count_broken(connection);
    answer_broken(connection);
    return FALSE;
  }
  TideFakeFlight *flight = begin_flight(connection);
  call_received(connection);
  TideFaultTarget target = target_of(connection, TIDE_STAGE_CALL_READ);
  TideActiveFault *active = tide_gateway_take_fault(connection->gateway, &target);
  const TideScriptedFault *fault = active != NULL ? &active->script : &no_fault;
  gboolean goes_on = serve(connection, fault, flight);
  *ret_reset = !goes_on && fault->reset;
  tide_active_fault_unref(active);
  return goes_on;
}

/* Another program's port: waits for bytes, says what it says, and hangs up. */
static void
answer_as_stranger(TideGatewayConnection *connection, TideBytes answer)
{
  guint8 bytes[4096];
  if (read_socket(connection, bytes, sizeof bytes) <= 0 || !send_bytes(connection, answer))
    return;
  /* What the client still sends is taken, or closing would reset the connection and could take the answer back. */
  shutdown(connection->fd, SHUT_WR);
  ignore_until_closed(connection);
}

/* TRUE when the connection was closed before anything was read. */
static gboolean
is_closed_on_accept(TideGatewayConnection *connection, gboolean *ret_reset)
{
  TideFaultTarget target = target_of(connection, TIDE_STAGE_ACCEPTED);
  TideActiveFault *active = tide_gateway_take_fault(connection->gateway, &target);
  if (active != NULL)
    *ret_reset = active->script.reset;
  tide_active_fault_unref(active);
  return active != NULL;
}

/* The connection's thread. */
static void
run_connection(gpointer data)
{
  TideGatewayConnection *connection = data;
  TideScriptedGateway *gateway = connection->gateway;
  gboolean reset = FALSE;
  TidePersonality personality = personality_of(gateway);
  if (!is_closed_on_accept(connection, &reset)) {
    if (personality == TIDE_PERSONALITY_HTTP)
      answer_as_stranger(connection, HTTP_ERROR);
    else if (personality == TIDE_PERSONALITY_TLS)
      answer_as_stranger(connection, TLS_ALERT);
    else
      while (serve_call(connection, &reset))
        continue;
  }
  close_socket(connection, reset || was_killed(connection));
  FAKE_HOLD(&gateway->mutex);
  connection->ended = TRUE;
}

TideGatewayConnection *
tide_gateway_connection_start_locked(TideScriptedGateway *gateway, guint64 ordinal, int fd)
{
  TideGatewayConnection *connection = g_new0(TideGatewayConnection, 1);
  connection->gateway = gateway;
  connection->ordinal = ordinal;
  connection->fd = fd;
  connection->kill_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  connection->open = TRUE;
  int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  fake_reader_init(&connection->reader, gateway->framed, gateway->compact, read_socket, connection);
  connection->reader.frame_limit_bytes = gateway->frame_limit_bytes;
  fake_writer_init(&connection->writer, gateway->framed, gateway->compact);
  fake_request_init(&connection->request);
  connection->thread = tide_thread_start("fake-connection", run_connection, connection);
  return connection;
}

void
tide_gateway_connection_kill_locked(TideGatewayConnection *connection)
{
  connection->killed = TRUE;
  eventfd_write(connection->kill_fd, 1);
}

void
tide_gateway_connection_join(TideGatewayConnection *connection)
{
  tide_thread_join(connection->thread);
  fake_request_clear(&connection->request);
  fake_writer_clear(&connection->writer);
  fake_reader_clear(&connection->reader);
  close(connection->kill_fd);
  g_free(connection);
}
