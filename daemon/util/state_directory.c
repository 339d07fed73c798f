#define _GNU_SOURCE
#include "util/state_directory.h"

#include "util/error.h"
#include "util/file_look.h"
#include "util/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LOCK_NAME "tidemark.lock"
#define INSTANCE_NAME "instance"

/* Maximum length of the host's name in a member's name: Kafka allows 249 bytes in total. */
#define MAX_HOST_BYTES 128u
#define DIGITS "0123456789"

char *
tide_state_directory(void)
{
  /* systemd sets one path for each directory of the unit, separated by colons; tidemark's unit has one. */
  const char *directories = g_getenv("STATE_DIRECTORY");
  if (directories == NULL || directories[0] == '\0' || directories[0] == ':')
    return NULL;
  return g_strndup(directories, strcspn(directories, ":"));
}

char *
tide_state_directory_path(const char *name)
{
  g_autofree char *directory = tide_state_directory();
  return directory != NULL ? g_build_filename(directory, name, NULL) : NULL;
}

/* Reads the process id that the holder of the lock has written; 0 if it has not yet. */
static int
read_holder(int fd)
{
  char text[24] = {0};
  gssize n = pread(fd, text, sizeof text - 1, 0);
  return n > 0 ? (int)g_ascii_strtoll(text, NULL, 10) : 0;
}

static gboolean
fail_in_use(const char *path, int holder, GError **error)
{
  return tide_fail(
      error, TIDE_ERROR_IN_USE,
      "process %d uses this state directory: it holds '%s'; give each daemon its own directory, or stop that process",
      holder, path);
}

gboolean
tide_state_directory_look(GError **error)
{
  g_autofree char *directory = tide_state_directory();
  if (directory == NULL)
    return TRUE;
  if (!tide_file_look_directory(directory, error))
    return FALSE;
  g_autofree char *path = tide_state_directory_path(LOCK_NAME);
  if (!tide_file_look_is_locked(path))
    return TRUE;
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  int holder = fd >= 0 ? read_holder(fd) : 0;
  if (fd >= 0)
    close(fd);
  return fail_in_use(path, holder, error);
}

gboolean
tide_state_directory_is_in_use(const char *directory)
{
  g_autofree char *path = g_build_filename(directory, LOCK_NAME, NULL);
  return tide_file_look_is_locked(path);
}

char *
tide_state_directory_place(const char *chosen)
{
  char *directory = chosen != NULL ? g_strdup(chosen) : tide_state_directory();
  return directory != NULL ? directory : g_build_filename(g_get_user_state_dir(), "tidemark", NULL);
}

char *
tide_state_directory_of_user(const char *chosen)
{
  char *directory = tide_state_directory_place(chosen);
  if (g_mkdir_with_parents(directory, 0700) == 0)
    return directory;
  g_free(directory);
  return NULL;
}

int
tide_state_directory_lock(GError **error)
{
  g_autofree char *path = tide_state_directory_path(LOCK_NAME);
  if (path == NULL)
    return -1;
  int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600); /* following a link would truncate another
                                                                         * file */
  if (fd < 0) {
    (void)tide_fail(error, TIDE_ERROR_IO, "cannot open '%s': %s", path, g_strerror(errno));
    return -1;
  }
  /* A lock of the open file: it ends with the process, and is not released by closing another descriptor of the
   * file. */
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  if (fcntl(fd, F_OFD_SETLK, &lock) == 0) {
    /* For processes that find the lock taken: a failure to write it does not prevent running. */
    if (ftruncate(fd, 0) == 0)
      (void)dprintf(fd, "%d\n", (int)getpid());
    return fd;
  }
  if (errno == EAGAIN || errno == EACCES)
    (void)fail_in_use(path, read_holder(fd), error);
  else
    (void)tide_fail(error, TIDE_ERROR_IO, "cannot lock '%s': %s", path, g_strerror(errno));
  close(fd);
  return -1;
}

/* ---- deferred writes ---- */

static TideMutex waiting_lock = {PTHREAD_MUTEX_INITIALIZER};
static GHashTable *waiting; /* under waiting_lock: owned path to owned content; created on first use */

gboolean
tide_state_directory_keep(const char *path, const char *content, GError **error)
{
  gboolean is_kept = g_file_set_contents_full(path, content, -1, G_FILE_SET_CONTENTS_CONSISTENT, 0600, error);
  tide_mutex_lock(&waiting_lock);
  if (!is_kept && waiting == NULL)
    waiting = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
  if (!is_kept)
    g_hash_table_insert(waiting, g_strdup(path), g_strdup(content));
  else if (waiting != NULL)
    g_hash_table_remove(waiting, path);
  tide_mutex_unlock(&waiting_lock);
  return is_kept;
}

/* Returns a waiting file that was not yet tried in this round. (transfer full) */
static char *
next_waiting(const GPtrArray *tried, char **ret_content)
{
  char *path = NULL;
  tide_mutex_lock(&waiting_lock);
  GHashTableIter iter;
  gpointer key, value;
  if (waiting != NULL)
    g_hash_table_iter_init(&iter, waiting);
  while (waiting != NULL && path == NULL && g_hash_table_iter_next(&iter, &key, &value))
    if (!g_ptr_array_find_with_equal_func((GPtrArray *)tried, key, g_str_equal, NULL)) {
      path = g_strdup(key);
      *ret_content = g_strdup(value);
    }
  tide_mutex_unlock(&waiting_lock);
  return path;
}

guint
tide_state_directory_retry(void)
{
  g_autoptr(GPtrArray) tried = g_ptr_array_new_with_free_func(g_free);
  guint n_kept = 0;
  char *content = NULL, *path;
  while ((path = next_waiting(tried, &content)) != NULL) {
    n_kept += tide_state_directory_keep(path, content, NULL) ? 1 : 0;
    g_clear_pointer(&content, g_free);
    g_ptr_array_add(tried, path);
  }
  return n_kept;
}

/* ---- the static member name ---- */

/* Reads the file, and creates it if missing. NULL with @error set. */
static char *
member_secret(const char *path, GError **error)
{
  char *text = NULL;
  if (g_file_get_contents(path, &text, NULL, NULL) && strlen(text) > 1)
    return text;
  g_free(text);
  text = g_strdup_printf("%08x%08x\n", g_random_int(), g_random_int());
  g_autoptr(GError) problem = NULL;
  if (tide_state_directory_keep(path, text, &problem))
    return text;
  g_free(text);
  (void)tide_fail(error, TIDE_ERROR_IO, "cannot store this daemon's static member name: %s", problem->message);
  return NULL;
}

char *
tide_state_directory_instance(char **topics, GError **error)
{
  g_autofree char *path = tide_state_directory_path(INSTANCE_NAME);
  g_autofree char *secret = path != NULL ? member_secret(path, error) : NULL;
  if (secret == NULL)
    return NULL;
  g_autofree char *machine = NULL;
  (void)g_file_get_contents("/etc/machine-id", &machine, NULL, NULL);
  g_autofree char *all_topics = g_strjoinv("\n", topics);
  g_autofree char *all = g_strjoin("\n", secret, machine != NULL ? machine : "", all_topics, NULL);
  g_autofree char *digest = g_compute_checksum_for_string(G_CHECKSUM_SHA256, all, -1);
  g_autofree char *host = g_strndup(g_get_host_name(), MAX_HOST_BYTES);
  g_strcanon(host, G_CSET_a_2_z G_CSET_A_2_Z DIGITS "._-", '-');
  return g_strdup_printf("%s-%.12s", host, digest);
}
