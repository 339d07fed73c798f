/* libprotobuf on its own: a dynamic message that is parsed repeatedly, and its fields by reflection. */
#include "bench/library_walks.h"

#include <cmath>
#include <fstream>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/dynamic_message.h>
#include <memory>

namespace pb = google::protobuf;

namespace {

struct Walk {
  pb::DescriptorPool pool;
  pb::DynamicMessageFactory factory{&pool};
  std::unique_ptr<pb::Message> message;
};

gpointer
begin(const char *schema_path)
{
  auto *walk = new Walk;
  pb::FileDescriptorSet set;
  std::ifstream file(schema_path, std::ios::binary);
  if (!set.ParseFromIstream(&file) || set.file_size() != 1)
    g_error("'%s' is no descriptor set of one file", schema_path);
  walk->message.reset(walk->factory.GetPrototype(walk->pool.BuildFile(set.file(0))->message_type(0))->New());
  return walk;
}

double
sum_of(gpointer state, const guint8 *bytes, gsize len)
{
  pb::Message *message = static_cast<Walk *>(state)->message.get();
  const pb::Reflection *reflection = message->GetReflection();
  const pb::Descriptor *type = message->GetDescriptor();
  std::string unused;
  double sum = 0;
  if (!message->ParseFromArray(bytes, static_cast<int>(len)))
    return NAN;
  for (int i = 0; i < type->field_count(); i++) {
    const pb::FieldDescriptor *field = type->field(i);
    if (field->cpp_type() == pb::FieldDescriptor::CPPTYPE_DOUBLE)
      sum += reflection->GetDouble(*message, field);
    else if (field->cpp_type() == pb::FieldDescriptor::CPPTYPE_INT64)
      sum += static_cast<double>(reflection->GetInt64(*message, field));
    else
      sum += static_cast<double>(reflection->GetStringReference(*message, field, &unused).size());
  }
  return sum;
}

void
end(gpointer state)
{
  delete static_cast<Walk *>(state);
}

} // namespace

const LibraryWalk protobuf_library_walk = {begin, sum_of, end};
