/* A descriptor set as the messages that it describes. */
#include "decode/protobuf_types.h"
#include "decode/protobuf_walk.h"

#include "util/error.h"

#include <memory>
#include <string>

#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/stubs/logging.h>

namespace pb = google::protobuf;

/* The library makes a type and those of its fields by calling itself: a chain of three times as many takes the stack.
 */
static constexpr gsize MAX_TYPES = 10000;

namespace {

/* The first thing that is wrong with a file. */
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

/* Extensions are left out of readings: without a name they are fields that nobody knows. */
void
drop_extensions(pb::DescriptorProto *message)
{
  message->clear_extension();
  for (pb::DescriptorProto &nested : *message->mutable_nested_type())
    drop_extensions(&nested);
}

bool
has_required_field(const pb::DescriptorProto &message)
{
  for (const pb::FieldDescriptorProto &field : message.field())
    if (field.label() == pb::FieldDescriptorProto::LABEL_REQUIRED)
      return true;
  for (const pb::DescriptorProto &nested : message.nested_type())
    if (has_required_field(nested))
      return true;
  return false;
}

/* @message, and the messages in it. */
gsize
count_types(const pb::DescriptorProto &message)
{
  gsize n = 1;
  for (const pb::DescriptorProto &nested : message.nested_type())
    n += count_types(nested);
  return n;
}

bool
add_file(TideProtobufSchema *schema, pb::FileDescriptorProto *file, GError **error)
{
  FirstFault fault;
  file->clear_extension();
  for (pb::DescriptorProto &message : *file->mutable_message_type()) {
    drop_extensions(&message);
    schema->n_types += count_types(message);
    schema->has_required = schema->has_required || has_required_field(message);
  }
  if (schema->n_types > MAX_TYPES)
    return fail(error, "it has more than ", std::to_string(MAX_TYPES),
                " messages: write one with the files that it takes");
  for (const std::string &name : file->dependency())
    if (schema->pool.FindFileByName(name) == nullptr)
      return fail(error, "it lacks the file ", name, ": write it anew with protoc --include_imports");
  schema->file = schema->pool.BuildFileCollectingErrors(*file, &fault);
  return schema->file != nullptr || fail(error, "it cannot be used: ", fault.text, "");
}

/* The names that could have been meant. */
std::string
messages_of(const pb::FileDescriptor *file)
{
  std::string names;
  for (int i = 0; i < file->message_type_count(); i++)
    names += (i > 0 ? ", " : "") + file->message_type(i)->full_name();
  return names.empty() ? "none" : names;
}

bool
choose_message(TideProtobufSchema *schema, const char *name, GError **error)
{
  if (name == nullptr)
    return true;
  const pb::Descriptor *message = schema->pool.FindMessageTypeByName(name);
  if (message == nullptr) {
    std::string found = std::string(name) + "' (its last file has " + messages_of(schema->file);
    return fail(error, "it has no message '", found, ")");
  }
  schema->file = message->file();
  if (schema->framing == TIDE_FRAMING_NONE)
    schema->message = message;
  return true;
}

bool
fill(TideProtobufSchema *schema, TideBytes bytes, const char *message, GError **error)
{
  pb::FileDescriptorSet set;
  if (bytes.len > G_MAXINT || !set.ParseFromArray(bytes.data, static_cast<int>(bytes.len)) || set.file_size() == 0)
    return fail(error, "it is no descriptor set: write one with protoc --include_imports --descriptor_set_out", "", "");
  for (pb::FileDescriptorProto &file : *set.mutable_file())
    if (!add_file(schema, &file, error))
      return false;
  return choose_message(schema, message, error);
}

} // namespace

gboolean
tide_protobuf_is_built_in(void)
{
  return TRUE;
}

TideProtobufSchema *
tide_protobuf_schema_new(TideBytes set, const char *message, TideSchemaFraming framing, GError **error)
{
  /* What it has to say of messages is a fault of theirs, and told as that. */
  pb::SetLogHandler(nullptr);
  auto schema = std::make_unique<TideProtobufSchema>();
  schema->framing = framing;
  schema->file = nullptr;
  schema->message = nullptr;
  schema->has_required = false;
  schema->n_types = 0;
  return fill(schema.get(), set, message, error) ? schema.release() : nullptr;
}

void
tide_protobuf_schema_free(TideProtobufSchema *schema)
{
  delete schema;
}
