#include "decode/avro_schema.h"

#include "util/error.h"

#include <memory>
#include <new>

#include <simdjson.h>

using simdjson::dom::element;
using simdjson::dom::object;

/* Of JSON inside of JSON: what is compiled calls itself for each. */
static constexpr gsize MAX_DEPTH = 128;

/* Digits behind the point that a number's text has room for. */
static constexpr gint64 MAX_SCALE = 1000;

/* Of a type, with its namespace: each one that is declared or referred to makes its own of a few bytes of the schema.
 */
static constexpr gsize MAX_NAME_BYTES = 1024;

/* What the struct holds, while it grows. */
typedef struct Compiler {
  GArray *nodes;       /* owned (element-type TideAvroNode) */
  GArray *members;     /* owned (element-type TideAvroMember) */
  GStringChunk *texts; /* owned */
  GHashTable *named;   /* owned: Map<full name, place in nodes> */
  GString *where;      /* owned: the fields around what is compiled */
  GError **error;
} Compiler;

typedef struct Schema {
  TideAvroSchema schema; /* what others see */
  GStringChunk *texts;   /* owned */
} Schema;

static const char *const plain_names[] = {"null", "boolean", "int", "long", "float", "double", "bytes", "string"};

static gboolean compile(Compiler *compiler, element json, const char *space, guint32 *ret_node);

static gboolean G_GNUC_PRINTF(2, 3) fault(Compiler *compiler, const char *format, ...)
{
  va_list args;
  va_start(args, format);
  g_autofree char *text = g_strdup_vprintf(format, args);
  va_end(args);
  if (compiler->where->len > 0)
    g_set_error(compiler->error, TIDE_ERROR, TIDE_ERROR_DATA, "of the field '%s', %s", compiler->where->str, text);
  else
    g_set_error_literal(compiler->error, TIDE_ERROR, TIDE_ERROR_DATA, text);
  return FALSE;
}

/* The text of the member @name, NULL where there is none. Valid as long as the schema. A NUL ends it. */
static const char *
text_of(Compiler *compiler, object json, const char *name)
{
  std::string_view text;
  if (json.at_key(name).get(text) != simdjson::SUCCESS)
    return NULL;
  return g_string_chunk_insert_len(compiler->texts, text.data(), static_cast<gssize>(text.size()));
}

static gint64
integer_of(object json, const char *name, gint64 absent)
{
  gint64 value;
  return json.at_key(name).get(value) == simdjson::SUCCESS ? value : absent;
}

/* @name with its namespace in front. (transfer full) (nullable): NULL, with the fault told, where it is too long. */
static char *
full_name(Compiler *compiler, const char *name, const char *space)
{
  bool is_full = space[0] == '\0' || strchr(name, '.') != NULL;
  if (strlen(name) + (is_full ? 0 : strlen(space) + 1) > MAX_NAME_BYTES) {
    fault(compiler, "the name of a type is longer than %" G_GSIZE_FORMAT " bytes", MAX_NAME_BYTES);
    return NULL;
  }
  return is_full ? g_strdup(name) : g_strconcat(space, ".", name, NULL);
}

static guint32
add_node(Compiler *compiler, TideAvroNode node)
{
  g_array_append_val(compiler->nodes, node);
  return compiler->nodes->len - 1;
}

static TideAvroNode *
node_at(Compiler *compiler, guint32 place)
{
  return &g_array_index(compiler->nodes, TideAvroNode, place);
}

/* What is compiled inside of others is done before them, so that the members of one type stand together. */
static void
keep_members(Compiler *compiler, guint32 node, GArray *members)
{
  node_at(compiler, node)->first = compiler->members->len;
  node_at(compiler, node)->size = members->len;
  g_array_append_vals(compiler->members, members->data, members->len);
}

/* ---- names ---- */

static gboolean
find_named(Compiler *compiler, const char *name, const char *space, guint32 *ret_node)
{
  for (guint32 kind = 0; kind < G_N_ELEMENTS(plain_names); kind++)
    if (strcmp(name, plain_names[kind]) == 0) {
      *ret_node = kind;
      return TRUE;
    }
  g_autofree char *full = full_name(compiler, name, space);
  gpointer place;
  if (full == NULL)
    return FALSE;
  if (!g_hash_table_lookup_extended(compiler->named, full, NULL, &place))
    return fault(compiler, "the type '%s' is not one of Avro's, and not declared before", name);
  *ret_node = GPOINTER_TO_UINT(place);
  return TRUE;
}

/* A node for the record, enum or fixed that @json declares; it has its name before anything in it is looked at. */
static gboolean
declare(Compiler *compiler, object json, TideAvroKind kind, const char *space, guint32 *ret_node,
        const char **ret_space)
{
  const char *name = text_of(compiler, json, "name"), *own_space = text_of(compiler, json, "namespace");
  if (name == NULL || name[0] == '\0')
    return fault(compiler, "a record, enum or fixed has no 'name'");
  g_autofree char *full = full_name(compiler, name, own_space != NULL ? own_space : space);
  if (full == NULL)
    return FALSE;
  if (g_hash_table_contains(compiler->named, full))
    return fault(compiler, "the type '%s' is declared twice", full);
  TideAvroNode node = {};
  node.kind = kind;
  *ret_node = add_node(compiler, node);
  const char *point = strrchr(full, '.');
  *ret_space = point != NULL ? g_string_chunk_insert_len(compiler->texts, full, point - full) : "";
  g_hash_table_insert(compiler->named, g_steal_pointer(&full), GUINT_TO_POINTER(*ret_node));
  return TRUE;
}

/* ---- types with others inside ---- */

static gboolean
compile_field(Compiler *compiler, element json, const char *space, GArray *fields)
{
  object field;
  element type;
  const char *name = json.get(field) == simdjson::SUCCESS ? text_of(compiler, field, "name") : NULL;
  if (name == NULL || name[0] == '\0')
    return fault(compiler, "one of the fields in it has no 'name'");
  gsize outer = compiler->where->len;
  g_string_append_printf(compiler->where, "%s%s", outer > 0 ? "/" : "", name);
  TideAvroMember member = {tide_bytes_of_string(name), 0};
  if (field.at_key("type").get(type) != simdjson::SUCCESS)
    return fault(compiler, "there is no 'type'");
  if (!compile(compiler, type, space, &member.node))
    return FALSE;
  g_array_append_val(fields, member);
  g_string_truncate(compiler->where, outer);
  return TRUE;
}

static gboolean
compile_record(Compiler *compiler, object json, const char *space, guint32 *ret_node)
{
  simdjson::dom::array fields;
  if (!declare(compiler, json, TIDE_AVRO_RECORD, space, ret_node, &space))
    return FALSE;
  if (json.at_key("fields").get(fields) != simdjson::SUCCESS)
    return fault(compiler, "a record has no list 'fields'");
  g_autoptr(GArray) members = g_array_new(FALSE, FALSE, sizeof(TideAvroMember));
  for (element field : fields)
    if (!compile_field(compiler, field, space, members))
      return FALSE;
  keep_members(compiler, *ret_node, members);
  return TRUE;
}

static gboolean
compile_enum(Compiler *compiler, object json, const char *space, guint32 *ret_node)
{
  simdjson::dom::array symbols;
  if (!declare(compiler, json, TIDE_AVRO_ENUM, space, ret_node, &space))
    return FALSE;
  if (json.at_key("symbols").get(symbols) != simdjson::SUCCESS)
    return fault(compiler, "an enum has no list 'symbols'");
  g_autoptr(GArray) members = g_array_new(FALSE, FALSE, sizeof(TideAvroMember));
  for (element symbol : symbols) {
    std::string_view text;
    if (symbol.get(text) != simdjson::SUCCESS)
      return fault(compiler, "a symbol of an enum is no text");
    char *kept = g_string_chunk_insert_len(compiler->texts, text.data(), static_cast<gssize>(text.size()));
    TideAvroMember member = {tide_bytes(kept, text.size()), 0};
    g_array_append_val(members, member);
  }
  keep_members(compiler, *ret_node, members);
  return TRUE;
}

static gboolean
compile_fixed(Compiler *compiler, object json, const char *space, guint32 *ret_node)
{
  if (!declare(compiler, json, TIDE_AVRO_FIXED, space, ret_node, &space))
    return FALSE;
  gint64 size = integer_of(json, "size", -1);
  if (size < 0 || size > G_MAXINT32)
    return fault(compiler, "a fixed has no 'size' from 0 to 2147483647");
  node_at(compiler, *ret_node)->size = static_cast<guint32>(size);
  return TRUE;
}

/* An array or a map. */
static gboolean
compile_list(Compiler *compiler, object json, TideAvroKind kind, const char *space, guint32 *ret_node)
{
  const char *name = kind == TIDE_AVRO_ARRAY ? "items" : "values";
  element inner;
  TideAvroMember member = {};
  if (json.at_key(name).get(inner) != simdjson::SUCCESS)
    return fault(compiler, "the %s has no '%s'", kind == TIDE_AVRO_ARRAY ? "array" : "map", name);
  if (!compile(compiler, inner, space, &member.node))
    return FALSE;
  TideAvroNode node = {};
  node.kind = kind;
  node.size = 1;
  node.first = compiler->members->len;
  g_array_append_val(compiler->members, member);
  *ret_node = add_node(compiler, node);
  return TRUE;
}

static gboolean
compile_union(Compiler *compiler, simdjson::dom::array branches, const char *space, guint32 *ret_node)
{
  g_autoptr(GArray) members = g_array_new(FALSE, FALSE, sizeof(TideAvroMember));
  for (element branch : branches) {
    TideAvroMember member = {};
    if (!compile(compiler, branch, space, &member.node))
      return FALSE;
    if (node_at(compiler, member.node)->kind == TIDE_AVRO_UNION)
      return fault(compiler, "a union holds another union");
    g_array_append_val(members, member);
  }
  if (members->len == 0)
    return fault(compiler, "a union has no types");
  TideAvroNode node = {};
  node.kind = TIDE_AVRO_UNION;
  *ret_node = add_node(compiler, node);
  keep_members(compiler, *ret_node, members);
  return TRUE;
}

/* ---- logical types ---- */

static const struct {
  const char *name;
  TideAvroKind kind;
  TideAvroLogical logical;
  guint32 scale;
} logical_types[] = {
    {"date", TIDE_AVRO_INT, TIDE_AVRO_DATE, 0},
    {"time-millis", TIDE_AVRO_INT, TIDE_AVRO_SECONDS, 3},
    {"time-micros", TIDE_AVRO_LONG, TIDE_AVRO_SECONDS, 6},
    {"timestamp-millis", TIDE_AVRO_LONG, TIDE_AVRO_SECONDS, 3},
    {"timestamp-micros", TIDE_AVRO_LONG, TIDE_AVRO_SECONDS, 6},
    {"timestamp-nanos", TIDE_AVRO_LONG, TIDE_AVRO_SECONDS, 9},
    {"local-timestamp-millis", TIDE_AVRO_LONG, TIDE_AVRO_SECONDS, 3},
    {"local-timestamp-micros", TIDE_AVRO_LONG, TIDE_AVRO_SECONDS, 6},
    {"local-timestamp-nanos", TIDE_AVRO_LONG, TIDE_AVRO_SECONDS, 9},
};

static gboolean
is_decimal(const TideAvroNode *node, object json, guint32 *ret_scale)
{
  gint64 precision = integer_of(json, "precision", 0), scale = integer_of(json, "scale", 0);
  if (node->kind != TIDE_AVRO_BYTES && node->kind != TIDE_AVRO_FIXED)
    return FALSE;
  *ret_scale = static_cast<guint32>(scale);
  return precision > 0 && scale >= 0 && scale <= MIN(precision, MAX_SCALE);
}

/* What 'logicalType' of @json makes of the type @node; a plain type is one for all, so it gets a node of its own. */
static void
apply_logical(Compiler *compiler, object json, guint32 *node)
{
  TideAvroNode made = *node_at(compiler, *node);
  std::string_view name;
  if (json.at_key("logicalType").get(name) != simdjson::SUCCESS)
    return;
  if (name == "decimal" && is_decimal(&made, json, &made.scale))
    made.logical = TIDE_AVRO_DECIMAL;
  for (const auto &type : logical_types)
    if (name == type.name && made.kind == type.kind) {
      made.logical = type.logical;
      made.scale = type.scale;
    }
  if (made.logical == TIDE_AVRO_PLAIN)
    return;
  if (*node < G_N_ELEMENTS(plain_names))
    *node = add_node(compiler, made);
  else
    *node_at(compiler, *node) = made;
}

/* ---- any type ---- */

static gboolean
compile_object(Compiler *compiler, object json, const char *space, guint32 *ret_node)
{
  element type;
  std::string_view name;
  if (json.at_key("type").get(type) != simdjson::SUCCESS)
    return fault(compiler, "an object that should be a type has no 'type'");
  if (type.get(name) != simdjson::SUCCESS)
    return compile(compiler, type, space, ret_node);
  if (name == "record" || name == "error")
    return compile_record(compiler, json, space, ret_node);
  if (name == "enum")
    return compile_enum(compiler, json, space, ret_node);
  if (name == "array" || name == "map")
    return compile_list(compiler, json, name == "map" ? TIDE_AVRO_MAP : TIDE_AVRO_ARRAY, space, ret_node);
  if (name == "fixed") {
    if (!compile_fixed(compiler, json, space, ret_node))
      return FALSE;
  } else if (!find_named(compiler, text_of(compiler, json, "type"), space, ret_node))
    return FALSE;
  /* A named type that is only referred to here stays as it was declared. */
  if (name == "fixed" || *ret_node < G_N_ELEMENTS(plain_names))
    apply_logical(compiler, json, ret_node);
  return TRUE;
}

/* Calls itself for what is inside; the depth of the JSON bounds it. */
static gboolean
compile(Compiler *compiler, element json, const char *space, guint32 *ret_node)
{
  object as_object;
  simdjson::dom::array as_array;
  std::string_view name;
  if (json.get(as_object) == simdjson::SUCCESS)
    return compile_object(compiler, as_object, space, ret_node);
  if (json.get(as_array) == simdjson::SUCCESS)
    return compile_union(compiler, as_array, space, ret_node);
  if (json.get(name) != simdjson::SUCCESS)
    return fault(compiler, "a type is neither a name, an object nor a list");
  return find_named(compiler, g_string_chunk_insert_len(compiler->texts, name.data(), static_cast<gssize>(name.size())),
                    space, ret_node);
}

/* Whether a message that is of the type @place can hold records. */
static gboolean
holds_records(Compiler *compiler, guint32 place)
{
  const TideAvroNode *node = node_at(compiler, place);
  if (node->kind != TIDE_AVRO_ARRAY && node->kind != TIDE_AVRO_UNION)
    return node->kind == TIDE_AVRO_RECORD;
  for (guint32 i = 0; i < node->size; i++)
    if (holds_records(compiler, g_array_index(compiler->members, TideAvroMember, node->first + i).node))
      return TRUE;
  return FALSE;
}

static gboolean
compile_text(Compiler *compiler, TideBytes text, guint32 *ret_node)
{
  simdjson::dom::parser parser(TIDE_AVRO_SCHEMA_MAX_BYTES);
  element json;
  if (text.len > TIDE_AVRO_SCHEMA_MAX_BYTES)
    return fault(compiler, "it is larger than %d bytes", TIDE_AVRO_SCHEMA_MAX_BYTES);
  if (parser.allocate(MAX(text.len, 1), MAX_DEPTH) != simdjson::SUCCESS)
    return fault(compiler, "there is no memory to read it");
  simdjson::error_code code = parser.parse(reinterpret_cast<const char *>(text.data), text.len).get(json);
  if (code != simdjson::SUCCESS)
    return fault(compiler, "it is no JSON: %s", simdjson::error_message(code));
  return compile(compiler, json, "", ret_node);
}

static gboolean
compile_top(Compiler *compiler, TideBytes text, const GPtrArray *known, guint32 *ret_node)
{
  for (guint32 kind = 0; kind < G_N_ELEMENTS(plain_names); kind++) {
    TideAvroNode node = {};
    node.kind = static_cast<TideAvroKind>(kind);
    (void)add_node(compiler, node);
  }
  for (guint i = 0; known != NULL && i < known->len; i++)
    if (!compile_text(compiler, tide_bytes_of_string(static_cast<const char *>(known->pdata[i])), ret_node))
      return FALSE;
  if (!compile_text(compiler, text, ret_node))
    return FALSE;
  return holds_records(compiler, *ret_node) ||
         fault(compiler,
               "messages by it are no records: it must be a record, an array of records, or a union with one");
}

const TideAvroSchema *
tide_avro_schema_new(TideBytes text, GError **error)
{
  return tide_avro_schema_new_with(text, NULL, error);
}

const TideAvroSchema *
tide_avro_schema_new_with(TideBytes text, const GPtrArray *known, GError **error)
{
  Compiler compiler = {};
  compiler.nodes = g_array_new(FALSE, FALSE, sizeof(TideAvroNode));
  compiler.members = g_array_new(FALSE, FALSE, sizeof(TideAvroMember));
  compiler.texts = g_string_chunk_new(1024);
  compiler.named = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  compiler.where = g_string_new(NULL);
  compiler.error = error;
  guint32 top = 0;
  gboolean good = compile_top(&compiler, text, known, &top);
  g_hash_table_unref(compiler.named);
  g_string_free(compiler.where, TRUE);
  Schema *made = g_new0(Schema, 1);
  made->schema.top = top;
  made->schema.nodes = reinterpret_cast<TideAvroNode *>(g_array_free(compiler.nodes, FALSE));
  made->schema.members = reinterpret_cast<TideAvroMember *>(g_array_free(compiler.members, FALSE));
  made->texts = compiler.texts;
  if (good)
    return &made->schema;
  tide_avro_schema_free(&made->schema);
  return NULL;
}

void
tide_avro_schema_free(const TideAvroSchema *schema)
{
  if (schema == NULL)
    return;
  Schema *made = reinterpret_cast<Schema *>(const_cast<TideAvroSchema *>(schema));
  g_free(const_cast<TideAvroNode *>(schema->nodes));
  g_free(const_cast<TideAvroMember *>(schema->members));
  g_string_chunk_free(made->texts);
  g_free(made);
}
