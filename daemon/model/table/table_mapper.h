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
#include "model/table/row_list.h"
#include "model/table/table.h"
#include "thrift/wire/wire.h"

G_BEGIN_DECLS

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
