/* Reads one file during a load. Records after the mark stay in memory, because they may be needed again. So the file is
 * read only once, and pipes and compressed files work like any other.
 *
 * Threads: the consumer's that reads the file, unless noted otherwise. Memory: the window, and that of file_text.h
 * until the end of the file is read. */
#pragma once

#include "files/file_framing.h"
#include "files/file_mark.h"

G_BEGIN_DECLS

typedef struct TideFileReader TideFileReader;

typedef struct TideFileReaderOptions {
  const char *path;                /* borrowed, like all members except text */
  TideFileText *text;              /* (transfer full): the opened file at path; NULL: not yet open */
  const TideDecodeOptions *decode; /* its format; a CSV header and skipped lines occur only once, at the beginning, and
                                    * are prepended to each record */
  const TideFileMark *mark;        /* where to start; its description of the file is compared with the file */
  /* Called at intervals while much is read before the mark. FALSE: cancel. */
  gboolean (*go_on)(gpointer data);
  gpointer go_on_data;
} TideFileReaderOptions;

/* Errors: IO; DATA: the mark was made for another file, or the file is damaged before the mark. */
TideFileReader *tide_file_reader_open(const TideFileReaderOptions *options, GError **error);
void tide_file_reader_free(TideFileReader *reader); /* NULL ok */

typedef struct TideFileRecord {
  gint64 offset;
  TideBytes text; /* owned by the reader; valid until the next fill */
} TideFileRecord;

/* Returns the next record in memory; FALSE: none until the next fill. */
gboolean tide_file_reader_next(TideFileReader *reader, TideFileRecord *ret_record);

/* Reads until there is a record, a read would block, or the file ends. */
void tide_file_reader_fill(TideFileReader *reader);

/* A descriptor to wait for before the next fill; -1: it does not block. */
int tide_file_reader_waited_fd(const TideFileReader *reader);

/* TRUE if all records were delivered. */
gboolean tide_file_reader_is_at_end(const TideFileReader *reader);

/* Why reading stopped before the file's end, as a sentence; NULL: it did not. Borrowed. */
const char *tide_file_reader_problem(const TideFileReader *reader);

/* The offset after the last record read. */
gint64 tide_file_reader_end_offset(const TideFileReader *reader);

/* Bytes in memory. */
gsize tide_file_reader_window_bytes(const TideFileReader *reader);

/* Bytes of the file before decompression: bytes read, and those of them before the initial mark. Threads: any. */
guint64 tide_file_reader_raw_bytes(const TideFileReader *reader);
guint64 tide_file_reader_passed_bytes(const TideFileReader *reader);

/* Makes tide_file_reader_next() continue at @offset, which must not be passed yet. */
void tide_file_reader_move(TideFileReader *reader, gint64 offset);

/* Drops all records before @offset, which are done. Returns: the mark there, with a NULL note. */
TideFileMark tide_file_reader_pass(TideFileReader *reader, gint64 offset);

/* Appends the record at @offset as it was delivered. FALSE: it was dropped. Threads: any. */
gboolean tide_file_reader_copy(TideFileReader *reader, gint64 offset, TideBuffer *out);

G_END_DECLS
