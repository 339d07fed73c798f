/* Passwords and keys, read from files that only the service may read. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* A private key in PEM form with its chain has less than 16 KiB; a larger file than this is a mistake. */
#define TIDE_SECRET_MAX_BYTES (64u * 1024)

/* The location of a secret: one of the two. */
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
 * tide_secret_read_file: the secret in the file at @path, without one final newline. Rejects relative paths, anything
 * but regular files, files that are world-readable or group-writable, and files that are empty, too large or contain a
 * NUL byte. Errors: TIDE_ERROR_CONFIG, with the command that fixes it. Ownership: (transfer full), free with
 * tide_secret_free().
 */
char *tide_secret_read_file(const char *path, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The same for a file or a credential in the directory of systemd's LoadCredential= ($CREDENTIALS_DIRECTORY). @source:
 * is set. */
char *tide_secret_read(const TideSecretSource *source, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The path of @source, for a library that reads the file itself. @source: is set. Ownership: (transfer full). */
char *tide_secret_path(const TideSecretSource *source, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* FALSE if tide_secret_read() would reject the file regardless of its content. @source: is set. */
gboolean tide_secret_check(const TideSecretSource *source, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Overwrites and frees the secret; NULL ok. */
void tide_secret_free(char *secret);

G_END_DECLS
