#include "service/http.h"
#include "service/page.h"

#include "http/http_server.h"

#define TEXT_PLAIN "text/plain; charset=utf-8"
/* The form's name as Prometheus asks for it in Accept:. */
#define TEXT_METRICS "text/plain; version=0.0.4; charset=utf-8"

struct TideHttp {
  /* set before start, then read-only */
  char *(*render_metrics)(gpointer data);
  char *(*render_status)(gpointer data);
  char *(*render_tables)(gpointer data);
  gboolean (*ready)(gpointer data, char **ret_reason);
  gboolean (*healthy)(gpointer data, char **ret_reason);
  gpointer data;
  TideHttpServer *server; /* owned */
};

static TideHttpPage
metrics_page(TideHttp *http)
{
  return (TideHttpPage){200, TEXT_METRICS, http->render_metrics(http->data)};
}

static TideHttpPage
status_page(TideHttp *http)
{
  return (TideHttpPage){200, "application/json", http->render_status(http->data)};
}

static TideHttpPage
state_page(gboolean is_good, const char *good_word, char *reason)
{
  if (is_good) {
    g_free(reason);
    return (TideHttpPage){200, TEXT_PLAIN, g_strconcat(good_word, "\n", NULL)};
  }
  char *body = g_strconcat(reason != NULL ? reason : "no reason is known", "\n", NULL);
  g_free(reason);
  return (TideHttpPage){503, TEXT_PLAIN, body};
}

static TideHttpPage
ready_page(TideHttp *http)
{
  char *reason = NULL;
  gboolean is_ready = http->ready(http->data, &reason);
  return state_page(is_ready, "ready", reason);
}

static TideHttpPage
health_page(TideHttp *http)
{
  char *reason = NULL;
  gboolean is_healthy = http->healthy(http->data, &reason);
  return state_page(is_healthy, "healthy", reason);
}

/* The page draws itself from /status again and again; without scripts it shows how all was when it was asked for. */
static TideHttpPage
index_page(TideHttp *http)
{
  g_autofree char *tables = http->render_tables(http->data);
  return (TideHttpPage){200, "text/html; charset=utf-8", g_strconcat(page_head, tables, page_tail, NULL), page_headers};
}

static const struct {
  const char *path;
  TideHttpPage (*render)(TideHttp *http);
} pages[] = {
    {"/", index_page},         {"/metrics", metrics_page}, {"/status", status_page},
    {"/healthz", health_page}, {"/readyz", ready_page},
};

static TideHttpPage
render_page(gpointer data, TideBytes path)
{
  TideHttp *http = data;
  for (gsize i = 0; i < G_N_ELEMENTS(pages); i++)
    if (path.len == strlen(pages[i].path) && memcmp(pages[i].path, path.data, path.len) == 0)
      return pages[i].render(http);
  return (TideHttpPage){404, TEXT_PLAIN, g_strdup("not found; there are / /metrics /status /healthz /readyz\n")};
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
  http->render_metrics = options->render_metrics;
  http->render_status = options->render_status;
  http->render_tables = options->render_tables;
  http->ready = options->ready;
  http->healthy = options->healthy;
  http->data = options->data;
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
