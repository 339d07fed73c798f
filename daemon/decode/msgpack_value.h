/* Reads the head of one MessagePack value. No length is trusted: the bytes it refers to are present. */
#pragma once

#include "util/bytes.h"

G_BEGIN_DECLS

typedef enum TideMsgpackKind {
  TIDE_MSGPACK_CUT,     /* the bytes end too early */
  TIDE_MSGPACK_INVALID, /* a byte that cannot begin a value */
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

/* Only the fields marked with the value's kind are set. */
typedef struct TideMsgpackValue {
  TideMsgpackKind kind;
  guint32 n_inner; /* ARRAY: its elements; MAP: its members, each a name and a value */
  guint64 number;  /* BOOLEAN: 0 or 1; integers: two's complement; FLOAT, DOUBLE: the bits */
  TideBytes bytes; /* TEXT, BINARY, EXTENSION: its content */
  guint8 type;     /* EXTENSION */
} TideMsgpackValue;

/* The most frequent values: texts of less than 32 bytes, and doubles. */
#define TIDE_MSGPACK_SHORT_TEXT 0xA0
#define TIDE_MSGPACK_DOUBLE_BYTE 0xCB

/**
 * tide_msgpack_value_read: read the head of the value at the start of @bytes.
 * Returns: its number of bytes without any inner values; 0 with CUT and INVALID. Threads: any. Allocates: nothing.
 */
gsize tide_msgpack_value_read(TideBytes bytes, TideMsgpackValue *ret_value);

typedef struct TideMsgpackLimits {
  guint max_depth;     /* of arrays and maps that are not empty; at most 32, the limit of msgpack-c */
  guint64 max_members; /* of the outermost map */
} TideMsgpackLimits;

/**
 * tide_msgpack_check_map: check that @value is exactly one map within @limits. After this check, msgpack-c needs at
 * most 48 bytes per byte to unpack it; without it, a hundred gigabytes for 5 bytes.
 * Returns: FALSE with TIDE_ERROR_DATA, which states the fault and its position. Takes time in proportion to @value,
 * whatever its lengths are. Threads: any. Allocates: nothing.
 */
gboolean tide_msgpack_check_map(TideBytes value, TideMsgpackLimits limits, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/**
 * tide_msgpack_length: find the length of the value at the beginning of @bytes, for files without lengths.
 * @ret_len: 0: it continues after @bytes
 * Errors: DATA: it is not a value. Threads: any. Allocates: only for an error, or with 0.
 */
gboolean tide_msgpack_length(TideBytes bytes, gsize *ret_len, GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
