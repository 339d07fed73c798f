/* Counts values that are lost because another reading has a different value for the same row, column and time: HBase
 * shows one of them. A reading that is sent again with another value, a correction, loses nothing. Pure.
 *
 * Messages are compared with earlier ones as long as their cells fit into 64 MiB; readings of one message are always
 * compared. */
#pragma once

#include "model/row.h"

G_BEGIN_DECLS

typedef struct TideOverwrittenCells TideOverwrittenCells;

TideOverwrittenCells *tide_overwritten_cells_new(guint n_tables);
void tide_overwritten_cells_free(TideOverwrittenCells *cells); /* NULL ok */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideOverwrittenCells, tide_overwritten_cells_free)

/* Adds the mapped rows of one message. */
void tide_overwritten_cells_add(TideOverwrittenCells *cells, const TideRow *rows, guint32 n_rows);

typedef struct TideOverwritten {
  guint64 n_cells;      /* in the table, of all messages */
  guint64 n_lost;       /* of these: another value replaced them */
  guint64 n_corrected;  /* others for which a later message had another value of the same reading */
  guint64 n_in_message; /* of the lost: replaced within the same message */
  char *row;            /* owned, printable: of the first lost cell; NULL: none */
  char *column;         /* owned: the same */
} TideOverwritten;

const TideOverwritten *tide_overwritten_cells_of(const TideOverwrittenCells *cells, guint table_index);

G_END_DECLS
