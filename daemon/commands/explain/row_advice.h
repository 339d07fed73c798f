/* What HBase makes of a row, and what an operator should know of it before there are millions: for `explain`. The
 * warnings of a table's declaration alone come from loading the configuration; here are those that take a reading.
 * Pure. */
#pragma once

#include "model/row.h"
#include "model/table/table.h"

G_BEGIN_DECLS

/* HBase's own advice. */
#define TIDE_ROW_ADVICE_CELL_BYTES (10u * 1000 * 1000)
#define TIDE_ROW_ADVICE_ROW_BYTES (100u * 1000 * 1000)

/* Family and qualifier together, which are stored with each cell. */
#define TIDE_ROW_ADVICE_NAME_BYTES 64u

/* What a cell takes in HBase, before compression: its lengths, type and time (20 bytes), and with each cell again the
 * row's key and the column's name. */
gsize tide_stored_cell_bytes(const TideRow *row, const TideCell *cell);

/* How often a row gets the cells of a reading, where the qualifier changes from reading to reading. */
typedef enum TideRowGrowth {
  TIDE_ROW_ONE_READING, /* the columns are the same for every reading: none is added */
  TIDE_ROW_SLOTS,       /* a column for each slot of the row's time, or of a clock that begins again */
  TIDE_ROW_WITHOUT_END, /* a column for each slot of time, and no time in the key that ends the row */
  TIDE_ROW_BY_VALUE,    /* a column for each value of a field */
} TideRowGrowth;

typedef struct TideRowShape {
  TideRowGrowth growth;
  guint64 n_slots;      /* SLOTS: in one row, at the most; else 1 */
  guint64 stored_bytes; /* of the reading's cells */
  guint64 value_bytes;  /* of them, the values */
} TideRowShape;

/* @reading: the one that made @row, with the row's event time. */
TideRowShape tide_row_shape(const TideTable *table, const TideReading *reading, const TideRow *row);

/* Sentences without full stop: cells and rows that are too large, names that are long. What a table's declaration alone
 * tells, as that its rows grow without bound, is a warning of the configuration. (transfer full) (element-type utf8) */
GPtrArray *tide_row_advice(const TideRow *row, const TideRowShape *shape);

G_END_DECLS
