/* The HTTP server: one thread that accepts connections, reads one request from each, and answers it.
 *
 * The cost of a slow or hostile client is bounded: 16 connections, each for 10 s in total including TLS handshake and
 * answer, and 8 KiB of request. When all connections or descriptors are in use, a new client replaces another
 * (eviction.h), so idle clients cannot block others. Only GET and HEAD are supported, without bodies, and the
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
  const char *headers;      /* (nullable): literal: additional headers, with their line ends */
} TideHttpPage;

typedef struct TideHttpServerOptions {
  TideListenRequest listen;      /* its texts are only used during the start */
  const TideTlsSettings *tls;    /* (nullable): borrowed; NULL: no TLS */
  const TideSecretSource *users; /* (nullable): borrowed; NULL: no authentication */
  TideMetrics *metrics;          /* borrowed */
  gint64 exchange_us;            /* maximum duration of a connection; 0: 10 s */
  /* Called in the server's thread for a path such as "/metrics". Must not block. */
  TideHttpPage (*render)(gpointer data, TideBytes path);
  gpointer data;
} TideHttpServerOptions;

typedef struct TideHttpServer TideHttpServer;

/**
 * tide_http_server_start: listen and answer.
 * @ret_server: (out) (transfer full) (nullable): NULL when the address is "off"
 * Errors: CONFIG for a mistake of the operator's, UNAVAILABLE for an unavailable address.
 */
gboolean tide_http_server_start(const TideHttpServerOptions *options, TideHttpServer **ret_server,
                                GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Closes all connections and waits for the thread; NULL ok. */
void tide_http_server_stop(TideHttpServer *server);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideHttpServer, tide_http_server_stop)

guint16 tide_http_server_port(const TideHttpServer *server); /* 0 for NULL, and for a Unix socket */

G_END_DECLS
