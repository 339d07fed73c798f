/* Blocking sockets for the benchmark's programs, simple so that they do not slow down what is measured. */
#pragma once

#include "util/bytes.h"

G_BEGIN_DECLS

/* @address: HOST:PORT. Returns: a connected descriptor, without Nagle's delay; -1 with @error set. */
int tide_plain_connect(const char *address, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* FALSE with errno set when the connection is gone. */
gboolean tide_plain_send(int fd, TideBytes bytes) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
