/* Reads the readings out of a message in Avro's binary encoding, by the schema that it was written with. No length or
 * number of elements is trusted: nothing is taken for one before its bytes are there, and what takes no bytes is
 * counted.
 *
 * The message is a record, or an array of records; a union counts as what it holds. A field becomes one by its type:
 *
 *     string             STRING   must be UTF-8
 *     enum               STRING   its symbol
 *     bytes, fixed       STRING   in hex, lower case: its bytes are any
 *     int, long          NUMBER
 *     float, double      NUMBER   as short as it can be to be read back; one that is not finite is a NUMBER fault
 *     decimal            NUMBER   exactly, with as many digits behind the point as its scale, up to 64 bytes in all
 *     timestamp, time    NUMBER   seconds, since 1970 or midnight, with all digits of its unit behind the point where
 *                                 it has a fraction: whatever the unit, and a local timestamp as if it were UTC's
 *     date               STRING   2015-03-16; outside of the years 1 to 9999 a NUMBER fault
 *     boolean, null      as in JSON
 *     record, map        as JSON's objects
 *     array              as declared, its text as JSON
 *     union              as what it holds
 *
 * With TIDE_BAD_READING_ALONE the faults of JSON that are the reading's own are so here, and UTF8 too. */
#pragma once

#include "decode/avro_schema.h"
#include "decode/reading_builder.h"

G_BEGIN_DECLS

/**
 * tide_avro_walk_run: add all readings of @message to @builder, whose message was begun.
 * @schema: borrowed for as long as the readings are used
 * @start: where the datum begins in @message; it ends where that does
 * @message: copied once into @scratch, which the fields point into
 * Returns: FALSE with @ret_reject filled; then what @builder got is of no use.
 */
gboolean tide_avro_walk_run(const TideDecodeOptions *options, const TideAvroSchema *schema, TideBytes message,
                            gsize start, TideScratch *scratch, TideReadingBuilder *builder,
                            TideReject *ret_reject) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
