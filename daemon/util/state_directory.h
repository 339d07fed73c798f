/* The directory that systemd gives the program for what it keeps on this host: $STATE_DIRECTORY. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* NULL where there is none. (transfer full) */
char *tide_state_directory(void);

/* @name in it; NULL where there is none. (transfer full) */
char *tide_state_directory_path(const char *name);

/* For what a command keeps: @chosen, else the directory above, else the user's own; it may not be there. (transfer
 * full)
 */
char *tide_state_directory_place(const char *chosen);

/**
 * tide_state_directory_of_user: that place, which is made where it is not there. Returns: (transfer full); NULL:
 * nothing can be kept there, and errno says why.
 */
char *tide_state_directory_of_user(const char *chosen);

/**
 * tide_state_directory_lock: makes sure that no other daemon uses the directory, until the process ends, however it
 * does. Returns: a descriptor to keep open, -1 where there is no directory; on failure -1 with @error set. Errors:
 * IN_USE: another process has it; IO: it cannot be locked.
 */
int tide_state_directory_lock(GError **error);

/**
 * tide_state_directory_keep: @path of the directory holds @content from now on, or still what it held before. Where the
 * disk takes nothing, @content is kept in memory, and tide_state_directory_retry() tries again.
 * Errors: IO. Threads: any. Blocks: for the disk.
 */
gboolean tide_state_directory_keep(const char *path, const char *content, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Tries again to write what could not be. Returns: how many files were written; for a timer of some seconds. */
guint tide_state_directory_retry(void);

/**
 * tide_state_directory_instance: a name for this daemon in a consumer group, the same at each start.
 * @topics: what it reads, NULL-terminated
 * Returns: (transfer full): the host's name and twelve hex digits, which depend on the directory (a file in it holds
 * what no other has), the machine and @topics: a copy of either on another machine is another daemon, and so is one
 * that reads other topics, for brokers give a lasting member the partitions that it had. NULL where there is no
 * directory, or with @error set (IO): it is tried again for the next start, as above.
 * Only for who holds the lock.
 */
char *tide_state_directory_instance(char **topics, GError **error);

/* Whether a daemon holds the lock of @directory. */
gboolean tide_state_directory_is_in_use(const char *directory);

/* Whether tide_state_directory_lock() would get it, without taking it; TRUE where there is no directory. Errors: as
 * there. */
gboolean tide_state_directory_look(GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
