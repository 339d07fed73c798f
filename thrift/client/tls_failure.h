/* Why a TLS connection did not come about, in a sentence that names what must be changed. */
#pragma once

#include "thrift/client/endpoint.h"
#include "util/bytes.h"

#include <openssl/ssl.h>

G_BEGIN_DECLS

/* What the check of the peer's chain found first. */
typedef struct TideTlsRefusal {
  int reason;        /* an X509_V_ERR_*; X509_V_OK: nothing */
  X509 *certificate; /* owned: the one that it is about */
} TideTlsRefusal;

/* From a verify callback: keeps in @refusal what is wrong with the peer's chain, because OpenSSL itself forgets the
 * certificate. */
void tide_tls_refusal_note(TideTlsRefusal *refusal, int is_good, X509_STORE_CTX *store);

/* The error that OpenSSL has queued after the handshake, or a read, has failed; empties the queue.
 * @refusal: of the peer's chain, by us
 * @peer_began: what the peer's first bytes were, as far as they came
 * Returns: (transfer full): WRONG_SERVICE where either side must be configured anew; CONNECTION_LOST for what may pass.
 */
GError *tide_tls_failure_take(const TideEndpoint *endpoint, const TideTlsRefusal *refusal, TideBytes peer_began);

/* What the peer's certificate must be for. */
const char *tide_tls_server_name(const TideEndpoint *endpoint);

/* Has OpenSSL check that it is for @name, a host or an address. FALSE: no certificate can be. */
gboolean tide_tls_expect_name(X509_VERIFY_PARAM *param, const char *name) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
