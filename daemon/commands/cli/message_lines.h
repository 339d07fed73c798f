/* Messages given on standard input or in a file: one a line, all of it as one, or as `load` reads it. */
#pragma once

#include "files/file_reader.h"
#include "model/message.h"

#include <stdio.h>

G_BEGIN_DECLS

/* @line: without its line break; valid during the call. FALSE ends the reading: with an error set as a failure, without
 * one as if the input had ended. */
typedef gboolean (*TideMessageLineFunc)(TideBytes line, gpointer data, GError **error);

/* Of a line, or of a message: what a line of dead letters may have, which is more than any message that is taken. */
#define TIDE_LINE_MAX_BYTES (256u * 1024 * 1024)

/**
 * tide_line_read: the next line of @stream into @line, its newline included where it has one; empty at the end, and
 * where reading fails (ferror()). Returns: FALSE: it is longer than TIDE_LINE_MAX_BYTES; @line is empty, and the rest
 * of it is what comes next.
 */
gboolean tide_line_read(FILE *stream, TideBuffer *line) G_GNUC_WARN_UNUSED_RESULT;

/* Hands each line of @stream to @func. @name: of the stream, for errors. FALSE: @func failed, TIDE_ERROR_IO, or
 * TIDE_ERROR_TOO_BIG. */
gboolean tide_message_lines_read(FILE *stream, const char *name, TideMessageLineFunc func, gpointer data,
                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The same with all of @stream, byte for byte, as the one message. TIDE_ERROR_DATA: it is a file of many. */
gboolean tide_message_read_whole(FILE *stream, const char *name, TideMessageLineFunc func, gpointer data,
                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The same of the file at @path: each of its lines, or all of it as one. */
gboolean tide_message_path_read(const char *path, gboolean is_whole, TideMessageLineFunc func, gpointer data,
                                GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Whether a stream holds one message, as it can hold no lines that are each one: of the binary formats, in which any
 * byte may be a line break, and of lines below a header. */
gboolean tide_message_is_whole(const TideDecodeOptions *decode);

/* What helps where @message is not in the format of @decode, and its bytes say why: it is a JSON text that holds JSON.
 * NULL: they do not. */
const char *tide_message_remedy(const TideDecodeOptions *decode, TideBytes message);

/* What is read of a file that `load` may read. */
typedef struct TideMessageFile {
  TideFileReader *reader; /* borrowed, at the file's beginning */
  const char *path;       /* borrowed: what messages have for a topic */
  gint64 begin;           /* records [begin, end) */
  gint64 end;
} TideMessageFile;

/**
 * tide_message_file_read: hands each record to @func, as the message that the daemon would have of it, up to the file's
 * end or the place where it cannot be read further: see tide_file_reader_problem().
 * @func: returns the offset that is wanted next; below 0: no more
 * @go_on: asked before each piece of the file; FALSE: no more
 * Returns: the offset that was wanted in the end.
 */
gint64 tide_message_file_read(const TideMessageFile *file, gint64 (*func)(const TideMessage *message, gpointer data),
                              gboolean (*go_on)(gpointer data), gpointer data);

G_END_DECLS
