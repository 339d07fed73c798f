/* The HTTP server: one thread that takes connections, reads a request of each, and answers it.
 *
 * What a slow or hostile client can cost is bounded: 16 connections, each for 10 s in all, TLS handshake and answer
 * with it, and 8 KiB of request. Whoever comes when all connections or descriptors are taken gets that of another
 * (eviction.h), so that nobody is kept out by those who only sit there. Only GET and HEAD, no bodies, and the
 * connection is closed after the answer. */
#pragma once

#include "http/listen_socket.h"
#include "thrift/client/link_settings.h"
#include "util/bytes.h"
#include "util/metrics.h"

G_BEGIN_DECLS

#define TIDE_HTTP_MAX_CONNECTIONS 16
#define TIDE_HTTP_MAX_HEAD_BYTES 8192

typedef struct TideHttpPage {
  guint status;             /* 200, 404, 503 */
  const char *content_type; /* literal */
  char *body;               /* owned: text */
  const char *headers;      /* (nullable): literal, more of them, with their line ends */
} TideHttpPage;

typedef struct TideHttpServerOptions {
  TideListenRequest listen;      /* its texts are used during the start only */
  const TideTlsSettings *tls;    /* (nullable): borrowed; NULL: no TLS */
  const TideSecretSource *users; /* (nullable): borrowed; NULL: everybody may ask */
  TideMetrics *metrics;          /* borrowed */
  gint64 exchange_us;            /* that a connection may last; 0: 10 s */
  /* Called in the server's thread for a path such as "/metrics". Must not block. */
  TideHttpPage (*render)(gpointer data, TideBytes path);
  gpointer data;
} TideHttpServerOptions;

typedef struct TideHttpServer TideHttpServer;

/**
 * tide_http_server_start: listen and answer.
 * @ret_server: (out) (transfer full) (nullable): NULL when the address is "off"
 * Errors: CONFIG for what the operator must correct, UNAVAILABLE for an address that cannot be had.
 */
gboolean tide_http_server_start(const TideHttpServerOptions *options, TideHttpServer **ret_server,
                                GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Closes all connections and waits for the thread; NULL ok. */
void tide_http_server_stop(TideHttpServer *server);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideHttpServer, tide_http_server_stop)

guint16 tide_http_server_port(const TideHttpServer *server); /* 0 for NULL, and for a Unix socket */

G_END_DECLS
