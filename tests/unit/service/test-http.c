/* The HTTP endpoint, from the other end of plain sockets. */
#include "service/http.h"

#include "http/http_server.h"
#include "unit/http_client.h"
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
ask(const TideHttp *http, const char *method, const char *path)
{
  g_autofree char *request =
      g_strdup_printf("%s %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", method, path);
  return ask_from(http, "127.0.0.1", request);
}

static void
test_pages(void)
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
    g_autofree char *reply = ask(http, "GET", cases[i].path);
    g_autofree char *content_type = g_strdup_printf("\r\nContent-Type: %s\r\n", cases[i].content_type);
    g_assert_true(g_str_has_prefix(reply, cases[i].status));
    g_assert_nonnull(strstr(reply, content_type));
    g_assert_nonnull(strstr(reply, "\r\nCache-Control: no-store\r\n"));
    g_assert_cmpstr(http_client_body(reply), ==, cases[i].body);
  }
  g_assert_true(atomic_load(&daemon.signals_are_blocked)); /* the main thread owns signals */

  g_autofree char *index = ask(http, "GET", "/");
  g_assert_nonnull(strstr(index, "\r\nContent-Type: text/html; charset=utf-8\r\n"));
  g_assert_nonnull(strstr(index, "\r\nContent-Security-Policy: default-src 'none'; script-src 'sha256-"));
  g_assert_nonnull(strstr(index, "<main id=\"plain\"><table>all tables</table></main>"));
}

static void
test_head_has_the_length_and_no_body(void)
{
  Daemon daemon = {0};
  g_autoptr(TideHttp) http = start(&daemon);
  g_autofree char *reply = ask(http, "HEAD", "/metrics");
  g_assert_true(g_str_has_prefix(reply, "HTTP/1.1 200 "));
  g_assert_nonnull(strstr(reply, "\r\nContent-Length: 35\r\n"));
  g_assert_cmpstr(http_client_body(reply), ==, "");
}

static void
test_nothing_can_be_sent_to_it(void)
{
  static const char *const requests[] = {
      "POST /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 4\r\n\r\nbody",
      "PUT /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 1000000000\r\n\r\n", /* none
                                                                                                       comes
                                                                                                     */
      "DELETE / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
      "BREW /coffee HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
  };
  Daemon daemon = {0};
  g_autoptr(TideHttp) http = start(&daemon);
  for (gsize i = 0; i < G_N_ELEMENTS(requests); i++) {
    g_autofree char *reply = ask_from(http, "127.0.0.1", requests[i]);
    g_assert_true(g_str_has_prefix(reply, "HTTP/1.1 405 "));
    g_assert_nonnull(strstr(reply, "\r\nAllow: GET, HEAD\r\n"));
  }
  g_assert_cmpuint(atomic_load(&daemon.n_scrapes), ==, 0);
}

static void
test_garbage_and_endless_heads_harm_nobody(void)
{
  g_autofree char *filler = g_strnfill(1000000, 'x');
  g_autofree char *long_path = g_strconcat("GET /", filler, " HTTP/1.1\r\n\r\n", NULL);
  g_autofree char *long_head = g_strconcat("GET /metrics HTTP/1.1\r\nHost: localhost\r\nX: ", filler, "\r\n\r\n", NULL);
  const char *const requests[] = {"\x16\x03\x01\x02\x01\r\n\r\n", "\r\n\r\n\r\nGARBAGE\r\n\r\n", long_path, long_head};
  Daemon daemon = {0};
  g_autoptr(TideHttp) http = start(&daemon);
  for (gsize i = 0; i < G_N_ELEMENTS(requests); i++) {
    g_autofree char *reply = ask_from(http, "127.0.0.1", requests[i]);
    g_assert_true(*reply == '\0' || g_str_has_prefix(reply, "HTTP/1.1 4") || g_str_has_prefix(reply, "HTTP/1.0 4"));
  }
  g_assert_cmpuint(atomic_load(&daemon.n_scrapes), ==, 0);
  g_autofree char *reply = ask(http, "GET", "/metrics");
  g_assert_true(g_str_has_prefix(reply, "HTTP/1.1 200 "));
}

/* One client holds all places without asking for anything; the next one, and others, are served. */
static void
test_who_only_sits_there_keeps_nobody_out(void)
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

static void
test_stop_does_not_wait_for_clients(void)
{
  Daemon daemon = {0};
  TideHttp *http = start(&daemon);
  int silent = connect_from(http, "127.0.0.1");
  g_autofree char *reply = ask(http, "GET", "/healthz"); /* answered after @silent was accepted */
  g_assert_true(g_str_has_prefix(reply, "HTTP/1.1 200 "));
  gint64 before_us = tide_now_us();
  tide_http_stop(http);
  g_assert_cmpint(tide_now_us() - before_us, <, 4 * TIDE_US_PER_S); /* less than the idle time-out */
  g_autofree char *rest = http_client_receive(silent);
  g_assert_cmpstr(rest, ==, "");
  close(silent);
}

static void
test_a_taken_port_is_said_with_the_option(void)
{
  Daemon daemon = {0};
  g_autoptr(TideHttp) first = start(&daemon);
  g_autofree char *listen = g_strdup_printf("127.0.0.1:%u", tide_http_port(first));
  TideHttpOptions options = options_for(&daemon, listen);
  TideHttp *second = NULL;
  g_autoptr(GError) error = NULL;
  g_assert_false(tide_http_start(&options, &second, &error));
  g_assert_error(error, TIDE_ERROR, TIDE_ERROR_UNAVAILABLE);
  g_assert_null(second);
  g_assert_nonnull(strstr(error->message, listen));
  g_assert_nonnull(strstr(error->message, "'service.http'"));
  g_assert_nonnull(strstr(error->message, "another process has it"));
}

static void
test_a_port_can_be_taken_again_at_once(void)
{
  Daemon daemon = {0};
  TideHttp *first = start(&daemon);
  g_autofree char *listen = g_strdup_printf("127.0.0.1:%u", tide_http_port(first));
  g_autofree char *reply = ask(first, "GET", "/healthz"); /* leaves a connection in TIME_WAIT */
  g_assert_true(g_str_has_prefix(reply, "HTTP/1.1 200 "));
  tide_http_stop(first);
  TideHttpOptions options = options_for(&daemon, listen);
  g_autoptr(TideHttp) second = NULL;
  g_autoptr(GError) error = NULL;
  g_assert_true(tide_http_start(&options, &second, &error));
  g_assert_no_error(error);
}

static void
test_addresses_that_cannot_be_served(void)
{
  static const struct {
    const char *listen;
    int code;
  } cases[] = {
      {"localhost:9464", TIDE_ERROR_CONFIG},
      {"9464", TIDE_ERROR_CONFIG},
      {"203.0.113.1:9464", TIDE_ERROR_UNAVAILABLE}, /* an address for documentation: no interface has it */
  };
  Daemon daemon = {0};
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    TideHttpOptions options = options_for(&daemon, cases[i].listen);
    TideHttp *http = NULL;
    g_autoptr(GError) error = NULL;
    g_assert_false(tide_http_start(&options, &http, &error));
    g_assert_error(error, TIDE_ERROR, cases[i].code);
    g_assert_nonnull(strstr(error->message, cases[i].listen));
    g_assert_nonnull(strstr(error->message, "'service.http'"));
    g_assert_null(http);
  }
}

static void
test_off_is_no_error(void)
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

static gboolean
has_ipv6_loopback(void)
{
  struct sockaddr_in6 address = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
  int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0)
    return FALSE;
  gboolean is_bound = bind(fd, (const struct sockaddr *)&address, sizeof address) == 0;
  close(fd);
  return is_bound;
}

static void
test_ipv6(void)
{
  if (!has_ipv6_loopback()) {
    g_test_skip("this host has no IPv6 loopback");
    return;
  }
  Daemon daemon = {0};
  TideHttpOptions options = options_for(&daemon, "[::1]:0");
  g_autoptr(TideHttp) http = NULL;
  g_autoptr(GError) error = NULL;
  g_assert_true(tide_http_start(&options, &http, &error));
  g_assert_no_error(error);

  struct sockaddr_in6 target = {
      .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT, .sin6_port = htons(tide_http_port(http))};
  int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
  g_assert_cmpint(connect(fd, (const struct sockaddr *)&target, sizeof target), ==, 0);
  http_client_send(fd, "GET /healthz HTTP/1.0\r\n\r\n");
  g_autofree char *reply = http_client_receive(fd);
  g_assert_nonnull(strstr(reply, "healthy\n"));
  close(fd);
}

static void
scrape_often(gpointer data)
{
  const TideHttp *http = data;
  for (guint i = 0; i < 25; i++) {
    g_autofree char *reply = ask(http, "GET", "/metrics");
    g_assert_true(g_str_has_prefix(reply, "HTTP/1.1 200 "));
  }
}

static void
test_scrapes_side_by_side(void)
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
  g_test_add_func("/http/pages", test_pages);
  g_test_add_func("/http/head-has-the-length-and-no-body", test_head_has_the_length_and_no_body);
  g_test_add_func("/http/nothing-can-be-sent-to-it", test_nothing_can_be_sent_to_it);
  g_test_add_func("/http/scrapes-side-by-side", test_scrapes_side_by_side);
  g_test_add_func("/http/hostile/garbage-and-endless-heads", test_garbage_and_endless_heads_harm_nobody);
  g_test_add_func("/http/hostile/E11-H4-who-only-sits-there", test_who_only_sits_there_keeps_nobody_out);
  g_test_add_func("/http/stop/does-not-wait-for-clients", test_stop_does_not_wait_for_clients);
  g_test_add_func("/http/listen/a-taken-port-is-said", test_a_taken_port_is_said_with_the_option);
  g_test_add_func("/http/listen/again-at-once", test_a_port_can_be_taken_again_at_once);
  g_test_add_func("/http/listen/cannot-be-served", test_addresses_that_cannot_be_served);
  g_test_add_func("/http/listen/off-is-no-error", test_off_is_no_error);
  g_test_add_func("/http/listen/ipv6", test_ipv6);
  metrics = tide_metrics_new();
  int result = g_test_run();
  tide_metrics_free(metrics);
  return result;
}
