#define _GNU_SOURCE
#include "http/http_server.h"

#include "http/access_list.h"
#include "http/eviction.h"
#include "http/request_head.h"
#include "http/server_tls.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/file_look.h"
#include "util/lock.h"
#include "util/log.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

/* Prometheus's own default timeout is 10 s. */
#define EXCHANGE_US (10 * TIDE_US_PER_S)
/* Waiting time after the answer, so that a client that is still sending reads it before it sees the close. */
#define LINGER_US TIDE_US_PER_S
/* Pause while no file descriptor is left for a waiting client. */
#define ACCEPT_PAUSE_US (TIDE_US_PER_S / 10)
/* Limit per round, so that existing connections are served before new ones replace them. */
#define ACCEPTS_AT_ONCE 4
/* Limit on unwanted bytes per round, so that a flood leaves time for others. */
#define READS_AT_ONCE 16
#define LOG_INTERVAL_US (60 * TIDE_US_PER_S)

typedef enum Refusal {
  REFUSAL_NONE,
  REFUSAL_NO_CREDENTIALS,
  REFUSAL_WRONG_CREDENTIALS,
  REFUSAL_TOO_MANY_TRIES,
  REFUSAL_BAD_REQUEST,
  REFUSAL_LONG_HEAD,
  REFUSAL_METHOD,
  REFUSAL_OTHER_HOST,
  REFUSAL_TLS,
  REFUSAL_TOO_SLOW,
  REFUSAL_DISPLACED,
  N_REFUSALS,
} Refusal;

static const struct {
  const char *reason; /* in the metric */
  const char *logged; /* NULL: not logged, as there is nothing to do */
  guint status;       /* status of the answer; 0: the connection ends without one */
  const char *headers;
  const char *answer;
} refusals[] = {
    [REFUSAL_NONE] = {NULL},
    [REFUSAL_NO_CREDENTIALS] = {"no_credentials", "it had no name and password, and no token", 401, "",
                                "send a name and password, or a token"},
    [REFUSAL_WRONG_CREDENTIALS] = {"wrong_credentials", "its password or token is not in 'service.http_users'", 401, "",
                                   "unknown password or token"},
    [REFUSAL_TOO_MANY_TRIES] = {"too_many_tries", "too many wrong passwords came before; one a second is checked", 429,
                                "Retry-After: 1\r\n",
                                "too many wrong passwords: one a second is checked, this one was not"},
    [REFUSAL_BAD_REQUEST] = {"bad_request", NULL, 400, "", "not a valid HTTP/1.1 request"},
    [REFUSAL_LONG_HEAD] = {"bad_request", NULL, 431, "", "the request head is longer than 8 KiB"},
    [REFUSAL_METHOD] = {"bad_request", NULL, 405, "Allow: GET, HEAD\r\n", "only GET and HEAD are allowed"},
    [REFUSAL_OTHER_HOST] = {"other_host",
                            "it is for another host, sent by a web page or by a proxy that keeps its 'Host:'", 421, "",
                            "this is another host: use 'localhost', an address, or this host's own name"},
    [REFUSAL_TLS] =
        {"tls", "the TLS connection failed: the client does not trust our certificate, or does not support TLS 1.2",
         400, "", "this port requires TLS: use https://"},
    [REFUSAL_TOO_SLOW] = {"too_slow", NULL},
    [REFUSAL_DISPLACED] = {"displaced", NULL},
};
G_STATIC_ASSERT(G_N_ELEMENTS(refusals) == N_REFUSALS);

typedef enum ConnectionState {
  CONNECTION_FREE,
  CONNECTION_READING, /* handshake and request */
  CONNECTION_WRITING,
  CONNECTION_LINGERING,
} ConnectionState;

typedef struct Connection {
  ConnectionState state;
  int fd;
  TideEvictionSlot slot;
  TideTlsSession *tls; /* owned; NULL: plain */
  short events;        /* events to wait for */
  gint64 deadline_us;
  struct in6_addr peer; /* all zero for a Unix socket */
  guint8 head[TIDE_HTTP_MAX_HEAD_BYTES];
  gsize head_len;
  GString *answer; /* owned; NULL while reading */
  gsize sent;
} Connection;

struct TideHttpServer {
  /* set before start, then read-only */
  TideListenSocket listener;
  const TideSecretSource *users; /* borrowed; NULL: no authentication */
  TideHttpPage (*render)(gpointer data, TideBytes path);
  gpointer data;
  gint64 exchange_us;
  gboolean only_local_names; /* only the host name protects against requests from web pages */
  TideCounter *refused[N_REFUSALS];
  TideGauge *certificate_end;
  int stop_fd; /* readable: the thread must end */
  TideThread *thread;
  /* its thread only */
  TideServerTls *tls;   /* owned; NULL: plain */
  TideAccessList *list; /* owned; NULL: no authentication */
  TideFileStamp list_stamp;
  gint64 accept_us; /* do not accept before */
  guint64 n_accepted;
  TideLogLimit certificate_limit;
  TideLogLimit users_limit;
  TideLogLimit refusal_limit[N_REFUSALS];
  Connection connections[TIDE_HTTP_MAX_CONNECTIONS];
};

/* ---- files that may change ---- */

static gboolean
read_users(TideHttpServer *server, GError **error)
{
  if (server->users == NULL)
    return TRUE;
  g_autofree char *path = tide_secret_path(server->users, error);
  if (path == NULL)
    return FALSE;
  TideFileStamp stamp = tide_file_stamp(path);
  if (server->list != NULL && tide_file_stamp_equal(&stamp, &server->list_stamp))
    return TRUE;
  TideAccessList *list = tide_access_list_read(path, error);
  if (list == NULL)
    return FALSE;
  if (server->list != NULL)
    tide_access_list_follow(list, server->list);
  tide_access_list_free(server->list);
  server->list = list;
  server->list_stamp = stamp;
  return TRUE;
}

static void
show_certificate_end(const TideHttpServer *server)
{
  gint64 end_s = server->tls != NULL ? tide_server_tls_end_s(server->tls) : 0;
  if (end_s != 0)
    tide_gauge_set(server->certificate_end, end_s);
}

/* If a file cannot be read, the previous content stays in force. */
static void
refresh_files(TideHttpServer *server, gint64 now_us)
{
  g_autoptr(GError) tls_error = NULL, users_error = NULL;
  guint64 suppressed;
  if (server->tls != NULL && !tide_server_tls_refresh(server->tls, &tls_error) &&
      tide_log_limit_pass(&server->certificate_limit, now_us, LOG_INTERVAL_US, &suppressed))
    tide_log(TIDE_LOG_WARNING, "http-certificate-stale", "HTTP keeps its previous certificate: %s", tls_error->message);
  if (!read_users(server, &users_error) &&
      tide_log_limit_pass(&server->users_limit, now_us, LOG_INTERVAL_US, &suppressed))
    tide_log(TIDE_LOG_WARNING, "http-users-stale", "HTTP keeps its previous users: %s", users_error->message);
  show_certificate_end(server);
}

/* ---- a connection's end ---- */

static void
close_connection(Connection *it)
{
  tide_tls_session_free(it->tls);
  close(it->fd);
  if (it->answer != NULL)
    g_string_free(it->answer, TRUE);
  explicit_bzero(it, sizeof *it); /* its request head contained passwords */
}

static void
count_refusal(TideHttpServer *server, const Connection *it, Refusal refusal, gint64 now_us)
{
  guint64 suppressed;
  tide_counter_inc(server->refused[refusal]);
  if (refusals[refusal].logged == NULL ||
      !tide_log_limit_pass(&server->refusal_limit[refusal], now_us, LOG_INTERVAL_US, &suppressed))
    return;
  char peer[INET6_ADDRSTRLEN] = "this host";
  if (!IN6_IS_ADDR_UNSPECIFIED(&it->peer))
    (void)inet_ntop(AF_INET6, &it->peer, peer, sizeof peer);
  const char *text = g_str_has_prefix(peer, "::ffff:") ? peer + strlen("::ffff:") : peer;
  tide_log(TIDE_LOG_NOTICE, "http-refused", "refused an HTTP request from '%s': %s%s", text, refusals[refusal].logged,
           tide_log_suppressed(suppressed, "requests").text);
}

/* ---- bytes ---- */

/* Converts to the result of a TLS session. @n: result of recv() or send() */
static gssize
plain_result(Connection *it, gssize n, short events)
{
  it->events = events;
  return n >= 0 ? n : errno == EAGAIN || errno == EINTR ? TIDE_TLS_WAITS : TIDE_TLS_BROKEN;
}

static gssize
receive(Connection *it, void *bytes, gsize len)
{
  return it->tls != NULL ? tide_tls_session_receive(it->tls, bytes, len, &it->events)
                         : plain_result(it, recv(it->fd, bytes, len, 0), POLLIN);
}

static gssize
send_bytes(Connection *it, const void *bytes, gsize len)
{
  return it->tls != NULL ? tide_tls_session_send(it->tls, bytes, len, &it->events)
                         : plain_result(it, send(it->fd, bytes, len, MSG_NOSIGNAL), POLLOUT);
}

/* ---- an answer ---- */

static const struct {
  guint status;
  const char *words;
} status_words[] = {
    {200, "OK"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {421, "Misdirected Request"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {503, "Service Unavailable"},
};

/* @page: (transfer full). @headers: with their line ends. */
static GString *
write_answer(TideHttpPage page, const char *headers)
{
  const char *words = "Answer";
  for (gsize i = 0; i < G_N_ELEMENTS(status_words); i++)
    if (status_words[i].status == page.status)
      words = status_words[i].words;
  GString *answer = g_string_new(NULL);
  g_string_append_printf(answer, "HTTP/1.1 %u %s\r\n", page.status, words);
  char date[64];
  time_t now = time(NULL);
  struct tm parts;
  if (gmtime_r(&now, &parts) != NULL && strftime(date, sizeof date, "%a, %d %b %Y %H:%M:%S GMT", &parts) > 0)
    g_string_append_printf(answer, "Date: %s\r\n", date);
  g_string_append_printf(answer,
                         "Content-Type: %s\r\nCache-Control: no-store\r\nContent-Length: %" G_GSIZE_FORMAT
                         "\r\nConnection: close\r\n%s%s\r\n",
                         page.content_type, strlen(page.body), page.headers != NULL ? page.headers : "", headers);
  g_string_append(answer, page.body);
  g_free(page.body);
  return answer;
}

static GString *
write_refusal(const TideHttpServer *server, Refusal refusal)
{
  guint status = refusals[refusal].status;
  g_autofree char *challenge = status == 401 ? tide_access_list_challenge(server->list) : NULL;
  TideHttpPage page = {status, "text/plain; charset=utf-8", g_strconcat(refusals[refusal].answer, "\n", NULL)};
  return write_answer(page, challenge != NULL ? challenge : refusals[refusal].headers);
}

/* @bytes: a complete head. */
static Refusal
judge_request(TideHttpServer *server, TideBytes bytes, gint64 now_us, TideRequestHead *ret_head)
{
  static const Refusal refusal_of[] = {
      [TIDE_ACCESS_GRANTED] = REFUSAL_NONE,
      [TIDE_ACCESS_MISSING] = REFUSAL_NO_CREDENTIALS,
      [TIDE_ACCESS_WRONG] = REFUSAL_WRONG_CREDENTIALS,
      [TIDE_ACCESS_TOO_OFTEN] = REFUSAL_TOO_MANY_TRIES,
  };
  if (!tide_request_head_parse(bytes, ret_head))
    return REFUSAL_BAD_REQUEST;
  if (server->only_local_names && ret_head->host.data != NULL && !tide_request_host_is_local(ret_head->host))
    return REFUSAL_OTHER_HOST;
  TideAccess access = TIDE_ACCESS_GRANTED;
  if (server->list != NULL)
    access = tide_access_list_judge(server->list, ret_head->authorization, now_us);
  if (access != TIDE_ACCESS_GRANTED)
    return refusal_of[access];
  gboolean is_known_method = tide_bytes_equal(ret_head->method, TIDE_BYTES_LITERAL("HEAD")) ||
                             tide_bytes_equal(ret_head->method, TIDE_BYTES_LITERAL("GET"));
  return is_known_method ? REFUSAL_NONE : REFUSAL_METHOD;
}

/* ---- steps of a connection; FALSE when it is over ---- */

static gboolean
step_lingering(Connection *it)
{
  guint8 rest[4096];
  gssize n = 1;
  for (guint i = 0; i < READS_AT_ONCE && n > 0; i++)
    n = recv(it->fd, rest, sizeof rest, 0);
  it->events = POLLIN;
  return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

static gboolean
step_writing(Connection *it, gint64 now_us)
{
  while (it->sent < it->answer->len) {
    gssize n = send_bytes(it, it->answer->str + it->sent, it->answer->len - it->sent);
    if (n <= 0)
      return n == TIDE_TLS_WAITS;
    it->sent += (gsize)n;
  }
  g_clear_pointer(&it->tls, tide_tls_session_free);
  (void)shutdown(it->fd, SHUT_WR);
  it->state = CONNECTION_LINGERING;
  it->deadline_us = MIN(it->deadline_us, now_us + LINGER_US);
  return step_lingering(it);
}

static gboolean
begin_answer(Connection *it, GString *answer, gint64 now_us)
{
  if (it->head_len >= strlen("HEAD ") && memcmp(it->head, "HEAD ", strlen("HEAD ")) == 0)
    g_string_truncate(answer, (gsize)(strstr(answer->str, "\r\n\r\n") + 4 - answer->str));
  it->answer = answer;
  it->state = CONNECTION_WRITING;
  explicit_bzero(it->head, sizeof it->head);
  return step_writing(it, now_us);
}

static gboolean
end_reading(TideHttpServer *server, Connection *it, gssize n, gint64 now_us)
{
  if (n == TIDE_TLS_WAITS)
    return TRUE;
  if (it->tls == NULL || tide_tls_session_is_safe(it->tls))
    return FALSE;
  count_refusal(server, it, REFUSAL_TLS, now_us);
  if (!tide_tls_session_met_http(it->tls))
    return FALSE;
  /* Plain HTTP arrived at a TLS port: answer in plain text, so that a browser or scraper shows the reason. */
  g_clear_pointer(&it->tls, tide_tls_session_free);
  return begin_answer(it, write_refusal(server, REFUSAL_TLS), now_us);
}

static gboolean
step_reading(TideHttpServer *server, Connection *it, gint64 now_us)
{
  Refusal refusal = REFUSAL_LONG_HEAD;
  TideRequestHead head;
  for (gsize len = 0; len == 0 && it->head_len < sizeof it->head;) {
    gssize n = receive(it, it->head + it->head_len, sizeof it->head - it->head_len);
    if (n <= 0)
      return end_reading(server, it, n, now_us);
    it->head_len += (gsize)n;
    len = tide_request_head_len(tide_bytes(it->head, it->head_len));
    if (len > 0)
      refusal = judge_request(server, tide_bytes(it->head, len), now_us, &head);
  }
  if (refusal == REFUSAL_NONE)
    return begin_answer(it, write_answer(server->render(server->data, head.path), ""), now_us);
  count_refusal(server, it, refusal, now_us);
  return begin_answer(it, write_refusal(server, refusal), now_us);
}

/* ---- newcomers ---- */

/* Closes a connection to make room for one of @network, and returns its slot; NULL: there are none. */
static Connection *
evict(TideHttpServer *server, guint64 network, gint64 now_us)
{
  TideEvictionSlot slots[TIDE_HTTP_MAX_CONNECTIONS];
  for (guint i = 0; i < TIDE_HTTP_MAX_CONNECTIONS; i++)
    slots[i] = server->connections[i].slot;
  guint chosen = tide_eviction_choose(slots, TIDE_HTTP_MAX_CONNECTIONS, network);
  if (chosen == TIDE_HTTP_MAX_CONNECTIONS)
    return NULL;
  Connection *it = &server->connections[chosen];
  if (it->state != CONNECTION_LINGERING)
    count_refusal(server, it, REFUSAL_DISPLACED, now_us);
  close_connection(it);
  return it;
}

/* As an IPv6 address; all zero for a Unix socket. */
static struct in6_addr
address_of_peer(const struct sockaddr_storage *from)
{
  struct in6_addr peer = IN6ADDR_ANY_INIT;
  if (from->ss_family == AF_INET6)
    return ((const struct sockaddr_in6 *)(const void *)from)->sin6_addr;
  if (from->ss_family != AF_INET)
    return peer;
  peer.s6_addr[10] = peer.s6_addr[11] = 0xff;
  memcpy(peer.s6_addr + 12, &((const struct sockaddr_in *)(const void *)from)->sin_addr, 4);
  return peer;
}

static void
take_slot(TideHttpServer *server, int fd, struct in6_addr peer, gint64 now_us)
{
  guint64 network = tide_eviction_network(&peer);
  Connection *it = NULL;
  for (guint i = 0; i < TIDE_HTTP_MAX_CONNECTIONS && it == NULL; i++)
    if (server->connections[i].state == CONNECTION_FREE)
      it = &server->connections[i];
  if (it == NULL)
    it = evict(server, network, now_us);
  it->fd = fd;
  it->peer = peer;
  it->slot = (TideEvictionSlot){.number = ++server->n_accepted, .network = network};
  it->deadline_us = now_us + server->exchange_us;
  it->events = POLLIN;
  it->tls = server->tls != NULL ? tide_tls_session_new(server->tls, fd) : NULL;
  it->state = CONNECTION_READING;
}

static void
accept_some(TideHttpServer *server, gint64 now_us)
{
  refresh_files(server, now_us);
  for (guint i = 0; i < ACCEPTS_AT_ONCE; i++) {
    struct sockaddr_storage from = {0};
    socklen_t from_bytes = sizeof from;
    int fd = accept4(server->listener.fd, (struct sockaddr *)&from, &from_bytes, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd >= 0) {
      take_slot(server, fd, address_of_peer(&from), now_us);
      continue;
    }
    /* If no descriptor is left, another connection's is taken or awaited. After the first accept there may be no
     * waiting client, because descriptors are checked first. */
    gboolean is_short = errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS;
    if (i == 0 && is_short && evict(server, TIDE_EVICTION_NO_NETWORK, now_us) == NULL)
      server->accept_us = now_us + ACCEPT_PAUSE_US;
    return;
  }
}

/* ---- the thread ---- */

#define N_POLLED (TIDE_HTTP_MAX_CONNECTIONS + 2)

/* Returns the maximum wait in milliseconds; -1: for ever. */
static int
fill_polled(const TideHttpServer *server, struct pollfd *polled, gint64 now_us)
{
  gint64 next_us = server->accept_us > now_us ? server->accept_us : G_MAXINT64;
  for (guint i = 0; i < TIDE_HTTP_MAX_CONNECTIONS; i++) {
    const Connection *it = &server->connections[i];
    gboolean is_open = it->state != CONNECTION_FREE;
    polled[i] = (struct pollfd){.fd = is_open ? it->fd : -1, .events = it->events};
    if (is_open)
      next_us = MIN(next_us, it->deadline_us);
  }
  polled[TIDE_HTTP_MAX_CONNECTIONS] =
      (struct pollfd){.fd = server->accept_us > now_us ? -1 : server->listener.fd, .events = POLLIN};
  polled[TIDE_HTTP_MAX_CONNECTIONS + 1] = (struct pollfd){.fd = server->stop_fd, .events = POLLIN};
  return next_us == G_MAXINT64 ? -1 : (int)(MAX(next_us - now_us, 0) / TIDE_US_PER_MS + 1);
}

static void
serve(TideHttpServer *server, Connection *it, gboolean is_due, gint64 now_us)
{
  gboolean is_late = now_us >= it->deadline_us, goes_on = !is_late;
  if (it->state == CONNECTION_FREE)
    return;
  if (is_late && it->state != CONNECTION_LINGERING)
    count_refusal(server, it, REFUSAL_TOO_SLOW, now_us);
  if (goes_on && is_due)
    goes_on = it->state == CONNECTION_READING   ? step_reading(server, it, now_us)
              : it->state == CONNECTION_WRITING ? step_writing(it, now_us)
                                                : step_lingering(it);
  if (!goes_on)
    close_connection(it);
}

/* The owner function of "tide-http". */
static void
run_server(gpointer data)
{
  TideHttpServer *server = data;
  struct pollfd polled[N_POLLED];
  for (;;) {
    int timeout_ms = fill_polled(server, polled, tide_now_us());
    if (poll(polled, N_POLLED, timeout_ms) < 0)
      continue; /* only EINTR is possible */
    if (polled[N_POLLED - 1].revents != 0)
      return;
    gint64 now_us = tide_now_us();
    for (guint i = 0; i < TIDE_HTTP_MAX_CONNECTIONS; i++)
      serve(server, &server->connections[i], polled[i].revents != 0, now_us);
    if (polled[TIDE_HTTP_MAX_CONNECTIONS].revents != 0)
      accept_some(server, now_us);
  }
}

static gboolean
set_up(TideHttpServer *server, const TideHttpServerOptions *options, GError **error)
{
  if (options->tls != NULL && (server->tls = tide_server_tls_new(options->tls, error)) == NULL)
    return FALSE;
  if (!read_users(server, error) || !tide_listen_socket_open(&options->listen, &server->listener, error))
    return FALSE;
  if (server->listener.fd < 0)
    return TRUE;
  server->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (server->stop_fd >= 0)
    return TRUE;
  return tide_fail(error, TIDE_ERROR_UNAVAILABLE, "cannot serve HTTP on '%s': %s", options->listen.text,
                   g_strerror(errno));
}

gboolean
tide_http_server_start(const TideHttpServerOptions *options, TideHttpServer **ret_server, GError **error)
{
  g_autoptr(TideHttpServer) server = g_new0(TideHttpServer, 1);
  server->listener.fd = -1;
  server->stop_fd = -1;
  server->users = options->users;
  server->render = options->render;
  server->data = options->data;
  server->exchange_us = options->exchange_us != 0 ? options->exchange_us : EXCHANGE_US;
  /* On an address of this host that needs no credentials and no TLS, any web page could make a local browser send
   * requests. */
  TideListenAddress address;
  server->only_local_names = options->users == NULL && options->tls == NULL &&
                             tide_listen_address_parse(options->listen.text, &address, NULL) &&
                             address.address.ss_family != AF_UNIX && tide_listen_address_is_local(&address);
  *ret_server = NULL;
  if (!set_up(server, options, error))
    return FALSE;
  if (server->listener.fd < 0)
    return TRUE;
  for (guint i = REFUSAL_NONE + 1; i < N_REFUSALS; i++) {
    g_autofree char *label = tide_metrics_label("reason", refusals[i].reason);
    server->refused[i] =
        tide_metrics_counter(options->metrics, "tidemark_http_requests_refused_total", "Rejected HTTP requests", label);
  }
  server->certificate_end =
      tide_metrics_gauge_unknown(options->metrics, "tidemark_http_certificate_expiry_timestamp_seconds",
                                 "Expiry time of the HTTP server's certificate; with TLS only", NULL);
  show_certificate_end(server);
  server->thread = tide_thread_start("tide-http", run_server, server);
  *ret_server = g_steal_pointer(&server);
  return TRUE;
}

void
tide_http_server_stop(TideHttpServer *server)
{
  if (server == NULL)
    return;
  if (server->thread != NULL) {
    (void)eventfd_write(server->stop_fd, 1);
    tide_thread_join(server->thread);
  }
  for (guint i = 0; i < TIDE_HTTP_MAX_CONNECTIONS; i++)
    if (server->connections[i].state != CONNECTION_FREE)
      close_connection(&server->connections[i]);
  tide_listen_socket_close(&server->listener);
  if (server->stop_fd >= 0)
    close(server->stop_fd);
  tide_server_tls_free(server->tls);
  tide_access_list_free(server->list);
  g_free(server);
}

guint16
tide_http_server_port(const TideHttpServer *server)
{
  return server != NULL ? tide_listen_socket_port(&server->listener) : 0;
}
