/* Values that are lost since another reading gives the same row, column and time a different one: HBase shows one of
 * them. A reading that is sent again with another value, a correction, loses nothing. Pure.
 *
 * Messages are compared with those before them as far as 64 MiB hold their cells; the readings of one message always.
 */
#pragma once

#include "model/row.h"

G_BEGIN_DECLS

typedef struct TideOverwrittenCells TideOverwrittenCells;

TideOverwrittenCells *tide_overwritten_cells_new(guint n_tables);
void tide_overwritten_cells_free(TideOverwrittenCells *cells); /* NULL ok */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideOverwrittenCells, tide_overwritten_cells_free)

/* The rows of one message, as they were mapped. */
void tide_overwritten_cells_add(TideOverwrittenCells *cells, const TideRow *rows, guint32 n_rows);

typedef struct TideOverwritten {
  guint64 n_cells;      /* of the table, of all messages */
  guint64 n_lost;       /* of these: another value came for their place */
  guint64 n_corrected;  /* others to which a later message gave another value of the same reading */
  guint64 n_in_message; /* of the lost: it came by the same message */
  char *row;            /* owned, printable: of the first that was lost; NULL: none was */
  char *column;         /* owned: the same */
} TideOverwritten;

const TideOverwritten *tide_overwritten_cells_of(const TideOverwrittenCells *cells, guint table_index);

G_END_DECLS
