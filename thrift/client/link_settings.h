/* How connections to gateways are made safe: what the operator said of all of them. The configuration owns it; each
 * endpoint borrows it, and streams and message layers read it there as they connect. */
#pragma once

#include "thrift/security/sasl_negotiation.h"
#include "util/secret_file.h"

G_BEGIN_DECLS

typedef struct TideTlsSettings {
  char *ca;             /* owned: a file of certificates in PEM form; NULL: the system's */
  char *certificate;    /* owned: a file with our own and those that lead from it to its authority; NULL: none */
  TideSecretSource key; /* of our certificate */
  char *server_name;    /* owned: what a gateway's certificate must be for; NULL: the host that is connected to */
} TideTlsSettings;

/* Of gateways that authenticate by SASL ('hbase.thrift.security.qop'). */
typedef struct TideSaslSettings {
  char *service;     /* owned: the first part of the gateways' principal; NULL: they have no SASL */
  char *host;        /* owned: its second part; NULL: the host that is connected to */
  TideSaslLayer qop; /* the layer of protection that is asked for */
} TideSaslSettings;

/* Who we are towards gateways that ask by Kerberos. */
typedef struct TideKerberosSettings {
  TideSecretSource keytab; /* not set: a ticket cache is used */
  char *principal;         /* owned; NULL: the keytab's first, or the cache's */
  char *cache;             /* owned: "FILE:/path"; NULL: in memory with a keytab, else Kerberos's default */
} TideKerberosSettings;

/* Whether anything of it is set: only then is a request over HTTP authenticated. */
static inline gboolean
tide_kerberos_settings_are_set(const TideKerberosSettings *kerberos)
{
  return tide_secret_source_is_set(&kerberos->keytab) || kerberos->principal != NULL || kerberos->cache != NULL;
}

/* Of gateways that are spoken to by HTTP. */
typedef struct TideHttpSettings {
  char *host;  /* owned: the second part of the gateways' principal, "HTTP/host"; NULL: the host that is connected to */
  char *do_as; /* owned: the user on whose behalf all is read and written; NULL: we ourselves */
  TideSecretSource headers; /* lines "NAME: value" that each request bears; not set: none */
} TideHttpSettings;

typedef struct TideLinkSettings {
  TideTlsSettings tls;
  TideSaslSettings sasl;
  TideKerberosSettings kerberos;
  TideHttpSettings http;
} TideLinkSettings;

G_END_DECLS
