/* Avro's object containers: files, or messages that say their schema themselves. Their heads and blocks, and where an
 * object ends by its schema. No count or length is trusted.
 *
 * Pure. Threads: any. */
#pragma once

#include "decode/avro_cursor.h"
#include "decode/avro_schema.h"

G_BEGIN_DECLS

#define TIDE_AVRO_SYNC_BYTES 16u

/* Of the head of a container: its schema, and a few bytes more. */
#define TIDE_AVRO_HEAD_MAX_BYTES (TIDE_AVRO_SCHEMA_MAX_BYTES + 65536)

typedef struct TideAvroHead {
  gsize len;        /* of the head */
  TideBytes schema; /* as all, in the head: the writer's, JSON */
  TideBytes codec;  /* `null` where none is named */
  TideBytes sync;   /* what stands behind each block */
} TideAvroHead;

typedef enum TideAvroResult {
  TIDE_AVRO_WHOLE,
  TIDE_AVRO_CUT, /* the text ends before */
  TIDE_AVRO_BAD, /* what is there is none */
} TideAvroResult;

/* By its first bytes; what follows them may be anything. */
gboolean tide_avro_is_container(TideBytes text);

/* The head at the beginning of @text, as far as it is there. @ret_detail: with BAD: why; never freed */
TideAvroResult tide_avro_head_read(TideBytes text, TideAvroHead *ret_head, const char **ret_detail);

/* tide_avro_schema_new() of a file that begins with @begin, which is all of it or has TIDE_AVRO_HEAD_MAX_BYTES: of its
 * text, or where it is a container of the schema in its head. */
const TideAvroSchema *tide_avro_schema_of_file(TideBytes begin, GError **error) G_GNUC_WARN_UNUSED_RESULT;

void tide_avro_head_append(TideBuffer *out, TideBytes schema, TideBytes sync);

/* What stands in front of a block: how many objects are in it, and how many bytes they take. */
typedef struct TideAvroBlock {
  gsize start; /* of its bytes */
  gint64 n_objects;
  gint64 n_bytes;
} TideAvroBlock;

TideAvroResult tide_avro_block_read(TideBytes text, TideAvroBlock *ret_block);

/* A block of one @object. */
void tide_avro_block_append(TideBuffer *out, TideBytes object, TideBytes sync);

/**
 * tide_avro_object_pass: the end of the object that begins at *@at in @text.
 * @n_empty: counts values that take no bytes; the same for all objects of a block, which an object of these may not
 * make long work of
 * FALSE: there is none, see @ret_detail
 */
gboolean tide_avro_object_pass(const TideAvroSchema *schema, TideBytes text, gsize *at, guint64 *n_empty,
                               const char **ret_detail) G_GNUC_WARN_UNUSED_RESULT;

/* Passes over the value of @node, which is no union, that begins at @in. @n_empty: as above */
gboolean tide_avro_node_pass(const TideAvroSchema *schema, const TideAvroNode *node, TideAvroCursor *in,
                             guint64 *n_empty) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
