/* Reads messages from standard input or a file: one per line, the whole input as one, or as `load` does. */
#pragma once

#include "files/file_reader.h"
#include "model/message.h"

#include <stdio.h>

G_BEGIN_DECLS

/* @line: without its line break; valid during the call. FALSE ends the reading: as a failure if an error is set,
 * otherwise as if the input had ended. */
typedef gboolean (*TideMessageLineFunc)(TideBytes line, gpointer data, GError **error);

/* Maximum length of a line or message: that of a line of dead letters, which exceeds any valid message. */
#define TIDE_LINE_MAX_BYTES (256u * 1024 * 1024)

/**
 * tide_line_read: read the next line of @stream into @line, including its newline if it has one; empty at the end, and
 * on failure (ferror()). Returns: FALSE: it is longer than TIDE_LINE_MAX_BYTES; @line is empty, and the next call reads
 * its rest.
 */
gboolean tide_line_read(FILE *stream, TideBuffer *line) G_GNUC_WARN_UNUSED_RESULT;

/* Passes each line of @stream to @func. @name: of the stream, for errors. FALSE: @func failed, TIDE_ERROR_IO, or
 * TIDE_ERROR_TOO_BIG. */
gboolean tide_message_lines_read(FILE *stream, const char *name, TideMessageLineFunc func, gpointer data,
                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The same with the whole of @stream, byte for byte, as one message. TIDE_ERROR_DATA: it is a file of many. */
gboolean tide_message_read_whole(FILE *stream, const char *name, TideMessageLineFunc func, gpointer data,
                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The same for the file at @path (NULL: standard input, with a hint on a terminal): each of its lines, or the whole
 * file as one message. */
gboolean tide_message_path_read(const char *path, gboolean is_whole, TideMessageLineFunc func, gpointer data,
                                GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* TRUE if a stream can only contain one message: in the binary formats, where any byte may be a line break, and in
 * formats with a header line. */
gboolean tide_message_is_whole(const TideDecodeOptions *decode);

/* The remedy if @message is not in the format of @decode and its bytes show why: it is a JSON string that contains
 * JSON. NULL: unknown. */
const char *tide_message_remedy(const TideDecodeOptions *decode, TideBytes message);

/* A part of a file in a format of `load`. */
typedef struct TideMessageFile {
  TideFileReader *reader; /* borrowed, at the file's beginning */
  const char *path;       /* borrowed: used as the messages' topic */
  gint64 begin;           /* records [begin, end) */
  gint64 end;
} TideMessageFile;

/**
 * tide_message_file_read: pass each record to @func, as the message that the daemon would read, up to the file's end or
 * its first unreadable byte: see tide_file_reader_problem().
 * @func: returns the next offset wanted; negative: no more
 * @go_on: called before each part of the file; FALSE: stop
 * Returns: the last offset wanted.
 */
gint64 tide_message_file_read(const TideMessageFile *file, gint64 (*func)(const TideMessage *message, gpointer data),
                              gboolean (*go_on)(gpointer data), gpointer data);

G_END_DECLS
