/* The messages of a descriptor set, compiled for reading. Immutable; they refer to each other by pointers, so that a
 * type may contain itself. */
#pragma once

#include "decode/decode_options.h"
#include "util/bytes.h"

G_BEGIN_DECLS

/* With the numbers of the types in descriptor sets. */
typedef enum TideProtobufKind {
  TIDE_PROTOBUF_DOUBLE = 1,
  TIDE_PROTOBUF_FLOAT,
  TIDE_PROTOBUF_INT64,
  TIDE_PROTOBUF_UINT64,
  TIDE_PROTOBUF_INT32,
  TIDE_PROTOBUF_FIXED64,
  TIDE_PROTOBUF_FIXED32,
  TIDE_PROTOBUF_BOOL,
  TIDE_PROTOBUF_STRING,
  TIDE_PROTOBUF_GROUP,
  TIDE_PROTOBUF_MESSAGE,
  TIDE_PROTOBUF_BYTES,
  TIDE_PROTOBUF_UINT32,
  TIDE_PROTOBUF_ENUM,
  TIDE_PROTOBUF_SFIXED32,
  TIDE_PROTOBUF_SFIXED64,
  TIDE_PROTOBUF_SINT32,
  TIDE_PROTOBUF_SINT64,
} TideProtobufKind;

typedef struct TideProtobufType TideProtobufType;

typedef struct TideProtobufSymbol {
  gint32 number;
  TideBytes name;
} TideProtobufSymbol;

typedef struct TideProtobufField {
  TideBytes name;
  guint32 number;
  TideProtobufKind kind;
  gboolean is_repeated;
  gboolean is_map;
  gboolean is_packable;
  gboolean is_always_there; /* it has no presence: if the message does not contain it, it has the default */
  gboolean is_required;
  gboolean is_closed;                /* ENUM: only numbers with a name are valid */
  guint32 oneof_first, n_oneof;      /* the fields of its oneof, of which at most one is present; 0: none */
  const TideProtobufType *message;   /* MESSAGE, GROUP */
  const TideProtobufSymbol *symbols; /* ENUM: sorted by number, without duplicates */
  guint32 n_symbols;
  gint32 default_number; /* ENUM */
} TideProtobufField;

/* Messages that are read as a single value. */
typedef enum TideProtobufStand {
  TIDE_PROTOBUF_FOR_FIELDS,
  TIDE_PROTOBUF_FOR_TIME,    /* its fields 1 and 2 are seconds and nanoseconds */
  TIDE_PROTOBUF_FOR_WRAPPED, /* its field 1 is the value */
} TideProtobufStand;

struct TideProtobufType {
  TideProtobufStand stand;
  const TideProtobufField *fields; /* in the order of the .proto file */
  guint32 n_fields;
  const guint32 *direct; /* by field number: 1 plus the index in fields; 0: there is none */
  guint32 n_direct;      /* fields with larger numbers are searched for */
  gboolean is_map_entry;
  const TideProtobufType *const *nested; /* messages declared inside it */
  guint32 n_nested;
  gconstpointer descriptor; /* libprotobuf's own, for writing messages */
};

/* typedef in decode_options.h */
struct TideProtobufSchema {
  TideSchemaFraming framing;
  const TideProtobufType *const *types; /* the messages of the selected file */
  guint32 n_types;
  const TideProtobufType *message; /* NULL: the frame selects it */
  gboolean has_required;           /* some message has a required field */
};

/* The type of @message, which the schema or the frame selects. @ret_frame_bytes: the frame's length, or the position of
 * the fault. Returns: NULL: the frame selects no type, see @ret_detail */
const TideProtobufType *tide_protobuf_type_of(const TideProtobufSchema *schema, TideBytes message,
                                              gsize *ret_frame_bytes, const char **ret_detail);

/**
 * tide_protobuf_schema_new: compile the messages of @set, a descriptor set written by protoc --include_imports
 * --descriptor_set_out.
 * @message: full name of the message; with TIDE_FRAMING_CONFLUENT it selects only the file, and NULL is the last file
 * of the set, which is the one that protoc was called with
 * Returns: (transfer full) (nullable): NULL with TIDE_ERROR_DATA, whose text continues "'FILE': ". Threads: any may
 * read one schema.
 */
TideProtobufSchema *tide_protobuf_schema_new(TideBytes set, const char *message, TideSchemaFraming framing,
                                             GError **error) G_GNUC_WARN_UNUSED_RESULT;
void tide_protobuf_schema_free(TideProtobufSchema *schema); /* NULL ok */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideProtobufSchema, tide_protobuf_schema_free)

G_END_DECLS
