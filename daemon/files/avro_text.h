/* Converts an Avro object container file (magic `Obj\x01`, the writer's schema, blocks of objects) to a plain form: the
 * file's header without compression, followed by one block for each object. So a record is a block, and together with
 * the header it is a container file that can be read on its own. The plain form depends only on the bytes read so far,
 * as with a compressed file.
 *
 * No count or length is trusted: blocks are bounded, compressed and uncompressed, and a block ends with its objects.
 *
 * Threads: one. Memory: the largest block of the file, compressed and uncompressed, and the object's schema. */
#pragma once

#include "files/file_text.h"

G_BEGIN_DECLS

/* Maximum size of a block, both compressed and decompressed: writers use some thousand bytes to a few million. */
#define TIDE_AVRO_BLOCK_MAX_BYTES (64u << 20)

typedef struct TideAvroText TideAvroText;

/* @text: borrowed */
TideAvroText *tide_avro_text_new(TideFileText *text);
void tide_avro_text_free(TideAvroText *avro); /* NULL ok */

/* As tide_file_text_read(). Errors: DATA also if the file is not a container, is damaged, or uses an unsupported
 * codec. */
gboolean tide_avro_text_read(TideAvroText *avro, guint8 *to, gsize capacity, gsize *ret_n_bytes,
                             GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* As tide_file_text_has_ended(). */
gboolean tide_avro_text_has_ended(const TideAvroText *avro);

G_END_DECLS
