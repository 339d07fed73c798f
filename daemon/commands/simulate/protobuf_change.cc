/* Protobuf: changes the message that its library parses, and writes it again. */
#include "commands/simulate/value_change.h"

#include "decode/protobuf_schema.h"

#include <memory>
#include <string>
#include <vector>

#include <google/protobuf/dynamic_message.h>
#include <google/protobuf/text_format.h>

namespace pb = google::protobuf;

using Field = pb::FieldDescriptor;

namespace {

TideBytes
bytes_of(const std::string &text)
{
  return tide_bytes(text.data(), text.size());
}

/* A value of @message: its field, or element @index of it. */
struct Slot {
  pb::Message *message;
  const Field *field;
  int index; /* below 0: the field is not a list */
};

void change_members(TideValueChange *change, pb::Message *message);

#define ACCESS(Type, name)                                                                                             \
  Type get_##name(const Slot &slot)                                                                                    \
  {                                                                                                                    \
    const pb::Reflection *access = slot.message->GetReflection();                                                      \
    return slot.index < 0 ? access->Get##name(*slot.message, slot.field)                                               \
                          : access->GetRepeated##name(*slot.message, slot.field, slot.index);                          \
  }                                                                                                                    \
  void set_##name(const Slot &slot, Type value)                                                                        \
  {                                                                                                                    \
    const pb::Reflection *access = slot.message->GetReflection();                                                      \
    if (slot.index < 0)                                                                                                \
      access->Set##name(slot.message, slot.field, value);                                                              \
    else                                                                                                               \
      access->SetRepeated##name(slot.message, slot.field, slot.index, value);                                          \
  }

ACCESS(gint32, Int32)
ACCESS(gint64, Int64)
ACCESS(guint32, UInt32)
ACCESS(guint64, UInt64)
ACCESS(float, Float)
ACCESS(double, Double)
ACCESS(std::string, String)

pb::Message *
inner_message(const Slot &slot)
{
  const pb::Reflection *access = slot.message->GetReflection();
  return slot.index < 0 ? access->MutableMessage(slot.message, slot.field)
                        : access->MutableRepeatedMessage(slot.message, slot.field, slot.index);
}

/* The new value, or @value itself. */
gint64
changed_integer(TideValueChange *change, gint64 value, gint64 min, gint64 max)
{
  (void)tide_value_change_integer(change, &value, 0, min, max);
  return value;
}

double
changed_double(TideValueChange *change, double value)
{
  (void)tide_value_change_double(change, &value);
  return value;
}

void
change_text(TideValueChange *change, const Slot &slot)
{
  std::string old = get_String(slot);
  TideBytes text = bytes_of(old);
  if (slot.field->type() == Field::TYPE_STRING && tide_value_change_text(change, &text))
    set_String(slot, std::string(reinterpret_cast<const char *>(text.data), text.len));
}

void
change_time(TideValueChange *change, pb::Message *time)
{
  Slot seconds = {time, time->GetDescriptor()->FindFieldByNumber(1), -1};
  Slot nanos = {time, time->GetDescriptor()->FindFieldByNumber(2), -1};
  gint64 whole = get_Int64(seconds), ns;
  if (whole < 0 || whole > G_MAXINT64 / 1000000000 - 1)
    return;
  ns = whole * 1000000000 + get_Int32(nanos);
  if (!tide_value_change_integer(change, &ns, 9, 0, G_MAXINT64))
    return;
  set_Int64(seconds, ns / 1000000000);
  set_Int32(nanos, static_cast<gint32>(ns % 1000000000));
}

/* Calls itself for members. The decoder has read the message, so its nesting is limited. */
void
change_value(TideValueChange *change, const Slot &slot)
{
  switch (slot.field->cpp_type()) {
  case Field::CPPTYPE_INT32:
    set_Int32(slot, static_cast<gint32>(changed_integer(change, get_Int32(slot), G_MININT32, G_MAXINT32)));
    break;
  case Field::CPPTYPE_INT64:
    set_Int64(slot, changed_integer(change, get_Int64(slot), G_MININT64, G_MAXINT64));
    break;
  case Field::CPPTYPE_UINT32:
    set_UInt32(slot, static_cast<guint32>(changed_integer(change, get_UInt32(slot), 0, G_MAXUINT32)));
    break;
  case Field::CPPTYPE_UINT64:
    if (get_UInt64(slot) <= G_MAXINT64)
      set_UInt64(slot,
                 static_cast<guint64>(changed_integer(change, static_cast<gint64>(get_UInt64(slot)), 0, G_MAXINT64)));
    break;
  case Field::CPPTYPE_FLOAT:
    set_Float(slot, static_cast<float>(changed_double(change, static_cast<double>(get_Float(slot)))));
    break;
  case Field::CPPTYPE_DOUBLE:
    set_Double(slot, changed_double(change, get_Double(slot)));
    break;
  case Field::CPPTYPE_STRING:
    change_text(change, slot);
    break;
  case Field::CPPTYPE_MESSAGE: {
    pb::Message *inner = inner_message(slot);
    auto kind = inner->GetDescriptor()->well_known_type();
    if (kind == pb::Descriptor::WELLKNOWNTYPE_TIMESTAMP)
      change_time(change, inner);
    else if (kind >= pb::Descriptor::WELLKNOWNTYPE_DOUBLEVALUE && kind <= pb::Descriptor::WELLKNOWNTYPE_BOOLVALUE)
      change_value(change, Slot{inner, inner->GetDescriptor()->FindFieldByNumber(1), -1});
    else
      change_members(change, inner);
    break;
  }
  case Field::CPPTYPE_BOOL:
  case Field::CPPTYPE_ENUM:
    break;
  }
}

/* The type of @message, after its frame; NULL: the frame names none. */
const pb::Descriptor *
type_of(const TideProtobufSchema *schema, TideBytes message, gsize *ret_frame_bytes)
{
  const char *unused;
  const TideProtobufType *type = tide_protobuf_type_of(schema, message, ret_frame_bytes, &unused);
  return type != nullptr ? static_cast<const pb::Descriptor *>(type->descriptor) : nullptr;
}

/* The key of the entry of a map, as a name. */
std::string
key_of(const pb::Message &entry)
{
  const Field *key = entry.GetDescriptor()->map_key();
  std::string text;
  if (key->cpp_type() == Field::CPPTYPE_STRING)
    return entry.GetReflection()->GetString(entry, key);
  pb::TextFormat::PrintFieldValueToString(entry, key, -1, &text);
  return text;
}

void
change_element(TideValueChange *change, const Slot &slot)
{
  if (!slot.field->is_map()) {
    gsize outer = tide_value_change_enter_element(change, static_cast<guint64>(slot.index));
    change_value(change, slot);
    tide_value_change_leave(change, outer);
    return;
  }
  pb::Message *entry = inner_message(slot);
  gsize outer = tide_value_change_enter(change, bytes_of(key_of(*entry)));
  change_value(change, Slot{entry, entry->GetDescriptor()->map_value(), -1});
  tide_value_change_leave(change, outer);
}

void
change_members(TideValueChange *change, pb::Message *message)
{
  std::vector<const Field *> fields;
  message->GetReflection()->ListFields(*message, &fields);
  for (const Field *field : fields) {
    gsize outer = tide_value_change_enter(change, bytes_of(field->name()));
    if (!field->is_repeated())
      change_value(change, Slot{message, field, -1});
    for (int i = 0; field->is_repeated() && i < message->GetReflection()->FieldSize(*message, field); i++)
      change_element(change, Slot{message, field, i});
    tide_value_change_leave(change, outer);
  }
}

} // namespace

gboolean
tide_protobuf_change(TideValueChange *change, const TideDecodeOptions *options, TideBytes message, TideBuffer *out)
{
  gsize frame_bytes = 0;
  const pb::Descriptor *type = type_of(options->protobuf, message, &frame_bytes);
  pb::DynamicMessageFactory factory;
  std::string bytes;
  if (type == nullptr)
    return FALSE;
  std::unique_ptr<pb::Message> made(factory.GetPrototype(type)->New());
  if (!made->ParsePartialFromArray(message.data + frame_bytes, static_cast<int>(message.len - frame_bytes)))
    return FALSE;
  change_members(change, made.get());
  if (!made->SerializePartialToString(&bytes))
    return FALSE;
  tide_buffer_append(out, message.data, frame_bytes);
  tide_buffer_append_bytes(out, bytes_of(bytes));
  return TRUE;
}
