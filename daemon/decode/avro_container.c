#include "decode/avro_container.h"

#include "util/error.h"

/* A varint has seven bits a byte. */
#define LONG_MAX_BYTES 10u

/* Of values in values. */
#define MAX_DEPTH 256u

/* Values without bytes, beside one for each byte there is. */
#define MAX_EMPTY 65536u

static const TideBytes magic = TIDE_BYTES_LITERAL("Obj\x01");

/* What is read, and how far. */
typedef struct Cursor {
  TideBytes text;
  gsize at;
  const char *detail; /* why it cannot be read on */
  gboolean is_cut;    /* since it ends */
  /* of an object */
  const TideAvroSchema *schema;
  guint depth;
  guint64 n_empty;
} Cursor;

static gboolean
fail(Cursor *cursor, const char *detail)
{
  cursor->detail = detail;
  return FALSE;
}

static gboolean
fail_cut(Cursor *cursor)
{
  cursor->is_cut = TRUE;
  return fail(cursor, "it ends in the middle");
}

static gboolean
take_long(Cursor *cursor, gint64 *ret_value)
{
  guint64 value = 0;
  for (guint i = 0; i < LONG_MAX_BYTES; i++) {
    if (cursor->at == cursor->text.len)
      return fail_cut(cursor);
    guint8 byte = cursor->text.data[cursor->at++];
    if (i == LONG_MAX_BYTES - 1 && byte > 1)
      break;
    value |= (guint64)(byte & 0x7F) << (7 * i);
    if (byte < 0x80) {
      *ret_value = (gint64)((value >> 1) ^ (0 - (value & 1)));
      return TRUE;
    }
  }
  return fail(cursor, "an integer of more than 64 bits");
}

static gboolean
take_bytes(Cursor *cursor, guint64 len, TideBytes *ret_bytes)
{
  if (cursor->text.len - cursor->at < len)
    return fail_cut(cursor);
  *ret_bytes = tide_bytes(cursor->text.data + cursor->at, (gsize)len);
  cursor->at += (gsize)len;
  return TRUE;
}

static gboolean
take_run(Cursor *cursor, TideBytes *ret_bytes)
{
  gint64 len;
  return take_long(cursor, &len) &&
         (len >= 0 ? take_bytes(cursor, (guint64)len, ret_bytes) : fail(cursor, "a length below zero"));
}

/* How many members of a map or an array come next; 0: it has ended. */
static gboolean
take_count(Cursor *cursor, guint64 *ret_n)
{
  gint64 n, n_bytes; /* which a number below zero is followed by */
  if (!take_long(cursor, &n))
    return FALSE;
  *ret_n = n < 0 ? (guint64)0 - (guint64)n : (guint64)n;
  return n >= 0 || take_long(cursor, &n_bytes);
}

static TideAvroResult
result_of(const Cursor *cursor)
{
  return cursor->is_cut ? TIDE_AVRO_CUT : TIDE_AVRO_BAD;
}

/* ---- heads ---- */

gboolean
tide_avro_is_container(TideBytes text)
{
  return tide_bytes_begin_with(text, magic);
}

static gboolean
read_head(Cursor *cursor, TideAvroHead *head)
{
  TideBytes begin, name, value;
  if (!tide_bytes_begin_with(magic, tide_bytes(cursor->text.data, MIN(magic.len, cursor->text.len))))
    return fail(cursor, "it does not begin as an object container of Avro does");
  if (!take_bytes(cursor, magic.len, &begin))
    return FALSE;
  for (guint64 n = 0;; n--) {
    if (n == 0 && !take_count(cursor, &n))
      return FALSE;
    if (n == 0)
      return take_bytes(cursor, TIDE_AVRO_SYNC_BYTES, &head->sync);
    if (!take_run(cursor, &name) || !take_run(cursor, &value))
      return FALSE;
    if (tide_bytes_equal(name, TIDE_BYTES_LITERAL("avro.schema")))
      head->schema = value;
    else if (tide_bytes_equal(name, TIDE_BYTES_LITERAL("avro.codec")) && value.len > 0)
      head->codec = value;
  }
}

TideAvroResult
tide_avro_head_read(TideBytes text, TideAvroHead *ret_head, const char **ret_detail)
{
  Cursor cursor = {.text = text, .detail = "it has no schema"};
  *ret_head = (TideAvroHead){.codec = TIDE_BYTES_LITERAL("null")};
  gboolean good = read_head(&cursor, ret_head);
  ret_head->len = cursor.at;
  *ret_detail = cursor.detail;
  return good && ret_head->schema.len > 0 ? TIDE_AVRO_WHOLE : result_of(&cursor);
}

/* ---- blocks ---- */

TideAvroResult
tide_avro_block_read(TideBytes text, TideAvroBlock *ret_block)
{
  Cursor cursor = {.text = text};
  if (!take_long(&cursor, &ret_block->n_objects) || !take_long(&cursor, &ret_block->n_bytes))
    return result_of(&cursor);
  ret_block->start = cursor.at;
  return ret_block->n_objects >= 0 && ret_block->n_bytes >= 0 ? TIDE_AVRO_WHOLE : TIDE_AVRO_BAD;
}

static void
append_long(TideBuffer *out, guint64 value)
{
  for (value <<= 1; value >= 0x80; value >>= 7)
    tide_buffer_append_byte(out, (guint8)(value | 0x80));
  tide_buffer_append_byte(out, (guint8)value);
}

static void
append_run(TideBuffer *out, TideBytes bytes)
{
  append_long(out, bytes.len);
  tide_buffer_append_bytes(out, bytes);
}

void
tide_avro_head_append(TideBuffer *out, TideBytes schema, TideBytes sync)
{
  tide_buffer_append_bytes(out, magic);
  append_long(out, 1);
  append_run(out, TIDE_BYTES_LITERAL("avro.schema"));
  append_run(out, schema);
  append_long(out, 0);
  tide_buffer_append_bytes(out, sync);
}

void
tide_avro_block_append(TideBuffer *out, TideBytes object, TideBytes sync)
{
  append_long(out, 1);
  append_run(out, object);
  tide_buffer_append_bytes(out, sync);
}

/* ---- objects ---- */

static gboolean pass(Cursor *cursor, guint32 type);

/* Each member is progress, or counted: a few bytes of schema can be a tree of millions of empty records. */
static gboolean
pass_member(Cursor *cursor, guint32 type)
{
  gsize before = cursor->at;
  if (!pass(cursor, type))
    return FALSE;
  return cursor->at > before || ++cursor->n_empty <= cursor->text.len + MAX_EMPTY ||
         fail(cursor, "too many values that take no bytes");
}

static gboolean
pass_members(Cursor *cursor, const TideAvroNode *node)
{
  const TideAvroMember *members = &cursor->schema->members[node->first];
  TideBytes name;
  guint64 n = 0;
  if (cursor->depth++ >= MAX_DEPTH)
    return fail(cursor, "it is nested too deeply");
  for (guint32 i = 0; node->kind == TIDE_AVRO_RECORD && i < node->size; i++)
    if (!pass_member(cursor, members[i].node))
      return FALSE;
  while (node->kind != TIDE_AVRO_RECORD) {
    if (n == 0 && !take_count(cursor, &n))
      return FALSE;
    if (n-- == 0)
      break;
    if ((node->kind == TIDE_AVRO_MAP && !take_run(cursor, &name)) || !pass_member(cursor, members[0].node))
      return FALSE;
  }
  cursor->depth--;
  return TRUE;
}

/* Calls itself for what is nested; the depth bounds it. */
static gboolean
pass(Cursor *cursor, guint32 type)
{
  static const guint8 widths[] = {[TIDE_AVRO_BOOLEAN] = 1, [TIDE_AVRO_FLOAT] = 4, [TIDE_AVRO_DOUBLE] = 8};
  const TideAvroNode *node = &cursor->schema->nodes[type];
  TideBytes bytes;
  gint64 number;
  if (node->kind == TIDE_AVRO_UNION) {
    if (!take_long(cursor, &number))
      return FALSE;
    if (number < 0 || number >= node->size)
      return fail(cursor, "a type that the union does not have");
    node = &cursor->schema->nodes[cursor->schema->members[node->first + (guint32)number].node];
  }
  switch (node->kind) {
  case TIDE_AVRO_NULL:
    return TRUE;
  case TIDE_AVRO_INT:
  case TIDE_AVRO_LONG:
  case TIDE_AVRO_ENUM:
    return take_long(cursor, &number);
  case TIDE_AVRO_BOOLEAN:
  case TIDE_AVRO_FLOAT:
  case TIDE_AVRO_DOUBLE:
    return take_bytes(cursor, widths[node->kind], &bytes);
  case TIDE_AVRO_FIXED:
    return take_bytes(cursor, node->size, &bytes);
  case TIDE_AVRO_BYTES:
  case TIDE_AVRO_STRING:
    return take_run(cursor, &bytes);
  case TIDE_AVRO_RECORD:
  case TIDE_AVRO_ARRAY:
  case TIDE_AVRO_MAP:
    return pass_members(cursor, node);
  case TIDE_AVRO_UNION:
    break;
  }
  g_assert_not_reached();
}

gboolean
tide_avro_object_pass(const TideAvroSchema *schema, TideBytes text, gsize *at, guint64 *n_empty,
                      const char **ret_detail)
{
  Cursor cursor = {.text = text, .at = *at, .schema = schema, .n_empty = *n_empty};
  gboolean good = pass(&cursor, schema->top);
  *at = cursor.at;
  *n_empty = cursor.n_empty;
  *ret_detail = cursor.detail;
  return good;
}

/* ---- the schema of a file ---- */

const TideAvroSchema *
tide_avro_schema_of_file(TideBytes begin, GError **error)
{
  TideAvroHead head;
  const char *detail = NULL;
  if (!tide_avro_is_container(begin))
    return tide_avro_schema_new(begin, error);
  TideAvroResult result = tide_avro_head_read(begin, &head, &detail);
  if (result == TIDE_AVRO_WHOLE)
    return tide_avro_schema_new(head.schema, error);
  g_set_error_literal(error, TIDE_ERROR, TIDE_ERROR_DATA,
                      result == TIDE_AVRO_CUT ? "its head is too long, or cut" : detail);
  return NULL;
}
