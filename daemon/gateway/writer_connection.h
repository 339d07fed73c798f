/* The connection of one writer, to one gateway at a time. It is kept alive while idle, and closed when it fails, when
 * another gateway should have it, or when it is old.
 *
 * A connection that was cut while idle is replaced silently before anything is sent over it.
 *
 * Threads: the writer's, except for tide_writer_connection_cancel(), which any thread may call. */
#pragma once

#include "gateway/gateways.h"
#include "util/lock.h"

G_BEGIN_DECLS

/* Why a connection is opened. */
typedef enum TideConnectReason {
  TIDE_CONNECT_FIRST,
  TIDE_CONNECT_BROKEN, /* a call or ping failed */
  TIDE_CONNECT_STALE,  /* cut while idle */
  TIDE_CONNECT_MOVED,
  TIDE_CONNECT_AGED,
  TIDE_CONNECT_N_REASONS,
} TideConnectReason;

typedef struct TideWriterConnection {
  const TideHBaseConfig *config; /* borrowed */
  TideGateways *gateways;        /* borrowed */
  TideCounter *connects[TIDE_CONNECT_N_REASONS];
  /* For the writer's thread only. */
  TideGatewayLink link;
  TideConnectReason reason;     /* of the next connection */
  gint64 last_used_us;          /* last answer */
  gint64 expires_us;            /* end of its maximum age */
  gboolean is_refused_for_size; /* the last call was, and the gateway closed the connection afterwards, without a
                                   failure of its own */
  /* under lock */
  TideMutex lock;
  TideHBaseClient *active; /* borrowed: of the running call */
  gboolean cancelled;
} TideWriterConnection;

void tide_writer_connection_init(TideWriterConnection *connection, const TideHBaseConfig *config,
                                 TideGateways *gateways, TideMetrics *metrics);
void tide_writer_connection_clear(TideWriterConnection *connection); /* after the writer's thread has ended */

/* Connects if there is no connection, or if it was cut. Returns FALSE if no gateway accepted one until @deadline_us. */
gboolean tide_writer_connection_open(TideWriterConnection *connection, gint64 deadline_us);

/* Begins work over the connection, which a stop can then cancel. Returns the client of a connection that is intact, if
 * one is available at once. */
TideHBaseClient *tide_writer_connection_begin(TideWriterConnection *connection);
void tide_writer_connection_end(TideWriterConnection *connection);

const char *tide_writer_connection_gateway_name(const TideWriterConnection *connection); /* while connected */

/* A call of @n_rows has ended. @error: NULL if acknowledged; if there was no answer after idle time, that time is
 * added */
void tide_writer_connection_note_call(TideWriterConnection *connection, guint32 n_rows, gint64 start_us, GError *error);

/* Called after the work is done and its result reported: closes a failed connection, and replaces an old one or one
 * that another gateway should have. The old one is closed once the new one is open. */
void tide_writer_connection_settle(TideWriterConnection *connection);

/* Called while idle: pings before the gateway, or a device on the path, would cut the connection, and checks its
 * age. */
void tide_writer_connection_keep_alive(TideWriterConnection *connection);

void tide_writer_connection_close(TideWriterConnection *connection);

/* Ends the running call, and every later one, with an uncertain outcome. Threads: any. */
void tide_writer_connection_cancel(TideWriterConnection *connection);

G_END_DECLS
