/* Avro: copies a message by its schema, value by value. */
#include "commands/simulate/value_change.h"

#include "decode/avro_cursor.h"
#include "decode/avro_schema.h"
#include "decode/frame.h"

#define MAX_DEPTH 128u

typedef struct Copy {
  TideValueChange *change;
  const TideAvroSchema *schema;
  TideAvroCursor in; /* the message */
  TideBuffer *out;
  guint depth;
  gboolean is_in_record; /* elements outside a record are readings, and have no names */
} Copy;

static gboolean copy_value(Copy *copy, guint32 type);

/* ---- bytes ---- */

static void
put_long(Copy *copy, gint64 value)
{
  guint64 rest = (guint64)value << 1 ^ (value < 0 ? G_MAXUINT64 : 0);
  for (; rest >= 0x80; rest >>= 7)
    tide_buffer_append_byte(copy->out, (guint8)(rest | 0x80));
  tide_buffer_append_byte(copy->out, (guint8)rest);
}

static void
put_run(Copy *copy, TideBytes bytes)
{
  put_long(copy, (gint64)bytes.len);
  tide_buffer_append_bytes(copy->out, bytes);
}

/* ---- values ---- */

/* The blocks of a list or map. Their sizes in bytes are omitted, because they may change. */
static gboolean
copy_blocks(Copy *copy, const TideAvroNode *node)
{
  const TideAvroMember *member = &copy->schema->members[node->first];
  guint64 index = 0;
  gint64 n, unused;
  do {
    if (!tide_avro_take_long(&copy->in, &n) || n == G_MININT64 || (n < 0 && !tide_avro_take_long(&copy->in, &unused)))
      return FALSE;
    n = ABS(n);
    put_long(copy, n);
    for (gint64 i = 0; i < n; i++, index++) {
      TideBytes name;
      gsize outer = copy->change->path.len;
      if (node->kind == TIDE_AVRO_MAP) {
        if (!tide_avro_take_run(&copy->in, &name))
          return FALSE;
        put_run(copy, name);
        outer = tide_value_change_enter(copy->change, name);
      } else if (copy->is_in_record)
        outer = tide_value_change_enter_element(copy->change, index);
      if (!copy_value(copy, member->node))
        return FALSE;
      tide_value_change_leave(copy->change, outer);
    }
  } while (n != 0);
  return TRUE;
}

/* Writes a stored value: the new one, or the old one. */
static void
put_real(Copy *copy, TideBytes bytes)
{
  const gboolean is_double = bytes.len == sizeof(double);
  guint64 bits = 0;
  float narrow;
  double value;
  memcpy(&bits, bytes.data, bytes.len);
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
  tide_buffer_append(copy->out, &bits, bytes.len);
}

static gboolean
copy_node(Copy *copy, const TideAvroNode *node)
{
  const TideAvroMember *members = &copy->schema->members[node->first];
  gboolean is_int = node->kind == TIDE_AVRO_INT, was_in_record = copy->is_in_record;
  gint64 number;
  TideBytes bytes;
  switch (node->kind) {
  case TIDE_AVRO_NULL:
    return TRUE;
  case TIDE_AVRO_BOOLEAN:
  case TIDE_AVRO_FIXED:
    if (!tide_avro_take_bytes(&copy->in, node->kind == TIDE_AVRO_FIXED ? node->size : 1, &bytes))
      return FALSE;
    tide_buffer_append_bytes(copy->out, bytes);
    return TRUE;
  case TIDE_AVRO_INT:
  case TIDE_AVRO_LONG:
  case TIDE_AVRO_ENUM:
    if (!tide_avro_take_long(&copy->in, &number))
      return FALSE;
    if (node->logical == TIDE_AVRO_LOCAL)
      (void)tide_value_change_local_time(copy->change, &number, node->scale);
    else if (node->logical != TIDE_AVRO_DATE && node->kind != TIDE_AVRO_ENUM)
      (void)tide_value_change_integer(copy->change, &number, node->logical == TIDE_AVRO_SECONDS ? node->scale : 0,
                                      is_int ? G_MININT32 : G_MININT64, is_int ? G_MAXINT32 : G_MAXINT64);
    put_long(copy, number);
    return TRUE;
  case TIDE_AVRO_FLOAT:
  case TIDE_AVRO_DOUBLE:
    if (!tide_avro_take_bytes(&copy->in, node->kind == TIDE_AVRO_DOUBLE ? sizeof(double) : sizeof(float), &bytes))
      return FALSE;
    put_real(copy, bytes);
    return TRUE;
  case TIDE_AVRO_BYTES:
  case TIDE_AVRO_STRING:
    if (!tide_avro_take_run(&copy->in, &bytes))
      return FALSE;
    if (node->kind == TIDE_AVRO_STRING)
      (void)tide_value_change_text(copy->change, &bytes);
    put_run(copy, bytes);
    return TRUE;
  case TIDE_AVRO_RECORD:
    copy->is_in_record = TRUE;
    for (guint32 i = 0; i < node->size; i++) {
      gsize outer = tide_value_change_enter(copy->change, members[i].name);
      if (!copy_value(copy, members[i].node))
        return FALSE;
      tide_value_change_leave(copy->change, outer);
    }
    copy->is_in_record = was_in_record;
    return TRUE;
  case TIDE_AVRO_ARRAY:
  case TIDE_AVRO_MAP:
    return copy_blocks(copy, node);
  case TIDE_AVRO_UNION:
    if (!tide_avro_take_long(&copy->in, &number) || number < 0 || number >= node->size)
      return FALSE;
    put_long(copy, number);
    return copy_value(copy, members[number].node);
  }
  g_assert_not_reached();
}

/* Calls itself for nested values. */
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
tide_avro_change(TideValueChange *change, const TideDecodeOptions *options, TideBytes message, TideBuffer *out)
{
  Copy copy = {.change = change, .schema = options->schema, .in = {.text = message}, .out = out};
  if (options->schemas != NULL) {
    const char *why;
    guint32 id;
    if (!tide_frame_read(message, &id, &why) ||
        options->schemas->find(options->schemas, id, &copy.schema, &why) != TIDE_SCHEMA_FOUND)
      return FALSE;
    copy.in.at = TIDE_FRAME_BYTES;
    tide_buffer_append(out, message.data, copy.in.at);
  }
  return copy_value(&copy, copy.schema->top) && copy.in.at == message.len;
}
