#include "decode/msgpack_walk.h"

#include "decode/binary_walk.h"

#include <math.h>
#include <msgpack.h>

/* The decimal digits of a guint32, and a NUL. */
#define ELEMENT_NAME_BYTES 11

typedef struct MsgpackWalk {
  Walk walk;
  msgpack_zone zone;     /* empty for good: of values that hold no others msgpack-c keeps nothing */
  msgpack_object object; /* the value that was taken last, if it holds no others */
} MsgpackWalk;

/* ---- values ---- */

static inline guint8
next_byte(const Walk *walk)
{
  return walk->at < walk->message.len ? walk->message.data[walk->at] : 0;
}

typedef enum Container { CONTAINER_NONE, CONTAINER_ARRAY, CONTAINER_MAP } Container;

/* What the next value is, if it holds others. */
static inline Container
next_container(const Walk *walk)
{
  guint8 byte = next_byte(walk);
  if ((byte & 0xF0) == 0x80 || byte == 0xDE || byte == 0xDF)
    return CONTAINER_MAP;
  return (byte & 0xF0) == 0x90 || byte == 0xDC || byte == 0xDD ? CONTAINER_ARRAY : CONTAINER_NONE;
}

/* The head of an array or map: @ret_size elements, or pairs, follow. */
static gboolean
enter(Walk *walk, guint32 *ret_size)
{
  guint8 byte = next_byte(walk);
  gsize n_bytes = byte < 0xC0 ? 0 : (byte & 1) == 0 ? 2 : 4;
  if (walk->depth >= walk->options->max_depth)
    return fault(walk, TIDE_REJECT_DEPTH, walk->at, TIDE_BYTES_EMPTY, NULL);
  if (walk->message.len - walk->at < 1 + n_bytes)
    return fault_cut(walk, TIDE_BYTES_EMPTY);
  guint32 size = n_bytes == 0 ? byte & 0x0F : 0;
  for (gsize i = 1; i <= n_bytes; i++)
    size = size << 8 | walk->message.data[walk->at + i];
  walk->at += 1 + n_bytes;
  walk->depth++;
  *ret_size = size;
  return TRUE;
}

#define SHORT_TEXT 0xA0 /* and its length in the five bits behind */
#define DOUBLE 0xCB

/* What most of a reading is made of, short texts and doubles, as msgpack-c would unpack it: a call for each of them
 * takes as long as all else that is done with it. FALSE: it is something else, or cut. */
static inline gboolean
take_common(Walk *walk, msgpack_object *object)
{
  guint8 byte = next_byte(walk);
  gsize left = walk->message.len - walk->at; /* this byte too */
  const guint8 *at = walk->message.data + walk->at;
  if ((byte & 0xE0) == SHORT_TEXT && (byte & 0x1Fu) < left) {
    object->type = MSGPACK_OBJECT_STR;
    object->via.str = (msgpack_object_str){.size = byte & 0x1F, .ptr = (const char *)at + 1};
    walk->at += 1u + object->via.str.size;
    return TRUE;
  }
  if (byte != DOUBLE || left <= sizeof(double))
    return FALSE;
  guint64 bits = GUINT64_FROM_BE(tide_load_u64(at + 1));
  object->type = MSGPACK_OBJECT_FLOAT64;
  memcpy(&object->via.f64, &bits, sizeof bits);
  walk->at += 1 + sizeof(double);
  return TRUE;
}

/* The next value, which holds no others. */
static inline gboolean
take_object(Walk *walk, const msgpack_object **ret_object)
{
  size_t at = walk->at;
  MsgpackWalk *msgpack = (MsgpackWalk *)walk;
  *ret_object = &msgpack->object;
  if (G_LIKELY(take_common(walk, &msgpack->object)))
    return TRUE;
  msgpack_unpack_return outcome =
      msgpack_unpack((const char *)walk->message.data, walk->message.len, &at, &msgpack->zone, &msgpack->object);
  if (G_UNLIKELY(outcome == MSGPACK_UNPACK_CONTINUE || walk->at == walk->message.len))
    return fault_cut(walk, TIDE_BYTES_EMPTY);
  if (G_UNLIKELY(outcome != MSGPACK_UNPACK_SUCCESS && outcome != MSGPACK_UNPACK_EXTRA_BYTES))
    return fault(walk, TIDE_REJECT_PARSE, walk->at, TIDE_BYTES_EMPTY, "a byte that begins no value");
  walk->at = at;
  return TRUE;
}

static TideBytes
float_text(Walk *walk, const msgpack_object *object)
{
  return object->type == MSGPACK_OBJECT_FLOAT32 ? tide_float_text(walk->text, (float)object->via.f64)
                                                : tide_double_text(walk->text, object->via.f64);
}

/* A timestamp as seconds with a fraction. FALSE: it is none. */
static gboolean
time_text(Walk *walk, const msgpack_object *object, TideBytes *ret_text)
{
  msgpack_timestamp time;
  if (!msgpack_object_to_timestamp(object, &time) || time.tv_nsec > 999999999)
    return FALSE;
  *ret_text = tide_seconds_text(walk->text, time.tv_sec, time.tv_nsec);
  return TRUE;
}

/* Kind and text of @object, which begins at @place; that of a number is gone with the next value. FALSE: it has none,
 * and the fault is told; what follows depends on whether it was the reading's alone. */
static gboolean
read_object(Walk *walk, const msgpack_object *object, gsize place, TideBytes name, TideValueKind *ret_kind,
            TideBytes *ret_text)
{
  static const TideBytes words[] = {TIDE_BYTES_LITERAL("false"), TIDE_BYTES_LITERAL("true")};
  static const TideBytes numbers[] = {TIDE_BYTES_LITERAL("0"), TIDE_BYTES_LITERAL("1")};
  *ret_kind = TIDE_VALUE_NUMBER;
  *ret_text = TIDE_BYTES_EMPTY;
  switch (object->type) {
  case MSGPACK_OBJECT_NIL:
    *ret_kind = TIDE_VALUE_NULL;
    return TRUE;
  case MSGPACK_OBJECT_BOOLEAN:
    *ret_kind = TIDE_VALUE_BOOL;
    *ret_text = (walk->options->booleans == TIDE_BOOLEAN_NUMBER ? numbers : words)[object->via.boolean];
    return TRUE;
  case MSGPACK_OBJECT_POSITIVE_INTEGER:
    *ret_text = tide_integer_text(walk->text, object->via.u64, FALSE);
    return TRUE;
  case MSGPACK_OBJECT_NEGATIVE_INTEGER:
    *ret_text = tide_signed_text(walk->text, object->via.i64);
    return TRUE;
  case MSGPACK_OBJECT_FLOAT32:
  case MSGPACK_OBJECT_FLOAT64:
    if (!isfinite(object->via.f64))
      return fault(walk, TIDE_REJECT_NUMBER, place, name, "not a finite number");
    *ret_text = float_text(walk, object);
    return TRUE;
  case MSGPACK_OBJECT_BIN:
    *ret_kind = TIDE_VALUE_STRING;
    *ret_text = tide_hex_text(walk->scratch, tide_bytes(object->via.bin.ptr, object->via.bin.size));
    return TRUE;
  case MSGPACK_OBJECT_STR:
    *ret_kind = TIDE_VALUE_STRING;
    *ret_text = tide_bytes(object->via.str.ptr, object->via.str.size);
    return check_utf8(walk, name, *ret_text);
  case MSGPACK_OBJECT_EXT:
    return time_text(walk, object, ret_text) ||
           fault(walk, TIDE_REJECT_TYPE, place, name, "an extension that is no timestamp");
  case MSGPACK_OBJECT_ARRAY:
  case MSGPACK_OBJECT_MAP:
    break;
  }
  return fault(walk, TIDE_REJECT_PARSE, place, name, "not a value");
}

/* The name of a member. */
static inline gboolean
take_name(Walk *walk, TideBytes *ret_name)
{
  gsize place = walk->at;
  const msgpack_object *object;
  TideValueKind kind;
  if (next_container(walk) != CONTAINER_NONE)
    return fault(walk, TIDE_REJECT_PARSE, place, TIDE_BYTES_EMPTY, "the name of a member is no text");
  if (!take_object(walk, &object))
    return FALSE;
  if (object->type != MSGPACK_OBJECT_STR)
    return fault(walk, TIDE_REJECT_PARSE, place, TIDE_BYTES_EMPTY, "the name of a member is no text");
  *ret_name = tide_bytes(object->via.str.ptr, object->via.str.size);
  return read_object(walk, object, place, TIDE_BYTES_EMPTY, &kind, ret_name) || spoil_at_fault(walk);
}

/* ---- an array as its JSON text ---- */

static gboolean append_value(Walk *walk, TideBytes field);

/* Elements or members, whose brackets are there. */
static gboolean
append_inner(Walk *walk, TideBytes field, gboolean is_map)
{
  guint32 n;
  if (!enter(walk, &n))
    return FALSE;
  for (guint32 i = 0; i < n; i++) {
    if (i > 0)
      tide_buffer_append_byte(walk->json, ',');
    if (is_map) {
      TideBytes name;
      if (!take_name(walk, &name))
        return FALSE;
      tide_json_string_append(walk->json, name);
      tide_buffer_append_byte(walk->json, ':');
    }
    if (!append_value(walk, field))
      return FALSE;
  }
  walk->depth--;
  return TRUE;
}

/* Calls itself for what is nested; the depth bounds it. */
static gboolean
append_value(Walk *walk, TideBytes field)
{
  gsize place = walk->at;
  Container container = next_container(walk);
  if (container != CONTAINER_NONE) {
    tide_buffer_append_byte(walk->json, container == CONTAINER_MAP ? '{' : '[');
    if (!append_inner(walk, field, container == CONTAINER_MAP))
      return FALSE;
    tide_buffer_append_byte(walk->json, container == CONTAINER_MAP ? '}' : ']');
    return TRUE;
  }
  const msgpack_object *object;
  TideValueKind kind;
  TideBytes text;
  if (!take_object(walk, &object))
    return FALSE;
  if (!read_object(walk, object, place, field, &kind, &text))
    return spoil_at_fault(walk);
  append_scalar(walk, kind, text, kind == TIDE_VALUE_BOOL && object->via.boolean);
  return TRUE;
}

/* ---- members ---- */

static gboolean
take_raw(Walk *walk, TideBytes name)
{
  gsize place = walk->at;
  tide_buffer_reset(walk->json);
  if (!append_value(walk, name))
    return FALSE;
  return walk->is_spoiled ||
         add(walk, place, name, TIDE_VALUE_JSON, tide_scratch_copy(walk->scratch, tide_buffer_bytes(walk->json)));
}

static gboolean take_value(Walk *walk, TideBytes name);

static TideBytes
name_of_element(Walk *walk, guint32 index)
{
  char text[ELEMENT_NAME_BYTES];
  return tide_scratch_copy(walk->scratch, tide_bytes(text, (gsize)g_snprintf(text, sizeof text, "%u", index)));
}

/* What is inside of a map, or of an array whose elements are called by their places; of a reading that is left out they
 * need no names. */
static gboolean
take_members(Walk *walk, gboolean is_map)
{
  guint32 n;
  if (!enter(walk, &n))
    return FALSE;
  for (guint32 i = 0; i < n; i++) {
    TideBytes name = TIDE_BYTES_EMPTY;
    if (is_map && !take_name(walk, &name))
      return FALSE;
    if (!is_map && !walk->is_spoiled)
      name = name_of_element(walk, i);
    if (!take_value(walk, name))
      return FALSE;
  }
  walk->depth--;
  return TRUE;
}

static gboolean
take_entered(Walk *walk, TideBytes name, gboolean is_map)
{
  gsize place = walk->at, outer = 0;
  gboolean is_entered = FALSE;
  if (!walk->is_spoiled) {
    is_entered = tide_reading_builder_enter(walk->builder, name, &outer, walk->reject);
    if (!is_entered && !spoil_reading(walk, place))
      return FALSE;
  }
  if (!take_members(walk, is_map))
    return FALSE;
  if (is_entered)
    tide_reading_builder_leave(walk->builder, outer);
  return TRUE;
}

static gboolean
take_array(Walk *walk, TideBytes name)
{
  if (walk->is_spoiled)
    return take_members(walk, FALSE);
  switch (walk->options->arrays) {
  case TIDE_ARRAY_JSON:
    return take_raw(walk, name);
  case TIDE_ARRAY_INDEX:
    return take_entered(walk, name, FALSE);
  case TIDE_ARRAY_REJECT:
    break;
  }
  return refuse_array(walk, walk->at, name) && take_members(walk, FALSE);
}

/* Calls itself, by way of the members of what it holds; the depth bounds it. */
static gboolean
take_value(Walk *walk, TideBytes name)
{
  gsize place = walk->at;
  Container container = next_container(walk);
  if (container == CONTAINER_MAP)
    return take_entered(walk, name, TRUE);
  if (container == CONTAINER_ARRAY)
    return take_array(walk, name);
  const msgpack_object *object;
  TideValueKind kind;
  TideBytes text;
  if (!take_object(walk, &object))
    return FALSE;
  if (!read_object(walk, object, place, name, &kind, &text))
    return spoil_at_fault(walk);
  if (kind == TIDE_VALUE_NUMBER && !walk->is_spoiled)
    text = tide_scratch_copy(walk->scratch, text);
  return add(walk, place, name, kind, text);
}

/* ---- readings ---- */

static gboolean
take_reading(Walk *walk)
{
  gsize place = walk->at;
  if (walk->at == walk->message.len)
    return fault_cut(walk, TIDE_BYTES_EMPTY);
  if (next_container(walk) != CONTAINER_MAP)
    return fault(walk, TIDE_REJECT_PARSE, place, TIDE_BYTES_EMPTY, "a map was expected");
  return begin_reading(walk, place) && take_members(walk, TRUE) && end_reading(walk, place);
}

static gboolean
take_message(Walk *walk)
{
  guint32 n;
  if (next_container(walk) != CONTAINER_ARRAY) {
    while (walk->at < walk->message.len)
      if (!take_reading(walk))
        return FALSE;
    return TRUE;
  }
  if (!enter(walk, &n))
    return FALSE;
  for (; n > 0; n--)
    if (!take_reading(walk))
      return FALSE;
  return walk->at == walk->message.len ||
         fault(walk, TIDE_REJECT_PARSE, walk->at, TIDE_BYTES_EMPTY, "bytes behind the array");
}

gboolean
tide_msgpack_walk_run(const TideDecodeOptions *options, TideBytes message, TideScratch *scratch,
                      TideReadingBuilder *builder, TideReject *ret_reject)
{
  MsgpackWalk msgpack = {.walk = walk_of(options, message, scratch, builder, ret_reject)};
  return take_message(&msgpack.walk);
}
