/* What a client asks for: the head of an HTTP request, out of untrusted bytes. Nothing in it but the method, the path,
 * who asks and whom is of interest here. */
#pragma once

#include "util/bytes.h"

G_BEGIN_DECLS

typedef struct TideRequestHead {
  TideBytes method;        /* "GET" */
  TideBytes path;          /* "/metrics", without what follows a '?' */
  TideBytes host;          /* whom the client meant to ask, "localhost:9464"; data is NULL: he did not say */
  TideBytes authorization; /* the header's value; data is NULL: there is none */
} TideRequestHead;

/* How long the head is that @bytes begin with, its empty line with it; 0 while that is not there. */
gsize tide_request_head_len(TideBytes bytes);

/**
 * tide_request_head_parse: @bytes is a whole head.
 * @ret_head: borrows from @bytes
 * Returns: FALSE where HTTP/1.x does not allow it, or two places say who asks, or whom.
 */
gboolean tide_request_head_parse(TideBytes bytes, TideRequestHead *ret_head) G_GNUC_WARN_UNUSED_RESULT;

/* Whether a web page cannot have chosen the name @host: it is this host's own, or an address. Pages have names of
 * theirs lead here to have a browser ask us ("DNS rebinding"). */
gboolean tide_request_host_is_local(TideBytes host);

G_END_DECLS
