/* Reads the readings out of a message of InfluxDB's line protocol: a reading for each line. The forms are those of
 * decoder.h. One pass; nothing is allocated but a copy of the message. */
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
