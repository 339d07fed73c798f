/* Explains why a TLS connection failed, in a sentence that names what to change. */
#pragma once

#include "thrift/client/endpoint.h"
#include "util/bytes.h"

#include <openssl/ssl.h>

G_BEGIN_DECLS

/* The first problem found in the peer's certificate chain. */
typedef struct TideTlsRefusal {
  int reason;        /* an X509_V_ERR_*; X509_V_OK: nothing */
  X509 *certificate; /* owned: the certificate with the problem */
} TideTlsRefusal;

/* Call from a verify callback: records in @refusal what is wrong with the peer's chain, because OpenSSL itself forgets
 * the certificate. */
void tide_tls_refusal_note(TideTlsRefusal *refusal, int is_good, X509_STORE_CTX *store);

/* Takes the error that OpenSSL queued after a failed handshake or read, and empties the queue. @refusal: our check of
 * the peer's chain. @peer_began: the peer's first bytes, as far as received. Returns (transfer full): WRONG_SERVICE if
 * either side must be reconfigured; CONNECTION_LOST for temporary problems. */
GError *tide_tls_failure_take(const TideEndpoint *endpoint, const TideTlsRefusal *refusal, TideBytes peer_began);

/* The name that the peer's certificate must have. */
const char *tide_tls_server_name(const TideEndpoint *endpoint);

/* Makes OpenSSL check that the certificate is for @name, a host or an address. FALSE: no certificate can have this
 * name. */
gboolean tide_tls_expect_name(X509_VERIFY_PARAM *param, const char *name) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
