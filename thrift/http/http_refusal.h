/* Explains an answer with an HTTP status other than 200 in a sentence with the next action. Pure. */
#pragma once

#include "util/bytes.h"

G_BEGIN_DECLS

/* The request and the answer. All borrowed. */
typedef struct TideHttpRefusal {
  const char *peer; /* the gateway, as the operator wrote it */
  guint status;
  TideBytes page;        /* the answer's body, or its beginning: Jetty's error page in plain text */
  gsize request_bytes;   /* size of the body */
  const char *principal; /* (nullable): the service of our ticket, "HTTP/host"; NULL: there was none */
  const char *do_as;     /* (nullable): the user of 'hbase.http.do_as' */
} TideHttpRefusal;

/* Errors: TOO_BIG if a smaller request would be accepted; WRONG_SERVICE if the request was refused and something must
 * be changed; CONNECTION_LOST if it may have been carried out. */
void tide_http_refusal_explain(const TideHttpRefusal *refusal, GError **error);

G_END_DECLS
