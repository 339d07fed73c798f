/* Decoding options and limits: set by the configuration, read by the decoder and its parsers. */
#pragma once

#include "model/key/row_key.h"

G_BEGIN_DECLS

/* Maximum length of a field's name, including the names of the objects around it. Every cell of HBase stores its name,
 * so a longer one is a fault of the sender. The limit also bounds the memory for long names around many short ones. */
#define TIDE_FIELD_NAME_MAX_BYTES 4096

/* F(word, value, name): the reader of its messages is tide_NAME_reader.
 *     json      one object, an array of objects, or objects one after the other (newline-delimited)
 *     influx    InfluxDB's line protocol, a reading per line
 *     csv       comma-separated values, or with another delimiter, a reading per line
 *     msgpack   MessagePack: one map, an array of maps, or maps one after the other
 *     avro      Avro's binary encoding: one record, or an array of records
 *     protobuf  one message of a type from a descriptor set
 * The other properties of a format are in its row of formats.c. */
#define TIDE_FORMATS(F) TIDE_FORMATS_OF_LINES(F) TIDE_FORMATS_OF_BYTES(F)

#define TIDE_FORMATS_OF_LINES(F)                                                                                       \
  F("json", TIDE_FORMAT_JSON, json)                                                                                    \
  F("influx", TIDE_FORMAT_INFLUX, influx)                                                                              \
  F("csv", TIDE_FORMAT_CSV, csv)

/* For these, `simulate` has tide_NAME_change(). */
#define TIDE_FORMATS_OF_BYTES(F)                                                                                       \
  F("msgpack", TIDE_FORMAT_MSGPACK, msgpack)                                                                           \
  F("avro", TIDE_FORMAT_AVRO, avro)                                                                                    \
  F("protobuf", TIDE_FORMAT_PROTOBUF, protobuf)

#define TIDE_FORMAT_VALUE(word, value, name) value,
#define TIDE_ONE_FORMAT(word, value, name) +1
typedef enum TideReadingFormat { TIDE_FORMATS(TIDE_FORMAT_VALUE) } TideReadingFormat;
enum { TIDE_N_FORMATS = TIDE_FORMATS(TIDE_ONE_FORMAT) };

/* In a list of names: the value is left out. */
#define TIDE_NO_NAME "_"

typedef enum TideBooleanForm { TIDE_BOOLEAN_TEXT /* true, false */, TIDE_BOOLEAN_NUMBER /* 1, 0 */ } TideBooleanForm;

typedef enum TideArrayForm {
  TIDE_ARRAY_JSON,  /* the field's value is the array's raw JSON */
  TIDE_ARRAY_INDEX, /* flattened: name, separator, index from 0 */
  TIDE_ARRAY_REJECT,
} TideArrayForm;

/* The configuration allows only the first. */
typedef enum TideObjectForm {
  TIDE_OBJECT_FLAT,   /* flattened: name, separator, the member's name */
  TIDE_OBJECT_MARKED, /* flattened, after a field with the object's own name and the JSON "{": for field_steps.c */
  TIDE_OBJECT_RAW,    /* the field's value is the object's raw JSON: for readers of packed cells and dead letters */
} TideObjectForm;

/* Scope of a bad reading. */
typedef enum TideOnBadReading {
  TIDE_BAD_READING_MESSAGE, /* the whole message */
  TIDE_BAD_READING_ALONE,   /* only that reading, if the message has others and can be parsed to its end */
} TideOnBadReading;

/* Meaning of a message in which root or each finds nothing. */
typedef enum TideOnMissing {
  TIDE_MISSING_REJECT,
  TIDE_MISSING_SKIP,    /* it has no readings */
  TIDE_MISSING_READING, /* the last object that was found is a reading */
} TideOnMissing;

/* Where the readings are in a message with objects and lists; decode/layout.h. The configuration owns what it points
 * to. */
typedef struct TideLayoutOptions {
  char *root; /* the member that contains the readings: names from the outside in, joined by the separator; NULL: the
                 message itself */
  char *each; /* steps from there to the readings, joined by the separator: names of members, or in braces a field for
                 their names; values around the readings become fields of each reading; NULL: none */
  char **positions;   /* names for the values of a reading that is a list; NULL: lists are not readings */
  gboolean zip;       /* readings are the n-th values of all lists of an object */
  char *outer_prefix; /* prefix of the names of values around the readings; NULL: none */
  TideOnMissing on_missing;
} TideLayoutOptions;

/* Comma-separated values. The configuration owns what it points to. */
typedef struct TideCsvOptions {
  char **columns;     /* names for the values of each line, TIDE_NO_NAME leaves one out; NULL: the first line of each
                         message has the names */
  gboolean header;    /* the first line has names, without columns */
  char *delimiter;    /* one byte, see tide_csv_is_delimiter(); NULL: a comma */
  gboolean quotes;    /* a value in quotes may hold delimiters, line breaks, and doubled quotes */
  char **null_values; /* unquoted values that are null; NULL: only the empty one */
  char *comment;      /* prefix of comment lines; NULL: there are no comments */
  guint32 skip_lines; /* skipped at the start of each message */
  guint32 skip_after_header;
  gboolean trim;          /* ignore spaces and tabs around unquoted values */
  gboolean decimal_comma; /* 1,5 is a number: 1.5 */
} TideCsvOptions;

/* Line protocol: prefixes for the fields made from tags, and from fields. Owned by the configuration; NULL: none. */
typedef struct TideInfluxOptions {
  char *tag_prefix;
  char *field_prefix;
} TideInfluxOptions;

/* decode/avro_schema.h */
typedef struct TideAvroSchema TideAvroSchema;

/* The bytes before a message's own. */
typedef enum TideSchemaFraming {
  TIDE_FRAMING_NONE,
  TIDE_FRAMING_CONFLUENT, /* decode/frame.h; for protobuf, also the index of the message in its file */
} TideSchemaFraming;

/* decode/protobuf_schema.h */
typedef struct TideProtobufSchema TideProtobufSchema;

typedef struct TideSchemaSource TideSchemaSource;

/* Messages that are rows as `tidemark scan` prints them, in JSON or CSV: mapping/scanned_rows.h. Only `load` sets it,
 * not the configuration. */
typedef struct TideScannedOptions {
  gboolean is_scanned;
  gboolean keeps_keys;     /* keep the row keys as printed */
  gboolean has_cell_times; /* cells have times other than the event time, which is in the key */
  const TideRowKey *key;   /* borrowed from the configuration: of the target table; NULL: none */
} TideScannedOptions;

/* Changes to the fields of a reading: decode/field_steps.h. */
typedef struct TideFieldOptions {
  char **null_values;   /* owned by the configuration: texts and numbers that are null; NULL: none */
  gboolean nan_is_null; /* floats that are not finite are null, and so is NaN in texts */
  GArray *steps;        /* owned by the configuration (element-type TideFieldStep); NULL: none */
  char *steps_yaml;     /* owned by the configuration: the steps as declared */
} TideFieldOptions;

typedef struct TideDecodeOptions {
  TideReadingFormat format;
  char *separator; /* owned by the configuration: between the names of nested objects, e.g. "/" */
  TideLayoutOptions layout;
  TideCsvOptions csv;
  TideInfluxOptions influx;
  char *schema_file;            /* owned by the configuration: absolute path, Avro or protobuf */
  const TideAvroSchema *schema; /* owned by the configuration: contents of schema_file, Avro */
  TideProtobufSchema *protobuf; /* owned by the configuration: contents of schema_file, protobuf */
  char *message; /* owned by the configuration: full name of the protobuf message; NULL: its frame selects it */
  TideSchemaFraming framing;
  gboolean containers;       /* Avro: each message is a container of one object, with its schema; set only for reading
                                container files */
  TideSchemaSource *schemas; /* owned by the configuration: for messages that begin with the number of their schema;
                                NULL: all have the schema above */
  TideScannedOptions scanned;
  TideBooleanForm booleans;
  TideArrayForm arrays;
  TideObjectForm objects;
  guint32 max_message_bytes;
  guint32 max_depth;    /* of objects and arrays, the reading's own braces included; at least 1 */
  guint32 max_fields;   /* per reading; nested objects count, too */
  guint32 max_readings; /* per message */
  TideOnBadReading on_bad_reading;
  TideFieldOptions fields;
} TideDecodeOptions;

/* Options for texts of JSON in, or next to, messages that are read with @options. */
static inline TideDecodeOptions
tide_decode_options_of_json(const TideDecodeOptions *options)
{
  return (TideDecodeOptions){.separator = options->separator,
                             .booleans = options->booleans,
                             .arrays = options->arrays,
                             .max_message_bytes = options->max_message_bytes,
                             .max_depth = options->max_depth,
                             .max_fields = options->max_fields,
                             .max_readings = options->max_readings,
                             .fields = {.nan_is_null = options->fields.nan_is_null}};
}

static inline TideBytes
tide_boolean_text(TideBooleanForm form, gboolean value)
{
  static const TideBytes words[] = {TIDE_BYTES_LITERAL("false"), TIDE_BYTES_LITERAL("true")};
  static const TideBytes numbers[] = {TIDE_BYTES_LITERAL("0"), TIDE_BYTES_LITERAL("1")};
  return (form == TIDE_BOOLEAN_NUMBER ? numbers : words)[value];
}

G_END_DECLS
