/* In which order rows leave: by key, as HBase keeps them. Rows that lie beside each other there are found from the same
 * place of its memory store, which is most of what a row costs it: measured, a tenth of its CPU.
 *
 * Threads: any. */
#pragma once

#include "util/bytes.h"

G_BEGIN_DECLS

/* Rows that are put in order at a time, in memory on the stack: about a call's. */
#define TIDE_ROW_ORDER_MAX 2048u

typedef struct TideOrderedRow {
  guint64 sort_key; /* scratch */
  TideBytes key;    /* borrowed */
  guint32 row;      /* the caller's */
} TideOrderedRow;

/* @rows: at most TIDE_ROW_ORDER_MAX, with key and row filled in; those of one key stay in the order of row. */
void tide_row_order_sort(TideOrderedRow *rows, guint32 n_rows);

G_END_DECLS
