/* What a client asks for: the head of an HTTP request, out of untrusted bytes. Nothing in it but the method, the path
 * and who asks is of interest here. */
#pragma once

#include "util/bytes.h"

G_BEGIN_DECLS

typedef struct TideRequestHead {
  TideBytes method;        /* "GET" */
  TideBytes path;          /* "/metrics", without what follows a '?' */
  TideBytes authorization; /* the header's value; data is NULL: there is none */
} TideRequestHead;

/* How long the head is that @bytes begin with, its empty line with it; 0 while that is not there. */
gsize tide_request_head_len(TideBytes bytes);

/**
 * tide_request_head_parse: @bytes is a whole head.
 * @ret_head: borrows from @bytes
 * Returns: FALSE where HTTP/1.x does not allow it, or two places say who asks.
 */
gboolean tide_request_head_parse(TideBytes bytes, TideRequestHead *ret_head) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
