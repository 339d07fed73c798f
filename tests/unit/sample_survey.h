/* The survey of sample messages, given as lines of text. */
#pragma once

#include "commands/init/init_samples.h"
#include "unit/load_text.h"

/* How the messages are written; NULL and 0: as it is by default. */
typedef struct TideInitForm {
  TideReadingFormat format;
  const char *columns; /* of CSV; NULL: the first line of each message has them */
  const char *each;
  TideSchemaFraming framing;
} TideInitForm;

/* (transfer full) */
static inline TideInitSamples *
new_samples(TideInitForm form)
{
  static const char *const formats[] = {[TIDE_FORMAT_JSON] = "json",
                                        [TIDE_FORMAT_INFLUX] = "influx",
                                        [TIDE_FORMAT_CSV] = "csv",
                                        [TIDE_FORMAT_MSGPACK] = "msgpack"};
  g_autofree char *columns = form.columns != NULL ? g_strdup_printf("columns: [%s]", form.columns) : NULL;
  g_autofree char *csv = form.format == TIDE_FORMAT_CSV
                             ? g_strdup_printf(", csv: { %s }", columns != NULL ? columns : "header: true")
                             : g_strdup("");
  g_autofree char *each = form.each != NULL ? g_strdup_printf(", each: \"%s\"", form.each) : g_strdup("");
  g_autofree char *yaml = g_strdup_printf("kafka: { brokers: k:1, group: g, topics: [t] }\n"
                                          "readings: { format: %s%s%s%s, time: record }\n"
                                          "tables: { T: { key: [{ field: any }, \"#\", { time: epoch_ms }], "
                                          "columns: { family: M, from: \"*\" } } }\n"
                                          "hbase: { gateways: [\"h:1\"] }\n",
                                          formats[form.format], csv, each,
                                          form.framing == TIDE_FRAMING_CONFLUENT ? ", framing: confluent" : "");
  return tide_init_samples_new(load_text(yaml));
}

/* (transfer full) */
static inline TideInitSamples *
read_samples_as(TideInitForm form, TideBytes text)
{
  g_autoptr(GError) error = NULL;
  TideInitSamples *samples = new_samples(form);
  FILE *stream = text.len > 0 ? fmemopen((gpointer)(gsize)text.data, text.len, "r") : fopen("/dev/null", "r");
  g_assert_true(tide_init_samples_read_stream(samples, stream, "the test", 1000, &error));
  g_assert_no_error(error);
  fclose(stream);
  return samples;
}

static inline TideInitSamples *
read_samples_of(TideReadingFormat format, TideBytes text)
{
  return read_samples_as((TideInitForm){.format = format}, text);
}

/* Of JSON. (transfer full) */
static inline TideInitSamples *
read_samples(const char *text)
{
  return read_samples_of(TIDE_FORMAT_JSON, tide_bytes_of_string(text));
}
