/* The text of a file, which may be compressed with gzip or zstd: its first bytes decide, not its name.
 *
 * Threads: one. Memory: 256 KiB and what the compression needs: of zstd up to 128 MiB, as the file says. */
#pragma once

#include "util/bytes.h"

#include <string.h>

G_BEGIN_DECLS

typedef struct TideFileText TideFileText;

/* Whether a file with this beginning is decompressed. */
gboolean tide_file_text_is_compressed(TideBytes beginning);

/* @path: "-" is standard input. Errors: IO. */
TideFileText *tide_file_text_open(const char *path, GError **error);
void tide_file_text_free(TideFileText *text); /* NULL ok */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideFileText, tide_file_text_free)

/**
 * tide_file_text_read: what comes next, of up to @capacity bytes.
 * @ret_n_bytes: 0: it has ended, or nothing has come yet of a pipe
 * Errors: IO; DATA: its compression is damaged, or ends in the middle. What was read before is good.
 */
gboolean tide_file_text_read(TideFileText *text, guint8 *to, gsize capacity, gsize *ret_n_bytes,
                             GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Whether nothing is left to read. */
gboolean tide_file_text_has_ended(const TideFileText *text);

/* Skips @n_bytes without reading them; FALSE, with nothing done, if the file must be read for that. */
gboolean tide_file_text_seek(TideFileText *text, guint64 n_bytes) G_GNUC_WARN_UNUSED_RESULT;

/* Bytes read of the file itself, as compressed: for progress. */
guint64 tide_file_text_raw_bytes(const TideFileText *text);

/* A descriptor to wait for if a read would block, as on a pipe; -1: it would not. */
int tide_file_text_waited_fd(const TideFileText *text);

/* The file's present state. Size and times of a pipe are 0. */
typedef struct TideFileState {
  guint64 device; /* with inode: which file it is, whatever names it has */
  guint64 inode;
  guint64 size_bytes;
  gint64 modified_ns; /* since the epoch */
  gint64 changed_ns;  /* the same, by the file system's clock: nobody can set it, as tar and rsync do the time before */
} TideFileState;

TideFileState tide_file_text_state(const TideFileText *text);

/* Removes the first @n_bytes of @buffer, which are done with: for this room's windows of a file. */
static inline void
tide_file_text_drop(TideBuffer *buffer, gsize n_bytes)
{
  if (n_bytes > 0)
    memmove(buffer->data, buffer->data + n_bytes, buffer->len - n_bytes);
  buffer->len -= n_bytes;
}

G_END_DECLS
