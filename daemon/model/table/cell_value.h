/* A cell's value: a field's text, encoded as bytes; or several fields packed into one value, as a JSON object or a
 * MessagePack map (by msgpack-c). A cell costs HBase far more than its bytes, so packing is the fast way to write many
 * small fields. commands/read/packed_reader.h reads packed values.
 *
 * Packing preserves texts: a number in MessagePack is an integer or a double only if that prints as the same text
 * (600.550 stays a text), and a nested JSON value stays JSON text. A text that is not UTF-8 or contains a NUL is binary
 * in MessagePack; JSON cannot contain it, so each bad byte becomes U+FFFD. */
#pragma once

#include "model/reading.h"
#include "model/table/table.h"

G_BEGIN_DECLS

/**
 * tide_cell_value_append: append the value of @field, which is not null, to @out. INT64 accepts decimal integers from
 * Long.MIN_VALUE to Long.MAX_VALUE, including 5.0 and 1e3, and FLOAT64 decimal numbers, both in quotes or not. A
 * FLOAT64 must preserve all written digits, as it does for every printed double; FLOAT64_ROUNDED is the nearest double.
 * Numbers above the largest double are rejected. JSON puts texts in quotes and leaves numbers, booleans and JSON
 * unchanged.
 * Returns: FALSE with @ret_detail (a string literal) if the text is not such a number; @out is then unchanged.
 * Threads: any. Allocates: only by growing @out.
 */
gboolean tide_cell_value_append(TideEncoding encoding, const TideField *field, TideBuffer *out,
                                const char **ret_detail) G_GNUC_WARN_UNUSED_RESULT;

/* A packed value under construction: begin, add, ..., end. Members are in the order in which they were added.
 * Allocates: only by growing `out`. */
typedef struct TidePacker {
  TidePacking packing;
  TideBuffer *out; /* borrowed */
  gsize start;     /* of the value in out */
  guint32 n_members;
} TidePacker;

/* @packing: not TIDE_PACK_NONE */
void tide_packer_begin(TidePacker *packer, TidePacking packing, TideBuffer *out);
/* @name: any UTF-8, not yet added. @text: of @kind, as in TideField; a NULL is written as null. */
void tide_packer_add(TidePacker *packer, TideBytes name, TideValueKind kind, TideBytes text);
/* FALSE: nothing was added, and @out is as before. */
gboolean tide_packer_end(TidePacker *packer);

G_END_DECLS
