/* Writes the two encodings into memory that the caller has reserved: the smallest steps of the encoders. Each function
 * writes at @at and returns the position after it; nothing is checked here. */
#pragma once

#include "thrift/wire/wire.h"
#include "thrift/wire/wire_reader.h"

G_BEGIN_DECLS

/* Maximum size of one step, without the bytes of a string. */
#define TIDE_WIRE_FIELD_HEAD_MAX 3 /* binary: type and id; compact has 1, as ids here grow by less than 16 */
#define TIDE_WIRE_STRING_HEAD_MAX 5
#define TIDE_WIRE_LIST_HEAD_MAX 6
#define TIDE_WIRE_I64_MAX 10

/* The type ids of the compact protocol. */
enum {
  TIDE_COMPACT_TRUE = 1,
  TIDE_COMPACT_FALSE = 2,
  TIDE_COMPACT_I32 = 5,
  TIDE_COMPACT_I64 = 6,
  TIDE_COMPACT_STRING = 8,
  TIDE_COMPACT_LIST = 9,
  TIDE_COMPACT_MAP = 11,
  TIDE_COMPACT_STRUCT = 12,
};

static inline guint8 *
tide_write_bytes(guint8 *at, const void *data, gsize len)
{
  tide_memory_copy(at, data, len);
  return at + len;
}

/* ---- binary ---- */

static inline guint8 *
tide_write_be32(guint8 *at, guint32 number)
{
  number = GUINT32_TO_BE(number);
  memcpy(at, &number, sizeof number);
  return at + sizeof number;
}

static inline guint8 *
tide_write_be64(guint8 *at, guint64 number)
{
  number = GUINT64_TO_BE(number);
  memcpy(at, &number, sizeof number);
  return at + sizeof number;
}

static inline guint8 *
tide_write_field_binary(guint8 *at, TideWireType type, guint16 id)
{
  at[0] = (guint8)type;
  at[1] = (guint8)(id >> 8);
  at[2] = (guint8)id;
  return at + 3;
}

static inline guint8 *
tide_write_string_binary(guint8 *at, TideBytes bytes)
{
  return tide_write_bytes(tide_write_be32(at, (guint32)bytes.len), bytes.data, bytes.len);
}

/* ---- compact ---- */

static inline guint8 *
tide_write_varint(guint8 *at, guint64 number)
{
  while (number >= 0x80) {
    *at++ = (guint8)(number | 0x80);
    number >>= 7;
  }
  *at++ = (guint8)number;
  return at;
}

static inline guint8 *
tide_write_zigzag(guint8 *at, gint64 number)
{
  return tide_write_varint(at, (guint64)number << 1 ^ (guint64)(number >> 63));
}

/* @delta: the difference between the field's id and the previous id in its struct, 1..15. */
static inline guint8 *
tide_write_field_compact(guint8 *at, guint8 compact_type, guint8 delta)
{
  *at = (guint8)(delta << 4 | compact_type);
  return at + 1;
}

static inline guint8 *
tide_write_string_compact(guint8 *at, TideBytes bytes)
{
  return tide_write_bytes(tide_write_varint(at, bytes.len), bytes.data, bytes.len);
}

static inline guint8 *
tide_write_list_compact(guint8 *at, guint8 compact_type, guint32 count)
{
  if (count < 15) {
    *at = (guint8)(count << 4 | compact_type);
    return at + 1;
  }
  *at = (guint8)(0xf0 | compact_type);
  return tide_write_varint(at + 1, count);
}

/* ---- fields, in either protocol ---- */

/* The binary protocol writes a field's @id, the compact one its @delta: the difference to the previous id. */

static inline guint8 *
tide_write_string_field(TideWireProtocol protocol, guint8 *at, guint8 id, guint8 delta, TideBytes bytes)
{
  if (protocol == TIDE_WIRE_BINARY)
    return tide_write_string_binary(tide_write_field_binary(at, TIDE_WIRE_STRING, id), bytes);
  return tide_write_string_compact(tide_write_field_compact(at, TIDE_COMPACT_STRING, delta), bytes);
}

static inline guint8 *
tide_write_i32_field(TideWireProtocol protocol, guint8 *at, guint8 id, guint8 delta, gint32 number)
{
  if (protocol == TIDE_WIRE_BINARY)
    return tide_write_be32(tide_write_field_binary(at, TIDE_WIRE_I32, id), (guint32)number);
  return tide_write_zigzag(tide_write_field_compact(at, TIDE_COMPACT_I32, delta), number);
}

static inline guint8 *
tide_write_i64_field(TideWireProtocol protocol, guint8 *at, guint8 id, guint8 delta, gint64 number)
{
  if (protocol == TIDE_WIRE_BINARY)
    return tide_write_be64(tide_write_field_binary(at, TIDE_WIRE_I64, id), (guint64)number);
  return tide_write_zigzag(tide_write_field_compact(at, TIDE_COMPACT_I64, delta), number);
}

static inline guint8 *
tide_write_struct_field(TideWireProtocol protocol, guint8 *at, guint8 id, guint8 delta)
{
  return protocol == TIDE_WIRE_BINARY ? tide_write_field_binary(at, TIDE_WIRE_STRUCT, id)
                                      : tide_write_field_compact(at, TIDE_COMPACT_STRUCT, delta);
}

/* The header of a list of @count structs, which must follow it. */
static inline guint8 *
tide_write_struct_list_field(TideWireProtocol protocol, guint8 *at, guint8 id, guint8 delta, guint32 count)
{
  if (protocol == TIDE_WIRE_COMPACT)
    return tide_write_list_compact(tide_write_field_compact(at, TIDE_COMPACT_LIST, delta), TIDE_COMPACT_STRUCT, count);
  at = tide_write_field_binary(at, TIDE_WIRE_LIST, id);
  *at++ = TIDE_WIRE_STRUCT;
  return tide_write_be32(at, count);
}

/* ---- the head of a call, in either protocol ---- */

/* Type and version, name, sequence id; its size is at most TIDE_WIRE_CALL_HEAD_MAX plus the name's. */
#define TIDE_WIRE_CALL_HEAD_MAX 12

static inline guint8 *
tide_write_call_head(TideWireProtocol protocol, guint8 *at, TideBytes name, gint32 sequence_id)
{
  if (protocol == TIDE_WIRE_BINARY) {
    at = tide_write_be32(at, 0x80010000u | TIDE_MESSAGE_CALL);
    at = tide_write_string_binary(at, name);
    return tide_write_be32(at, (guint32)sequence_id);
  }
  *at++ = 0x82;                         /* protocol id */
  *at++ = 1 | (TIDE_MESSAGE_CALL << 5); /* version, type */
  at = tide_write_varint(at, (guint32)sequence_id);
  return tide_write_string_compact(at, name);
}

G_END_DECLS
