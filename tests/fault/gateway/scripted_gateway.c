/* The gateway's life: listening, accepting, dying, coming back; its faults and what it counts. */
#define _GNU_SOURCE /* accept4 */
#include "fault/gateway/scripted_gateway.h"

#include "fault/gateway/scripted_gateway_private.h"
#include "util/clock.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#define DEFAULT_FRAME_LIMIT_BYTES (2 * 1024 * 1024) /* hbase.regionserver.thrift.framed.max_frame_size_in_mb: 2 */
#define BACKLOG 128

typedef union TideSocketAddress {
  struct sockaddr any;
  struct sockaddr_in v4;
  struct sockaddr_in6 v6;
} TideSocketAddress;

static socklen_t
make_address(const char *host, guint16 port, TideSocketAddress *address)
{
  memset(address, 0, sizeof *address);
  if (inet_pton(AF_INET, host, &address->v4.sin_addr) == 1) {
    address->v4.sin_family = AF_INET;
    address->v4.sin_port = htons(port);
    return sizeof address->v4;
  }
  if (inet_pton(AF_INET6, host, &address->v6.sin6_addr) != 1)
    g_error("'%s' is not an address", host);
  address->v6.sin6_family = AF_INET6;
  address->v6.sin6_port = htons(port);
  return sizeof address->v6;
}

static int
bind_socket(const char *host, guint16 port)
{
  TideSocketAddress address;
  socklen_t len = make_address(host, port, &address);
  int fd = socket(address.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  int reuse = 1;
  if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &reuse, sizeof reuse) != 0 || bind(fd, &address.any, len) != 0)
    g_error("cannot bind %s port %u: %s", host, port, g_strerror(errno));
  return fd;
}

static guint16
port_of_socket(int fd)
{
  TideSocketAddress address;
  socklen_t len = sizeof address;
  if (getsockname(fd, &address.any, &len) != 0)
    g_error("getsockname: %s", g_strerror(errno));
  return ntohs(address.any.sa_family == AF_INET6 ? address.v6.sin6_port : address.v4.sin_port);
}

TideScriptedGateway *
scripted_gateway_new(const TideGatewayOptions *options)
{
  static const TideGatewayOptions defaults = {0};
  if (options == NULL)
    options = &defaults;
  TideScriptedGateway *gateway = g_new0(TideScriptedGateway, 1);
  gateway->host = g_strdup(options->host != NULL ? options->host : "127.0.0.1");
  gateway->socket_fd = bind_socket(gateway->host, options->port);
  gateway->port = port_of_socket(gateway->socket_fd);
  gateway->endpoint =
      g_strdup_printf(strchr(gateway->host, ':') != NULL ? "[%s]:%u" : "%s:%u", gateway->host, gateway->port);
  gateway->framed = options->framed;
  gateway->compact = options->compact;
  gateway->frame_limit_bytes = options->frame_limit_bytes > 0 ? options->frame_limit_bytes : DEFAULT_FRAME_LIMIT_BYTES;
  gateway->idle_close_ms = options->idle_close_ms;
  gateway->max_connections = options->max_connections;
  gateway->hbase = options->hbase != NULL ? fake_hbase_ref(options->hbase) : fake_hbase_new();
  gateway->service = fake_service_new(gateway->hbase, options->framed);
  gateway->personality = options->personality;
  gateway->stop_fd = eventfd(0, EFD_CLOEXEC);
  tide_mutex_init(&gateway->mutex);
  tide_cond_init(&gateway->changed);
  gateway->connections = g_ptr_array_new();
  gateway->faults = g_ptr_array_new_with_free_func((GDestroyNotify)tide_active_fault_unref);
  scripted_gateway_start(gateway);
  return gateway;
}

/* Joins the connections that have ended, so that a long test does not pile them up. */
static void
reap_ended(TideScriptedGateway *gateway)
{
  g_autoptr(GPtrArray) ended = g_ptr_array_new();
  tide_mutex_lock(&gateway->mutex);
  for (guint i = gateway->connections->len; i-- > 0;) {
    TideGatewayConnection *connection = gateway->connections->pdata[i];
    if (connection->ended)
      g_ptr_array_add(ended, g_ptr_array_remove_index(gateway->connections, i));
  }
  tide_mutex_unlock(&gateway->mutex);
  for (guint i = 0; i < ended->len; i++)
    tide_gateway_connection_join(ended->pdata[i]);
}

static void
take_connection(TideScriptedGateway *gateway, int fd)
{
  TideGatewayStats *stats = &gateway->stats;
  tide_mutex_lock(&gateway->mutex);
  stats->connections++;
  gboolean refused = gateway->max_connections > 0 && stats->open_connections >= gateway->max_connections;
  if (!refused) {
    stats->open_connections++;
    g_ptr_array_add(gateway->connections, tide_gateway_connection_start_locked(gateway, stats->connections, fd));
  }
  tide_cond_broadcast(&gateway->changed);
  tide_mutex_unlock(&gateway->mutex);
  if (refused)
    close(fd);
}

/* The acceptor thread. */
static void
accept_connections(gpointer data)
{
  TideScriptedGateway *gateway = data;
  struct pollfd waits[2] = {{.fd = gateway->socket_fd, .events = POLLIN}, {.fd = gateway->stop_fd, .events = POLLIN}};
  for (;;) {
    if (poll(waits, G_N_ELEMENTS(waits), -1) < 0 && errno != EINTR)
      g_error("poll: %s", g_strerror(errno));
    if (waits[1].revents != 0)
      return;
    int fd = accept4(gateway->socket_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd >= 0)
      take_connection(gateway, fd);
    reap_ended(gateway);
  }
}

void
scripted_gateway_start(TideScriptedGateway *gateway)
{
  if (gateway->acceptor != NULL)
    return;
  if (listen(gateway->socket_fd, BACKLOG) != 0)
    g_error("cannot listen on %s: %s", gateway->endpoint, g_strerror(errno));
  gateway->acceptor = tide_thread_start("fake-accept", accept_connections, gateway);
}

/* FALSE when none were accepted. */
static gboolean
stop_accepting(TideScriptedGateway *gateway)
{
  if (gateway->acceptor == NULL)
    return FALSE;
  eventfd_write(gateway->stop_fd, 1);
  tide_thread_join(g_steal_pointer(&gateway->acceptor));
  eventfd_t unused;
  eventfd_read(gateway->stop_fd, &unused);
  return TRUE;
}

void
scripted_gateway_refuse(TideScriptedGateway *gateway)
{
  if (!stop_accepting(gateway))
    return;
  /* A bound socket that does not listen refuses connections, and keeps the port from others. */
  close(gateway->socket_fd);
  gateway->socket_fd = bind_socket(gateway->host, gateway->port);
}

static void
kill_connections_locked(TideScriptedGateway *gateway)
{
  for (guint i = 0; i < gateway->connections->len; i++)
    tide_gateway_connection_kill_locked(gateway->connections->pdata[i]);
  tide_cond_broadcast(&gateway->changed);
}

static void
wait_all_closed_locked(TideScriptedGateway *gateway)
{
  while (gateway->stats.open_connections > 0)
    tide_cond_wait(&gateway->changed, &gateway->mutex);
}

void
scripted_gateway_kill(TideScriptedGateway *gateway)
{
  scripted_gateway_refuse(gateway);
  tide_mutex_lock(&gateway->mutex);
  kill_connections_locked(gateway);
  wait_all_closed_locked(gateway);
  tide_mutex_unlock(&gateway->mutex);
  fake_service_forget_scanners(gateway->service);
}

void
scripted_gateway_reset_connections(TideScriptedGateway *gateway)
{
  FAKE_HOLD(&gateway->mutex);
  kill_connections_locked(gateway);
}

void
scripted_gateway_free(TideScriptedGateway *gateway)
{
  if (gateway == NULL)
    return;
  (void)stop_accepting(gateway);
  tide_mutex_lock(&gateway->mutex);
  gateway->ending = TRUE;
  kill_connections_locked(gateway);
  tide_mutex_unlock(&gateway->mutex);
  for (guint i = 0; i < gateway->connections->len; i++)
    tide_gateway_connection_join(gateway->connections->pdata[i]);
  g_ptr_array_unref(gateway->connections);
  g_ptr_array_unref(gateway->faults);
  close(gateway->socket_fd);
  close(gateway->stop_fd);
  fake_service_free(gateway->service);
  fake_hbase_unref(gateway->hbase);
  tide_cond_clear(&gateway->changed);
  tide_mutex_clear(&gateway->mutex);
  g_free(gateway->endpoint);
  g_free(gateway->host);
  g_free(gateway);
}

guint16
scripted_gateway_port(const TideScriptedGateway *gateway)
{
  return gateway->port;
}

const char *
scripted_gateway_endpoint(const TideScriptedGateway *gateway)
{
  return gateway->endpoint;
}

TideFakeHBase *
scripted_gateway_hbase(const TideScriptedGateway *gateway)
{
  return gateway->hbase;
}

TideFakeService *
scripted_gateway_service(const TideScriptedGateway *gateway)
{
  return gateway->service;
}

void
scripted_gateway_set_personality(TideScriptedGateway *gateway, TidePersonality personality)
{
  FAKE_HOLD(&gateway->mutex);
  gateway->personality = personality;
}

guint
scripted_gateway_add_fault(TideScriptedGateway *gateway, const TideScriptedFault *fault)
{
  FAKE_HOLD(&gateway->mutex);
  guint id = ++gateway->last_fault_id;
  g_ptr_array_add(gateway->faults, tide_active_fault_new(fault, id));
  return id;
}

static TideActiveFault *
find_fault_locked(TideScriptedGateway *gateway, guint id)
{
  for (guint i = 0; i < gateway->faults->len; i++)
    if (((const TideActiveFault *)gateway->faults->pdata[i])->id == id)
      return gateway->faults->pdata[i];
  return NULL;
}

void
scripted_gateway_clear_fault(TideScriptedGateway *gateway, guint id)
{
  FAKE_HOLD(&gateway->mutex);
  TideActiveFault *fault = find_fault_locked(gateway, id);
  if (fault != NULL)
    g_ptr_array_remove(gateway->faults, fault);
}

void
scripted_gateway_clear_faults(TideScriptedGateway *gateway)
{
  FAKE_HOLD(&gateway->mutex);
  g_ptr_array_set_size(gateway->faults, 0);
}

static guint64
fault_hits_locked(TideScriptedGateway *gateway, guint id)
{
  const TideActiveFault *fault = find_fault_locked(gateway, id);
  return fault != NULL ? fault->hits : 0;
}

guint64
scripted_gateway_fault_hits(TideScriptedGateway *gateway, guint id)
{
  FAKE_HOLD(&gateway->mutex);
  return fault_hits_locked(gateway, id);
}

TideActiveFault *
tide_gateway_take_fault(TideScriptedGateway *gateway, const TideFaultTarget *target)
{
  TideActiveFault *taken = NULL;
  FAKE_HOLD(&gateway->mutex);
  for (guint i = 0; i < gateway->faults->len && taken == NULL; i++)
    if (tide_active_fault_takes(gateway->faults->pdata[i], target))
      taken = tide_active_fault_ref(gateway->faults->pdata[i]);
  if (taken != NULL)
    tide_cond_broadcast(&gateway->changed);
  return taken;
}

void
scripted_gateway_stats(TideScriptedGateway *gateway, TideGatewayStats *ret_stats)
{
  FAKE_HOLD(&gateway->mutex);
  *ret_stats = gateway->stats;
}

gboolean
scripted_gateway_wait(TideScriptedGateway *gateway, TideGatewayCondition condition, gpointer data, gint64 deadline_us)
{
  FAKE_HOLD(&gateway->mutex);
  gboolean met = condition(&gateway->stats, data);
  gboolean in_time = TRUE;
  while (!met && in_time) {
    in_time = tide_cond_wait_until(&gateway->changed, &gateway->mutex, deadline_us);
    met = condition(&gateway->stats, data);
  }
  return met;
}

typedef struct TideAwaited {
  TideScriptedGateway *gateway;
  TideGatewayCall call;
  guint fault_id;
  guint64 n;
} TideAwaited;

static gboolean
calls_received(const TideGatewayStats *stats, gpointer data)
{
  const TideAwaited *awaited = data;
  guint64 calls = awaited->call == TIDE_CALL_ANY ? stats->calls : stats->calls_by_method[awaited->call];
  return calls >= awaited->n;
}

gboolean
scripted_gateway_wait_calls(TideScriptedGateway *gateway, TideGatewayCall call, guint64 n, gint64 deadline_us)
{
  TideAwaited awaited = {.call = call, .n = n};
  return scripted_gateway_wait(gateway, calls_received, &awaited, deadline_us);
}

static gboolean
fault_was_hit(const TideGatewayStats *stats, gpointer data)
{
  const TideAwaited *awaited = data;
  return fault_hits_locked(awaited->gateway, awaited->fault_id) >= awaited->n;
}

gboolean
scripted_gateway_wait_fault_hits(TideScriptedGateway *gateway, guint id, guint64 n, gint64 deadline_us)
{
  TideAwaited awaited = {.gateway = gateway, .fault_id = id, .n = n};
  return scripted_gateway_wait(gateway, fault_was_hit, &awaited, deadline_us);
}

static gboolean
connections_are_open(const TideGatewayStats *stats, gpointer data)
{
  return stats->open_connections == ((const TideAwaited *)data)->n;
}

gboolean
scripted_gateway_wait_open_connections(TideScriptedGateway *gateway, guint n, gint64 deadline_us)
{
  TideAwaited awaited = {.n = n};
  return scripted_gateway_wait(gateway, connections_are_open, &awaited, deadline_us);
}

gboolean
scripted_gateway_wait_rows(TideScriptedGateway *gateway, const char *table, guint64 n_rows, gint64 deadline_us)
{
  return fake_hbase_wait_rows(gateway->hbase, table, n_rows, deadline_us);
}

void
scripted_gateway_create_table(TideScriptedGateway *gateway, const char *table, const char *families,
                              const char *const *splits)
{
  g_auto(TideFakeError) error = {0};
  g_auto(GStrv) names = g_strsplit(families, ",", -1);
  g_autoptr(GArray) keys = g_array_new(FALSE, FALSE, sizeof(TideBytes));
  TideFakeTableSpec *spec = fake_table_spec_new(table);
  for (guint i = 0; names[i] != NULL; i++)
    fake_table_spec_add_family(spec, names[i]);
  for (guint i = 0; splits != NULL && splits[i] != NULL; i++) {
    TideBytes key = tide_bytes_of_string(splits[i]);
    g_array_append_val(keys, key);
  }
  if (!fake_hbase_create_table(gateway->hbase, spec, (const TideBytes *)(void *)keys->data, keys->len, &error))
    g_error("cannot create table '%s': %s", table, error.message);
}

GBytes *
scripted_gateway_value(TideScriptedGateway *gateway, const char *table, const char *row, const char *family,
                       const char *qualifier, gint64 *ret_timestamp_ms)
{
  return fake_hbase_value(gateway->hbase, table, row, family, qualifier, ret_timestamp_ms);
}

guint64
scripted_gateway_row_count(TideScriptedGateway *gateway, const char *table)
{
  return fake_hbase_row_count(gateway->hbase, table);
}

char *
scripted_gateway_dump(TideScriptedGateway *gateway, const char *table)
{
  return fake_hbase_dump(gateway->hbase, table, FALSE);
}
