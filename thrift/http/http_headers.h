/* Headers of the operator's own, which each request to a gateway bears: a proxy or a hosted HBase may know its clients
 * by them. They are a secret. */
#pragma once

#include "util/secret_file.h"

G_BEGIN_DECLS

#define TIDE_HTTP_HEADERS_MAX 16

/**
 * tide_http_headers_read: the lines "NAME: value" of @source, which is set. Empty lines count for nothing.
 * Errors: CONFIG: those of tide_secret_read(); a line that is no header, or is one that the gateway's protocol needs
 * for itself; more than TIDE_HTTP_HEADERS_MAX, or none. No error shows what a line holds. Returns: (transfer full):
 * free with tide_http_headers_free().
 */
char **tide_http_headers_read(const TideSecretSource *source, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Overwrites, then frees; NULL ok. */
void tide_http_headers_free(char **headers);

G_END_DECLS
