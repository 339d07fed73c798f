/* An Avro object container file (magic `Obj\x01`, the writer's schema, blocks of objects) as text of one plain form:
 * the head of such a file without compression, and behind it a block for each object. So a record is a block, and with
 * the head in front of it a container file of its own, which says all that its reader must know, wherever it is kept.
 * What comes next follows from what was read alone, as with a compressed file.
 *
 * No count or length is trusted: blocks are bounded, compressed and not, and a block ends when its objects have.
 *
 * Threads: one. Memory: the largest block of the file, compressed and not, and the object's schema. */
#pragma once

#include "files/file_text.h"

G_BEGIN_DECLS

/* Of a block, before and after it is decompressed: writers make them of some thousand bytes to a few million. */
#define TIDE_AVRO_BLOCK_MAX_BYTES (64u << 20)

typedef struct TideAvroText TideAvroText;

/* @text: borrowed */
TideAvroText *tide_avro_text_new(TideFileText *text);
void tide_avro_text_free(TideAvroText *avro); /* NULL ok */

/* As tide_file_text_read(). Errors: DATA also where the file is no such container, or damaged, or of a codec that
 * cannot be read. */
gboolean tide_avro_text_read(TideAvroText *avro, guint8 *to, gsize capacity, gsize *ret_n_bytes,
                             GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* As tide_file_text_has_ended(). */
gboolean tide_avro_text_has_ended(const TideAvroText *avro);

G_END_DECLS
