/* The messages of a descriptor set, compiled for reading by them. Immutable; they name each other by pointers, so that
 * a type may hold itself. */
#pragma once

#include "decode/decode_options.h"
#include "util/bytes.h"

G_BEGIN_DECLS

/* As the types are numbered in descriptor sets. */
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
  gboolean is_always_there; /* it has no presence: where the message has none, its value is the default */
  gboolean is_required;
  gboolean is_closed;                /* ENUM: a number that has no name is no value of it */
  guint32 oneof_first, n_oneof;      /* the fields of which one at most is there; 0: it may be there with any */
  const TideProtobufType *message;   /* MESSAGE, GROUP */
  const TideProtobufSymbol *symbols; /* ENUM: by their numbers, each once */
  guint32 n_symbols;
  gint32 default_number; /* ENUM */
} TideProtobufField;

/* Messages that stand for one value. */
typedef enum TideProtobufStand {
  TIDE_PROTOBUF_FOR_FIELDS,
  TIDE_PROTOBUF_FOR_TIME,    /* seconds and nanoseconds are its fields 1 and 2 */
  TIDE_PROTOBUF_FOR_WRAPPED, /* the value is its field 1 */
} TideProtobufStand;

struct TideProtobufType {
  TideProtobufStand stand;
  const TideProtobufField *fields; /* in the order of the .proto file */
  guint32 n_fields;
  const guint32 *direct; /* by their numbers, 1 and the places of fields; 0: there is none */
  guint32 n_direct;      /* larger numbers are searched for among the fields */
  gboolean is_map_entry;
  const TideProtobufType *const *nested; /* messages that it declares */
  guint32 n_nested;
  gconstpointer descriptor; /* libprotobuf's own, for those that write messages */
};

/* typedef in decode_options.h */
struct TideProtobufSchema {
  TideSchemaFraming framing;
  const TideProtobufType *const *types; /* the messages of the file that is meant */
  guint32 n_types;
  const TideProtobufType *message; /* NULL: the frame says which */
  gboolean has_required;           /* some message has a field that must be there */
};

/* What @message is, by its frame where the schema has one. @ret_frame_bytes: in front of its fields, or where the fault
 * is. Returns: NULL: its frame names none, see @ret_detail */
const TideProtobufType *tide_protobuf_type_of(const TideProtobufSchema *schema, TideBytes message,
                                              gsize *ret_frame_bytes, const char **ret_detail);

/**
 * tide_protobuf_schema_new: the messages of @set, a descriptor set as protoc --include_imports
 * --descriptor_set_out writes it.
 * @message: the full name of one; with TIDE_FRAMING_CONFLUENT any message of its file may come, and NULL is the file
 * that stands last in the set, as protoc puts the one that it was called with
 * Returns: (transfer full) (nullable): NULL with TIDE_ERROR_DATA, which goes on after "'FILE': ". Threads: any may read
 * one schema.
 */
TideProtobufSchema *tide_protobuf_schema_new(TideBytes set, const char *message, TideSchemaFraming framing,
                                             GError **error) G_GNUC_WARN_UNUSED_RESULT;
void tide_protobuf_schema_free(TideProtobufSchema *schema); /* NULL ok */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideProtobufSchema, tide_protobuf_schema_free)

G_END_DECLS
