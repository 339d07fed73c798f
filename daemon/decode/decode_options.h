/* What of a message may be decoded, and how: set by the configuration, read by the decoder and its parsers. */
#pragma once

#include "model/key/row_key.h"

G_BEGIN_DECLS

/* A field's name, with those of the objects around it. Every cell of HBase stores its name, so a longer one is a fault
 * of the sender rather than a name; and long names around many short ones must not fill the memory. */
#define TIDE_FIELD_NAME_MAX_BYTES 4096

/* F(word, value, name): the reader of its messages is tide_NAME_reader.
 *     json      one object, an array of objects, or objects one after the other (newline-delimited)
 *     influx    InfluxDB's line protocol, a reading a line
 *     csv       values with commas, or another byte, between them, a reading a line
 *     msgpack   MessagePack: one map, an array of maps, or maps one after the other
 *     avro      Avro's binary encoding: one record, or an array of records
 *     protobuf  one message, which a descriptor set describes
 * What each of them is besides stands in its row of formats.c. */
#define TIDE_FORMATS(F) TIDE_FORMATS_OF_LINES(F) TIDE_FORMATS_OF_BYTES(F)

#define TIDE_FORMATS_OF_LINES(F)                                                                                       \
  F("json", TIDE_FORMAT_JSON, json)                                                                                    \
  F("influx", TIDE_FORMAT_INFLUX, influx)                                                                              \
  F("csv", TIDE_FORMAT_CSV, csv)

/* Of these, `simulate` has tide_NAME_change(). */
#define TIDE_FORMATS_OF_BYTES(F)                                                                                       \
  F("msgpack", TIDE_FORMAT_MSGPACK, msgpack)                                                                           \
  F("avro", TIDE_FORMAT_AVRO, avro)                                                                                    \
  F("protobuf", TIDE_FORMAT_PROTOBUF, protobuf)

#define TIDE_FORMAT_VALUE(word, value, name) value,
#define TIDE_ONE_FORMAT(word, value, name) +1
typedef enum TideReadingFormat { TIDE_FORMATS(TIDE_FORMAT_VALUE) } TideReadingFormat;
enum { TIDE_N_FORMATS = TIDE_FORMATS(TIDE_ONE_FORMAT) };

/* In a list of names: what has it is left out. */
#define TIDE_NO_NAME "_"

typedef enum TideBooleanForm { TIDE_BOOLEAN_TEXT /* true, false */, TIDE_BOOLEAN_NUMBER /* 1, 0 */ } TideBooleanForm;

typedef enum TideArrayForm {
  TIDE_ARRAY_JSON,  /* the field's value is the array's raw JSON */
  TIDE_ARRAY_INDEX, /* flattened: name, separator, index from 0 */
  TIDE_ARRAY_REJECT,
} TideArrayForm;

/* No configuration asks for any but the first. */
typedef enum TideObjectForm {
  TIDE_OBJECT_FLAT,   /* flattened: name, separator, the member's name */
  TIDE_OBJECT_MARKED, /* the same, behind a field of its own name with the JSON "{": for field_steps.c */
  TIDE_OBJECT_RAW,    /* the field's value is the object's raw JSON: for readers of packed cells and dead letters */
} TideObjectForm;

/* What one bad reading takes with it. */
typedef enum TideOnBadReading {
  TIDE_BAD_READING_MESSAGE, /* its message */
  TIDE_BAD_READING_ALONE,   /* nothing, where its message holds others and could be read to its end */
} TideOnBadReading;

/* What a message means in which root or each leads to nothing. */
typedef enum TideOnMissing {
  TIDE_MISSING_REJECT,
  TIDE_MISSING_SKIP,    /* it holds no reading */
  TIDE_MISSING_READING, /* the object reached so far is one */
} TideOnMissing;

/* Where the readings of a message with objects and lists are; decode/layout.h. What it points to is owned by the
 * configuration. */
typedef struct TideLayoutOptions {
  char *root; /* the member that holds the readings; names joined by the separator, from the outside in; NULL: the
               * message itself does */
  char *each; /* steps joined by the separator, from there to the readings: names of members, or in braces the field of
               * their names; what stands around is a field of each reading; NULL: none */
  char **positions;   /* the names of the values of a reading that is a list; NULL: none is */
  gboolean zip;       /* readings are the n-th values of all lists of an object */
  char *outer_prefix; /* in front of the names of what stands around; NULL: nothing */
  TideOnMissing on_missing;
} TideLayoutOptions;

/* Of comma-separated values. What it points to is owned by the configuration. */
typedef struct TideCsvOptions {
  char **columns;     /* the names of the values of each line, TIDE_NO_NAME leaves one out; NULL: the first line of each
                       * message says them */
  gboolean header;    /* that it does, without columns */
  char *delimiter;    /* one byte, see tide_csv_is_delimiter(); NULL: a comma */
  gboolean quotes;    /* a value in quotes may hold delimiters, line breaks, and doubled quotes */
  char **null_values; /* without quotes, these are no value; NULL: the empty one is */
  char *comment;      /* a line that begins with it is none; NULL: there is no such */
  guint32 skip_lines; /* of each message, before the names or the first values */
  guint32 skip_after_header;
  gboolean trim;          /* spaces and tabs around a value without quotes are none of it */
  gboolean decimal_comma; /* 1,5 is a number: 1.5 */
} TideCsvOptions;

/* Of line protocol: what the names of fields begin with that are made of tags, or of fields. Owned by the
 * configuration; NULL: nothing. */
typedef struct TideInfluxOptions {
  char *tag_prefix;
  char *field_prefix;
} TideInfluxOptions;

/* decode/avro_schema.h */
typedef struct TideAvroSchema TideAvroSchema;

/* What stands in front of a message's own bytes. */
typedef enum TideSchemaFraming {
  TIDE_FRAMING_NONE,
  TIDE_FRAMING_CONFLUENT, /* decode/frame.h; of protobuf, then which message of its file it is */
} TideSchemaFraming;

/* decode/protobuf_schema.h */
typedef struct TideProtobufSchema TideProtobufSchema;

typedef struct TideSchemaSource TideSchemaSource;

/* Messages that are rows as `tidemark scan` prints them, in JSON or CSV: mapping/scanned_rows.h. No configuration asks
 * for it, but a load does. */
typedef struct TideScannedOptions {
  gboolean is_scanned;
  gboolean keeps_keys;     /* the rows' keys are taken as they are printed */
  gboolean has_cell_times; /* cells bear another time than the event's, which the key says */
  const TideRowKey *key;   /* borrowed from the configuration: of the table that they are loaded into; NULL: none */
} TideScannedOptions;

/* What becomes of the fields of a reading: decode/field_steps.h. */
typedef struct TideFieldOptions {
  char **null_values;   /* owned by the configuration: texts and numbers that are null; NULL: none is */
  gboolean nan_is_null; /* NaN is among them: so is a float that is not finite */
  GArray *steps;        /* owned by the configuration (element-type TideFieldStep); NULL: none */
  char *steps_yaml;     /* owned by the configuration: as they are declared */
} TideFieldOptions;

typedef struct TideDecodeOptions {
  TideReadingFormat format;
  char *separator; /* owned by the configuration: between the names of nested objects, e.g. "/" */
  TideLayoutOptions layout;
  TideCsvOptions csv;
  TideInfluxOptions influx;
  char *schema_file;            /* owned by the configuration: of Avro or protobuf, absolute */
  const TideAvroSchema *schema; /* owned by the configuration: what stands there, of Avro */
  TideProtobufSchema *protobuf; /* the same, of protobuf */
  char *message; /* owned by the configuration: of protobuf, the full name of what a message is; NULL: its frame says */
  TideSchemaFraming framing;
  gboolean containers; /* of Avro: each message is a container of one object, which says its schema; no configuration
                        * asks for it, but files of such are read so */
  TideSchemaSource *schemas; /* owned by the configuration: of messages that name their schema by a number in front;
                              * NULL: they are all of the one above */
  TideScannedOptions scanned;
  TideBooleanForm booleans;
  TideArrayForm arrays;
  TideObjectForm objects;
  guint32 max_message_bytes;
  guint32 max_depth;    /* of objects and arrays, a reading's own braces included; at least 1 */
  guint32 max_fields;   /* in one reading; nested objects count, too */
  guint32 max_readings; /* in one message */
  TideOnBadReading on_bad_reading;
  TideFieldOptions fields;
} TideDecodeOptions;

/* Of texts that hold JSON, in or beside a message that is read by @options. */
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
