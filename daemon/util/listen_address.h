/* The listen address of a server in this process: "127.0.0.1:9464", "[::1]:9464", "unix:/run/x.socket" or "off". */
#pragma once

#include <glib.h>
#include <sys/socket.h>

G_BEGIN_DECLS

typedef struct TideListenAddress {
  gboolean is_off;                 /* "off": all other members are unset */
  struct sockaddr_storage address; /* Unix, or IPv4 or IPv6 with the port; port 0 lets the kernel choose */
  socklen_t address_bytes;
} TideListenAddress;

/**
 * tide_listen_address_parse: parse the operator's text. Names are rejected, not looked up: a listen address must not
 * depend on a name server at the start. All interfaces are "0.0.0.0:9464" or "[::]:9464" (includes IPv4).
 * Errors: TIDE_ERROR_CONFIG; @ret_address is unchanged.
 */
gboolean tide_listen_address_parse(const char *text, TideListenAddress *ret_address,
                                   GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* TRUE if only this host can reach it: "off", a Unix socket, or a loopback address. */
gboolean tide_listen_address_is_local(const TideListenAddress *address);

G_END_DECLS
