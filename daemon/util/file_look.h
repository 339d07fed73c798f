/* Read-only questions about files and directories. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Whether this process could make files in @directory, on whose file system is room. Errors: IO. */
gboolean tide_file_look_directory(const char *directory, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Whether another open file holds the lock (F_OFD_SETLK) of the file at @path; FALSE, too, where there is none. */
gboolean tide_file_look_is_locked(const char *path);

G_END_DECLS
