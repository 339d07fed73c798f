/* Reads values packed by model/table/cell_value.h or by other programs: the members of a JSON object or a MessagePack
 * map in one cell. The decoder of messages reads JSON: strictly, and keeping the text of numbers. */
#include "commands/read/cell_reader.h"

#include "decode/decoder.h"
#include "decode/msgpack_value.h"
#include "util/error.h"
#include "util/json_writer.h"
#include "util/number_text.h"

#include <math.h>

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
                               .objects = TIDE_OBJECT_RAW,
                               .max_message_bytes = (guint32)MIN(value.len, G_MAXUINT32),
                               .max_depth = MAX_DEPTH,
                               .max_fields = MAX_MEMBERS,
                               .max_readings = 1};
  TideMessage message = {.timestamp_ms = -1, .value = value, .has_value = TRUE};
  gsize at = 0;
  while (at < value.len && g_ascii_isspace(value.data[at]))
    at++;
  if (at == value.len || value.data[at] != '{') { /* the decoder also accepts arrays of readings */
    return tide_fail(error, TIDE_ERROR_DATA, "the value is not a JSON object: it does not start with '{'");
  }
  g_autoptr(TideFieldNames) names = tide_field_names_new();
  g_autoptr(TideDecoder) decoder = tide_decoder_new(&options, names, 0);
  TideReading *readings;
  guint32 n_readings;
  TideReject reject;
  if (!tide_decoder_decode(decoder, &message, &readings, &n_readings, &reject)) {
    g_autofree char *why = tide_reject_describe(&reject);
    return tide_fail(error, TIDE_ERROR_DATA, "the value is not a JSON object: %s", why);
  }
  for (guint32 i = 0; i < readings[0].n_fields; i++) {
    const TideField *field = &readings[0].fields[i];
    if (!func(field->name, field->kind, field->text, data))
      break;
  }
  return TRUE;
}

/* ---- MessagePack: @rest holds a checked value, so its lengths can be trusted ---- */

/* Reads the next value; of a container, only its header. */
static TideMsgpackValue
take(TideBytes *rest)
{
  TideMsgpackValue value = {0};
  *rest = tide_bytes_from(*rest, tide_msgpack_value_read(*rest, &value));
  return value;
}

static gboolean
holds_others(const TideMsgpackValue *value)
{
  return value->kind == TIDE_MSGPACK_ARRAY || value->kind == TIDE_MSGPACK_MAP;
}

/* The text of a scalar; points to the value's bytes, or to @number or a literal. */
static TideBytes
text_of(const TideMsgpackValue *value, char number[TIDE_NUMBER_TEXT_BYTES], TideValueKind *ret_kind)
{
  gboolean is_narrow = value->kind == TIDE_MSGPACK_FLOAT;
  guint32 narrow_bits = (guint32)value->number;
  float narrow;
  double real;
  memcpy(&narrow, &narrow_bits, sizeof narrow);
  memcpy(&real, &value->number, sizeof real);
  real = is_narrow ? (double)narrow : real;
  *ret_kind = TIDE_VALUE_NUMBER;
  switch (value->kind) {
  case TIDE_MSGPACK_BOOLEAN:
    *ret_kind = TIDE_VALUE_BOOL;
    return tide_bytes_of_string(value->number != 0 ? "true" : "false");
  case TIDE_MSGPACK_UNSIGNED:
    g_snprintf(number, TIDE_NUMBER_TEXT_BYTES, "%" G_GUINT64_FORMAT, value->number);
    return tide_bytes_of_string(number);
  case TIDE_MSGPACK_SIGNED:
    g_snprintf(number, TIDE_NUMBER_TEXT_BYTES, "%" G_GINT64_FORMAT, (gint64)value->number);
    return tide_bytes_of_string(number);
  case TIDE_MSGPACK_FLOAT:
  case TIDE_MSGPACK_DOUBLE:
    if (isfinite(real))
      return tide_bytes_of_string(is_narrow ? tide_float_print(narrow, number) : tide_double_print(real, number));
    *ret_kind = TIDE_VALUE_STRING;
    return tide_bytes_of_string(isnan(real) ? "NaN" : real > 0 ? "Infinity" : "-Infinity");
  case TIDE_MSGPACK_TEXT:
  case TIDE_MSGPACK_BINARY:
  case TIDE_MSGPACK_EXTENSION:
    *ret_kind = TIDE_VALUE_STRING;
    return value->bytes;
  default:
    *ret_kind = TIDE_VALUE_NULL;
    return TIDE_BYTES_EMPTY;
  }
}

/* Recursive for nested values, to the checked depth. FALSE: a nested name is a container, which JSON does not allow. */
static gboolean
append_json(const TideMsgpackValue *value, TideBytes *rest, TideBuffer *json)
{
  char number[TIDE_NUMBER_TEXT_BYTES];
  TideValueKind kind;
  gboolean is_map = value->kind == TIDE_MSGPACK_MAP;
  if (!holds_others(value)) {
    TideBytes text = text_of(value, number, &kind);
    if (kind == TIDE_VALUE_STRING)
      tide_json_string_append(json, text);
    else
      tide_buffer_append_bytes(json, kind == TIDE_VALUE_NULL ? TIDE_BYTES_LITERAL("null") : text);
    return TRUE;
  }
  tide_buffer_append_byte(json, is_map ? '{' : '[');
  for (guint32 i = 0; i < value->n_inner; i++) {
    TideMsgpackValue inner = take(rest);
    if (i > 0)
      tide_buffer_append_byte(json, ',');
    if (is_map) {
      if (holds_others(&inner))
        return FALSE;
      tide_json_string_append(json, text_of(&inner, number, &kind));
      tide_buffer_append_byte(json, ':');
      inner = take(rest);
    }
    if (!append_json(&inner, rest, json))
      return FALSE;
  }
  tide_buffer_append_byte(json, is_map ? '}' : ']');
  return TRUE;
}

/* Names of members are texts, or binary if they are not UTF-8. @func: NULL: only check the members. */
static gboolean
give_members(TideBytes rest, TidePackedFunc func, gpointer data, GError **error)
{
  g_auto(TideBuffer) json = {0};
  guint32 n_members = take(&rest).n_inner;
  for (guint32 i = 0; i < n_members; i++) {
    char number[TIDE_NUMBER_TEXT_BYTES];
    TideValueKind kind = TIDE_VALUE_JSON;
    TideMsgpackValue name = take(&rest), value = take(&rest);
    gboolean is_nested = holds_others(&value);
    const char *fault = NULL;
    tide_buffer_reset(&json);
    if (name.kind != TIDE_MSGPACK_TEXT && name.kind != TIDE_MSGPACK_BINARY)
      fault = "is not a text";
    else if (is_nested && !append_json(&value, &rest, &json))
      fault = "precedes a map with arrays or maps as names";
    if (fault != NULL)
      return tide_fail(error, TIDE_ERROR_DATA,
                       "the value is not a MessagePack map of fields: the name of member %u (from 0) %s", i, fault);
    TideBytes text = is_nested ? tide_buffer_bytes(&json) : text_of(&value, number, &kind);
    if (func != NULL && !func(name.bytes, kind, text, data))
      break;
  }
  return TRUE;
}

static gboolean
read_msgpack(TideBytes value, TidePackedFunc func, gpointer data, GError **error)
{
  TideMsgpackLimits limits = {.max_depth = MAX_DEPTH, .max_members = MAX_MEMBERS};
  if (tide_msgpack_check_map(value, limits, error))
    return give_members(value, NULL, NULL, error) && give_members(value, func, data, error);
  g_prefix_error(error, "the value is not a MessagePack map: ");
  return FALSE;
}

gboolean
tide_packed_read(TidePacking packing, TideBytes value, TidePackedFunc func, gpointer data, GError **error)
{
  return packing == TIDE_PACK_MSGPACK ? read_msgpack(value, func, data, error) : read_json(value, func, data, error);
}
