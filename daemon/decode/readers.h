/* How each structured format's messages are read: handed to the shaper, value by value. What becomes of each kind of
 * value stands in the reader's own file. */
#pragma once

#include "decode/avro_schema.h"
#include "decode/shaper.h"

G_BEGIN_DECLS

/* Each of them hands all of @message to the shaper, whose builder has begun a message. @message is copied once into the
 * shaper's scratch, which names and texts of the fields point into, and is at most 4 GiB. Returns: FALSE with
 * @ret_reject filled; then what the builder got is of no use. */

typedef struct TideJsonWalk TideJsonWalk;

TideJsonWalk *tide_json_walk_new(TideShaper *shaper); /* @shaper: borrowed */
void tide_json_walk_free(TideJsonWalk *walk);         /* NULL ok */
/* @start: where the JSON begins in @message */
gboolean tide_json_walk_run(TideJsonWalk *walk, TideBytes message, gsize start,
                            TideReject *ret_reject) G_GNUC_WARN_UNUSED_RESULT;

gboolean tide_msgpack_walk_run(TideShaper *shaper, TideBytes message, TideReject *ret_reject) G_GNUC_WARN_UNUSED_RESULT;

/* @schema: borrowed for as long as the readings are used. @start: where the datum begins in @message; it ends where
 * that does */
gboolean tide_avro_walk_run(TideShaper *shaper, const TideAvroSchema *schema, TideBytes message, gsize start,
                            TideReject *ret_reject) G_GNUC_WARN_UNUSED_RESULT;

typedef struct TideProtobufWalk TideProtobufWalk;

/* @shaper: borrowed. Memory of a message's values, at most 32 times max_message_bytes, is kept up to 1 MiB. */
TideProtobufWalk *tide_protobuf_walk_new(TideShaper *shaper);
void tide_protobuf_walk_free(TideProtobufWalk *walk); /* NULL ok */
gboolean tide_protobuf_walk_run(TideProtobufWalk *walk, TideBytes message,
                                TideReject *ret_reject) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
