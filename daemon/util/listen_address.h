/* Where a server of this process listens: "127.0.0.1:9464", "[::1]:9464", "unix:/run/x.socket" or "off". */
#pragma once

#include <glib.h>
#include <sys/socket.h>

G_BEGIN_DECLS

typedef struct TideListenAddress {
  gboolean is_off;                 /* "off": nothing else is filled */
  struct sockaddr_storage address; /* Unix, or IPv4 or IPv6 with the port; port 0 lets the kernel choose */
  socklen_t address_bytes;
} TideListenAddress;

/**
 * tide_listen_address_parse: from the operator's text.
 * Names are refused, not looked up: an address to listen on has to be sure when the program starts. All interfaces are
 * "0.0.0.0:9464" or "[::]:9464" (which takes IPv4 too).
 * Errors: TIDE_ERROR_CONFIG; @ret_address is untouched.
 */
gboolean tide_listen_address_parse(const char *text, TideListenAddress *ret_address,
                                   GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Whether only this host can reach it: "off", a Unix socket, or an address of the loopback. */
gboolean tide_listen_address_is_local(const TideListenAddress *address);

G_END_DECLS
