#include "thrift/client/tls_context.h"

#include "util/error.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>
#include <unistd.h>

G_DEFINE_AUTOPTR_CLEANUP_FUNC(SSL_CTX, SSL_CTX_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(EVP_PKEY, EVP_PKEY_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(BIO, BIO_free_all)

/* Always fails. OpenSSL's first error is the reason, if the file itself is readable. */
static gboolean
set_file_error(const char *what, const char *path, GError **error)
{
  unsigned long code = ERR_peek_error();
  const char *reason = ERR_GET_REASON(code) == PEM_R_NO_START_LINE ? "it contains no PEM data of that kind"
                                                                   : ERR_reason_error_string(code);
  ERR_clear_error();
  if (access(path, R_OK) != 0)
    reason = g_strerror(errno);
  return tide_fail(error, TIDE_ERROR_CONFIG, "the %s '%s' cannot be used: %s", what, path,
                   reason != NULL ? reason : "it cannot be read");
}

/* A FIFO would block the thread until a writer opens it. A missing file is reported by the code that opens it. */
static gboolean
may_be_read(const char *what, const char *path, GError **error)
{
  struct stat info;
  if (stat(path, &info) != 0 || S_ISREG(info.st_mode))
    return TRUE;
  return tide_fail(error, TIDE_ERROR_CONFIG, "the %s '%s' cannot be used: it is not a regular file", what, path);
}

static gboolean
trust(SSL_CTX *context, const TideTlsSettings *settings, GError **error)
{
  if (settings->ca == NULL) {
    (void)SSL_CTX_set_default_verify_paths(context); /* without any, each gateway is rejected by name */
    return TRUE;
  }
  return may_be_read("file of authorities", settings->ca, error) &&
         (SSL_CTX_load_verify_file(context, settings->ca) == 1 ||
          set_file_error("file of authorities", settings->ca, error));
}

/* Rejects encrypted keys: the passphrase would have to be stored beside the key. */
static int
no_passphrase(char *buffer, int size, int for_writing, void *data)
{
  return -1;
}

static gboolean
use_certificate(SSL_CTX *context, const TideTlsSettings *settings, GError **error)
{
  if (settings->certificate == NULL)
    return TRUE;
  return may_be_read("certificate", settings->certificate, error) &&
         (SSL_CTX_use_certificate_chain_file(context, settings->certificate) == 1 ||
          set_file_error("certificate", settings->certificate, error));
}

static gboolean
use_key(SSL_CTX *context, const TideTlsSettings *settings, GError **error)
{
  const TideSecretSource *source = &settings->key;
  char *text = settings->certificate != NULL ? tide_secret_read(source, error) : NULL;
  if (text == NULL)
    return settings->certificate == NULL;
  const char *name = source->file != NULL ? source->file : source->credential;
  g_autoptr(BIO) memory = BIO_new_mem_buf(text, -1);
  g_autoptr(EVP_PKEY) key = PEM_read_bio_PrivateKey(memory, NULL, no_passphrase, NULL);
  tide_secret_free(text);
  if (key == NULL && ERR_GET_REASON(ERR_peek_error()) == PEM_R_BAD_PASSWORD_READ) {
    ERR_clear_error();
    return tide_fail(error, TIDE_ERROR_CONFIG,
                     "the key '%s' has a passphrase: store it without one ('openssl pkey -in KEY -out KEY.plain')",
                     name);
  }
  if (key == NULL)
    return set_file_error("key", name, error);
  if (SSL_CTX_use_PrivateKey(context, key) == 1)
    return TRUE;
  ERR_clear_error();
  return tide_fail(error, TIDE_ERROR_CONFIG, "the key '%s' does not match the certificate", name);
}

/* Readers of the files; a key is compared with the certificate read before it. */
static const struct {
  const char *option;
  gboolean (*use)(SSL_CTX *context, const TideTlsSettings *settings, GError **error);
} files[] = {{"ca", trust}, {"certificate", use_certificate}, {"key", use_key}};

static SSL_CTX *
new_context(const SSL_METHOD *method)
{
  SSL_CTX *context = SSL_CTX_new(method);
  g_assert(context != NULL); /* treated like an allocation failure */
  ERR_clear_error();
  return context;
}

static void
harden(SSL_CTX *context)
{
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
}

gboolean
tide_tls_context_set_up(SSL_CTX *context, const TideTlsSettings *settings, GError **error)
{
  static const TideTlsSettings nothing = {0};
  ERR_clear_error();
  harden(context);
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
  for (gsize i = 0; i < G_N_ELEMENTS(files); i++)
    if (!files[i].use(context, settings != NULL ? settings : &nothing, error))
      return FALSE;
  return TRUE;
}

SSL_CTX *
tide_tls_context_new(const TideTlsSettings *settings, GError **error)
{
  g_autoptr(SSL_CTX) context = new_context(TLS_client_method());
  return tide_tls_context_set_up(context, settings, error) ? g_steal_pointer(&context) : NULL;
}

SSL_CTX *
tide_tls_server_context_new(const TideTlsSettings *settings, GError **error)
{
  g_autoptr(SSL_CTX) context = new_context(TLS_server_method());
  harden(context);
  SSL_CTX_set_options(context, SSL_OP_NO_TICKET);         /* clients connect too rarely for session tickets */
  SSL_CTX_set_options(context, SSL_OP_CLEANSE_PLAINTEXT); /* requests contain passwords */
  SSL_CTX_set_num_tickets(context, 0);
  return use_certificate(context, settings, error) && use_key(context, settings, error) ? g_steal_pointer(&context)
                                                                                        : NULL;
}

void
tide_tls_settings_check(const TideTlsSettings *settings, TideTlsFault fault, gpointer data)
{
  g_autoptr(SSL_CTX) context = new_context(TLS_client_method());
  for (gsize i = 0; i < G_N_ELEMENTS(files); i++) {
    g_autoptr(GError) error = NULL;
    if (!files[i].use(context, settings, &error))
      fault(files[i].option, error, data);
  }
}

char *
tide_tls_certificate_pin(const char *path, GError **error)
{
  if (!may_be_read("certificate", path, error))
    return NULL;
  ERR_clear_error();
  g_autoptr(BIO) file = BIO_new_file(path, "r");
  X509 *certificate = file != NULL ? PEM_read_bio_X509_AUX(file, NULL, no_passphrase, NULL) : NULL;
  guint8 *key = NULL;
  int len = certificate != NULL ? i2d_X509_PUBKEY(X509_get_X509_PUBKEY(certificate), &key) : 0;
  X509_free(certificate);
  if (len <= 0) {
    (void)set_file_error("certificate", path, error);
    return NULL;
  }
  guint8 digest[32];
  gsize digest_len = sizeof digest;
  g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);
  g_checksum_update(sum, key, len);
  g_checksum_get_digest(sum, digest, &digest_len);
  OPENSSL_free(key);
  g_autofree char *text = g_base64_encode(digest, digest_len);
  return g_strconcat("sha256//", text, NULL);
}

gint64
tide_tls_certificate_end_s(const X509 *certificate)
{
  struct tm end;
  if (certificate == NULL || ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &end) != 1)
    return 0;
  return (gint64)timegm(&end);
}
