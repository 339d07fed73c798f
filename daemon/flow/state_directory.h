/* The directory that systemd gives the program for what it keeps on this host: $STATE_DIRECTORY. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* NULL where there is none. (transfer full) */
char *tide_state_directory(void);

/* @name in it; NULL where there is none. (transfer full) */
char *tide_state_directory_path(const char *name);

/**
 * tide_state_directory_lock: makes sure that no other daemon uses the directory, until the process ends, however it does.
 * Returns: a descriptor to keep open, -1 where there is no directory; on failure -1 with @error set.
 * Errors: IN_USE: another process has it; IO: it cannot be locked.
 */
int tide_state_directory_lock(GError **error);

G_END_DECLS
