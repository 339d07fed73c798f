/* The connection of one writer: to one gateway at a time, kept alive while idle, given up when it broke or when another
 * gateway should have it.
 *
 * Threads: the writer's, but tide_writer_connection_cancel(), which any thread may call. */
#pragma once

#include "flow/gateways.h"
#include "util/lock.h"

G_BEGIN_DECLS

typedef struct TideWriterConnection {
  const TideHBaseConfig *config; /* borrowed */
  TideGateways *gateways;        /* borrowed */
  TideCounter *connects;
  /* the writer's thread only */
  TideGateway *gateway;    /* NULL while there is no connection */
  TideHBaseClient *client; /* owned; NULL while there is no connection */
  gint64 last_used_us;     /* when it last carried an answer */
  /* under lock */
  TideMutex lock;
  TideHBaseClient *active; /* borrowed: of the call that runs */
  gboolean cancelled;
} TideWriterConnection;

void tide_writer_connection_init(TideWriterConnection *connection, const TideHBaseConfig *config,
                                 TideGateways *gateways, TideMetrics *metrics);
void tide_writer_connection_clear(TideWriterConnection *connection); /* after the writer's thread has ended */

/* Connects when there is no connection. FALSE when no gateway took it until @deadline_us. */
gboolean tide_writer_connection_open(TideWriterConnection *connection, gint64 deadline_us);

/* Around the calls of a piece of work, so that a stop can end them: begin gives the client to send with. */
TideHBaseClient *tide_writer_connection_begin(TideWriterConnection *connection);
void tide_writer_connection_end(TideWriterConnection *connection);

/* One call has ended, with or without an answer. */
void tide_writer_connection_note_call(TideWriterConnection *connection, gint64 end_us);

/* When a piece of work is done and its outcome told: gives the connection up when it broke, or to move elsewhere. */
void tide_writer_connection_settle(TideWriterConnection *connection);

/* When there was nothing to send: pings before the gateway would cut the connection. */
void tide_writer_connection_keep_alive(TideWriterConnection *connection);

void tide_writer_connection_close(TideWriterConnection *connection);

/* Ends the running call with an unknown outcome, and every later one. Threads: any. */
void tide_writer_connection_cancel(TideWriterConnection *connection);

G_END_DECLS
