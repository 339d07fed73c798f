/* Looks over a MessagePack value without keeping anything of it, before msgpack-c unpacks it: that takes memory for as
 * many elements as an array says it has, a hundred gigabytes for 5 bytes. After this check it takes no more than 48
 * bytes for each byte of the value. */
#pragma once

#include "util/bytes.h"

G_BEGIN_DECLS

typedef struct TideMsgpackLimits {
  guint max_depth;     /* of arrays and maps with something in them; at most 32, which is msgpack-c's own */
  guint64 max_members; /* of the outermost map */
} TideMsgpackLimits;

/**
 * tide_msgpack_shape_check: whether @value is one map, whole, with nothing behind it, within @limits.
 * Returns: FALSE with TIDE_ERROR_DATA, which says what is wrong and where. Takes time in proportion to @value, whatever
 * the lengths in it say. Threads: any. Allocates: nothing.
 */
gboolean tide_msgpack_shape_check(TideBytes value, TideMsgpackLimits limits, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/**
 * tide_msgpack_shape_length: how long the value at the beginning of @bytes is. For files, where nothing else tells.
 * @ret_len: 0: it goes on behind @bytes
 * Errors: DATA: it is no value. Threads: any. Allocates: only for an error, or with 0.
 */
gboolean tide_msgpack_shape_length(TideBytes bytes, gsize *ret_len, GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
