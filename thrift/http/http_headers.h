/* The operator's own headers, added to each request to a gateway: a proxy or a hosted HBase may identify its clients by
 * them. They are secret. */
#pragma once

#include "util/secret_file.h"

#include <string.h>

G_BEGIN_DECLS

#define TIDE_HTTP_HEADERS_MAX 16

/* TRUE for a character of the names of methods and headers: RFC 9110's tchar. */
static inline gboolean
tide_http_is_name_byte(guint8 byte)
{
  return g_ascii_isalnum(byte) || (byte != '\0' && strchr("!#$%&'*+-.^_`|~", byte) != NULL);
}

/**
 * tide_http_headers_read: the lines "NAME: value" of @source, which is set. Empty lines are ignored.
 * Errors: CONFIG: those of tide_secret_read(); an invalid header line, or a header that the gateway's protocol
 * reserves; more than TIDE_HTTP_HEADERS_MAX headers, or none. No error shows the content of a line. Returns: (transfer
 * full): free with tide_http_headers_free().
 */
char **tide_http_headers_read(const TideSecretSource *source, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Overwrites and frees the headers; NULL ok. */
void tide_http_headers_free(char **headers);

G_END_DECLS
