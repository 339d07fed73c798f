/* Messages given as text, one a line, on standard input or in a file. */
#pragma once

#include "util/bytes.h"

#include <stdio.h>

G_BEGIN_DECLS

/* @line: without its line break; valid during the call. FALSE ends the reading: with an error set as a failure, without
 * one as if the input had ended. */
typedef gboolean (*TideMessageLineFunc)(TideBytes line, gpointer data, GError **error);

/* Hands each line of @stream to @func. @name: of the stream, for errors. FALSE: @func failed, or TIDE_ERROR_IO. */
gboolean tide_message_lines_read(FILE *stream, const char *name, TideMessageLineFunc func, gpointer data,
                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
