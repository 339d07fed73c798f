/* What the gateway (scripted_gateway.c) and its connections (scripted_connection.c) share. */
#pragma once

#include "fault/gateway/scripted_gateway.h"
#include "util/lock.h"

G_BEGIN_DECLS

struct TideScriptedGateway {
  /* set by new, then read-only */
  char *host;
  char *endpoint;
  guint16 port;
  gboolean framed;
  gboolean compact;
  gsize frame_limit_bytes;
  gint64 idle_close_ms;
  guint max_connections;
  TideFakeHBase *hbase;
  TideFakeService *service;

  /* the thread that starts and stops it only */
  int socket_fd; /* bound always, so that nobody takes the port; listening while acceptor is set */
  int stop_fd;   /* eventfd: tells the acceptor to end */
  TideThread *acceptor;

  TideMutex mutex;
  TideCond changed; /* broadcast after each change of what follows */

  /* under mutex */
  TidePersonality personality;
  GPtrArray *connections; /* owned (element-type TideGatewayConnection) */
  GPtrArray *faults;      /* owned (element-type TideActiveFault) */
  guint last_fault_id;
  gboolean ending; /* nothing waits any more */
  TideGatewayStats stats;
};

typedef struct TideGatewayConnection {
  /* set by new, then read-only */
  TideScriptedGateway *gateway;
  guint64 ordinal;
  int kill_fd; /* eventfd: readable when killed */
  TideThread *thread;

  /* the connection's thread only */
  int fd; /* -1 once closed */
  TideFakeReader reader;
  TideFakeWriter writer;
  TideFakeRequest request;
  guint64 call; /* the number of the call under way */

  /* under the gateway's mutex */
  gboolean killed; /* to be reset at once */
  gboolean open;
  gboolean ended; /* its thread can be joined */
} TideGatewayConnection;

/* Starts the thread that serves @fd, which it takes. Called with the gateway's mutex held. */
TideGatewayConnection *tide_gateway_connection_start_locked(TideScriptedGateway *gateway, guint64 ordinal, int fd);
void tide_gateway_connection_kill_locked(TideGatewayConnection *connection);
void tide_gateway_connection_join(TideGatewayConnection *connection); /* waits for its end, and frees it */

/* The first fault that acts on @target, counted; NULL for none. Ownership: (transfer full). */
TideActiveFault *tide_gateway_take_fault(TideScriptedGateway *gateway, const TideFaultTarget *target);

G_END_DECLS
