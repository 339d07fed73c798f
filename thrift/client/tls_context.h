/* What a TLS connection is begun with: whom we trust, and who we are. Made anew for each connection, so that files that
 * were replaced meanwhile count. */
#pragma once

#include "thrift/client/link_settings.h"

#include <openssl/ssl.h>

G_BEGIN_DECLS

/**
 * tide_tls_context_new: TLS 1.2 or later, the peer's certificate required, ours where there is one.
 * @settings: (nullable): NULL is nothing set
 * Errors: CONFIG. Ownership: (transfer full), SSL_CTX_free.
 */
SSL_CTX *tide_tls_context_new(const TideTlsSettings *settings, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The same for a context that somebody else has made. */
gboolean tide_tls_context_set_up(SSL_CTX *context, const TideTlsSettings *settings,
                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* For connections that others begin: who we are by @settings, whoever they are. @settings: have a certificate. As above
 * otherwise. */
SSL_CTX *tide_tls_server_context_new(const TideTlsSettings *settings, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* @option: "ca", "certificate" or "key". @error: borrowed; CONFIG. */
typedef void (*TideTlsFault)(const char *option, const GError *error, gpointer data);

/* Calls @fault for each file of @settings with which no connection could be begun. */
void tide_tls_settings_check(const TideTlsSettings *settings, TideTlsFault fault, gpointer data);

/**
 * tide_tls_certificate_pin: by what the holder of the first certificate in the file at @path is known, and nobody else:
 * the digest of its key, in libcurl's form ("sha256//...").
 * Errors: CONFIG. Ownership: (transfer full).
 */
char *tide_tls_certificate_pin(const char *path, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* When @certificate ends, in seconds since the epoch; 0 when it does not say. @certificate: (nullable). */
gint64 tide_tls_certificate_end_s(const X509 *certificate);

G_END_DECLS
