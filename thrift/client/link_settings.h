/* Security settings of connections to gateways, the same for all gateways. The configuration owns them, each endpoint
 * borrows them, and streams and message layers read them when they connect. */
#pragma once

#include "thrift/security/sasl_negotiation.h"
#include "util/secret_file.h"

G_BEGIN_DECLS

typedef struct TideTlsSettings {
  char *ca;             /* owned: a file of certificates in PEM form; NULL: the system's */
  char *certificate;    /* owned: a file with our own certificate and its intermediates; NULL: none */
  TideSecretSource key; /* of our certificate */
  char *server_name;    /* owned: the name that a gateway's certificate must have; NULL: the host of the connection */
} TideTlsSettings;

/* For gateways that authenticate by SASL ('hbase.thrift.security.qop'). */
typedef struct TideSaslSettings {
  char *service;     /* owned: the first part of the gateways' principal; NULL: no SASL */
  char *host;        /* owned: its second part; NULL: the host of the connection */
  TideSaslLayer qop; /* the requested layer of protection */
} TideSaslSettings;

/* Our identity towards gateways that require Kerberos. */
typedef struct TideKerberosSettings {
  TideSecretSource keytab; /* not set: a ticket cache is used */
  char *principal;         /* owned; NULL: the keytab's first, or the cache's */
  char *cache;             /* owned: "FILE:/path"; NULL: in memory with a keytab, else Kerberos's default */
} TideKerberosSettings;

/* TRUE if any of these is set: only then are requests over HTTP authenticated. */
static inline gboolean
tide_kerberos_settings_are_set(const TideKerberosSettings *kerberos)
{
  return tide_secret_source_is_set(&kerberos->keytab) || kerberos->principal != NULL || kerberos->cache != NULL;
}

/* For gateways that use HTTP. */
typedef struct TideHttpSettings {
  char *host;  /* owned: the second part of the gateways' principal, "HTTP/host"; NULL: the host of the connection */
  char *do_as; /* owned: the user on whose behalf to read and write; NULL: our own */
  TideSecretSource headers; /* lines "NAME: value" added to each request; not set: none */
} TideHttpSettings;

typedef struct TideLinkSettings {
  TideTlsSettings tls;
  TideSaslSettings sasl;
  TideKerberosSettings kerberos;
  TideHttpSettings http;
} TideLinkSettings;

G_END_DECLS
