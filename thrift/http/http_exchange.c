#include "thrift/http/http_exchange.h"

#include "util/clock.h"
#include "util/error.h"

#include <string.h>

/* Bytes that libcurl reads, or takes from the parts, at a time. */
#define PIECE_BYTES (64u << 10)

/* Limit of an answer that is not a reply: only its error text is used. */
#define ERROR_PAGE_MAX_BYTES (64u << 10)

/* Time limit for the rest of such an answer: the status alone shows that the call has failed. */
#define ERROR_PAGE_MAX_US (1 * TIDE_US_PER_S)

/* Progress of the request in libcurl. */
typedef struct Sending {
  const TideHttpRequest *request; /* NULL: its parts may be freed */
  struct curl_slist *headers;     /* owned */
  gsize part, part_offset;        /* the next bytes to send */
  gsize left_bytes;               /* still to be sent */
  gboolean any_taken;
  gboolean is_under_way; /* easy is in multi */
  gboolean is_done;      /* libcurl has finished; see result */
  CURLcode result;
} Sending;

/* The part of its answer received so far. */
typedef struct Receiving {
  gsize head_bytes;
  gint64 page_deadline_us; /* deadline for the rest of an error page, once its header has arrived; 0: no error page */
  char *negotiate;         /* owned */
  gboolean is_head_too_long, is_body_too_long;
} Receiving;

struct TideHttpExchange {
  /* set before use, then read-only */
  TideHttpTarget target;
  GSocket *socket;  /* owned */
  CURLM *multi;     /* owned */
  CURL *easy;       /* owned */
  TideBuffer *body; /* borrowed */
  gsize max_body_bytes;
  struct curl_slist *addresses; /* owned: replaces libcurl's lookup */
  /* of the connection */
  gboolean was_taken; /* libcurl has the socket */
  gboolean is_closed; /* libcurl has closed it */
  /* of the current or last request */
  Sending sending;
  Receiving receiving;
  char problem[CURL_ERROR_SIZE]; /* libcurl's text for its failure */
};

/* ---- libcurl's callbacks ---- */

static curl_socket_t
give_socket(void *data, curlsocktype purpose, struct curl_sockaddr *address)
{
  TideHttpExchange *exchange = data;
  if (exchange->was_taken)
    return CURL_SOCKET_BAD;
  exchange->was_taken = TRUE;
  return g_socket_get_fd(exchange->socket);
}

/* libcurl 7.88 connects nevertheless: right after a non-blocking connect, Linux reports success for the second one,
 * whatever its address. */
static int
report_connected(void *data, curl_socket_t fd, curlsocktype purpose)
{
  return CURL_SOCKOPT_ALREADY_CONNECTED;
}

/* The descriptor stays open until the exchange is freed, so that its number is not reused. */
static int
note_closed(void *data, curl_socket_t fd)
{
  ((TideHttpExchange *)data)->is_closed = TRUE;
  return 0;
}

static size_t
take_parts(char *buffer, size_t size, size_t n, void *data)
{
  Sending *sending = &((TideHttpExchange *)data)->sending;
  const TideHttpRequest *request = sending->request;
  gsize room = size * n, taken = 0;
  sending->any_taken = TRUE;
  while (taken < room && request != NULL && sending->part < request->n_parts) {
    TideBytes part = request->parts[sending->part];
    gsize len = MIN(part.len - sending->part_offset, room - taken);
    if (len > 0)
      memcpy(buffer + taken, part.data + sending->part_offset, len);
    taken += len;
    sending->left_bytes -= len;
    sending->part_offset += len;
    if (sending->part_offset < part.len)
      break;
    sending->part++;
    sending->part_offset = 0;
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
    exchange->receiving.is_body_too_long = TRUE;
    return 0;
  }
  tide_buffer_append(exchange->body, bytes, len);
  return len;
}

/* A line of the header or the trailer: unchanged, with its line end. */
static size_t
handle_header_line(char *bytes, size_t size, size_t n, void *data)
{
  static const char wanted[] = "WWW-Authenticate:", scheme[] = "Negotiate ";
  TideHttpExchange *exchange = data;
  Receiving *receiving = &exchange->receiving;
  gsize len = size * n;
  receiving->head_bytes += len;
  if (receiving->head_bytes > TIDE_HTTP_HEAD_MAX_BYTES) {
    receiving->is_head_too_long = TRUE;
    return 0;
  }
  if (status_of(exchange) >= 300 && receiving->page_deadline_us == 0 && bytes[0] == '\r')
    receiving->page_deadline_us = tide_now_us() + ERROR_PAGE_MAX_US;
  if (len < sizeof wanted - 1 || g_ascii_strncasecmp(bytes, wanted, sizeof wanted - 1) != 0)
    return len;
  g_autofree char *value = g_strndup(bytes + sizeof wanted - 1, len - (sizeof wanted - 1));
  g_strstrip(value);
  if (g_ascii_strncasecmp(value, scheme, sizeof scheme - 1) == 0) {
    g_free(receiving->negotiate);
    receiving->negotiate = g_strdup(g_strchug(value + sizeof scheme - 1));
  }
  return len;
}

static CURLcode
set_up_tls(CURL *easy, void *ssl_context, void *data)
{
  TideHttpExchange *exchange = data;
  return exchange->target.set_up_tls(ssl_context, exchange->target.data);
}

/* ---- lifetime ---- */

#define SET(option, value) (void)curl_easy_setopt(exchange->easy, option, value)

/* Sets every option explicitly, regardless of the environment and libcurl's defaults. */
static void
set_rules(TideHttpExchange *exchange)
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
  SET(CURLOPT_MAXAGE_CONN, 24L * 60 * 60);          /* the caller watches its age */
  SET(CURLOPT_CONNECTTIMEOUT_MS, (long)G_MAXINT32); /* and deadlines: libcurl's own default is 300 s */
  SET(CURLOPT_BUFFERSIZE, (long)PIECE_BYTES);
  SET(CURLOPT_UPLOAD_BUFFERSIZE, (long)PIECE_BYTES);
  SET(CURLOPT_POST, 1L);
  SET(CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
  SET(CURLOPT_SSL_VERIFYPEER, 1L);
  SET(CURLOPT_SSL_VERIFYHOST, 2L);
  SET(CURLOPT_SSL_SESSIONID_CACHE, 0L);
  SET(CURLOPT_SSL_ENABLE_ALPN, 0L);
  SET(CURLOPT_CAINFO, NULL); /* set_up_tls() sets the trusted authorities */
  SET(CURLOPT_CAPATH, NULL);
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
  g_assert(exchange->multi != NULL && exchange->easy != NULL); /* treated like an allocation failure */
  set_rules(exchange);

  SET(CURLOPT_OPENSOCKETFUNCTION, give_socket);
  SET(CURLOPT_OPENSOCKETDATA, exchange);
  SET(CURLOPT_SOCKOPTFUNCTION, report_connected);
  SET(CURLOPT_CLOSESOCKETFUNCTION, note_closed);
  SET(CURLOPT_CLOSESOCKETDATA, exchange);
  SET(CURLOPT_READFUNCTION, take_parts);
  SET(CURLOPT_READDATA, exchange);
  SET(CURLOPT_WRITEFUNCTION, keep_body);
  SET(CURLOPT_WRITEDATA, exchange);
  SET(CURLOPT_HEADERFUNCTION, handle_header_line);
  SET(CURLOPT_HEADERDATA, exchange);
  SET(CURLOPT_ERRORBUFFER, exchange->problem);
  if (target->set_up_tls != NULL) {
    SET(CURLOPT_SSL_CTX_FUNCTION, set_up_tls);
    SET(CURLOPT_SSL_CTX_DATA, exchange);
  }

  gboolean is_v6 = strchr(target->host, ':') != NULL;
  g_autofree char *url = g_strdup_printf("%s://%s%s%s:%u%s", target->scheme, is_v6 ? "[" : "", target->host,
                                         is_v6 ? "]" : "", target->port, target->path);
  SET(CURLOPT_URL, url);
  if (!g_hostname_is_ip_address(target->host)) {
    /* The socket is already connected: any address works if it needs no lookup. */
    g_autofree char *address = g_strdup_printf("%s:%u:127.0.0.1", target->host, target->port);
    exchange->addresses = curl_slist_append(NULL, address);
    SET(CURLOPT_RESOLVE, exchange->addresses);
  }
  return exchange;
}

static void
end_request(TideHttpExchange *exchange)
{
  Sending *sending = &exchange->sending;
  if (sending->is_under_way)
    (void)curl_multi_remove_handle(exchange->multi, exchange->easy);
  sending->is_under_way = FALSE;
  sending->request = NULL;
  g_clear_pointer(&sending->headers, curl_slist_free_all);
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
  g_free(exchange->receiving.negotiate);
  g_object_unref(exchange->socket);
  g_free(exchange);
}

/* ---- errors ---- */

/* TRUE if any of the request was, or may have been, passed to the kernel: libcurl requests the body when the connection
 * is ready for it. */
static gboolean
any_was_sent(const TideHttpExchange *exchange)
{
  long sent_bytes = 0;
  (void)curl_easy_getinfo(exchange->easy, CURLINFO_REQUEST_SIZE, &sent_bytes);
  return sent_bytes > 0 || exchange->sending.any_taken;
}

/* CURLE_TOO_LARGE of libcurl 8.6 and later, which has a bound of its own for the number of headers. */
#define TOO_LARGE ((CURLcode)100)

/* The request ended without an answer. Always fails. */
static gboolean
set_failure(const TideHttpExchange *exchange, const TideCallLimits *limits, GError **error)
{
  CURLcode result = exchange->sending.result;
  /* libcurl's text may quote bytes from the peer. */
  const char *words = exchange->problem[0] != '\0' ? exchange->problem : curl_easy_strerror(result);
  g_autofree char *problem = tide_bytes_printable(tide_bytes_of_string(words));
  if (exchange->receiving.is_head_too_long)
    return tide_fail(error, TIDE_ERROR_PROTOCOL, "gateway '%s' sent more than %u KiB of HTTP headers", limits->peer,
                     TIDE_HTTP_HEAD_MAX_BYTES >> 10);
  if (exchange->receiving.is_body_too_long)
    return tide_fail(error, TIDE_ERROR_PROTOCOL, "gateway '%s' sent a reply of more than %" G_GSIZE_FORMAT " MiB",
                     limits->peer, exchange->max_body_bytes >> 20);
  if (result == TOO_LARGE)
    return tide_fail(error, TIDE_ERROR_PROTOCOL, "gateway '%s' sent more HTTP headers than tidemark accepts: %s",
                     limits->peer, problem);
  if (result == CURLE_UNSUPPORTED_PROTOCOL || result == CURLE_WEIRD_SERVER_REPLY)
    return tide_fail(error, TIDE_ERROR_WRONG_SERVICE,
                     "gateway '%s' does not answer in HTTP (%s): it is another service's port, a gateway with TLS "
                     "('https://'), or a gateway set to plain Thrift ('thrift://')",
                     limits->peer, problem);
  if (!any_was_sent(exchange))
    return tide_fail(error, TIDE_ERROR_CONNECT, "cannot connect to gateway '%s': %s", limits->peer, problem);
  return tide_fail(error, TIDE_ERROR_CONNECTION_LOST,
                   "the connection to gateway '%s' broke before the answer, after %" G_GINT64_FORMAT " ms: %s",
                   limits->peer, tide_call_elapsed_ms(limits), problem);
}

/* ---- a request and its answer ---- */

static gint64
deadline_of(const TideHttpExchange *exchange, const TideCallLimits *limits)
{
  gint64 page_deadline_us = exchange->receiving.page_deadline_us;
  return page_deadline_us > 0 ? MIN(page_deadline_us, limits->deadline_us) : limits->deadline_us;
}

static gboolean
wait_for_io(const TideHttpExchange *exchange, const TideCallLimits *limits, GError **error)
{
  gint64 left_us = deadline_of(exchange, limits) - tide_now_us();
  if (left_us <= 0) {
    gboolean any_sent = any_was_sent(exchange);
    return tide_fail(error, any_sent ? TIDE_ERROR_TIMEOUT : TIDE_ERROR_CONNECT,
                     !any_sent ? "gateway '%s' was not ready for a request within %" G_GINT64_FORMAT " ms"
                     : exchange->sending.left_bytes > 0
                         ? "gateway '%s' did not accept the request within %" G_GINT64_FORMAT " ms"
                         : "gateway '%s' did not answer within %" G_GINT64_FORMAT " ms",
                     limits->peer, tide_call_elapsed_ms(limits));
  }
  GPollFD cancel;
  gboolean can_cancel = g_cancellable_make_pollfd(limits->cancellable, &cancel);
  struct curl_waitfd wake = {.fd = cancel.fd, .events = CURL_WAIT_POLLIN};
  gint64 left_ms = MIN((left_us + TIDE_US_PER_MS - 1) / TIDE_US_PER_MS, G_MAXINT32);
  (void)curl_multi_poll(exchange->multi, &wake, can_cancel ? 1 : 0, (int)left_ms, NULL);
  if (can_cancel)
    g_cancellable_release_fd(limits->cancellable);
  return !g_cancellable_is_cancelled(limits->cancellable) ||
         tide_fail(error, TIDE_ERROR_CANCELLED, "the calls to gateway '%s' were cancelled", limits->peer);
}

/* Runs until libcurl has finished, or, with @only_send, until it has consumed the request. */
static gboolean
run_transfer(TideHttpExchange *exchange, gboolean only_send, const TideCallLimits *limits, GError **error)
{
  Sending *sending = &exchange->sending;
  for (;;) {
    int n_running, n_left;
    CURLMcode code = curl_multi_perform(exchange->multi, &n_running);
    g_assert(code == CURLM_OK); /* all other codes report a misused handle or a failed allocation */
    const CURLMsg *message = curl_multi_info_read(exchange->multi, &n_left);
    if (message != NULL && message->msg == CURLMSG_DONE) {
      sending->result = message->data.result;
      sending->is_done = TRUE;
    }
    if (sending->is_done || (only_send && sending->left_bytes == 0))
      return TRUE;
    /* An error whose page does not end in time is still an error. */
    if (exchange->receiving.page_deadline_us > 0 && tide_now_us() >= deadline_of(exchange, limits)) {
      sending->result = CURLE_OPERATION_TIMEDOUT;
      sending->is_done = TRUE;
      return TRUE;
    }
    if (!wait_for_io(exchange, limits, error))
      return FALSE;
  }
}

static void
begin_request(TideHttpExchange *exchange, const TideHttpRequest *request)
{
  end_request(exchange);
  g_free(exchange->receiving.negotiate);
  exchange->receiving = (Receiving){0};
  exchange->sending = (Sending){.request = request, .left_bytes = request->total_bytes};
  exchange->problem[0] = '\0';
  struct curl_slist *headers = curl_slist_append(NULL, "Expect:"); /* send without waiting for "100 Continue" */
  for (const char *const *header = request->headers; header != NULL && *header != NULL; header++)
    headers = curl_slist_append(headers, *header);
  exchange->sending.headers = headers;
  SET(CURLOPT_HTTPHEADER, headers);
  SET(CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->total_bytes);
  CURLMcode code = curl_multi_add_handle(exchange->multi, exchange->easy);
  g_assert(code == CURLM_OK);
  exchange->sending.is_under_way = TRUE;
}

gboolean
tide_http_exchange_send(TideHttpExchange *exchange, const TideHttpRequest *request, const TideCallLimits *limits,
                        GError **error)
{
  begin_request(exchange, request);
  gboolean sent = run_transfer(exchange, TRUE, limits, error);
  exchange->sending.request = NULL;
  if (!sent)
    end_request(exchange);
  return sent;
}

gboolean
tide_http_exchange_receive(TideHttpExchange *exchange, const TideCallLimits *limits, TideHttpAnswer *ret_answer,
                           GError **error)
{
  gboolean went_on = exchange->sending.is_done || run_transfer(exchange, FALSE, limits, error);
  end_request(exchange);
  if (!went_on)
    return FALSE;
  guint status = status_of(exchange);
  gboolean is_cut = exchange->sending.result != CURLE_OK;
  /* On an error, only the HTTP status matters, even if the body was truncated. */
  if (is_cut && (status < 300 || exchange->receiving.is_head_too_long))
    return set_failure(exchange, limits, error);
  *ret_answer = (TideHttpAnswer){.status = status, .negotiate = exchange->receiving.negotiate, .is_cut = is_cut};
  return TRUE;
}

gboolean
tide_http_exchange_is_ready(const TideHttpExchange *exchange)
{
  return !exchange->is_closed && g_socket_condition_check(exchange->socket, G_IO_IN) == 0;
}
