/* Asks a daemon's endpoint for its page /status, over TCP, TLS or a Unix socket.
 *
 * Threads: one at a time. Blocks: ten seconds at the most. */
#pragma once

#include "config/config.h"

G_BEGIN_DECLS

typedef struct TideStatusPageOptions {
  const char *url;           /* NULL: the endpoint of the configuration */
  const char *ca_file;       /* who may have signed that endpoint's certificate; NULL: whom the system trusts */
  const char *user;          /* NULL: no password */
  const char *password_file; /* NULL likewise */
  const char *token_file;    /* NULL: none */
} TideStatusPageOptions;

/**
 * tide_status_page_get: the document, as it came.
 * @config: (nullable): needed without a url
 * Errors: CONFIG, USAGE; UNAVAILABLE: nobody answers, or otherwise than a daemon of ours does; DATA: it wants to know
 * who asks, or does not take who we are. (transfer full)
 */
char *tide_status_page_get(const TideStatusPageOptions *options, const TideConfig *config,
                           GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
