#define _GNU_SOURCE /* IOV_MAX */
#include "thrift/client/socket_stream.h"

#include "thrift/client/resolver.h"
#include "util/clock.h"
#include "util/error.h"

#include <errno.h>
#include <gio/gunixsocketaddress.h>
#include <limits.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

/* An idle connection whose peer vanished is detected after 30 + 3 * 10 s, about the time (60 s) after which a gateway
 * closes idle connections itself. */
#define KEEPALIVE_IDLE_S 30
#define KEEPALIVE_INTERVAL_S 10
#define KEEPALIVE_PROBES 3

/* While a request is in flight, keepalive is inactive and the kernel retransmits for a quarter of an hour. A peer that
 * acknowledges nothing for this long is considered lost, however long the call may last. */
#define UNACKNOWLEDGED_MS 60000

/* A connection needs three: its socket, its wake-up, and the wake-up of its name lookup. The rest is for threads that
 * connect at the same time. */
#define WANTED_DESCRIPTORS 8

typedef struct SocketStream {
  TideStream stream;
  GSocket *socket; /* owned: non-blocking, with TCP_NODELAY and keepalive */
} SocketStream;

gboolean
tide_socket_check_descriptors(GError **error)
{
  int taken[WANTED_DESCRIPTORS];
  guint n = 0;
  while (n < WANTED_DESCRIPTORS && (taken[n] = eventfd(0, EFD_CLOEXEC)) >= 0)
    n++;
  int failure = errno;
  for (guint i = 0; i < n; i++)
    close(taken[i]);
  if (n == WANTED_DESCRIPTORS)
    return TRUE;
  struct rlimit limit = {0};
  getrlimit(RLIMIT_NOFILE, &limit);
  return tide_fail(error, TIDE_ERROR_CONNECT,
                   "cannot open another connection: %s; the limit of this process is %" G_GUINT64_FORMAT
                   " file descriptors: raise LimitNOFILE (or ulimit -n)",
                   g_strerror(failure), (guint64)limit.rlim_cur);
}

static gboolean
set_cancelled(const TideCallLimits *limits, GError **error)
{
  return tide_fail(error, TIDE_ERROR_CANCELLED, "the call to gateway '%s' was cancelled", limits->peer);
}

/* Lower-cases the first letter of GIO's texts, which appear within a sentence. Ownership: (transfer full). */
static char *
reason_of(const GError *error)
{
  char *reason = g_strdup(error->message);
  if (g_ascii_isupper(reason[0]) && !g_ascii_isupper(reason[1]))
    reason[0] = g_ascii_tolower(reason[0]);
  return reason;
}

typedef enum WaitResult {
  WAIT_READY,
  WAIT_TIMED_OUT,
  WAIT_CANCELLED,
} WaitResult;

static WaitResult
wait_until(GSocket *socket, GIOCondition condition, gint64 deadline_us, GCancellable *cancellable)
{
  while (!g_cancellable_is_cancelled(cancellable)) {
    gint64 left_us = deadline_us - tide_now_us();
    if (left_us <= 0)
      return WAIT_TIMED_OUT;
    /* GIO truncates to whole milliseconds, and 0 would mean "do not wait" */
    gint64 rounded_us = (left_us + TIDE_US_PER_MS - 1) / TIDE_US_PER_MS * TIDE_US_PER_MS;
    if (g_socket_condition_timed_wait(socket, condition, rounded_us, cancellable, NULL))
      return WAIT_READY;
  }
  return WAIT_CANCELLED;
}

static gboolean
wait_for_io(GSocket *socket, GIOCondition condition, const TideCallLimits *limits, GError **error)
{
  switch (wait_until(socket, condition, limits->deadline_us, limits->cancellable)) {
  case WAIT_READY:
    return TRUE;
  case WAIT_CANCELLED:
    return set_cancelled(limits, error);
  case WAIT_TIMED_OUT:
    break;
  }
  return tide_fail(error, TIDE_ERROR_TIMEOUT,
                   condition == G_IO_IN ? "gateway '%s' did not answer within %" G_GINT64_FORMAT " ms"
                                        : "gateway '%s' did not accept the request within %" G_GINT64_FORMAT " ms",
                   limits->peer, tide_call_elapsed_ms(limits));
}

static void
tune(GSocket *socket)
{
  g_socket_set_blocking(socket, FALSE);
  if (g_socket_get_family(socket) == G_SOCKET_FAMILY_UNIX)
    return;
  /* Best effort: an option that the kernel rejects costs delay or late detection, but no data. */
  g_socket_set_keepalive(socket, TRUE);
  (void)g_socket_set_option(socket, IPPROTO_TCP, TCP_NODELAY, 1, NULL);
  (void)g_socket_set_option(socket, IPPROTO_TCP, TCP_KEEPIDLE, KEEPALIVE_IDLE_S, NULL);
  (void)g_socket_set_option(socket, IPPROTO_TCP, TCP_KEEPINTVL, KEEPALIVE_INTERVAL_S, NULL);
  (void)g_socket_set_option(socket, IPPROTO_TCP, TCP_KEEPCNT, KEEPALIVE_PROBES, NULL);
  (void)g_socket_set_option(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, UNACKNOWLEDGED_MS, NULL);
}

/* NULL and a GIO error if @address does not accept by @deadline_us. */
static GSocket *
connect_address(GSocketAddress *address, gint64 deadline_us, GCancellable *cancellable, GError **error)
{
  GSocketFamily family = g_socket_address_get_family(address);
  g_autoptr(GSocket) socket = g_socket_new(family, G_SOCKET_TYPE_STREAM, G_SOCKET_PROTOCOL_DEFAULT, error);
  if (socket == NULL)
    return NULL;
  tune(socket);
  g_autoptr(GError) local = NULL;
  if (!g_socket_connect(socket, address, NULL, &local)) {
    if (!g_error_matches(local, G_IO_ERROR, G_IO_ERROR_PENDING)) {
      g_propagate_error(error, g_steal_pointer(&local));
      return NULL;
    }
    gint64 started_us = tide_now_us();
    switch (wait_until(socket, G_IO_OUT, deadline_us, cancellable)) {
    case WAIT_READY:
      break;
    case WAIT_TIMED_OUT:
      g_set_error(error, G_IO_ERROR, G_IO_ERROR_TIMED_OUT, "no answer within %" G_GINT64_FORMAT " ms",
                  (tide_now_us() - started_us) / TIDE_US_PER_MS);
      return NULL;
    case WAIT_CANCELLED:
      g_set_error_literal(error, G_IO_ERROR, G_IO_ERROR_CANCELLED, "cancelled");
      return NULL;
    }
    if (!g_socket_check_connect_result(socket, error))
      return NULL;
  }
  return g_steal_pointer(&socket);
}

/* Appends that @address failed with @failure: "10.0.0.7: connection refused". */
static void
note_failure(GString *failures, GSocketAddress *address, const GError *failure)
{
  g_autofree char *reason = reason_of(failure);
  if (failures->len > 0)
    g_string_append(failures, "; ");
  if (G_IS_INET_SOCKET_ADDRESS(address)) {
    GInetAddress *ip = g_inet_socket_address_get_address(G_INET_SOCKET_ADDRESS(address));
    g_autofree char *text = g_inet_address_to_string(ip);
    g_string_append_printf(failures, "%s: ", text);
  }
  g_string_append(failures, reason);
}

GSocket *
tide_socket_connect(const TideEndpoint *endpoint, const TideCallLimits *limits, GError **error)
{
  g_autoptr(GPtrArray) addresses = NULL;
  if (endpoint->unix_path != NULL) {
    addresses = g_ptr_array_new_with_free_func(g_object_unref);
    g_ptr_array_add(addresses, g_unix_socket_address_new(endpoint->unix_path));
  } else {
    addresses = tide_resolver_lookup(endpoint->host, endpoint->port, limits->deadline_us, limits->cancellable, error);
  }
  if (addresses == NULL) {
    g_prefix_error(error, "cannot connect to gateway '%s': ", limits->peer);
    return NULL;
  }
  g_autoptr(GString) failures = g_string_new(NULL);
  for (guint i = 0; i < addresses->len; i++) {
    if (g_cancellable_is_cancelled(limits->cancellable))
      break;
    GSocketAddress *address = g_ptr_array_index(addresses, i);
    g_autoptr(GError) failure = NULL;
    gint64 now_us = tide_now_us();
    gint64 share_us = (limits->deadline_us - now_us) / (addresses->len - i);
    GSocket *socket = connect_address(address, now_us + share_us, limits->cancellable, &failure);
    if (socket != NULL)
      return socket;
    note_failure(failures, address, failure);
  }
  if (g_cancellable_is_cancelled(limits->cancellable))
    (void)set_cancelled(limits, error);
  else
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_CONNECT, "cannot connect to gateway '%s': %s", limits->peer,
                failures->len > 0 ? failures->str : "the host has no address");
  return NULL;
}

static TideStream *
socket_open(const TideEndpoint *endpoint, const TideCallLimits *limits, GError **error)
{
  GSocket *socket = tide_socket_connect(endpoint, limits, error);
  if (socket == NULL)
    return NULL;
  SocketStream *self = g_new0(SocketStream, 1);
  self->stream.kind = &tide_socket_stream;
  self->socket = socket;
  return &self->stream;
}

static void
socket_free(TideStream *stream)
{
  SocketStream *self = (SocketStream *)stream;
  g_object_unref(self->socket); /* the last reference: closes it */
  g_free(self);
}

static gboolean
set_lost(const TideCallLimits *limits, const char *doing, const GError *cause, GError **error)
{
  if (g_error_matches(cause, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    return set_cancelled(limits, error);
  g_autofree char *reason = reason_of(cause);
  return tide_fail(error, TIDE_ERROR_CONNECTION_LOST,
                   "the connection to gateway '%s' broke while %s, after %" G_GINT64_FORMAT " ms: %s", limits->peer,
                   doing, tide_call_elapsed_ms(limits), reason);
}

/* Skips @sent bytes of @vectors. Returns: the number of completed vectors. */
static gsize
advance_vectors(GOutputVector *vectors, gsize n_vectors, gsize sent)
{
  gsize done = 0;
  while (done < n_vectors && sent >= vectors[done].size)
    sent -= vectors[done++].size;
  if (done < n_vectors) {
    vectors[done].buffer = (const guint8 *)vectors[done].buffer + sent;
    vectors[done].size -= sent;
  }
  return done;
}

/* Uses as few system calls as the kernel allows. */
static gboolean
socket_send(TideStream *stream, GOutputVector *vectors, gsize n_vectors, const TideCallLimits *limits, GError **error)
{
  GSocket *socket = ((SocketStream *)stream)->socket;
  while (n_vectors > 0) {
    gsize sent = 0;
    g_autoptr(GError) local = NULL;
    GPollableReturn result = g_socket_send_message_with_timeout(socket, NULL, vectors, (gint)MIN(n_vectors, IOV_MAX),
                                                                NULL, 0, 0, 0, &sent, limits->cancellable, &local);
    switch (result) {
    case G_POLLABLE_RETURN_OK:
      break;
    case G_POLLABLE_RETURN_WOULD_BLOCK:
      if (!wait_for_io(socket, G_IO_OUT, limits, error))
        return FALSE;
      continue;
    case G_POLLABLE_RETURN_FAILED:
      return set_lost(limits, "the request was being sent", local, error);
    }
    gsize done = advance_vectors(vectors, n_vectors, sent);
    vectors += done;
    n_vectors -= done;
  }
  return TRUE;
}

static gsize
socket_receive(TideStream *stream, guint8 *buffer, gsize size, const TideCallLimits *limits, GError **error)
{
  GSocket *socket = ((SocketStream *)stream)->socket;
  while (wait_for_io(socket, G_IO_IN, limits, error)) {
    g_autoptr(GError) local = NULL;
    gssize received = g_socket_receive_with_blocking(socket, (gchar *)buffer, size, FALSE, limits->cancellable, &local);
    if (received > 0)
      return (gsize)received;
    if (received == 0) {
      g_set_error(error, TIDE_ERROR, TIDE_ERROR_CONNECTION_LOST,
                  "gateway '%s' closed the connection before answering, after %" G_GINT64_FORMAT " ms", limits->peer,
                  tide_call_elapsed_ms(limits));
      return 0;
    }
    if (!g_error_matches(local, G_IO_ERROR, G_IO_ERROR_WOULD_BLOCK)) {
      (void)set_lost(limits, "waiting for the answer", local, error);
      return 0;
    }
  }
  return 0;
}

static gboolean
socket_is_quiet(TideStream *stream)
{
  return g_socket_condition_check(((SocketStream *)stream)->socket, G_IO_IN) == 0;
}

const TideStreamKind tide_socket_stream = {
    .name = "TCP",
    .open = socket_open,
    .send = socket_send,
    .receive = socket_receive,
    .is_quiet = socket_is_quiet,
    .free = socket_free,
};
