/* Reads requests in both protocols, framed or not. */
#include "fault/gateway/fake_wire.h"

#define INPUT_BYTES (64 * 1024) /* one receive; the size of a loopback segment */

/* hbase.regionserver.thrift.framed.max_frame_size_in_mb of HBase 2.6: 2 */
#define DEFAULT_FRAME_LIMIT_BYTES (2 * 1024 * 1024)
/* Thrift's own limit of a message (TConfiguration.DEFAULT_MAX_MESSAGE_SIZE): 100 MiB */
#define DEFAULT_MESSAGE_LIMIT_BYTES (100 * 1024 * 1024)

#define COMPACT_PROTOCOL_ID 0x82
#define COMPACT_VERSION 1
#define BINARY_VERSION_1 0x80010000u
#define BINARY_VERSION_MASK 0xffff0000u

void
fake_reader_init(TideFakeReader *reader, gboolean framed, gboolean compact, TideFakeReadFunc read, gpointer data)
{
  *reader = (TideFakeReader){
      .read = read,
      .data = data,
      .framed = framed,
      .compact = compact,
      .frame_limit_bytes = DEFAULT_FRAME_LIMIT_BYTES,
      .message_limit_bytes = DEFAULT_MESSAGE_LIMIT_BYTES,
      .input = g_malloc(INPUT_BYTES),
      .strings = g_string_chunk_new(INPUT_BYTES),
      .pending_bool = -1,
  };
}

void
fake_reader_clear(TideFakeReader *reader)
{
  g_clear_pointer(&reader->input, g_free);
  g_clear_pointer(&reader->strings, g_string_chunk_free);
  tide_buffer_clear_memory(&reader->scratch);
  tide_buffer_clear_memory(&reader->frame);
}

void
fake_reader_fail(TideFakeReader *reader, const char *reason)
{
  if (reader->failed)
    return;
  reader->failed = TRUE;
  reader->reason = reason;
}

/* Fills the empty input. FALSE at the end of the stream and on errors. */
static gboolean
receive(TideFakeReader *reader)
{
  gssize n = reader->read(reader->data, reader->input, INPUT_BYTES);
  if (n < 0) {
    fake_reader_fail(reader, "connection lost");
    reader->lost = TRUE;
    return FALSE;
  }
  reader->at = 0;
  reader->end = (gsize)n;
  return n > 0;
}

/* Copies the next @len bytes of the stream to @ret_bytes (NULL: drops them), outside of any frame. */
static void
take_raw(TideFakeReader *reader, guint8 *ret_bytes, gsize len)
{
  gsize done = 0;
  while (done < len && !reader->failed) {
    if (reader->at == reader->end && !receive(reader)) {
      fake_reader_fail(reader, "the stream ended inside of a message");
      reader->lost = TRUE;
      break;
    }
    gsize n = MIN(len - done, reader->end - reader->at);
    if (ret_bytes != NULL)
      memcpy(ret_bytes + done, reader->input + reader->at, n);
    reader->at += n;
    done += n;
  }
  if (ret_bytes != NULL && done < len)
    memset(ret_bytes + done, 0, len - done);
}

/* The message's next @len bytes; zeroes on errors. */
static void
take(TideFakeReader *reader, guint8 *ret_bytes, gsize len)
{
  reader->message_bytes += len;
  if (reader->message_bytes > reader->message_limit_bytes)
    fake_reader_fail(reader, "message too long");
  if (reader->framed && len > reader->frame_left)
    fake_reader_fail(reader, "message longer than its frame");
  if (!reader->framed || reader->failed) {
    take_raw(reader, ret_bytes, len);
    return;
  }
  reader->frame_left -= len;
  guint8 *copy = tide_buffer_reserve(&reader->frame, len);
  take_raw(reader, copy, len);
  reader->frame.len += len;
  if (ret_bytes != NULL && len > 0)
    memcpy(ret_bytes, copy, len);
}

static guint8
take_byte(TideFakeReader *reader)
{
  guint8 byte;
  take(reader, &byte, 1);
  return byte;
}

static guint64
take_big_endian(TideFakeReader *reader, guint width_bytes)
{
  guint8 bytes[8];
  take(reader, bytes, width_bytes);
  guint64 value = 0;
  for (guint i = 0; i < width_bytes; i++)
    value = value << 8 | bytes[i];
  return value;
}

static guint64
take_varint(TideFakeReader *reader)
{
  guint64 value = 0;
  for (guint shift = 0; shift < 64; shift += 7) {
    guint8 byte = take_byte(reader);
    value |= (guint64)(byte & 0x7f) << shift;
    if ((byte & 0x80) == 0)
      return value;
  }
  fake_reader_fail(reader, "varint too long");
  return 0;
}

static gint64
take_zigzag(TideFakeReader *reader)
{
  guint64 value = take_varint(reader);
  return (gint64)(value >> 1) ^ -(gint64)(value & 1);
}

/* A length or count; never more than the bytes that the message may still have. */
static guint32
take_size(TideFakeReader *reader)
{
  guint64 size = reader->compact ? take_varint(reader) : take_big_endian(reader, 4);
  if (!reader->failed && size > reader->message_limit_bytes - reader->message_bytes)
    fake_reader_fail(reader, "negative or too large a size");
  return reader->failed ? 0 : (guint32)size;
}

static const char *
take_text(TideFakeReader *reader, gsize len)
{
  if (reader->failed)
    return "";
  tide_buffer_reset(&reader->scratch);
  guint8 *bytes = tide_buffer_reserve(&reader->scratch, len + 1);
  take(reader, bytes, len);
  return reader->failed ? "" : g_string_chunk_insert_len(reader->strings, (const char *)bytes, (gssize)len);
}

/* FALSE where the stream ends before a message begins. */
static gboolean
await_message(TideFakeReader *reader)
{
  if (reader->at < reader->end || receive(reader))
    return TRUE;
  reader->at_end = !reader->failed;
  return FALSE;
}

static void
begin_frame(TideFakeReader *reader)
{
  guint8 bytes[4];
  take_raw(reader, bytes, sizeof bytes);
  guint32 len = (guint32)bytes[0] << 24 | (guint32)bytes[1] << 16 | (guint32)bytes[2] << 8 | bytes[3];
  if (len > reader->frame_limit_bytes)
    fake_reader_fail(reader, "negative or too large a frame");
  reader->frame_left = reader->failed ? 0 : len;
}

static void
read_compact_head(TideFakeReader *reader, TideFakeMessage *message)
{
  if (take_byte(reader) != COMPACT_PROTOCOL_ID)
    fake_reader_fail(reader, "not the compact protocol");
  guint8 version_and_type = take_byte(reader);
  if ((version_and_type & 0x1f) != COMPACT_VERSION)
    fake_reader_fail(reader, "unknown version of the compact protocol");
  message->type = (TideFakeMessageType)(version_and_type >> 5);
  message->sequence_id = (gint32)take_varint(reader);
  message->name = take_text(reader, take_size(reader));
}

static void
read_binary_head(TideFakeReader *reader, TideFakeMessage *message)
{
  guint32 first = (guint32)take_big_endian(reader, 4);
  if ((first & 0x80000000u) != 0) {
    if ((first & BINARY_VERSION_MASK) != BINARY_VERSION_1)
      fake_reader_fail(reader, "unknown version of the binary protocol");
    message->type = (TideFakeMessageType)(first & 0xff);
    message->name = take_text(reader, take_size(reader));
  } else {
    /* The old form without a version, which Java's server still takes: this is why a framed probe makes it
     * wait. */
    if (first > reader->message_limit_bytes)
      fake_reader_fail(reader, "method name too long");
    message->name = take_text(reader, first);
    message->type = (TideFakeMessageType)take_byte(reader);
  }
  message->sequence_id = (gint32)take_big_endian(reader, 4);
}

gboolean
fake_reader_message_begin(TideFakeReader *reader, TideFakeMessage *ret_message)
{
  reader->message_bytes = 0;
  reader->depth = 0;
  reader->pending_bool = -1;
  tide_buffer_reset(&reader->frame);
  g_string_chunk_clear(reader->strings);
  if (reader->failed || !await_message(reader))
    return FALSE;
  if (reader->framed)
    begin_frame(reader);
  if (reader->compact)
    read_compact_head(reader, ret_message);
  else
    read_binary_head(reader, ret_message);
  return !reader->failed;
}

gboolean
fake_reader_message_end(TideFakeReader *reader)
{
  if (reader->framed) {
    take_raw(reader, NULL, reader->frame_left);
    reader->frame_left = 0;
  }
  return !reader->failed;
}

void
fake_reader_drop(TideFakeReader *reader, gsize len)
{
  take_raw(reader, NULL, len);
}

static void
enter_level(TideFakeReader *reader)
{
  if (reader->depth < TIDE_FAKE_MAX_DEPTH)
    reader->last_field[reader->depth++] = 0;
  else
    fake_reader_fail(reader, "nested too deeply");
}

static TideFakeType
type_of_compact(TideFakeReader *reader, guint8 type)
{
  static const guint8 types[] = {TIDE_FAKE_STOP, TIDE_FAKE_BOOL, TIDE_FAKE_BOOL,   TIDE_FAKE_BYTE,   TIDE_FAKE_I16,
                                 TIDE_FAKE_I32,  TIDE_FAKE_I64,  TIDE_FAKE_DOUBLE, TIDE_FAKE_BINARY, TIDE_FAKE_LIST,
                                 TIDE_FAKE_SET,  TIDE_FAKE_MAP,  TIDE_FAKE_STRUCT};
  if (type < G_N_ELEMENTS(types))
    return (TideFakeType)types[type];
  fake_reader_fail(reader, "unknown type");
  return TIDE_FAKE_STOP;
}

static void
read_compact_field(TideFakeReader *reader, TideFakeField *field)
{
  guint8 head = take_byte(reader);
  gint16 *last = &reader->last_field[reader->depth - 1];
  field->type = type_of_compact(reader, head & 0x0f);
  if (field->type == TIDE_FAKE_STOP)
    return;
  if (head >> 4 != 0)
    field->id = (gint16)(*last + (head >> 4));
  else
    field->id = (gint16)take_zigzag(reader);
  *last = field->id;
  if (field->type == TIDE_FAKE_BOOL)
    reader->pending_bool = (head & 0x0f) == 1;
}

gboolean
fake_reader_field(TideFakeReader *reader, TideFakeField *field)
{
  if (!field->has_begun)
    enter_level(reader);
  *field = (TideFakeField){.has_begun = TRUE};
  if (!reader->failed && reader->compact) {
    read_compact_field(reader, field);
  } else if (!reader->failed) {
    field->type = (TideFakeType)take_byte(reader);
    if (field->type != TIDE_FAKE_STOP)
      field->id = (gint16)take_big_endian(reader, 2);
  }
  if (!reader->failed && field->type != TIDE_FAKE_STOP)
    return TRUE;
  reader->depth -= reader->depth > 0 ? 1 : 0;
  return FALSE;
}

gboolean
fake_reader_bool(TideFakeReader *reader)
{
  if (reader->pending_bool >= 0) {
    gboolean value = reader->pending_bool;
    reader->pending_bool = -1;
    return value;
  }
  return take_byte(reader) == 1;
}

gint16
fake_reader_i16(TideFakeReader *reader)
{
  return (gint16)(reader->compact ? take_zigzag(reader) : (gint64)take_big_endian(reader, 2));
}

gint32
fake_reader_i32(TideFakeReader *reader)
{
  return (gint32)(reader->compact ? take_zigzag(reader) : (gint64)take_big_endian(reader, 4));
}

gint64
fake_reader_i64(TideFakeReader *reader)
{
  return reader->compact ? take_zigzag(reader) : (gint64)take_big_endian(reader, 8);
}

TideBytes
fake_reader_binary(TideFakeReader *reader)
{
  gsize len = take_size(reader);
  const char *text = take_text(reader, len);
  return reader->failed ? TIDE_BYTES_EMPTY : tide_bytes(text, len);
}

const char *
fake_reader_string(TideFakeReader *reader)
{
  return take_text(reader, take_size(reader));
}

guint32
fake_reader_list(TideFakeReader *reader, TideFakeType *ret_element)
{
  guint8 head = take_byte(reader);
  if (!reader->compact) {
    *ret_element = (TideFakeType)head;
    return take_size(reader);
  }
  *ret_element = type_of_compact(reader, head & 0x0f);
  guint32 n = head >> 4;
  if (n == 15)
    n = take_size(reader);
  return reader->failed ? 0 : n;
}

guint32
fake_reader_map(TideFakeReader *reader, TideFakeType *ret_key, TideFakeType *ret_value)
{
  *ret_key = *ret_value = TIDE_FAKE_STOP;
  if (!reader->compact) {
    *ret_key = (TideFakeType)take_byte(reader);
    *ret_value = (TideFakeType)take_byte(reader);
    return take_size(reader);
  }
  guint32 n = take_size(reader);
  if (n == 0)
    return 0;
  guint8 types = take_byte(reader);
  *ret_key = type_of_compact(reader, types >> 4);
  *ret_value = type_of_compact(reader, types & 0x0f);
  return reader->failed ? 0 : n;
}

/* Lists and maps count as a level too, or [[[[… would use up the stack. */
static void
skip_elements(TideFakeReader *reader, gboolean is_map)
{
  TideFakeType key = TIDE_FAKE_STOP, value = TIDE_FAKE_STOP;
  guint32 n = is_map ? fake_reader_map(reader, &key, &value) : fake_reader_list(reader, &value);
  enter_level(reader);
  for (guint32 i = 0; i < n && !reader->failed; i++) {
    if (is_map)
      fake_reader_skip(reader, key);
    fake_reader_skip(reader, value);
  }
  reader->depth -= reader->depth > 0 ? 1 : 0;
}

void
fake_reader_skip(TideFakeReader *reader, TideFakeType type)
{
  TideFakeField field = {0};
  switch (type) {
  case TIDE_FAKE_BOOL:
    fake_reader_bool(reader);
    return;
  case TIDE_FAKE_BYTE:
    take_byte(reader);
    return;
  case TIDE_FAKE_DOUBLE:
    take(reader, NULL, 8);
    return;
  case TIDE_FAKE_I16:
    fake_reader_i16(reader);
    return;
  case TIDE_FAKE_I32:
    fake_reader_i32(reader);
    return;
  case TIDE_FAKE_I64:
    fake_reader_i64(reader);
    return;
  case TIDE_FAKE_BINARY:
    take(reader, NULL, take_size(reader));
    return;
  case TIDE_FAKE_STRUCT:
    while (fake_reader_field(reader, &field))
      fake_reader_skip(reader, field.type);
    return;
  case TIDE_FAKE_MAP:
    skip_elements(reader, TRUE);
    return;
  case TIDE_FAKE_SET:
  case TIDE_FAKE_LIST:
    skip_elements(reader, FALSE);
    return;
  case TIDE_FAKE_STOP:
    break;
  }
  fake_reader_fail(reader, "unknown type");
}
