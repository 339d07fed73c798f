/* Dependent rows, which follow another row, their parent: kept beside it, in its row buffer and then in its batch,
 * until HBase has acknowledged that row; only then do they go to lanes of their own. So an index never names a row that
 * is not there.
 *
 * A buffer of dependent rows is a run of records; each holds the row as it was mapped and all bytes it points to, so it
 * outlives the mapping's memory. Columns come back with prefix and hash alone: what encoding needs.
 *
 * Threads: the owning consumer's only; a batch that is on its way holds them unread. */
#pragma once

#include "model/row.h"
#include "write/batch.h"

G_BEGIN_DECLS

typedef struct TideDependentRow {
  TideSourceRef source;
  guint32 parent; /* the row it depends on: its place in the buffer, or in the batch */
  TideRow row;    /* borrowed from the buffer and the reader */
} TideDependentRow;

/* Adds a copy of @row, which came from @source. */
void tide_dependent_rows_append(TideBuffer *dependents, guint32 parent, const TideRow *row, TideSourceRef source);

/* The record at *@offset, and moves *@offset behind it; empty at the end. */
TideBytes tide_dependent_rows_next_record(const TideBuffer *dependents, gsize *offset);
guint32 tide_dependent_row_parent(TideBytes record);
TideSourceRef tide_dependent_row_source(TideBytes record);
/* Adds a copy of @record with another parent row. */
void tide_dependent_rows_append_record(TideBuffer *dependents, TideBytes record, guint32 parent);

/* The rows of a message that follow one of its rows, as a list: 1 + the place of each, 0 ends it. */
typedef struct TideDependents {
  guint32 first; /* that follows the row */
  guint32 next;  /* that follows the same row as this one */
} TideDependents;

/* The row that @row waits for: never one that waits itself, so that each dependent row goes with a row that is sent. */
guint32 tide_dependents_parent_of(const TideRow *rows, const TideRow *row);
/* Fills @dependents (element-type TideDependents), for each of a message's @rows, from the rows' own links. FALSE when
 * none of them follows another. */
gboolean tide_dependents_link(GArray *dependents, const TideRow *rows, guint32 n_rows);

/* Scratch memory for rows read back, kept from row to row. Zeroed: empty. */
typedef struct TideDependentRowReader {
  TideBuffer columns; /* of TideColumn */
  TideBuffer cells;   /* of TideCell */
} TideDependentRowReader;

void tide_dependent_row_reader_clear(TideDependentRowReader *reader);
/* Valid until the reader's next row, or until the record's buffer changes. */
TideDependentRow tide_dependent_row_read(TideDependentRowReader *reader, TideBytes record);

G_END_DECLS
