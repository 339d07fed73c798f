/* Reads a message in protobuf, in two steps. The first step walks its bytes once and stores each value in its field's
 * slot, because fields may occur in any order and twice, and lists in pieces. The second step reports the values in
 * the order of the .proto file, with its names:
 *
 *     integers                 NUMBER   exact, all 64 bits
 *     float, double            NUMBER   in the shortest exact form; a NUMBER fault if not finite
 *     string                   STRING   must be UTF-8
 *     bytes                    STRING   in hex
 *     bool                     BOOL     as declared
 *     enum                     STRING   its value's name; NUMBER if the file has no name for it
 *     message, group                    its fields, like those of an object in JSON
 *     google.protobuf.Timestamp NUMBER  seconds since 1970, a fraction with nine decimals
 *     Int32Value and the like  as the wrapped value
 *     map                      an object, sorted by key; if a key occurs twice, its last value
 *     repeated                 as declared for arrays; absent if empty
 *
 * A field with presence (optional, oneof, messages, all of proto2) exists if the message has it. A field without
 * presence always exists, with its default if the message lacks it: senders omit 0, but it is a measured 0. Fields that
 * the schema does not know, including extensions, are ignored.
 *
 * The first step checks all of a message before a value is used: tags, lengths, UTF-8, depth (counted as in JSON), and
 * the memory for its values. These faults are the message's. With TIDE_BAD_READING_ALONE a reading has the same other
 * faults of its own as in JSON. */
#include "decode/formats.h"
#include "decode/frame.h"
#include "decode/json_text.h"
#include "decode/layout.h"
#include "decode/protobuf_schema.h"
#include "model/value_text.h"

/* The values of a message take at most this many times the largest message. A value takes tens of bytes, but may need
 * only one or two in the message. */
#define VALUE_BYTES_FACTOR 32u

/* Maximum memory kept between messages. */
#define MAX_KEPT_BYTES (1024u * 1024)

#define VARINT_MAX_BYTES 10
#define TAG_MAX_BYTES 5

/* Wire types, as the encoding numbers them. */
enum { WIRE_VARINT, WIRE_64_BITS, WIRE_DELIMITED, WIRE_BEGIN_GROUP, WIRE_END_GROUP, WIRE_32_BITS };

/* Encoding of each kind: texts and messages have a length, all others are numbers. */
static const struct {
  gboolean is_varint;
  guint8 fixed_bytes;
  gboolean is_unsigned; /* as a text */
} kinds[] = {
    [TIDE_PROTOBUF_DOUBLE] = {.fixed_bytes = 8},
    [TIDE_PROTOBUF_FLOAT] = {.fixed_bytes = 4},
    [TIDE_PROTOBUF_INT64] = {.is_varint = TRUE},
    [TIDE_PROTOBUF_UINT64] = {.is_varint = TRUE, .is_unsigned = TRUE},
    [TIDE_PROTOBUF_INT32] = {.is_varint = TRUE},
    [TIDE_PROTOBUF_FIXED64] = {.fixed_bytes = 8, .is_unsigned = TRUE},
    [TIDE_PROTOBUF_FIXED32] = {.fixed_bytes = 4, .is_unsigned = TRUE},
    [TIDE_PROTOBUF_BOOL] = {.is_varint = TRUE},
    [TIDE_PROTOBUF_UINT32] = {.is_varint = TRUE, .is_unsigned = TRUE},
    [TIDE_PROTOBUF_ENUM] = {.is_varint = TRUE},
    [TIDE_PROTOBUF_SFIXED32] = {.fixed_bytes = 4},
    [TIDE_PROTOBUF_SFIXED64] = {.fixed_bytes = 8},
    [TIDE_PROTOBUF_SINT32] = {.is_varint = TRUE},
    [TIDE_PROTOBUF_SINT64] = {.is_varint = TRUE},
};

typedef struct Message Message;

typedef struct Value {
  const guint8 *place; /* of its tag, or in a packed list of the number; NULL: absent */
  union {
    guint64 number; /* an integer in two's complement, or the bits of a float */
    TideBytes text;
    Message *message;
  };
} Value;

typedef struct Element {
  Value value;
  struct Element *next;
} Element;

typedef union Slot {
  Value once;
  struct {
    Element *first, *last;
    gsize n;
  } list;
} Slot;

/* The values of a message, by the indexes of its type's fields. */
struct Message {
  const TideProtobufType *type;
  Slot slots[];
};

/* An entry of a map, sorted by the keys' texts. */
typedef struct Entry {
  TideBytes key;
  const Value *value;
  gsize index;
} Entry;

typedef struct Walk {
  /* its position: the next value to report */
  struct {
    const TideProtobufField *field; /* NULL: the message itself */
    const Value *value;
    const Slot *list;  /* all values of the field; NULL: a single value */
    gboolean is_begun; /* the message has begun */
  };

  /* set before start, then read-only */
  TideShaper *shaper; /* borrowed */

  /* of the message */
  TideScratch values;   /* its values, before they are reported */
  const guint8 *begin;  /* of the message with its frame; a copy in the shaper's scratch */
  const guint8 *end;    /* of the message */
  const guint8 *fields; /* the first field */
  guint64 value_bytes;  /* in values */
} Walk;

/* ---- faults ---- */

static gsize
place_of(const Walk *walk, const guint8 *at)
{
  return (gsize)((at != NULL ? at : walk->fields) - walk->begin);
}

static gboolean
fault(Walk *walk, TideRejectReason reason, const guint8 *at, const TideProtobufField *field, const char *detail)
{
  return tide_shaper_reject(walk->shaper, reason, place_of(walk, at), field != NULL ? field->name : TIDE_BYTES_EMPTY,
                            detail);
}

/* ---- from bytes to values ---- */

/* Reads a varint of at most @max_bytes; bits beyond 64 are dropped, as every protobuf parser does. FALSE: it does not
 * end within them. */
static inline gboolean
take_varint(const guint8 **at, const guint8 *end, guint max_bytes, guint64 *ret_value)
{
  guint64 value = 0;
  for (guint i = 0; i < max_bytes && *at < end; i++) {
    guint8 byte = *(*at)++;
    value |= (guint64)(byte & 0x7F) << (7 * i);
    if (byte < 0x80) {
      *ret_value = value;
      return TRUE;
    }
  }
  return FALSE;
}

static gpointer
take_memory(Walk *walk, gsize n_bytes, const guint8 *at, const TideProtobufField *field)
{
  walk->value_bytes += n_bytes;
  if (walk->value_bytes <= (guint64)walk->shaper->options->max_message_bytes * VALUE_BYTES_FACTOR)
    return tide_scratch_take(&walk->values, n_bytes);
  fault(walk, TIDE_REJECT_TOO_LARGE, at, field, "its objects take too much memory");
  return NULL;
}

static Message *
message_new(Walk *walk, const TideProtobufType *type, const guint8 *at, const TideProtobufField *field)
{
  gsize n_bytes = sizeof(Message) + type->n_fields * sizeof(Slot);
  Message *message = take_memory(walk, n_bytes, at, field);
  if (message == NULL)
    return NULL;
  memset(message, 0, n_bytes);
  message->type = type;
  return message;
}

static const TideProtobufField *
find_field(const TideProtobufType *type, guint64 number)
{
  if (G_LIKELY(number < type->n_direct))
    return type->direct[number] > 0 ? &type->fields[type->direct[number] - 1] : NULL;
  for (guint32 i = 0; i < type->n_fields; i++)
    if (type->fields[i].number == number)
      return &type->fields[i];
  return NULL;
}

static const TideProtobufSymbol *
find_symbol(const TideProtobufField *field, gint32 number)
{
  guint32 first = 0, n = field->n_symbols;
  while (n > 0) {
    const TideProtobufSymbol *middle = &field->symbols[first + n / 2];
    if (middle->number == number)
      return middle;
    gboolean is_behind = middle->number < number;
    first += is_behind ? n / 2 + 1 : 0;
    n = is_behind ? n - n / 2 - 1 : n / 2;
  }
  return NULL;
}

/* Returns room for the value of @field at @at, for a list after its other values. NULL: it would take too much
 * memory. */
static inline Value *
make_room(Walk *walk, Message *message, const TideProtobufField *field, const guint8 *at)
{
  Slot *slot = &message->slots[field - message->type->fields];
  if (field->is_repeated) {
    Element *element = take_memory(walk, sizeof *element, at, field);
    if (element == NULL)
      return NULL;
    *element = (Element){.value.place = at};
    if (slot->list.last != NULL)
      slot->list.last->next = element;
    else
      slot->list.first = element;
    slot->list.last = element;
    slot->list.n++;
    return &element->value;
  }
  /* Of the fields in a oneof, only the last one is present. */
  for (guint32 i = 0; i < field->n_oneof; i++) {
    Value *other = &message->slots[field->oneof_first + i].once;
    if (other != &slot->once)
      other->place = NULL;
  }
  if (slot->once.place == NULL)
    slot->once = (Value){0};
  slot->once.place = at;
  return &slot->once;
}

static inline guint64
unzigzag(guint64 number)
{
  return (number >> 1) ^ (0 - (number & 1));
}

/* Reads a varint as the value of @field. FALSE: its enum does not have the value. */
static inline gboolean
convert_varint(const TideProtobufField *field, guint64 *number)
{
  switch (field->kind) {
  case TIDE_PROTOBUF_INT32:
    *number = (guint64)(gint64)(gint32)(guint32)*number;
    return TRUE;
  case TIDE_PROTOBUF_UINT32:
    *number = (guint32)*number;
    return TRUE;
  case TIDE_PROTOBUF_SINT32:
    *number = (guint64)(gint64)(gint32)(guint32)unzigzag((guint32)*number);
    return TRUE;
  case TIDE_PROTOBUF_SINT64:
    *number = unzigzag(*number);
    return TRUE;
  case TIDE_PROTOBUF_BOOL:
    *number = *number != 0;
    return TRUE;
  case TIDE_PROTOBUF_ENUM:
    *number = (guint64)(gint64)(gint32)(guint32)*number;
    return !field->is_closed || find_symbol(field, (gint32)*number) != NULL;
  default:
    return TRUE;
  }
}

static inline guint64
load_fixed(const guint8 *at, guint n_bytes, TideProtobufKind kind)
{
  if (n_bytes == 8)
    return GUINT64_FROM_LE(tide_load_u64(at));
  guint32 bits = GUINT32_FROM_LE(tide_load_u32(at));
  return kind == TIDE_PROTOBUF_SFIXED32 ? (guint64)(gint64)(gint32)bits : bits;
}

static inline gboolean
keep_number(Walk *walk, Message *message, const TideProtobufField *field, const guint8 *place, guint64 number)
{
  Value *value = make_room(walk, message, field, place);
  if (value == NULL)
    return FALSE;
  value->number = number;
  return TRUE;
}

/* Reads a packed list of numbers. */
static gboolean
take_packed(Walk *walk, Message *message, const TideProtobufField *field, const guint8 *at, const guint8 *end)
{
  guint n_bytes = kinds[field->kind].fixed_bytes;
  while (at < end) {
    const guint8 *place = at;
    guint64 number;
    if (n_bytes > 0) {
      if ((gsize)(end - at) < n_bytes)
        return fault(walk, TIDE_REJECT_PARSE, at, field, "a list ends within a number");
      number = load_fixed(at, n_bytes, field->kind);
      at += n_bytes;
    } else {
      if (!take_varint(&at, end, VARINT_MAX_BYTES, &number))
        return at == end ? fault(walk, TIDE_REJECT_PARSE, end - 1, field, "a list ends within a number")
                         : fault(walk, TIDE_REJECT_PARSE, place, field, "a number that does not end");
      if (!convert_varint(field, &number))
        continue;
    }
    if (!keep_number(walk, message, field, place, number))
      return FALSE;
  }
  return TRUE;
}

static gboolean take_fields(Walk *walk, Message *message, const guint8 **at, const guint8 *end, guint32 depth,
                            guint64 group);

/* Reads the inside of a message or group. @field: NULL: unknown to the schema */
static gboolean
take_inside(Walk *walk, Message *outer, const TideProtobufField *field, const guint8 **at, const guint8 *end,
            guint32 depth, guint64 group, const guint8 *place)
{
  gboolean is_list = field != NULL && field->is_repeated && !field->is_map;
  depth += is_list ? 2 : 1;
  if (depth > walk->shaper->options->max_depth)
    return fault(walk, TIDE_REJECT_DEPTH, place, field, NULL);
  if (field == NULL)
    return take_fields(walk, NULL, at, end, depth, group);
  Value *value = make_room(walk, outer, field, place);
  if (value == NULL)
    return FALSE;
  /* A message that occurs twice is merged: it has the fields of both. */
  if (value->message == NULL)
    value->message = message_new(walk, field->message, place, field);
  if (value->message == NULL || !take_fields(walk, value->message, at, end, depth, group))
    return FALSE;
  if (!field->is_map)
    return TRUE;
  /* An entry without a value has an empty value. */
  const TideProtobufField *inner = find_field(field->message, 2);
  Value *second = &value->message->slots[inner - field->message->fields].once;
  if (inner->message != NULL && second->message == NULL)
    second->message = message_new(walk, inner->message, place, field);
  return inner->message == NULL || second->message != NULL;
}

/* Reads a value with a length: a message, a text, a packed list, or an unknown field. */
static gboolean
take_delimited(Walk *walk, Message *message, const TideProtobufField *field, const guint8 **at, const guint8 *end,
               guint32 depth, const guint8 *place)
{
  guint64 len;
  const guint8 *length_at = *at;
  if (!take_varint(at, end, VARINT_MAX_BYTES, &len) || len > (guint64)(end - *at))
    return fault(walk, TIDE_REJECT_PARSE, length_at, field, "a length beyond the end");
  const guint8 *start = *at;
  TideBytes text = tide_bytes(start, (gsize)len);
  *at += len;
  if (field == NULL)
    return TRUE;
  if (field->kind == TIDE_PROTOBUF_MESSAGE)
    return take_inside(walk, message, field, &start, *at, depth, 0, place);
  if (field->kind == TIDE_PROTOBUF_STRING || field->kind == TIDE_PROTOBUF_BYTES) {
    if (field->kind == TIDE_PROTOBUF_STRING && !tide_utf8_is_valid(text.data, text.len))
      return fault(walk, TIDE_REJECT_UTF8, start + tide_json_utf8_fault(text), field, NULL);
    Value *value = make_room(walk, message, field, place);
    if (value != NULL)
      value->text = text;
    return value != NULL;
  }
  return !field->is_packable || take_packed(walk, message, field, start, *at);
}

/* Reads the value after a tag. A value whose wire type does not fit the field is treated as unknown. */
static inline gboolean
take_value_of(Walk *walk, Message *message, const TideProtobufField *field, guint64 tag, const guint8 **at,
              const guint8 *end, guint32 depth, const guint8 *place)
{
  guint64 number;
  const guint8 *start = *at;
  /* A list of numbers is a level like a list of messages, but has no messages in which the depth is checked. */
  if (field != NULL && G_UNLIKELY(field->is_repeated) && field->message == NULL &&
      depth >= walk->shaper->options->max_depth)
    return fault(walk, TIDE_REJECT_DEPTH, place, field, NULL);
  switch (tag & 7) {
  case WIRE_VARINT:
    if (!take_varint(at, end, VARINT_MAX_BYTES, &number))
      return fault(walk, TIDE_REJECT_PARSE, start, field, "a number that does not end");
    return field == NULL || !kinds[field->kind].is_varint || !convert_varint(field, &number) ||
           keep_number(walk, message, field, place, number);
  case WIRE_64_BITS:
  case WIRE_32_BITS: {
    guint n_bytes = (tag & 7) == WIRE_64_BITS ? 8 : 4;
    if ((gsize)(end - *at) < n_bytes)
      return fault(walk, TIDE_REJECT_PARSE, end, field, "it ends within a number");
    *at += n_bytes;
    return field == NULL || kinds[field->kind].fixed_bytes != n_bytes ||
           keep_number(walk, message, field, place, load_fixed(start, n_bytes, field->kind));
  }
  case WIRE_DELIMITED:
    return take_delimited(walk, message, field, at, end, depth, place);
  case WIRE_BEGIN_GROUP:
    return take_inside(walk, message, field != NULL && field->kind == TIDE_PROTOBUF_GROUP ? field : NULL, at, end,
                       depth, tag >> 3, place);
  default:
    return fault(walk, TIDE_REJECT_PARSE, place, field, "an invalid tag");
  }
}

/* Reads the fields of a message up to @end, or of the group with number @group up to its end. @message: NULL: unknown
 * to the schema. Recursive for nested messages; the depth limits it. */
static gboolean
take_fields(Walk *walk, Message *message, const guint8 **at, const guint8 *end, guint32 depth, guint64 group)
{
  while (*at < end) {
    guint64 tag;
    const guint8 *place = *at;
    if (!take_varint(at, end, TAG_MAX_BYTES, &tag) || tag >> 3 == 0 || tag > G_MAXUINT32)
      return fault(walk, TIDE_REJECT_PARSE, place, NULL, "an invalid tag");
    if ((tag & 7) == WIRE_END_GROUP)
      return (group != 0 && tag >> 3 == group) ||
             fault(walk, TIDE_REJECT_PARSE, place, NULL, "the end of a group that has not begun");
    const TideProtobufField *field = message != NULL ? find_field(message->type, tag >> 3) : NULL;
    if (!take_value_of(walk, message, field, tag, at, end, depth, place))
      return FALSE;
  }
  return group == 0 || fault(walk, TIDE_REJECT_PARSE, end, NULL, "a group does not end");
}

/* Whether all required fields are present, also in nested messages. The depth limits the recursion. */
static gboolean
is_complete(const Message *message)
{
  for (guint32 i = 0; i < message->type->n_fields; i++) {
    const TideProtobufField *field = &message->type->fields[i];
    const Slot *slot = &message->slots[i];
    if (field->is_required && slot->once.place == NULL)
      return FALSE;
    if (field->message == NULL)
      continue;
    if (!field->is_repeated && slot->once.place != NULL && !is_complete(slot->once.message))
      return FALSE;
    for (const Element *element = field->is_repeated ? slot->list.first : NULL; element != NULL;
         element = element->next)
      if (!is_complete(element->value.message))
        return FALSE;
  }
  return TRUE;
}

/* ---- Confluent's frame ---- */

static gboolean
take_index(const guint8 **at, const guint8 *end, guint64 *ret_index)
{
  guint64 zigzag;
  if (!take_varint(at, end, VARINT_MAX_BYTES, &zigzag))
    return FALSE;
  *ret_index = zigzag >> 1; /* a negative number is odd and becomes an index far too large */
  return (zigzag & 1) == 0;
}

const TideProtobufType *
tide_protobuf_type_of(const TideProtobufSchema *schema, TideBytes message, gsize *ret_frame_bytes,
                      const char **ret_detail)
{
  const guint8 *at = message.data + TIDE_FRAME_BYTES, *end = message.data + message.len;
  const TideProtobufType *type = NULL;
  guint64 n, index = 0;
  guint32 unused; /* the schema's number selects a file, and there is only one */
  *ret_frame_bytes = 0;
  if (schema->framing == TIDE_FRAMING_NONE)
    return schema->message;
  if (!tide_frame_read(message, &unused, ret_detail))
    return NULL;
  *ret_frame_bytes = TIDE_FRAME_BYTES;
  *ret_detail = "its frame selects no message of the descriptor set's file";
  /* The frame has the index of the message in the file, and of each message around it, from the outside in. An empty
   * list means the first message. */
  if (!take_index(&at, end, &n))
    return NULL;
  for (guint64 i = 0; i < MAX(n, 1); i++) {
    guint32 n_types = type != NULL ? type->n_nested : schema->n_types;
    if ((n > 0 && !take_index(&at, end, &index)) || index >= n_types)
      return NULL;
    type = type != NULL ? type->nested[index] : schema->types[index];
  }
  if (type->is_map_entry)
    return NULL;
  *ret_frame_bytes = (gsize)(at - message.data);
  return type;
}

/* ---- scalars ---- */

/* Reports @value of @field; if absent, its default. */
static gboolean
add_scalar(Walk *walk, TideBytes name, const TideProtobufField *field, const Value *value)
{
  TideShaper *shaper = walk->shaper;
  gsize place = place_of(walk, value->place);
  guint64 number = value->place != NULL ? value->number : 0;
  switch (field->kind) {
  case TIDE_PROTOBUF_DOUBLE:
    return tide_shaper_add_float(shaper, place, name, place, number, TRUE);
  case TIDE_PROTOBUF_FLOAT:
    return tide_shaper_add_float(shaper, place, name, place, number, FALSE);
  case TIDE_PROTOBUF_BOOL:
    return tide_shaper_add_boolean(shaper, place, name, number != 0);
  case TIDE_PROTOBUF_ENUM: {
    gint32 chosen = value->place != NULL ? (gint32)number : field->default_number;
    const TideProtobufSymbol *symbol = find_symbol(field, chosen);
    return symbol != NULL ? tide_shaper_add(shaper, place, name, TIDE_VALUE_STRING, symbol->name)
                          : tide_shaper_add_integer(shaper, place, name, (guint64)(gint64)chosen, TRUE);
  }
  case TIDE_PROTOBUF_STRING:
  case TIDE_PROTOBUF_BYTES: {
    TideBytes text = value->place != NULL ? value->text : TIDE_BYTES_LITERAL("");
    if (field->kind == TIDE_PROTOBUF_BYTES)
      text = tide_hex_text(shaper->scratch, text);
    return tide_shaper_add(shaper, place, name, TIDE_VALUE_STRING, text);
  }
  default:
    return tide_shaper_add_integer(shaper, place, name, number, !kinds[field->kind].is_unsigned);
  }
}

static guint64
number_of_field(const Message *message, guint number)
{
  const Value *value = &message->slots[find_field(message->type, number) - message->type->fields].once;
  return value->place != NULL ? value->number : 0;
}

static gboolean
add_time(Walk *walk, TideBytes name, const Value *value)
{
  gint64 ns = (gint64)number_of_field(value->message, 2);
  gsize place = place_of(walk, value->place);
  if (ns < 0 || ns > 999999999)
    return tide_shaper_bad_value(walk->shaper, TIDE_REJECT_TYPE, place, name,
                                 "a Timestamp whose nanoseconds are not within a second");
  return tide_shaper_add_time(walk->shaper, place, name, (gint64)number_of_field(value->message, 1), (guint32)ns);
}

/* ---- maps ---- */

static TideBytes
key_text(Walk *walk, const TideProtobufField *field, const Value *value)
{
  guint64 number = value->place != NULL ? value->number : 0;
  if (field->kind == TIDE_PROTOBUF_STRING)
    return value->place != NULL ? value->text : TIDE_BYTES_LITERAL("");
  if (field->kind == TIDE_PROTOBUF_BOOL)
    return tide_boolean_text(TIDE_BOOLEAN_TEXT, number != 0);
  char *room = tide_scratch_take(walk->shaper->scratch, TIDE_VALUE_TEXT_BYTES);
  return kinds[field->kind].is_unsigned ? tide_integer_text(room, number, FALSE)
                                        : tide_signed_text(room, (gint64)number);
}

static int
by_key(gconstpointer a, gconstpointer b)
{
  const Entry *x = a, *y = b;
  int order = tide_bytes_compare(x->key, y->key);
  return order != 0 ? order : x->index > y->index ? -1 : x->index < y->index;
}

/* Sorts the entries by key; if a key occurs twice, only the last entry remains. */
static gsize
sort_entries(Walk *walk, const TideProtobufField *field, const Slot *list, Entry **ret_entries)
{
  const TideProtobufField *key = find_field(field->message, 1), *value = find_field(field->message, 2);
  Entry *entries = tide_scratch_take(&walk->values, list->list.n * sizeof *entries);
  gsize n = 0, n_kept = 0;
  for (const Element *element = list->list.first; element != NULL; element = element->next, n++) {
    const Message *entry = element->value.message;
    entries[n] = (Entry){.key = key_text(walk, key, &entry->slots[key - field->message->fields].once),
                         .value = &entry->slots[value - field->message->fields].once,
                         .index = n};
  }
  qsort(entries, n, sizeof *entries, by_key);
  for (gsize i = 0; i < n; i++)
    if (n_kept == 0 || !tide_bytes_equal(entries[n_kept - 1].key, entries[i].key))
      entries[n_kept++] = entries[i];
  *ret_entries = entries;
  return n_kept;
}

/* ---- members ---- */

typedef enum Kept { KEPT_MESSAGE, KEPT_LIST, KEPT_MAP } Kept;

static inline void
expect(Walk *walk, const TideProtobufField *field, const Value *value, const Slot *list)
{
  walk->field = field;
  walk->value = value;
  walk->list = list;
}

/* The next value as a container: how its members are read. */
static gboolean
fill_frame(Walk *walk)
{
  TideShaperFrame *frame = tide_shaper_top(walk->shaper);
  if (walk->list == NULL) {
    frame->place = KEPT_MESSAGE;
    frame->type = walk->value->message;
    frame->n_left = walk->value->message->type->n_fields;
  } else if (walk->field->is_map) {
    Entry *entries;
    frame->place = KEPT_MAP;
    frame->type = find_field(walk->field->message, 2);
    frame->n_left = sort_entries(walk, walk->field, walk->list, &entries);
    frame->next = entries;
  } else {
    frame->place = KEPT_LIST;
    frame->type = walk->field;
    frame->next = walk->list->list.first;
  }
  return TRUE;
}

static inline gboolean
is_empty_list(const Walk *walk)
{
  return walk->list != NULL && walk->list->list.n == 0;
}

static inline gboolean
take_value(gpointer reader, TideBytes name)
{
  Walk *walk = reader;
  const TideProtobufField *field = walk->field;
  if (walk->list == NULL && field->message == NULL)
    return add_scalar(walk, name, field, walk->value);
  if (walk->list == NULL && field->message->stand == TIDE_PROTOBUF_FOR_TIME)
    return add_time(walk, name, walk->value);
  if (walk->list == NULL && field->message->stand == TIDE_PROTOBUF_FOR_WRAPPED) {
    const TideProtobufField *wrapped = find_field(field->message, 1);
    return add_scalar(walk, name, wrapped, &walk->value->message->slots[wrapped - field->message->fields].once);
  }
  if (is_empty_list(walk))
    return TRUE;
  const guint8 *at = walk->list != NULL ? walk->list->list.first->value.place : walk->value->place;
  return tide_shaper_begin(walk->shaper, place_of(walk, at), name, walk->list == NULL || field->is_map) &&
         fill_frame(walk);
}

/* Reports the next field of the message, if there is one. An empty list is absent, but around readings it is a list
 * without items; as a member it adds nothing. In a list that is kept as text, it is not reported. */
static inline gboolean
next_field(Walk *walk, TideShaperFrame *frame, TideBytes *ret_name)
{
  const Message *message = frame->type;
  gboolean shows_empty = walk->shaper->raw.depth == 0;
  while (frame->n_left > 0) {
    guint32 index = message->type->n_fields - (guint32)frame->n_left--;
    const TideProtobufField *field = &message->type->fields[index];
    const Slot *slot = &message->slots[index];
    if (field->is_repeated ? slot->list.n == 0 && !shows_empty : slot->once.place == NULL && !field->is_always_there)
      continue;
    *ret_name = field->name;
    expect(walk, field, &slot->once, field->is_repeated ? slot : NULL);
    return TRUE;
  }
  return FALSE;
}

static G_ALWAYS_INLINE inline gboolean
next_member(gpointer reader, gboolean *ret_has, TideBytes *ret_name)
{
  Walk *walk = reader;
  TideShaperFrame *frame = tide_shaper_top(walk->shaper);
  if (frame->place == KEPT_LIST) {
    const Element *element = frame->next;
    *ret_has = element != NULL;
    if (element != NULL) {
      frame->next = element->next;
      expect(walk, frame->type, &element->value, NULL);
      *ret_name = tide_shaper_next_element(walk->shaper);
      return TRUE;
    }
  } else {
    *ret_has = frame->place == KEPT_MAP ? frame->n_left > 0 : next_field(walk, frame, ret_name);
    if (*ret_has && frame->place == KEPT_MAP) {
      const Entry *entry = frame->next;
      frame->n_left--;
      frame->next = entry + 1;
      expect(walk, frame->type, entry->value, NULL);
      *ret_name = entry->key;
    }
    if (*ret_has) {
      tide_shaper_name(walk->shaper, *ret_name);
      return TRUE;
    }
  }
  return tide_shaper_end(walk->shaper, 0);
}

static gboolean
take_members(gpointer reader, guint32 depth)
{
  return tide_shaper_take_members(((Walk *)reader)->shaper, reader, depth, next_member, take_value);
}

/* ---- values around readings ---- */

static gboolean
peek(gpointer reader, TideNextValue *ret_next, gsize *ret_place)
{
  const Walk *walk = reader;
  const TideProtobufField *field = walk->field;
  const guint8 *at = walk->list == NULL ? walk->value->place : NULL;
  if (walk->list != NULL && !is_empty_list(walk))
    at = walk->list->list.first->value.place;
  *ret_place = place_of(walk, at);
  if (walk->is_begun && walk->shaper->depth == 0)
    *ret_next = TIDE_NEXT_NONE;
  else if (walk->list != NULL)
    *ret_next = field->is_map ? TIDE_NEXT_OBJECT : TIDE_NEXT_LIST;
  else
    *ret_next = field == NULL || (field->message != NULL && field->message->stand == TIDE_PROTOBUF_FOR_FIELDS)
                    ? TIDE_NEXT_OBJECT
                    : TIDE_NEXT_SCALAR;
  return TRUE;
}

static gboolean
begin_around(gpointer reader)
{
  Walk *walk = reader;
  TideNextValue next;
  gsize place;
  peek(walk, &next, &place);
  walk->is_begun = TRUE;
  return tide_shaper_push(walk->shaper, place, TIDE_BYTES_EMPTY, next == TIDE_NEXT_OBJECT) && fill_frame(walk);
}

static gboolean
reject_instead_of(gpointer reader, TideNextValue wanted)
{
  Walk *walk = reader;
  TideNextValue next;
  gsize place;
  peek(walk, &next, &place);
  return tide_shaper_reject(walk->shaper, TIDE_REJECT_TYPE, place,
                            walk->field != NULL ? walk->field->name : TIDE_BYTES_EMPTY,
                            wanted == TIDE_NEXT_LIST ? "a list of messages was expected" : "a message was expected");
}

static gboolean
take_reading(gpointer reader)
{
  const Walk *walk = reader;
  TideNextValue next;
  gsize place;
  peek(reader, &next, &place);
  return next == TIDE_NEXT_OBJECT && walk->list == NULL ? tide_layout_take_reading(walk->shaper, place)
                                                        : reject_instead_of(reader, TIDE_NEXT_OBJECT);
}

/* All values have been read, so there are no bytes to skip. */
static gboolean
pass(gpointer reader)
{
  return TRUE;
}

static const TideReaderCalls calls = {
    .peek = peek,
    .begin = begin_around,
    .next = next_member,
    .take = take_value,
    .take_members = take_members,
    .take_reading = take_reading,
    .reject_instead_of = reject_instead_of,
    .pass = pass,
    .place_bytes = G_STRUCT_OFFSET(Walk, shaper),
    .is_one_value = TRUE,
};

/* ---- the message ---- */

static gboolean
run(Walk *walk)
{
  gsize frame_bytes;
  const char *detail;
  TideBytes all = tide_bytes(walk->begin, (gsize)(walk->end - walk->begin));
  const TideProtobufType *type = tide_protobuf_type_of(walk->shaper->options->protobuf, all, &frame_bytes, &detail);
  const guint8 *at = walk->fields = walk->begin + frame_bytes;
  if (type == NULL)
    return fault(walk, TIDE_REJECT_PARSE, at, NULL, detail);
  Value message = {.place = at, .message = message_new(walk, type, at, NULL)};
  if (message.message == NULL || !take_fields(walk, message.message, &at, walk->end, 1, 0))
    return FALSE;
  if (walk->shaper->options->protobuf->has_required && !is_complete(message.message))
    return fault(walk, TIDE_REJECT_MISSING_FIELD, walk->fields, NULL, "its type requires it");
  expect(walk, NULL, &message, NULL);
  return tide_layout_run(walk->shaper, &calls, walk);
}

static gpointer
open_walk(TideShaper *shaper)
{
  Walk *walk = g_new0(Walk, 1);
  walk->shaper = shaper;
  return walk;
}

static void
close_walk(gpointer kept)
{
  Walk *walk = kept;
  tide_scratch_clear_memory(&walk->values);
  g_free(walk);
}

static gboolean
read_message(TideShaper *shaper, gpointer kept, TideBytes message, TideReject *ret_reject)
{
  Walk *walk = kept;
  TideBytes copy = tide_scratch_copy(shaper->scratch, message);
  walk->begin = walk->fields = copy.data;
  walk->end = copy.data + copy.len;
  walk->value_bytes = 0;
  walk->is_begun = FALSE;
  tide_scratch_reset(&walk->values);
  tide_shaper_begin_message(shaper, ret_reject, NULL, 0);
  gboolean good = run(walk);
  if (walk->value_bytes > MAX_KEPT_BYTES)
    tide_scratch_clear_memory(&walk->values);
  return good;
}

const TideFormatReader tide_protobuf_reader = {.open = open_walk, .close = close_walk, .read = read_message};
