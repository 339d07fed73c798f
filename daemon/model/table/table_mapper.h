/* Maps a reading to its row in one table. Each thread has one mapper per table, which owns the columns it has seen.
 *
 * A field becomes a cell if a rule names it; otherwise if it matches a rule's pattern (the first match counts);
 * otherwise if there is a rule "*". Patterns and "*" skip fields of the table's key and of its time (unless
 * with_key_fields: see tide_table_key_fields()), and the record's own values ("$key", ...:
 * tide_field_name_is_of_record()). A field that several rules name has several cells. Computed values (constants, the
 * time, parts of the key) have a cell in each row, regardless of the reading.
 *
 * A null field produces no cell, an empty cell (a null in a packed cell), or a rejected message, by its rule's policy.
 */
#pragma once

#include "model/reject.h"
#include "model/table/field_columns.h"
#include "thrift/wire/wire.h"

G_BEGIN_DECLS

/* ---- rows of one message under construction ----
 *
 * Keys, table names and computed values are appended to one buffer, which moves as it grows. They are therefore
 * offsets until all rows are complete; resolving sets the pointers. */

/* Offsets of a row's key and table name in `bytes`. */
typedef struct TideRowSpan {
  gsize key_offset;
  gsize key_len;
  gsize name_offset;
  gsize name_len; /* 0: the table's own name */
  guint first_cell;
  gsize encoded_offset; /* in encoded; with the row's columns_id */
  gsize encoded_len;
} TideRowSpan;

/* A cell whose value is in `bytes`. */
typedef struct TideComputedValue {
  guint cell; /* index in cells */
  gsize offset;
} TideComputedValue;

/* The cells of a row with a known shape. */
typedef struct TideUniformCells {
  const TideShapeColumns *columns; /* borrowed; NULL: there is no such row */
  guint32 reading_index;
  gint64 timestamp_ms;
  guint first_cell; /* index in cells */
  gsize value_bytes;
  gsize encoded_offset; /* in encoded */
  gsize encoded_len;
} TideUniformCells;

typedef struct TideRowList {
  TideBuffer bytes;
  /* Buffers where one is added for each row or value: g_array_append_val() is a function call. */
  TideBuffer cells;         /* of TideCell, row by row */
  TideBuffer rows;          /* of TideRow */
  TideBuffer spans;         /* of TideRowSpan, one for each row */
  GArray *computed;         /* owned (element-type TideComputedValue) */
  TideBuffer encoded;       /* cells as wire bytes, for rows with a columns_id */
  TideUniformCells uniform; /* of the last such row; the row of another table may have the same cells */
} TideRowList;

void tide_row_list_init(TideRowList *list);
void tide_row_list_clear(TideRowList *list);
void tide_row_list_reset(TideRowList *list); /* empties the list, keeps its memory */

static inline guint
tide_row_list_n_cells(const TideRowList *list)
{
  return (guint)(list->cells.len / sizeof(TideCell));
}

static inline guint
tide_row_list_n_rows(const TideRowList *list)
{
  return (guint)(list->rows.len / sizeof(TideRow));
}

static inline void
tide_row_list_add_cell(TideRowList *list, TideCell cell)
{
  *(TideCell *)(gpointer)tide_buffer_reserve(&list->cells, sizeof cell) = cell;
  list->cells.len += sizeof cell;
}

/* A position in a list, to return to if a row is not completed. */
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

/* The same, and removes complete rows: at @mark there were @n_rows. */
void tide_row_list_return_rows(TideRowList *list, guint n_rows, TideRowListMark mark);

/* Sets key, table_name and cells of all rows, and the computed values. Nothing may be appended afterwards. */
void tide_row_list_resolve(TideRowList *list);

static inline TideRow *
tide_row_list_row(const TideRowList *list, guint index)
{
  return (TideRow *)(gpointer)list->rows.data + index;
}

/* ---- mapping ---- */

typedef struct TideTableMapper TideTableMapper;

typedef struct TideMapperLimits {
  guint32 max_cell_bytes; /* hbase.max_cell_bytes: HBase's client refuses larger cells. It counts row key, family,
                           * qualifier, value and 20 bytes (hbase.client.keyvalue.maxsize, 10 MB) */
  guint32 max_row_bytes;  /* maximum encoded size of a row, which must fit into a call */
} TideMapperLimits;

/* @table, @names: borrowed for the mapper's life; @names is the thread's own copy.
 * @time_field: the field of the table's event time, or TIDE_NAME_NONE. */
TideTableMapper *tide_table_mapper_new(const TideTable *table, const TideFieldNames *names, TideNameId time_field,
                                       TideWireProtocol protocol, TideMapperLimits limits);
void tide_table_mapper_free(TideTableMapper *mapper);
void tide_table_mapper_set_max_row_bytes(TideTableMapper *mapper, guint32 max_row_bytes);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideTableMapper, tide_table_mapper_free)

/* The result of mapping a reading to a table. */
typedef enum TideMapOutcome {
  TIDE_MAP_ROW,      /* a row was appended, without the cells that have expired */
  TIDE_MAP_EXPIRED,  /* no row: all its cells are older than their time to live, so they could never be read */
  TIDE_MAP_REJECTED, /* the caller rejects the whole message */
} TideMapOutcome;

typedef struct TideMapRequest {
  const TideReading *reading; /* its event_time_ns is the table's */
  gint64 cell_time_ms;        /* of its cells */
  gint64 now_epoch_ms;        /* decides which cells have expired; 0: none */
} TideMapRequest;

/**
 * tide_table_mapper_map: append the row of a reading to @list. The caller has checked the table's conditions.
 * Returns: without a row, @list is unchanged. With REJECTED, @ret_reject is filled. In addition to the key's reasons:
 * NO_CELLS: no cell; CELL_TOO_LARGE, TOO_LARGE: a cell or the row exceeds its limit; TYPE: a null that the rule
 * rejects; NUMBER: the encoding or unit needs a number; BAD_COLUMN: an empty name; MISSING_FIELD: a qualifier or
 * computed value needs an absent field; DUPLICATE_FIELD: two fields have one column.
 * Allocates: when a field or column is seen for the first time, and to grow @list.
 */
TideMapOutcome tide_table_mapper_map(TideTableMapper *mapper, const TideMapRequest *request, TideRowList *list,
                                     TideReject *ret_reject) G_GNUC_WARN_UNUSED_RESULT;

/* After a map that omitted cells or the row: the longest time to live that has passed. */
gint64 tide_table_mapper_expired_ttl_ms(const TideTableMapper *mapper);

/**
 * tide_table_mapper_delete: append the deletion of a row, for a table with tombstone: delete.
 * @reading: the fields of the row's key; its event time is that of the deletion: cells up to it are deleted
 * Returns: FALSE with @ret_reject filled, and @list as it was.
 */
gboolean tide_table_mapper_delete(TideTableMapper *mapper, const TideReading *reading, TideRowList *list,
                                  TideReject *ret_reject) G_GNUC_WARN_UNUSED_RESULT;

/* Whether @field of the current message has a cell. */
gboolean tide_table_mapper_takes(TideTableMapper *mapper, const TideField *field);

/* Releases the columns of the previous message. Call it once for each message, before the first map. */
void tide_table_mapper_begin_message(TideTableMapper *mapper);

G_END_DECLS
