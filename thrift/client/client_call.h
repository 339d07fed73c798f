/* Inside of the client: one call from its start to its reply. Used by hbase_client.c, hbase_read.c, hbase_admin.c and
 * gateway_probe.c; nobody else includes this. */
#pragma once

#include "thrift/client/connection.h"
#include "thrift/client/hbase_client.h"
#include "thrift/wire/reply_reader.h"

/* Generated. */
#include <hbase_t_h_base_service.h>
#include <thrift/c_glib/transport/thrift_memory_buffer.h>

G_BEGIN_DECLS

/* Ranges that are read at a time, as of a salted table. Each open one holds a scanner at the gateway and one at HBase.
 */
#define TIDE_MAX_KEPT_SCANNERS 16

/* Where a page of a scan ended that may go on, and the scanner that is still open there: hbase_read.c. */
typedef struct TideKeptScanner {
  TideBuffer question;   /* the scan, but for its start; empty: unused */
  TideBuffer next_start; /* what the next page's request begins with */
  gboolean is_open;      /* FALSE: only one page was asked for so far, or the connection is another one */
  gint32 id;             /* the gateway's, of this connection */
  gboolean has_skipped;  /* it has passed rows that nobody got: it is of no use any more */
  gint32 last_sequence;  /* of the last call for it: that page's, when one is on its way */
  guint64 used;
} TideKeptScanner;

typedef struct TideKeptScanners {
  TideKeptScanner items[TIDE_MAX_KEPT_SCANNERS];
  TideKeptScanner *asked; /* whose next page is on its way; NULL: nobody's */
  guint64 clock;
} TideKeptScanners;

struct TideHBaseClient {
  TideEndpoint *endpoint; /* owned */
  TideWireMode mode;
  GCancellable *cancellable;  /* a reference */
  GPollFD cancel_fd;          /* held open for the client's life: see hold_cancel_fd() */
  TideConnection *connection; /* owned; NULL while closed */
  /* what encodes control calls, made with the first one; the three borrow each other */
  ThriftMemoryBuffer *control;
  ThriftProtocol *protocol;
  HbaseTHBaseServiceIf *service; /* the generated client: its send functions write to control */
  /* memory, kept from call to call */
  gint32 sequence_id; /* of the last call encoded by hand; the generated code always sends 0 */
  TideBuffer request;
  GArray *parts;   /* (element-type TideBytes) */
  GArray *cells;   /* (element-type TideResultCell) */
  GError *failure; /* what reading the reply at hand failed with: set and taken within tide_client_conclude()'s call */
  TideKeptScanners scanners;
  gboolean same_connection; /* the call at hand means nothing on another one: it fails instead */
  char *cluster;            /* owned: that the gateway must be of; NULL: any */
  gboolean cluster_asked;   /* over the connection at hand */
  guint unknown_calls;      /* a bit for each younger call that the gateway did not know, over the connection at hand */
};

/* As tide_hbase_client_new(), for a caller that cancels several clients in one. @cancellable: a reference is taken. */
TideHBaseClient *tide_client_new_cancelled_by(const TideEndpoint *endpoint, TideWireMode mode,
                                              GCancellable *cancellable);

/* Empties client->request for a call that is encoded there as number client->sequence_id. */
void tide_client_begin_request(TideHBaseClient *client);

/**
 * tide_client_call_request: connect if need be, send client->request, which encodes a call of @method, and receive its
 *     reply.
 * @ret_reply: borrowed from the client, until its next call; read it, and hand what came of it to
 *     tide_client_conclude().
 * Errors: of the connection, which is closed. CONNECT and TOO_BIG mean that nothing was sent.
 */
gboolean tide_client_call_request(TideHBaseClient *client, const char *method, gint64 deadline_us, TideReply *ret_reply,
                                  GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* tide_client_call_request() on the connection that there is: CONNECT where that is gone, and another one was not
 * made. */
gboolean tide_client_call_same_connection(TideHBaseClient *client, const char *method, gint64 deadline_us,
                                          TideReply *ret_reply, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The two halves of a call, between which the caller does something else: any other call in between waits for the reply
 * and drops it, which has_skipped of scanners.asked says. Sending may fail silently: then nothing is asked. */
void tide_client_ask_ahead(TideHBaseClient *client, TideKeptScanner *scanner, gint64 deadline_us);
gboolean tide_client_receive_asked(TideHBaseClient *client, const char *method, gint64 deadline_us,
                                   TideReply *ret_reply, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Closes the scanners that are still open at the gateway, as far as that can be done at once, and frees what was kept
 * of them. */
void tide_client_close_scanners(TideHBaseClient *client);

/* A control call: begin connects if need be; then one of the generated send functions encodes it over client->service;
 * then send sends what it wrote. @encoded: what that function returned. */
gboolean tide_client_begin_control(TideHBaseClient *client, gint64 deadline_us,
                                   GError **error) G_GNUC_WARN_UNUSED_RESULT;
gboolean tide_client_send_control(TideHBaseClient *client, const char *method, gboolean encoded, TideReply *ret_reply,
                                  GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* After reading a reply: @understood is what the reader returned, whose error went to client->failure. That error gets
 * the gateway's name; the connection is closed when the reply was not one to this call. Returns: @understood. */
gboolean tide_client_conclude(TideHBaseClient *client, gboolean understood, GError **error);

/* What the gateway says it is, a TThriftServerType. WRONG_SERVICE when it does not know this call (an older one). */
gboolean tide_client_server_type(TideHBaseClient *client, gint64 deadline_us, gint32 *ret_type,
                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The gateway has answered @failure: that it does not know the call, as an older one or thrift1 does. */
gboolean tide_client_is_unknown_call(const TideHBaseClient *client, const GError *failure);

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
