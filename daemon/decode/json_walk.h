/* Reads the readings out of a JSON message, strictly: the whole of it is checked against RFC 8259 before any
 * reading is used. The forms are those of decoder.h. Nothing recurses, so nesting costs no stack. */
#pragma once

#include "decode/reading_builder.h"

G_BEGIN_DECLS

typedef struct TideJsonWalk TideJsonWalk;

TideJsonWalk *tide_json_walk_new(const TideDecodeOptions *options); /* @options: borrowed */
void tide_json_walk_free(TideJsonWalk *walk);                       /* NULL ok */

/**
 * tide_json_walk_run: add all readings of @message to @builder, whose message was begun.
 * @message: at most 4 GiB; copied once into @scratch, in which strings are unescaped in place, and which
 * names and texts of the fields point into Returns: FALSE with @ret_reject filled; then what @builder got is
 * of no use.
 */
gboolean tide_json_walk_run(TideJsonWalk *walk, TideBytes message, TideScratch *scratch, TideReadingBuilder *builder,
                            TideReject *ret_reject) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
