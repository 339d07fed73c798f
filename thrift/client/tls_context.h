/* The settings of a new TLS connection: trusted authorities and our own identity. Created for each connection, so that
 * replaced files take effect. */
#pragma once

#include "thrift/client/link_settings.h"

#include <openssl/ssl.h>

G_BEGIN_DECLS

/**
 * tide_tls_context_new: TLS 1.2 or later; the peer's certificate is required, and tidemark's is sent if configured.
 * @settings: (nullable): NULL means that nothing is set
 * Errors: CONFIG. Ownership: (transfer full), SSL_CTX_free.
 */
SSL_CTX *tide_tls_context_new(const TideTlsSettings *settings, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The same for an existing context. */
gboolean tide_tls_context_set_up(SSL_CTX *context, const TideTlsSettings *settings,
                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* For connections that clients open: identifies us by @settings and accepts any client. @settings: must have a
 * certificate. Otherwise as above. */
SSL_CTX *tide_tls_server_context_new(const TideTlsSettings *settings, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* @option: "ca", "certificate" or "key". @error: borrowed; CONFIG. */
typedef void (*TideTlsFault)(const char *option, const GError *error, gpointer data);

/* Calls @fault for each file of @settings that would prevent a connection. */
void tide_tls_settings_check(const TideTlsSettings *settings, TideTlsFault fault, gpointer data);

/**
 * tide_tls_certificate_pin: the digest of the key of the first certificate in the file at @path, which identifies its
 * holder uniquely, in libcurl's form ("sha256//...").
 * Errors: CONFIG. Ownership: (transfer full).
 */
char *tide_tls_certificate_pin(const char *path, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Expiry of @certificate, in seconds since the epoch; 0 if it has none. @certificate: (nullable). */
gint64 tide_tls_certificate_end_s(const X509 *certificate);

G_END_DECLS
