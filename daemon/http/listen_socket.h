/* A socket to listen on, TCP or Unix: had, or refused with the reason and what to do. */
#pragma once

#include "util/listen_address.h"

#include <sys/types.h>

G_BEGIN_DECLS

typedef struct TideListenRequest {
  const char *text;   /* the address as the operator wrote it */
  const char *option; /* the configuration's name of it, for messages; NULL says "the address" */
  mode_t mode;        /* of a Unix socket: who may connect */
} TideListenRequest;

typedef struct TideListenSocket {
  int fd;     /* non-blocking; -1: none, the address is "off" */
  char *path; /* owned: of a Unix socket; NULL: TCP */
  dev_t device;
  ino_t inode;
} TideListenSocket;

/**
 * tide_listen_socket_open: bind and listen.
 * A Unix socket on which nobody listens any more is replaced; anything else at its path is left as it is.
 * Errors: CONFIG for an address that cannot be read, UNAVAILABLE for one that cannot be had.
 */
gboolean tide_listen_socket_open(const TideListenRequest *request, TideListenSocket *ret_socket,
                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Closes it and removes its path, if that is still ours. */
void tide_listen_socket_close(TideListenSocket *listener);

/* Whether tide_listen_socket_open() would get it; leaves nothing behind. Errors: as there, and IN_USE where another
 * process listens. */
gboolean tide_listen_socket_try(const TideListenRequest *request, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The TCP port; 0 for a Unix socket. */
guint16 tide_listen_socket_port(const TideListenSocket *listener);

G_END_DECLS
