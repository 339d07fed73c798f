/* One file while it is loaded: its records in order, and those behind the mark, which stay in memory because they may
 * be needed again. So nothing has to be found in the file a second time, and a pipe or a compressed file works like any
 * other.
 *
 * Threads: the consumer's that reads the file, unless noted otherwise. Memory: the window, and what file_text.h says
 * while the file is open, which it is until its end was read. */
#pragma once

#include "files/file_framing.h"
#include "files/file_mark.h"

G_BEGIN_DECLS

typedef struct TideFileReader TideFileReader;

typedef struct TideFileReaderOptions {
  const char *path;                /* borrowed, all but text */
  TideFileText *text;              /* (transfer full): of path, where that is open already; NULL: it is not */
  const TideDecodeOptions *decode; /* what is in it; the lines of a CSV that name its columns or are skipped are there
                                    * once, at its beginning, and each record gets them in front */
  const TideFileMark *mark;        /* where to begin; what it says of the file is compared with the file */
  /* Called now and then while much must be read before the mark. FALSE: give up. */
  gboolean (*go_on)(gpointer data);
  gpointer go_on_data;
} TideFileReaderOptions;

/* Errors: IO; DATA: the file is not the one that the mark was made of, or is damaged before the mark. */
TideFileReader *tide_file_reader_open(const TideFileReaderOptions *options, GError **error);
void tide_file_reader_free(TideFileReader *reader); /* NULL ok */

typedef struct TideFileRecord {
  gint64 offset;
  TideBytes text; /* the reader's; valid until the next fill */
} TideFileRecord;

/* The next record in memory; FALSE: there is none before the next fill. */
gboolean tide_file_reader_next(TideFileReader *reader, TideFileRecord *ret_record);

/* Reads more, until there is a record, a read would block, or the file ends. */
void tide_file_reader_fill(TideFileReader *reader);

/* A descriptor to wait for before the next fill; -1: it does not block. */
int tide_file_reader_waited_fd(const TideFileReader *reader);

/* Whether nothing is left to hand out. */
gboolean tide_file_reader_is_at_end(const TideFileReader *reader);

/* Why reading stopped before the file's end, a sentence; NULL: it did not. Borrowed. */
const char *tide_file_reader_problem(const TideFileReader *reader);

/* The offset behind the last record that was read. */
gint64 tide_file_reader_end_offset(const TideFileReader *reader);

/* In memory. */
gsize tide_file_reader_window_bytes(const TideFileReader *reader);

/* Of the file, as it is compressed: what was read, and what of that is before the mark it was opened at. Threads: any.
 */
guint64 tide_file_reader_raw_bytes(const TideFileReader *reader);
guint64 tide_file_reader_passed_bytes(const TideFileReader *reader);

/* tide_file_reader_next() goes on at @offset, which was not passed yet. */
void tide_file_reader_move(TideFileReader *reader, gint64 offset);

/* All records before @offset are done, and are dropped. Returns: the mark there. Its note is NULL. */
TideFileMark tide_file_reader_pass(TideFileReader *reader, gint64 offset);

/* Appends the record at @offset as it is handed out. FALSE: it was dropped. Threads: any. */
gboolean tide_file_reader_copy(TideFileReader *reader, gint64 offset, TideBuffer *out);

G_END_DECLS
