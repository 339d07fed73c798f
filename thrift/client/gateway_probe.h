/* Finds out what a port speaks: framed or unframed, compact or binary, thrift2 or something else.
 *
 * Thrift has no negotiation, so each guess is tried on a connection of its own with a deadline of 1 s, unframed binary
 * (the gateway's default) first. A framed probe makes an unframed gateway wait for ever: hence a connection each. Where
 * no mode is understood, a question in SASL, one in HTTP and one in TLS tell their servers. */
#pragma once

#include "thrift/client/hbase_client.h"

#include <gio/gio.h>

G_BEGIN_DECLS

/* What the operator fixed; -1 where it is to be found out. */
typedef struct TideProbeRequest {
  int framing;  /* TideFraming or -1 */
  int protocol; /* TideWireProtocol or -1 */
} TideProbeRequest;

/* What else a probe learnt of a gateway. */
typedef struct TideGatewayFacts {
  char *link; /* owned (nullable): as tide_hbase_client_describe_link() */
  TideCertificateEnds ends;
  char *cluster; /* owned (nullable): the id of its cluster; NULL: as of tide_client_cluster() */
} TideGatewayFacts;

void tide_gateway_facts_clear(TideGatewayFacts *facts);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(TideGatewayFacts, tide_gateway_facts_clear)

/**
 * tide_gateway_probe: learn the mode of @endpoint.
 * @cancellable: ends it early; may be NULL
 * @ret_facts: may be NULL; all zero on failure
 * Errors: CONNECT (nobody listens, no such host, or a proxy that accepts and hangs up at once), WRONG_SERVICE (one
 * plain sentence: a thrift1 gateway, a SASL port, an HTTP port, a TLS port, another service, or another mode than the
 * one fixed), TIMEOUT (it accepts and never answers), CANCELLED. Threads: any. Blocks: until found, at most 7 times
 * @probe_timeout_ms, and 20 times more for the questions that the gateway passes on to HBase.
 */
gboolean tide_gateway_probe(const TideEndpoint *endpoint, TideProbeRequest request, gint64 probe_timeout_ms,
                            GCancellable *cancellable, TideWireMode *ret_mode, TideGatewayFacts *ret_facts,
                            GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
