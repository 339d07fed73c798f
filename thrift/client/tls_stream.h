/* TLS over a socket or any other stream. OpenSSL encrypts between two buffers, whose bytes are sent and received as
 * plain bytes under the same deadline. The peer's certificate and its name are always checked. */
#pragma once

#include "thrift/client/stream.h"

G_BEGIN_DECLS

extern const TideStreamKind tide_tls_stream;

/* "3.0.19": the version of the library in use. */
const char *tide_tls_version(void);

G_END_DECLS
