#include "decode/avro_container.h"

#include "decode/avro_cursor.h"
#include "util/error.h"

/* Maximum nesting of values. */
#define MAX_DEPTH 256u

/* Maximum number of values without bytes, in addition to one per byte of the text. */
#define MAX_EMPTY 65536u

static const TideBytes magic = TIDE_BYTES_LITERAL("Obj\x01");

static TideAvroResult
result_of(const TideAvroCursor *cursor)
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
read_head(TideAvroCursor *cursor, TideAvroHead *head)
{
  TideBytes begin, name, value;
  gint64 n_bytes;
  if (!tide_bytes_begin_with(magic, tide_bytes(cursor->text.data, MIN(magic.len, cursor->text.len))))
    return tide_avro_fail(cursor, 0, "it does not begin like an Avro object container", FALSE);
  if (!tide_avro_take_bytes(cursor, magic.len, &begin))
    return FALSE;
  for (guint64 n = 0;; n--) {
    if (n == 0 && !tide_avro_take_count(cursor, &n, &n_bytes))
      return FALSE;
    if (n == 0)
      return tide_avro_take_bytes(cursor, TIDE_AVRO_SYNC_BYTES, &head->sync);
    if (!tide_avro_take_run(cursor, &name) || !tide_avro_take_run(cursor, &value))
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
  TideAvroCursor cursor = {.text = text, .detail = "it has no schema"};
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
  TideAvroCursor cursor = {.text = text};
  if (!tide_avro_take_long(&cursor, &ret_block->n_objects) || !tide_avro_take_long(&cursor, &ret_block->n_bytes))
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

typedef struct Pass {
  TideAvroCursor in;
  const TideAvroSchema *schema;
  guint depth;
  guint64 n_empty;
} Pass;

static gboolean
fail(Pass *pass, const char *detail)
{
  return tide_avro_fail(&pass->in, pass->in.at, detail, FALSE);
}

static gboolean pass_value(Pass *pass, guint32 type);

/* Each member uses bytes or is counted, because a few bytes of schema can define a tree of millions of empty
 * records. */
static gboolean
pass_member(Pass *pass, guint32 type)
{
  gsize before = pass->in.at;
  if (!pass_value(pass, type))
    return FALSE;
  return pass->in.at > before || ++pass->n_empty <= pass->in.text.len + MAX_EMPTY ||
         fail(pass, "too many values without bytes");
}

static gboolean
pass_members(Pass *pass, const TideAvroNode *node)
{
  const TideAvroMember *members = &pass->schema->members[node->first];
  TideBytes name;
  guint64 n = 0;
  gint64 n_bytes;
  if (pass->depth++ >= MAX_DEPTH)
    return fail(pass, "it is nested too deeply");
  for (guint32 i = 0; node->kind == TIDE_AVRO_RECORD && i < node->size; i++)
    if (!pass_member(pass, members[i].node))
      return FALSE;
  while (node->kind != TIDE_AVRO_RECORD) {
    if (n == 0 && !tide_avro_take_count(&pass->in, &n, &n_bytes))
      return FALSE;
    if (n-- == 0)
      break;
    if ((node->kind == TIDE_AVRO_MAP && !tide_avro_take_run(&pass->in, &name)) || !pass_member(pass, members[0].node))
      return FALSE;
  }
  pass->depth--;
  return TRUE;
}

/* Recursive for nested values; the depth limits it. */
static gboolean
pass_node(Pass *pass, const TideAvroNode *node)
{
  static const guint8 widths[] = {[TIDE_AVRO_BOOLEAN] = 1, [TIDE_AVRO_FLOAT] = 4, [TIDE_AVRO_DOUBLE] = 8};
  TideBytes bytes;
  gint64 number;
  switch (node->kind) {
  case TIDE_AVRO_NULL:
    return TRUE;
  case TIDE_AVRO_INT:
  case TIDE_AVRO_LONG:
  case TIDE_AVRO_ENUM:
    return tide_avro_take_long(&pass->in, &number);
  case TIDE_AVRO_BOOLEAN:
  case TIDE_AVRO_FLOAT:
  case TIDE_AVRO_DOUBLE:
    return tide_avro_take_bytes(&pass->in, widths[node->kind], &bytes);
  case TIDE_AVRO_FIXED:
    return tide_avro_take_bytes(&pass->in, node->size, &bytes);
  case TIDE_AVRO_BYTES:
  case TIDE_AVRO_STRING:
    return tide_avro_take_run(&pass->in, &bytes);
  case TIDE_AVRO_RECORD:
  case TIDE_AVRO_ARRAY:
  case TIDE_AVRO_MAP:
    return pass_members(pass, node);
  case TIDE_AVRO_UNION:
    break;
  }
  g_assert_not_reached();
}

static gboolean
pass_value(Pass *pass, guint32 type)
{
  const TideAvroNode *node = &pass->schema->nodes[type];
  gint64 number;
  if (node->kind == TIDE_AVRO_UNION) {
    if (!tide_avro_take_long(&pass->in, &number))
      return FALSE;
    if (number < 0 || number >= node->size)
      return fail(pass, "a type that is not in the union");
    node = &pass->schema->nodes[pass->schema->members[node->first + (guint32)number].node];
  }
  return pass_node(pass, node);
}

gboolean
tide_avro_node_pass(const TideAvroSchema *schema, const TideAvroNode *node, TideAvroCursor *in, guint64 *n_empty)
{
  Pass pass = {.in = *in, .schema = schema, .n_empty = *n_empty};
  gboolean good = pass_node(&pass, node);
  *in = pass.in;
  *n_empty = pass.n_empty;
  return good;
}

gboolean
tide_avro_object_pass(const TideAvroSchema *schema, TideBytes text, gsize *at, guint64 *n_empty,
                      const char **ret_detail)
{
  Pass pass = {.in = {.text = text, .at = *at}, .schema = schema, .n_empty = *n_empty};
  gboolean good = pass_value(&pass, schema->top);
  *at = pass.in.at;
  *n_empty = pass.n_empty;
  *ret_detail = pass.in.detail;
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
                      result == TIDE_AVRO_CUT ? "its head is too long or truncated" : detail);
  return NULL;
}
