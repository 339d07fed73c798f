/* The decompressed text of a file. Its first bytes, not its name, decide between gzip, zstd and no compression.
 *
 * Threads: one. Memory: 256 KiB and the decompressor's: for zstd up to 128 MiB, depending on the file. */
#pragma once

#include "util/bytes.h"

#include <string.h>

G_BEGIN_DECLS

typedef struct TideFileText TideFileText;

/* TRUE if a file with this beginning is decompressed. */
gboolean tide_file_text_is_compressed(TideBytes beginning);

/* @path: "-" is standard input. Errors: IO. */
TideFileText *tide_file_text_open(const char *path, GError **error);
void tide_file_text_free(TideFileText *text); /* NULL ok */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideFileText, tide_file_text_free)

/**
 * tide_file_text_read: read up to @capacity bytes.
 * @ret_n_bytes: 0: the text has ended, or a pipe has no data yet
 * Errors: IO; DATA: the compressed data is damaged or truncated. Bytes read before are valid.
 */
gboolean tide_file_text_read(TideFileText *text, guint8 *to, gsize capacity, gsize *ret_n_bytes,
                             GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* TRUE if nothing is left to read. */
gboolean tide_file_text_has_ended(const TideFileText *text);

/* Skips @n_bytes without reading them; FALSE, without effect, if that requires reading. */
gboolean tide_file_text_seek(TideFileText *text, guint64 n_bytes) G_GNUC_WARN_UNUSED_RESULT;

/* Bytes read from the file before decompression: for progress. */
guint64 tide_file_text_raw_bytes(const TideFileText *text);

/* A descriptor to wait for if a read would block, as on a pipe; -1: it would not. */
int tide_file_text_waited_fd(const TideFileText *text);

/* The file's current state. Size and times of a pipe are 0. */
typedef struct TideFileState {
  guint64 device; /* with inode: identifies the file, whatever its names */
  guint64 inode;
  guint64 size_bytes;
  gint64 modified_ns; /* since the epoch */
  gint64 changed_ns;  /* ctime: unlike the modification time, it cannot be set by tar or rsync */
} TideFileState;

TideFileState tide_file_text_state(const TideFileText *text);

/* Removes the first @n_bytes of @buffer, which are done: for this room's windows of a file. */
static inline void
tide_file_text_drop(TideBuffer *buffer, gsize n_bytes)
{
  if (n_bytes > 0)
    memmove(buffer->data, buffer->data + n_bytes, buffer->len - n_bytes);
  buffer->len -= n_bytes;
}

G_END_DECLS
