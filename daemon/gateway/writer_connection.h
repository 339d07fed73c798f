/* The connection of one writer: to one gateway at a time; kept alive while idle, and given up when it broke, when
 * another gateway should have it, or when it is old.
 *
 * A connection that was cut while it was idle is replaced before anything is sent over it, and nobody hears of it.
 *
 * Threads: the writer's, but tide_writer_connection_cancel(), which any thread may call. */
#pragma once

#include "gateway/gateways.h"
#include "util/lock.h"

G_BEGIN_DECLS

/* Why a connection is made. */
typedef enum TideConnectReason {
  TIDE_CONNECT_FIRST,
  TIDE_CONNECT_BROKEN, /* a call or ping failed */
  TIDE_CONNECT_STALE,  /* it was cut while idle */
  TIDE_CONNECT_MOVED,
  TIDE_CONNECT_AGED,
  TIDE_CONNECT_N_REASONS,
} TideConnectReason;

typedef struct TideWriterConnection {
  const TideHBaseConfig *config; /* borrowed */
  TideGateways *gateways;        /* borrowed */
  TideCounter *connects[TIDE_CONNECT_N_REASONS];
  /* the writer's thread only */
  TideGatewayLink link;
  TideConnectReason reason;     /* for the next one */
  gint64 last_used_us;          /* when it last carried an answer */
  gint64 expires_us;            /* when it is old */
  gboolean is_refused_for_size; /* the last call was, and the connection closed behind it: no fault of the gateway's */
  /* under lock */
  TideMutex lock;
  TideHBaseClient *active; /* borrowed: of the call that runs */
  gboolean cancelled;
} TideWriterConnection;

void tide_writer_connection_init(TideWriterConnection *connection, const TideHBaseConfig *config,
                                 TideGateways *gateways, TideMetrics *metrics);
void tide_writer_connection_clear(TideWriterConnection *connection); /* after the writer's thread has ended */

/* Connects when there is no connection, or the one there is was cut. FALSE when no gateway took it until @deadline_us.
 */
gboolean tide_writer_connection_open(TideWriterConnection *connection, gint64 deadline_us);

/* Around the calls of a piece of work, so that a stop can end them: begin gives the client to send with, of a
 * connection that stood a moment ago when there is one to be had at once. */
TideHBaseClient *tide_writer_connection_begin(TideWriterConnection *connection);
void tide_writer_connection_end(TideWriterConnection *connection);

const char *tide_writer_connection_gateway_name(const TideWriterConnection *connection); /* while there is one */

/* One call of @n_rows has ended; @error: how, NULL when acknowledged. Where nothing came over a connection that had
 * been idle, @error says for how long. */
void tide_writer_connection_note_call(TideWriterConnection *connection, guint32 n_rows, gint64 start_us, GError *error);

/* When a piece of work is done and its outcome told: gives the connection up when it broke, and replaces it when it is
 * old, or another gateway should have it; the old one goes when the new one is there. */
void tide_writer_connection_settle(TideWriterConnection *connection);

/* When there was nothing to send: pings before the gateway, or what is on the way to it, would cut the connection, and
 * looks at its age. */
void tide_writer_connection_keep_alive(TideWriterConnection *connection);

void tide_writer_connection_close(TideWriterConnection *connection);

/* Ends the running call with an unknown outcome, and every later one. Threads: any. */
void tide_writer_connection_cancel(TideWriterConnection *connection);

G_END_DECLS
