#include "decode/protobuf_walk.h"

#include "decode/json_text.h"
#include "decode/protobuf_types.h"
#include "decode/utf8.h"
#include "model/value_text.h"
#include "util/json_writer.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include <google/protobuf/arena.h>
#include <google/protobuf/dynamic_message.h>
#include <google/protobuf/io/coded_stream.h>

namespace pb = google::protobuf;

using Field = pb::FieldDescriptor;

/* Of the largest message: what the library's objects may take. One of them takes tens of bytes, and there is one for a
 * byte or two. */
static constexpr guint64 OBJECT_BYTES_FACTOR = 32;

/* The same, of the text of an array: fields without presence are there that the message does not have. */
static constexpr gsize TEXT_BYTES_FACTOR = 8;

/* What one field takes besides its bytes: a string's object and its place, or an unknown field's. */
static constexpr guint64 FIELD_BYTES = 64;

/* What a list of numbers takes while it doubles, of what it holds. */
static constexpr guint64 PACKED_FACTOR = 4;

/* Memory that is kept from one message to the next. */
static constexpr gsize FIRST_KEPT_BYTES = 4096, MAX_KEPT_BYTES = 1024 * 1024;

struct TideProtobufWalk {
  /* set before start, then read-only */
  const TideDecodeOptions *options; /* borrowed */

  /* kept across messages */
  pb::DynamicMessageFactory factory;
  std::unordered_map<const pb::Descriptor *, gsize> object_bytes; /* of an empty one */
  const pb::Descriptor *last_type;
  const pb::Message *prototype; /* of last_type */
  std::vector<char> kept;
  std::unique_ptr<pb::Arena> arena;   /* of the message in hand; begins in kept */
  TideBuffer json;                    /* of the array whose JSON text is made */
  char number[TIDE_VALUE_TEXT_BYTES]; /* of the number in hand, for that text */

  /* of the message in hand */
  TideScratch *scratch;
  TideReadingBuilder *builder;
  TideReject *reject;   /* the caller's */
  const guint8 *begin;  /* of the message, with its frame */
  const guint8 *end;    /* of the message */
  const guint8 *fields; /* where its first field begins */
  guint64 taken_bytes;  /* by the library's objects, as reckoned */

  explicit TideProtobufWalk(const TideDecodeOptions *of)
      : options(of), factory(&of->protobuf->pool), last_type(nullptr), prototype(nullptr),
        kept(FIRST_KEPT_BYTES), json{}, number{}, scratch(nullptr), builder(nullptr), reject(nullptr), begin(nullptr),
        end(nullptr), fields(nullptr), taken_bytes(0)
  {
  }
  ~TideProtobufWalk()
  {
    arena.reset();
    tide_buffer_clear_memory(&json);
  }
};

using Walk = TideProtobufWalk;

namespace {

/* A value: of a field that is there once, or an element of a list. */
struct Slot {
  const pb::Message *message;
  const Field *field;
  int index; /* -1: it is there once */
};

/* ---- faults ---- */

TideBytes
bytes_of(const std::string &text)
{
  return tide_bytes(text.data(), text.size());
}

bool
fault_at(Walk *walk, TideRejectReason reason, const guint8 *place, const Field *field, const char *detail)
{
  walk->reject->field = field != nullptr ? bytes_of(field->name()) : tide_bytes(nullptr, 0);
  return tide_reject_set(walk->reject, reason, place - walk->begin, detail);
}

bool
fault(Walk *walk, TideRejectReason reason, const Field *field, const char *detail)
{
  return fault_at(walk, reason, walk->fields, field, detail);
}

/* ---- the bytes, before the library gets them ---- */

/* At most @max_bytes of them; what is beyond 64 bits is lost, as in every reader of protobuf. FALSE: it does not end
 * there. */
bool
take_varint(const guint8 **at, const guint8 *end, int max_bytes, guint64 *ret_value)
{
  guint64 value = 0;
  for (int i = 0; i < max_bytes && *at < end; i++) {
    guint8 byte = *(*at)++;
    value |= static_cast<guint64>(byte & 0x7F) << (7 * i);
    if (byte < 0x80) {
      *ret_value = value;
      return true;
    }
  }
  return false;
}

/* What it takes to keep @n_bytes. */
bool
reckon(Walk *walk, guint64 n_bytes, const guint8 *place, const Field *field)
{
  walk->taken_bytes += n_bytes;
  return walk->taken_bytes <= walk->options->max_message_bytes * OBJECT_BYTES_FACTOR ||
         fault_at(walk, TIDE_REJECT_TOO_LARGE, place, field, "its objects take too much memory");
}

gsize
object_bytes_of(Walk *walk, const pb::Descriptor *type)
{
  gsize &n_bytes = walk->object_bytes[type];
  if (n_bytes == 0)
    n_bytes = walk->factory.GetPrototype(type)->SpaceUsedLong() + FIELD_BYTES;
  return n_bytes;
}

bool look_over(Walk *walk, const pb::Descriptor *type, const guint8 **at, const guint8 *end, guint32 depth,
               guint64 group);

/* What is inside of a message or group; @type is NULL where nobody knows it. */
bool
look_inside(Walk *walk, const Field *field, const guint8 **at, const guint8 *end, guint32 depth, guint64 group,
            const guint8 *place)
{
  bool is_list = field != nullptr && field->is_repeated() && !field->is_map();
  const pb::Descriptor *type = field != nullptr ? field->message_type() : nullptr;
  depth += is_list ? 2 : 1;
  if (depth > walk->options->max_depth)
    return fault_at(walk, TIDE_REJECT_DEPTH, place, field, nullptr);
  return reckon(walk, type != nullptr ? object_bytes_of(walk, type) : FIELD_BYTES, place, field) &&
         look_over(walk, type, at, end, depth, group);
}

/* A list of numbers in one value. */
bool
look_at_packed(Walk *walk, const Field *field, const guint8 *at, const guint8 *end)
{
  switch (field->type()) {
  case Field::TYPE_DOUBLE:
  case Field::TYPE_FIXED64:
  case Field::TYPE_SFIXED64:
  case Field::TYPE_FLOAT:
  case Field::TYPE_FIXED32:
  case Field::TYPE_SFIXED32:
    return reckon(walk, static_cast<guint64>(end - at) * PACKED_FACTOR, at, field);
  default:
    break;
  }
  if (end > at && end[-1] >= 0x80)
    return fault_at(walk, TIDE_REJECT_PARSE, end - 1, field, "a list ends in the middle of a number");
  auto n = std::count_if(at, end, [](guint8 byte) { return byte < 0x80; });
  return reckon(walk, static_cast<guint64>(n) * sizeof(guint64) * PACKED_FACTOR, at, field);
}

/* A value that has a length: a message, a text, a list of numbers, or unknown. */
bool
look_at_delimited(Walk *walk, const Field *field, const guint8 **at, const guint8 *end, guint32 depth,
                  const guint8 *place)
{
  guint64 len;
  const guint8 *length_at = *at;
  if (!take_varint(at, end, 10, &len) || len > static_cast<guint64>(end - *at))
    return fault_at(walk, TIDE_REJECT_PARSE, length_at, field, "a length beyond what is there");
  const guint8 *value = *at;
  *at += len;
  if (field == nullptr)
    return reckon(walk, len, place, nullptr);
  switch (field->type()) {
  case Field::TYPE_MESSAGE:
    return look_inside(walk, field, &value, *at, depth, 0, place);
  case Field::TYPE_STRING:
    if (!tide_utf8_is_valid(value, len))
      return fault_at(walk, TIDE_REJECT_UTF8, value + tide_json_utf8_fault(tide_bytes(value, len)), field, nullptr);
    return reckon(walk, len, place, field);
  default:
    return field->is_packable() ? look_at_packed(walk, field, value, *at) : reckon(walk, len, place, field);
  }
}

/* Wire types, as the encoding numbers them. */
enum Wire { WIRE_VARINT, WIRE_64_BITS, WIRE_DELIMITED, WIRE_BEGIN_GROUP, WIRE_END_GROUP, WIRE_32_BITS };

bool
skip_fixed(Walk *walk, const Field *field, const guint8 **at, const guint8 *end, int n_bytes)
{
  if (end - *at < n_bytes)
    return fault_at(walk, TIDE_REJECT_PARSE, end, field, "it ends in the middle of a number");
  *at += n_bytes;
  return true;
}

/* What stands behind a tag. */
bool
look_at_value(Walk *walk, const Field *field, guint64 tag, const guint8 **at, const guint8 *end, guint32 depth,
              const guint8 *place)
{
  guint64 number;
  const guint8 *value = *at;
  /* A list of numbers is as deep as one of messages would be, without these. */
  if (field != nullptr && field->is_repeated() && field->message_type() == nullptr && depth >= walk->options->max_depth)
    return fault_at(walk, TIDE_REJECT_DEPTH, place, field, nullptr);
  switch (tag & 7) {
  case WIRE_VARINT:
    return take_varint(at, end, 10, &number) ||
           fault_at(walk, TIDE_REJECT_PARSE, value, field, "a number that does not end");
  case WIRE_64_BITS:
    return skip_fixed(walk, field, at, end, 8);
  case WIRE_32_BITS:
    return skip_fixed(walk, field, at, end, 4);
  case WIRE_DELIMITED:
    return look_at_delimited(walk, field, at, end, depth, place);
  case WIRE_BEGIN_GROUP:
    return look_inside(walk, field != nullptr && field->type() == Field::TYPE_GROUP ? field : nullptr, at, end, depth,
                       tag >> 3, place);
  default:
    return fault_at(walk, TIDE_REJECT_PARSE, place, field, "a tag of no field");
  }
}

/* The fields of a message up to @end, or of the group of the number @group up to its end. Calls itself for what is
 * nested; the depth bounds it. */
bool
look_over(Walk *walk, const pb::Descriptor *type, const guint8 **at, const guint8 *end, guint32 depth, guint64 group)
{
  while (*at < end) {
    guint64 tag;
    const guint8 *place = *at;
    if (!take_varint(at, end, 5, &tag) || tag >> 3 == 0 || tag > G_MAXUINT32)
      return fault_at(walk, TIDE_REJECT_PARSE, place, nullptr, "a tag of no field");
    if ((tag & 7) == WIRE_END_GROUP)
      return (group != 0 && tag >> 3 == group) ||
             fault_at(walk, TIDE_REJECT_PARSE, place, nullptr, "the end of a group that was not begun");
    const Field *field = type != nullptr ? type->FindFieldByNumber(static_cast<int>(tag >> 3)) : nullptr;
    if (!reckon(walk, FIELD_BYTES, place, field) || !look_at_value(walk, field, tag, at, end, depth, place))
      return false;
  }
  return group == 0 || fault_at(walk, TIDE_REJECT_PARSE, end, nullptr, "a group does not end");
}

/* ---- Confluent's frame ---- */

bool
take_index(Walk *walk, guint64 *ret_index)
{
  guint64 zigzag;
  if (!take_varint(&walk->fields, walk->end, 10, &zigzag))
    return false;
  *ret_index = zigzag >> 1; /* of a negative number, which is odd, far too large an index */
  return (zigzag & 1) == 0;
}

/* Which message of the file it is: its place, and that of each one around it, from the outside in. */
const pb::Descriptor *
take_indexes(Walk *walk)
{
  const pb::FileDescriptor *file = walk->options->protobuf->file;
  const pb::Descriptor *type = nullptr;
  guint64 n, index = 0;
  if (!take_index(walk, &n))
    return nullptr;
  /* None at all stand for the first message of the file. */
  for (guint64 i = 0; i < MAX(n, 1); i++) {
    int n_types = type != nullptr ? type->nested_type_count() : file->message_type_count();
    if ((n > 0 && !take_index(walk, &index)) || index >= static_cast<guint64>(n_types))
      return nullptr;
    type = type != nullptr ? type->nested_type(static_cast<int>(index)) : file->message_type(static_cast<int>(index));
  }
  return type->map_key() != nullptr ? nullptr : type;
}

/* The message's type, with fields behind its frame. NULL: the fault is told. */
const pb::Descriptor *
take_frame(Walk *walk)
{
  static constexpr std::ptrdiff_t HEAD_BYTES = 5; /* the zero byte and the schema's id */
  const TideProtobufSchema *schema = walk->options->protobuf;
  walk->fields = walk->begin;
  if (schema->framing == TIDE_FRAMING_NONE)
    return schema->message;
  if (*walk->begin != 0 || walk->end - walk->begin < HEAD_BYTES) {
    fault(walk, TIDE_REJECT_PARSE, nullptr, "it does not begin as Confluent's serializer lets it begin");
    return nullptr;
  }
  walk->fields += HEAD_BYTES;
  const guint8 *place = walk->fields;
  const pb::Descriptor *type = take_indexes(walk);
  if (type == nullptr)
    fault_at(walk, TIDE_REJECT_PARSE, place, nullptr, "its frame names no message of the descriptor set's file");
  return type;
}

/* ---- values ---- */

/* What a value's text is for. */
enum class Use { FIELD, KEY /* of a map */, JSON /* in the text of an array, at once */ };

/* Room for the text of a number, for as long as it is used. */
char *
number_room(Walk *walk, Use use)
{
  return use == Use::JSON ? walk->number : static_cast<char *>(tide_scratch_take(walk->scratch, TIDE_VALUE_TEXT_BYTES));
}

/* Kind and text of the enum's value @number. */
TideValueKind
read_enum(Walk *walk, const Slot &slot, int number, Use use, TideBytes *ret_text)
{
  const pb::EnumValueDescriptor *value = slot.field->enum_type()->FindValueByNumber(number);
  *ret_text = value != nullptr ? bytes_of(value->name()) : tide_signed_text(number_room(walk, use), number);
  return value != nullptr ? TIDE_VALUE_STRING : TIDE_VALUE_NUMBER;
}

TideBytes
bool_text(const Walk *walk, bool value, Use use)
{
  bool is_number = walk->options->booleans == TIDE_BOOLEAN_NUMBER && use == Use::FIELD;
  return tide_bytes_of_string(is_number ? (value ? "1" : "0") : (value ? "true" : "false"));
}

bool
read_double(Walk *walk, const Slot &slot, double value, bool is_float, Use use, TideBytes *ret_text)
{
  if (!std::isfinite(value))
    return fault(walk, TIDE_REJECT_NUMBER, slot.field, "not a finite number");
  *ret_text = is_float ? tide_float_text(number_room(walk, use), static_cast<float>(value))
                       : tide_double_text(number_room(walk, use), value);
  return true;
}

/* By @slot's getter of the library: a field that is there once has another than an element has. */
#define GET(slot, type)                                                                                                \
  ((slot).index < 0 ? reflection->Get##type(*(slot).message, (slot).field)                                             \
                    : reflection->GetRepeated##type(*(slot).message, (slot).field, (slot).index))

/* A string, which lies in the arena, or among the defaults of the schema; of bytes, the hex. */
TideBytes
read_string(Walk *walk, const Slot &slot)
{
  const pb::Reflection *reflection = slot.message->GetReflection();
  std::string unused;
  TideBytes text =
      bytes_of(slot.index < 0 ? reflection->GetStringReference(*slot.message, slot.field, &unused)
                              : reflection->GetRepeatedStringReference(*slot.message, slot.field, slot.index, &unused));
  return slot.field->type() == Field::TYPE_STRING ? text : tide_hex_text(walk->scratch, text);
}

/* Kind and text of a value that is no message. */
bool
read_scalar(Walk *walk, const Slot &slot, Use use, TideValueKind *ret_kind, TideBytes *ret_text)
{
  const pb::Reflection *reflection = slot.message->GetReflection();
  *ret_kind = TIDE_VALUE_NUMBER;
  switch (slot.field->cpp_type()) {
  case Field::CPPTYPE_INT32:
    *ret_text = tide_signed_text(number_room(walk, use), GET(slot, Int32));
    return true;
  case Field::CPPTYPE_INT64:
    *ret_text = tide_signed_text(number_room(walk, use), GET(slot, Int64));
    return true;
  case Field::CPPTYPE_UINT32:
    *ret_text = tide_integer_text(number_room(walk, use), GET(slot, UInt32), FALSE);
    return true;
  case Field::CPPTYPE_UINT64:
    *ret_text = tide_integer_text(number_room(walk, use), GET(slot, UInt64), FALSE);
    return true;
  case Field::CPPTYPE_DOUBLE:
    return read_double(walk, slot, GET(slot, Double), false, use, ret_text);
  case Field::CPPTYPE_FLOAT:
    return read_double(walk, slot, static_cast<double>(GET(slot, Float)), true, use, ret_text);
  case Field::CPPTYPE_BOOL:
    *ret_kind = TIDE_VALUE_BOOL;
    *ret_text = bool_text(walk, GET(slot, Bool), use);
    return true;
  case Field::CPPTYPE_ENUM:
    *ret_kind = read_enum(walk, slot, GET(slot, EnumValue), use, ret_text);
    return true;
  case Field::CPPTYPE_STRING:
    *ret_kind = TIDE_VALUE_STRING;
    *ret_text = read_string(walk, slot);
    return true;
  case Field::CPPTYPE_MESSAGE:
    break;
  }
  g_assert_not_reached();
}

const pb::Message &
message_of(const Slot &slot)
{
  const pb::Reflection *reflection = slot.message->GetReflection();
  return GET(slot, Message);
}

bool
is_field_of(const pb::Descriptor *type, int number, Field::CppType kind)
{
  const Field *field = type->FindFieldByNumber(number);
  return field != nullptr && !field->is_repeated() && field->cpp_type() == kind;
}

/* Messages that stand for one value. */
enum class Stand { FOR_FIELDS, FOR_TIME, FOR_WRAPPED };

Stand
stand_of(const pb::Descriptor *type)
{
  switch (type->well_known_type()) {
  case pb::Descriptor::WELLKNOWNTYPE_TIMESTAMP:
    return is_field_of(type, 1, Field::CPPTYPE_INT64) && is_field_of(type, 2, Field::CPPTYPE_INT32) ? Stand::FOR_TIME
                                                                                                    : Stand::FOR_FIELDS;
  case pb::Descriptor::WELLKNOWNTYPE_DOUBLEVALUE:
  case pb::Descriptor::WELLKNOWNTYPE_FLOATVALUE:
  case pb::Descriptor::WELLKNOWNTYPE_INT64VALUE:
  case pb::Descriptor::WELLKNOWNTYPE_UINT64VALUE:
  case pb::Descriptor::WELLKNOWNTYPE_INT32VALUE:
  case pb::Descriptor::WELLKNOWNTYPE_UINT32VALUE:
  case pb::Descriptor::WELLKNOWNTYPE_STRINGVALUE:
  case pb::Descriptor::WELLKNOWNTYPE_BYTESVALUE:
  case pb::Descriptor::WELLKNOWNTYPE_BOOLVALUE: {
    const Field *value = type->FindFieldByNumber(1);
    return value != nullptr && !value->is_repeated() && value->message_type() == nullptr ? Stand::FOR_WRAPPED
                                                                                         : Stand::FOR_FIELDS;
  }
  default:
    return Stand::FOR_FIELDS;
  }
}

bool
read_time(Walk *walk, const Slot &slot, const pb::Message &message, Use use, TideBytes *ret_text)
{
  const pb::Reflection *reflection = message.GetReflection();
  const pb::Descriptor *type = message.GetDescriptor();
  gint64 seconds = reflection->GetInt64(message, type->FindFieldByNumber(1));
  gint32 ns = reflection->GetInt32(message, type->FindFieldByNumber(2));
  if (ns < 0 || ns > 999999999)
    return fault(walk, TIDE_REJECT_TYPE, slot.field, "a Timestamp with nanoseconds that are not within a second");
  *ret_text = tide_seconds_text(number_room(walk, use), seconds, static_cast<guint32>(ns));
  return true;
}

/* What @slot is if it is one value. FALSE with @ret_is_one: the fault is told. */
bool
read_one(Walk *walk, const Slot &slot, Use use, bool *ret_is_one, TideValueKind *ret_kind, TideBytes *ret_text)
{
  *ret_is_one = true;
  if (slot.field->message_type() == nullptr)
    return read_scalar(walk, slot, use, ret_kind, ret_text);
  const pb::Message &message = message_of(slot);
  const pb::Descriptor *type = message.GetDescriptor();
  Stand stand = stand_of(type);
  *ret_kind = TIDE_VALUE_NUMBER;
  if (stand == Stand::FOR_TIME)
    return read_time(walk, slot, message, use, ret_text);
  if (stand == Stand::FOR_WRAPPED)
    return read_scalar(walk, Slot{&message, type->FindFieldByNumber(1), -1}, use, ret_kind, ret_text);
  *ret_is_one = false;
  return false;
}

/* ---- maps ---- */

struct Entry {
  TideBytes key; /* its text */
  Slot value;
};

/* The entries in the order of their keys; of a key that is there twice, the last. */
bool
read_entries(Walk *walk, const pb::Message &message, const Field *field, std::vector<Entry> *entries)
{
  const pb::Descriptor *type = field->message_type();
  const pb::Reflection *reflection = message.GetReflection();
  int n = reflection->FieldSize(message, field);
  entries->reserve(static_cast<gsize>(n));
  for (int i = n - 1; i >= 0; i--) {
    const pb::Message &entry = reflection->GetRepeatedMessage(message, field, i);
    TideValueKind kind;
    TideBytes key;
    if (!read_scalar(walk, Slot{&entry, type->map_key(), -1}, Use::KEY, &kind, &key))
      return false;
    entries->push_back(Entry{key, Slot{&entry, type->map_value(), -1}});
  }
  /* The last one is the first of its equals now, which is kept. */
  std::stable_sort(entries->begin(), entries->end(),
                   [](const Entry &a, const Entry &b) { return tide_bytes_compare(a.key, b.key) < 0; });
  auto end = std::unique(entries->begin(), entries->end(),
                         [](const Entry &a, const Entry &b) { return tide_bytes_equal(a.key, b.key); });
  entries->erase(end, entries->end());
  return true;
}

/* ---- an array as its JSON text ---- */

bool append_slot(Walk *walk, const Slot &slot);

void
append_name(Walk *walk, TideBytes name)
{
  guint8 before = walk->json.data[walk->json.len - 1];
  if (before != '{')
    tide_buffer_append_byte(&walk->json, ',');
  tide_json_string_append(&walk->json, name);
  tide_buffer_append_byte(&walk->json, ':');
}

bool
append_list(Walk *walk, const pb::Message &message, const Field *field)
{
  int n = message.GetReflection()->FieldSize(message, field);
  tide_buffer_append_byte(&walk->json, '[');
  for (int i = 0; i < n; i++) {
    if (i > 0)
      tide_buffer_append_byte(&walk->json, ',');
    if (!append_slot(walk, Slot{&message, field, i}))
      return false;
  }
  tide_buffer_append_byte(&walk->json, ']');
  return true;
}

bool
append_map(Walk *walk, const pb::Message &message, const Field *field)
{
  std::vector<Entry> entries;
  if (!read_entries(walk, message, field, &entries))
    return false;
  tide_buffer_append_byte(&walk->json, '{');
  for (const Entry &entry : entries) {
    append_name(walk, entry.key);
    if (!append_slot(walk, entry.value))
      return false;
  }
  tide_buffer_append_byte(&walk->json, '}');
  return true;
}

/* Whether @field of @message is a field of the reading. */
bool
is_there(const pb::Message &message, const Field *field)
{
  const pb::Reflection *reflection = message.GetReflection();
  if (field->is_repeated())
    return reflection->FieldSize(message, field) > 0;
  return !field->has_presence() || reflection->HasField(message, field);
}

bool
append_message(Walk *walk, const pb::Message &message)
{
  const pb::Descriptor *type = message.GetDescriptor();
  tide_buffer_append_byte(&walk->json, '{');
  for (int i = 0; i < type->field_count(); i++) {
    const Field *field = type->field(i);
    if (!is_there(message, field))
      continue;
    append_name(walk, bytes_of(field->name()));
    bool good = field->is_map()        ? append_map(walk, message, field)
                : field->is_repeated() ? append_list(walk, message, field)
                                       : append_slot(walk, Slot{&message, field, -1});
    if (!good)
      return false;
  }
  tide_buffer_append_byte(&walk->json, '}');
  return true;
}

/* Calls itself for what is nested; the depth bounds it. */
bool
append_slot(Walk *walk, const Slot &slot)
{
  bool is_one;
  TideValueKind kind;
  TideBytes text;
  bool good = read_one(walk, slot, Use::JSON, &is_one, &kind, &text);
  if (!is_one)
    good = append_message(walk, message_of(slot));
  else if (good && kind == TIDE_VALUE_STRING)
    tide_json_string_append(&walk->json, text);
  else if (good)
    tide_buffer_append_bytes(&walk->json, text);
  if (good && walk->json.len > walk->options->max_message_bytes * TEXT_BYTES_FACTOR)
    return fault(walk, TIDE_REJECT_TOO_LARGE, slot.field, "the text of an array takes too much memory");
  return good;
}

/* ---- members ---- */

bool take_slot(Walk *walk, const Slot &slot, TideBytes name);
bool take_members(Walk *walk, const pb::Message &message);

bool
take_map(Walk *walk, const pb::Message &message, const Field *field)
{
  std::vector<Entry> entries;
  gsize outer;
  if (!tide_reading_builder_enter(walk->builder, bytes_of(field->name()), &outer, walk->reject) ||
      !read_entries(walk, message, field, &entries))
    return false;
  for (const Entry &entry : entries)
    if (!take_slot(walk, entry.value, entry.key))
      return false;
  tide_reading_builder_leave(walk->builder, outer);
  return true;
}

/* Elements that are called by their places. */
bool
take_elements(Walk *walk, const pb::Message &message, const Field *field)
{
  gsize outer;
  if (!tide_reading_builder_enter(walk->builder, bytes_of(field->name()), &outer, walk->reject))
    return false;
  int n = message.GetReflection()->FieldSize(message, field);
  for (int i = 0; i < n; i++) {
    TideBytes place = tide_signed_text(number_room(walk, Use::FIELD), i);
    if (!take_slot(walk, Slot{&message, field, i}, place))
      return false;
  }
  tide_reading_builder_leave(walk->builder, outer);
  return true;
}

bool
take_list(Walk *walk, const pb::Message &message, const Field *field)
{
  switch (walk->options->arrays) {
  case TIDE_ARRAY_JSON:
    tide_buffer_reset(&walk->json);
    return append_list(walk, message, field) &&
           tide_reading_builder_add(walk->builder, bytes_of(field->name()), TIDE_VALUE_JSON,
                                    tide_scratch_copy(walk->scratch, tide_buffer_bytes(&walk->json)), walk->reject);
  case TIDE_ARRAY_INDEX:
    return take_elements(walk, message, field);
  case TIDE_ARRAY_REJECT:
    break;
  }
  walk->reject->remedy = "let 'readings.arrays' be json (one field, its JSON text) or index (a field for each item)";
  return fault(walk, TIDE_REJECT_TYPE, field, "an array");
}

/* Calls itself, by way of the members of what it holds; the depth bounds it. */
bool
take_slot(Walk *walk, const Slot &slot, TideBytes name)
{
  bool is_one;
  TideValueKind kind;
  TideBytes text;
  gsize outer;
  bool good = read_one(walk, slot, Use::FIELD, &is_one, &kind, &text);
  if (is_one)
    return good && tide_reading_builder_add(walk->builder, name, kind, text, walk->reject);
  if (!tide_reading_builder_enter(walk->builder, name, &outer, walk->reject) || !take_members(walk, message_of(slot)))
    return false;
  tide_reading_builder_leave(walk->builder, outer);
  return true;
}

bool
take_members(Walk *walk, const pb::Message &message)
{
  const pb::Descriptor *type = message.GetDescriptor();
  for (int i = 0; i < type->field_count(); i++) {
    const Field *field = type->field(i);
    if (!is_there(message, field))
      continue;
    bool good = field->is_map()        ? take_map(walk, message, field)
                : field->is_repeated() ? take_list(walk, message, field)
                                       : take_slot(walk, Slot{&message, field, -1}, bytes_of(field->name()));
    if (!good)
      return false;
  }
  return true;
}

/* ---- the message ---- */

/* Gives back what the message before took. One that was larger makes what is kept larger. */
void
renew_arena(Walk *walk)
{
  gsize used_bytes = walk->arena != nullptr ? walk->arena->SpaceAllocated() : 0;
  if (walk->arena != nullptr && (used_bytes <= walk->kept.size() || walk->kept.size() == MAX_KEPT_BYTES)) {
    walk->arena->Reset();
    return;
  }
  walk->arena.reset();
  if (used_bytes > walk->kept.size())
    std::vector<char>(MIN(MAX_KEPT_BYTES, used_bytes * 2)).swap(walk->kept);
  pb::ArenaOptions options;
  options.initial_block = walk->kept.data();
  options.initial_block_size = walk->kept.size();
  walk->arena = std::make_unique<pb::Arena>(options);
}

/* As libprotobuf reads it. NULL: the fault is told. */
const pb::Message *
parse(Walk *walk, const pb::Descriptor *type)
{
  if (type != walk->last_type) {
    walk->prototype = walk->factory.GetPrototype(type);
    walk->last_type = type;
  }
  pb::Message *message = walk->prototype->New(walk->arena.get());
  pb::io::CodedInputStream input(walk->fields, static_cast<int>(walk->end - walk->fields));
  input.SetRecursionLimit(static_cast<int>(walk->options->max_depth) + 1);
  if (!message->MergePartialFromCodedStream(&input) || !input.ConsumedEntireMessage()) {
    fault(walk, TIDE_REJECT_PARSE, nullptr, "not a message of this type");
    return nullptr;
  }
  if (walk->options->protobuf->has_required && !message->IsInitialized()) {
    fault(walk, TIDE_REJECT_MISSING_FIELD, nullptr, "a field that its type requires");
    return nullptr;
  }
  return message;
}

bool
take_reading(Walk *walk)
{
  const pb::Descriptor *type = take_frame(walk);
  if (type == nullptr)
    return false;
  const guint8 *at = walk->fields;
  if (!reckon(walk, object_bytes_of(walk, type), at, nullptr) || !look_over(walk, type, &at, walk->end, 1, 0))
    return false;
  renew_arena(walk);
  const pb::Message *message = parse(walk, type);
  return message != nullptr && tide_reading_builder_begin_reading(walk->builder, walk->reject) &&
         take_members(walk, *message) && tide_reading_builder_end_reading(walk->builder, walk->reject);
}

} // namespace

TideProtobufWalk *
tide_protobuf_walk_new(const TideDecodeOptions *options)
{
  return options->format == TIDE_FORMAT_PROTOBUF ? new TideProtobufWalk(options) : nullptr;
}

void
tide_protobuf_walk_free(TideProtobufWalk *walk)
{
  delete walk;
}

gboolean
tide_protobuf_walk_run(TideProtobufWalk *walk, TideBytes message, TideScratch *scratch, TideReadingBuilder *builder,
                       TideReject *ret_reject)
{
  walk->scratch = scratch;
  walk->builder = builder;
  walk->reject = ret_reject;
  walk->begin = message.data;
  walk->end = message.data + message.len;
  walk->fields = walk->begin;
  walk->taken_bytes = 0;
  if (take_reading(walk))
    return TRUE;
  /* Those of the builder have none. */
  if (ret_reject->byte_position < 0)
    ret_reject->byte_position = walk->fields - walk->begin;
  return FALSE;
}
