/* The HTTP endpoint: /metrics for Prometheus, /healthz and /readyz for probes, and / as a signpost.
 *
 * It runs in one thread of its own and touches nothing of the data path but what its callbacks read. What a slow or
 * hostile client can cost is bounded: 16 connections in all and 8 from one address, 16 KiB of memory each, closed after
 * 5 s without a byte; only GET and HEAD, no bodies. Left over: who holds all 16 open by dripping bytes keeps others
 * out; the data does not feel it. No TLS and no log-in: listen on loopback, or put a proxy in front. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Called in the endpoint's thread, one at a time. They must not block: a scrape waits for them, and so does stop. */
typedef struct TideHttpOptions {
  const char *listen; /* "127.0.0.1:9464", "[::1]:9464", port 0 for one that the kernel chooses; "off" */
  const char *option; /* the configuration's name of listen, for messages: "service.http"; NULL says "the address" */
  char *(*render_metrics)(gpointer data); /* (transfer full): Prometheus text 0.0.4 */
  /* FALSE: not ready or not healthy, with @ret_reason (transfer full): one sentence. */
  gboolean (*ready)(gpointer data, char **ret_reason);
  gboolean (*healthy)(gpointer data, char **ret_reason);
  gpointer data;
} TideHttpOptions;

typedef struct TideHttp TideHttp;

/**
 * tide_http_start: listen and answer.
 * @options: copied; its data must live until tide_http_stop(), its strings only for this call
 * @ret_http: (out) (transfer full) (nullable): NULL when listen is "off"
 * Errors: TIDE_ERROR_CONFIG for an address that cannot be read, TIDE_ERROR_UNAVAILABLE for one that cannot be had.
 */
gboolean tide_http_start(const TideHttpOptions *options, TideHttp **ret_http, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Whether tide_http_start() would get the address @listen of option @option, which is given back at once. Errors: as
 * there, and IN_USE where another process listens. */
gboolean tide_http_try(const char *listen, const char *option, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Closes all connections and waits for the thread; NULL ok. */
void tide_http_stop(TideHttp *http);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideHttp, tide_http_stop)

/* The port that it listens on; 0 for NULL. */
guint16 tide_http_port(const TideHttp *http);

G_END_DECLS
