/* The HTTP endpoint, from the other end of plain sockets. */
#include "service/http.h"

#include "http/http_server.h"
#include "unit/http_client.h"
#include "unit/test_case.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/lock.h"

#include <signal.h>
#include <stdatomic.h>

static TideMetrics *metrics;

typedef struct Daemon {
  TideServiceConfig config;
  _Atomic int is_ready;
  _Atomic int signals_are_blocked;
  _Atomic guint n_scrapes;
} Daemon;

static char *
render_metrics(gpointer data)
{
  Daemon *daemon = data;
  sigset_t blocked;
  pthread_sigmask(SIG_BLOCK, NULL, &blocked);
  atomic_store(&daemon->signals_are_blocked, sigismember(&blocked, SIGTERM) == 1);
  atomic_fetch_add(&daemon->n_scrapes, 1);
  return g_strdup("tidemark_messages_received_total 1\n");
}

static char *
render_status(gpointer data)
{
  return g_strdup("{}\n");
}

static char *
render_tables(gpointer data)
{
  return g_strdup("<table>all tables</table>");
}

static gboolean
ready(gpointer data, char **ret_reason)
{
  Daemon *daemon = data;
  if (atomic_load(&daemon->is_ready))
    return TRUE;
  *ret_reason = g_strdup("no gateway answers");
  return FALSE;
}

static gboolean
healthy(gpointer data G_GNUC_UNUSED, char **ret_reason G_GNUC_UNUSED)
{
  return TRUE;
}

static TideHttpOptions
options_for(Daemon *daemon, const char *listen)
{
  daemon->config.http_listen = (char *)listen;
  return (TideHttpOptions){.config = &daemon->config,
                           .metrics = metrics,
                           .render_metrics = render_metrics,
                           .render_status = render_status,
                           .render_tables = render_tables,
                           .ready = ready,
                           .healthy = healthy,
                           .data = daemon};
}

static TideHttp *
start(Daemon *daemon)
{
  TideHttpOptions options = options_for(daemon, "127.0.0.1:0");
  TideHttp *http = NULL;
  g_autoptr(GError) error = NULL;
  g_assert_true(tide_http_start(&options, &http, &error));
  g_assert_no_error(error);
  g_assert_cmpuint(tide_http_port(http), >, 0);
  return http;
}

static int
connect_from(const TideHttp *http, const char *from)
{
  return http_client_connect(tide_http_port(http), from);
}

static char *
ask_from(const TideHttp *http, const char *from, const char *request)
{
  return http_client_ask(connect_from(http, from), request);
}

static char *
ask(const TideHttp *http, const char *path)
{
  g_autofree char *request = g_strdup_printf("GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", path);
  return ask_from(http, "127.0.0.1", request);
}

TEST("/http/pages")
{
  static const struct {
    const char *path;
    int is_ready;
    const char *status, *content_type, *body;
  } cases[] = {
      {"/metrics", 1, "HTTP/1.1 200 ", "text/plain; version=0.0.4; charset=utf-8",
       "tidemark_messages_received_total 1\n"},
      {"/metrics?name[]=x", 1, "HTTP/1.1 200 ", "text/plain; version=0.0.4; charset=utf-8",
       "tidemark_messages_received_total 1\n"},
      {"/healthz", 0, "HTTP/1.1 200 ", "text/plain; charset=utf-8", "healthy\n"},
      {"/readyz", 1, "HTTP/1.1 200 ", "text/plain; charset=utf-8", "ready\n"},
      {"/readyz", 0, "HTTP/1.1 503 ", "text/plain; charset=utf-8", "no gateway answers\n"},
      {"/nothing", 1, "HTTP/1.1 404 ", "text/plain; charset=utf-8",
       "not found; there are / /metrics /status /healthz /readyz\n"},
      {"/metrics/../readyz", 1, "HTTP/1.1 404 ", "text/plain; charset=utf-8",
       "not found; there are / /metrics /status /healthz /readyz\n"},
  };
  Daemon daemon = {0};
  g_autoptr(TideHttp) http = start(&daemon);
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    atomic_store(&daemon.is_ready, cases[i].is_ready);
    g_autofree char *reply = ask(http, cases[i].path);
    g_autofree char *content_type = g_strdup_printf("\r\nContent-Type: %s\r\n", cases[i].content_type);
    g_assert_true(g_str_has_prefix(reply, cases[i].status));
    g_assert_nonnull(strstr(reply, content_type));
    g_assert_nonnull(strstr(reply, "\r\nCache-Control: no-store\r\n"));
    g_assert_cmpstr(http_client_body(reply), ==, cases[i].body);
  }
  g_assert_true(atomic_load(&daemon.signals_are_blocked)); /* the main thread owns signals */

  g_autofree char *index = ask(http, "/");
  g_assert_nonnull(strstr(index, "\r\nContent-Type: text/html; charset=utf-8\r\n"));
  g_assert_nonnull(strstr(index, "\r\nContent-Security-Policy: default-src 'none'; script-src 'sha256-"));
  g_assert_nonnull(strstr(index, "<main id=\"plain\"><table>all tables</table></main>"));
}

/* One client holds all places without asking for anything; the next one, and others, are served. */
TEST("/http/hostile/E11-H4-who-only-sits-there")
{
  Daemon daemon = {0};
  g_autoptr(TideHttp) http = start(&daemon);
  int held[TIDE_HTTP_MAX_CONNECTIONS];
  for (gsize i = 0; i < G_N_ELEMENTS(held); i++) {
    held[i] = connect_from(http, "127.0.0.2");
    http_client_send(held[i], "GET /metrics HTTP/1.1\r\n"); /* and never the rest */
  }
  static const char *const from[] = {"127.0.0.2", "127.0.0.1"};
  for (gsize i = 0; i < G_N_ELEMENTS(from); i++) {
    g_autofree char *reply = ask_from(http, from[i], "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");
    g_assert_true(g_str_has_prefix(reply, "HTTP/1.1 200 "));
  }
  g_autofree char *displaced = http_client_receive(held[0]);
  g_assert_cmpstr(displaced, ==, "");
  g_assert_cmpuint(tide_metrics_sum(metrics, "tidemark_http_requests_refused_total", "displaced"), >=, 1);
  g_assert_cmpuint(tide_metrics_sum(metrics, "tidemark_http_requests_refused_total", "too_slow"), ==, 0);
  for (gsize i = 0; i < G_N_ELEMENTS(held); i++)
    close(held[i]);
}

TEST("/http/stop/does-not-wait-for-clients")
{
  Daemon daemon = {0};
  TideHttp *http = start(&daemon);
  int silent = connect_from(http, "127.0.0.1");
  g_autofree char *reply = ask(http, "/healthz"); /* answered after @silent was accepted */
  g_assert_true(g_str_has_prefix(reply, "HTTP/1.1 200 "));
  gint64 before_us = tide_now_us();
  tide_http_stop(http);
  g_assert_cmpint(tide_now_us() - before_us, <, 4 * TIDE_US_PER_S); /* less than the idle time-out */
  g_autofree char *rest = http_client_receive(silent);
  g_assert_cmpstr(rest, ==, "");
  close(silent);
}

TEST("/http/listen/again-at-once")
{
  Daemon daemon = {0};
  TideHttp *first = start(&daemon);
  g_autofree char *listen = g_strdup_printf("127.0.0.1:%u", tide_http_port(first));
  g_autofree char *reply = ask(first, "/healthz"); /* leaves a connection in TIME_WAIT */
  g_assert_true(g_str_has_prefix(reply, "HTTP/1.1 200 "));
  tide_http_stop(first);
  TideHttpOptions options = options_for(&daemon, listen);
  g_autoptr(TideHttp) second = NULL;
  g_autoptr(GError) error = NULL;
  g_assert_true(tide_http_start(&options, &second, &error));
  g_assert_no_error(error);
}

TEST("/http/listen/cannot-be-served")
{
  Daemon daemon = {0};
  g_autoptr(TideHttp) first = start(&daemon);
  g_autofree char *taken = g_strdup_printf("127.0.0.1:%u", tide_http_port(first));
  const struct {
    const char *listen;
    int code;
    const char *words;
  } cases[] = {
      {"localhost:9464", TIDE_ERROR_CONFIG, "'service.http'"},
      {"9464", TIDE_ERROR_CONFIG, "'service.http'"},
      {taken, TIDE_ERROR_UNAVAILABLE,
       "another process uses it; stop that one, or choose another port in 'service.http'"},
      /* an address for documentation: no interface has it */
      {"203.0.113.1:9464", TIDE_ERROR_UNAVAILABLE, "'service.http'"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    TideHttpOptions options = options_for(&daemon, cases[i].listen);
    TideHttp *http = NULL;
    g_autoptr(GError) error = NULL;
    g_assert_false(tide_http_start(&options, &http, &error));
    g_assert_error(error, TIDE_ERROR, cases[i].code);
    g_assert_nonnull(strstr(error->message, cases[i].listen));
    g_assert_nonnull(strstr(error->message, cases[i].words));
    g_assert_null(http);
  }
}

TEST("/http/listen/off-is-no-error")
{
  Daemon daemon = {0};
  TideHttpOptions options = options_for(&daemon, "off");
  TideHttp *http = (TideHttp *)&daemon; /* anything but NULL */
  g_autoptr(GError) error = NULL;
  g_assert_true(tide_http_start(&options, &http, &error));
  g_assert_no_error(error);
  g_assert_null(http);
  g_assert_cmpuint(tide_http_port(http), ==, 0);
  tide_http_stop(http);
}

static void
scrape_often(gpointer data)
{
  const TideHttp *http = data;
  for (guint i = 0; i < 25; i++) {
    g_autofree char *reply = ask(http, "/metrics");
    g_assert_true(g_str_has_prefix(reply, "HTTP/1.1 200 "));
  }
}

TEST("/http/scrapes-side-by-side")
{
  Daemon daemon = {0};
  g_autoptr(TideHttp) http = start(&daemon);
  TideThread *threads[4];
  for (gsize i = 0; i < G_N_ELEMENTS(threads); i++)
    threads[i] = tide_thread_start("scrape", scrape_often, http);
  for (gsize i = 0; i < G_N_ELEMENTS(threads); i++)
    tide_thread_join(threads[i]);
  g_assert_cmpuint(atomic_load(&daemon.n_scrapes), ==, 100);
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  test_cases_add();
  metrics = tide_metrics_new();
  int result = g_test_run();
  tide_metrics_free(metrics);
  return result;
}
