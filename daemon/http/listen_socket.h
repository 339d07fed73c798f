/* A listening socket, TCP or Unix; failures name the reason and the next action. */
#pragma once

#include "util/listen_address.h"

#include <sys/types.h>

G_BEGIN_DECLS

typedef struct TideListenRequest {
  const char *text;   /* the address as the operator wrote it */
  const char *option; /* its name in the configuration, for messages; NULL: "the address" */
  mode_t mode;        /* of a Unix socket: who may connect */
} TideListenRequest;

typedef struct TideListenSocket {
  int fd;     /* non-blocking; -1: none, the address is "off" */
  char *path; /* owned: of a Unix socket; NULL: TCP */
  dev_t device;
  ino_t inode;
} TideListenSocket;

/**
 * tide_listen_socket_open: bind and listen. A Unix socket without a listener is replaced; anything else at its path is
 * left unchanged.
 * Errors: CONFIG for an invalid address, UNAVAILABLE for an unavailable one.
 */
gboolean tide_listen_socket_open(const TideListenRequest *request, TideListenSocket *ret_socket,
                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Closes the socket and removes its path, unless another process has replaced it. */
void tide_listen_socket_close(TideListenSocket *listener);

/* Checks that tide_listen_socket_open() would succeed, and releases the address. Errors: as there, and IN_USE if
 * another process listens. */
gboolean tide_listen_socket_try(const TideListenRequest *request, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The TCP port; 0 for a Unix socket. */
guint16 tide_listen_socket_port(const TideListenSocket *listener);

G_END_DECLS
