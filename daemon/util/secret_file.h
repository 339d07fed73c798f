/* Passwords and keys: read from files that only the service may read. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* A private key in PEM form with its chain is below 16 KiB; a file larger than this is not a secret but a mistake. */
#define TIDE_SECRET_MAX_BYTES (64u * 1024)

/* Where a secret is: one of the two. */
typedef struct TideSecretSource {
  char *file;       /* owned: a path */
  char *credential; /* owned: the id of a systemd credential */
} TideSecretSource;

static inline gboolean
tide_secret_source_is_set(const TideSecretSource *source)
{
  return source->file != NULL || source->credential != NULL;
}

/**
 * tide_secret_read_file: the secret in the file at @path, without one newline at the end.
 * Refused: a relative path, what is not a regular file, a file that everybody can read or that its group can
 * write, one that is empty, too large, or holds a NUL byte. Errors: TIDE_ERROR_CONFIG, with the command that
 * repairs it. Ownership: (transfer full), free with tide_secret_free().
 */
char *tide_secret_read_file(const char *path, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The same of a file, or of the directory that systemd's LoadCredential= fills ($CREDENTIALS_DIRECTORY). @source: is
 * set. */
char *tide_secret_read(const TideSecretSource *source, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Where @source is, for a library that reads the file itself. @source: is set. Ownership: (transfer full). */
char *tide_secret_path(const TideSecretSource *source, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* FALSE where tide_secret_read() would refuse the file for what it is, whatever it holds. @source: is set. */
gboolean tide_secret_check(const TideSecretSource *source, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Overwrites, then frees; NULL ok. */
void tide_secret_free(char *secret);

G_END_DECLS
