/* The directory for state on this host, which systemd passes in $STATE_DIRECTORY. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* NULL if there is none. (transfer full) */
char *tide_state_directory(void);

/* The path of @name in it; NULL if there is none. (transfer full) */
char *tide_state_directory_path(const char *name);

/* The directory for a command's state: @chosen, else the directory above, else the user's own; it may not exist.
 * (transfer full) */
char *tide_state_directory_place(const char *chosen);

/**
 * tide_state_directory_of_user: the same directory, created if missing. Returns: (transfer full); NULL: it cannot be
 * used, with the reason in errno.
 */
char *tide_state_directory_of_user(const char *chosen);

/**
 * tide_state_directory_lock: prevent other daemons from using the directory until the process ends, in any way.
 * Returns: a descriptor to keep open, -1 if there is no directory; on failure -1 with @error set. Errors: IN_USE:
 * another process has it; IO: it cannot be locked.
 */
int tide_state_directory_lock(GError **error);

/**
 * tide_state_directory_keep: make the directory's file @path contain @content, or leave its old content on failure. If
 * the disk cannot be written, @content is kept in memory, and tide_state_directory_retry() tries again.
 * Errors: IO. Threads: any. Blocks: for the disk.
 */
gboolean tide_state_directory_keep(const char *path, const char *content, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Retries failed writes. Returns: how many files were written; call from a timer of some seconds. */
guint tide_state_directory_retry(void);

/**
 * tide_state_directory_instance: the name of this daemon as a static group member, the same at each start.
 * @topics: the topics it reads, NULL-terminated
 * Returns: (transfer full): the host's name and twelve hex digits, which depend on the directory (by a file with a
 * unique content), the machine and @topics. A copy of either on another machine is another daemon, and so is one that
 * reads other topics, because brokers give a static member its previous partitions. NULL if there is no directory, or
 * with @error set (IO): the next start tries again, as above. Only for the holder of the lock.
 */
char *tide_state_directory_instance(char **topics, GError **error);

/* Whether a daemon holds the lock of @directory. */
gboolean tide_state_directory_is_in_use(const char *directory);

/* Checks that tide_state_directory_lock() would succeed, without locking; TRUE if there is no directory. Errors: as
 * there. */
gboolean tide_state_directory_look(GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
