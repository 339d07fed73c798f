/* Decodes messages as the daemon does, and prints what it made of them: for decoders in other languages to be compared
 * with.
 *
 *     decode-messages CONFIG < MESSAGES
 *
 * CONFIG says the format, in its readings. A message is its length, 4 bytes big-endian, and then its bytes. A line of
 * JSON for each: a list of readings, each a list of [name, kind, text]; or an object with the reason and the byte. */
#include "config/config.h"
#include "util/json_writer.h"

#include <stdio.h>

#define MAX_MESSAGE_BYTES (16u * 1024 * 1024)

static const char *const kinds[] = {[TIDE_VALUE_STRING] = "string",
                                    [TIDE_VALUE_NUMBER] = "number",
                                    [TIDE_VALUE_BOOL] = "bool",
                                    [TIDE_VALUE_NULL] = "null",
                                    [TIDE_VALUE_JSON] = "json"};

static TideConfig *
load(const char *path)
{
  g_autoptr(GPtrArray) problems = NULL;
  TideConfig *config = tide_config_load(path, &problems);
  for (guint i = 0; config == NULL && i < problems->len; i++)
    g_printerr("%s:%u: %s\n", path, ((TideConfigProblem *)problems->pdata[i])->line,
               ((TideConfigProblem *)problems->pdata[i])->text);
  return config;
}

static void
append_reading(TideBuffer *out, const TideReading *reading)
{
  tide_buffer_append_byte(out, '[');
  for (guint32 i = 0; i < reading->n_fields; i++) {
    const TideField *field = &reading->fields[i];
    tide_buffer_append(out, i > 0 ? ",[" : "[", i > 0 ? 2 : 1);
    tide_json_string_append(out, field->name);
    tide_buffer_append_byte(out, ',');
    tide_json_string_append(out, tide_bytes_of_string(kinds[field->kind]));
    tide_buffer_append_byte(out, ',');
    tide_json_string_append(out, field->text);
    tide_buffer_append_byte(out, ']');
  }
  tide_buffer_append_byte(out, ']');
}

static void
append_reject(TideBuffer *out, const TideReject *reject)
{
  g_autofree char *text = g_strdup_printf("{\"reason\":\"%s\",\"byte\":%" G_GINT64_FORMAT "}",
                                          tide_reject_reason_name(reject->reason), reject->byte_position);
  tide_buffer_append(out, text, strlen(text));
}

static void
print_message(TideDecoder *decoder, TideBytes value, TideBuffer *out)
{
  TideMessage message = {.topic = TIDE_BYTES_LITERAL("t"), .timestamp_ms = -1, .value = value, .has_value = TRUE};
  TideReading *readings;
  guint32 n_readings;
  TideReject reject;
  tide_buffer_reset(out);
  if (!tide_decoder_decode(decoder, &message, &readings, &n_readings, &reject)) {
    append_reject(out, &reject);
  } else {
    tide_buffer_append_byte(out, '[');
    for (guint32 i = 0; i < n_readings; i++) {
      if (i > 0)
        tide_buffer_append_byte(out, ',');
      append_reading(out, &readings[i]);
    }
    tide_buffer_append_byte(out, ']');
  }
  tide_buffer_append_byte(out, '\n');
  fwrite(out->data, 1, out->len, stdout);
}

/* FALSE at the end of the input. */
static gboolean
read_message(TideBuffer *message)
{
  guint8 head[4];
  tide_buffer_reset(message);
  if (fread(head, 1, sizeof head, stdin) != sizeof head)
    return FALSE;
  guint32 len = (guint32)head[0] << 24 | (guint32)head[1] << 16 | (guint32)head[2] << 8 | head[3];
  g_assert_cmpuint(len, <=, MAX_MESSAGE_BYTES);
  g_assert_cmpuint(fread(tide_buffer_reserve(message, len), 1, len, stdin), ==, len);
  message->len = len;
  return TRUE;
}

int
main(int argc, char **argv)
{
  if (argc != 2) {
    g_printerr("usage: decode-messages CONFIG < MESSAGES\n");
    return 64;
  }
  g_autoptr(TideConfig) config = load(argv[1]);
  if (config == NULL)
    return 78;
  guint32 n_known = tide_field_names_count(config->names);
  g_autoptr(TideDecoder) decoder = tide_decoder_new(&config->readings.decode, config->names, n_known);
  g_auto(TideBuffer) message = {0}, out = {0};
  while (read_message(&message))
    print_message(decoder, tide_buffer_bytes(&message), &out);
  return ferror(stdin) || fflush(stdout) != 0 ? 74 : 0;
}
