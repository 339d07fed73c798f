/* Reads what model/table/cell_value.h packed, or others did: the members of a JSON object, or of a MessagePack map, in
 * one cell's value. It lies here because JSON is read by the decoder of messages: strictly, and with the text of
 * numbers kept. */
#pragma once

#include "model/table/cell_value.h"

G_BEGIN_DECLS

/* One member of a packed value. @text: as a reader would print it: strings unescaped, numbers as they were written,
 * nested values as JSON; of MessagePack, binary values and extensions as their bytes, doubles as short as they can be
 * written, and those that are no numbers as strings: NaN, Infinity, -Infinity. Borrowed: valid inside the callback
 * only. */
typedef gboolean (*TidePackedFunc)(TideBytes name, TideValueKind kind, TideBytes text, gpointer data);

/**
 * tide_packed_read: the members of @value, which may be anybody's bytes.
 * @packing: not TIDE_PACK_NONE
 * @func: return FALSE to stop early
 * Returns: FALSE with TIDE_ERROR_DATA, before @func is called for any member, when @value is not one JSON object (or
 * has a name twice, or one longer than TIDE_FIELD_NAME_MAX_BYTES), or not one MessagePack map with texts for names, or
 * has more than 32 levels or 65,536 members. Lengths inside it are not trusted: memory is in proportion to what is
 * there, at most some 50 bytes for each byte of @value. Threads: any. Allocates: yes; for readers, not for the daemon.
 */
gboolean tide_packed_read(TidePacking packing, TideBytes value, TidePackedFunc func, gpointer data,
                          GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
