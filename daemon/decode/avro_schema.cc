#include "decode/avro_schema.h"

#include "util/error.h"

#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include <simdjson.h>

using simdjson::dom::element;
using simdjson::dom::object;

/* Maximum nesting of the JSON, because compiling is recursive. */
static constexpr gsize MAX_DEPTH = 128;

/* Maximum number of decimals, which the text of a number has room for. */
static constexpr gint64 MAX_SCALE = 1000;

/* Maximum length of a type's full name. A few bytes of schema that declare or refer to a type create such a name
 * each. */
static constexpr gsize MAX_NAME_BYTES = 1024;

static const char *const plain_names[] = {"null", "boolean", "int", "long", "float", "double", "bytes", "string"};

namespace {

/* A schema with what it points to. */
struct Schema : TideAvroSchema {
  Schema() : TideAvroSchema{}
  {
  }
  std::vector<TideAvroNode> all_nodes;
  std::vector<TideAvroMember> all_members;
  std::deque<std::string> texts; /* a deque, because they must not move */
};

struct Compiler {
  Schema *schema;
  std::unordered_map<std::string, guint32> named; /* by full name, the index in nodes */
  std::string where;                              /* the fields around the current type */
  GError **error;
};

using Members = std::vector<TideAvroMember>;

bool compile(Compiler *compiler, element json, const std::string &space, guint32 *ret_node);

bool
fault(Compiler *compiler, const std::string &text)
{
  std::string place = compiler->where.empty() ? "" : "of the field '" + compiler->where + "', ";
  g_set_error_literal(compiler->error, TIDE_ERROR, TIDE_ERROR_DATA, (place + text).c_str());
  return false;
}

/* The text of the member @name, empty if absent. It ends at a NUL. */
std::string
text_of(object json, const char *name)
{
  std::string_view text;
  return json.at_key(name).get(text) == simdjson::SUCCESS ? std::string(text).c_str() : "";
}

gint64
integer_of(object json, const char *name, gint64 absent)
{
  gint64 value;
  return json.at_key(name).get(value) == simdjson::SUCCESS ? value : absent;
}

TideBytes
keep_text(Compiler *compiler, std::string_view text)
{
  const std::string &kept = compiler->schema->texts.emplace_back(text);
  return tide_bytes(kept.data(), kept.size());
}

/* Adds the namespace to @name. False with the fault reported: the result is too long. */
bool
find_full_name(Compiler *compiler, const std::string &name, const std::string &space, std::string *ret_full)
{
  *ret_full = space.empty() || name.find('.') != std::string::npos ? name : space + "." + name;
  return ret_full->size() <= MAX_NAME_BYTES ||
         fault(compiler, "the name of a type is longer than " + std::to_string(MAX_NAME_BYTES) + " bytes");
}

guint32
add_node(Compiler *compiler, TideAvroNode node)
{
  compiler->schema->all_nodes.push_back(node);
  return static_cast<guint32>(compiler->schema->all_nodes.size() - 1);
}

TideAvroNode &
node_at(Compiler *compiler, guint32 place)
{
  return compiler->schema->all_nodes[place];
}

/* Inner types are compiled first, so that the members of one type are contiguous. */
bool
keep_members(Compiler *compiler, guint32 node, const Members &members)
{
  Members &all = compiler->schema->all_members;
  node_at(compiler, node).first = static_cast<guint32>(all.size());
  node_at(compiler, node).size = static_cast<guint32>(members.size());
  all.insert(all.end(), members.begin(), members.end());
  return true;
}

/* ---- names ---- */

bool
find_named(Compiler *compiler, const std::string &name, const std::string &space, guint32 *ret_node)
{
  for (guint32 kind = 0; kind < G_N_ELEMENTS(plain_names); kind++)
    if (name == plain_names[kind]) {
      *ret_node = kind;
      return true;
    }
  std::string full;
  if (!find_full_name(compiler, name, space, &full))
    return false;
  auto found = compiler->named.find(full);
  if (found == compiler->named.end())
    return fault(compiler, "the type '" + name + "' is neither an Avro type nor declared before");
  *ret_node = found->second;
  return true;
}

/* Adds a node for the record, enum or fixed that @json declares, with its name, before anything inside is compiled, so
 * that types may refer to it. */
bool
declare(Compiler *compiler, object json, TideAvroKind kind, const std::string &space, guint32 *ret_node,
        std::string *ret_space)
{
  std::string name = text_of(json, "name"), full;
  std::string_view own_space;
  gboolean has_space = json.at_key("namespace").get(own_space) == simdjson::SUCCESS;
  if (name.empty())
    return fault(compiler, "a record, enum or fixed has no 'name'");
  if (!find_full_name(compiler, name, has_space ? text_of(json, "namespace") : space, &full))
    return false;
  if (compiler->named.count(full) > 0)
    return fault(compiler, "the type '" + full + "' is declared twice");
  *ret_node = add_node(compiler, {kind, TIDE_AVRO_PLAIN, 0, 0, 0});
  gsize point = full.rfind('.');
  *ret_space = point != std::string::npos ? full.substr(0, point) : "";
  compiler->named[full] = *ret_node;
  return true;
}

/* ---- types with others inside ---- */

bool
compile_record(Compiler *compiler, object json, const std::string &outer_space, guint32 *ret_node)
{
  simdjson::dom::array fields;
  std::string space;
  Members members;
  if (!declare(compiler, json, TIDE_AVRO_RECORD, outer_space, ret_node, &space))
    return false;
  if (json.at_key("fields").get(fields) != simdjson::SUCCESS)
    return fault(compiler, "a record has no 'fields' list");
  for (element each : fields) {
    object field;
    element type;
    std::string name = each.get(field) == simdjson::SUCCESS ? text_of(field, "name") : "";
    if (name.empty())
      return fault(compiler, "one of its fields has no 'name'");
    gsize outer = compiler->where.size();
    compiler->where += (outer > 0 ? "/" : "") + name;
    TideAvroMember member = {keep_text(compiler, name), 0};
    if (field.at_key("type").get(type) != simdjson::SUCCESS)
      return fault(compiler, "there is no 'type'");
    if (!compile(compiler, type, space, &member.node))
      return false;
    members.push_back(member);
    compiler->where.resize(outer);
  }
  return keep_members(compiler, *ret_node, members);
}

bool
compile_enum(Compiler *compiler, object json, const std::string &space, guint32 *ret_node)
{
  simdjson::dom::array symbols;
  std::string unused;
  Members members;
  if (!declare(compiler, json, TIDE_AVRO_ENUM, space, ret_node, &unused))
    return false;
  if (json.at_key("symbols").get(symbols) != simdjson::SUCCESS)
    return fault(compiler, "an enum has no 'symbols' list");
  for (element symbol : symbols) {
    std::string_view text;
    if (symbol.get(text) != simdjson::SUCCESS)
      return fault(compiler, "a symbol of an enum is not a text");
    members.push_back({keep_text(compiler, text), 0});
  }
  return keep_members(compiler, *ret_node, members);
}

bool
compile_fixed(Compiler *compiler, object json, const std::string &space, guint32 *ret_node)
{
  std::string unused;
  if (!declare(compiler, json, TIDE_AVRO_FIXED, space, ret_node, &unused))
    return false;
  gint64 size = integer_of(json, "size", -1);
  if (size < 0 || size > G_MAXINT32)
    return fault(compiler, "a fixed has no 'size' from 0 to 2147483647");
  node_at(compiler, *ret_node).size = static_cast<guint32>(size);
  return true;
}

/* Compiles an array or a map. */
bool
compile_list(Compiler *compiler, object json, TideAvroKind kind, const std::string &space, guint32 *ret_node)
{
  const char *name = kind == TIDE_AVRO_ARRAY ? "items" : "values";
  element inner;
  TideAvroMember member = {};
  if (json.at_key(name).get(inner) != simdjson::SUCCESS)
    return fault(compiler,
                 std::string("the ") + (kind == TIDE_AVRO_ARRAY ? "array" : "map") + " has no '" + name + "'");
  if (!compile(compiler, inner, space, &member.node))
    return false;
  *ret_node = add_node(compiler, {kind, TIDE_AVRO_PLAIN, 0, 0, 0});
  return keep_members(compiler, *ret_node, {member});
}

bool
compile_union(Compiler *compiler, simdjson::dom::array branches, const std::string &space, guint32 *ret_node)
{
  Members members;
  for (element branch : branches) {
    TideAvroMember member = {};
    if (!compile(compiler, branch, space, &member.node))
      return false;
    if (node_at(compiler, member.node).kind == TIDE_AVRO_UNION)
      return fault(compiler, "a union contains another union");
    members.push_back(member);
  }
  if (members.empty())
    return fault(compiler, "a union has no types");
  *ret_node = add_node(compiler, {TIDE_AVRO_UNION, TIDE_AVRO_PLAIN, 0, 0, 0});
  return keep_members(compiler, *ret_node, members);
}

/* ---- logical types ---- */

const struct {
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
    {"local-timestamp-millis", TIDE_AVRO_LONG, TIDE_AVRO_LOCAL, 3},
    {"local-timestamp-micros", TIDE_AVRO_LONG, TIDE_AVRO_LOCAL, 6},
    {"local-timestamp-nanos", TIDE_AVRO_LONG, TIDE_AVRO_LOCAL, 9},
};

/* Applies the 'logicalType' of @json to @node. A primitive type gets a node of its own, because all its uses share
 * one. */
void
apply_logical(Compiler *compiler, object json, guint32 *node)
{
  TideAvroNode made = node_at(compiler, *node);
  gint64 precision = integer_of(json, "precision", 0), scale = integer_of(json, "scale", 0);
  gboolean has_digits = precision > 0 && scale >= 0 && scale <= MIN(precision, MAX_SCALE);
  std::string_view name;
  if (json.at_key("logicalType").get(name) != simdjson::SUCCESS)
    return;
  if (name == "decimal" && (made.kind == TIDE_AVRO_BYTES || made.kind == TIDE_AVRO_FIXED) && has_digits) {
    made.logical = TIDE_AVRO_DECIMAL;
    made.scale = static_cast<guint32>(scale);
  }
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
    node_at(compiler, *node) = made;
}

/* ---- any type ---- */

bool
compile_object(Compiler *compiler, object json, const std::string &space, guint32 *ret_node)
{
  element type;
  std::string_view name;
  if (json.at_key("type").get(type) != simdjson::SUCCESS)
    return fault(compiler, "an object in place of a type has no 'type'");
  if (type.get(name) != simdjson::SUCCESS)
    return compile(compiler, type, space, ret_node);
  if (name == "record" || name == "error")
    return compile_record(compiler, json, space, ret_node);
  if (name == "enum")
    return compile_enum(compiler, json, space, ret_node);
  if (name == "array" || name == "map")
    return compile_list(compiler, json, name == "map" ? TIDE_AVRO_MAP : TIDE_AVRO_ARRAY, space, ret_node);
  if (name == "fixed" ? !compile_fixed(compiler, json, space, ret_node)
                      : !find_named(compiler, text_of(json, "type"), space, ret_node))
    return false;
  /* A named type that is only referred to here keeps its declaration. */
  if (name == "fixed" || *ret_node < G_N_ELEMENTS(plain_names))
    apply_logical(compiler, json, ret_node);
  return true;
}

/* Recursive for inner types; the depth of the JSON limits it. */
bool
compile(Compiler *compiler, element json, const std::string &space, guint32 *ret_node)
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
  return find_named(compiler, std::string(name).c_str(), space, ret_node);
}

/* Whether a message of the type @place can have records. */
bool
holds_records(Compiler *compiler, guint32 place)
{
  const TideAvroNode &node = node_at(compiler, place);
  if (node.kind != TIDE_AVRO_ARRAY && node.kind != TIDE_AVRO_UNION)
    return node.kind == TIDE_AVRO_RECORD;
  for (guint32 i = 0; i < node.size; i++)
    if (holds_records(compiler, compiler->schema->all_members[node.first + i].node))
      return true;
  return false;
}

bool
compile_text(Compiler *compiler, TideBytes text, guint32 *ret_node)
{
  simdjson::dom::parser parser(TIDE_AVRO_SCHEMA_MAX_BYTES);
  element json;
  if (text.len > TIDE_AVRO_SCHEMA_MAX_BYTES)
    return fault(compiler, "it is larger than " + std::to_string(TIDE_AVRO_SCHEMA_MAX_BYTES) + " bytes");
  if (parser.allocate(MAX(text.len, 1), MAX_DEPTH) != simdjson::SUCCESS)
    return fault(compiler, "not enough memory to read it");
  simdjson::error_code code = parser.parse(reinterpret_cast<const char *>(text.data), text.len).get(json);
  if (code != simdjson::SUCCESS)
    return fault(compiler, std::string("it is not JSON: ") + simdjson::error_message(code));
  return compile(compiler, json, "", ret_node);
}

} // namespace

const TideAvroSchema *
tide_avro_schema_new(TideBytes text, GError **error)
{
  return tide_avro_schema_new_with(text, NULL, error);
}

const TideAvroSchema *
tide_avro_schema_new_with(TideBytes text, const GPtrArray *known, GError **error)
{
  auto schema = std::make_unique<Schema>();
  Compiler compiler = {schema.get(), {}, {}, error};
  for (guint32 kind = 0; kind < G_N_ELEMENTS(plain_names); kind++)
    (void)add_node(&compiler, {static_cast<TideAvroKind>(kind), TIDE_AVRO_PLAIN, 0, 0, 0});
  for (guint i = 0; known != NULL && i < known->len; i++)
    if (!compile_text(&compiler, tide_bytes_of_string(static_cast<const char *>(known->pdata[i])), &schema->top))
      return NULL;
  if (!compile_text(&compiler, text, &schema->top))
    return NULL;
  if (!holds_records(&compiler, schema->top)) {
    fault(&compiler,
          "its messages are not records: it must be a record, an array of records, or a union with one of these");
    return NULL;
  }
  schema->nodes = schema->all_nodes.data();
  schema->members = schema->all_members.data();
  return schema.release();
}

void
tide_avro_schema_free(const TideAvroSchema *schema)
{
  delete static_cast<const Schema *>(schema);
}
