/* Writes replies in both protocols, framed or not. */
#include "fault/gateway/fake_wire.h"

#define FRAME_HEAD_BYTES 4

void
fake_writer_init(TideFakeWriter *writer, gboolean framed, gboolean compact)
{
  *writer = (TideFakeWriter){.framed = framed, .compact = compact};
}

void
fake_writer_clear(TideFakeWriter *writer)
{
  tide_buffer_clear_memory(&writer->out);
}

static void
put_byte(TideFakeWriter *writer, guint value)
{
  tide_buffer_append_byte(&writer->out, (guint8)value);
}

static void
put_big_endian(TideFakeWriter *writer, guint64 value, guint width_bytes)
{
  for (guint i = width_bytes; i-- > 0;)
    put_byte(writer, (value >> (8 * i)) & 0xff);
}

static void
put_varint(TideFakeWriter *writer, guint64 value)
{
  while (value > 0x7f) {
    put_byte(writer, (value & 0x7f) | 0x80);
    value >>= 7;
  }
  put_byte(writer, (guint)value);
}

static void
put_zigzag(TideFakeWriter *writer, gint64 value)
{
  put_varint(writer, ((guint64)value << 1) ^ (guint64)(value >> 63));
}

static void
put_size(TideFakeWriter *writer, guint32 size)
{
  if (writer->compact)
    put_varint(writer, size);
  else
    put_big_endian(writer, size, 4);
}

/* A bool's value is part of its type: put_field() is told which. */
static const guint8 compact_types[] = {
    [TIDE_FAKE_BOOL] = 1, [TIDE_FAKE_BYTE] = 3,   [TIDE_FAKE_I16] = 4,     [TIDE_FAKE_I32] = 5,
    [TIDE_FAKE_I64] = 6,  [TIDE_FAKE_DOUBLE] = 7, [TIDE_FAKE_BINARY] = 8,  [TIDE_FAKE_LIST] = 9,
    [TIDE_FAKE_SET] = 10, [TIDE_FAKE_MAP] = 11,   [TIDE_FAKE_STRUCT] = 12,
};

void
fake_writer_message_begin(TideFakeWriter *writer, const char *name, TideFakeMessageType type, gint32 sequence_id)
{
  tide_buffer_reset(&writer->out);
  writer->depth = 0;
  if (writer->framed)
    put_big_endian(writer, 0, FRAME_HEAD_BYTES);
  if (writer->compact) {
    put_byte(writer, 0x82);
    put_byte(writer, 1u | (guint)type << 5);
    put_varint(writer, (guint32)sequence_id);
    fake_writer_binary(writer, tide_bytes_of_string(name));
  } else {
    put_big_endian(writer, 0x80010000u | (guint)type, 4);
    fake_writer_binary(writer, tide_bytes_of_string(name));
    put_big_endian(writer, (guint32)sequence_id, 4);
  }
}

void
fake_writer_message_end(TideFakeWriter *writer)
{
  if (!writer->framed)
    return;
  gsize len = writer->out.len - FRAME_HEAD_BYTES;
  for (guint i = 0; i < FRAME_HEAD_BYTES; i++)
    writer->out.data[i] = (guint8)(len >> (8 * (FRAME_HEAD_BYTES - 1 - i)));
}

void
fake_writer_struct_begin(TideFakeWriter *writer)
{
  g_assert(writer->depth < TIDE_FAKE_MAX_DEPTH);
  writer->last_field[writer->depth++] = 0;
}

void
fake_writer_struct_end(TideFakeWriter *writer)
{
  put_byte(writer, TIDE_FAKE_STOP);
  writer->depth--;
}

static void
put_field(TideFakeWriter *writer, gint16 id, TideFakeType type, guint compact)
{
  if (!writer->compact) {
    put_byte(writer, type);
    put_big_endian(writer, (guint16)id, 2);
    return;
  }
  gint16 *last = &writer->last_field[writer->depth - 1];
  int delta = id - *last;
  if (delta > 0 && delta <= 15) {
    put_byte(writer, (guint)delta << 4 | compact);
  } else {
    put_byte(writer, compact);
    put_zigzag(writer, id);
  }
  *last = id;
}

static void
put_typed_field(TideFakeWriter *writer, gint16 id, TideFakeType type)
{
  put_field(writer, id, type, compact_types[type]);
}

void
fake_writer_bool_field(TideFakeWriter *writer, gint16 id, gboolean value)
{
  put_field(writer, id, TIDE_FAKE_BOOL, value ? 1 : 2);
  if (!writer->compact)
    put_byte(writer, value ? 1 : 0);
}

void
fake_writer_byte_field(TideFakeWriter *writer, gint16 id, gint8 value)
{
  put_typed_field(writer, id, TIDE_FAKE_BYTE);
  put_byte(writer, (guint8)value);
}

void
fake_writer_i16_field(TideFakeWriter *writer, gint16 id, gint16 value)
{
  put_typed_field(writer, id, TIDE_FAKE_I16);
  if (writer->compact)
    put_zigzag(writer, value);
  else
    put_big_endian(writer, (guint16)value, 2);
}

void
fake_writer_i32(TideFakeWriter *writer, gint32 value)
{
  if (writer->compact)
    put_zigzag(writer, value);
  else
    put_big_endian(writer, (guint32)value, 4);
}

void
fake_writer_i32_field(TideFakeWriter *writer, gint16 id, gint32 value)
{
  put_typed_field(writer, id, TIDE_FAKE_I32);
  fake_writer_i32(writer, value);
}

void
fake_writer_i64_field(TideFakeWriter *writer, gint16 id, gint64 value)
{
  put_typed_field(writer, id, TIDE_FAKE_I64);
  if (writer->compact)
    put_zigzag(writer, value);
  else
    put_big_endian(writer, (guint64)value, 8);
}

void
fake_writer_binary(TideFakeWriter *writer, TideBytes value)
{
  put_size(writer, (guint32)value.len);
  tide_buffer_append_bytes(&writer->out, value);
}

void
fake_writer_binary_field(TideFakeWriter *writer, gint16 id, TideBytes value)
{
  put_typed_field(writer, id, TIDE_FAKE_BINARY);
  fake_writer_binary(writer, value);
}

void
fake_writer_string_field(TideFakeWriter *writer, gint16 id, const char *value)
{
  fake_writer_binary_field(writer, id, tide_bytes_of_string(value));
}

void
fake_writer_struct_field(TideFakeWriter *writer, gint16 id)
{
  put_typed_field(writer, id, TIDE_FAKE_STRUCT);
}

void
fake_writer_list_field(TideFakeWriter *writer, gint16 id, TideFakeType element, guint32 n)
{
  put_typed_field(writer, id, TIDE_FAKE_LIST);
  if (!writer->compact) {
    put_byte(writer, element);
    put_size(writer, n);
  } else if (n < 15) {
    put_byte(writer, n << 4 | compact_types[element]);
  } else {
    put_byte(writer, 0xf0 | compact_types[element]);
    put_size(writer, n);
  }
}

void
fake_writer_map_field(TideFakeWriter *writer, gint16 id, TideFakeType key, TideFakeType value, guint32 n)
{
  put_typed_field(writer, id, TIDE_FAKE_MAP);
  if (!writer->compact) {
    put_byte(writer, key);
    put_byte(writer, value);
    put_size(writer, n);
    return;
  }
  put_size(writer, n);
  if (n > 0)
    put_byte(writer, (guint)compact_types[key] << 4 | compact_types[value]);
}
