#include "thrift/wire/wire_reader.h"

#include "util/error.h"

#define BINARY_VERSION_1 0x80010000u
#define BINARY_VERSION_MASK 0xffff0000u
#define COMPACT_PROTOCOL_ID 0x82
#define COMPACT_VERSION 1
#define COMPACT_BOOL_TRUE 1

/* Minimum size of a value by type; 0: there is no such type. */
static const guint8 smallest_binary_bytes[] = {
    [TIDE_WIRE_STOP] = 1,   [TIDE_WIRE_BOOL] = 1, [TIDE_WIRE_BYTE] = 1, [TIDE_WIRE_DOUBLE] = 8,
    [TIDE_WIRE_I16] = 2,    [TIDE_WIRE_I32] = 4,  [TIDE_WIRE_I64] = 8,  [TIDE_WIRE_STRING] = 4,
    [TIDE_WIRE_STRUCT] = 1, [TIDE_WIRE_MAP] = 6,  [TIDE_WIRE_SET] = 5,  [TIDE_WIRE_LIST] = 5,
};

void
tide_wire_reader_init(TideWireReader *reader, TideWireProtocol protocol, TideBytes whole)
{
  tide_wire_reader_init_partial(reader, protocol, whole, whole.len);
}

void
tide_wire_reader_init_partial(TideWireReader *reader, TideWireProtocol protocol, TideBytes begun, gsize limit_bytes)
{
  *reader = (TideWireReader){
      .data = begun.data,
      .len = begun.len,
      .limit_bytes = MAX(limit_bytes, begun.len),
      .protocol = protocol,
  };
}

static void
stop_with(TideWireReader *reader, TideWireStatus status, const char *problem)
{
  if (reader->status != TIDE_WIRE_OK)
    return;
  reader->status = status;
  reader->problem = problem;
  reader->problem_offset = reader->offset;
}

void
tide_wire_reader_fail(TideWireReader *reader, const char *problem)
{
  stop_with(reader, TIDE_WIRE_BAD, problem);
}

gboolean
tide_wire_reader_check(const TideWireReader *reader, const char *what, GError **error)
{
  if (reader->status == TIDE_WIRE_OK)
    return TRUE;
  return tide_fail(error, TIDE_ERROR_PROTOCOL, "cannot read %s: %s at byte %" G_GSIZE_FORMAT " of %" G_GSIZE_FORMAT,
                   what, reader->problem, reader->problem_offset, reader->len);
}

/* Returns the next @n bytes, or NULL. */
static inline const guint8 *
take(TideWireReader *reader, gsize n)
{
  if (G_UNLIKELY(reader->status != TIDE_WIRE_OK))
    return NULL;
  if (G_UNLIKELY(n > reader->limit_bytes - reader->offset)) {
    stop_with(reader, TIDE_WIRE_BAD, "a length exceeds the end");
    return NULL;
  }
  if (G_UNLIKELY(n > reader->len - reader->offset)) {
    stop_with(reader, TIDE_WIRE_SHORT, "the message ends too early");
    return NULL;
  }
  const guint8 *bytes = reader->data + reader->offset;
  reader->offset += n;
  return bytes;
}

/* @n: 1, 2, 4 or 8, a compile-time constant. */
static inline __attribute__((always_inline)) guint64
take_big_endian(TideWireReader *reader, gsize n)
{
  const guint8 *bytes = take(reader, n);
  guint16 half;
  if (bytes == NULL)
    return 0;
  switch (n) {
  case 1:
    return *bytes;
  case 2:
    memcpy(&half, bytes, sizeof half);
    return GUINT16_FROM_BE(half);
  case 4:
    return GUINT32_FROM_BE(tide_load_u32(bytes));
  default:
    return GUINT64_FROM_BE(tide_load_u64(bytes));
  }
}

/* Reads a base-128 number of at most @bits bits. */
static guint64
take_varint(TideWireReader *reader, guint bits)
{
  guint64 number = 0;
  for (guint shift = 0; shift < bits; shift += 7) {
    const guint8 *byte = take(reader, 1);
    if (byte == NULL)
      return 0;
    guint64 part = *byte & 0x7f;
    if (bits - shift < 7 && part >> (bits - shift) != 0) {
      tide_wire_reader_fail(reader, "a number is too large for its type");
      return 0;
    }
    number |= part << shift;
    if ((*byte & 0x80) == 0)
      return number;
  }
  tide_wire_reader_fail(reader, "a number has too many bytes");
  return 0;
}

static gint64
take_zigzag(TideWireReader *reader, guint bits)
{
  guint64 number = take_varint(reader, bits);
  return (gint64)(number >> 1) ^ -(gint64)(number & 1);
}

static TideWireType
type_of_binary(TideWireReader *reader, guint8 id)
{
  if (id <= TIDE_WIRE_LIST && smallest_binary_bytes[id] > 0)
    return (TideWireType)id;
  tide_wire_reader_fail(reader, "an unknown type");
  return TIDE_WIRE_STOP;
}

static TideWireType
type_of_compact(TideWireReader *reader, guint8 id)
{
  static const TideWireType types[] = {
      TIDE_WIRE_STOP, TIDE_WIRE_BOOL, TIDE_WIRE_BOOL,   TIDE_WIRE_BYTE,   TIDE_WIRE_I16,
      TIDE_WIRE_I32,  TIDE_WIRE_I64,  TIDE_WIRE_DOUBLE, TIDE_WIRE_STRING, TIDE_WIRE_LIST,
      TIDE_WIRE_SET,  TIDE_WIRE_MAP,  TIDE_WIRE_STRUCT,
  };
  if (id < G_N_ELEMENTS(types))
    return types[id];
  tide_wire_reader_fail(reader, "an unknown type");
  return TIDE_WIRE_STOP;
}

/* Translates the type byte of an element; STOP is not valid. */
static TideWireType
element_type(TideWireReader *reader, guint8 id)
{
  TideWireType type = reader->protocol == TIDE_WIRE_BINARY ? type_of_binary(reader, id) : type_of_compact(reader, id);
  if (type == TIDE_WIRE_STOP)
    tide_wire_reader_fail(reader, "an element without a type");
  return type;
}

/* The minimum size of an element limits the count. */
static gsize
smallest_bytes(TideWireProtocol protocol, TideWireType type)
{
  return protocol == TIDE_WIRE_BINARY || type == TIDE_WIRE_DOUBLE ? smallest_binary_bytes[type] : 1;
}

static guint32
check_count(TideWireReader *reader, guint64 count, gsize element_bytes)
{
  if (reader->status == TIDE_WIRE_OK && count > (reader->limit_bytes - reader->offset) / element_bytes)
    tide_wire_reader_fail(reader, count > G_MAXINT32 ? "a negative count" : "a count exceeds the end");
  return reader->status == TIDE_WIRE_OK ? (guint32)count : 0;
}

static gboolean
read_message_binary(TideWireReader *reader, TideWireMessage *message)
{
  guint32 head = (guint32)take_big_endian(reader, 4);
  if (reader->status == TIDE_WIRE_OK && (head & BINARY_VERSION_MASK) != BINARY_VERSION_1)
    tide_wire_reader_fail(reader, "not the header of a binary Thrift message");
  message->type = (TideMessageType)(head & 0xff);
  message->name = tide_wire_read_string(reader);
  message->sequence_id = tide_wire_read_i32(reader);
  return reader->status == TIDE_WIRE_OK;
}

static gboolean
read_message_compact(TideWireReader *reader, TideWireMessage *message)
{
  guint8 protocol_id = (guint8)take_big_endian(reader, 1);
  if (reader->status == TIDE_WIRE_OK && protocol_id != COMPACT_PROTOCOL_ID)
    tide_wire_reader_fail(reader, "not the header of a compact Thrift message");
  guint8 version_and_type = (guint8)take_big_endian(reader, 1);
  if (reader->status == TIDE_WIRE_OK && (version_and_type & 0x1f) != COMPACT_VERSION)
    tide_wire_reader_fail(reader, "an unknown version of the compact protocol");
  message->type = (TideMessageType)(version_and_type >> 5);
  message->sequence_id = (gint32)take_varint(reader, 32);
  message->name = tide_wire_read_string(reader);
  return reader->status == TIDE_WIRE_OK;
}

gboolean
tide_wire_read_message(TideWireReader *reader, TideWireMessage *ret_message)
{
  return reader->protocol == TIDE_WIRE_BINARY ? read_message_binary(reader, ret_message)
                                              : read_message_compact(reader, ret_message);
}

static void
read_field_head_binary(TideWireReader *reader, TideWireField *field)
{
  field->type = type_of_binary(reader, (guint8)take_big_endian(reader, 1));
  if (reader->status == TIDE_WIRE_OK && field->type != TIDE_WIRE_STOP)
    field->id = (gint16)take_big_endian(reader, 2);
}

static void
read_field_head_compact(TideWireReader *reader, TideWireField *field)
{
  guint8 head = (guint8)take_big_endian(reader, 1);
  guint8 type_id = head & 0x0f;
  field->type = type_of_compact(reader, type_id);
  reader->bool_in_header = field->type == TIDE_WIRE_BOOL ? type_id : 0;
  if (reader->status != TIDE_WIRE_OK || field->type == TIDE_WIRE_STOP)
    return;
  gint64 id = head >> 4 != 0 ? field->id + (head >> 4) : take_zigzag(reader, 32);
  if (id < G_MININT16 || id > G_MAXINT16)
    tide_wire_reader_fail(reader, "a field id out of range");
  field->id = (gint16)id;
}

gboolean
tide_wire_read_field(TideWireReader *reader, TideWireField *field)
{
  if (reader->protocol == TIDE_WIRE_BINARY)
    read_field_head_binary(reader, field);
  else
    read_field_head_compact(reader, field);
  if (reader->status != TIDE_WIRE_OK || field->type == TIDE_WIRE_STOP)
    return FALSE;
  if (field->id >= 0 && field->id < 64) {
    guint64 bit = G_GUINT64_CONSTANT(1) << field->id;
    if ((field->seen & bit) != 0)
      tide_wire_reader_fail(reader, "a repeated field in a struct");
    field->seen |= bit;
  }
  return reader->status == TIDE_WIRE_OK;
}

gboolean
tide_wire_field_is(TideWireReader *reader, const TideWireField *field, TideWireType wanted)
{
  if (field->type == wanted)
    return TRUE;
  tide_wire_skip(reader, field->type);
  return FALSE;
}

gboolean
tide_wire_read_bool(TideWireReader *reader)
{
  if (reader->protocol == TIDE_WIRE_BINARY)
    return take_big_endian(reader, 1) != 0;
  guint8 id = reader->bool_in_header;
  reader->bool_in_header = 0;
  if (id == 0)
    id = (guint8)take_big_endian(reader, 1);
  return id == COMPACT_BOOL_TRUE;
}

gint8
tide_wire_read_byte(TideWireReader *reader)
{
  return (gint8)take_big_endian(reader, 1);
}

gint16
tide_wire_read_i16(TideWireReader *reader)
{
  if (reader->protocol == TIDE_WIRE_BINARY)
    return (gint16)take_big_endian(reader, 2);
  return (gint16)take_zigzag(reader, 16);
}

gint32
tide_wire_read_i32(TideWireReader *reader)
{
  if (reader->protocol == TIDE_WIRE_BINARY)
    return (gint32)take_big_endian(reader, 4);
  return (gint32)take_zigzag(reader, 32);
}

gint64
tide_wire_read_i64(TideWireReader *reader)
{
  if (reader->protocol == TIDE_WIRE_BINARY)
    return (gint64)take_big_endian(reader, 8);
  return take_zigzag(reader, 64);
}

TideBytes
tide_wire_read_string(TideWireReader *reader)
{
  gboolean binary = reader->protocol == TIDE_WIRE_BINARY;
  guint32 len = (guint32)(binary ? take_big_endian(reader, 4) : take_varint(reader, 32));
  if (len > G_MAXINT32) {
    tide_wire_reader_fail(reader, "a negative length");
    return TIDE_BYTES_EMPTY;
  }
  const guint8 *bytes = take(reader, len);
  return bytes != NULL ? tide_bytes(bytes, len) : TIDE_BYTES_EMPTY;
}

gboolean
tide_wire_read_list(TideWireReader *reader, TideWireContainer *ret_list)
{
  guint8 head = (guint8)take_big_endian(reader, 1);
  guint64 count;
  if (reader->protocol == TIDE_WIRE_BINARY) {
    count = take_big_endian(reader, 4);
  } else {
    count = head >> 4;
    if (count == 15) /* escape of the short form */
      count = take_varint(reader, 32);
    head &= 0x0f;
  }
  *ret_list = (TideWireContainer){0};
  if (reader->status != TIDE_WIRE_OK)
    return FALSE;
  ret_list->element_type = element_type(reader, head);
  ret_list->count = check_count(reader, count, smallest_bytes(reader->protocol, ret_list->element_type));
  return reader->status == TIDE_WIRE_OK;
}

gboolean
tide_wire_read_list_of(TideWireReader *reader, TideWireType wanted, guint32 *ret_count)
{
  TideWireContainer list;
  *ret_count = 0;
  if (!tide_wire_read_list(reader, &list))
    return FALSE;
  if (list.count > 0 && list.element_type != wanted)
    tide_wire_reader_fail(reader, "a list of the wrong type");
  else
    *ret_count = list.count;
  return reader->status == TIDE_WIRE_OK;
}

gboolean
tide_wire_read_map(TideWireReader *reader, TideWireContainer *ret_map)
{
  guint8 key_id = 0, value_id = 0;
  guint64 count;
  *ret_map = (TideWireContainer){0};
  if (reader->protocol == TIDE_WIRE_BINARY) {
    key_id = (guint8)take_big_endian(reader, 1);
    value_id = (guint8)take_big_endian(reader, 1);
    count = take_big_endian(reader, 4);
  } else {
    count = take_varint(reader, 32);
    guint8 types = count > 0 ? (guint8)take_big_endian(reader, 1) : 0; /* an empty map has no type byte */
    key_id = types >> 4;
    value_id = types & 0x0f;
  }
  if (reader->status != TIDE_WIRE_OK)
    return FALSE;
  if (count == 0)
    return TRUE;
  ret_map->key_type = element_type(reader, key_id);
  ret_map->element_type = element_type(reader, value_id);
  ret_map->count = check_count(reader, count,
                               smallest_bytes(reader->protocol, ret_map->key_type) +
                                   smallest_bytes(reader->protocol, ret_map->element_type));
  return reader->status == TIDE_WIRE_OK;
}

/* ---- walking over a value whose content does not matter: to skip it, and to find the end of a message ---- */

/* Uses an array of levels instead of recursion: a hostile peer cannot exhaust the stack. A walk that ran out of bytes
 * resumes later, so a large reply that arrives in pieces is walked only once. */

static void
push(TideWireWalk *walk, TideWireReader *reader, TideWireWalkLevel level)
{
  if (walk->depth == TIDE_WIRE_DEPTH_MAX) {
    tide_wire_reader_fail(reader, "nesting too deep");
    return;
  }
  walk->levels[walk->depth++] = level;
}

/* Reads a whole scalar, or enters a container. */
static void
walk_value(TideWireWalk *walk, TideWireReader *reader, TideWireType type)
{
  TideWireContainer container;
  switch (type) {
  case TIDE_WIRE_STOP:
    return; /* never a value's type: the reader rejects it */
  case TIDE_WIRE_BOOL:
    (void)tide_wire_read_bool(reader);
    return;
  case TIDE_WIRE_BYTE:
    (void)tide_wire_read_byte(reader);
    return;
  case TIDE_WIRE_I16:
    (void)tide_wire_read_i16(reader);
    return;
  case TIDE_WIRE_I32:
    (void)tide_wire_read_i32(reader);
    return;
  case TIDE_WIRE_I64:
    (void)tide_wire_read_i64(reader);
    return;
  case TIDE_WIRE_DOUBLE:
    (void)take(reader, 8); /* IEEE 754, in both protocols */
    return;
  case TIDE_WIRE_STRING:
    (void)tide_wire_read_string(reader);
    return;
  case TIDE_WIRE_STRUCT:
    push(walk, reader, (TideWireWalkLevel){.container = TIDE_WIRE_STRUCT});
    return;
  case TIDE_WIRE_SET:
  case TIDE_WIRE_LIST:
    if (tide_wire_read_list(reader, &container))
      push(walk, reader,
           (TideWireWalkLevel){
               .container = TIDE_WIRE_LIST, .element_type = container.element_type, .left = container.count});
    return;
  case TIDE_WIRE_MAP:
    if (tide_wire_read_map(reader, &container))
      push(walk, reader,
           (TideWireWalkLevel){.container = TIDE_WIRE_MAP,
                               .key_type = container.key_type,
                               .element_type = container.element_type,
                               .left = (guint64)container.count * 2});
    return;
  }
}

/* Walks one field or element of the innermost level, or its end. */
static void
walk_step(TideWireWalk *walk, TideWireReader *reader)
{
  TideWireWalkLevel *level = &walk->levels[walk->depth - 1];
  if (level->container == TIDE_WIRE_STRUCT) {
    if (tide_wire_read_field(reader, &level->field))
      walk_value(walk, reader, level->field.type);
    else if (reader->status == TIDE_WIRE_OK)
      walk->depth--;
    return;
  }
  if (level->left == 0) {
    walk->depth--;
    return;
  }
  gboolean is_key = level->container == TIDE_WIRE_MAP && level->left % 2 == 0;
  level->left--;
  walk_value(walk, reader, is_key ? level->key_type : level->element_type);
}

/* Continues the walk at reader->offset. OK: the value is complete. SHORT: continue at reader->offset with a new reader
 * when there are more bytes. */
static void
walk_on(TideWireWalk *walk, TideWireReader *reader)
{
  while (walk->depth > 0 && reader->status == TIDE_WIRE_OK) {
    TideWireWalkLevel *level = &walk->levels[walk->depth - 1];
    TideWireWalkLevel before = *level;
    gsize offset = reader->offset;
    walk_step(walk, reader);
    if (reader->status == TIDE_WIRE_SHORT) { /* a step is complete or has no effect; a short one entered nothing */
      *level = before;
      reader->offset = offset;
    }
  }
}

void
tide_wire_skip(TideWireReader *reader, TideWireType type)
{
  TideWireWalk walk;
  walk.depth = 0;
  walk_value(&walk, reader, type);
  walk_on(&walk, reader);
}

/* ---- finding the end of a message ---- */

void
tide_message_scanner_init(TideMessageScanner *scanner, TideWireProtocol protocol, gsize limit_bytes)
{
  scanner->protocol = protocol;
  scanner->limit_bytes = limit_bytes;
  scanner->offset = 0;
  scanner->problem = NULL;
  scanner->walk.depth = 1;
  scanner->walk.levels[0] = (TideWireWalkLevel){.container = TIDE_WIRE_STRUCT}; /* its fields follow the header */
}

TideWireStatus
tide_message_scanner_feed(TideMessageScanner *scanner, TideBytes begun)
{
  TideWireReader reader;
  tide_wire_reader_init_partial(&reader, scanner->protocol, begun, scanner->limit_bytes);
  if (scanner->offset == 0) { /* the header is incomplete: at most a few bytes are read again */
    TideWireMessage message;
    if (tide_wire_read_message(&reader, &message))
      scanner->offset = reader.offset;
  }
  if (reader.status == TIDE_WIRE_OK) {
    reader.offset = scanner->offset;
    walk_on(&scanner->walk, &reader);
    scanner->offset = reader.offset;
  }
  if (reader.status == TIDE_WIRE_BAD) {
    scanner->offset = reader.problem_offset;
    scanner->problem = reader.problem;
  }
  return reader.status;
}
