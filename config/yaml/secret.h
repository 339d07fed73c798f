/* Which values of the file are secrets, never to be shown. */
#pragma once

#include <glib.h>

/* TRUE when the value of the librdkafka property @name must never be shown. librdkafka's own list leaves out
 * sasl.oauthbearer.client.secret, and its dump prints passwords, so this project keeps its own. */
gboolean tide_secret_is_name(const char *name);

/* How a private key in PEM form begins; "BEGIN CERTIFICATE" does, too, which is as well. */
#define TIDE_SECRET_KEY_BEGINS "-----BEGIN"
#define TIDE_SECRET_KEY_ENDS "-----END"

/* Where in @line what must not be shown begins, or NULL: a key, or what stands behind a name and a colon (or '=') where
 * that name may be of a secret: misspelt, or another program's. */
const char *tide_secret_find_value(const char *line);

/* @text with *** for what somebody has put into an address before its host, as in https://user:password@host.
 * (transfer full) */
char *tide_secret_mask_addresses(const char *text);
