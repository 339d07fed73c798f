/* One value of MessagePack up to what is inside of it, read from its bytes. No length is trusted: what is named is
 * there. */
#pragma once

#include "util/bytes.h"

G_BEGIN_DECLS

typedef enum TideMsgpackKind {
  TIDE_MSGPACK_CUT,     /* the bytes end before the value does */
  TIDE_MSGPACK_INVALID, /* a byte that begins no value */
  TIDE_MSGPACK_NIL,
  TIDE_MSGPACK_BOOLEAN,
  TIDE_MSGPACK_UNSIGNED,
  TIDE_MSGPACK_SIGNED,
  TIDE_MSGPACK_FLOAT,
  TIDE_MSGPACK_DOUBLE,
  TIDE_MSGPACK_TEXT,
  TIDE_MSGPACK_BINARY,
  TIDE_MSGPACK_EXTENSION,
  TIDE_MSGPACK_ARRAY,
  TIDE_MSGPACK_MAP,
} TideMsgpackKind;

/* Of each kind the fields that name it; others are not set. */
typedef struct TideMsgpackValue {
  TideMsgpackKind kind;
  guint32 n_inner; /* ARRAY: its elements; MAP: its members, a name and a value each */
  guint64 number;  /* BOOLEAN: 0 or 1; of integers two's complement; of FLOAT and DOUBLE the bits */
  TideBytes bytes; /* TEXT, BINARY, EXTENSION: its content */
  guint8 type;     /* EXTENSION */
} TideMsgpackValue;

/* What most of a message is made of: texts of less than 32 bytes, and doubles. */
#define TIDE_MSGPACK_SHORT_TEXT 0xA0
#define TIDE_MSGPACK_DOUBLE_BYTE 0xCB

/**
 * tide_msgpack_value_read: the value that begins at @bytes.
 * Returns: how many bytes it has up to what is inside of it; 0 with CUT and INVALID. Threads: any. Allocates: nothing.
 */
gsize tide_msgpack_value_read(TideBytes bytes, TideMsgpackValue *ret_value);

typedef struct TideMsgpackLimits {
  guint max_depth;     /* of arrays and maps with something in them; at most 32, which is msgpack-c's own */
  guint64 max_members; /* of the outermost map */
} TideMsgpackLimits;

/**
 * tide_msgpack_check_map: whether @value is one map, whole, with nothing behind it, within @limits. Where msgpack-c
 * unpacks it then, that takes no more than 48 bytes for each byte; without this check, a hundred gigabytes for 5 bytes.
 * Returns: FALSE with TIDE_ERROR_DATA, which says what is wrong and where. Takes time in proportion to @value, whatever
 * the lengths in it say. Threads: any. Allocates: nothing.
 */
gboolean tide_msgpack_check_map(TideBytes value, TideMsgpackLimits limits, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/**
 * tide_msgpack_length: how long the value at the beginning of @bytes is. For files, where nothing else tells.
 * @ret_len: 0: it goes on behind @bytes
 * Errors: DATA: it is no value. Threads: any. Allocates: only for an error, or with 0.
 */
gboolean tide_msgpack_length(TideBytes bytes, gsize *ret_len, GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
