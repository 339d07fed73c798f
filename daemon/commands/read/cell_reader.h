/* Shows stored cells as what was written into them: packed cells as the columns they hold, values as the text that the
 * declared encoding was made from. A cell that does not look as it was declared is shown as it is stored, and counted.
 * Threads: one. */
#pragma once

#include "model/table/cell_value.h"
#include "model/table/table.h"
#include "thrift/wire/rows.h"

G_BEGIN_DECLS

/* How one column of a table is declared. NULL item: by its rule alone. */
typedef struct TideDeclaredColumn {
  const TideColumnRule *rule; /* NULL: no rule makes such a column */
  const TideColumnItem *item;
} TideDeclaredColumn;

/* Of a shown cell, in a table that does not say it by the cell itself: which it is. */
typedef struct TideCellOrigin {
  TideBytes field;  /* the name of the field it was made of; empty: of none that can be told */
  const char *kind; /* of the value; NULL: the table does not keep it */
} TideCellOrigin;

/* What of a cell its column does not say. @ret_renames: of which field it was made; @ret_keeps_kinds: the kind of its
 * value, which is kept, or which need not look as it is declared. */
void tide_cell_reader_columns(const TideTable *table, gboolean *ret_renames, gboolean *ret_keeps_kinds);

typedef struct TideCellReader TideCellReader;

/* @table, @names: borrowed for the reader's life. */
TideCellReader *tide_cell_reader_new(const TideTable *table, const TideFieldNames *names);
void tide_cell_reader_free(TideCellReader *reader); /* NULL ok */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideCellReader, tide_cell_reader_free)

/* @row with its cells as they are to be shown: a packed one becomes a cell for each of its members, of its family and
 * time. Valid until the next call, and as long as @row. */
const TideResultRow *tide_cell_reader_read(TideCellReader *reader, const TideResultRow *row);

/* Of the cells that were read last, in their order. Valid until the next read. */
const TideCellOrigin *tide_cell_reader_origins(const TideCellReader *reader);

/* Cells that were not as declared: not the packed form, or of another length than the encoding's; or that several
 * declarations may have made, of which none is told by the value. */
guint64 tide_cell_reader_n_unread(const TideCellReader *reader);

/* How one column is declared: whose value an index's time is read from. */
TideDeclaredColumn tide_cell_reader_find(const TideCellReader *reader, TideBytes family, TideBytes qualifier);

/* ---- packed_reader.c: the members of a packed cell's value ---- */

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
