#include "commands/status/status_reader.h"

#include "commands/cli/output.h"
#include "decode/decoder.h"
#include "util/error.h"

#define MAX_BYTES (64u << 20)

/* Up to here a double holds every whole number; above, nothing is counted. */
#define MAX_NUMBER 9007199254740992.0

struct TideStatusReader {
  TideDecodeOptions options;
  TideFieldNames *names; /* owned */
  TideDecoder *decoder;  /* owned */
  TideReading *readings; /* the decoder's */
  guint32 n;
  GPtrArray *texts; /* owned (element-type utf8): what was given out */
};

TideStatusReader *
tide_status_reader_new(TideBytes json, GError **error)
{
  TideStatusReader *reader = g_new0(TideStatusReader, 1);
  reader->options = (TideDecodeOptions){.separator = g_strdup("."),
                                        .arrays = TIDE_ARRAY_JSON,
                                        .max_message_bytes = MAX_BYTES,
                                        .max_depth = 16,
                                        .max_fields = 1000,
                                        .max_readings = 1000000};
  reader->names = tide_field_names_new();
  reader->decoder = tide_decoder_new(&reader->options, reader->names, 0);
  reader->texts = g_ptr_array_new_with_free_func(g_free);
  TideMessage message = {.value = json, .has_value = TRUE};
  TideReject reject;
  if (tide_decoder_decode(reader->decoder, &message, &reader->readings, &reader->n, &reject))
    return reader;
  g_set_error_literal(error, TIDE_ERROR, TIDE_ERROR_DATA, "what came is no document of tidemark's");
  tide_status_reader_free(reader);
  return NULL;
}

void
tide_status_reader_free(TideStatusReader *reader)
{
  if (reader == NULL)
    return;
  tide_decoder_free(reader->decoder);
  tide_field_names_free(reader->names);
  g_ptr_array_unref(reader->texts);
  g_free(reader->options.separator);
  g_free(reader);
}

guint32
tide_status_reader_n(const TideStatusReader *reader)
{
  return reader->n;
}

static const TideField *
field_of(const TideStatusReader *reader, guint32 i, const char *name)
{
  TideBytes wanted = tide_bytes_of_string(name);
  const TideReading *reading = i < reader->n ? &reader->readings[i] : NULL;
  for (guint32 f = 0; reading != NULL && f < reading->n_fields; f++)
    if (tide_bytes_equal(reading->fields[f].name, wanted))
      return reading->fields[f].kind != TIDE_VALUE_NULL ? &reading->fields[f] : NULL;
  return NULL;
}

const char *
tide_status_reader_text(TideStatusReader *reader, guint32 i, const char *name)
{
  const TideField *field = field_of(reader, i, name);
  if (field == NULL)
    return NULL;
  char *text = tide_text_printable(field->text);
  g_ptr_array_add(reader->texts, text);
  return text;
}

gboolean
tide_status_reader_flag(TideStatusReader *reader, guint32 i, const char *name)
{
  return g_strcmp0(tide_status_reader_text(reader, i, name), "true") == 0;
}

double
tide_status_reader_number(TideStatusReader *reader, guint32 i, const char *name)
{
  const TideField *field = field_of(reader, i, name);
  if (field == NULL || field->kind != TIDE_VALUE_NUMBER)
    return -1;
  double number = g_ascii_strtod(tide_status_reader_text(reader, i, name), NULL);
  return number >= 0 && number <= MAX_NUMBER ? number : -1;
}

TideStatusReader *
tide_status_reader_list(TideStatusReader *reader, const char *name)
{
  const TideField *field = field_of(reader, 0, name);
  gboolean is_list = field != NULL && field->kind == TIDE_VALUE_JSON;
  TideStatusReader *list = is_list ? tide_status_reader_new(field->text, NULL) : NULL;
  return list != NULL ? list : tide_status_reader_new(TIDE_BYTES_LITERAL("[]"), NULL);
}
