/* The same readings of ten metrics as messages of each format, with the configurations that read them. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define FORMAT_METRICS 10u

typedef struct FormatReading {
  const char *host;
  gint64 time_ms;
  double values[FORMAT_METRICS]; /* of two digits behind the point */
} FormatReading;

typedef struct FormatMessages {
  const char *name;
  const char *readings;                   /* of the configuration */
  void (*append_schema)(GByteArray *out); /* what "SCHEMA" in it is a file of; NULL: of nothing */
  void (*append)(const FormatReading *reading, GByteArray *out); /* one message */
} FormatMessages;

enum { FORMAT_JSON, FORMAT_INFLUX, FORMAT_CSV, FORMAT_MSGPACK, FORMAT_AVRO, FORMAT_PROTOBUF, N_FORMATS };
extern const FormatMessages format_messages[N_FORMATS];

G_END_DECLS
