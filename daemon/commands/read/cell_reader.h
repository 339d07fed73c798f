/* Shows stored cells as what was written into them: packed cells as the columns they hold, values as the text that the
 * declared encoding was made from. A cell that does not look as it was declared is shown as it is stored, and counted.
 * Threads: one. */
#pragma once

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

/* Whether names of fields do not say themselves by their qualifiers. */
gboolean tide_table_renames_fields(const TideTable *table);

/* Whether a cell, or what is packed in one, keeps the kind of its value, or need not look as it is declared. */
gboolean tide_table_keeps_kinds(const TideTable *table);

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

G_END_DECLS
