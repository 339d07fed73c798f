/* A TLS server for tests, as a script of loopback_server.h, with generated certificates of any defect. */
#pragma once

#include "unit/loopback_server.h"

#include <glib/gstdio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>

/* ---- certificates ---- */

/* An authority, or a certificate signed by one. */
typedef struct TestIdentity {
  EVP_PKEY *key;
  X509 *certificate;
} TestIdentity;

typedef struct TestIdentityWish {
  const char *name;           /* its common name */
  const char *names;          /* subjectAltName, "DNS:localhost,IP:127.0.0.1"; NULL: an authority */
  const TestIdentity *issuer; /* NULL: itself */
  gint64 begin_s, end_s;      /* relative to now; both 0: from a day before to a year after */
} TestIdentityWish;

static inline void
test_identity_extend(X509 *certificate, X509 *issuer, int nid, const char *value)
{
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, NULL, NULL, 0);
  X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &context, nid, value);
  g_assert_nonnull(extension);
  g_assert_cmpint(X509_add_ext(certificate, extension, -1), ==, 1);
  X509_EXTENSION_free(extension);
}

static inline TestIdentity
test_identity_new(const TestIdentityWish *wish)
{
  static long serial = 1;
  TestIdentity identity = {.key = EVP_EC_gen("P-256"), .certificate = X509_new()};
  X509 *certificate = identity.certificate;
  gboolean is_default = wish->begin_s == 0 && wish->end_s == 0;
  X509_set_version(certificate, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate), serial++);
  X509_gmtime_adj(X509_getm_notBefore(certificate), is_default ? -86400 : (long)wish->begin_s);
  X509_gmtime_adj(X509_getm_notAfter(certificate), is_default ? 365 * 86400 : (long)wish->end_s);
  X509_set_pubkey(certificate, identity.key);
  X509_NAME *name = X509_get_subject_name(certificate);
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, (const guint8 *)wish->name, -1, -1, 0);
  X509 *issuer = wish->issuer != NULL ? wish->issuer->certificate : certificate;
  X509_set_issuer_name(certificate, X509_get_subject_name(issuer));
  test_identity_extend(certificate, issuer, NID_basic_constraints,
                       wish->names == NULL ? "critical,CA:TRUE" : "CA:FALSE");
  if (wish->names != NULL)
    test_identity_extend(certificate, issuer, NID_subject_alt_name, wish->names);
  g_assert_cmpint(X509_sign(certificate, wish->issuer != NULL ? wish->issuer->key : identity.key, EVP_sha256()), >, 0);
  return identity;
}

static inline void
test_identity_clear(TestIdentity *identity)
{
  X509_free(identity->certificate);
  EVP_PKEY_free(identity->key);
}

/* Writes the certificate, or the key, to NAME in @directory. (transfer full): the path. */
static inline char *
test_identity_save(const TestIdentity *identity, gboolean is_key, const char *directory, const char *name)
{
  char *path = g_build_filename(directory, name, NULL);
  FILE *file = fopen(path, "w");
  g_assert_nonnull(file);
  g_assert_cmpint(fchmod(fileno(file), 0600), ==, 0);
  g_assert_cmpint(is_key ? PEM_write_PrivateKey(file, identity->key, NULL, NULL, 0, NULL, NULL)
                         : PEM_write_X509(file, identity->certificate),
                  ==, 1);
  g_assert_cmpint(fclose(file), ==, 0);
  return path;
}

/* ---- the server's side of a connection ---- */

typedef struct TestTls {
  const TestIdentity *identity;
  const TestIdentity *client_authority; /* NULL: clients need no certificate */
  int max_version;                      /* 0: the newest */
  const TestIdentity *chained;          /* sent after it; NULL: none */
} TestTls;

static inline SSL_CTX *
test_tls_context(const TestTls *tls)
{
  SSL_CTX *context = SSL_CTX_new(TLS_server_method());
  g_assert_cmpint(SSL_CTX_use_certificate(context, tls->identity->certificate), ==, 1);
  g_assert_cmpint(SSL_CTX_use_PrivateKey(context, tls->identity->key), ==, 1);
  if (tls->chained != NULL)
    SSL_CTX_add1_chain_cert(context, tls->chained->certificate);
  if (tls->max_version != 0)
    SSL_CTX_set_max_proto_version(context, tls->max_version);
  SSL_CTX_set_min_proto_version(context, 0);
  SSL_CTX_set_security_level(context, 0); /* allows obsolete versions */
  if (tls->client_authority != NULL) {
    X509_STORE_add_cert(SSL_CTX_get_cert_store(context), tls->client_authority->certificate);
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
  }
  return context;
}

/* Performs the handshake on @fd. NULL: it failed, and the alert was sent. */
static inline SSL *
test_tls_accept(const TestTls *tls, int fd)
{
  SSL_CTX *context = test_tls_context(tls);
  SSL *ssl = SSL_new(context);
  SSL_CTX_free(context);
  SSL_set_fd(ssl, fd);
  ERR_clear_error();
  if (SSL_accept(ssl) == 1)
    return ssl;
  SSL_free(ssl);
  return NULL;
}

/* Sends the alert 'bad record mac', which ends the connection, by pretending to receive such a record. */
static inline void
test_tls_alert(SSL *ssl)
{
  static const guint8 record[5 + 32] = {0x17, 3, 3, 0, 32};
  guint8 byte;
  SSL_set0_rbio(ssl, BIO_new_mem_buf(record, sizeof record));
  g_assert_cmpint(SSL_read(ssl, &byte, 1), <=, 0);
  g_assert_true((SSL_get_shutdown(ssl) & SSL_SENT_SHUTDOWN) != 0 || ERR_peek_error() != 0);
  ERR_clear_error();
}
