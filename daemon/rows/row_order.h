/* The order in which rows leave: by key, as HBase stores them. HBase finds adjacent rows from the same position of its
 * memory store, which is most of a row's cost: a tenth of its CPU, measured.
 *
 * Threads: any. */
#pragma once

#include "util/bytes.h"

G_BEGIN_DECLS

/* Rows sorted at a time, in memory on the stack: about one call. */
#define TIDE_ROW_ORDER_MAX 2048u

typedef struct TideOrderedRow {
  guint64 sort_key; /* scratch */
  TideBytes key;    /* borrowed */
  guint32 row;      /* the caller's */
} TideOrderedRow;

/* @rows: at most TIDE_ROW_ORDER_MAX, with key and row set; rows with the same key stay ordered by row. */
void tide_row_order_sort(TideOrderedRow *rows, guint32 n_rows);

G_END_DECLS
