/* Avro object containers: files, or messages that contain their own schema. Reads heads and blocks, and finds the end
 * of an object by its schema. No count or length is trusted.
 *
 * Pure. Threads: any. */
#pragma once

#include "decode/avro_cursor.h"
#include "decode/avro_schema.h"

G_BEGIN_DECLS

#define TIDE_AVRO_SYNC_BYTES 16u

/* Maximum size of a container's head: its schema and a few more bytes. */
#define TIDE_AVRO_HEAD_MAX_BYTES (TIDE_AVRO_SCHEMA_MAX_BYTES + 65536)

typedef struct TideAvroHead {
  gsize len;        /* of the head */
  TideBytes schema; /* the writer's, as JSON; it points into the head, like the next two */
  TideBytes codec;  /* `null` if the head names none */
  TideBytes sync;   /* follows each block */
} TideAvroHead;

typedef enum TideAvroResult {
  TIDE_AVRO_WHOLE,
  TIDE_AVRO_CUT, /* the text ends too early */
  TIDE_AVRO_BAD, /* the text is not valid */
} TideAvroResult;

/* Checks only the first bytes. */
gboolean tide_avro_is_container(TideBytes text);

/* Reads the head at the beginning of @text, which may be truncated. @ret_detail: with BAD: why; never freed */
TideAvroResult tide_avro_head_read(TideBytes text, TideAvroHead *ret_head, const char **ret_detail);

/* tide_avro_schema_new() for a file that begins with @begin, which is the whole file or has TIDE_AVRO_HEAD_MAX_BYTES.
 * The schema is the file's text, or in the head of a container. */
const TideAvroSchema *tide_avro_schema_of_file(TideBytes begin, GError **error) G_GNUC_WARN_UNUSED_RESULT;

void tide_avro_head_append(TideBuffer *out, TideBytes schema, TideBytes sync);

/* The prefix of a block: its number of objects and of bytes. */
typedef struct TideAvroBlock {
  gsize start; /* of its bytes */
  gint64 n_objects;
  gint64 n_bytes;
} TideAvroBlock;

TideAvroResult tide_avro_block_read(TideBytes text, TideAvroBlock *ret_block);

/* Appends a block with one @object. */
void tide_avro_block_append(TideBuffer *out, TideBytes object, TideBytes sync);

/**
 * tide_avro_object_pass: find the end of the object that begins at *@at in @text.
 * @n_empty: counts values that have no bytes; share it between all objects of a block, so that such values cannot take
 * unlimited time
 * FALSE: there is no valid object, see @ret_detail
 */
gboolean tide_avro_object_pass(const TideAvroSchema *schema, TideBytes text, gsize *at, guint64 *n_empty,
                               const char **ret_detail) G_GNUC_WARN_UNUSED_RESULT;

/* Skips the value of @node, which is not a union, at the start of @in. @n_empty: as above */
gboolean tide_avro_node_pass(const TideAvroSchema *schema, const TideAvroNode *node, TideAvroCursor *in,
                             guint64 *n_empty) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
