/* Reads the readings out of a message of comma-separated values (RFC 4180), or of values with another byte between
 * them: a reading for each line. One pass; nothing is allocated but a copy of the message.
 *
 * The columns are declared, or the first line of each message names them. A value becomes the field of its column:
 *
 *     "..."                      STRING   in quotes; "" is one quote, delimiters and line breaks are bytes of the text
 *     one of the null values     NULL
 *     a number, as JSON has it   NUMBER   as it was written, up to 64 bytes; 007 and +1 are none
 *     true, false                BOOL     as declared
 *     all else                   STRING   spaces are bytes like others
 *
 * A line ends with a line feed, or with a carriage return before one; empty lines are none. Each has as many values as
 * there are columns. A message of nothing but the names of columns is rejected as PARSE. A quote within a value that
 * has none around it, and a carriage return that stands alone, are faults; without options->csv.quotes a quote is a
 * byte like others.
 *
 * With TIDE_BAD_READING_ALONE a fault of a line is its own: PARSE, NUMBER, UTF8. A text in quotes that does not end,
 * and whatever is wrong with the names, is the message's: all lines share these. */
#pragma once

#include "decode/reading_builder.h"

G_BEGIN_DECLS

typedef struct TideCsvLines TideCsvLines;

/* @options: borrowed */
TideCsvLines *tide_csv_lines_new(const TideDecodeOptions *options);
void tide_csv_lines_free(TideCsvLines *lines); /* NULL ok */

/* Whether @byte may stand between values: ASCII, none that numbers, words, quotes or line breaks are made of. */
gboolean tide_csv_is_delimiter(char byte);

/**
 * tide_csv_lines_run: add all readings of @message to @builder, whose message was begun.
 * @message: copied once into @scratch, in which texts are unescaped in place, and which the fields point into
 * Returns: FALSE with @ret_reject filled; then what @builder got is of no use.
 * Threads: the owner's only. Allocates: only to grow.
 */
gboolean tide_csv_lines_run(TideCsvLines *lines, TideBytes message, TideScratch *scratch, TideReadingBuilder *builder,
                            TideReject *ret_reject) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
