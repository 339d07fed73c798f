/* Shows stored cells as what was written into them: packed cells as the columns they hold, values as the text that the
 * declared encoding was made from. A cell that does not look as it was declared is shown as it is stored, and counted.
 * Threads: one. */
#pragma once

#include "commands/read/cell_origin.h"
#include "thrift/wire/rows.h"

G_BEGIN_DECLS

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
