/* Several fields in one cell's value: as a JSON object, or as a MessagePack map (by msgpack-c). A cell costs HBase far more
 * than its bytes, so this is the way to write many small fields fast.
 *
 * Texts come back as they went in: a number in MessagePack is an integer or a double only where printing that gives the same
 * text again (600.550 stays text, marked as a number by its use only), a nested JSON value stays JSON text. */
#pragma once

#include "model/reading.h"
#include "model/table.h"

G_BEGIN_DECLS

/* One packed value while it is made: begin, add, ..., end. Appends to @out; allocates only by growing that. JSON in the order
 * of the adds. */
typedef struct TidePacker {
  TidePacking packing;
  TideBuffer *out; /* borrowed */
  gsize count_offset; /* MessagePack: where the number of members stands */
  guint32 n_members;
} TidePacker;

void tide_packer_begin(TidePacker *packer, TidePacking packing, TideBuffer *out);
/* @name: any UTF-8. @text: of @kind, as in TideField; a NULL is written as null. */
void tide_packer_add(TidePacker *packer, TideBytes name, TideValueKind kind, TideBytes text);
/* FALSE, with what was appended taken back, when nothing was added. */
gboolean tide_packer_end(TidePacker *packer);

/* One member of a packed value. @text: as a reader would print it: strings unescaped, numbers as they were written, nested
 * values as JSON. Borrowed: valid inside the callback only. */
typedef gboolean (*TidePackedFunc)(TideBytes name, TideValueKind kind, TideBytes text, gpointer data);

/**
 * tide_packed_read: the members of @value, which may be anybody's bytes.
 * @func: return FALSE to stop early
 * Returns: FALSE with TIDE_ERROR_DATA when it is not a JSON object, or MessagePack map with texts for names. Bounded: depth 32,
 *     65,536 members, memory of a few times the value's size; lengths inside it are not trusted.
 * Threads: any. Allocates: yes; for readers, not for the daemon.
 */
gboolean tide_packed_read(TidePacking packing, TideBytes value, TidePackedFunc func, gpointer data,
                          GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
