/* The address and the protocol of a gateway: "host:port", "[v6]:port", "unix:/path", or a URL such as
 * "thrift+tls://host:port" or "https://host:port/path". */
#pragma once

#include "thrift/client/link_settings.h"

G_BEGIN_DECLS

typedef struct TideStreamKind TideStreamKind;     /* stream.h */
typedef struct TideMessageLayer TideMessageLayer; /* connection.h */

typedef struct TideEndpoint {
  char *host;      /* owned; NULL for a Unix socket */
  guint16 port;    /* 0 for a Unix socket */
  char *unix_path; /* owned; NULL for TCP; at most 107 bytes, the kernel's limit */
  char *path;      /* owned; begins with '/'; NULL except for HTTP */
  const TideStreamKind *stream;
  const TideMessageLayer *messages; /* NULL: the gateway's framing decides */
  const TideLinkSettings *settings; /* borrowed from the configuration; NULL: nothing is set */
  char *text;                       /* owned; as the operator wrote it: identifies the gateway in logs and metrics */
} TideEndpoint;

#define TIDE_GATEWAY_DEFAULT_PORT 9090 /* hbase.regionserver.thrift.port */

TideEndpoint *tide_endpoint_parse(const char *text, GError **error) G_GNUC_WARN_UNUSED_RESULT; /* TIDE_ERROR_CONFIG */
/* TRUE when the gateway requires SASL before the first call. */
static inline gboolean
tide_endpoint_has_sasl(const TideEndpoint *endpoint)
{
  return endpoint->settings != NULL && endpoint->settings->sasl.service != NULL;
}

TideEndpoint *tide_endpoint_copy(const TideEndpoint *endpoint);
void tide_endpoint_free(TideEndpoint *endpoint);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideEndpoint, tide_endpoint_free)

G_END_DECLS
