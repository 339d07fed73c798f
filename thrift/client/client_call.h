/* Inside of the client: one call from its start to its reply. Used by hbase_client.c, hbase_read.c, hbase_admin.c and
 * gateway_probe.c; nobody else includes this. */
#pragma once

#include "thrift/client/hbase_client.h"
#include "thrift/client/kept_scanners.h"
#include "thrift/client/transport.h"
#include "thrift/wire/reply_reader.h"

/* Generated. */
#include <hbase_t_h_base_service.h>

G_BEGIN_DECLS

struct TideHBaseClient {
  TideEndpoint *endpoint; /* owned */
  TideWireMode mode;
  GCancellable *cancellable; /* a reference */
  GPollFD cancel_fd;         /* held open for the client's life: see tide_client_new_cancelled_by() */
  /* what an error destroys; all NULL while closed */
  TideTransport *transport;
  ThriftProtocol *protocol;      /* made with the first control call */
  HbaseTHBaseServiceIf *service; /* the generated client; borrows protocol */
  /* memory, kept from call to call */
  gint32 sequence_id;
  TideBuffer request;
  GArray *parts; /* (element-type TideBytes) */
  GArray *cells; /* (element-type TideResultCell) */
  TideKeptScanners scanners;
  gboolean same_connection; /* the call at hand means nothing on another one: it fails instead */
  char *cluster;            /* owned: that the gateway must be of; NULL: any */
  gboolean cluster_asked;   /* over the connection at hand */
};

/* As tide_hbase_client_new(), for a caller that cancels several clients in one. @cancellable: a reference is taken. */
TideHBaseClient *tide_client_new_cancelled_by(const TideEndpoint *endpoint, TideWireMode mode,
                                              GCancellable *cancellable);

/* The number of the next call encoded by hand; the generated code always sends 0. */
gint32 tide_client_next_sequence_id(TideHBaseClient *client);

/**
 * tide_client_call_request: connect if need be, send client->request, which encodes call @sequence_id of @method, and
 *     receive its reply.
 * @ret_reply: borrowed from the client, until its next call; read it, and hand what came of it to
 *     tide_client_conclude().
 * Errors: of the transport: the connection is closed. CONNECT and TOO_BIG mean that nothing was sent.
 */
gboolean tide_client_call_request(TideHBaseClient *client, const char *method, gint32 sequence_id, gint64 deadline_us,
                                  TideReply *ret_reply, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* tide_client_call_request() on the connection that there is: CONNECT where that is gone, and another one was not
 * made. */
gboolean tide_client_call_same_connection(TideHBaseClient *client, const char *method, gint32 sequence_id,
                                          gint64 deadline_us, TideReply *ret_reply,
                                          GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The two halves of a call, between which the caller does something else: any other call in between waits for the reply
 * and drops it, which has_skipped of scanners.asked says. Sending may fail silently: then nothing is asked. */
void tide_client_ask_ahead(TideHBaseClient *client, TideKeptScanner *scanner, gint64 deadline_us);
gboolean tide_client_receive_asked(TideHBaseClient *client, const char *method, gint64 deadline_us,
                                   TideReply *ret_reply, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Closes the scanners that are still open at the gateway, as far as that can be done at once. */
void tide_client_close_scanners(TideHBaseClient *client);

/* For a control call: connects if need be; then the caller sends with one of the generated send functions. NULL on
 * error. */
HbaseTHBaseServiceIf *tide_client_begin_control(TideHBaseClient *client, gint64 deadline_us,
                                                GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* @sent and @failure (transfer full): what the generated send function returned. It says FALSE without an error at
 * times, and TRUE with one. */
gboolean tide_client_receive_control(TideHBaseClient *client, const char *method, gboolean sent, GError *failure,
                                     TideReply *ret_reply, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* After reading a reply: what the reader returned and the address of its error, which is taken. An error gets the
 * gateway's name; the connection is closed when the reply was not one to this call. Returns: @understood. */
gboolean tide_client_conclude(TideHBaseClient *client, gboolean understood, GError **failure, GError **error);

/* What the gateway says it is, a TThriftServerType. WRONG_SERVICE when it does not know this call (an older one). */
gboolean tide_client_server_type(TideHBaseClient *client, gint64 deadline_us, gint32 *ret_type,
                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The id of the cluster behind the gateway. @ret_cluster: NULL where it has none to tell: it does not know the call (an
 * older one), or took the stand-in of HBase's client, because ZooKeeper did not answer when it connected.
 * (transfer full)
 * Errors: CONNECT: it should know, and did not say; CANCELLED. */
gboolean tide_client_cluster(TideHBaseClient *client, gint64 deadline_us, char **ret_cluster,
                             GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Asks `exists` of a table that need not be there. GATEWAY and APPLICATION errors are answers, too; WRONG_SERVICE when
 * it does not know this call, as thrift1 does not. */
gboolean tide_client_try_exists(TideHBaseClient *client, gint64 deadline_us, GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
