/* MessagePack: changes the objects that its library unpacks, and packs them again. */
#include "commands/simulate/value_change.h"
#include "model/value_text.h"

#include <msgpack.h>

#define MAX_DEPTH 128u

/* The replacement of a value lives as long as @zone. */
static const char *
keep(msgpack_zone *zone, const void *bytes, gsize len)
{
  char *kept = msgpack_zone_malloc(zone, MAX(len, 1));
  if (kept == NULL)
    g_error("out of memory for a zone of MessagePack");
  memcpy(kept, bytes, len);
  return kept;
}

/* A timestamp becomes nanoseconds in four bytes and seconds in eight, the longest of its three forms; Fluentd's
 * EventTime is seconds and nanoseconds in four each. */
static void
change_time(TideValueChange *change, msgpack_object *object, msgpack_zone *zone)
{
  msgpack_timestamp time;
  guint32 event[2];
  gboolean is_event = object->via.ext.type == 0 && object->via.ext.size == sizeof event;
  if (is_event) {
    memcpy(event, object->via.ext.ptr, sizeof event);
    time = (msgpack_timestamp){.tv_sec = GUINT32_FROM_BE(event[0]), .tv_nsec = GUINT32_FROM_BE(event[1])};
  } else if (!msgpack_object_to_timestamp(object, &time))
    return;
  if (time.tv_sec < 0 || time.tv_sec > G_MAXINT64 / 1000000000 - 1)
    return;
  gint64 ns = time.tv_sec * 1000000000 + time.tv_nsec;
  gint64 max_ns = is_event ? ((gint64)G_MAXUINT32 + 1) * 1000000000 - 1 : G_MAXINT64;
  if (!tide_value_change_integer(change, &ns, 9, 0, max_ns))
    return;
  guint8 bytes[12];
  guint32 rest = GUINT32_TO_BE((guint32)(ns % 1000000000)), event_seconds = GUINT32_TO_BE((guint32)(ns / 1000000000));
  guint64 seconds = GUINT64_TO_BE((guint64)(ns / 1000000000));
  memcpy(bytes, is_event ? &event_seconds : &rest, sizeof rest);
  memcpy(bytes + sizeof rest, is_event ? (gconstpointer)&rest : &seconds, is_event ? sizeof rest : sizeof seconds);
  object->via.ext.size = is_event ? sizeof event : sizeof bytes;
  object->via.ext.ptr = keep(zone, bytes, object->via.ext.size);
}

/* The member name of @key: a text, or an integer's digits, in @room. FALSE: it is no name. */
static gboolean
name_of(const msgpack_object *key, char room[TIDE_VALUE_TEXT_BYTES], TideBytes *ret_name)
{
  if (key->type == MSGPACK_OBJECT_STR)
    *ret_name = tide_bytes(key->via.str.ptr, key->via.str.size);
  else if (key->type == MSGPACK_OBJECT_POSITIVE_INTEGER)
    *ret_name = tide_integer_text(room, key->via.u64, FALSE);
  else if (key->type == MSGPACK_OBJECT_NEGATIVE_INTEGER)
    *ret_name = tide_signed_text(room, key->via.i64);
  else
    return FALSE;
  return TRUE;
}

/* Calls itself for nested objects. FALSE: it cannot be walked through. */
static gboolean
change_object(TideValueChange *change, msgpack_object *object, msgpack_zone *zone, guint depth)
{
  gboolean is_map = object->type == MSGPACK_OBJECT_MAP;
  if (depth > MAX_DEPTH)
    return FALSE;
  if (is_map || object->type == MSGPACK_OBJECT_ARRAY) {
    for (guint32 i = 0; i < (is_map ? object->via.map.size : object->via.array.size); i++) {
      msgpack_object *inner = is_map ? &object->via.map.ptr[i].val : &object->via.array.ptr[i];
      char room[TIDE_VALUE_TEXT_BYTES];
      TideBytes name;
      gsize outer = change->path.len;
      if (is_map && !name_of(&object->via.map.ptr[i].key, room, &name))
        return FALSE;
      if (is_map)
        outer = tide_value_change_enter(change, name);
      else if (depth > 0) /* the elements of a message that is a list have no names: they are readings */
        outer = tide_value_change_enter_element(change, i);
      if (!change_object(change, inner, zone, depth + 1))
        return FALSE;
      tide_value_change_leave(change, outer);
    }
  } else if (object->type == MSGPACK_OBJECT_POSITIVE_INTEGER || object->type == MSGPACK_OBJECT_NEGATIVE_INTEGER) {
    gint64 value = object->via.i64; /* also if it is positive */
    if ((object->type == MSGPACK_OBJECT_POSITIVE_INTEGER && object->via.u64 > G_MAXINT64) ||
        !tide_value_change_integer(change, &value, 0, G_MININT64, G_MAXINT64))
      return TRUE;
    object->type = value < 0 ? MSGPACK_OBJECT_NEGATIVE_INTEGER : MSGPACK_OBJECT_POSITIVE_INTEGER;
    object->via.i64 = value;
  } else if (object->type == MSGPACK_OBJECT_FLOAT32 || object->type == MSGPACK_OBJECT_FLOAT64) {
    (void)tide_value_change_double(change, &object->via.f64);
  } else if (object->type == MSGPACK_OBJECT_STR) {
    TideBytes text = tide_bytes(object->via.str.ptr, object->via.str.size);
    if (!tide_value_change_text(change, &text))
      return TRUE;
    object->via.str.ptr = keep(zone, text.data, text.len);
    object->via.str.size = (guint32)text.len;
  } else if (object->type == MSGPACK_OBJECT_EXT)
    change_time(change, object, zone);
  return TRUE;
}

static int
append(void *data, const char *bytes, size_t len)
{
  tide_buffer_append(data, bytes, len);
  return 0;
}

gboolean
tide_msgpack_change(TideValueChange *change, const TideDecodeOptions *options, TideBytes message, TideBuffer *out)
{
  size_t at = 0;
  gboolean good = message.len > 0;
  msgpack_packer packer;
  msgpack_packer_init(&packer, out, append);
  msgpack_unpacked unpacked;
  msgpack_unpacked_init(&unpacked);
  while (good && at < message.len) {
    good = msgpack_unpack_next(&unpacked, (const char *)message.data, message.len, &at) == MSGPACK_UNPACK_SUCCESS &&
           change_object(change, &unpacked.data, unpacked.zone, 0) && msgpack_pack_object(&packer, unpacked.data) == 0;
  }
  msgpack_unpacked_destroy(&unpacked);
  return good;
}
