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

static gboolean
check_file(const char *path, const struct stat *status, GError **error)
{
  guint mode = status->st_mode & 07777u;

  if (!S_ISREG(status->st_mode)) {
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_CONFIG, "the secret '%s' is not a regular file", path);
    return FALSE;
  }
  if ((mode & 0007u) != 0 || (mode & 0020u) != 0) {
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_CONFIG,
                "the secret '%s' has mode %04o: others could read or change it; run 'chmod 0640 %s'", path, mode, path);
    return FALSE;
  }
  if (status->st_size == 0) {
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_CONFIG, "the secret '%s' is empty", path);
    return FALSE;
  }
  return TRUE;
}

/* Up to TIDE_SECRET_MAX_BYTES + 1 bytes, NUL-terminated. */
static char *
read_all(const char *path, int fd, gsize *ret_len, GError **error)
{
  char *bytes = g_malloc0(TIDE_SECRET_MAX_BYTES + 2);
  gsize len = 0;

  while (len <= TIDE_SECRET_MAX_BYTES) {
    gssize n = read(fd, bytes + len, TIDE_SECRET_MAX_BYTES + 1 - len);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0) {
      g_set_error(error, TIDE_ERROR, TIDE_ERROR_CONFIG, "cannot read the secret '%s': %s", path, g_strerror(errno));
      tide_secret_free(bytes);
      return NULL;
    }
    if (n == 0)
      break;
    len += (gsize)n;
  }
  *ret_len = len;
  return bytes;
}

static gboolean
check_content(const char *path, char *secret, gsize len, GError **error)
{
  if (len > TIDE_SECRET_MAX_BYTES) {
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_CONFIG, "the secret '%s' is larger than %u bytes", path,
                TIDE_SECRET_MAX_BYTES);
    return FALSE;
  }
  if (memchr(secret, '\0', len) != NULL) {
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_CONFIG, "the secret '%s' holds a NUL byte: only text can be used", path);
    return FALSE;
  }
  /* Editors end a file with a newline that nobody means; more than one may be meant. */
  if (len > 0 && secret[len - 1] == '\n') {
    secret[--len] = '\0';
    if (len > 0 && secret[len - 1] == '\r')
      secret[--len] = '\0';
  }
  if (len == 0) {
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_CONFIG, "the secret '%s' is empty", path);
    return FALSE;
  }
  return TRUE;
}

static gboolean
check_open_file(const char *path, int fd, GError **error)
{
  struct stat status;
  if (fstat(fd, &status) != 0) {
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_CONFIG, "cannot read the secret '%s': %s", path, g_strerror(errno));
    return FALSE;
  }
  return check_file(path, &status, error);
}

static char *
read_open_file(const char *path, int fd, GError **error)
{
  gsize len = 0;

  if (!check_open_file(path, fd, error))
    return NULL;
  char *secret = read_all(path, fd, &len, error);
  if (secret != NULL && !check_content(path, secret, len, error)) {
    explicit_bzero(secret, len);
    g_free(secret);
    return NULL;
  }
  return secret;
}

/* -1 on error. */
static int
open_file(const char *path, GError **error)
{
  /* Not blocking: a FIFO by that name must not hang the start. */
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0)
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_CONFIG, "cannot open the secret '%s': %s", path, g_strerror(errno));
  return fd;
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

/* NULL, and an error, when there can be no such credential. */
static char *
credential_path(const char *name, GError **error)
{
  const char *directory = g_getenv("CREDENTIALS_DIRECTORY");

  if (*name == '\0' || strchr(name, '/') != NULL || strcmp(name, ".") == 0 || strcmp(name, "..") == 0) {
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_CONFIG,
                "'%s' is not the name of a credential: give the id from 'LoadCredential=ID:PATH'", name);
    return NULL;
  }
  if (directory == NULL) {
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_CONFIG,
                "the credential '%s' is not there: systemd passes it when the unit has 'LoadCredential=%s:/path' "
                "(elsewhere set CREDENTIALS_DIRECTORY, or name the file with 'file:')",
                name, name);
    return NULL;
  }
  return g_build_filename(directory, name, NULL);
}

char *
tide_secret_read_credential(const char *name, GError **error)
{
  g_autofree char *path = credential_path(name, error);
  return path != NULL ? tide_secret_read_file(path, error) : NULL;
}

char *
tide_secret_read(const TideSecretSource *source, GError **error)
{
  return source->file != NULL ? tide_secret_read_file(source->file, error)
                              : tide_secret_read_credential(source->credential, error);
}

char *
tide_secret_path(const TideSecretSource *source, GError **error)
{
  return source->file != NULL ? g_strdup(source->file) : credential_path(source->credential, error);
}

gboolean
tide_secret_check(const TideSecretSource *source, GError **error)
{
  g_autofree char *path = tide_secret_path(source, error);
  int fd = path != NULL ? open_file(path, error) : -1;
  if (fd < 0)
    return FALSE;
  gboolean is_good = check_open_file(path, fd, error);
  close(fd);
  return is_good;
}
