/* TLS towards those who ask us: our certificate, read again when its files change, and a connection's bytes behind it.
 * Nothing here blocks: a call says what it waits for. */
#pragma once

#include "thrift/client/link_settings.h"

G_BEGIN_DECLS

typedef struct TideServerTls TideServerTls;

/**
 * tide_server_tls_new: TLS 1.2 or later, with the certificate and key of @settings.
 * @settings: borrowed; the rest of it is not used
 * Errors: CONFIG. Ownership: (transfer full).
 */
TideServerTls *tide_server_tls_new(const TideTlsSettings *settings, GError **error) G_GNUC_WARN_UNUSED_RESULT;
void tide_server_tls_free(TideServerTls *tls); /* NULL ok; connections live on */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideServerTls, tide_server_tls_free)

/* Reads files that have changed. FALSE, with CONFIG, where they cannot be used: what was read before goes on. */
gboolean tide_server_tls_refresh(TideServerTls *tls, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* When the certificate ends, in seconds since the epoch; 0 when it does not say. */
gint64 tide_server_tls_end_s(const TideServerTls *tls);

typedef struct TideTlsSession TideTlsSession; /* one connection */

TideTlsSession *tide_tls_session_new(const TideServerTls *tls, int fd); /* @fd: borrowed, non-blocking */
void tide_tls_session_free(TideTlsSession *session); /* NULL ok; says goodbye where that is possible */

#define TIDE_TLS_WAITS -1 /* for what poll() is told with ret_events */
#define TIDE_TLS_BROKEN -2

/* As recv() and send(), with the two values above in place of -1. The first one shakes hands. */
gssize tide_tls_session_receive(TideTlsSession *session, void *bytes, gsize len, short *ret_events);
gssize tide_tls_session_send(TideTlsSession *session, const void *bytes, gsize len, short *ret_events);

/* FALSE until both sides have shaken hands. */
gboolean tide_tls_session_is_safe(const TideTlsSession *session);

/* What came instead of TLS was a request in plain HTTP. */
gboolean tide_tls_session_met_http(const TideTlsSession *session);

G_END_DECLS
