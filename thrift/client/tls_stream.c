#include "thrift/client/tls_stream.h"

#include "thrift/client/socket_stream.h"
#include "thrift/client/tls_context.h"
#include "thrift/client/tls_failure.h"
#include "util/clock.h"
#include "util/error.h"

#include <openssl/err.h>

#define RECORD_BYTES (16u << 10) /* maximum size of a TLS record */

/* Bytes sent or received by one system call: four records. */
#define NETWORK_BYTES (64u << 10)

/* A peer that refuses tidemark's certificate sends an alert and then resets the connection: time allowed for reading
 * that alert. */
#define LAST_ALERT_US (100 * TIDE_US_PER_MS)

/* Between two calls a peer may send session tickets or new keys. More receives than this are something else. */
#define QUIET_RECEIVES_MAX 4

#define BEGAN_BYTES 8

typedef struct TlsStream {
  TideStream stream;
  TideStream *below;            /* owned */
  const TideEndpoint *endpoint; /* borrowed */
  SSL *ssl;                     /* owned, and with it both buffers */
  BIO *incoming;                /* from the peer, encrypted */
  BIO *outgoing;                /* to the peer, encrypted */
  TideTlsRefusal refusal;
  gboolean has_failed;       /* ssl can no longer be used */
  gboolean has_accepted;     /* the peer has accepted our certificate: before TLS 1.3 the end of the handshake shows
                              * it */
  guint8 began[BEGAN_BYTES]; /* the first bytes from the peer */
  gsize began_len;
  guint8 network[NETWORK_BYTES];
} TlsStream;

G_DEFINE_AUTOPTR_CLEANUP_FUNC(SSL_CTX, SSL_CTX_free)

const char *
tide_tls_version(void)
{
  return OpenSSL_version(OPENSSL_VERSION_STRING);
}

static TlsStream *
self_of(TideStream *stream)
{
  return (TlsStream *)stream;
}

/* ---- the two buffers ---- */

/* Sends the encrypted bytes. */
static gboolean
send_outgoing(TlsStream *self, const TideCallLimits *limits, GError **error)
{
  char *bytes = NULL;
  long len = BIO_get_mem_data(self->outgoing, &bytes);
  if (len <= 0)
    return TRUE;
  GOutputVector vector = {bytes, (gsize)len};
  gboolean sent = tide_stream_send(self->below, &vector, 1, limits, error);
  (void)BIO_reset(self->outgoing);
  return sent;
}

/* Waits for more encrypted bytes. Bounded: the next SSL_*() consumes all of them. */
static gboolean
receive_incoming(TlsStream *self, const TideCallLimits *limits, GError **error)
{
  gsize got = tide_stream_receive(self->below, self->network, sizeof self->network, limits, error);
  if (got == 0)
    return FALSE;
  gsize wanted = MIN(sizeof self->began - self->began_len, got);
  memcpy(self->began + self->began_len, self->network, wanted);
  self->began_len += wanted;
  return BIO_write(self->incoming, self->network, (int)got) == (int)got; /* cannot fail: it only grows */
}

/* Always fails, with OpenSSL's reason. A peer that accepted our certificate may have accepted a request, too, whatever
 * alert it sends then. */
static gboolean
fail(TlsStream *self, GError **error)
{
  self->has_failed = TRUE;
  TideBytes began = tide_bytes(self->began, self->began_len);
  GError *failure = tide_tls_failure_take(self->endpoint, &self->refusal, began);
  if (self->has_accepted)
    failure->code = TIDE_ERROR_CONNECTION_LOST;
  g_propagate_error(error, failure);
  return FALSE;
}

/* ---- connecting ---- */

static int
check_certificate(int is_good, X509_STORE_CTX *store)
{
  SSL *ssl = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx());
  tide_tls_refusal_note(SSL_get_app_data(ssl), is_good, store);
  return is_good;
}

static gboolean
expect_name(TlsStream *self)
{
  g_autofree char *name = g_strdup(tide_tls_server_name(self->endpoint));
  if (strchr(name, '%') != NULL)
    *strchr(name, '%') = '\0'; /* a certificate never includes an interface */
  return tide_tls_expect_name(SSL_get0_param(self->ssl), name) &&
         (g_hostname_is_ip_address(name) || SSL_set_tlsext_host_name(self->ssl, name) == 1);
}

static gboolean
prepare(TlsStream *self, SSL_CTX *context, GError **error)
{
  self->ssl = SSL_new(context);
  self->incoming = BIO_new(BIO_s_mem());
  self->outgoing = BIO_new(BIO_s_mem());
  BIO_set_mem_eof_return(self->incoming, -1); /* empty means "wait", not "end" */
  BIO_set_mem_eof_return(self->outgoing, -1);
  SSL_set_bio(self->ssl, self->incoming, self->outgoing);
  SSL_set_connect_state(self->ssl);
  SSL_set_app_data(self->ssl, &self->refusal);
  SSL_set_verify(self->ssl, SSL_VERIFY_PEER, check_certificate);
  if (expect_name(self))
    return TRUE;
  ERR_clear_error();
  return tide_fail(error, TIDE_ERROR_WRONG_SERVICE, "gateway '%s': no certificate can be issued for the name '%s'",
                   self->endpoint->text, tide_tls_server_name(self->endpoint));
}

static gboolean
shake_hands(TlsStream *self, const TideCallLimits *limits, GError **error)
{
  for (;;) {
    ERR_clear_error();
    int result = SSL_do_handshake(self->ssl);
    int state = SSL_get_error(self->ssl, result);
    if (result != 1 && state != SSL_ERROR_WANT_READ) {
      (void)send_outgoing(self, limits, NULL); /* sends the alert, for the peer's log */
      return fail(self, error);
    }
    GError *failure = NULL;
    if (send_outgoing(self, limits, &failure) && (result == 1 || receive_incoming(self, limits, &failure))) {
      if (result == 1) {
        self->has_accepted = SSL_version(self->ssl) < TLS1_3_VERSION;
        return TRUE;
      }
      continue;
    }
    /* The peer closed before it sent anything: a plain gateway cannot parse a TLS handshake. */
    if (self->began_len == 0 && tide_error_outcome_unknown(failure) && !tide_error_is_cancelled(failure))
      g_prefix_error(&failure, "there was no answer to the TLS handshake, so it may be a plain port ('thrift://'): ");
    g_propagate_error(error, failure);
    return FALSE;
  }
}

static void
tls_free(TideStream *stream)
{
  TlsStream *self = self_of(stream);
  if (self->ssl != NULL && SSL_is_init_finished(self->ssl) && !self->has_failed) {
    /* Sends the closing alert if that is possible at once; does not wait for the peer's. */
    TideCallLimits at_once = {.peer = self->endpoint->text, .deadline_us = tide_now_us()};
    (void)SSL_shutdown(self->ssl);
    (void)send_outgoing(self, &at_once, NULL);
    ERR_clear_error();
  }
  SSL_free(self->ssl);
  X509_free(self->refusal.certificate);
  tide_stream_free(self->below);
  g_free(self);
}

static TideStream *
tls_open(const TideEndpoint *endpoint, const TideCallLimits *limits, GError **error)
{
  g_autoptr(GError) failure = NULL;
  g_autoptr(SSL_CTX) context =
      tide_tls_context_new(endpoint->settings != NULL ? &endpoint->settings->tls : NULL, &failure);
  if (context == NULL) { /* a problem with our own files is as persistent as one with the peer */
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_WRONG_SERVICE, "gateway '%s': %s", endpoint->text, failure->message);
    return NULL;
  }
  TideStream *below = tide_socket_stream.open(endpoint, limits, error);
  if (below == NULL)
    return NULL;
  TlsStream *self = g_new0(TlsStream, 1);
  self->stream.kind = &tide_tls_stream;
  self->below = below;
  self->endpoint = endpoint;
  if (!prepare(self, context, error) || !shake_hands(self, limits, error)) {
    tls_free(&self->stream);
    return NULL;
  }
  self->stream.ends.peer_s = tide_tls_certificate_end_s(SSL_get0_peer_certificate(self->ssl));
  self->stream.ends.own_s = tide_tls_certificate_end_s(SSL_get_certificate(self->ssl));
  return &self->stream;
}

/* ---- receiving ---- */

static gsize
tls_receive(TideStream *stream, guint8 *buffer, gsize size, const TideCallLimits *limits, GError **error)
{
  TlsStream *self = self_of(stream);
  for (;;) {
    ERR_clear_error();
    int got = SSL_read(self->ssl, buffer, (int)MIN(size, G_MAXINT));
    if (got > 0) {
      self->has_accepted = TRUE;
      return (gsize)got;
    }
    switch (SSL_get_error(self->ssl, got)) {
    case SSL_ERROR_WANT_READ:
      break;
    case SSL_ERROR_ZERO_RETURN:
      self->has_failed = TRUE;
      g_set_error(error, TIDE_ERROR, TIDE_ERROR_CONNECTION_LOST,
                  "gateway '%s' closed the connection before answering, after %" G_GINT64_FORMAT " ms", limits->peer,
                  tide_call_elapsed_ms(limits));
      return 0;
    default:
      (void)fail(self, error);
      return 0;
    }
    if (!send_outgoing(self, limits, error) || !receive_incoming(self, limits, error))
      return 0;
  }
}

static gboolean
tls_is_quiet(TideStream *stream)
{
  TlsStream *self = self_of(stream);
  TideCallLimits at_once = {.peer = self->endpoint->text, .deadline_us = tide_now_us() + TIDE_US_PER_S};
  for (guint i = 0; i < QUIET_RECEIVES_MAX; i++) {
    guint8 byte;
    ERR_clear_error();
    int got = SSL_peek(self->ssl, &byte, 1);
    if (got > 0 || SSL_get_error(self->ssl, got) != SSL_ERROR_WANT_READ)
      return FALSE;
    if (tide_stream_is_quiet(self->below))
      return !SSL_in_init(self->ssl);            /* half a ticket: SSL_write() would need the other half first */
    if (!receive_incoming(self, &at_once, NULL)) /* does not wait: bytes are available */
      return FALSE;
  }
  return FALSE;
}

/* ---- sending ---- */

/* The connection broke while a request was sent: reads the peer's alert, if any. */
static void
read_last_alert(TlsStream *self, const TideCallLimits *limits, GError **failure)
{
  if (self->has_accepted || !g_error_matches(*failure, TIDE_ERROR, TIDE_ERROR_CONNECTION_LOST))
    return;
  TideCallLimits soon = *limits;
  soon.deadline_us = MIN(limits->deadline_us, tide_now_us() + LAST_ALERT_US);
  GError *words = NULL;
  guint8 byte;
  (void)BIO_reset(self->outgoing);
  if (tls_receive(&self->stream, &byte, 1, &soon, &words) == 0 &&
      g_error_matches(words, TIDE_ERROR, TIDE_ERROR_WRONG_SERVICE)) {
    g_clear_error(failure);
    *failure = g_steal_pointer(&words);
  }
  g_clear_error(&words);
}

static gboolean
encrypt(TlsStream *self, const guint8 *bytes, gsize len, GError **error)
{
  ERR_clear_error();
  return SSL_write(self->ssl, bytes, (int)len) == (int)len || fail(self, error);
}

/* Encrypts whole records, except for the last. Small parts are joined, because each record costs as much as some
 * hundred bytes. */
static gboolean
encrypt_and_send(TlsStream *self, const GOutputVector *vectors, gsize n_vectors, const TideCallLimits *limits,
                 GError **error)
{
  guint8 record[RECORD_BYTES];
  gsize filled = 0;
  for (gsize i = 0; i < n_vectors; i++) {
    const guint8 *at = vectors[i].buffer;
    gsize left = vectors[i].size;
    while (left > 0) {
      gsize piece = MIN(left, sizeof record - filled);
      gboolean is_whole = filled == 0 && piece == sizeof record; /* need not be copied */
      if (!is_whole)
        memcpy(record + filled, at, piece);
      filled += piece;
      if (filled == sizeof record) {
        if (!encrypt(self, is_whole ? at : record, filled, error))
          return FALSE;
        filled = 0;
        if (BIO_ctrl_pending(self->outgoing) >= NETWORK_BYTES && !send_outgoing(self, limits, error))
          return FALSE;
      }
      at += piece;
      left -= piece;
    }
  }
  return (filled == 0 || encrypt(self, record, filled, error)) && send_outgoing(self, limits, error);
}

static gboolean
tls_send(TideStream *stream, GOutputVector *vectors, gsize n_vectors, const TideCallLimits *limits, GError **error)
{
  TlsStream *self = self_of(stream);
  GError *failure = NULL;
  if (encrypt_and_send(self, vectors, n_vectors, limits, &failure))
    return TRUE;
  read_last_alert(self, limits, &failure);
  g_propagate_error(error, failure);
  return FALSE;
}

const TideStreamKind tide_tls_stream = {
    .name = "TLS",
    .open = tls_open,
    .send = tls_send,
    .receive = tls_receive,
    .is_quiet = tls_is_quiet,
    .free = tls_free,
};
