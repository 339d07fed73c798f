#include "thrift/http/http_exchange.h"

#include "util/clock.h"
#include "util/error.h"

#include <string.h>

/* As many bytes libcurl reads, or takes from the parts, at a time. */
#define PIECE_BYTES (64u << 10)

/* An answer that is no reply is only looked at for what it says of the error. */
#define ERROR_PAGE_MAX_BYTES (64u << 10)

/* Nor is it waited for any longer: the status alone says that the call has failed. */
#define ERROR_PAGE_MAX_US (1 * TIDE_US_PER_S)

struct TideHttpExchange {
  /* set before use, then read-only */
  TideHttpTarget target;
  GSocket *socket;  /* owned */
  CURLM *multi;     /* owned */
  CURL *easy;       /* owned; in multi while a request is under way */
  TideBuffer *body; /* borrowed */
  gsize max_body_bytes;
  struct curl_slist *addresses; /* owned: what spares libcurl a look-up */
  /* of the connection */
  gboolean was_taken; /* libcurl has the socket */
  gboolean is_closed; /* libcurl is done with it */
  /* of the request under way */
  struct curl_slist *headers; /* owned */
  const TideHttpRequest *request;
  gsize part, part_offset; /* what is to be taken next */
  gsize left_bytes;        /* to be taken */
  gboolean any_taken;
  gboolean is_under_way;
  gboolean is_done; /* libcurl is; result says how */
  CURLcode result;
  /* of its answer */
  gsize head_bytes;
  gint64 page_deadline_us; /* the head of an error is there, and for so long its page may take; 0: not so */
  char *negotiate;         /* owned */
  gboolean is_head_too_long, is_body_too_long;
  char problem[CURL_ERROR_SIZE];
};

/* ---- what libcurl asks for ---- */

static curl_socket_t
give_socket(void *data, curlsocktype purpose, struct curl_sockaddr *address)
{
  TideHttpExchange *exchange = data;
  if (exchange->was_taken)
    return CURL_SOCKET_BAD;
  exchange->was_taken = TRUE;
  return g_socket_get_fd(exchange->socket);
}

/* libcurl 7.88 connects all the same: where a non-blocking connect has just come about, Linux says to the second one
 * that it has, wherever that one goes. */
static int
say_connected(void *data, curl_socket_t fd, curlsocktype purpose)
{
  return CURL_SOCKOPT_ALREADY_CONNECTED;
}

/* The descriptor stays open until the exchange is freed, so that nobody else is given its number. */
static int
note_closed(void *data, curl_socket_t fd)
{
  ((TideHttpExchange *)data)->is_closed = TRUE;
  return 0;
}

static size_t
take_parts(char *buffer, size_t size, size_t n, void *data)
{
  TideHttpExchange *exchange = data;
  const TideHttpRequest *request = exchange->request;
  gsize room = size * n, taken = 0;
  exchange->any_taken = TRUE;
  while (taken < room && request != NULL && exchange->part < request->n_parts) {
    TideBytes part = request->parts[exchange->part];
    gsize len = MIN(part.len - exchange->part_offset, room - taken);
    if (len > 0)
      memcpy(buffer + taken, part.data + exchange->part_offset, len);
    taken += len;
    exchange->left_bytes -= len;
    exchange->part_offset += len;
    if (exchange->part_offset < part.len)
      break;
    exchange->part++;
    exchange->part_offset = 0;
  }
  return taken;
}

static guint
status_of(const TideHttpExchange *exchange)
{
  long status = 0;
  (void)curl_easy_getinfo(exchange->easy, CURLINFO_RESPONSE_CODE, &status);
  return (guint)status;
}

static size_t
keep_body(char *bytes, size_t size, size_t n, void *data)
{
  TideHttpExchange *exchange = data;
  gsize len = size * n;
  gsize limit = status_of(exchange) == 200 ? exchange->max_body_bytes : ERROR_PAGE_MAX_BYTES;
  if (len > limit - exchange->body->len) {
    exchange->is_body_too_long = TRUE;
    return 0;
  }
  tide_buffer_append(exchange->body, bytes, len);
  return len;
}

/* A line of the head, or of the trailer: as it came, with its end. */
static size_t
look_at_header(char *bytes, size_t size, size_t n, void *data)
{
  static const char wanted[] = "WWW-Authenticate:", scheme[] = "Negotiate ";
  TideHttpExchange *exchange = data;
  gsize len = size * n;
  exchange->head_bytes += len;
  if (exchange->head_bytes > TIDE_HTTP_HEAD_MAX_BYTES) {
    exchange->is_head_too_long = TRUE;
    return 0;
  }
  if (status_of(exchange) >= 300 && exchange->page_deadline_us == 0 && bytes[0] == '\r')
    exchange->page_deadline_us = tide_now_us() + ERROR_PAGE_MAX_US;
  if (len < sizeof wanted - 1 || g_ascii_strncasecmp(bytes, wanted, sizeof wanted - 1) != 0)
    return len;
  g_autofree char *value = g_strndup(bytes + sizeof wanted - 1, len - (sizeof wanted - 1));
  g_strstrip(value);
  if (g_ascii_strncasecmp(value, scheme, sizeof scheme - 1) == 0) {
    g_free(exchange->negotiate);
    exchange->negotiate = g_strdup(g_strchug(value + sizeof scheme - 1));
  }
  return len;
}

static CURLcode
set_up_tls(CURL *easy, void *ssl_context, void *data)
{
  TideHttpExchange *exchange = data;
  return exchange->target.set_up_tls(ssl_context, exchange->target.data);
}

/* ---- life ---- */

#define SET(option, value) (void)curl_easy_setopt(exchange->easy, option, value)

static void
set_callbacks(TideHttpExchange *exchange)
{
  SET(CURLOPT_OPENSOCKETFUNCTION, give_socket);
  SET(CURLOPT_OPENSOCKETDATA, exchange);
  SET(CURLOPT_SOCKOPTFUNCTION, say_connected);
  SET(CURLOPT_CLOSESOCKETFUNCTION, note_closed);
  SET(CURLOPT_CLOSESOCKETDATA, exchange);
  SET(CURLOPT_READFUNCTION, take_parts);
  SET(CURLOPT_READDATA, exchange);
  SET(CURLOPT_WRITEFUNCTION, keep_body);
  SET(CURLOPT_WRITEDATA, exchange);
  SET(CURLOPT_HEADERFUNCTION, look_at_header);
  SET(CURLOPT_HEADERDATA, exchange);
  SET(CURLOPT_ERRORBUFFER, exchange->problem);
}

/* Nothing is left to the environment, or to what libcurl does by default. */
static void
set_manners(TideHttpExchange *exchange)
{
  SET(CURLOPT_PROTOCOLS_STR, "http,https");
  SET(CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
  SET(CURLOPT_HTTP09_ALLOWED, 0L);
  SET(CURLOPT_PROXY, "");
  SET(CURLOPT_FOLLOWLOCATION, 0L);
  SET(CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
  SET(CURLOPT_HTTPAUTH, CURLAUTH_NONE);
  SET(CURLOPT_NOSIGNAL, 1L);
  SET(CURLOPT_NOPROGRESS, 1L);
  SET(CURLOPT_MAXAGE_CONN, 24L * 60 * 60);          /* its age is watched above */
  SET(CURLOPT_CONNECTTIMEOUT_MS, (long)G_MAXINT32); /* as are deadlines: libcurl's own default is 300 s */
  SET(CURLOPT_BUFFERSIZE, (long)PIECE_BYTES);
  SET(CURLOPT_UPLOAD_BUFFERSIZE, (long)PIECE_BYTES);
  SET(CURLOPT_POST, 1L);
  SET(CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
  SET(CURLOPT_SSL_VERIFYPEER, 1L);
  SET(CURLOPT_SSL_VERIFYHOST, 2L);
  SET(CURLOPT_SSL_SESSIONID_CACHE, 0L);
  SET(CURLOPT_SSL_ENABLE_ALPN, 0L);
  SET(CURLOPT_CAINFO, NULL); /* set_up_tls() says whom we trust */
  SET(CURLOPT_CAPATH, NULL);
}

static void
set_address(TideHttpExchange *exchange)
{
  const TideHttpTarget *target = &exchange->target;
  gboolean is_v6 = strchr(target->host, ':') != NULL;
  g_autofree char *url = g_strdup_printf("%s://%s%s%s:%u%s", target->scheme, is_v6 ? "[" : "", target->host,
                                         is_v6 ? "]" : "", target->port, target->path);
  SET(CURLOPT_URL, url);
  if (g_hostname_is_ip_address(target->host))
    return;
  /* The socket is connected: any address does, as long as nobody looks for it. */
  g_autofree char *address = g_strdup_printf("%s:%u:127.0.0.1", target->host, target->port);
  exchange->addresses = curl_slist_append(NULL, address);
  SET(CURLOPT_RESOLVE, exchange->addresses);
}

TideHttpExchange *
tide_http_exchange_new(const TideHttpTarget *target, GSocket *socket, TideBuffer *body, gsize max_body_bytes)
{
  TideHttpExchange *exchange = g_new0(TideHttpExchange, 1);
  exchange->target = *target;
  exchange->socket = socket;
  exchange->body = body;
  exchange->max_body_bytes = max_body_bytes;
  exchange->multi = curl_multi_init();
  exchange->easy = curl_easy_init();
  g_assert(exchange->multi != NULL && exchange->easy != NULL); /* as when memory is out */
  set_callbacks(exchange);
  set_manners(exchange);
  set_address(exchange);
  if (target->set_up_tls != NULL) {
    SET(CURLOPT_SSL_CTX_FUNCTION, set_up_tls);
    SET(CURLOPT_SSL_CTX_DATA, exchange);
  }
  return exchange;
}

static void
end_request(TideHttpExchange *exchange)
{
  if (exchange->is_under_way)
    (void)curl_multi_remove_handle(exchange->multi, exchange->easy);
  exchange->is_under_way = FALSE;
  exchange->request = NULL;
  g_clear_pointer(&exchange->headers, curl_slist_free_all);
}

void
tide_http_exchange_free(TideHttpExchange *exchange)
{
  if (exchange == NULL)
    return;
  end_request(exchange);
  curl_easy_cleanup(exchange->easy);
  (void)curl_multi_cleanup(exchange->multi);
  curl_slist_free_all(exchange->addresses);
  g_free(exchange->negotiate);
  g_object_unref(exchange->socket);
  g_free(exchange);
}

/* ---- errors ---- */

/* Whether any of the request has been given to the kernel, or may have been: libcurl asks for the body when the
 * connection is ready for it. */
static gboolean
any_was_sent(const TideHttpExchange *exchange)
{
  long sent_bytes = 0;
  (void)curl_easy_getinfo(exchange->easy, CURLINFO_REQUEST_SIZE, &sent_bytes);
  return sent_bytes > 0 || exchange->any_taken;
}

static gint64
elapsed_ms(const TideCallLimits *limits)
{
  return (tide_now_us() - limits->started_us) / TIDE_US_PER_MS;
}

/* libcurl's words; they may quote what the peer sent. (transfer full) */
static char *
problem_text(const TideHttpExchange *exchange)
{
  const char *words = exchange->problem[0] != '\0' ? exchange->problem : curl_easy_strerror(exchange->result);
  return tide_bytes_printable(tide_bytes_of_string(words));
}

/* The request has come to an end that is none of an answer's. Always fails. */
static gboolean
set_failure(const TideHttpExchange *exchange, const TideCallLimits *limits, GError **error)
{
  g_autofree char *problem = problem_text(exchange);
  if (exchange->is_head_too_long)
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_PROTOCOL, "gateway '%s' sent more than %u KiB of HTTP headers",
                limits->peer, TIDE_HTTP_HEAD_MAX_BYTES >> 10);
  else if (exchange->is_body_too_long)
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_PROTOCOL,
                "gateway '%s' sent a reply of more than %" G_GSIZE_FORMAT " MiB", limits->peer,
                exchange->max_body_bytes >> 20);
  else if (exchange->result == CURLE_UNSUPPORTED_PROTOCOL || exchange->result == CURLE_WEIRD_SERVER_REPLY)
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_WRONG_SERVICE,
                "gateway '%s' does not answer in HTTP (%s): it is another service's port, or a gateway behind TLS "
                "('https://') or set to plain Thrift ('thrift://')",
                limits->peer, problem);
  else if (!any_was_sent(exchange))
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_CONNECT, "cannot connect to gateway '%s': %s", limits->peer, problem);
  else
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_CONNECTION_LOST,
                "the connection to gateway '%s' broke before it had answered, after %" G_GINT64_FORMAT " ms: %s",
                limits->peer, elapsed_ms(limits), problem);
  return FALSE;
}

static gboolean
set_timed_out(const TideHttpExchange *exchange, const TideCallLimits *limits, GError **error)
{
  gboolean any_sent = any_was_sent(exchange);
  g_set_error(error, TIDE_ERROR, any_sent ? TIDE_ERROR_TIMEOUT : TIDE_ERROR_CONNECT,
              !any_sent                  ? "gateway '%s' did not get ready for a request within %" G_GINT64_FORMAT " ms"
              : exchange->left_bytes > 0 ? "gateway '%s' did not take the request within %" G_GINT64_FORMAT " ms"
                                         : "gateway '%s' gave no answer within %" G_GINT64_FORMAT " ms",
              limits->peer, elapsed_ms(limits));
  return FALSE;
}

/* ---- a request and its answer ---- */

static gint64
deadline_of(const TideHttpExchange *exchange, const TideCallLimits *limits)
{
  return exchange->page_deadline_us > 0 ? MIN(exchange->page_deadline_us, limits->deadline_us) : limits->deadline_us;
}

/* An error whose page does not end in time is an error all the same. */
static gboolean
end_late_page(TideHttpExchange *exchange, const TideCallLimits *limits)
{
  if (exchange->page_deadline_us == 0 || tide_now_us() < deadline_of(exchange, limits))
    return FALSE;
  exchange->result = CURLE_OPERATION_TIMEDOUT;
  return exchange->is_done = TRUE;
}

static gboolean
wait_for_io(const TideHttpExchange *exchange, const TideCallLimits *limits, GError **error)
{
  gint64 left_us = deadline_of(exchange, limits) - tide_now_us();
  if (left_us <= 0)
    return set_timed_out(exchange, limits, error);
  GPollFD cancel;
  gboolean can_cancel = g_cancellable_make_pollfd(limits->cancellable, &cancel);
  struct curl_waitfd wake = {.fd = cancel.fd, .events = CURL_WAIT_POLLIN};
  gint64 left_ms = MIN((left_us + TIDE_US_PER_MS - 1) / TIDE_US_PER_MS, G_MAXINT32);
  (void)curl_multi_poll(exchange->multi, &wake, can_cancel ? 1 : 0, (int)left_ms, NULL);
  if (can_cancel)
    g_cancellable_release_fd(limits->cancellable);
  if (!g_cancellable_is_cancelled(limits->cancellable))
    return TRUE;
  g_set_error(error, TIDE_ERROR, TIDE_ERROR_CANCELLED, "the calls to gateway '%s' were cancelled", limits->peer);
  return FALSE;
}

static void
note_result(TideHttpExchange *exchange)
{
  int n_left;
  const CURLMsg *message = curl_multi_info_read(exchange->multi, &n_left);
  if (message == NULL || message->msg != CURLMSG_DONE)
    return;
  exchange->result = message->data.result;
  exchange->is_done = TRUE;
}

/* Until libcurl has done all, or, if only that is wanted, has taken the whole request. */
static gboolean
go_on(TideHttpExchange *exchange, gboolean only_send, const TideCallLimits *limits, GError **error)
{
  for (;;) {
    int n_running;
    CURLMcode code = curl_multi_perform(exchange->multi, &n_running);
    g_assert(code == CURLM_OK); /* all others are of a handle misused, or of memory that is out */
    note_result(exchange);
    if (exchange->is_done || (only_send && exchange->left_bytes == 0) || end_late_page(exchange, limits))
      return TRUE;
    if (!wait_for_io(exchange, limits, error))
      return FALSE;
  }
}

static void
begin_request(TideHttpExchange *exchange, const TideHttpRequest *request)
{
  end_request(exchange);
  exchange->request = request;
  exchange->part = exchange->part_offset = 0;
  exchange->left_bytes = request->total_bytes;
  exchange->any_taken = FALSE;
  exchange->is_done = FALSE;
  exchange->head_bytes = 0;
  exchange->page_deadline_us = 0;
  exchange->is_head_too_long = exchange->is_body_too_long = FALSE;
  exchange->problem[0] = '\0';
  g_clear_pointer(&exchange->negotiate, g_free);
  exchange->headers = curl_slist_append(NULL, "Expect:"); /* no wait for leave to send */
  for (const char *const *header = request->headers; header != NULL && *header != NULL; header++)
    exchange->headers = curl_slist_append(exchange->headers, *header);
  SET(CURLOPT_HTTPHEADER, exchange->headers);
  SET(CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->total_bytes);
  CURLMcode code = curl_multi_add_handle(exchange->multi, exchange->easy);
  g_assert(code == CURLM_OK);
  exchange->is_under_way = TRUE;
}

gboolean
tide_http_exchange_send(TideHttpExchange *exchange, const TideHttpRequest *request, const TideCallLimits *limits,
                        GError **error)
{
  begin_request(exchange, request);
  gboolean sent = go_on(exchange, TRUE, limits, error);
  exchange->request = NULL;
  if (!sent)
    end_request(exchange);
  return sent;
}

gboolean
tide_http_exchange_receive(TideHttpExchange *exchange, const TideCallLimits *limits, TideHttpAnswer *ret_answer,
                           GError **error)
{
  gboolean went_on = exchange->is_done || go_on(exchange, FALSE, limits, error);
  end_request(exchange);
  if (!went_on)
    return FALSE;
  guint status = status_of(exchange);
  /* Of an error the status is what counts, however its page ended. */
  gboolean is_error = status >= 300 && !exchange->is_head_too_long;
  if (exchange->result != CURLE_OK && !is_error)
    return set_failure(exchange, limits, error);
  *ret_answer =
      (TideHttpAnswer){.status = status, .negotiate = exchange->negotiate, .is_cut = exchange->result != CURLE_OK};
  return TRUE;
}

gboolean
tide_http_exchange_is_ready(const TideHttpExchange *exchange)
{
  return !exchange->is_closed && g_socket_condition_check(exchange->socket, G_IO_IN) == 0;
}
