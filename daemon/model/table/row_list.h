/* The rows of one message while they are made. Keys, names of tables and values that are made are appended to one
 * buffer, which moves as it grows: until all rows are there, they are known by their place in it, and resolving sets
 * the pointers. */
#pragma once

#include "model/table/shape_columns.h"

G_BEGIN_DECLS

/* Where a row's key and name lie in bytes. */
typedef struct TideRowSpan {
  gsize key_offset;
  gsize key_len;
  gsize name_offset;
  gsize name_len; /* 0: the table's own name */
  guint first_cell;
  gsize encoded_offset; /* in encoded; with the row's columns_id */
  gsize encoded_len;
} TideRowSpan;

/* A cell whose value lies in bytes. */
typedef struct TideComputedValue {
  guint cell; /* its place in cells */
  gsize offset;
} TideComputedValue;

/* What a row of a known shape is made of. */
typedef struct TideUniformCells {
  const TideShapeColumns *columns; /* borrowed; NULL: none is there */
  guint32 reading_index;
  gint64 timestamp_ms;
  guint first_cell; /* its place in cells */
  gsize value_bytes;
  gsize encoded_offset; /* in encoded */
  gsize encoded_len;
} TideUniformCells;

typedef struct TideRowList {
  TideBuffer bytes;
  TideBuffer
      cells; /* of TideCell: those of each row in turn. A buffer, since one is added for each value that is read */
  GArray *computed;         /* owned (element-type TideComputedValue) */
  GArray *rows;             /* owned (element-type TideRow) */
  GArray *spans;            /* owned (element-type TideRowSpan), one for each of rows */
  TideBuffer encoded;       /* cells as wire bytes, of rows with a columns_id */
  TideUniformCells uniform; /* of the last row of that kind: another table's may have the same cells */
} TideRowList;

void tide_row_list_init(TideRowList *list);
void tide_row_list_clear(TideRowList *list);
void tide_row_list_reset(TideRowList *list); /* empties it, keeps the memory */

static inline guint
tide_row_list_n_cells(const TideRowList *list)
{
  return (guint)(list->cells.len / sizeof(TideCell));
}

static inline void
tide_row_list_add_cell(TideRowList *list, TideCell cell)
{
  *(TideCell *)(gpointer)tide_buffer_reserve(&list->cells, sizeof cell) = cell;
  list->cells.len += sizeof cell;
}

/* How far a list has come, to return to when a row turns out not to be made. */
typedef struct TideRowListMark {
  gsize bytes_len;
  guint n_cells;
  guint n_computed;
  gsize encoded_len;
} TideRowListMark;

static inline TideRowListMark
tide_row_list_mark(const TideRowList *list)
{
  return (TideRowListMark){list->bytes.len, tide_row_list_n_cells(list), list->computed->len, list->encoded.len};
}

void tide_row_list_return(TideRowList *list, TideRowListMark mark);

/* The same from behind rows that were made: @n_rows of them there were at @mark. */
void tide_row_list_return_rows(TideRowList *list, guint n_rows, TideRowListMark mark);

/* Sets key, table_name and cells of all rows, and the values that were made. Nothing is appended afterwards. */
void tide_row_list_resolve(TideRowList *list);

static inline TideRow *
tide_row_list_row(const TideRowList *list, guint index)
{
  return &g_array_index(list->rows, TideRow, index);
}

G_END_DECLS
