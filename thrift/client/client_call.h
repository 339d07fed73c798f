/* Internals of the client: one call from its start to its reply. Only hbase_client.c, hbase_read.c, hbase_admin.c and
 * gateway_probe.c include this header. */
#pragma once

#include "thrift/client/connection.h"
#include "thrift/client/hbase_client.h"
#include "thrift/wire/reply_reader.h"

/* generated */
#include <hbase_t_h_base_service.h>
#include <thrift/c_glib/transport/thrift_memory_buffer.h>

G_BEGIN_DECLS

/* Ranges that can be read side by side, as for a salted table. Each open one holds a scanner at the gateway and one at
 * HBase. */
#define TIDE_MAX_KEPT_SCANNERS 16

/* The scanner left open after a page, and the position where the scan continues; see hbase_read.c. */
typedef struct TideKeptScanner {
  TideBuffer question;   /* the scan without its start row; empty: unused */
  TideBuffer next_start; /* start row of the next page's request */
  gboolean is_open;      /* FALSE: only one page was requested so far, or the connection was replaced */
  gint32 id;             /* scanner id, valid on this connection only */
  gboolean has_skipped;  /* rows were read and dropped: the scanner can no longer be used */
  gint32 last_sequence;  /* of its last call: the next page's while that is in flight */
  guint64 asked_rows;    /* that it requests */
  guint64 used;
} TideKeptScanner;

typedef struct TideKeptScanners {
  TideKeptScanner items[TIDE_MAX_KEPT_SCANNERS];
  TideKeptScanner *asked; /* the scanner whose next page is in flight; NULL: none */
  guint64 clock;
} TideKeptScanners;

struct TideHBaseClient {
  TideEndpoint *endpoint; /* owned */
  TideWireMode mode;
  GCancellable *cancellable;  /* a reference */
  GPollFD cancel_fd;          /* kept open for the client's lifetime: see hold_cancel_fd() */
  TideConnection *connection; /* owned; NULL while closed */
  /* The encoder of control calls, created with the first one; the three borrow each other. */
  ThriftMemoryBuffer *control;
  ThriftProtocol *protocol;
  HbaseTHBaseServiceIf *service; /* the generated client, whose send functions write to control */
  /* memory reused by every call */
  gint32 sequence_id; /* of the last call encoded here; the generated code always sends 0 */
  TideBuffer request;
  TideBuffer page; /* the reply that is read while the page after it is in flight */
  GArray *parts;   /* (element-type TideBytes) */
  GArray *cells;   /* (element-type TideResultCell) */
  GError *failure; /* why the current reply could not be read; set and cleared within tide_client_conclude()'s call */
  TideKeptScanners scanners;
  gboolean same_connection; /* the current call is valid on this connection only: it fails rather than reconnect */
  char *cluster;            /* owned: the cluster that the gateway must belong to; NULL: any */
  gboolean cluster_asked;   /* over the current connection */
  guint unknown_calls;      /* one bit for each newer call that the gateway did not know, over the current connection */
};

/* Like tide_hbase_client_new(), for a caller that cancels several clients at once. @cancellable: a reference is
 * taken. */
TideHBaseClient *tide_client_new_cancelled_by(const TideEndpoint *endpoint, TideWireMode mode,
                                              GCancellable *cancellable);

/* Empties client->request for a new call with sequence number client->sequence_id. */
void tide_client_begin_request(TideHBaseClient *client);

/**
 * tide_client_call_request: connect if necessary, send client->request, which encodes a call of @method, and receive
 * its
 *     reply.
 * @ret_reply: borrowed from the client until its next call; read it, then pass the result to tide_client_conclude().
 * Errors: of the connection, which is closed. CONNECT and TOO_BIG mean that nothing was sent.
 */
gboolean tide_client_call_request(TideHBaseClient *client, const char *method, gint64 deadline_us, TideReply *ret_reply,
                                  GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Like tide_client_call_request(), but only over the current connection: fails with CONNECT instead of opening
 * another. */
gboolean tide_client_call_same_connection(TideHBaseClient *client, const char *method, gint64 deadline_us,
                                          TideReply *ret_reply, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The two halves of a call, around other work such as reading the last reply. Any other call in between waits for the
 * reply and drops it (has_skipped of scanners.asked). Sending may fail silently: the page is then not requested. */
void tide_client_ask_ahead(TideHBaseClient *client, TideKeptScanner *scanner, gint64 deadline_us);
gboolean tide_client_receive_asked(TideHBaseClient *client, const char *method, gint64 deadline_us,
                                   TideReply *ret_reply, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Closes the scanners that are still open at the gateway, if that is possible at once, and frees their state. */
void tide_client_close_scanners(TideHBaseClient *client);

/* A control call has three steps. `begin` connects if necessary, a generated send function encodes the call over
 * client->service, and `send` sends it. @encoded: the result of that function. */
gboolean tide_client_begin_control(TideHBaseClient *client, gint64 deadline_us,
                                   GError **error) G_GNUC_WARN_UNUSED_RESULT;
gboolean tide_client_send_control(TideHBaseClient *client, const char *method, gboolean encoded, TideReply *ret_reply,
                                  GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Call after reading a reply. @understood: the reader's result; its error is in client->failure. Adds the gateway's
 * name to that error, and closes the connection if the reply did not belong to this call. Returns: @understood. */
gboolean tide_client_conclude(TideHBaseClient *client, gboolean understood, GError **error);

/* Returns the gateway's TThriftServerType. Errors: WRONG_SERVICE if the gateway does not know this call (older
 * gateways). */
gboolean tide_client_server_type(TideHBaseClient *client, gint64 deadline_us, gint32 *ret_type,
                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* TRUE when @failure is the gateway's answer that it does not know the call (older gateways, thrift1). */
gboolean tide_client_is_unknown_call(const TideHBaseClient *client, const GError *failure);

/* Returns the id of the gateway's HBase cluster. @ret_cluster: NULL if the gateway has no id to report: it does not
 * know the call (older gateways), or ZooKeeper did not answer when HBase's client connected. (transfer full) Errors:
 * CONNECT if the gateway should know the id but did not report it; CANCELLED. */
gboolean tide_client_cluster(TideHBaseClient *client, gint64 deadline_us, char **ret_cluster,
                             GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Calls `exists` for a table that may be missing. GATEWAY and APPLICATION errors are answers, too. WRONG_SERVICE means
 * that the gateway does not know this call, as with thrift1. */
gboolean tide_client_try_exists(TideHBaseClient *client, gint64 deadline_us, GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
