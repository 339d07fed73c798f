/* Avro: copied by its schema, value by value. */
#include "commands/simulate/value_change.h"

#include "decode/avro_schema.h"

#define LONG_MAX_BYTES 10u
#define MAX_DEPTH 128u

typedef struct Copy {
  TideValueChange *change;
  const TideAvroSchema *schema;
  TideBytes message;
  gsize at;
  TideBuffer *out;
  guint depth;
  gboolean is_in_record; /* elements of what is outside are readings, and have no names */
} Copy;

static gboolean copy_value(Copy *copy, guint32 type);

/* ---- bytes ---- */

static gboolean
take_long(Copy *copy, gint64 *ret_value)
{
  guint64 value = 0;
  for (guint i = 0; i < LONG_MAX_BYTES && copy->at < copy->message.len; i++) {
    guint8 byte = copy->message.data[copy->at++];
    value |= (guint64)(byte & 0x7F) << (7 * i);
    if (byte < 0x80) {
      *ret_value = (gint64)((value >> 1) ^ (0 - (value & 1)));
      return TRUE;
    }
  }
  return FALSE;
}

static void
put_long(Copy *copy, gint64 value)
{
  guint64 rest = (guint64)value << 1 ^ (value < 0 ? G_MAXUINT64 : 0);
  for (; rest >= 0x80; rest >>= 7)
    tide_buffer_append_byte(copy->out, (guint8)(rest | 0x80));
  tide_buffer_append_byte(copy->out, (guint8)rest);
}

static gboolean
take_bytes(Copy *copy, guint64 len, TideBytes *ret_bytes)
{
  if (copy->message.len - copy->at < len)
    return FALSE;
  *ret_bytes = tide_bytes(copy->message.data + copy->at, (gsize)len);
  copy->at += (gsize)len;
  return TRUE;
}

static gboolean
take_run(Copy *copy, TideBytes *ret_bytes)
{
  gint64 len;
  return take_long(copy, &len) && len >= 0 && take_bytes(copy, (guint64)len, ret_bytes);
}

static void
put_run(Copy *copy, TideBytes bytes)
{
  put_long(copy, (gint64)bytes.len);
  tide_buffer_append_bytes(copy->out, bytes);
}

/* ---- values ---- */

static gboolean
copy_integer(Copy *copy, const TideAvroNode *node)
{
  gint64 value;
  gboolean is_int = node->kind == TIDE_AVRO_INT;
  if (!take_long(copy, &value))
    return FALSE;
  if (node->logical != TIDE_AVRO_DATE && node->kind != TIDE_AVRO_ENUM)
    (void)tide_value_change_integer(copy->change, &value, node->logical == TIDE_AVRO_SECONDS ? node->scale : 0,
                                    is_int ? G_MININT32 : G_MININT64, is_int ? G_MAXINT32 : G_MAXINT64);
  put_long(copy, value);
  return TRUE;
}

static gboolean
copy_real(Copy *copy, gboolean is_double)
{
  TideBytes bytes;
  guint64 bits = 0;
  float narrow;
  double value;
  const gsize n_bytes = is_double ? sizeof value : sizeof narrow;
  if (!take_bytes(copy, n_bytes, &bytes))
    return FALSE;
  memcpy(&bits, bytes.data, n_bytes);
  bits = GUINT64_FROM_LE(bits);
  guint32 low = (guint32)bits;
  memcpy(&value, &bits, sizeof value);
  memcpy(&narrow, &low, sizeof narrow);
  value = is_double ? value : (double)narrow;
  (void)tide_value_change_double(copy->change, &value);
  narrow = (float)value;
  memcpy(&low, &narrow, sizeof narrow);
  memcpy(&bits, &value, sizeof value);
  bits = GUINT64_TO_LE(is_double ? bits : low);
  tide_buffer_append(copy->out, &bits, n_bytes);
  return TRUE;
}

static gboolean
copy_text(Copy *copy, gboolean may_change)
{
  TideBytes text;
  if (!take_run(copy, &text))
    return FALSE;
  if (may_change)
    (void)tide_value_change_text(copy->change, &text);
  put_run(copy, text);
  return TRUE;
}

static gboolean
copy_as_it_is(Copy *copy, gsize len)
{
  TideBytes bytes;
  if (!take_bytes(copy, len, &bytes))
    return FALSE;
  tide_buffer_append_bytes(copy->out, bytes);
  return TRUE;
}

/* ---- what holds others ---- */

static gboolean
copy_member(Copy *copy, gsize outer, guint32 type)
{
  gboolean good = copy_value(copy, type);
  tide_value_change_leave(copy->change, outer);
  return good;
}

static gboolean
copy_record(Copy *copy, const TideAvroNode *node)
{
  gboolean was_in_record = copy->is_in_record;
  copy->is_in_record = TRUE;
  for (guint32 i = 0; i < node->size; i++) {
    const TideAvroMember *member = &copy->schema->members[node->first + i];
    if (!copy_member(copy, tide_value_change_enter(copy->change, member->name), member->node))
      return FALSE;
  }
  copy->is_in_record = was_in_record;
  return TRUE;
}

/* One block; how many bytes it has is left out, as they may be others. */
static gboolean
copy_block(Copy *copy, const TideAvroNode *node, guint64 *index, gint64 *ret_n)
{
  const TideAvroMember *member = &copy->schema->members[node->first];
  gint64 n, unused;
  if (!take_long(copy, &n) || n == G_MININT64 || (n < 0 && !take_long(copy, &unused)))
    return FALSE;
  *ret_n = ABS(n);
  put_long(copy, *ret_n);
  for (gint64 i = 0; i < *ret_n; i++, ++*index) {
    TideBytes name;
    gsize outer = copy->change->path.len;
    if (node->kind == TIDE_AVRO_MAP) {
      if (!take_run(copy, &name))
        return FALSE;
      put_run(copy, name);
      outer = tide_value_change_enter(copy->change, name);
    } else if (copy->is_in_record)
      outer = tide_value_change_enter_element(copy->change, *index);
    if (!copy_member(copy, outer, member->node))
      return FALSE;
  }
  return TRUE;
}

static gboolean
copy_blocks(Copy *copy, const TideAvroNode *node)
{
  guint64 index = 0;
  gint64 n;
  do
    if (!copy_block(copy, node, &index, &n))
      return FALSE;
  while (n != 0);
  return TRUE;
}

static gboolean
copy_union(Copy *copy, const TideAvroNode *node)
{
  gint64 branch;
  if (!take_long(copy, &branch) || branch < 0 || branch >= node->size)
    return FALSE;
  put_long(copy, branch);
  return copy_value(copy, copy->schema->members[node->first + (guint32)branch].node);
}

static gboolean
copy_node(Copy *copy, const TideAvroNode *node)
{
  switch (node->kind) {
  case TIDE_AVRO_NULL:
    return TRUE;
  case TIDE_AVRO_BOOLEAN:
    return copy_as_it_is(copy, 1);
  case TIDE_AVRO_FIXED:
    return copy_as_it_is(copy, node->size);
  case TIDE_AVRO_INT:
  case TIDE_AVRO_LONG:
  case TIDE_AVRO_ENUM:
    return copy_integer(copy, node);
  case TIDE_AVRO_FLOAT:
  case TIDE_AVRO_DOUBLE:
    return copy_real(copy, node->kind == TIDE_AVRO_DOUBLE);
  case TIDE_AVRO_BYTES:
  case TIDE_AVRO_STRING:
    return copy_text(copy, node->kind == TIDE_AVRO_STRING);
  case TIDE_AVRO_RECORD:
    return copy_record(copy, node);
  case TIDE_AVRO_ARRAY:
  case TIDE_AVRO_MAP:
    return copy_blocks(copy, node);
  case TIDE_AVRO_UNION:
    return copy_union(copy, node);
  }
  g_assert_not_reached();
}

/* Calls itself for what is nested. */
static gboolean
copy_value(Copy *copy, guint32 type)
{
  if (copy->depth >= MAX_DEPTH)
    return FALSE;
  copy->depth++;
  gboolean good = copy_node(copy, &copy->schema->nodes[type]);
  copy->depth--;
  return good;
}

gboolean
tide_avro_change(TideValueChange *change, const TideAvroSchema *schema, TideBytes message, gsize start, TideBuffer *out)
{
  Copy copy = {.change = change, .schema = schema, .message = message, .at = start, .out = out};
  if (start > message.len)
    return FALSE;
  tide_buffer_append(out, message.data, start);
  return copy_value(&copy, schema->top) && copy.at == message.len;
}
