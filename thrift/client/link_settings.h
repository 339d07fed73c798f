/* How connections to gateways are made safe: what the operator said of all of them. The configuration owns it; each
 * endpoint borrows it, and streams and message layers read it there as they connect. */
#pragma once

#include "util/secret_file.h"

G_BEGIN_DECLS

typedef struct TideTlsSettings {
  char *ca;             /* owned: a file of certificates in PEM form; NULL: the system's */
  char *certificate;    /* owned: a file with our own and those that lead from it to its authority; NULL: none */
  TideSecretSource key; /* of our certificate */
  char *server_name;    /* owned: what a gateway's certificate must be for; NULL: the host that is connected to */
} TideTlsSettings;

typedef struct TideLinkSettings {
  TideTlsSettings tls;
} TideLinkSettings;

G_END_DECLS
