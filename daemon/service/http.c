#define _GNU_SOURCE
#include "service/http.h"

#include "util/error.h"
#include "util/listen_address.h"

#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

/* Two Prometheus servers, a probe or two and a person at once; more is no one we know. */
#define MAX_CONNECTIONS 16U
#define MAX_CONNECTIONS_PER_ADDRESS 8U
#define IDLE_TIMEOUT_S 5U
/* A request's head and a response's; the metrics' text is outside of it. */
#define CONNECTION_MEMORY_BYTES ((size_t)16384)
#define BACKLOG 16

#define TEXT_PLAIN "text/plain; charset=utf-8"
/* The form's name as Prometheus asks for it in Accept:. */
#define TEXT_METRICS "text/plain; version=0.0.4; charset=utf-8"

struct TideHttp {
  /* set before start, then read-only */
  char *(*render_metrics)(gpointer data);
  gboolean (*ready)(gpointer data, char **ret_reason);
  gboolean (*healthy)(gpointer data, char **ret_reason);
  gpointer data;
  guint16 port;
  struct MHD_Daemon *daemon; /* owned */
};

/* What is answered. */
typedef struct Page {
  guint status;
  const char *content_type;
  char *body; /* owned */
} Page;

static Page
metrics_page(TideHttp *http)
{
  return (Page){MHD_HTTP_OK, TEXT_METRICS, http->render_metrics(http->data)};
}

static Page
state_page(gboolean is_good, const char *good_word, char *reason)
{
  if (is_good) {
    g_free(reason);
    return (Page){MHD_HTTP_OK, TEXT_PLAIN, g_strconcat(good_word, "\n", NULL)};
  }
  char *body = g_strconcat(reason != NULL ? reason : "no reason is known", "\n", NULL);
  g_free(reason);
  return (Page){MHD_HTTP_SERVICE_UNAVAILABLE, TEXT_PLAIN, body};
}

static Page
ready_page(TideHttp *http)
{
  char *reason = NULL;
  gboolean is_ready = http->ready(http->data, &reason);
  return state_page(is_ready, "ready", reason);
}

static Page
health_page(TideHttp *http)
{
  char *reason = NULL;
  gboolean is_healthy = http->healthy(http->data, &reason);
  return state_page(is_healthy, "healthy", reason);
}

static Page
index_page(TideHttp *http G_GNUC_UNUSED)
{
  return (Page){MHD_HTTP_OK, TEXT_PLAIN,
                g_strdup("tidemark\n\n"
                         "/metrics  counters, gauges and histograms, for Prometheus\n"
                         "/healthz  200 while the process works\n"
                         "/readyz   200 while readings are taken and written; 503 and the reason otherwise\n")};
}

static const struct {
  const char *path;
  Page (*render)(TideHttp *http);
} pages[] = {
    {"/", index_page},
    {"/metrics", metrics_page},
    {"/healthz", health_page},
    {"/readyz", ready_page},
};

static Page
page_for(TideHttp *http, const char *method, const char *path)
{
  if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
    return (Page){MHD_HTTP_METHOD_NOT_ALLOWED, TEXT_PLAIN, g_strdup("only GET and HEAD\n")};
  for (gsize i = 0; i < G_N_ELEMENTS(pages); i++)
    if (strcmp(pages[i].path, path) == 0)
      return pages[i].render(http);
  return (Page){MHD_HTTP_NOT_FOUND, TEXT_PLAIN, g_strdup("not found; / lists what there is\n")};
}

/* Answers at the head of the request already: a body is not waited for, and the connection is closed after
 * it. */
static enum MHD_Result
answer(void *data, struct MHD_Connection *connection, const char *path, const char *method,
       const char *version G_GNUC_UNUSED, const char *upload G_GNUC_UNUSED, size_t *upload_size G_GNUC_UNUSED,
       void **request_data G_GNUC_UNUSED)
{
  Page page = page_for(data, method, path);
  struct MHD_Response *response =
      MHD_create_response_from_buffer_with_free_callback(strlen(page.body), page.body, g_free);
  if (response == NULL) {
    g_free(page.body);
    return MHD_NO;
  }
  MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, page.content_type);
  MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
  if (page.status == MHD_HTTP_METHOD_NOT_ALLOWED)
    MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
  enum MHD_Result result = MHD_queue_response(connection, page.status, response);
  MHD_destroy_response(response);
  return result;
}

static gboolean
refuse_address(const TideHttpOptions *options, TideErrorCode code, int error_number, GError **error)
{
  const char *option = options->option != NULL ? options->option : "the address";
  const char *remedy = "choose another address for";
  if (error_number == EADDRINUSE)
    remedy = "another process has it; stop that one, or choose another port in";
  else if (error_number == EACCES)
    remedy = "ports below 1024 need a privilege; choose a higher one in";
  else if (error_number == EADDRNOTAVAIL)
    remedy = "no interface of this host has that address; correct";
  g_set_error(error, TIDE_ERROR, code, "cannot serve HTTP on '%s': %s; %s '%s'", options->listen,
              g_strerror(error_number), remedy, option);
  return FALSE;
}

/* Our own socket rather than libmicrohttpd's, for the reason why it cannot be had. */
static int
listen_on(const TideListenAddress *address)
{
  int fd = socket(address->address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0)
    return -1;
  int yes = 1; /* a restart need not wait for the last one's connections to be forgotten */
  if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0 &&
      bind(fd, (const struct sockaddr *)&address->address, address->address_bytes) == 0 && listen(fd, BACKLOG) == 0)
    return fd;
  int error_number = errno;
  close(fd);
  errno = error_number;
  return -1;
}

static guint16
port_of(int fd)
{
  struct sockaddr_storage address = {0};
  socklen_t address_bytes = sizeof address;
  if (getsockname(fd, (struct sockaddr *)&address, &address_bytes) != 0)
    return 0;
  if (address.ss_family == AF_INET6)
    return ntohs(((const struct sockaddr_in6 *)(const void *)&address)->sin6_port);
  return ntohs(((const struct sockaddr_in *)(const void *)&address)->sin_port);
}

/* With all signals blocked, which its thread inherits: the main thread owns signals. */
static struct MHD_Daemon *
start_daemon(TideHttp *http, int fd)
{
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  struct MHD_Daemon *daemon =
      MHD_start_daemon(MHD_USE_AUTO_INTERNAL_THREAD, 0, NULL, NULL, answer, http, MHD_OPTION_LISTEN_SOCKET, fd,
                       MHD_OPTION_CONNECTION_LIMIT, MAX_CONNECTIONS, MHD_OPTION_PER_IP_CONNECTION_LIMIT,
                       MAX_CONNECTIONS_PER_ADDRESS, MHD_OPTION_CONNECTION_TIMEOUT, IDLE_TIMEOUT_S,
                       MHD_OPTION_CONNECTION_MEMORY_LIMIT, CONNECTION_MEMORY_BYTES, MHD_OPTION_END);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return daemon;
}

static gboolean
parse_address(const TideHttpOptions *options, TideListenAddress *ret_address, GError **error)
{
  if (tide_listen_address_parse(options->listen, ret_address, error))
    return TRUE;
  if (options->option != NULL)
    g_prefix_error(error, "'%s': ", options->option);
  return FALSE;
}

gboolean
tide_http_try(const char *listen, const char *option, GError **error)
{
  TideHttpOptions options = {.listen = listen, .option = option};
  TideListenAddress address;
  if (!parse_address(&options, &address, error))
    return FALSE;
  if (address.is_off)
    return TRUE;
  int fd = listen_on(&address);
  if (fd < 0)
    return refuse_address(&options, errno == EADDRINUSE ? TIDE_ERROR_IN_USE : TIDE_ERROR_UNAVAILABLE, errno, error);
  close(fd);
  return TRUE;
}

gboolean
tide_http_start(const TideHttpOptions *options, TideHttp **ret_http, GError **error)
{
  TideListenAddress address;
  if (!parse_address(options, &address, error))
    return FALSE;
  if (address.is_off) {
    *ret_http = NULL;
    return TRUE;
  }

  int fd = listen_on(&address);
  if (fd < 0)
    return refuse_address(options, TIDE_ERROR_UNAVAILABLE, errno, error);

  g_autoptr(TideHttp) http = g_new0(TideHttp, 1);
  http->render_metrics = options->render_metrics;
  http->ready = options->ready;
  http->healthy = options->healthy;
  http->data = options->data;
  http->port = port_of(fd);
  http->daemon = start_daemon(http, fd); /* closes the socket when it stops */
  if (http->daemon == NULL) {
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_UNAVAILABLE,
                "cannot serve HTTP on '%s': libmicrohttpd did not start: too few threads, files or memory",
                options->listen);
    return FALSE;
  }
  *ret_http = g_steal_pointer(&http);
  return TRUE;
}

void
tide_http_stop(TideHttp *http)
{
  if (http == NULL)
    return;
  if (http->daemon != NULL)
    MHD_stop_daemon(http->daemon);
  g_free(http);
}

guint16
tide_http_port(const TideHttp *http)
{
  return http != NULL ? http->port : 0;
}
