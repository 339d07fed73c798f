/* Compiles the messages of a descriptor set; only this file uses libprotobuf. */
#include "decode/protobuf_schema.h"

#include "util/error.h"

#include <algorithm>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/stubs/logging.h>

namespace pb = google::protobuf;

/* The library builds a type and those of its fields recursively: a chain of three times as many overflows the stack. */
static constexpr gsize MAX_TYPES = 10000;

/* Field numbers below this limit are found by index. */
static constexpr guint32 MAX_DIRECT = 4096;

namespace {

/* A type with what it points to. */
struct Type : TideProtobufType {
  Type() : TideProtobufType{}
  {
  }
  std::vector<TideProtobufField> all_fields;
  std::vector<guint32> small;
  std::vector<const TideProtobufType *> declared;
};

struct Schema : TideProtobufSchema {
  Schema() : TideProtobufSchema{}
  {
  }
  pb::DescriptorPool pool;
  const pb::FileDescriptor *file = nullptr; /* the file of the selected messages */
  gsize n_known = 0;                        /* messages of all files, nested ones included */
  std::unordered_map<const pb::Descriptor *, std::unique_ptr<Type>> compiled;
  std::unordered_map<const pb::EnumDescriptor *, std::vector<TideProtobufSymbol>> enums;
  std::vector<const TideProtobufType *> in_file;
};

/* Keeps the first error of a file. */
class FirstFault : public pb::DescriptorPool::ErrorCollector {
public:
  std::string text;

  void AddError(const std::string &file, const std::string &element, const pb::Message *, ErrorLocation,
                const std::string &message) override
  {
    if (text.empty())
      text = file + ": " + element + ": " + message;
  }
};

bool
fail(GError **error, const char *what, const std::string &name, const char *remedy)
{
  g_set_error(error, TIDE_ERROR, TIDE_ERROR_DATA, "%s%s%s", what, name.c_str(), remedy);
  return false;
}

/* Counts @message and the messages in it. Extensions are not part of readings: without a name they are unknown
 * fields. */
void
prepare(Schema *schema, pb::DescriptorProto *message)
{
  message->clear_extension();
  schema->n_known++;
  for (const pb::FieldDescriptorProto &field : message->field())
    schema->has_required = schema->has_required || field.label() == pb::FieldDescriptorProto::LABEL_REQUIRED;
  for (pb::DescriptorProto &nested : *message->mutable_nested_type())
    prepare(schema, &nested);
}

TideBytes
bytes_of(const std::string &text)
{
  return tide_bytes(text.data(), text.size());
}

bool
is_field_of(const pb::Descriptor *type, int number, pb::FieldDescriptor::CppType kind)
{
  const pb::FieldDescriptor *field = type->FindFieldByNumber(number);
  return field != nullptr && !field->is_repeated() && field->cpp_type() == kind;
}

TideProtobufStand
stand_of(const pb::Descriptor *type)
{
  const pb::FieldDescriptor *value = type->FindFieldByNumber(1);
  switch (type->well_known_type()) {
  case pb::Descriptor::WELLKNOWNTYPE_TIMESTAMP:
    return is_field_of(type, 1, pb::FieldDescriptor::CPPTYPE_INT64) &&
                   is_field_of(type, 2, pb::FieldDescriptor::CPPTYPE_INT32)
               ? TIDE_PROTOBUF_FOR_TIME
               : TIDE_PROTOBUF_FOR_FIELDS;
  case pb::Descriptor::WELLKNOWNTYPE_DOUBLEVALUE:
  case pb::Descriptor::WELLKNOWNTYPE_FLOATVALUE:
  case pb::Descriptor::WELLKNOWNTYPE_INT64VALUE:
  case pb::Descriptor::WELLKNOWNTYPE_UINT64VALUE:
  case pb::Descriptor::WELLKNOWNTYPE_INT32VALUE:
  case pb::Descriptor::WELLKNOWNTYPE_UINT32VALUE:
  case pb::Descriptor::WELLKNOWNTYPE_STRINGVALUE:
  case pb::Descriptor::WELLKNOWNTYPE_BYTESVALUE:
  case pb::Descriptor::WELLKNOWNTYPE_BOOLVALUE:
    return value != nullptr && !value->is_repeated() && value->message_type() == nullptr ? TIDE_PROTOBUF_FOR_WRAPPED
                                                                                         : TIDE_PROTOBUF_FOR_FIELDS;
  default:
    return TIDE_PROTOBUF_FOR_FIELDS;
  }
}

/* Sorted by number; if several names have one number, the first, as in the library. */
const std::vector<TideProtobufSymbol> &
symbols_of(Schema *schema, const pb::EnumDescriptor *type)
{
  std::vector<TideProtobufSymbol> &symbols = schema->enums[type];
  if (!symbols.empty())
    return symbols;
  for (int i = 0; i < type->value_count(); i++)
    symbols.push_back({type->value(i)->number(), bytes_of(type->value(i)->name())});
  std::stable_sort(symbols.begin(), symbols.end(), [](auto &a, auto &b) { return a.number < b.number; });
  symbols.erase(std::unique(symbols.begin(), symbols.end(), [](auto &a, auto &b) { return a.number == b.number; }),
                symbols.end());
  return symbols;
}

/* The address of @type, which may not be filled in yet. */
const TideProtobufType *
type_of(Schema *schema, const pb::Descriptor *type)
{
  std::unique_ptr<Type> &compiled = schema->compiled[type];
  if (compiled == nullptr)
    compiled = std::make_unique<Type>();
  return compiled.get();
}

TideProtobufField
compile_field(Schema *schema, const pb::FieldDescriptor *field)
{
  TideProtobufField made = {};
  made.name = bytes_of(field->name());
  made.number = static_cast<guint32>(field->number());
  made.kind = static_cast<TideProtobufKind>(field->type());
  made.is_repeated = field->is_repeated();
  made.is_map = field->is_map();
  made.is_packable = field->is_packable();
  made.is_always_there = !field->is_repeated() && !field->has_presence();
  made.is_required = field->is_required();
  if (const pb::OneofDescriptor *oneof = field->real_containing_oneof()) {
    made.oneof_first = static_cast<guint32>(oneof->field(0)->index());
    made.n_oneof = static_cast<guint32>(oneof->field_count());
  }
  if (field->message_type() != nullptr)
    made.message = type_of(schema, field->message_type());
  if (field->enum_type() != nullptr) {
    const std::vector<TideProtobufSymbol> &symbols = symbols_of(schema, field->enum_type());
    made.symbols = symbols.data();
    made.n_symbols = static_cast<guint32>(symbols.size());
    made.is_closed = field->file()->syntax() != pb::FileDescriptor::SYNTAX_PROTO3;
    made.default_number = field->is_repeated() ? 0 : field->default_value_enum()->number();
  }
  return made;
}

/* Adds @descriptor and the messages in it. */
void
compile_type(Schema *schema, const pb::Descriptor *descriptor)
{
  type_of(schema, descriptor);
  Type *type = schema->compiled[descriptor].get();
  std::vector<TideProtobufField> &fields = type->all_fields;
  for (int i = 0; i < descriptor->field_count(); i++) {
    fields.push_back(compile_field(schema, descriptor->field(i)));
    if (fields.back().number >= MAX_DIRECT)
      continue;
    type->small.resize(MAX(type->small.size(), fields.back().number + 1));
    type->small[fields.back().number] = static_cast<guint32>(i + 1);
  }
  for (int i = 0; i < descriptor->nested_type_count(); i++) {
    compile_type(schema, descriptor->nested_type(i));
    type->declared.push_back(type_of(schema, descriptor->nested_type(i)));
  }
  type->stand = stand_of(descriptor);
  type->descriptor = descriptor;
  type->is_map_entry = descriptor->map_key() != nullptr;
  type->fields = fields.data();
  type->n_fields = static_cast<guint32>(fields.size());
  type->direct = type->small.data();
  type->n_direct = static_cast<guint32>(type->small.size());
  type->nested = type->declared.data();
  type->n_nested = static_cast<guint32>(type->declared.size());
}

bool
add_file(Schema *schema, pb::FileDescriptorProto *file, GError **error)
{
  FirstFault fault;
  file->clear_extension();
  for (pb::DescriptorProto &message : *file->mutable_message_type())
    prepare(schema, &message);
  if (schema->n_known > MAX_TYPES)
    return fail(error, "it has more than ", std::to_string(MAX_TYPES),
                " messages: write a set with only the files that are needed");
  for (const std::string &name : file->dependency())
    if (schema->pool.FindFileByName(name) == nullptr)
      return fail(error, "it does not contain the file ", name, ": write it again with protoc --include_imports");
  schema->file = schema->pool.BuildFileCollectingErrors(*file, &fault);
  if (schema->file == nullptr)
    return fail(error, "it cannot be used: ", fault.text, "");
  for (int i = 0; i < schema->file->message_type_count(); i++)
    compile_type(schema, schema->file->message_type(i));
  return true;
}

bool
choose_message(Schema *schema, const char *name, GError **error)
{
  if (name == nullptr)
    return true;
  const pb::Descriptor *message = schema->pool.FindMessageTypeByName(name);
  if (message == nullptr) {
    std::string found;
    for (int i = 0; i < schema->file->message_type_count(); i++)
      found += (i > 0 ? ", " : "") + schema->file->message_type(i)->full_name();
    found = std::string(name) + "' (its last file has " + (found.empty() ? "none" : found);
    return fail(error, "it has no message '", found, ")");
  }
  schema->file = message->file();
  if (schema->framing == TIDE_FRAMING_NONE)
    schema->message = type_of(schema, message);
  return true;
}

bool
fill(Schema *schema, TideBytes bytes, const char *message, GError **error)
{
  pb::FileDescriptorSet set;
  if (bytes.len > G_MAXINT || !set.ParseFromArray(bytes.data, static_cast<int>(bytes.len)) || set.file_size() == 0)
    return fail(error, "it is not a descriptor set: write one with protoc --include_imports --descriptor_set_out", "",
                "");
  for (pb::FileDescriptorProto &file : *set.mutable_file())
    if (!add_file(schema, &file, error))
      return false;
  if (!choose_message(schema, message, error))
    return false;
  for (int i = 0; i < schema->file->message_type_count(); i++)
    schema->in_file.push_back(type_of(schema, schema->file->message_type(i)));
  schema->types = schema->in_file.data();
  schema->n_types = static_cast<guint32>(schema->in_file.size());
  return true;
}

} // namespace

TideProtobufSchema *
tide_protobuf_schema_new(TideBytes set, const char *message, TideSchemaFraming framing, GError **error)
{
  /* Its messages would be log lines; faults of the file are returned as errors instead. */
  pb::SetLogHandler(nullptr);
  auto schema = std::make_unique<Schema>();
  schema->framing = framing;
  return fill(schema.get(), set, message, error) ? schema.release() : nullptr;
}

void
tide_protobuf_schema_free(TideProtobufSchema *schema)
{
  delete static_cast<Schema *>(schema);
}
