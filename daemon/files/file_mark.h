/* How far a file was loaded: kept in a small file of its own, so that a load that was killed continues where HBase had
 * acknowledged everything, and one that is finished is not repeated.
 *
 * Threads: one at a time. */
#pragma once

#include "files/file_text.h"

G_BEGIN_DECLS

typedef struct TideFileMark {
  TideFileState file;     /* its size and times then; which file it was is not kept */
  gint64 offset;          /* of the next record: a line's number, from 1; in formats without lines a record's */
  guint64 position_bytes; /* where that begins in the text, as it is without its compression */
  guint32 crc32;          /* of the text before */
  gboolean was_kept;      /* it was read from the disk: a load before has begun with the file */
  gboolean is_finished;   /* all that was in the file is written */
  char *note;             /* owned: what is committed beside the offset (model/input.h) */
  char **destination;     /* owned (nullable): the names of all ways to where it was written; the mark does not hold for
                           * another place */
} TideFileMark;

/* The beginning of any file. */
#define TIDE_FILE_MARK_START                                                                                           \
  {                                                                                                                    \
    .offset = 1                                                                                                        \
  }

/* Whether a file in state @now has not changed since @mark was made, as far as size and times show. */
gboolean tide_file_mark_is_of(const TideFileMark *mark, const TideFileState *now);

void tide_file_mark_clear(TideFileMark *mark);

/**
 * tide_file_mark_path: where the mark of the file at @path is, in @directory.
 * @job: what is done with the files: a file that is loaded differently has another mark
 * (transfer full)
 */
char *tide_file_mark_path(const char *directory, const char *path, const char *job);

/* Replaces the mark at @mark_path; it is on the disk when this returns. @path: of the file, for people. Errors: IO. */
gboolean tide_file_mark_save(const TideFileMark *mark, const char *mark_path, const char *path,
                             GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* FALSE without an error: there is no mark. Errors: IO; DATA: it is damaged. */
gboolean tide_file_mark_load(const char *mark_path, TideFileMark *ret_mark, GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
