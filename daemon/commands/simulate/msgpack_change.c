/* MessagePack: what its library unpacks, changed, and packed again. */
#include "commands/simulate/value_change.h"

#include <msgpack.h>

#define MAX_DEPTH 128u

/* Calls itself for what is nested. FALSE: it is nested too deeply. */
static gboolean change_object(TideValueChange *change, msgpack_object *object, msgpack_zone *zone, guint depth);

static gboolean
change_members(TideValueChange *change, msgpack_object_map *map, msgpack_zone *zone, guint depth)
{
  for (guint32 i = 0; i < map->size; i++) {
    const msgpack_object *key = &map->ptr[i].key;
    if (key->type != MSGPACK_OBJECT_STR)
      return FALSE;
    gsize outer = tide_value_change_enter(change, tide_bytes(key->via.str.ptr, key->via.str.size));
    if (!change_object(change, &map->ptr[i].val, zone, depth + 1))
      return FALSE;
    tide_value_change_leave(change, outer);
  }
  return TRUE;
}

/* The elements of a message that is a list have no names: they are readings. */
static gboolean
change_elements(TideValueChange *change, msgpack_object_array *array, msgpack_zone *zone, guint depth)
{
  for (guint32 i = 0; i < array->size; i++) {
    gsize outer = depth > 0 ? tide_value_change_enter_element(change, i) : 0;
    if (!change_object(change, &array->ptr[i], zone, depth + 1))
      return FALSE;
    tide_value_change_leave(change, outer);
  }
  return TRUE;
}

static void
change_integer(TideValueChange *change, msgpack_object *object)
{
  gint64 value = object->via.i64; /* of a positive one too */
  if (object->type == MSGPACK_OBJECT_POSITIVE_INTEGER && object->via.u64 > G_MAXINT64)
    return;
  (void)tide_value_change_integer(change, &value, 0, G_MININT64, G_MAXINT64);
  object->type = value < 0 ? MSGPACK_OBJECT_NEGATIVE_INTEGER : MSGPACK_OBJECT_POSITIVE_INTEGER;
  object->via.i64 = value;
}

/* What is put in its place lives as long as @zone. */
static void
change_text(TideValueChange *change, msgpack_object_str *str, msgpack_zone *zone)
{
  TideBytes text = tide_bytes(str->ptr, str->size);
  if (!tide_value_change_text(change, &text))
    return;
  char *kept = msgpack_zone_malloc(zone, MAX(text.len, 1));
  if (kept == NULL)
    g_error("out of memory for a zone of MessagePack");
  memcpy(kept, text.data, text.len);
  str->ptr = kept;
  str->size = (guint32)text.len;
}

/* A timestamp: nanoseconds in four bytes and seconds in eight, the longest of its three forms. */
static void
change_time(TideValueChange *change, msgpack_object *object, msgpack_zone *zone)
{
  msgpack_timestamp time;
  if (!msgpack_object_to_timestamp(object, &time) || time.tv_sec < 0 || time.tv_sec > G_MAXINT64 / 1000000000 - 1)
    return;
  gint64 ns = time.tv_sec * 1000000000 + time.tv_nsec;
  if (!tide_value_change_integer(change, &ns, 9, 0, G_MAXINT64))
    return;
  guint8 *kept = msgpack_zone_malloc(zone, 12);
  if (kept == NULL)
    g_error("out of memory for a zone of MessagePack");
  guint32 rest = GUINT32_TO_BE((guint32)(ns % 1000000000));
  guint64 seconds = GUINT64_TO_BE((guint64)(ns / 1000000000));
  memcpy(kept, &rest, sizeof rest);
  memcpy(kept + sizeof rest, &seconds, sizeof seconds);
  object->via.ext.ptr = (const char *)kept;
  object->via.ext.size = 12;
}

static gboolean
change_object(TideValueChange *change, msgpack_object *object, msgpack_zone *zone, guint depth)
{
  if (depth > MAX_DEPTH)
    return FALSE;
  if (object->type == MSGPACK_OBJECT_MAP)
    return change_members(change, &object->via.map, zone, depth);
  if (object->type == MSGPACK_OBJECT_ARRAY)
    return change_elements(change, &object->via.array, zone, depth);
  if (object->type == MSGPACK_OBJECT_POSITIVE_INTEGER || object->type == MSGPACK_OBJECT_NEGATIVE_INTEGER)
    change_integer(change, object);
  else if (object->type == MSGPACK_OBJECT_FLOAT32 || object->type == MSGPACK_OBJECT_FLOAT64)
    (void)tide_value_change_double(change, &object->via.f64);
  else if (object->type == MSGPACK_OBJECT_STR)
    change_text(change, &object->via.str, zone);
  else if (object->type == MSGPACK_OBJECT_EXT)
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
tide_msgpack_change(TideValueChange *change, TideBytes message, TideBuffer *out)
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
