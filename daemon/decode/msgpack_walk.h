/* Reads the readings out of a message in MessagePack. Each value is unpacked by msgpack-c where it stands, so that its
 * place is known. What holds others is looked at here, for msgpack-c takes memory for as many elements as an array says
 * it has; short texts and doubles are, too, for a call for each costs half of the time of a whole reading. Nothing is
 * allocated.
 *
 * The message is one map, an array of maps, or maps one after the other. Names are texts. A member becomes a field by
 * its kind:
 *
 *     text               STRING   must be UTF-8
 *     binary             STRING   in hex, lower case
 *     integer, float     NUMBER   a float as short as it can be to be read back; one that is not finite is a NUMBER
 *                                 fault
 *     timestamp          NUMBER   seconds since 1970, with nine digits behind the point where it has a fraction
 *     other extensions            a TYPE fault
 *     boolean, nil, map  as in JSON
 *     array              as declared, its text as JSON
 *
 * With TIDE_BAD_READING_ALONE the faults of JSON that are the reading's own are so here, and UTF8 too. */
#pragma once

#include "decode/reading_builder.h"

G_BEGIN_DECLS

/**
 * tide_msgpack_walk_run: add all readings of @message to @builder, whose message was begun.
 * @message: copied once into @scratch, which the fields point into
 * Returns: FALSE with @ret_reject filled; then what @builder got is of no use.
 */
gboolean tide_msgpack_walk_run(const TideDecodeOptions *options, TideBytes message, TideScratch *scratch,
                               TideReadingBuilder *builder, TideReject *ret_reject) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
