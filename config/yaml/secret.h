/* Which values of the file are secrets and must never be shown. */
#pragma once

#include <glib.h>

/* TRUE if the value of the librdkafka property @name must never be shown. This project has its own list: librdkafka's
 * lacks sasl.oauthbearer.client.secret, and its dump prints passwords. */
gboolean tide_secret_is_name(const char *name);

/* Start of a private key in PEM form. "BEGIN CERTIFICATE" matches too, which does no harm. */
#define TIDE_SECRET_KEY_BEGINS "-----BEGIN"
#define TIDE_SECRET_KEY_ENDS "-----END"

/* Whether the value below @key may be a secret. It decides by words that the names of secrets share, including misspelt
 * names and those of other programs, and by options that accept one. @parent: the key above; NULL: none. */
gboolean tide_secret_sounds(const char *key, const char *parent);

/* Start of a name in @line that sounds like a secret, or of a key in PEM form; NULL: none. */
const char *tide_secret_find_name(const char *line);

/* Start of the text in @line that must not be shown: a key, or the text after a name that sounds like a secret. NULL:
 * none. */
const char *tide_secret_find_value(const char *line);

/* @text with *** for the user part of an address, as in https://user:password@host or user:password@host, and for the
 * query of a URL, as in https://host/?key=secret. (transfer full) */
char *tide_secret_mask_addresses(const char *text);

/* A value in a form that can be shown: *** for the range of tide_secret_find_value(), and for users and queries of
 * addresses. (transfer full) */
char *tide_secret_mask(const char *value);
