/* Dependent rows follow another row, their parent. They are stored with it, in its row buffer and then in its batch,
 * and move to their own lanes when HBase has acknowledged it. An index therefore never names a missing row.
 *
 * A buffer of dependent rows is a sequence of records. Each contains the row as it was mapped and all bytes it refers
 * to, so it outlives the mapping's memory. Columns are restored with prefix and hash only, which is enough for
 * encoding.
 *
 * Threads: the owning consumer's only; a batch in flight does not read them. */
#pragma once

#include "model/row.h"
#include "write/batch.h"

G_BEGIN_DECLS

typedef struct TideDependentRow {
  TideSourceRef source;
  guint32 parent; /* index of the parent row in the buffer or batch */
  TideRow row;    /* borrowed from the buffer and the reader */
} TideDependentRow;

/* Adds a copy of @row, which came from @source. */
void tide_dependent_rows_append(TideBuffer *dependents, guint32 parent, const TideRow *row, TideSourceRef source);

/* Returns the record at *@offset and advances *@offset past it; empty at the end. */
TideBytes tide_dependent_rows_next_record(const TideBuffer *dependents, gsize *offset);
guint32 tide_dependent_row_parent(TideBytes record);
TideSourceRef tide_dependent_row_source(TideBytes record);
/* Adds a copy of @record with a different parent row. */
void tide_dependent_rows_append_record(TideBuffer *dependents, TideBytes record, guint32 parent);

/* Links the rows of a message that follow one of its rows: 1 + index, 0 at the end. */
typedef struct TideDependents {
  guint32 first; /* of the rows that follow this one */
  guint32 next;  /* of the rows with the same parent as this one */
} TideDependents;

/* The row that @row waits for: never a dependent row, so that each dependent row follows a row that is sent. */
guint32 tide_dependents_parent_of(const TideRow *rows, const TideRow *row);
/* Fills @dependents (element-type TideDependents), for each of a message's @rows, from the rows' own links. Returns
 * FALSE if no row follows another. */
gboolean tide_dependents_link(GArray *dependents, const TideRow *rows, guint32 n_rows);

/* Scratch memory for reading rows, reused. Zeroed: empty. */
typedef struct TideDependentRowReader {
  TideBuffer columns; /* of TideColumn */
  TideBuffer cells;   /* of TideCell */
} TideDependentRowReader;

void tide_dependent_row_reader_clear(TideDependentRowReader *reader);
/* Valid until the reader's next row, or until the record's buffer changes. */
TideDependentRow tide_dependent_row_read(TideDependentRowReader *reader, TideBytes record);

G_END_DECLS
