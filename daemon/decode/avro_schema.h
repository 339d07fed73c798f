/* An Avro schema, compiled for reading by it: nodes in one array that name each other by their places, so that a type
 * may hold itself. Immutable; logical types stand beside what carries them. What only matters to writers (defaults,
 * aliases, order, doc) is left out.
 *
 * Why not by avro-c, Debian's library, measured with 1.11.1: its reader allocates 2 GiB for a length before one byte of
 * that is there, and 2.7 GB for an array of nulls that is 5 bytes long; it cannot say at which byte a fault is, and its
 * schemas have lost the logical types. */
#pragma once

#include "decode/decode_options.h"
#include "util/bytes.h"

G_BEGIN_DECLS

/* Of a schema's text, and of what it is made of: one that is larger is no schema of readings. */
#define TIDE_AVRO_SCHEMA_MAX_BYTES (1024 * 1024)

typedef enum TideAvroKind {
  TIDE_AVRO_NULL,
  TIDE_AVRO_BOOLEAN,
  TIDE_AVRO_INT,
  TIDE_AVRO_LONG,
  TIDE_AVRO_FLOAT,
  TIDE_AVRO_DOUBLE,
  TIDE_AVRO_BYTES,
  TIDE_AVRO_STRING, /* the plain ones end here; each of them is its own place in nodes */
  TIDE_AVRO_RECORD,
  TIDE_AVRO_ENUM,
  TIDE_AVRO_ARRAY,
  TIDE_AVRO_MAP,
  TIDE_AVRO_UNION,
  TIDE_AVRO_FIXED,
} TideAvroKind;

/* As the specification has it, one that does not fit what it stands beside, or is unknown, is none. */
typedef enum TideAvroLogical {
  TIDE_AVRO_PLAIN,
  TIDE_AVRO_DECIMAL, /* BYTES, FIXED */
  TIDE_AVRO_DATE,    /* INT */
  TIDE_AVRO_SECONDS, /* INT, LONG: a time, or a moment; scale is how many digits of it are behind the point */
  TIDE_AVRO_LOCAL,   /* LONG: what a clock shows; scale as above */
} TideAvroLogical;

typedef struct TideAvroNode {
  TideAvroKind kind;
  TideAvroLogical logical;
  guint32 scale; /* DECIMAL, SECONDS, LOCAL */
  guint32 size;  /* FIXED: its bytes; else how many members it has */
  guint32 first; /* RECORD, ENUM, ARRAY, MAP, UNION: the place of its first member */
} TideAvroNode;

typedef struct TideAvroMember {
  TideBytes name; /* of a record's field, or of an enum's symbol; UTF-8 */
  guint32 node;   /* of a field, a union's branch, or what an array or map holds, which is its one member */
} TideAvroMember;

/* typedef in decode_options.h */
struct TideAvroSchema {
  const TideAvroNode *nodes;     /* owned */
  const TideAvroMember *members; /* owned, their names too */
  guint32 top;                   /* the place of the node that a message is */
};

/**
 * tide_avro_schema_new: compile the JSON @text. A message by it must hold records: it is one, an array of such, or a
 * union that has one.
 * Returns: (transfer full) (nullable). Errors: TIDE_ERROR_DATA, with the type's or field's name. Allocates: at most
 * some fifty times TIDE_AVRO_SCHEMA_MAX_BYTES. Threads: any.
 */
const TideAvroSchema *tide_avro_schema_new(TideBytes text, GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* The same, where @text uses types that @known declare, each by its own text, behind those that it uses itself.
 * @known: (element-type char *) */
const TideAvroSchema *tide_avro_schema_new_with(TideBytes text, const GPtrArray *known,
                                                GError **error) G_GNUC_WARN_UNUSED_RESULT;
void tide_avro_schema_free(const TideAvroSchema *schema); /* NULL ok */

/* Where schemas are had that messages name by a number: what the decoder asks, and whoever has them answers. */

typedef enum TideSchemaAnswer {
  TIDE_SCHEMA_FOUND,
  TIDE_SCHEMA_AWAITED, /* it is being asked for: the same question later */
  TIDE_SCHEMA_NONE,    /* there is none by that number, or none that can be used */
} TideSchemaAnswer;

struct TideSchemaSource {
  /* @ret_schema: with FOUND; as long as the source. @ret_why: with NONE, a sentence that is never freed. Threads: any.
   */
  TideSchemaAnswer (*find)(TideSchemaSource *source, guint32 id, const TideAvroSchema **ret_schema,
                           const char **ret_why);
};

G_END_DECLS
