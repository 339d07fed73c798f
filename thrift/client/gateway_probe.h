/* Finds out what a port speaks: framed or unframed, compact or binary, thrift2 or another service.
 *
 * Thrift has no negotiation, so each mode is tried on its own connection with a deadline of 1 s, starting with unframed
 * binary (the gateway's default). A connection cannot be reused: a framed request makes an unframed gateway wait for
 * ever. If no mode is understood, requests in SASL, HTTP and TLS identify servers of those protocols. */
#pragma once

#include "thrift/client/hbase_client.h"

#include <gio/gio.h>

G_BEGIN_DECLS

/* Fixed by the operator; -1: detect. */
typedef struct TideProbeRequest {
  int framing;  /* TideFraming or -1 */
  int protocol; /* TideWireProtocol or -1 */
} TideProbeRequest;

/* Other facts that a probe learned about a gateway. */
typedef struct TideGatewayFacts {
  char *link; /* owned (nullable): as tide_hbase_client_describe_link() */
  TideCertificateEnds ends;
  char *cluster; /* owned (nullable): the id of its cluster, as tide_client_cluster() */
} TideGatewayFacts;

void tide_gateway_facts_clear(TideGatewayFacts *facts);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(TideGatewayFacts, tide_gateway_facts_clear)

/**
 * tide_gateway_probe: detect the mode of @endpoint.
 * @cancellable: ends it early; may be NULL
 * @ret_facts: may be NULL; all zero on failure
 * Errors: CONNECT (connection refused, unknown host, or a proxy that accepts and closes at once), WRONG_SERVICE (one
 * plain sentence: a thrift1 gateway, a SASL port, an HTTP port, a TLS port, another service, or a mode that differs
 * from the fixed one), TIMEOUT (the peer accepts but never answers), CANCELLED. Threads: any. Blocks: at most 7 times
 * the probe timeout, and 20 times more for requests that the gateway passes on to HBase.
 */
gboolean tide_gateway_probe(const TideEndpoint *endpoint, TideProbeRequest request, gint64 probe_timeout_ms,
                            GCancellable *cancellable, TideWireMode *ret_mode, TideGatewayFacts *ret_facts,
                            GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
