/* A cell's value: a field's text as bytes, in the encodings that change it; or several fields in one value, as a JSON
 * object, or as a MessagePack map (by msgpack-c). A cell costs HBase far more than its bytes, so this is the way to
 * write many small fields fast. commands/read/packed_reader.h reads them back.
 *
 * Texts come back as they went in: a number in MessagePack is an integer or a double only where printing that gives the
 * same text again (600.550 stays text, marked as a number by its use only), a nested JSON value stays JSON text. What
 * is not UTF-8 (or has a NUL) is binary in MessagePack; in JSON, which has no place for it, each bad byte becomes
 * U+FFFD. */
#pragma once

#include "model/reading.h"
#include "model/table/table.h"

G_BEGIN_DECLS

/**
 * tide_cell_value_append: append the value of @field, which is not null, to @out.
 * INT64 takes decimal integers from Long.MIN_VALUE to Long.MAX_VALUE, 5.0 and 1e3 among them, FLOAT64 decimal numbers,
 * both as they are written by the sender, in quotes or not. A FLOAT64 must hold all digits that were written, those that
 * any program prints of a double among them; FLOAT64_ROUNDED is the nearest double. What is beyond the largest is no
 * number. JSON puts texts in quotes and leaves numbers, booleans and JSON as they are. Returns: FALSE with @ret_detail
 * (a string literal) when the text is no such number; @out is as it was then. Threads: any. Allocates: only by growing
 * @out.
 */
gboolean tide_cell_value_append(TideEncoding encoding, const TideField *field, TideBuffer *out,
                                const char **ret_detail) G_GNUC_WARN_UNUSED_RESULT;

/* One packed value while it is made: begin, add, ..., end. Appends to @out; allocates only by growing that. Members
 * stand in the order of the adds. */
typedef struct TidePacker {
  TidePacking packing;
  TideBuffer *out; /* borrowed */
  gsize start;     /* of the value in out */
  guint32 n_members;
} TidePacker;

/* @packing: not TIDE_PACK_NONE */
void tide_packer_begin(TidePacker *packer, TidePacking packing, TideBuffer *out);
/* @name: any UTF-8, not added before. @text: of @kind, as in TideField; a NULL is written as null. */
void tide_packer_add(TidePacker *packer, TideBytes name, TideValueKind kind, TideBytes text);
/* FALSE, with what was appended taken back, when nothing was added. */
gboolean tide_packer_end(TidePacker *packer);

G_END_DECLS
