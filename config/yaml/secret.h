/* Passwords and keys: read from files that only the service may read, never shown. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* A private key in PEM form with its chain is below 16 KiB; a file larger than this is not a secret but a
 * mistake. */
#define TIDE_SECRET_MAX_BYTES (64u * 1024)

/* TRUE when the value of the librdkafka property @name must never be shown. librdkafka's own list leaves out
 * sasl.oauthbearer.client.secret, and its dump prints passwords, so this project keeps its own. */
gboolean tide_secret_is_name(const char *name);

/* Where in @line what must not be shown begins (behind the name of a secret and its colon), or NULL. */
const char *tide_secret_find_value(const char *line);

/**
 * tide_secret_read_file: the secret in the file at @path, without one newline at the end.
 * Refused: a relative path, what is not a regular file, a file that everybody can read or that its group can
 * write, one that is empty, too large, or holds a NUL byte. Errors: TIDE_ERROR_CONFIG, with the command that
 * repairs it. Ownership: (transfer full), free with tide_secret_free().
 */
char *tide_secret_read_file(const char *path, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The same from the directory that systemd's LoadCredential= fills ($CREDENTIALS_DIRECTORY). */
char *tide_secret_read_credential(const char *name, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Overwrites, then frees; NULL ok. */
void tide_secret_free(char *secret);

G_END_DECLS
