/* Random messages into the decoder. What it accepts must hold together; what it refuses must have a reason and leave
 * the decoder as good as new. The first byte chooses options, so that limits are met too. A fuzzer for each format. */
#pragma once

#include "decode/decoder.h"

#include "decode/json_text.h"

#include <stdint.h>

#define REQUIRE(condition)                                                                                             \
  do {                                                                                                                 \
    if (!(condition))                                                                                                  \
      g_error("%s", #condition);                                                                                       \
  } while (0)

/* Of Avro. */
static const TideAvroSchema *fuzz_schema;
/* Of protobuf. */
static TideProtobufSchema *fuzz_descriptors;

/* What is made of the fields of readings. */
static TideFieldOptions fuzz_fields;

/* Where readings are. */
static inline TideLayoutOptions
layout_of(guint8 byte)
{
  static char root[] = "a/payload", prefix[] = "b/", a[] = "a", left_out[] = TIDE_NO_NAME, b[] = "b";
  static char ways[][24] = {"",        "metrics", "b",     "a/b",          "b/b",    "c/{n}",
                            "{n}/{m}", "{n}",     "parts", "by_place/{n}", "plains", "part/inner/by_name/{n}",
                            "part",    "values",  "a",     "parts/marks"};
  static char *positions[] = {a, left_out, b, NULL}, *one_position[] = {b, NULL};
  char *each = ways[byte & 15];
  return (TideLayoutOptions){
      .root = byte >= 0xF0 ? root : NULL,
      .each = *each != '\0' ? each : NULL,
      .positions = (byte & 16) == 0  ? NULL
                   : (byte & 1) != 0 ? positions
                                     : one_position,
      .zip = (byte & 48) == 32,
      .outer_prefix = *each != '\0' && (byte & 64) != 0 ? prefix : NULL,
      .on_missing = (byte & 128) == 0  ? TIDE_MISSING_REJECT
                    : (byte & 64) != 0 ? TIDE_MISSING_SKIP
                                       : TIDE_MISSING_READING,
  };
}

/* @data: at least a byte, of which the options are made, and in front of some messages another one of their layout.
 * @ret_head: how many these are */
static inline TideDecodeOptions
options_of(TideReadingFormat format, const guint8 *data, gsize size, gsize *ret_head)
{
  static char separator[] = "/", root[] = "a/payload", each[] = "metrics";
  guint8 byte = data[0];
  gboolean is_of_lines = format == TIDE_FORMAT_CSV || format == TIDE_FORMAT_INFLUX;
  gboolean has_layout = !is_of_lines && (byte & 128) != 0 && size > 1;
  *ret_head = has_layout ? 2 : 1;
  static char a[] = "a", b[] = "b", tab[] = "\t", na[] = "NA", hash[] = "#";
  static char *columns[] = {a, b, NULL}, *null_values[] = {na, NULL};
  gboolean is_tight = (byte & 4) != 0, has_columns = (byte & 32) != 0, has_tabs = (byte & 64) != 0;
  return (TideDecodeOptions){
      .format = format,
      .schema = fuzz_schema,
      .separator = separator,
      .layout = has_layout ? layout_of(data[1])
                           : (TideLayoutOptions){.root = (byte & 32) != 0 ? root : NULL,
                                                 .each = (byte & 64) != 0 ? each : NULL},
      .csv = {.columns = has_columns ? columns : NULL,
              .header = !has_columns,
              .delimiter = has_tabs ? tab : NULL,
              .quotes = !has_tabs,
              .comment = (byte & 16) != 0 ? hash : NULL,
              .trim = (byte & 2) != 0,
              .decimal_comma = has_tabs && (byte & 1) != 0,
              .null_values = (byte & 1) != 0 ? null_values : NULL},
      .influx = {.tag_prefix = (byte & 64) != 0 ? a : NULL, .field_prefix = (byte & 32) != 0 ? b : NULL},
      .protobuf = fuzz_descriptors,
      .fields = fuzz_fields,
      .booleans = (byte & 8) != 0 ? TIDE_BOOLEAN_NUMBER : TIDE_BOOLEAN_TEXT,
      .arrays = (TideArrayForm)((byte & 3) % 3),
      .max_message_bytes = is_tight ? 256 : 1024 * 1024,
      .max_depth = is_tight ? 3 : 32,
      .max_fields = is_tight ? 4 : 1024,
      .max_readings = is_tight ? 2 : 1024,
      .on_bad_reading = (byte & 16) != 0 ? TIDE_BAD_READING_ALONE : TIDE_BAD_READING_MESSAGE,
  };
}

static inline void
check_field(const TideField *field)
{
  REQUIRE(field->name.len <= TIDE_FIELD_NAME_MAX_BYTES || field->name.data[0] == '$');
  REQUIRE(tide_json_utf8_fault(field->name) < 0);
  if (field->name.len > 0 && field->name.data[0] != '$')
    REQUIRE(tide_json_utf8_fault(field->text) < 0);
  switch (field->kind) {
  case TIDE_VALUE_STRING:
    break;
  case TIDE_VALUE_NUMBER: {
    g_autofree char *text = g_strndup((const char *)field->text.data, field->text.len);
    const guint8 *end = tide_json_number_end((const guint8 *)text);
    REQUIRE(end == (const guint8 *)text + field->text.len);
    break;
  }
  case TIDE_VALUE_BOOL:
    REQUIRE(field->text.len > 0);
    break;
  case TIDE_VALUE_NULL:
    REQUIRE(field->text.len == 0);
    break;
  case TIDE_VALUE_JSON:
    REQUIRE(field->text.len >= 2 && field->text.data[0] == '[');
    REQUIRE(field->text.data[field->text.len - 1] == ']');
    break;
  }
}

static inline void
check_reading(const TideReading *reading, const TideFieldNames *names)
{
  REQUIRE(!reading->is_skipped || reading->n_fields == 0);
  for (guint32 i = 0; i < reading->n_fields; i++) {
    const TideField *field = &reading->fields[i];
    check_field(field);
    REQUIRE(field->name_id == tide_field_names_find(names, field->name));
    if (field->name_id < reading->n_known)
      REQUIRE(tide_reading_field(reading, field->name_id) == field);
    for (guint32 other = 0; other < i; other++)
      REQUIRE(!tide_bytes_equal(reading->fields[other].name, field->name));
  }
  for (TideNameId id = 0; id < reading->n_known; id++) {
    const TideField *field = tide_reading_field(reading, id);
    REQUIRE(field == NULL || (field >= reading->fields && field < reading->fields + reading->n_fields));
    REQUIRE(field == NULL || field->name_id == id);
  }
}

/* A reading that is left out has a reason, and no fields; without the policy none is. */
static inline void
check_rejects(const TideDecoder *decoder, const TideDecodeOptions *options, const TideReading *readings,
              guint32 n_readings)
{
  guint32 n_rejects;
  const TideReject *rejects = tide_decoder_rejects(decoder, &n_rejects);
  REQUIRE(n_rejects == 0 || (options->on_bad_reading == TIDE_BAD_READING_ALONE && n_readings > 1));
  for (guint32 i = 0; i < n_rejects; i++) {
    REQUIRE(rejects[i].reason != TIDE_REJECT_NONE && rejects[i].reason < TIDE_REJECT_N_REASONS);
    REQUIRE(rejects[i].reading_index < n_readings);
    REQUIRE(i == 0 || rejects[i].reading_index > rejects[i - 1].reading_index);
    REQUIRE(readings[rejects[i].reading_index].n_fields == 0);
  }
}

/* Decodes a copy that is gone before the readings are looked at. */
static inline gboolean
decode(TideDecoder *decoder, const guint8 *data, gsize size, TideReading **readings, guint32 *n_readings,
       TideReject *reject)
{
  guint8 *copy = g_malloc(MAX(size, 1));
  if (size > 0)
    memcpy(copy, data, size);
  TideMessage message = {.topic = TIDE_BYTES_LITERAL("t"),
                         .key = TIDE_BYTES_LITERAL("\xFFkey"),
                         .timestamp_ms = -1,
                         .value = tide_bytes(copy, size),
                         .has_value = TRUE};
  gboolean good = tide_decoder_decode(decoder, &message, readings, n_readings, reject);
  g_free(copy);
  return good;
}

/* @good: a message of the format that is right whatever the options. */
static inline int
fuzz_decoder(TideReadingFormat format, TideBytes good, const uint8_t *data, size_t size)
{
  if (size == 0)
    return 0;
  gsize head;
  TideDecodeOptions options = options_of(format, data, size, &head);
  g_autoptr(TideFieldNames) names = tide_field_names_new();
  static const char *const used[] = {"host", "a", "a/b", "$key", "$offset"};
  for (gsize i = 0; i < G_N_ELEMENTS(used); i++)
    tide_field_names_intern(names, tide_bytes_of_string(used[i]));
  g_autoptr(TideDecoder) decoder = tide_decoder_new(&options, names, G_N_ELEMENTS(used));

  TideReading *readings;
  guint32 n_readings;
  TideReject reject, again;
  if (decode(decoder, data + head, size - head, &readings, &n_readings, &reject)) {
    REQUIRE(n_readings <= options.max_readings);
    for (guint32 i = 0; i < n_readings; i++) {
      REQUIRE(readings[i].index == i);
      check_reading(&readings[i], names);
    }
    check_rejects(decoder, &options, readings, n_readings);
    REQUIRE(decode(decoder, data + head, size - head, &readings, &n_readings, &reject));
    return 0;
  }
  REQUIRE(reject.reason != TIDE_REJECT_NONE && reject.reason < TIDE_REJECT_N_REASONS);
  REQUIRE(reject.byte_position < (gint64)size);
  REQUIRE(!decode(decoder, data + head, size - head, &readings, &n_readings, &again));
  REQUIRE(reject.reason == again.reason && reject.byte_position == again.byte_position);
  if (options.layout.root == NULL && options.layout.each == NULL && !options.layout.zip)
    REQUIRE(decode(decoder, good.data, good.len, &readings, &n_readings, &reject));
  return 0;
}
