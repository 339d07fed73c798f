/* The file of dead letters: groups of lines, each synced before it counts, in files that are rotated and bounded.
 *
 * PATH is being written; when it has reached its size it becomes PATH.1, PATH.2, ...: a number never changes, and the
 * greatest is the newest. PATH.lock is held for as long as the file is open, so that two daemons do not write one file.
 * No file is ever renamed over another. A last line without an end, which a crash leaves, is moved to PATH.torn before
 * anything is appended. An operator may move, remove or cut short any of them at any time, PATH too.
 *
 * Threads: one at a time. Blocks: on the disk. */
#pragma once

#include "util/bytes.h"

G_BEGIN_DECLS

typedef struct TideDeadLetterFile TideDeadLetterFile;

typedef struct TideDeadLetterFileOptions {
  const char *path; /* copied */
  guint64 max_file_bytes;
  guint64 max_bytes; /* of PATH and all PATH.N */
} TideDeadLetterFileOptions;

/**
 * tide_dead_letter_file_open: take the lock, repair the last line, and be ready to append.
 * @ret_torn_bytes: what was moved to PATH.torn; 0: nothing
 * Errors: IO, also of a file that holds something else; IN_USE: another process has it. Ownership: (transfer full).
 */
TideDeadLetterFile *tide_dead_letter_file_open(const TideDeadLetterFileOptions *options, guint64 *ret_torn_bytes,
                                               GError **error) G_GNUC_WARN_UNUSED_RESULT;
void tide_dead_letter_file_free(TideDeadLetterFile *file); /* NULL ok */
void tide_dead_letter_file_set_limits(TideDeadLetterFile *file, guint64 max_file_bytes, guint64 max_bytes);

/**
 * tide_dead_letter_file_check: whether what @fd has open, @path, is a file of dead letters, by the last line that ends; an
 * empty one is. What is not is somebody else's: nothing is cut off there.
 * Errors: IO.
 */
gboolean tide_dead_letter_file_check(const char *path, int fd, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Sets @error to IN_USE: who keeps dead letters in the file at @path, and what to do. */
void tide_dead_letter_file_set_in_use(const char *path, GError **error);

/**
 * tide_dead_letter_file_append: append @lines, whole lines, and sync them; all or nothing.
 * Errors: IO: nothing was kept (what was written of it is cut off again); TOO_BIG: the files are full.
 */
gboolean tide_dead_letter_file_append(TideDeadLetterFile *file, TideBytes lines,
                                      GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The files of dead letters at @path, oldest first, as far as they exist: PATH.1, PATH.2, ..., PATH. For readers; takes
 * no lock. Errors: IO: the directory cannot be listed. (transfer full) (element-type filename) */
GPtrArray *tide_dead_letter_file_list(const char *path, GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
