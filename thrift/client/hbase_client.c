/* The connection and its calls. Only this file closes the connection after a transport or protocol error; hbase_read.c
 * and hbase_admin.c encode requests and decode replies. */
#include "thrift/client/hbase_client.h"

#include "thrift/client/client_call.h"
#include "thrift/client/socket_stream.h"
#include "thrift/wire/mutation_encoder.h"
#include "thrift/wire/put_encoder.h"
#include "util/clock.h"
#include "util/error.h"

#include <thrift/c_glib/protocol/thrift_binary_protocol.h>
#include <thrift/c_glib/protocol/thrift_compact_protocol.h>

/* Each wait opens and closes the cancellable's descriptor unless it is held. Holding it saves two system calls per
 * wait, and keeps it open while tide_hbase_client_cancel() writes to it. */
static gboolean
hold_cancel_fd(TideHBaseClient *client, GError **error)
{
  if (client->cancel_fd.fd < 0 && tide_socket_check_descriptors(error))
    (void)g_cancellable_make_pollfd(client->cancellable, &client->cancel_fd);
  return client->cancel_fd.fd >= 0;
}

TideHBaseClient *
tide_client_new_cancelled_by(const TideEndpoint *endpoint, TideWireMode mode, GCancellable *cancellable)
{
  TideHBaseClient *client = g_new0(TideHBaseClient, 1);
  client->endpoint = tide_endpoint_copy(endpoint);
  client->mode = mode;
  client->cancellable = g_object_ref(cancellable);
  client->cancel_fd.fd = -1;
  (void)hold_cancel_fd(client, NULL); /* without a descriptor connecting fails, with the reason */
  client->parts = g_array_new(FALSE, FALSE, sizeof(TideBytes));
  client->cells = g_array_new(FALSE, FALSE, sizeof(TideResultCell));
  return client;
}

TideHBaseClient *
tide_hbase_client_new(const TideEndpoint *endpoint, TideWireMode mode)
{
  g_autoptr(GCancellable) cancellable = g_cancellable_new();
  return tide_client_new_cancelled_by(endpoint, mode, cancellable);
}

/* Scanner ids are valid on their connection only. */
static void
close_connection(TideHBaseClient *client)
{
  g_clear_pointer(&client->connection, tide_connection_free);
  client->cluster_asked = FALSE;
  client->unknown_calls = 0;
  client->scanners.asked = NULL;
  for (guint i = 0; i < TIDE_MAX_KEPT_SCANNERS; i++)
    client->scanners.items[i].is_open = FALSE;
}

static void
forget_control_encoder(TideHBaseClient *client)
{
  g_clear_object(&client->service);
  g_clear_object(&client->protocol);
  g_clear_object(&client->control);
}

void
tide_hbase_client_free(TideHBaseClient *client)
{
  if (client == NULL)
    return;
  tide_client_close_scanners(client);
  close_connection(client);
  forget_control_encoder(client);
  if (client->cancel_fd.fd >= 0)
    g_cancellable_release_fd(client->cancellable);
  g_object_unref(client->cancellable);
  g_array_unref(client->parts);
  g_array_unref(client->cells);
  tide_buffer_clear_memory(&client->request);
  tide_buffer_clear_memory(&client->page);
  g_free(client->cluster);
  tide_endpoint_free(client->endpoint);
  g_free(client);
}

gboolean
tide_hbase_client_is_open(const TideHBaseClient *client)
{
  return client->connection != NULL && client->connection->is_open;
}

gboolean
tide_hbase_client_is_ready(const TideHBaseClient *client)
{
  return client->connection != NULL && tide_connection_is_ready(client->connection);
}

const char *
tide_hbase_client_name(const TideHBaseClient *client)
{
  return client->endpoint->text;
}

TideWireMode
tide_hbase_client_mode(const TideHBaseClient *client)
{
  return client->mode;
}

TideCertificateEnds
tide_hbase_client_certificate_ends(const TideHBaseClient *client)
{
  return client->connection->ends;
}

char *
tide_hbase_client_describe_link(const TideHBaseClient *client)
{
  return client->connection != NULL ? tide_connection_describe(client->connection) : NULL;
}

void
tide_hbase_client_cancel(TideHBaseClient *client)
{
  g_cancellable_cancel(client->cancellable);
}

gboolean
tide_hbase_client_connect(TideHBaseClient *client, gint64 deadline_us, GError **error)
{
  if (tide_hbase_client_is_open(client))
    return TRUE;
  close_connection(client);
  if (!hold_cancel_fd(client, error))
    return FALSE;
  client->connection =
      tide_connection_new(client->endpoint, client->mode.framing, client->mode.protocol, client->cancellable);
  tide_connection_begin_call(client->connection, tide_now_us(), deadline_us);
  if (tide_connection_connect(client->connection, error))
    return TRUE;
  close_connection(client);
  return FALSE;
}

/* ---- one call ---- */

void
tide_client_begin_request(TideHBaseClient *client)
{
  client->sequence_id = client->sequence_id == G_MAXINT32 ? 1 : client->sequence_id + 1;
  tide_buffer_reset(&client->request);
}

static gboolean
receive_reply(TideHBaseClient *client, const char *method, gint32 sequence_id, TideReply *ret_reply, GError **error)
{
  TideBytes message;
  if (!tide_connection_receive(client->connection, &message, error)) {
    g_prefix_error(error, "cannot call '%s': ", method);
    close_connection(client);
    return FALSE;
  }
  *ret_reply = (TideReply){
      .protocol = client->mode.protocol,
      .sequence_id = sequence_id,
      .message = message,
      .method = method,
  };
  return TRUE;
}

/* Drops the page that was requested in advance: the connection is needed for another call. */
static void
drop_asked(TideHBaseClient *client, gint64 deadline_us)
{
  TideReply reply;
  if (client->scanners.asked == NULL)
    return;
  client->scanners.asked->has_skipped = TRUE;
  gboolean is_received = tide_client_receive_asked(client, "getScannerRows", deadline_us, &reply, NULL);
  (void)is_received; /* if not, the connection is closed */
}

void
tide_hbase_client_require_cluster(TideHBaseClient *client, const char *cluster)
{
  g_free(client->cluster);
  client->cluster = g_strdup(cluster);
}

/* Runs once per connection. */
static gboolean
check_cluster(TideHBaseClient *client, gint64 deadline_us, GError **error)
{
  if (client->cluster == NULL || client->cluster_asked)
    return TRUE;
  client->cluster_asked = TRUE; /* set first, because this check is a call itself */
  g_autofree char *cluster = NULL;
  if (!tide_client_cluster(client, deadline_us, &cluster, error)) {
    close_connection(client);
    return FALSE;
  }
  if (g_strcmp0(cluster, client->cluster) == 0)
    return TRUE;
  close_connection(client);
  return tide_fail(error, TIDE_ERROR_CONNECT, "gateway '%s' %s%s, but must belong to cluster %s: nothing was sent",
                   client->endpoint->text, cluster != NULL ? "belongs to cluster " : "did not report its cluster",
                   cluster != NULL ? cluster : "", client->cluster);
}

/* Prepares the client to send, with the clock running. On failure nothing was sent. */
static gboolean
begin_call(TideHBaseClient *client, gint64 deadline_us, GError **error)
{
  gint64 started_us = tide_now_us();
  if (g_cancellable_is_cancelled(client->cancellable))
    return tide_fail(error, TIDE_ERROR_CANCELLED, "the calls to gateway '%s' were cancelled", client->endpoint->text);
  drop_asked(client, deadline_us);
  /* The gateway closes idle connections after 60 s; detecting that here keeps it from failing this call. */
  if (!tide_hbase_client_is_ready(client))
    close_connection(client);
  if (client->same_connection && client->connection == NULL)
    return tide_fail(error, TIDE_ERROR_CONNECT, "gateway '%s' has closed the connection", client->endpoint->text);
  if (!tide_hbase_client_connect(client, deadline_us, error) || !check_cluster(client, deadline_us, error))
    return FALSE;
  if (tide_now_us() >= deadline_us)
    return tide_fail(error, TIDE_ERROR_CONNECT,
                     "gateway '%s' was called too late: the deadline passed before anything was sent",
                     client->endpoint->text);
  tide_connection_begin_call(client->connection, started_us, deadline_us);
  return TRUE;
}

/* Call after begin_call(). */
static gboolean
send_and_receive(TideHBaseClient *client, const char *method, gint32 sequence_id, const TideBytes *parts, gsize n_parts,
                 TideReply *ret_reply, GError **error)
{
  if (tide_connection_send(client->connection, parts, n_parts, error))
    return receive_reply(client, method, sequence_id, ret_reply, error);
  g_prefix_error(error, "cannot call '%s': ", method);
  if (!client->connection->is_open)
    close_connection(client);
  return FALSE;
}

gboolean
tide_client_call_request(TideHBaseClient *client, const char *method, gint64 deadline_us, TideReply *ret_reply,
                         GError **error)
{
  TideBytes part = tide_buffer_bytes(&client->request);
  return begin_call(client, deadline_us, error) &&
         send_and_receive(client, method, client->sequence_id, &part, 1, ret_reply, error);
}

gboolean
tide_client_call_same_connection(TideHBaseClient *client, const char *method, gint64 deadline_us, TideReply *ret_reply,
                                 GError **error)
{
  client->same_connection = TRUE;
  gboolean ok = tide_client_call_request(client, method, deadline_us, ret_reply, error);
  client->same_connection = FALSE;
  return ok;
}

void
tide_client_ask_ahead(TideHBaseClient *client, TideKeptScanner *scanner, gint64 deadline_us)
{
  TideBytes part = tide_buffer_bytes(&client->request);
  if (!tide_hbase_client_is_ready(client))
    return;
  tide_connection_begin_call(client->connection, tide_now_us(), deadline_us);
  TideBuffer received = client->connection->received; /* the next reply would take its place */
  client->connection->received = client->page;
  client->page = received;
  if (tide_connection_send(client->connection, &part, 1, NULL))
    client->scanners.asked = scanner;
  else
    close_connection(client);
}

gboolean
tide_client_receive_asked(TideHBaseClient *client, const char *method, gint64 deadline_us, TideReply *ret_reply,
                          GError **error)
{
  const TideKeptScanner *asked = g_steal_pointer(&client->scanners.asked);
  tide_connection_begin_call(client->connection, tide_now_us(), deadline_us);
  return receive_reply(client, method, asked->last_sequence, ret_reply, error);
}

gboolean
tide_client_begin_control(TideHBaseClient *client, gint64 deadline_us, GError **error)
{
  if (!begin_call(client, deadline_us, error))
    return FALSE;
  /* A new encoder for each call: these calls are rare, and a failed one would leave the compact protocol's state. */
  forget_control_encoder(client);
  GType type = client->mode.protocol == TIDE_WIRE_BINARY ? THRIFT_TYPE_BINARY_PROTOCOL : THRIFT_TYPE_COMPACT_PROTOCOL;
  client->control = g_object_new(THRIFT_TYPE_MEMORY_BUFFER, NULL);
  client->control->buf_size = G_MAXINT32; /* the property allows at most 1 MiB, which split points may exceed */
  client->protocol = g_object_new(type, "transport", client->control, NULL);
  client->service = g_object_new(HBASE_TYPE_T_H_BASE_SERVICE_CLIENT, "input_protocol", client->protocol,
                                 "output_protocol", client->protocol, NULL);
  return TRUE;
}

gboolean
tide_client_send_control(TideHBaseClient *client, const char *method, gboolean encoded, TideReply *ret_reply,
                         GError **error)
{
  if (!encoded)
    return tide_fail(error, TIDE_ERROR_CONNECT, "cannot call '%s': the request could not be encoded", method);
  TideBytes part = tide_bytes(client->control->buf->data, client->control->buf->len);
  return send_and_receive(client, method, 0, &part, 1, ret_reply, error);
}

gboolean
tide_client_conclude(TideHBaseClient *client, gboolean understood, GError **error)
{
  if (understood)
    return TRUE;
  if (g_error_matches(client->failure, TIDE_ERROR, TIDE_ERROR_PROTOCOL))
    close_connection(client);
  g_propagate_prefixed_error(error, g_steal_pointer(&client->failure), "gateway '%s': ", client->endpoint->text);
  return FALSE;
}

/* ---- writing ---- */

/* Sends the request's first @head_len bytes, @parts, and the rest of the request; the reply is void. */
static gboolean
call_around_parts(TideHBaseClient *client, const char *method, gsize head_len, const TideBytes *parts, gsize n_parts,
                  gint64 deadline_us, GError **error)
{
  const TideBuffer *request = &client->request;
  TideBytes head = tide_bytes(request->data, head_len);
  TideBytes tail = tide_bytes(request->data + head_len, request->len - head_len);
  g_array_set_size(client->parts, 0);
  g_array_append_val(client->parts, head);
  if (n_parts > 0)
    g_array_append_vals(client->parts, parts, (guint)n_parts);
  g_array_append_val(client->parts, tail);

  TideReply reply;
  const TideBytes *all_parts = (const TideBytes *)(gpointer)client->parts->data;
  return begin_call(client, deadline_us, error) &&
         send_and_receive(client, method, client->sequence_id, all_parts, client->parts->len, &reply, error) &&
         tide_client_conclude(client, tide_reply_read_void(&reply, &client->failure), error);
}

gboolean
tide_hbase_client_put_multiple(TideHBaseClient *client, TideBytes table, const TideBytes *parts, gsize n_parts,
                               guint32 n_puts, gint64 deadline_us, GError **error)
{
  TideWireProtocol protocol = client->mode.protocol;
  TideBuffer *request = &client->request;
  tide_client_begin_request(client);
  tide_put_multiple_head_append(protocol, request, client->sequence_id, table, n_puts);
  gsize head_len = request->len;
  tide_put_multiple_tail_append(protocol, request);
  return call_around_parts(client, "putMultiple", head_len, parts, n_parts, deadline_us, error);
}

gboolean
tide_hbase_client_mutate_row(TideHBaseClient *client, TideBytes table, TideBytes row, TideBytes mutations,
                             guint32 n_mutations, gint64 deadline_us, GError **error)
{
  TideWireProtocol protocol = client->mode.protocol;
  TideBuffer *request = &client->request;
  tide_client_begin_request(client);
  tide_mutate_row_head_append(protocol, request, client->sequence_id, table, row, n_mutations);
  gsize head_len = request->len;
  tide_mutate_row_tail_append(protocol, request);
  return call_around_parts(client, "mutateRow", head_len, &mutations, 1, deadline_us, error);
}
