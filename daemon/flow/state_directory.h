/* The directory that systemd gives the program for what it keeps on this host: $STATE_DIRECTORY. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* NULL where there is none. (transfer full) */
char *tide_state_directory(void);

/* @name in it; NULL where there is none. (transfer full) */
char *tide_state_directory_path(const char *name);

G_END_DECLS
