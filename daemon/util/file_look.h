/* Read-only checks of files and directories. */
#pragma once

#include <glib.h>
#include <sys/stat.h>

G_BEGIN_DECLS

/* TRUE if this process could create files in @directory and its file system has room. Errors: IO. */
gboolean tide_file_look_directory(const char *directory, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* TRUE if another open file holds the lock (F_OFD_SETLK) of the file at @path; FALSE also if there is no such file. */
gboolean tide_file_look_is_locked(const char *path);

/* Detects changes of a file by its metadata. */
typedef struct TideFileStamp {
  dev_t device;
  ino_t inode;
  off_t size_bytes;
  struct timespec changed; /* of its content or its permissions */
} TideFileStamp;

/* All zero if there is no such file. */
TideFileStamp tide_file_stamp(const char *path);
gboolean tide_file_stamp_equal(const TideFileStamp *a, const TideFileStamp *b);

G_END_DECLS
