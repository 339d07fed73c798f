/* TLS of an HTTP connection: libcurl shakes hands, but with whom we trust, who we are and what is said of a failure is
 * as in tls_stream.h. */
#pragma once

#include "thrift/client/stream.h"
#include "thrift/client/tls_failure.h"

#include <curl/curl.h>

G_BEGIN_DECLS

typedef struct TideHttpTls {
  const TideEndpoint *endpoint; /* borrowed */
  TideTlsRefusal refusal;
  int alert; /* that the peer ended the connection with; -1: none */
  gboolean has_shaken_hands;
  gboolean has_answered; /* set by the user of it */
  GError *failure;       /* owned: of our own files */
  TideCertificateEnds ends;
} TideHttpTls;

void tide_http_tls_init(TideHttpTls *tls, const TideEndpoint *endpoint);
void tide_http_tls_clear(TideHttpTls *tls);

/* @ssl_context: an SSL_CTX of libcurl's. @data: a TideHttpTls. */
CURLcode tide_http_tls_set_up(gpointer ssl_context, gpointer data);

/* Puts what must be configured otherwise in the place of @failure, where TLS has found that. */
void tide_http_tls_explain(TideHttpTls *tls, GError **failure);

G_END_DECLS
