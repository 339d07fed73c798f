/* TLS over a socket, or over any other stream: OpenSSL encrypts between two buffers, and what is in them goes the way
 * of plain bytes, under the same deadline. The peer's certificate and its name are always checked. */
#pragma once

#include "thrift/client/stream.h"

G_BEGIN_DECLS

extern const TideStreamKind tide_tls_stream;

/* "3.0.19", of the library that runs. */
const char *tide_tls_version(void);

G_END_DECLS
