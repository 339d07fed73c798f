/* Reads the readings out of a message of InfluxDB's line protocol: a reading for each line. One pass; nothing is
 * allocated but a copy of the message.
 *
 * A line is "measurement,tag=value field=1i,other=\"text\" time". An empty line, and one that begins with "#", is none.
 * In this order it has the fields
 *
 *     measurement         STRING   the line's first word
 *     each tag            STRING   by the tag's name
 *     each field          NUMBER   1.5, 1i, 1u as they were written, without the letter, up to 64 bytes; with it, and
 *                                  the time, up to 64 bits; a form that JSON does not have is completed: .5 is 0.5,
 *                                  1. is 1, 007 is 7
 *                         BOOL     t, T, true, True, TRUE and so on: as declared
 *                         STRING   in quotes; \" and \\ are one byte, and a line break is one of the text
 *     $tags               STRING   if the configuration asks for it: all tags as name=value, by their names' bytes,
 * with commas between; a backslash before each comma, =, space and backslash of theirs time                NUMBER   the
 * line's own time; absent where it has none
 *
 * In the names of tags and fields and in the values of tags, "\," "\=" "\ " stand for what follows the backslash, and
 * so do the first and the last in the measurement; any other backslash is one. A tag or field called "time" or
 * "measurement" rejects its line, and so does one name twice.
 *
 * With TIDE_BAD_READING_ALONE any fault of a line is its own, but for a text in quotes that does not end: a line ends
 * at the first line break outside of quotes, whatever else is wrong with it. */
#pragma once

#include "decode/reading_builder.h"

G_BEGIN_DECLS

/* The fields that a line has beside its tags and its own fields. */
#define TIDE_INFLUX_MEASUREMENT "measurement"
#define TIDE_INFLUX_TIME "time"

/**
 * tide_influx_lines_run: add all readings of @message to @builder, whose message was begun.
 * @message: copied once into @scratch, in which names and texts are unescaped in place, and which the fields point into
 * Returns: FALSE with @ret_reject filled; then what @builder got is of no use.
 */
gboolean tide_influx_lines_run(const TideDecodeOptions *options, TideBytes message, TideScratch *scratch,
                               TideReadingBuilder *builder, TideReject *ret_reject) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
