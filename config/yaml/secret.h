/* Which values of the file are secrets, never to be shown. */
#pragma once

#include <glib.h>

/* TRUE when the value of the librdkafka property @name must never be shown. librdkafka's own list leaves out
 * sasl.oauthbearer.client.secret, and its dump prints passwords, so this project keeps its own. */
gboolean tide_secret_is_name(const char *name);

/* How a private key in PEM form begins; "BEGIN CERTIFICATE" does, too, which is as well. */
#define TIDE_SECRET_KEY_BEGINS "-----BEGIN"
#define TIDE_SECRET_KEY_ENDS "-----END"

/* Whether what stands below @key may be a secret: by what the names of secrets have in common, misspelt ones and those
 * of other programs too, and by what takes one here. @parent: the key above it; NULL: none. */
gboolean tide_secret_sounds(const char *key, const char *parent);

/* Where in @line a name begins that sounds like that, or a key in PEM form; NULL: nowhere. */
const char *tide_secret_find_name(const char *line);

/* Where in @line what must not be shown begins, or NULL: a key, or what stands behind a name that sounds like a
 * secret's. */
const char *tide_secret_find_value(const char *line);

/* @text with *** for what somebody has put into an address before its host, as in https://user:password@host, or
 * user:password@host, and for the query of a URL, as in https://host/?key=secret. (transfer full) */
char *tide_secret_mask_addresses(const char *text);

/* A value as it may be shown: *** for what tide_secret_find_value() finds in it, and for users and queries of
 * addresses. (transfer full) */
char *tide_secret_mask(const char *value);
