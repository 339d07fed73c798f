#include "util/secret_file.h"

#include "util/error.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void
tide_secret_free(char *secret)
{
  if (secret == NULL)
    return;
  explicit_bzero(secret, strlen(secret));
  g_free(secret);
}

/* Returns -1 on error. */
static int
open_file(const char *path, GError **error)
{
  /* Non-blocking: a FIFO by that name must not block the start. */
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0)
    (void)tide_fail(error, TIDE_ERROR_CONFIG, "cannot open the secret '%s': %s", path, g_strerror(errno));
  return fd;
}

static gboolean
check_file(const char *path, int fd, GError **error)
{
  struct stat status;
  if (fstat(fd, &status) != 0)
    return tide_fail(error, TIDE_ERROR_CONFIG, "cannot read the secret '%s': %s", path, g_strerror(errno));
  guint mode = status.st_mode & 07777u;
  if (!S_ISREG(status.st_mode))
    return tide_fail(error, TIDE_ERROR_CONFIG, "the secret '%s' is not a regular file", path);
  if ((mode & 0007u) != 0 || (mode & 0020u) != 0)
    return tide_fail(error, TIDE_ERROR_CONFIG,
                     "the secret '%s' has mode %04o, so others could read or change it; run 'chmod 0640 %s'", path,
                     mode, path);
  if (status.st_size == 0)
    return tide_fail(error, TIDE_ERROR_CONFIG, "the secret '%s' is empty", path);
  return TRUE;
}

/* Checks the content and removes a final newline. */
static gboolean
check_content(const char *path, char *secret, gsize len, GError **error)
{
  if (len > TIDE_SECRET_MAX_BYTES)
    return tide_fail(error, TIDE_ERROR_CONFIG, "the secret '%s' is larger than %u bytes", path, TIDE_SECRET_MAX_BYTES);
  if (memchr(secret, '\0', len) != NULL)
    return tide_fail(error, TIDE_ERROR_CONFIG, "the secret '%s' contains a NUL byte: only text can be used", path);
  /* Editors end a file with a newline that is not part of the secret; further newlines may be. */
  if (len > 0 && secret[len - 1] == '\n') {
    secret[--len] = '\0';
    if (len > 0 && secret[len - 1] == '\r')
      secret[--len] = '\0';
  }
  return len > 0 || tide_fail(error, TIDE_ERROR_CONFIG, "the secret '%s' is empty", path);
}

static char *
read_open_file(const char *path, int fd, GError **error)
{
  if (!check_file(path, fd, error))
    return NULL;
  char *secret = g_malloc0(TIDE_SECRET_MAX_BYTES + 2); /* one byte more than allowed, and a NUL */
  gsize len = 0;
  gssize n = 1;
  while (n > 0 && len <= TIDE_SECRET_MAX_BYTES) {
    do
      n = read(fd, secret + len, TIDE_SECRET_MAX_BYTES + 1 - len);
    while (n < 0 && errno == EINTR);
    len += (gsize)MAX(n, 0);
  }
  if (n < 0)
    (void)tide_fail(error, TIDE_ERROR_CONFIG, "cannot read the secret '%s': %s", path, g_strerror(errno));
  if (n >= 0 && check_content(path, secret, len, error))
    return secret;
  explicit_bzero(secret, len);
  g_free(secret);
  return NULL;
}

char *
tide_secret_read_file(const char *path, GError **error)
{
  int fd = open_file(path, error);
  if (fd < 0)
    return NULL;
  char *secret = read_open_file(path, fd, error);
  close(fd);
  return secret;
}

char *
tide_secret_path(const TideSecretSource *source, GError **error)
{
  const char *name = source->credential, *directory = g_getenv("CREDENTIALS_DIRECTORY");
  if (source->file != NULL)
    return g_strdup(source->file);
  if (*name == '\0' || strchr(name, '/') != NULL || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
    (void)tide_fail(error, TIDE_ERROR_CONFIG,
                    "'%s' is not the name of a credential: give the id from 'LoadCredential=ID:PATH'", name);
  else if (directory == NULL)
    (void)tide_fail(error, TIDE_ERROR_CONFIG,
                    "the credential '%s' is missing: systemd passes it if the unit has 'LoadCredential=%s:/path' "
                    "(elsewhere set CREDENTIALS_DIRECTORY, or name the file with 'file:')",
                    name, name);
  else
    return g_build_filename(directory, name, NULL);
  return NULL;
}

char *
tide_secret_read(const TideSecretSource *source, GError **error)
{
  g_autofree char *path = tide_secret_path(source, error);
  return path != NULL ? tide_secret_read_file(path, error) : NULL;
}

gboolean
tide_secret_check(const TideSecretSource *source, GError **error)
{
  g_autofree char *path = tide_secret_path(source, error);
  int fd = path != NULL ? open_file(path, error) : -1;
  if (fd < 0)
    return FALSE;
  gboolean is_good = check_file(path, fd, error);
  close(fd);
  return is_good;
}
