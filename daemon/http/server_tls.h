/* TLS for HTTP clients: our certificate, which is read again when its files change, and the bytes of a connection. No
 * call blocks: it returns the events to wait for. */
#pragma once

#include "thrift/client/link_settings.h"

G_BEGIN_DECLS

typedef struct TideServerTls TideServerTls;

/**
 * tide_server_tls_new: TLS 1.2 or later, with the certificate and key of @settings.
 * @settings: borrowed; its other members are not used
 * Errors: CONFIG. Ownership: (transfer full).
 */
TideServerTls *tide_server_tls_new(const TideTlsSettings *settings, GError **error) G_GNUC_WARN_UNUSED_RESULT;
void tide_server_tls_free(TideServerTls *tls); /* NULL ok; open connections continue */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideServerTls, tide_server_tls_free)

/* Reads changed files. FALSE, with CONFIG, if they cannot be used: the previous certificate stays in use. */
gboolean tide_server_tls_refresh(TideServerTls *tls, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Expiry of the certificate, in seconds since the epoch; 0 if it has none. */
gint64 tide_server_tls_end_s(const TideServerTls *tls);

typedef struct TideTlsSession TideTlsSession; /* one connection */

TideTlsSession *tide_tls_session_new(const TideServerTls *tls, int fd); /* @fd: borrowed, non-blocking */
void tide_tls_session_free(TideTlsSession *session);                    /* NULL ok; sends a closing alert if possible */

#define TIDE_TLS_WAITS -1 /* poll() for ret_events */
#define TIDE_TLS_BROKEN -2

/* As recv() and send(), with the two values above instead of -1. The first call does the handshake. */
gssize tide_tls_session_receive(TideTlsSession *session, void *bytes, gsize len, short *ret_events);
gssize tide_tls_session_send(TideTlsSession *session, const void *bytes, gsize len, short *ret_events);

/* FALSE until the handshake is complete. */
gboolean tide_tls_session_is_safe(const TideTlsSession *session);

/* TRUE if the client sent a plain HTTP request instead of TLS. */
gboolean tide_tls_session_met_http(const TideTlsSession *session);

G_END_DECLS
