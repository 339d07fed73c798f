#include "http/server_tls.h"

#include "thrift/client/tls_context.h"
#include "util/file_look.h"

#include <openssl/err.h>
#include <poll.h>

G_DEFINE_AUTOPTR_CLEANUP_FUNC(SSL_CTX, SSL_CTX_free)

struct TideServerTls {
  const TideTlsSettings *settings; /* borrowed */
  SSL_CTX *context;                /* owned */
  TideFileStamp certificate, key;  /* of the files in use */
};

struct TideTlsSession {
  SSL *ssl; /* owned */
  gboolean is_broken;
  gboolean met_http;
};

TideServerTls *
tide_server_tls_new(const TideTlsSettings *settings, GError **error)
{
  g_autoptr(TideServerTls) tls = g_new0(TideServerTls, 1);
  tls->settings = settings;
  return tide_server_tls_refresh(tls, error) ? g_steal_pointer(&tls) : NULL;
}

void
tide_server_tls_free(TideServerTls *tls)
{
  if (tls == NULL)
    return;
  SSL_CTX_free(tls->context);
  g_free(tls);
}

gboolean
tide_server_tls_refresh(TideServerTls *tls, GError **error)
{
  /* The stamps are taken first: a file that changes while it is read is read again. */
  g_autofree char *key_path = tide_secret_path(&tls->settings->key, NULL);
  TideFileStamp certificate = tide_file_stamp(tls->settings->certificate);
  TideFileStamp key = key_path != NULL ? tide_file_stamp(key_path) : (TideFileStamp){0};
  if (tls->context != NULL && tide_file_stamp_equal(&certificate, &tls->certificate) &&
      tide_file_stamp_equal(&key, &tls->key))
    return TRUE;
  SSL_CTX *context = tide_tls_server_context_new(tls->settings, error);
  if (context == NULL)
    return FALSE;
  SSL_CTX_free(tls->context);
  tls->context = context;
  tls->certificate = certificate;
  tls->key = key;
  return TRUE;
}

gint64
tide_server_tls_end_s(const TideServerTls *tls)
{
  return tide_tls_certificate_end_s(SSL_CTX_get0_certificate(tls->context));
}

TideTlsSession *
tide_tls_session_new(const TideServerTls *tls, int fd)
{
  TideTlsSession *session = g_new0(TideTlsSession, 1);
  session->ssl = SSL_new(tls->context);
  g_assert(session->ssl != NULL && SSL_set_fd(session->ssl, fd) == 1); /* treated like an allocation failure */
  SSL_set_mode(session->ssl, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  /* Otherwise one call would continue reading as long as records without data arrive, such as key updates. */
  SSL_clear_mode(session->ssl, SSL_MODE_AUTO_RETRY);
  SSL_set_accept_state(session->ssl);
  return session;
}

void
tide_tls_session_free(TideTlsSession *session)
{
  if (session == NULL)
    return;
  if (!session->is_broken && SSL_is_init_finished(session->ssl))
    (void)SSL_shutdown(session->ssl);
  ERR_clear_error();
  SSL_free(session->ssl);
  g_free(session);
}

/* @n: result of SSL_read() or SSL_write(). */
static gssize
result_of(TideTlsSession *session, int n, short *ret_events)
{
  if (n > 0)
    return n;
  switch (SSL_get_error(session->ssl, n)) {
  case SSL_ERROR_WANT_READ:
    *ret_events = POLLIN;
    return TIDE_TLS_WAITS;
  case SSL_ERROR_WANT_WRITE:
    *ret_events = POLLOUT;
    return TIDE_TLS_WAITS;
  case SSL_ERROR_ZERO_RETURN:
    return 0;
  default:
    session->is_broken = TRUE;
    session->met_http = ERR_GET_REASON(ERR_peek_error()) == SSL_R_HTTP_REQUEST;
    ERR_clear_error();
    return TIDE_TLS_BROKEN;
  }
}

gssize
tide_tls_session_receive(TideTlsSession *session, void *bytes, gsize len, short *ret_events)
{
  ERR_clear_error();
  return result_of(session, SSL_read(session->ssl, bytes, (int)MIN(len, G_MAXINT)), ret_events);
}

gssize
tide_tls_session_send(TideTlsSession *session, const void *bytes, gsize len, short *ret_events)
{
  ERR_clear_error();
  return result_of(session, SSL_write(session->ssl, bytes, (int)MIN(len, G_MAXINT)), ret_events);
}

gboolean
tide_tls_session_is_safe(const TideTlsSession *session)
{
  return SSL_is_init_finished(session->ssl) == 1;
}

gboolean
tide_tls_session_met_http(const TideTlsSession *session)
{
  return session->met_http;
}
