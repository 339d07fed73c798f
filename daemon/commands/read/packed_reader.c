#include "commands/read/packed_reader.h"

#include "decode/decoder.h"
#include "decode/msgpack_value.h"
#include "util/error.h"
#include "util/json_writer.h"
#include "util/number_text.h"

#include <math.h>
#include <msgpack.h>

#define MAX_DEPTH 32u
#define MAX_MEMBERS 65536u

/* ---- JSON ---- */

static gboolean
read_json(TideBytes value, TidePackedFunc func, gpointer data, GError **error)
{
  static char no_separator[] = "";
  TideDecodeOptions options = {.format = TIDE_FORMAT_JSON,
                               .separator = no_separator,
                               .booleans = TIDE_BOOLEAN_TEXT,
                               .arrays = TIDE_ARRAY_JSON,
                               .raw_objects = TRUE,
                               .max_message_bytes = (guint32)MIN(value.len, G_MAXUINT32),
                               .max_depth = MAX_DEPTH,
                               .max_fields = MAX_MEMBERS,
                               .max_readings = 1};
  TideMessage message = {.timestamp_ms = -1, .value = value, .has_value = TRUE};
  gsize at = 0;
  while (at < value.len && g_ascii_isspace(value.data[at]))
    at++;
  if (at == value.len || value.data[at] != '{') { /* the decoder takes arrays of readings, too */
    return tide_fail(error, TIDE_ERROR_DATA, "the value is no JSON object: it does not begin as one");
  }
  g_autoptr(TideFieldNames) names = tide_field_names_new();
  g_autoptr(TideDecoder) decoder = tide_decoder_new(&options, names, 0);
  TideReading *readings;
  guint32 n_readings;
  TideReject reject;
  if (!tide_decoder_decode(decoder, &message, &readings, &n_readings, &reject)) {
    g_autofree char *why = tide_reject_describe(&reject);
    return tide_fail(error, TIDE_ERROR_DATA, "the value is no JSON object: %s", why);
  }
  for (guint32 i = 0; i < readings[0].n_fields; i++) {
    const TideField *field = &readings[0].fields[i];
    if (!func(field->name, field->kind, field->text, data))
      break;
  }
  return TRUE;
}

/* ---- MessagePack ---- */

/* The text of an object that holds no others; points to the value's bytes, or to @number or a literal. */
static TideBytes
text_of(const msgpack_object *object, char number[TIDE_NUMBER_TEXT_BYTES], TideValueKind *ret_kind)
{
  gboolean is_real = object->type == MSGPACK_OBJECT_FLOAT32 || object->type == MSGPACK_OBJECT_FLOAT64;
  double value = is_real ? object->via.f64 : 0;
  *ret_kind = TIDE_VALUE_NUMBER;
  switch (object->type) {
  case MSGPACK_OBJECT_BOOLEAN:
    *ret_kind = TIDE_VALUE_BOOL;
    return tide_bytes_of_string(object->via.boolean ? "true" : "false");
  case MSGPACK_OBJECT_POSITIVE_INTEGER:
    g_snprintf(number, TIDE_NUMBER_TEXT_BYTES, "%" G_GUINT64_FORMAT, (guint64)object->via.u64);
    return tide_bytes_of_string(number);
  case MSGPACK_OBJECT_NEGATIVE_INTEGER:
    g_snprintf(number, TIDE_NUMBER_TEXT_BYTES, "%" G_GINT64_FORMAT, (gint64)object->via.i64);
    return tide_bytes_of_string(number);
  case MSGPACK_OBJECT_FLOAT32:
  case MSGPACK_OBJECT_FLOAT64:
    if (!isfinite(value)) {
      *ret_kind = TIDE_VALUE_STRING;
      return tide_bytes_of_string(isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity");
    }
    return tide_bytes_of_string(object->type == MSGPACK_OBJECT_FLOAT32 ? tide_float_print((float)value, number)
                                                                       : tide_double_print(value, number));
  case MSGPACK_OBJECT_STR:
    *ret_kind = TIDE_VALUE_STRING;
    return tide_bytes(object->via.str.ptr, object->via.str.size);
  case MSGPACK_OBJECT_BIN:
    *ret_kind = TIDE_VALUE_STRING;
    return tide_bytes(object->via.bin.ptr, object->via.bin.size);
  case MSGPACK_OBJECT_EXT:
    *ret_kind = TIDE_VALUE_STRING;
    return tide_bytes(object->via.ext.ptr, object->via.ext.size);
  case MSGPACK_OBJECT_NIL:
  case MSGPACK_OBJECT_ARRAY:
  case MSGPACK_OBJECT_MAP:
    break;
  }
  *ret_kind = TIDE_VALUE_NULL;
  return TIDE_BYTES_EMPTY;
}

static gboolean
holds_others(const msgpack_object *object)
{
  return object->type == MSGPACK_OBJECT_ARRAY || object->type == MSGPACK_OBJECT_MAP;
}

/* Calls itself for what is nested, to the depth that was checked. */
static void
append_json(const msgpack_object *object, TideBuffer *json)
{
  char number[TIDE_NUMBER_TEXT_BYTES];
  TideValueKind kind;
  gboolean is_map = object->type == MSGPACK_OBJECT_MAP;
  if (holds_others(object)) {
    guint32 n = is_map ? object->via.map.size : object->via.array.size;
    tide_buffer_append_byte(json, is_map ? '{' : '[');
    for (guint32 i = 0; i < n; i++) {
      if (i > 0)
        tide_buffer_append_byte(json, ',');
      if (is_map) {
        tide_json_string_append(json, text_of(&object->via.map.ptr[i].key, number, &kind));
        tide_buffer_append_byte(json, ':');
      }
      append_json(is_map ? &object->via.map.ptr[i].val : &object->via.array.ptr[i], json);
    }
    tide_buffer_append_byte(json, is_map ? '}' : ']');
    return;
  }
  TideBytes text = text_of(object, number, &kind);
  if (kind == TIDE_VALUE_STRING)
    tide_json_string_append(json, text);
  else if (kind == TIDE_VALUE_NULL)
    tide_buffer_append(json, "null", 4);
  else
    tide_buffer_append_bytes(json, text);
}

/* Whether the names of all maps within can be names in JSON. */
static gboolean
has_plain_names(const msgpack_object *object)
{
  if (object->type == MSGPACK_OBJECT_ARRAY)
    for (guint32 i = 0; i < object->via.array.size; i++)
      if (!has_plain_names(&object->via.array.ptr[i]))
        return FALSE;
  if (object->type == MSGPACK_OBJECT_MAP)
    for (guint32 i = 0; i < object->via.map.size; i++)
      if (holds_others(&object->via.map.ptr[i].key) || !has_plain_names(&object->via.map.ptr[i].val))
        return FALSE;
  return TRUE;
}

/* Names of members are texts; or binary, where they are not UTF-8. */
static gboolean
check_names(const msgpack_object_map *map, GError **error)
{
  for (guint32 i = 0; i < map->size; i++) {
    const msgpack_object *name = &map->ptr[i].key;
    const char *fault = NULL;
    if (name->type != MSGPACK_OBJECT_STR && name->type != MSGPACK_OBJECT_BIN)
      fault = "is no text";
    else if (!has_plain_names(&map->ptr[i].val))
      fault = "stands before a map with arrays or maps for names";
    if (fault == NULL)
      continue;
    return tide_fail(error, TIDE_ERROR_DATA,
                     "the value is no MessagePack map of fields: the name of member %u (from 0) %s", i, fault);
  }
  return TRUE;
}

static gboolean
give_members(const msgpack_object_map *map, TidePackedFunc func, gpointer data, GError **error)
{
  g_auto(TideBuffer) json = {0};
  gboolean goes_on = TRUE;
  if (!check_names(map, error))
    return FALSE;
  for (guint32 i = 0; goes_on && i < map->size; i++) {
    const msgpack_object *value = &map->ptr[i].val;
    char number[TIDE_NUMBER_TEXT_BYTES];
    TideValueKind kind;
    TideBytes name = text_of(&map->ptr[i].key, NULL, &kind); /* a text: it was checked */
    tide_buffer_reset(&json);
    if (holds_others(value))
      append_json(value, &json);
    TideBytes text = holds_others(value) ? tide_buffer_bytes(&json) : text_of(value, number, &kind);
    goes_on = func(name, holds_others(value) ? TIDE_VALUE_JSON : kind, text, data);
  }
  return TRUE;
}

static gboolean
read_msgpack(TideBytes value, TidePackedFunc func, gpointer data, GError **error)
{
  TideMsgpackLimits limits = {.max_depth = MAX_DEPTH, .max_members = MAX_MEMBERS};
  if (!tide_msgpack_check_map(value, limits, error)) {
    g_prefix_error(error, "the value is no MessagePack map: ");
    return FALSE;
  }
  msgpack_unpacked unpacked;
  gsize end = 0;
  gboolean is_read = FALSE;
  msgpack_unpacked_init(&unpacked);
  if (msgpack_unpack_next(&unpacked, (const char *)value.data, value.len, &end) == MSGPACK_UNPACK_SUCCESS)
    is_read = give_members(&unpacked.data.via.map, func, data, error);
  else
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_DATA,
                "the value is no MessagePack map: msgpack-c refuses it at byte %" G_GSIZE_FORMAT, end);
  msgpack_unpacked_destroy(&unpacked);
  return is_read;
}

gboolean
tide_packed_read(TidePacking packing, TideBytes value, TidePackedFunc func, gpointer data, GError **error)
{
  return packing == TIDE_PACK_MSGPACK ? read_msgpack(value, func, data, error) : read_json(value, func, data, error);
}
