/* The file of dead letters: groups of lines, each synced before it counts, in rotated files with a size limit.
 *
 * PATH is the current file. When it is full it is renamed to PATH.1, PATH.2 and so on; numbers never change, and the
 * greatest is the newest. PATH.lock is locked while the file is open, so that two daemons cannot write the same file. A
 * rename never replaces a file. An incomplete last line, as after a crash, is moved to PATH.torn before anything is
 * appended. An operator may move, remove or truncate any of these files at any time, including PATH.
 *
 * Threads: one at a time. Blocks: on the disk. */
#pragma once

#include "util/bytes.h"

G_BEGIN_DECLS

typedef struct TideDeadLetterFile TideDeadLetterFile;

typedef struct TideDeadLetterFileOptions {
  const char *path; /* copied */
  guint64 max_file_bytes;
  guint64 max_bytes; /* of PATH and all PATH.N together */
} TideDeadLetterFileOptions;

/**
 * tide_dead_letter_file_open: takes the lock, repairs the last line, and prepares for appending.
 * @ret_torn_bytes: bytes moved to PATH.torn; 0: none
 * Errors: IO, also for a file with other contents; IN_USE: another process has it. Ownership: (transfer full).
 */
TideDeadLetterFile *tide_dead_letter_file_open(const TideDeadLetterFileOptions *options, guint64 *ret_torn_bytes,
                                               GError **error) G_GNUC_WARN_UNUSED_RESULT;
void tide_dead_letter_file_free(TideDeadLetterFile *file); /* NULL ok */
void tide_dead_letter_file_set_limits(TideDeadLetterFile *file, guint64 max_file_bytes, guint64 max_bytes);

/**
 * tide_dead_letter_file_check: verifies that @fd, opened from @path, is a dead-letter file, by its last complete line.
 * An empty file passes. Other files belong to someone else and are not truncated. Errors: IO.
 */
gboolean tide_dead_letter_file_check(const char *path, int fd, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Sets @error to IN_USE, with the path of the file and the remedies. */
void tide_dead_letter_file_set_in_use(const char *path, GError **error);

/**
 * tide_dead_letter_file_append: appends the complete @lines and syncs them, all or none.
 * Errors: IO: nothing is kept, and a partial write is removed again; TOO_BIG: the files are full.
 */
gboolean tide_dead_letter_file_append(TideDeadLetterFile *file, TideBytes lines,
                                      GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The existing dead-letter files for @path, oldest first: PATH.1, PATH.2, ..., PATH. For readers; takes no lock.
 * Errors: IO: the directory cannot be listed. (transfer full) (element-type filename) */
GPtrArray *tide_dead_letter_file_list(const char *path, GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
