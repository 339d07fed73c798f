/* The HTTP endpoint: /metrics for Prometheus, /status for people and programs, /healthz and /readyz for probes, and /
 * as the status page.
 *
 * One thread serves it; its callbacks only read the state of the data path. The cost of clients is bounded: see
 * http/http_server.h. */
#pragma once

#include "config/config.h"
#include "util/metrics.h"

G_BEGIN_DECLS

/* Called in the endpoint's thread, one at a time. They must not block: scrapes and stop wait for them. */
typedef struct TideHttpOptions {
  const TideServiceConfig *config;        /* borrowed until tide_http_stop() */
  TideMetrics *metrics;                   /* borrowed: counts refused requests */
  char *(*render_metrics)(gpointer data); /* (transfer full): Prometheus text 0.0.4 */
  char *(*render_status)(gpointer data);  /* (transfer full): JSON, status_document.h */
  char *(*render_tables)(gpointer data);  /* (transfer full): the same as HTML tables */
  /* FALSE: not ready or not healthy, with @ret_reason (transfer full): one sentence. */
  gboolean (*ready)(gpointer data, char **ret_reason);
  gboolean (*healthy)(gpointer data, char **ret_reason);
  gpointer data;
} TideHttpOptions;

typedef struct TideHttp TideHttp;

/**
 * tide_http_start: listen and answer according to service.http and related options.
 * @options: copied; its data must live until tide_http_stop()
 * @ret_http: (out) (transfer full) (nullable): NULL when the address is "off"
 * Errors: TIDE_ERROR_CONFIG for a mistake of the operator's, TIDE_ERROR_UNAVAILABLE for an unavailable address.
 */
gboolean tide_http_start(const TideHttpOptions *options, TideHttp **ret_http, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Checks that tide_http_start() would get its address, and releases it at once. Errors: as there, and IN_USE if another
 * process listens. */
gboolean tide_http_try(const TideServiceConfig *config, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Closes all connections and waits for the thread; NULL ok. */
void tide_http_stop(TideHttp *http);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideHttp, tide_http_stop)

/* The port in use; 0 for NULL and for a Unix socket. */
guint16 tide_http_port(const TideHttp *http);

G_END_DECLS
