/* An Avro schema, compiled for reading: nodes in one array that refer to each other by index, so that a type may
 * contain itself. Immutable; logical types are stored beside their carrier type. Attributes that matter only to writers
 * (defaults, aliases, order, doc) are left out.
 *
 * avro-c, Debian's library, is not used (measured with 1.11.1). Its reader allocates 2 GiB for a length before any of
 * the bytes arrive, and 2.7 GB for an array of nulls in 5 bytes. It cannot report the position of a fault, and its
 * schemas lose the logical types. */
#pragma once

#include "decode/decode_options.h"
#include "util/bytes.h"

G_BEGIN_DECLS

/* Maximum size of a schema's text, and of its compiled form. A larger one is no schema of readings. */
#define TIDE_AVRO_SCHEMA_MAX_BYTES (1024 * 1024)

typedef enum TideAvroKind {
  TIDE_AVRO_NULL,
  TIDE_AVRO_BOOLEAN,
  TIDE_AVRO_INT,
  TIDE_AVRO_LONG,
  TIDE_AVRO_FLOAT,
  TIDE_AVRO_DOUBLE,
  TIDE_AVRO_BYTES,
  TIDE_AVRO_STRING, /* the last of the primitive types; each has its own number as index in nodes */
  TIDE_AVRO_RECORD,
  TIDE_AVRO_ENUM,
  TIDE_AVRO_ARRAY,
  TIDE_AVRO_MAP,
  TIDE_AVRO_UNION,
  TIDE_AVRO_FIXED,
} TideAvroKind;

/* By the specification, a logical type that is unknown or does not fit its carrier is ignored. */
typedef enum TideAvroLogical {
  TIDE_AVRO_PLAIN,
  TIDE_AVRO_DECIMAL, /* BYTES, FIXED */
  TIDE_AVRO_DATE,    /* INT */
  TIDE_AVRO_SECONDS, /* INT, LONG: a time of day or a timestamp; scale is its number of decimals */
  TIDE_AVRO_LOCAL,   /* LONG: a local date and time; scale as above */
} TideAvroLogical;

typedef struct TideAvroNode {
  TideAvroKind kind;
  TideAvroLogical logical;
  guint32 scale; /* DECIMAL, SECONDS, LOCAL */
  guint32 size;  /* FIXED: in bytes; else the number of members */
  guint32 first; /* RECORD, ENUM, ARRAY, MAP, UNION: index of the first member */
} TideAvroNode;

typedef struct TideAvroMember {
  TideBytes name; /* of a record's field or an enum's symbol; UTF-8 */
  guint32 node;   /* index of the type: a field's, a union branch's, or that of all items of an array or map */
} TideAvroMember;

/* typedef in decode_options.h */
struct TideAvroSchema {
  const TideAvroNode *nodes;     /* owned */
  const TideAvroMember *members; /* owned, with their names */
  guint32 top;                   /* index of the message's node */
};

/**
 * tide_avro_schema_new: compile the JSON @text. Its messages must contain records: it is a record, an array of records,
 * or a union that has one of these.
 * Returns: (transfer full) (nullable). Errors: TIDE_ERROR_DATA, with the type's or field's name. Allocates: at most
 * some fifty times TIDE_AVRO_SCHEMA_MAX_BYTES. Threads: any.
 */
const TideAvroSchema *tide_avro_schema_new(TideBytes text, GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* Like tide_avro_schema_new(), for @text with types from @known. Each text of @known declares one type and follows the
 * texts whose types it uses.
 * @known: (element-type char *) */
const TideAvroSchema *tide_avro_schema_new_with(TideBytes text, const GPtrArray *known,
                                                GError **error) G_GNUC_WARN_UNUSED_RESULT;
void tide_avro_schema_free(const TideAvroSchema *schema); /* NULL ok */

/* Provides schemas by the numbers that messages contain. The decoder asks it without knowing the implementation. */

typedef enum TideSchemaAnswer {
  TIDE_SCHEMA_FOUND,
  TIDE_SCHEMA_AWAITED, /* requested: ask again later */
  TIDE_SCHEMA_NONE,    /* no usable schema has this number */
} TideSchemaAnswer;

struct TideSchemaSource {
  /* @ret_schema: with FOUND; valid as long as the source. @ret_why: with NONE, a sentence that is never freed. Threads:
   * any. */
  TideSchemaAnswer (*find)(TideSchemaSource *source, guint32 id, const TideAvroSchema **ret_schema,
                           const char **ret_why);
};

G_END_DECLS
