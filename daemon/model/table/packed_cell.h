/* Several fields in one cell's value: as a JSON object, or as a MessagePack map (by msgpack-c). A cell costs HBase far
 * more than its bytes, so this is the way to write many small fields fast. commands/read/packed_reader.h reads them
 * back.
 *
 * Texts come back as they went in: a number in MessagePack is an integer or a double only where printing that gives the
 * same text again (600.550 stays text, marked as a number by its use only), a nested JSON value stays JSON text. What
 * is not UTF-8 (or has a NUL) is binary in MessagePack; in JSON, which has no place for it, each bad byte becomes
 * U+FFFD. */
#pragma once

#include "model/reading.h"
#include "model/table/table.h"

G_BEGIN_DECLS

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
