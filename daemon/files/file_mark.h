/* The progress of a file's load, kept in a small file: a load that was killed continues where HBase had acknowledged
 * everything, and a finished one is not repeated.
 *
 * Threads: one at a time. */
#pragma once

#include "files/file_text.h"

G_BEGIN_DECLS

typedef struct TideFileMark {
  TideFileState file;     /* its size and times then; its identity is not stored */
  gint64 offset;          /* of the next record: the line number from 1, or the record number in formats without
                           * lines */
  guint64 position_bytes; /* start of that record in the decompressed text */
  guint32 crc32;          /* of the text before it */
  gboolean was_kept;      /* read from disk: an earlier load has begun this file */
  gboolean is_finished;   /* everything in the file is written */
  char *note;             /* owned: the note committed with the offset (model/input.h) */
  char **destination;     /* owned (nullable): all addresses of the place it was written to; the mark is not valid for
                           * another place */
} TideFileMark;

/* The mark at the beginning of any file. */
#define TIDE_FILE_MARK_START                                                                                           \
  {                                                                                                                    \
    .offset = 1                                                                                                        \
  }

/* TRUE if a file in state @now has not changed since @mark was made, judging by size and times. */
gboolean tide_file_mark_is_of(const TideFileMark *mark, const TideFileState *now);

void tide_file_mark_clear(TideFileMark *mark);

/**
 * tide_file_mark_path: the path in @directory of the mark of the file at @path.
 * @job: how the files are loaded: the same file loaded differently has another mark
 * (transfer full)
 */
char *tide_file_mark_path(const char *directory, const char *path, const char *job);

/* Replaces the mark at @mark_path; it is on disk when this returns. @path: the file's, for people. Errors: IO. */
gboolean tide_file_mark_save(const TideFileMark *mark, const char *mark_path, const char *path,
                             GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* FALSE without an error: there is no mark. Errors: IO; DATA: it is damaged. */
gboolean tide_file_mark_load(const char *mark_path, TideFileMark *ret_mark, GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
