/* One HTTP connection to a gateway, by libcurl: a POST after the other, each under the deadline of its call.
 *
 * libcurl gets one connected socket and never another. So it cannot repeat a request by itself over a new connection,
 * as it would where the peer had closed the old one: whether such a request was carried out is not known, and what may
 * be repeated is decided above. It follows no redirects, and no proxy of the environment's. Threads: one at a time. */
#pragma once

#include "thrift/client/stream.h"
#include "util/bytes.h"

#include <curl/curl.h>

G_BEGIN_DECLS

/* Status lines and headers of an answer, those of interim ones and trailers too. */
#define TIDE_HTTP_HEAD_MAX_BYTES (64u << 10)

typedef struct TideHttpExchange TideHttpExchange;

/* What is behind the gateway's address. All borrowed for the exchange's life. */
typedef struct TideHttpTarget {
  const char *scheme; /* "http" or "https" */
  const char *host;   /* in the request, and what a certificate must be for */
  guint16 port;
  const char *path; /* begins with '/' */
  /* Of https: called with each new SSL_CTX; what it fails with is told instead of libcurl's words. */
  CURLcode (*set_up_tls)(gpointer ssl_context, gpointer data);
  gpointer data;
} TideHttpTarget;

/* @socket: (transfer full): connected, non-blocking. @body: borrowed: where answers go; the caller empties it.
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

/* Hands all of the request to libcurl, and with it to the kernel but for a last piece. Errors: CONNECT: nothing was
 * sent; TIMEOUT, CONNECTION_LOST, CANCELLED: how much was is not known. An early answer is no error. */
gboolean tide_http_exchange_send(TideHttpExchange *exchange, const TideHttpRequest *request,
                                 const TideCallLimits *limits, GError **error) G_GNUC_WARN_UNUSED_RESULT;

typedef struct TideHttpAnswer {
  guint status;
  const char *negotiate; /* borrowed until the next send: the token of "WWW-Authenticate: Negotiate"; NULL: none */
  gboolean is_cut;       /* its body had no end, or was too long: only its begin is there */
} TideHttpAnswer;

/* Waits for the whole answer, whose body is in the buffer then. Errors: TIMEOUT, CONNECTION_LOST, CANCELLED; PROTOCOL
 * for what is too long; WRONG_SERVICE for what is no HTTP; CONNECT where nothing was sent. */
gboolean tide_http_exchange_receive(TideHttpExchange *exchange, const TideCallLimits *limits,
                                    TideHttpAnswer *ret_answer, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* TRUE when another request may be sent: the peer has neither closed nor sent anything that nobody asked for. */
gboolean tide_http_exchange_is_ready(const TideHttpExchange *exchange);

G_END_DECLS
