#include "service/http.h"
#include "service/page.h"

#include "http/http_server.h"

#define TEXT_PLAIN "text/plain; charset=utf-8"
/* The format's name, as in Prometheus's Accept header. */
#define TEXT_METRICS "text/plain; version=0.0.4; charset=utf-8"

struct TideHttp {
  /* set before start, then read-only */
  TideHttpOptions options;
  TideHttpServer *server; /* owned */
};

/* @reason: (transfer full) */
static TideHttpPage
state_page(gboolean is_good, const char *good_word, char *reason)
{
  char *body = is_good          ? g_strconcat(good_word, "\n", NULL)
               : reason != NULL ? g_strconcat(reason, "\n", NULL)
                                : g_strdup("no reason is known\n");
  g_free(reason);
  return (TideHttpPage){is_good ? 200 : 503, TEXT_PLAIN, body};
}

static TideHttpPage
render_page(gpointer data, TideBytes path)
{
  const TideHttpOptions *options = &((TideHttp *)data)->options;
  char *reason = NULL;
  if (tide_bytes_equal(path, TIDE_BYTES_LITERAL("/metrics")))
    return (TideHttpPage){200, TEXT_METRICS, options->render_metrics(options->data)};
  if (tide_bytes_equal(path, TIDE_BYTES_LITERAL("/status")))
    return (TideHttpPage){200, "application/json", options->render_status(options->data)};
  if (tide_bytes_equal(path, TIDE_BYTES_LITERAL("/healthz"))) {
    gboolean is_healthy = options->healthy(options->data, &reason);
    return state_page(is_healthy, "healthy", reason);
  }
  if (tide_bytes_equal(path, TIDE_BYTES_LITERAL("/readyz"))) {
    gboolean is_ready = options->ready(options->data, &reason);
    return state_page(is_ready, "ready", reason);
  }
  if (!tide_bytes_equal(path, TIDE_BYTES_LITERAL("/")))
    return (TideHttpPage){404, TEXT_PLAIN, g_strdup("not found; there are / /metrics /status /healthz /readyz\n")};
  /* The page redraws itself from /status; without scripts it shows the state at the time of the request. */
  g_autofree char *tables = options->render_tables(options->data);
  return (TideHttpPage){200, "text/html; charset=utf-8", g_strconcat(page_head, tables, page_tail, NULL), page_headers};
}

static TideListenRequest
request_of(const TideServiceConfig *config)
{
  return (TideListenRequest){.text = config->http_listen, .option = "service.http", .mode = config->http_socket_mode};
}

gboolean
tide_http_try(const TideServiceConfig *config, GError **error)
{
  TideListenRequest request = request_of(config);
  return tide_listen_socket_try(&request, error);
}

gboolean
tide_http_start(const TideHttpOptions *options, TideHttp **ret_http, GError **error)
{
  const TideServiceConfig *config = options->config;
  g_autoptr(TideHttp) http = g_new0(TideHttp, 1);
  http->options = *options;
  TideHttpServerOptions server = {.listen = request_of(config),
                                  .tls = config->http_tls.certificate != NULL ? &config->http_tls : NULL,
                                  .users = tide_secret_source_is_set(&config->http_users) ? &config->http_users : NULL,
                                  .metrics = options->metrics,
                                  .render = render_page,
                                  .data = http};
  if (!tide_http_server_start(&server, &http->server, error))
    return FALSE;
  *ret_http = http->server != NULL ? g_steal_pointer(&http) : NULL;
  return TRUE;
}

void
tide_http_stop(TideHttp *http)
{
  if (http == NULL)
    return;
  tide_http_server_stop(http->server);
  g_free(http);
}

guint16
tide_http_port(const TideHttp *http)
{
  return http != NULL ? tide_http_server_port(http->server) : 0;
}
