/* What a gateway means that answers with an HTTP status other than 200, in a sentence with what to do. Pure. */
#pragma once

#include "util/bytes.h"

G_BEGIN_DECLS

/* What was asked, and came back. All borrowed. */
typedef struct TideHttpRefusal {
  const char *peer; /* the gateway, as the operator wrote it */
  guint status;
  TideBytes page;        /* the answer's body, or its begin: Jetty's error page in plain text */
  gsize request_bytes;   /* the body's */
  const char *principal; /* (nullable): whom our ticket was for, "HTTP/host"; NULL: there was none */
  const char *do_as;     /* (nullable): whom we asked to be */
} TideHttpRefusal;

/* Errors: TOO_BIG where a smaller request would have been taken; WRONG_SERVICE where the request was not taken and
 * something must be changed; CONNECTION_LOST where it may have been carried out. */
void tide_http_refusal_explain(const TideHttpRefusal *refusal, GError **error);

G_END_DECLS
