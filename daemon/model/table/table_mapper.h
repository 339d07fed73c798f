/* Turns a reading into the row it makes in one table. One mapper for each thread and table: it owns the columns seen.
 *
 * Which fields make cells: those that a rule names, always; then, of the others, those that match a rule's pattern, by
 * the first that matches; and for a rule "*" all that are left. Patterns and "*" leave out the fields that stand in the
 * table's key and the field of its time (unless with_key_fields: see tide_table_key_fields()), and what the record
 * offers ("$key",
 * ...: tide_field_name_is_of_record()). A field that several rules name makes several cells. Values that are made, of
 * constants, the time or the key's parts, make a cell in each row, whatever the reading has.
 *
 * A field that is null: by its rule's policy no cell, a cell without bytes (in a packed cell: a null), or a rejected
 * message. */
#pragma once

#include "model/reject.h"
#include "model/table/field_columns.h"
#include "thrift/wire/wire.h"

G_BEGIN_DECLS

/* ---- the rows of one message while they are made ----
 *
 * Keys, names of tables and values that are made are appended to one buffer, which moves as it grows: until all rows
 * are there, they are known by their place in it, and resolving sets the pointers. */

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

/* ---- mapping ---- */

typedef struct TideTableMapper TideTableMapper;

typedef struct TideMapperLimits {
  guint32 max_cell_bytes; /* hbase.max_cell_bytes: above it HBase's client refuses a cell, as it counts one: row key,
                           * family, qualifier, value and 20 bytes more (hbase.client.keyvalue.maxsize, 10 MB) */
  guint32 max_row_bytes;  /* encoded size of one row at the most: it must fit a call */
} TideMapperLimits;

/* @table, @names: borrowed for the mapper's life; @names is the thread's own copy.
 * @time_field: the field of the table's event time, or TIDE_NAME_NONE. */
TideTableMapper *tide_table_mapper_new(const TideTable *table, const TideFieldNames *names, TideNameId time_field,
                                       TideWireProtocol protocol, TideMapperLimits limits);
void tide_table_mapper_free(TideTableMapper *mapper);
void tide_table_mapper_set_max_row_bytes(TideTableMapper *mapper, guint32 max_row_bytes);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideTableMapper, tide_table_mapper_free)

/* What became of a reading in a table. */
typedef enum TideMapOutcome {
  TIDE_MAP_ROW,      /* a row was appended, without the cells that have expired */
  TIDE_MAP_EXPIRED,  /* none: all its cells are older than their time to live, so nobody could ever read them */
  TIDE_MAP_REJECTED, /* the whole message is rejected by the caller */
} TideMapOutcome;

typedef struct TideMapRequest {
  const TideReading *reading; /* its event_time_ns is the table's */
  gint64 cell_time_ms;        /* of its cells */
  gint64 now_epoch_ms;        /* for what has expired; 0: nothing does */
} TideMapRequest;

/**
 * tide_table_mapper_map: append the row of a reading to @list. The table's conditions are the caller's.
 * Returns: without a row, @list is as it was. With REJECTED @ret_reject is filled; beside what the key rejects: a row
 *     without any cell as NO_CELLS, a cell or a row above the limits as CELL_TOO_LARGE or TOO_LARGE, a null as TYPE
 * where the rule says so, a value that is no number where the encoding or another unit needs one as NUMBER, a name
 * without bytes as BAD_COLUMN, an absent field that a qualifier or a made value needs as MISSING_FIELD, and two fields
 * that fall on one column as DUPLICATE_FIELD. Allocates: when a field or a column is met for the first time, and to
 * grow @list.
 */
TideMapOutcome tide_table_mapper_map(TideTableMapper *mapper, const TideMapRequest *request, TideRowList *list,
                                     TideReject *ret_reject) G_GNUC_WARN_UNUSED_RESULT;

/* After a map that left cells out, or the row: the longest time to live that is over. */
gint64 tide_table_mapper_expired_ttl_ms(const TideTableMapper *mapper);

/**
 * tide_table_mapper_delete: append the deletion of a row, for a table with tombstone: delete.
 * @reading: the fields of the row's key; its event time is that of the deletion: cells up to it are deleted
 * Returns: FALSE with @ret_reject filled, and @list as it was.
 */
gboolean tide_table_mapper_delete(TideTableMapper *mapper, const TideReading *reading, TideRowList *list,
                                  TideReject *ret_reject) G_GNUC_WARN_UNUSED_RESULT;

/* Whether @field of the message in hand makes a cell. */
gboolean tide_table_mapper_takes(TideTableMapper *mapper, const TideField *field);

/* Forgets columns that were not kept; call once a message, before the first map. */
void tide_table_mapper_begin_message(TideTableMapper *mapper);

G_END_DECLS
