/* One HTTP connection to a gateway by libcurl, which sends one POST after another, each under the deadline of its call.
 *
 * libcurl gets one connected socket and never another. So it cannot repeat a request over a new connection, as it would
 * after the peer closed the old one: the outcome of such a request is unknown, and the caller decides what may be
 * repeated. It follows no redirects and ignores the environment's proxies. Threads: one at a time. */
#pragma once

#include "thrift/client/stream.h"
#include "util/bytes.h"

#include <curl/curl.h>

G_BEGIN_DECLS

/* Limit of the status lines and headers of an answer, including interim ones and trailers. */
#define TIDE_HTTP_HEAD_MAX_BYTES (64u << 10)

typedef struct TideHttpExchange TideHttpExchange;

/* The destination at the gateway's address. All borrowed for the exchange's lifetime. */
typedef struct TideHttpTarget {
  const char *scheme; /* "http" or "https" */
  const char *host;   /* in the request, and the name required in the certificate */
  guint16 port;
  const char *path; /* begins with '/' */
  /* For https: called with each new SSL_CTX; its error is reported instead of libcurl's text. */
  CURLcode (*set_up_tls)(gpointer ssl_context, gpointer data);
  gpointer data;
} TideHttpTarget;

/* @socket: (transfer full): connected, non-blocking. @body: borrowed: receives answers; the caller empties it.
 * Call curl_global_init() before any thread. Ownership: (transfer full). */
TideHttpExchange *tide_http_exchange_new(const TideHttpTarget *target, GSocket *socket, TideBuffer *body,
                                         gsize max_body_bytes);
void tide_http_exchange_free(TideHttpExchange *exchange); /* closes; NULL ok */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideHttpExchange, tide_http_exchange_free)

typedef struct TideHttpRequest {
  const TideBytes *parts; /* the body; read until tide_http_exchange_send() returns */
  gsize n_parts;
  gsize total_bytes;
  const char *const *headers; /* "Name: value", NULL-terminated */
} TideHttpRequest;

/* Passes the whole request to libcurl, which sends all but a last piece to the kernel. Errors: CONNECT: nothing was
 * sent; TIMEOUT, CONNECTION_LOST, CANCELLED: an unknown part was sent. An early answer is not an error. */
gboolean tide_http_exchange_send(TideHttpExchange *exchange, const TideHttpRequest *request,
                                 const TideCallLimits *limits, GError **error) G_GNUC_WARN_UNUSED_RESULT;

typedef struct TideHttpAnswer {
  guint status;
  const char *negotiate; /* borrowed until the next send: the token of "WWW-Authenticate: Negotiate"; NULL: none */
  gboolean is_cut;       /* its body was truncated or too long: only the beginning is available */
} TideHttpAnswer;

/* Waits for the whole answer, whose body is then in the buffer. Errors: TIMEOUT, CONNECTION_LOST, CANCELLED; PROTOCOL
 * if it is too long; WRONG_SERVICE if it is not HTTP; CONNECT if nothing was sent. */
gboolean tide_http_exchange_receive(TideHttpExchange *exchange, const TideCallLimits *limits,
                                    TideHttpAnswer *ret_answer, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* TRUE when another request may be sent: the peer has neither closed the connection nor sent unexpected bytes. */
gboolean tide_http_exchange_is_ready(const TideHttpExchange *exchange);

G_END_DECLS
