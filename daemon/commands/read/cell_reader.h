/* Decodes stored cells: packed cells into their columns, and values into the text from which the declared encoding was
 * made. A cell that does not match its declaration is shown as stored, and counted. Threads: one. */
#pragma once

#include "model/table/cell_value.h"
#include "model/table/table.h"
#include "thrift/wire/rows.h"

G_BEGIN_DECLS

/* The declaration of one column. NULL item: declared by its rule alone. */
typedef struct TideDeclaredColumn {
  const TideColumnRule *rule; /* NULL: no rule makes such a column */
  const TideColumnItem *item;
} TideDeclaredColumn;

/* The origin of a cell, if the cell itself does not show it. */
typedef struct TideCellOrigin {
  TideBytes field;  /* the name of its field; empty: unknown */
  const char *kind; /* of the value; NULL: the table does not store it */
} TideCellOrigin;

/* Determines which facts the qualifiers of @table do not show. @ret_renames: the name of the cell's field.
 * @ret_keeps_kinds: the kind of its value, which is stored, or may differ from the declaration. */
void tide_cell_reader_columns(const TideTable *table, gboolean *ret_renames, gboolean *ret_keeps_kinds);

typedef struct TideCellReader TideCellReader;

/* @table, @names: borrowed for the reader's lifetime. */
TideCellReader *tide_cell_reader_new(const TideTable *table, const TideFieldNames *names);
void tide_cell_reader_free(TideCellReader *reader); /* NULL ok */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideCellReader, tide_cell_reader_free)

/* Returns @row with decoded cells: a packed cell becomes one cell for each member, with its family and time. Valid
 * until the next call, and as long as @row. */
const TideResultRow *tide_cell_reader_read(TideCellReader *reader, const TideResultRow *row);

/* The origins of the last decoded cells, in their order. Valid until the next read. */
const TideCellOrigin *tide_cell_reader_origins(const TideCellReader *reader);

/* Number of cells that do not match their declaration: not packed as declared, or with another length than the
 * encoding's. Also counts cells that several declarations may have made and whose value does not show which. */
guint64 tide_cell_reader_n_unread(const TideCellReader *reader);

/* The declaration of a column: for the column from which an index's time is read. */
TideDeclaredColumn tide_cell_reader_find(const TideCellReader *reader, TideBytes family, TideBytes qualifier);

/* ---- packed_reader.c: the members of a packed cell's value ---- */

/* One member of a packed value. @text: as printed for readers: strings unescaped, numbers as written, nested values as
 * JSON. In MessagePack, binary values and extensions are their bytes, doubles have as few digits as possible, and those
 * that are not numbers are the strings NaN, Infinity, -Infinity. Borrowed: valid inside the callback only. */
typedef gboolean (*TidePackedFunc)(TideBytes name, TideValueKind kind, TideBytes text, gpointer data);

/**
 * tide_packed_read: the members of @value, which may contain any bytes.
 * @packing: not TIDE_PACK_NONE
 * @func: return FALSE to stop early
 * Returns: FALSE with TIDE_ERROR_DATA, before @func is called, unless @value is one JSON object with unique names of at
 * most TIDE_FIELD_NAME_MAX_BYTES, or one MessagePack map with texts as names, and has at most 32 levels and 65,536
 * members. Lengths inside it are not trusted: memory is proportional to the actual bytes, at most some 50 bytes for
 * each byte of @value. Threads: any. Allocates: yes; for readers, not for the daemon.
 */
gboolean tide_packed_read(TidePacking packing, TideBytes value, TidePackedFunc func, gpointer data,
                          GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
