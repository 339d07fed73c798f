/* A mapped row: the key and cells of one reading in one table, before it is encoded. Scratch memory of the mapping,
 * valid until its next message. */
#pragma once

#include "util/bytes.h"

G_BEGIN_DECLS

/* A known column: constant parts of its cells, built once for each thread and table. */
typedef struct TideColumn {
  TideBytes family;
  TideBytes qualifier;
  TideBytes prefix; /* family and qualifier as wire bytes: put_encoder.h */
  guint64 hash;     /* XXH3_64bits() of prefix: rows/cells_in_doubt.c computes it again from encoded cells */
} TideColumn;

typedef struct TideCell {
  const TideColumn *column;
  TideBytes value;
  gint64 timestamp_ms; /* event time */
} TideCell;

typedef struct TideRow {
  guint32 table_index; /* in the configuration's tables; for a dated table the template's, until consumer/intake.c sets
                          the index of the table with that name */
  guint32 reading_index;
  TideBytes key;
  const TideCell *cells;
  guint32 n_cells;
  guint32 n_expired_cells; /* omitted cells: older than their time to live */
  gint64 ttl_ms;           /* 0: none */
  gint64 event_time_ns;
  gint64 delete_to_ms;  /* the row's families are deleted up to this cell time, inclusive, in the same mutation; 0:
                         * nothing is.  With cells: latest: replace; without: a tombstone */
  TideBytes table_name; /* of its dated table; empty: the table's own name */
  guint64 columns_id; /* for a row whose cells have one time and different columns: unique for each list of columns, in
                         whatever table; 0: unknown */
  TideBytes encoded;  /* with columns_id: the cells' wire bytes without their time, in sequence */
  guint32 identity;   /* of its reading (mapping/mapping.c), in a history table; 0: unknown, or another table */
  guint32 follows;    /* 1 + the index, in the message's rows, of the row that must be acknowledged before this one is
                         sent; 0: none */
} TideRow;

G_END_DECLS
