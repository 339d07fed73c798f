/* Read-only questions about files and directories. */
#pragma once

#include <glib.h>
#include <sys/stat.h>

G_BEGIN_DECLS

/* Whether this process could make files in @directory, on whose file system is room. Errors: IO. */
gboolean tide_file_look_directory(const char *directory, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Whether another open file holds the lock (F_OFD_SETLK) of the file at @path; FALSE, too, where there is none. */
gboolean tide_file_look_is_locked(const char *path);

/* Tells whether a file is what it was, by what the file system says of it. */
typedef struct TideFileStamp {
  dev_t device;
  ino_t inode;
  off_t size_bytes;
  struct timespec changed; /* its content or its rights */
} TideFileStamp;

/* All zero where there is no such file. */
TideFileStamp tide_file_stamp(const char *path);
gboolean tide_file_stamp_equal(const TideFileStamp *a, const TideFileStamp *b);

G_END_DECLS
