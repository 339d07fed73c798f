/* Parses the head of an HTTP request from untrusted bytes. Only the method, the path, the credentials and the requested
 * host are used. */
#pragma once

#include "util/bytes.h"

G_BEGIN_DECLS

typedef struct TideRequestHead {
  TideBytes method;        /* "GET" */
  TideBytes path;          /* "/metrics", without the query */
  TideBytes host;          /* the requested host, "localhost:9464"; data is NULL: not given */
  TideBytes authorization; /* the header's value; data is NULL: there is none */
} TideRequestHead;

/* The length of the head at the start of @bytes, including its empty line; 0 while it is incomplete. */
gsize tide_request_head_len(TideBytes bytes);

/**
 * tide_request_head_parse: @bytes is a complete head.
 * @ret_head: borrows from @bytes
 * Returns: FALSE if it violates HTTP/1.x, or has the credentials or the host twice.
 */
gboolean tide_request_head_parse(TideBytes bytes, TideRequestHead *ret_head) G_GNUC_WARN_UNUSED_RESULT;

/* TRUE if a web page cannot have chosen the name @host: it is this host's own, or an address. With "DNS rebinding",
 * pages resolve a name of theirs to this host to make a browser send us requests. */
gboolean tide_request_host_is_local(TideBytes host);

G_END_DECLS
